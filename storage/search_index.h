// SearchIndex: the runs of every type, fed by the log writer, read by snapshots, merged in the background.
//
// A log-structured merge tree for each type: added documents become a run on the first search, or once there are many, and
// neighbouring runs of similar size are merged (storage/search_merge_policy.h). Merges drop documents that died long enough
// ago that no page can ask for them any more.
//
// Layer:   storage. Store owns one. Derived: checkpointed, and rebuilt from the log when that doesn't fit.
// Threads: restore(), add() and died() from one thread at a time (the log writer's, or open()'s); everything else from
//          any thread. A low-priority thread builds runs once many documents are pending, and merges. Readers wait while
//          a run is built of pending documents, otherwise no longer than for a pointer swap; add() and died() wait for
//          the swap at the end of a merge, which repeats the deaths that came meanwhile.

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
    /// Documents that died at most this many positions ago can still be found by readers at an earlier position.
    std::uint64_t positions_retained = 262'144;
    /// About how many runs of similar size are merged into one.
    std::uint32_t fan_in = 8;
    /// The largest run, in documents, that a merge makes; bounds the memory of a merge.
    std::uint32_t run_documents_max = 4 << 20;
    /// If a type has more runs they are merged even if their sizes differ.
    std::uint32_t runs_wanted = 40;
    /// If there are still more, add() itself merges small ones.
    std::uint32_t runs_max = 64;
    /// This many pending documents of a type become a run in the background if nobody searches; twice as many at once.
    std::uint32_t pending_documents = 4096;
    /// All pending documents become runs in the background when they take this many bytes; at once when they take twice that.
    std::uint64_t pending_bytes = 32 << 20;
};

/// The runs of one type at one moment, ascending by position and disjoint. Immutable.
struct SearchRuns {
    std::vector<std::shared_ptr<const SearchRun>> runs;
    /// Documents that died at or before this position were dropped: no snapshot before it can be answered.
    Position vacuumed_through;
};

struct SearchIndexStats {
    std::uint64_t runs = 0;
    std::uint64_t documents = 0;
    std::uint64_t documents_died = 0;     ///< of these
    std::uint64_t documents_pending = 0;  ///< of these: not in a run yet
    std::uint64_t bytes = 0;
    std::uint64_t merges = 0;
    std::uint64_t documents_merged = 0;  ///< counted each time
    std::uint64_t merge_us = 0;          ///< of processor time, rebuilds included
};

class SearchIndex {
  public:
    /// Fills the empty `entries` with the search terms of a version, as described at IndexedDocument. False: the version can't
    /// be read any more, and nothing finds it.
    using EntriesOf = std::function<bool(Position, SearchEntries& entries)>;

    struct Progress {
        std::uint64_t documents_done = 0;
        std::uint64_t documents = 0;
    };

    explicit SearchIndex(const SearchIndexOptions& options = {});

    SearchIndex(const SearchIndex&) = delete;
    SearchIndex& operator=(const SearchIndex&) = delete;

    /// Abandons the merge under way. Runs that were handed out stay valid.
    ~SearchIndex();

    /// Starts a type with the runs of a checkpoint, in which deaths are already marked (SearchRun::mark_died).
    /// Requires: nothing was added to the type. Returns false, and does nothing, unless they ascend and are disjoint.
    bool restore(TypeId type, SearchRuns runs);

    /// Adds copies of documents of one type, which runs() returns from now on.
    /// Requires: positions ascend, above all earlier ones.
    void add(TypeId type, std::span<const IndexedDocument> documents);

    /// The document at `position` stopped being current at `at` (0: it was erased). Ignored if there is none.
    void died(TypeId type, Position position, Position at);

    /// The runs of a type; never null. Every document at or before a position that was read (Store::last_position) before the
    /// call is in them. Cost: building a run of what was added since the last call.
    std::shared_ptr<const SearchRuns> runs(TypeId type) const;

    /// Rewrites, in the background, all current runs of the type with entries from `entries_of`; deaths stay as they are.
    /// Documents added meanwhile may be included. Then calls `done`, unless rebuilds are given up or the index is destroyed
    /// before. Several rebuilds run one after the other. Threads: calls both on the merging thread.
    void rebuild(TypeId type, EntriesOf entries_of, std::function<void()> done = {});

    /// Ends rebuilds, to be called before what `entries_of` reads from is destroyed. The run being rewritten stays as it was.
    void give_up_rebuilds();

    /// The progress of the rebuilds of a type; none if there is none.
    std::optional<Progress> rebuilding(TypeId type) const;

    /// Rewrites, in the background, all runs that contain erased documents now, so that nothing of them remains in memory or in
    /// files written from then on.
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
