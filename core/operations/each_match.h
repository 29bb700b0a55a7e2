// All that matches criteria, or is known already, one after the other: for operations that look at each.
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

/// At most so many resources are looked at.
inline constexpr std::size_t kMatchesTakenMax = 50'000;

using TakeMatch =
    std::function<Result<void>(json::Value resource, const storage::VersionInfo& info)>;

/// Calls `take` with each resource of `type` that is shown and meets the criteria of a search; in turns, with an end to them.
/// The value lives until `take` returns.
///
/// Errors: of the criteria; of `take`; too_costly where more match than kMatchesTakenMax; timeout; corrupt (one is damaged).
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_match(const Service& service, const Request& request,
                                             TypeId type,
                                             const std::vector<search::QueryPair>& criteria,
                                             const TakeMatch& take);

/// Calls `take` with each of `versions` that is there still, in their order, in turns; those that are on the device only have been
/// fetched. The value lives until `take` returns.
///
/// Errors: of `take`; timeout; corrupt (one of them is damaged).
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_body(const storage::Store& store,
                                            std::span<const storage::VersionInfo> versions,
                                            Turns& turns, const TakeMatch& take);

}  // namespace annals::core
