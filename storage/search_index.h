// SearchIndex: every type's runs, fed by the log writer, read by snapshots, merged behind their backs.
//
// Layer:   storage. Store owns one. Derived: checkpointed, and rebuilt from the log when that doesn't fit.
// Threads: add() and died() from one thread at a time (the log writer's, or open()'s); all const members from any
//          thread. A thread of its own merges runs. Nobody waits for longer than a pointer swap.

#pragma once

#include "core/base/resource_types.h"
#include "storage/search_run.h"

#include <memory>
#include <span>
#include <vector>

namespace annals::storage {

/// The runs of one type at one moment, ascending by position and disjoint. Immutable.
struct SearchRuns {
    std::vector<std::shared_ptr<const SearchRun>> runs;
    /// Documents that had died at or before this were thrown away: a snapshot before it can't be answered.
    Position vacuumed_through;
};

class SearchIndex {
  public:
    /// Adds documents of one type as a new run; positions ascend, above all that were there.
    void add(TypeId type, std::span<const IndexedDocument> documents);

    /// The document at `position` stopped being current at `at` (0: it was erased). Ignored if there is none.
    void died(TypeId type, Position position, Position at);

    /// What there is. Read the position to answer for (Store::last_position) before this: then every document at
    /// or before it is here.
    std::shared_ptr<const SearchRuns> runs(TypeId type) const;

    std::uint64_t bytes() const noexcept;
};

}  // namespace annals::storage
