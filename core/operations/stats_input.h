// What $stats is asked.
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
    std::vector<const StatisticName*> statistics;  ///< each once, as they were asked for
    std::string start;                             ///< of the time; empty: since ever
    std::string end;                               ///< empty: for ever
    std::size_t sources_max = 0;                   ///< observations to show; 0: none are asked for

    /// Errors: invalid; required. `page_max`: so many sources are shown at most. Dates without a zone are in `zone`; null:
    /// in UTC.
    static Result<StatsInput> read(const Request& request, std::size_t page_max,
                                   const TimeZone* zone);

    /// The search for what may be counted.
    std::vector<search::QueryPair> criteria() const;
};

}  // namespace annals::core
