#include "core/interactions/referrers.h"

#include "core/access.h"
#include "core/base/all_resource_types.h"
#include "core/interactions/answer.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/plan.h"
#include "core/search/reference_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace annals::core {

namespace {

/// How many referrers a message names.
constexpr std::size_t kNamed = 3;

}  // namespace

void Referrers::add_deleted(TypeId type, std::string_view id) {
    if (!asked_) {
        return;
    }
    const std::uint64_t key = service_.store().search_key(type, id);
    const auto terms = search::terms_of_referrers(type, id, key, request_.base_url);
    for (const search::Term term : terms) {
        deleted_by_term_.emplace(term, deleted_.size());
        terms_.push_back(term);
    }
    deleted_.push_back({resource_name(type, id), {terms.begin(), terms.end()}});
    exempt_.insert(key);
}

void Referrers::add_rewritten(TypeId type, std::string_view id) {
    if (asked_) {
        exempt_.insert(service_.store().search_key(type, id));
    }
}

std::optional<std::size_t> Referrers::referred_to(const storage::SearchEntries& written) const {
    if (deleted_.empty()) {
        return std::nullopt;
    }
    for (const search::Term term : written.terms) {
        if (const auto found = deleted_by_term_.find(term); found != deleted_by_term_.end()) {
            return found->second;
        }
    }
    return std::nullopt;
}

/// The names of at most `limit` live resources that have any of `terms`, except exempt ones. With a `view`: of those that the
/// sender of the request may read.
asio::awaitable<Result<std::vector<std::string>>> Referrers::find(search::Snapshot& snapshot,
                                                                  std::vector<search::Term> terms,
                                                                  std::size_t limit,
                                                                  const ScopedView* view,
                                                                  Turns& turns) {
    const storage::Store& store = service_.store();
    const search::Plan referring_plan = search::carrying(std::move(terms));
    std::vector<std::string> names;
    for (const TypeId type : kAllResourceTypes) {
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
        const bool readable =
            view == nullptr || require_read(service_, request_, type, Extent::part).has_value();
        if (store.totals(type).live == 0 || !readable) {
            continue;
        }
        const search::Plan plan =
            view == nullptr ? referring_plan : search::seen_of(*view, type, referring_plan);
        search::Execution execution(snapshot, type, plan);
        execution.want({.limit = exempt_.size() + limit - names.size()});
        Result<void> done = co_await turns.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        std::vector<storage::VersionInfo> referring;
        for (const search::Match& match : execution.matches()) {
            // None: erased since the index was read.
            const auto info =
                exempt_.contains(match.key()) ? std::nullopt : store.at(match.position());
            if (info && referring.size() < limit) {
                referring.push_back(*info);
            }
        }
        co_await turns.fetched(referring);
        for (const storage::VersionInfo& info : referring) {
            const auto stored = store.load(info);
            if (!stored && stored.error().code != Errc::not_found) {
                co_return stored.error();
            }
            if (stored) {
                names.push_back(resource_name(type, stored->id));
            }
            if (names.size() == limit) {
                co_return names;
            }
        }
    }
    co_return names;
}

asio::awaitable<Result<void>> Referrers::check() {
    if (deleted_.empty()) {
        co_return Result<void>();
    }
    std::ranges::sort(terms_);
    Turns turns(*request_.loop, service_.config().limits.request_timeout);
    search::Snapshot snapshot(service_.store());
    as_of_ = snapshot.position();
    const Result<std::vector<std::string>> any = co_await find(snapshot, terms_, 1, nullptr, turns);
    if (!any) {
        co_return any.error();
    }
    if (any->empty()) {
        co_return Result<void>();
    }
    // Which of those to be deleted it refers to: the last, if none before.
    for (held_ = 0; held_ + 1 < deleted_.size(); ++held_) {
        const Result<std::vector<std::string>> own =
            co_await find(snapshot, deleted_[held_].terms, 1, nullptr, turns);
        if (!own) {
            co_return own.error();
        }
        if (!own->empty()) {
            break;
        }
    }
    // Whatever else refers to it must not show in the response, neither by its number nor by its place among the others.
    const ScopedView view(service_, request_, kMayRead, "read");
    Result<std::vector<std::string>> named =
        co_await find(snapshot, deleted_[held_].terms, kNamed + 1, &view, turns);
    if (!named) {
        co_return named.error();
    }
    const bool more = named->size() > kNamed;
    named->resize(std::min(named->size(), kNamed));
    if (named->empty()) {
        named->emplace_back("a resource that you may not see");
    }
    co_return Error{Errc::conflict,
                    fmt::format("{} is referred to by {}{}", deleted_[held_].name,
                                fmt::join(*named, ", "), more ? " and others" : "")};
}

void Referrers::guard(std::vector<storage::Guard>& guards) const {
    if (!deleted_.empty()) {
        guards.push_back({.type = std::nullopt, .terms = terms_, .as_of = as_of_});
    }
}

}  // namespace annals::core
