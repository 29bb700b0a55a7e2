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

/// The names of at most `limit` live resources that have any of `terms`, except exempt ones.
asio::awaitable<Result<std::vector<std::string>>> Referrers::find(std::vector<search::Term> terms,
                                                                  std::size_t limit) {
    const storage::Store& store = service_.store();
    search::Snapshot snapshot(store);
    as_of_ = snapshot.position();
    Turns turns(*request_.loop, service_.config().limits.request_timeout);
    const search::Plan plan = search::carrying(std::move(terms));
    const ScopedView view(service_, request_, kMayRead, "read");
    std::vector<std::string> names;
    for (const TypeId type : kAllResourceTypes) {
        if (store.totals(type).live == 0) {
            continue;
        }
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
        const bool readable = require_read(service_, request_, type, Extent::part).has_value();
        for (const storage::VersionInfo& info : referring) {
            const auto stored = store.load(info);
            if (!stored && stored.error().code != Errc::not_found) {
                co_return stored.error();
            }
            if (stored) {
                names.push_back(readable && view.shows(info) ? resource_name(type, stored->id)
                                                             : "a resource that you may not see");
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
    Result<std::vector<std::string>> found = co_await find(terms_, kNamed + 1);
    if (!found) {
        co_return found.error();
    }
    if (found->empty()) {
        co_return Result<void>();
    }
    std::string what = deleted_.front().name;
    if (deleted_.size() > 1) {
        what = "The resource to be deleted";
        // Which of the resources they refer to; none if they were just changed.
        for (std::size_t i = 0; i < deleted_.size(); ++i) {
            Result<std::vector<std::string>> own = co_await find(deleted_[i].terms, kNamed + 1);
            if (!own) {
                co_return own.error();
            }
            if (!own->empty()) {
                held_ = i;
                what = deleted_[i].name;
                found = std::move(own);
                break;
            }
        }
    }
    const bool more = found->size() > kNamed;
    found->resize(std::min(found->size(), kNamed));
    co_return Error{Errc::conflict,
                    fmt::format("{} is referred to by {}{}", what, fmt::join(*found, ", "),
                                more ? " and others" : "")};
}

void Referrers::guard(std::vector<storage::Guard>& guards) const {
    if (!deleted_.empty()) {
        guards.push_back({.type = std::nullopt, .terms = terms_, .as_of = as_of_});
    }
}

}  // namespace annals::core
