// The input of $stats.
//
// Layer:   core/operations.
// Spec:    FHIR R4 observation-operation-stats.html; docs/api/stats.md.
// Threads: plain values.

#pragma once

#include "core/base/time_zone.h"
#include "core/exchange.h"
#include "core/operations/coded_input.h"
#include "core/operations/statistics.h"
#include "core/search/query.h"

#include <string>
#include <vector>

namespace annals::core {

struct StatsInput {
    std::string subject;
    std::vector<GivenCode> codes;
    std::vector<const StatisticName*> statistics;  ///< without duplicates, in the given order
    std::string start;                             ///< of the period; empty: open
    std::string end;                               ///< empty: open
    std::size_t sources_max = 0;                   ///< observations to include; 0: none

    /// Errors: invalid; required; too_costly (too many codes). `page_max`: the most sources to include. Dates without a
    ///         zone are in `zone`; null: in UTC.
    static Result<StatsInput> read(const Request& request, std::size_t page_max,
                                   const TimeZone* zone);

    /// The search criteria for the observations to use.
    std::vector<search::QueryPair> criteria() const;
};

}  // namespace annals::core
