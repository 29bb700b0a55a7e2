// Intervals: finds those of a column for which a comparison holds, by binary search.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#prefix, #date, #number.
// Threads: plain functions.

#pragma once

#include "core/search/document_set.h"
#include "core/search/plan.h"
#include "storage/search_run.h"

#include <cstdint>

namespace annals::core::search {

/// Where in a column the intervals are that may match, as indexes into `all`: [first, last) of the shorter ones, of
/// which [sure_first, sure_last) match for sure, and [longer_first, longer_last) of the longer ones.
struct IntervalStretch {
    std::uint32_t first = 0;
    std::uint32_t sure_first = 0;
    std::uint32_t sure_last = 0;
    std::uint32_t last = 0;
    std::uint32_t longer_first = 0;
    std::uint32_t longer_last = 0;

    /// The number of intervals.
    std::uint32_t size() const noexcept { return last - first + longer_last - longer_first; }
};

/// Finds the stretches of `column` whose intervals may match.
IntervalStretch find_stretch(const storage::IntervalColumn& column, Comparison comparison,
                             Range asked) noexcept;

/// Estimates how many intervals match, by a sample of those that aren't sure.
std::uint32_t estimate(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                       Comparison comparison, Range asked) noexcept;

/// Counts the intervals that match, except those of documents in `without`, which is dense; null: none.
std::uint32_t count_intervals(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                              Comparison comparison, Range asked,
                              const DocumentSet* without) noexcept;

/// Adds the documents with an interval that matches.
void add_documents(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                   Comparison comparison, Range asked, DocumentSet& documents);

}  // namespace annals::core::search
