#include "core/interactions/transaction_answer.h"

#include "core/interactions/answer.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/create.h"
#include "core/interactions/delete.h"
#include "core/interactions/write.h"
#include "core/outcome.h"
#include "core/scoped_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

namespace {

using Action = EntryDecision::Action;

/// Answers to the entries of one transaction that are not reads.
class WriteAnswers {
  public:
    /// Lifetime: the arguments outlive this.
    WriteAnswers(const Service& service, const Request& request, const TransactionAttempt& attempt,
                 const ErasedBytes& erased)
        : service_(service),
          request_(request),
          attempt_(attempt),
          erased_(erased),
          form_(read_preference(request).return_form) {}

    /// Whether a body of the answer to `entry` is an outcome, not a resource.
    bool is_outcome(const TransactionEntry& entry) const noexcept {
        return entry.kind == EntryKind::remove ||
               (entry.kind != EntryKind::read && form_ == Form::operation_outcome);
    }

    /// `index`: of the entry. `seen`: the position as of which it shows what it doesn't write itself.
    Response answer(const TransactionEntry& entry, std::size_t index, Position seen) const {
        if (entry.kind == EntryKind::remove) {
            return answer_removed(entry, index);
        }
        const EntryDecision& decision = attempt_.state().decision(index);
        return decision.action == Action::none ? answer_found(entry.target.type, decision.id, seen)
                                               : answer_written(entry, index);
    }

  private:
    using Form = Preference::Return;

    /// The text of a separate deletion. `response` has the version of the deletion, if there is one.
    std::string describe_removed(const TransactionEntry& entry, std::size_t index,
                                 const Response& response) const {
        const EntryDecision& decision = attempt_.state().decision(index);
        const TypeId type = entry.target.type;
        if (decision.action == Action::none) {
            return decision.id.empty() ? std::string(kNothingMatched)
                                       : describe_no_deletion(type, decision.id, decision.head);
        }
        return describe_deletion(type, decision.id, response.etag.value_or(VersionNumber{}),
                                 attempt_.versions_erased(index));
    }

    Response answer_removed(const TransactionEntry& entry, std::size_t index) const {
        const EntryDecision& decision = attempt_.state().decision(index);
        Response response;
        response.status = 204;
        if (decision.action == Action::write) {
            const auto& outcome = attempt_.written(index);
            set_version(response, outcome.version, outcome.instant);
        } else if (decision.action == Action::none && decision.head.exists) {
            set_version(response, decision.head.version, decision.head.instant);
        }
        if (const Error* const left = bytes_left(index)) {
            // As a failure it would seem not to be done. It is, and the entries beside it must not be sent again.
            response.status = 202;
            response.body = Body(
                outcome_json({{"warning", meaning_of(left->code).issue_code, left->detail, {}}}));
        } else if (form_ == Form::operation_outcome) {
            response.status = 200;
            response.body = Body(information(describe_removed(entry, index, response)));
        }
        return response;
    }

    /// Why bytes of what the deletion is about are still on disk, or may be; null: they are not.
    const Error* bytes_left(std::size_t index) const {
        if (!erased_.own && attempt_.state().decision(index).action == Action::erase) {
            return &erased_.own.error();
        }
        if (!erased_.earlier && attempt_.may_repeat_erasure(index)) {
            return &erased_.earlier.error();
        }
        return nullptr;
    }

    /// The answer for what a conditional create found.
    Response answer_found(TypeId type, std::string_view id, Position seen) const {
        Response response;
        const storage::Store& store = service_.store();
        std::optional<storage::VersionInfo> info = store.current(type, id, seen);
        if (info && info->deletion) {
            // If nothing is written, no commit depends on it: it existed when it was found.
            info = store.current(type, id, Position{info->position.value - 1});
        }
        if (info && (info->deletion ||
                     !ScopedView(service_, request_, kMaySearch, "search").shows(*info))) {
            info.reset();  // just changed
        }
        if (info) {
            response.location = version_url(request_.base_url, type, id, info->version);
            set_version(response, info->version, info->instant);
        }
        if (form_ == Form::operation_outcome) {
            response.body = Body(information(describe_match(type, id)));
        } else if (form_ != Form::minimal) {
            put_stored(service_, response, info);
        }
        return response;
    }

