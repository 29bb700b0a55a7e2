// All that matches criteria, one after the other: for operations that look at each.
//
// Layer:   core/operations.
// Threads: runs on the loop of its request.

#pragma once

#include "core/search/query.h"
#include "core/service.h"
#include "storage/types.h"

#include <functional>
#include <vector>

namespace annals::core {

/// At most so many resources are looked at.
inline constexpr std::size_t kMatchesTakenMax = 50'000;

using TakeMatch =
    std::function<Result<void>(json::Value resource, const storage::VersionInfo& info)>;

/// Calls `take` with each resource of `type` that is shown and meets the criteria of a search; in turns, with an end to them.
/// The value lives until `take` returns.
///
/// Errors: of the criteria; of `take`; too_costly where more match than kMatchesTakenMax; timeout.
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_match(const Service& service, const Request& request,
                                             TypeId type,
                                             const std::vector<search::QueryPair>& criteria,
                                             const TakeMatch& take);

}  // namespace annals::core
