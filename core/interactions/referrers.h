// Referrers: who refers to what is to be deleted, where referential_integrity.on_delete holds.
//
// Layer:   core/interactions.
// Spec:    contract.md, referential_integrity.on_delete; docs/api/delete.md.
// Threads: on the loop of its request.

#pragma once

#include "core/base/result.h"
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

/// One decision whether resources may be deleted together. Does not move: the guard points into it.
class Referrers {
  public:
    /// Where the configuration does not ask for integrity, everything may be deleted at no cost. Lifetime: service
    /// and request outlive this.
    Referrers(const Service& service, const Request& request)
        : service_(service), request_(request), asked_(service.config().integrity_on_delete) {}

    Referrers(const Referrers&) = delete;
    Referrers& operator=(const Referrers&) = delete;

    /// This live resource is to be deleted: what it refers to itself is held no more.
    void add_deleted(TypeId type, std::string_view id);

    /// The same commit writes this resource: what is stored of it holds nothing.
    void add_rewritten(TypeId type, std::string_view id);

    /// A version that the same commit writes: whether it refers to anything that is to be deleted; which, by the order
    /// of add_deleted().
    std::optional<std::size_t> referred_to(const storage::SearchEntries& written) const;

    /// Looks for live resources that refer to any that is to be deleted.
    /// Errors: conflict (they are named), timeout.
    asio::awaitable<Result<void>> check();

    /// After an error of check(): which resource is referred to, by the order of add_deleted().
    std::size_t held() const noexcept { return held_; }

    /// Puts into the commit that what was found out still holds: else the submission is `busy`. Lifetime: of this.
    void guard(std::vector<storage::Guard>& guards) const;

  private:
    struct Deleted {
        std::string name;
        std::vector<search::Term> terms;
    };

    asio::awaitable<Result<std::vector<std::string>>> find(std::vector<search::Term> terms,
                                                           std::size_t limit);

    const Service& service_;
    const Request& request_;
    bool asked_;
    std::vector<Deleted> deleted_;
    std::unordered_map<search::Term, std::size_t> deleted_by_term_;
    std::unordered_set<std::uint64_t> exempt_;  ///< Store::search_key()
    std::vector<search::Term> terms_;           ///< of all, ascending once checked
    Position as_of_;
    std::size_t held_ = 0;
};

}  // namespace annals::core
