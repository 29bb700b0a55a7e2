// Common parts of the operations on Observations: visiting all that match, and when each was made.
//
// Layer:   core/operations.
// Spec:    FHIR R4 observation-operation-lastn.html, observation-operation-stats.html.
// Threads: runs on the loop of its request.

#pragma once

#include "core/operations/each_match.h"
#include "core/search/query.h"
#include "core/service.h"

#include <functional>
#include <vector>

namespace annals::core {

using TakeObservation = std::function<Result<void>(json::Value observation, const Made& made)>;

/// Calls `take` with each Observation that is visible and matches a search's criteria; in turns.
/// The value lives until `take` returns.
///
/// Errors: of for_each_match().
/// Lifetime: all arguments outlive it.
asio::awaitable<Result<void>> for_each_observation(const Service& service, const Request& request,
                                                   const std::vector<search::QueryPair>& criteria,
                                                   Turns& turns, const TakeObservation& take);

}  // namespace annals::core
