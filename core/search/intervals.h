// IntervalCondition: finds the intervals of a column for which a comparison holds, by binary search.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#prefix, #date, #number.
// Threads: plain values.

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

/// A comparison with a range, on the intervals of a column. Lifetime: the run's.
class IntervalCondition {
  public:
    IntervalCondition() = default;

    /// Finds the stretches of `column` whose intervals may match.
    IntervalCondition(const storage::IntervalColumn& column, Comparison comparison,
                      Range asked) noexcept;

    const IntervalStretch& stretch() const noexcept { return stretch_; }

    /// Whether any interval of the document matches.
    bool holds(std::uint32_t document) const noexcept;

    /// Estimates how many intervals match, by a sample of those that aren't sure.
    std::uint32_t estimate() const noexcept;

    /// Counts the intervals that match, except those of documents in `without`, which is dense; null: none.
    std::uint32_t count(const DocumentSet* without) const noexcept;

    /// Adds the documents with an interval that matches.
    void add_to(DocumentSet& documents) const;

  private:
    storage::IntervalColumn column_;
    Comparison comparison_ = Comparison::eq;
    Range asked_;
    IntervalStretch stretch_;
};

}  // namespace annals::core::search
