// Visits all resources that match criteria, or are known already, one by one.
//
// Layer:   core/operations.
// Threads: runs on the loop of its request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/query.h"
#include "core/service.h"
#include "storage/types.h"

#include <functional>
#include <span>
#include <vector>

namespace annals::core {

/// The most resources that are visited.
inline constexpr std::size_t kMatchesTakenMax = 50'000;

/// A resource and when it was made.
struct Made {
    Instant at;
    storage::VersionInfo info;
};

/// The later one first.
bool made_later(const Made& a, const Made& b);

using TakeMatch =
    std::function<Result<void>(json::Value resource, const storage::VersionInfo& info)>;

/// Calls `take` with each resource of `type` that is visible and matches a search's criteria; in
/// turns. The value lives until `take` returns.
///
/// Errors: of the criteria; of `take`; too_costly if more than kMatchesTakenMax match; timeout; corrupt (a
///         resource is damaged).
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_match(const Service& service, const Request& request,
                                             TypeId type,
                                             const std::vector<search::QueryPair>& criteria,
                                             Turns& turns, const TakeMatch& take);

/// Calls `take` with each of `versions` that still exists, in their order, in turns; those that are on the
/// device only are fetched. The value lives until `take` returns.
///
/// Errors: of `take`; timeout; corrupt (one of them is damaged).
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_body(const storage::Store& store,
                                            std::span<const storage::VersionInfo> versions,
                                            Turns& turns, const TakeMatch& take);

}  // namespace annals::core
