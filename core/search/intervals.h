// Intervals: which of a column compare to what is asked, found by binary searches.
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

/// The stretches of a column that can compare, as indexes into `all`: [first, last) of the shorter ones, of which
/// [sure_first, sure_last) do, and [longer_first, longer_last) of the longer ones.
struct IntervalStretch {
    std::uint32_t first = 0;
    std::uint32_t sure_first = 0;
    std::uint32_t sure_last = 0;
    std::uint32_t last = 0;
    std::uint32_t longer_first = 0;
    std::uint32_t longer_last = 0;

    /// How many are looked at.
    std::uint32_t size() const noexcept { return last - first + longer_last - longer_first; }
};

/// The stretches of `column` in which the intervals are that may compare to what is asked.
IntervalStretch find_stretch(const storage::IntervalColumn& column, Comparison comparison,
                             Range asked) noexcept;

/// About how many intervals compare; a sample of those that must be looked at tells.
std::uint32_t estimate(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                       Comparison comparison, Range asked) noexcept;

/// How many intervals compare, but for those of the documents in `without`, which is dense; null: of none.
std::uint32_t count_intervals(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                              Comparison comparison, Range asked,
                              const DocumentSet* without) noexcept;

/// Adds the documents with an interval that compares.
void add_documents(const storage::IntervalColumn& column, const IntervalStretch& stretch,
                   Comparison comparison, Range asked, DocumentSet& documents);

}  // namespace annals::core::search
