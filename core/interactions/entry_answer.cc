#include "core/interactions/entry_answer.h"

#include "core/base/check.h"
#include "core/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace annals::core {

namespace {

/// The outcome of a failed entry is returned up to this size, even if the budget is spent.
constexpr std::size_t kOutcomeBytesTold = 1 << 10;

// Whether the body has a place in the entry. The result of a HEAD has none, its error does.
bool has_place(const Request& request, const Response& response) noexcept {
    return response.content_type == ContentType::fhir_json &&
           (request.method != HttpMethod::head || response.status >= 400);
}

void drop_body(Response& response) {
    response.body = Body();
    response.more.reset();
}

void leave_body_out(const Request& request, EntryUse use, const AnswerBudget& budget,
                    Response& response) {
    if (response.status >= 400) {
        drop_body(response);
        if (response.failure) {
            const ErrorMeaning meaning = meaning_of(response.failure->code);
            response.body =
                Body(outcome_json({{"error", meaning.issue_code, std::string(meaning.text), ""}}));
        }
    } else if (use == EntryUse::read) {
        response = budget.error();
        tell_failure(request, response);
    } else {
        drop_body(response);
    }
}

/// Copies the slices: if a version that they view were erased during one of the waits, zeros would be sent. False if they exceed
/// `budget`.
asio::awaitable<bool> draw(const Request& request, AnswerBudget& budget, Turns& turns,
                           Response& response) {
    const std::unique_ptr<BodySource> source = std::move(response.more);
    bool fits = budget.take(response.body.size());
    response.body = Body(response.body.str());
    for (bool more = true; more && fits;) {
        if (turns.pace().is_over()) {
            co_await turns.give_way();
        }
        co_await request.loop->fetched_next(*source);
        Body slice;
        more = source->next(slice);
        fits = budget.take(slice.size());
        for (std::size_t i = 0; i < slice.piece_count(); ++i) {
            response.body.append(slice.piece(i));
        }
    }
    co_return fits;
}

}  // namespace

AnswerBudget::AnswerBudget(const Config& config) noexcept
    : bytes_max_(std::min(config.limits.max_body,
                          std::numeric_limits<std::uint64_t>::max() / kAnswerBodies) *
                 kAnswerBodies),
      left_(bytes_max_) {
}

Error AnswerBudget::error() const {
    return {Errc::answer_too_costly,
            fmt::format("The responses inside the Bundle would have more than {} bytes in total",
                        bytes_max_)};
}

void fit_answer(const Request& request, EntryUse use, AnswerBudget& budget, Response& response) {
    ANNALS_CHECK(response.more == nullptr);
    tell_failure(request, response);
    if (!has_place(request, response)) {
        drop_body(response);
        return;
    }
    const std::size_t bytes = response.body.size();
    if (bytes == 0 || (response.status >= 400 && bytes <= kOutcomeBytesTold)) {
        return;
    }
    if (!budget.take(bytes)) {
        leave_body_out(request, use, budget, response);
    }
}

asio::awaitable<void> draw_answer(const Request& request, EntryUse use, AnswerBudget& budget,
                                  Turns& turns, Response& response) {
    if (!has_place(request, response)) {
        drop_body(response);
        co_return;
    }
    const bool fits = co_await draw(request, budget, turns, response);
    if (!fits) {
        leave_body_out(request, use, budget, response);
    }
}

}  // namespace annals::core