    /// The answer to a create or update.
    Response answer_written(const TransactionEntry& entry, std::size_t index) const {
        const TypeId type = entry.target.type;
        const std::string& id = attempt_.state().decision(index).id;
        const auto& outcome = attempt_.written(index);
        Response response;
        response.status = outcome.previous.is_live() ? 200 : 201;
        response.location = version_url(request_.base_url, type, id, outcome.version);
        set_version(response, outcome.version, outcome.instant);
        if (form_ == Form::minimal) {
            return response;
        }
        if (form_ == Form::operation_outcome) {
            response.body = Body(describe_written(type, id, outcome));
            return response;
        }
        const auto info = service_.store().version(type, id, outcome.version);
        if (entry.asked.method == HttpMethod::patch &&
            (info ? !may_be_told(service_, request_, *info) : is_restricted(request_))) {
            return response;
        }
        put_stored(service_, response, info);
        if (response.body.empty()) {
            response.body = Body(attempt_.body_of(index));  // others have erased it since
        }
        return response;
    }

    const Service& service_;
    const Request& request_;
    const TransactionAttempt& attempt_;
    const ErasedBytes& erased_;
    const Form form_;
};

}  // namespace

asio::awaitable<Response> answer_transaction(const Service& service, const Request& request,
                                             std::span<const TransactionEntry> entries,
                                             const TransactionAttempt& attempt,
                                             const ErasedBytes& erased) {
    ResponseBundle bundle("transaction-response", request.base_url, service.config().audited());
    bundle.copy_versions();
    const WriteAnswers answers(service, request, attempt, erased);
    AnswerBudget budget(service.config());
    bundle.reserve(std::min<std::uint64_t>(answered_bytes(request, attempt), budget.left()) +
                   entries.size() * kAnsweredEntryBytes);
    Turns turns(*request.loop);
    // All reads see the same state; otherwise commits by others might be shown partially.
    const storage::Store& store = service.store();
    const std::uint64_t erasures = store.totals().erased;
    const Position seen =
        attempt.writes().empty() ? store.last_position() : attempt.writes().back().outcome.position;
    for (std::size_t index = 0; index < entries.size(); ++index) {
        const TransactionEntry& entry = entries[index];
        Response response;
        const bool is_whole = store.totals().erased == erasures;
        if (entry.kind == EntryKind::read) {
            response = co_await answer_read_entry(
                service, entry, is_whole ? std::optional(seen) : std::nullopt, budget, turns);
        } else {
            response = answers.answer(entry, index, is_whole ? seen : Position{});
            fit_answer(entry.request, EntryUse::write, budget, response);
        }
        if (entry.kind == EntryKind::remove && entry.target.id.empty()) {
            // By criteria: the request doesn't name it.
            const EntryDecision& decision = attempt.state().decision(index);
            if (decision.action != Action::none) {
                response.entries.push_back({HttpMethod::delete_, response.status,
                                            resource_name(entry.target.type, decision.id)});
            }
        }
        bundle.add(entry.value, entry.asked.method, std::move(response), answers.is_outcome(entry));
        if ((index + 1) % kEntriesPerTurn == 0) {
            co_await turns.give_way();
        }
    }
    Response response = bundle.finish();
    if (!attempt.writes().empty()) {
        response.position = attempt.writes().back().outcome.position;
    } else if (attempt.has_erases()) {
        response.position = store.last_position();
    }
    co_return response;
}

asio::awaitable<Response> answer_read_entry(const Service& service, const TransactionEntry& entry,
                                            std::optional<Position> seen_at, AnswerBudget& budget,
                                            Turns& turns) {
    Request request = entry.request;
    request.seen_at = seen_at;
    Response response;
    if (budget.is_spent() && entry.asked.method == HttpMethod::get) {
        response = budget.error();
    } else {
        if (turns.pace().is_over()) {
            co_await turns.give_way();
        }
        const std::uint64_t erased = service.store().totals().erased;
        response = co_await handle(service, request);
        const bool expired = response.failure && response.failure->code == Errc::expired;
        if (seen_at && (expired || service.store().totals().erased != erased)) {
            // An erased version may have been replaced after that position, which then shows neither; and a search may
            // no longer reach back that far.
            request.seen_at.reset();
            response = co_await handle(service, request);
        }
    }
    if (response.more == nullptr) {
        fit_answer(request, EntryUse::read, budget, response);
    } else {
        co_await draw_answer(request, EntryUse::read, budget, turns, response);
    }
    co_return response;
}

std::size_t answered_bytes(const Request& request, const TransactionAttempt& attempt) {
    using enum Preference::Return;
    const Preference::Return form = read_preference(request).return_form;
    return form == unsaid || form == representation ? attempt.body_bytes() : 0;
}

}  // namespace annals::core
