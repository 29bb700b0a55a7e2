// $stats: statistics of a patient's observations.
//
// Layer:   core/operations.
// Spec:    FHIR R4 observation-operation-stats.html; docs/api/stats.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// The most values that are used, of all codes together.
inline constexpr std::size_t kStatsValuesMax = 100'000;

/// GET or POST Observation/$stats: 200 with Parameters: for each code and unit an Observation with a
/// component for each statistic.
///
/// Status: 400 (parameters); 413 if the criteria match too many; 422 if the response would be too large; 503 if
///         it takes too long.
asio::awaitable<Response> stats_operation(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
