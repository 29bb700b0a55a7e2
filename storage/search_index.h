// SearchIndex: every type's runs, fed by the log writer, read by snapshots, merged behind their backs.
//
// A log-structured merge tree for each type: what is added becomes a run when it is asked for, or when it is much, and
// neighbours of like size become one (storage/search_merge_policy.h). What died is dropped by merges once no page can
// ask for it any more.
//
// Layer:   storage. Store owns one. Derived: checkpointed, and rebuilt from the log when that doesn't fit.
// Threads: restore(), add() and died() from one thread at a time (the log writer's, or open()'s); everything else from
//          any thread. A thread of low priority makes runs of what is much, and merges. Readers wait for the run that
//          is made of what nobody asked for before, and else for nothing longer than a pointer swap; add() and
//          died() for that of a merge that ends, where deaths that came meanwhile are said again.

#pragma once

#include "core/base/resource_types.h"
#include "storage/search_run.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace annals::storage {

struct SearchIndexOptions {
    /// What died at most so many positions ago can still be found by those who read at a position before.
    std::uint64_t positions_retained = 262'144;
    /// About how many runs of like size become one.
    std::uint32_t fan_in = 8;
    /// No merge makes a run of more documents; it bounds how much memory one takes.
    std::uint32_t run_documents_max = 4 << 20;
    /// More runs of a type are merged even if their sizes don't suit.
    std::uint32_t runs_wanted = 40;
    /// Where there are more all the same, add() merges small ones itself.
    std::uint32_t runs_max = 64;
    /// So many documents of a type become a run in the background if nobody asks for them; twice as many at once.
    std::uint32_t pending_documents = 4096;
    /// All documents do that are no run yet when they take so many bytes, and at once when twice as many.
    std::uint64_t pending_bytes = 32 << 20;
};

/// The runs of one type at one moment, ascending by position and disjoint. Immutable.
struct SearchRuns {
    std::vector<std::shared_ptr<const SearchRun>> runs;
    /// Documents that had died at or before this were thrown away: a snapshot before it can't be answered.
    Position vacuumed_through;
};

struct SearchIndexStats {
    std::uint64_t runs = 0;
    std::uint64_t documents = 0;
    std::uint64_t documents_died = 0;     ///< of these
    std::uint64_t documents_pending = 0;  ///< of these: no run was made of them yet
    std::uint64_t bytes = 0;
    std::uint64_t merges = 0;
    std::uint64_t documents_merged = 0;  ///< each as often as it was
    std::uint64_t merge_us = 0;          ///< of processor time, rebuilds included
};

class SearchIndex {
  public:
    /// Fills in what a version can be found by, as IndexedDocument says; `entries` comes empty. False: it can't be
    /// read any more; then it is found by nothing.
    using EntriesOf = std::function<bool(Position, SearchEntries& entries)>;

    struct Progress {
        std::uint64_t documents_done = 0;
        std::uint64_t documents = 0;
    };

    explicit SearchIndex(const SearchIndexOptions& options = {});

    SearchIndex(const SearchIndex&) = delete;
    SearchIndex& operator=(const SearchIndex&) = delete;

    /// Gives up the merge under way. Runs that were handed out stay.
    ~SearchIndex();

    /// Starts with runs of a checkpoint, whose documents have been told what died (SearchRun::mark_died). Before
    /// anything is added to the type. False, and nothing done, unless they ascend and are disjoint.
    bool restore(TypeId type, SearchRuns runs);

    /// Adds documents of one type: runs() has them from now on. Positions ascend, above all that were there. Copies.
    void add(TypeId type, std::span<const IndexedDocument> documents);

    /// The document at `position` stopped being current at `at` (0: it was erased). Ignored if there is none.
    void died(TypeId type, Position position, Position at);

    /// What there is. Read the position to answer for (Store::last_position) before this: then every document at or before
    /// it is here. Never null. Cost: of making a run of what was added since the last call.
    std::shared_ptr<const SearchRuns> runs(TypeId type) const;

    /// Rewrites, in the background, all runs that the type has now with what `entries_of` says (it is called by the
    /// merging thread); deaths stay as they are. What is added meanwhile may be among it. Then calls `done`, on that
    /// thread; not if they are given up, or the index destroyed, before. Several run one after the other.
    void rebuild(TypeId type, EntriesOf entries_of, std::function<void()> done = {});

    /// Ends rebuilds, before what `entries_of` reads from goes: one that is under way leaves the run that it is at as it was.
    void give_up_rebuilds();

    /// How far the rebuilds of a type are; none if there is none.
    std::optional<Progress> rebuilding(TypeId type) const;

    /// Rewrites, in the background, all runs that have erased documents now, so that nothing of them is left (in
    /// memory, and in what is written of the runs from then on).
    void drop_erased();

    /// Waits until there is nothing to merge, to rebuild or to drop.
    void wait_until_idle();

    SearchIndexStats stats() const;

    std::uint64_t bytes() const noexcept;

  private:
    struct Impl;

    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
