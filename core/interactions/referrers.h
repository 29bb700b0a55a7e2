// Referrers: the resources that refer to those to be deleted, if referential_integrity.on_delete is set.
//
// Layer:   core/interactions.
// Spec:    docs/api/delete.md, referential_integrity.on_delete.
// Threads: on the loop of its request.

#pragma once

#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/scoped_view.h"
#include "core/search/snapshot.h"
#include "core/search/terms.h"
#include "core/service.h"
#include "storage/search_entries.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace annals::core {

class Turns;

/// Decides whether a set of resources may be deleted. Not movable: the guard points into it.
class Referrers {
  public:
    /// If the configuration does not ask for integrity, everything may be deleted at no cost. Lifetime: service
    /// and request outlive this.
    Referrers(const Service& service, const Request& request)
        : service_(service), request_(request), asked_(service.config().integrity_on_delete) {}

    Referrers(const Referrers&) = delete;
    Referrers& operator=(const Referrers&) = delete;

    /// This live resource is to be deleted: its own references no longer count.
    void add_deleted(TypeId type, std::string_view id);

    /// The same commit writes this resource: the references in its stored version don't count.
    void add_rewritten(TypeId type, std::string_view id);

    /// Whether a version written by the same commit refers to a resource to be deleted: its index in the order of
    /// add_deleted().
    std::optional<std::size_t> referred_to(const storage::SearchEntries& written) const;

    /// Searches live resources that refer to any of those to be deleted.
    /// Errors: conflict (naming them), timeout.
    asio::awaitable<Result<void>> check();

    /// After an error of check(): the resource that is referred to, as an index in the order of add_deleted().
    std::size_t held() const noexcept { return held_; }

    /// Adds to the commit that what check() found still holds: otherwise the submission is `busy`. Lifetime: that
    /// of this.
    void guard(std::vector<storage::Guard>& guards) const;

  private:
    struct Deleted {
        std::string name;
        std::vector<search::Term> terms;
    };

    asio::awaitable<Result<std::vector<std::string>>> find(search::Snapshot& snapshot,
                                                           std::vector<search::Term> terms,
                                                           std::size_t limit,
                                                           const ScopedView* view, Turns& turns);

    const Service& service_;
    const Request& request_;
    bool asked_;
    std::vector<Deleted> deleted_;
    std::unordered_map<search::Term, std::size_t, SeededHash> deleted_by_term_;
    std::unordered_set<std::uint64_t> exempt_;  ///< Store::search_key()
    std::vector<search::Term> terms_;           ///< of all to be deleted, ascending after check()
    Position as_of_;
    std::size_t held_ = 0;
};

}  // namespace annals::core
