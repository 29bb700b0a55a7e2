// SearchIndex's parts: the state of each type, and of the merging thread.
//
// Layer:   storage; private to SearchIndex.
// Threads: as search_index.h; comments mark what `edit` guards.

#pragma once

#include "storage/search_index.h"
#include "storage/search_merge_policy.h"
#include "storage/search_pending.h"

#include <array>
#include <atomic>
#include <bitset>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace annals::storage {

using Runs = SearchPending::Runs;

inline Position first_position(const SearchRun& run) noexcept {
    return run.position(0);
}

inline Position last_position(const SearchRun& run) noexcept {
    return run.position(run.size() - 1);
}

/// The run that may contain this position; null if none.
const SearchRun* find_run(const Runs& runs, Position position) noexcept;

/// The number of documents in all of them.
std::uint64_t documents_of(const Runs& runs) noexcept;

/// The number of documents in each.
std::vector<std::uint32_t> sizes_of(std::span<const std::shared_ptr<const SearchRun>> runs);

/// Processor time that this thread has used so far, in microseconds.
std::uint64_t processor_us() noexcept;

struct SearchIndex::Impl {
    /// A run more than half of which had died when `last` was the last position.
    struct HalfDead {
        const SearchRun* run = nullptr;
        std::uint64_t last = 0;
    };

    struct Type {
        mutable std::mutex pointer;  ///< held only while `current` is copied or replaced
        std::shared_ptr<const SearchRuns> current = std::make_shared<const SearchRuns>();
        std::vector<HalfDead> half_dead;

        SearchPending pending;
        std::atomic<bool> fold_wanted = false;
    };

    struct Death {
        Position position;
        Position at;
    };

    struct Rebuild {
        TypeId type;
        EntriesOf entries_of;
        std::function<void()> done;
        Position through;    ///< the last position when it was requested
        Position cursor{0};  ///< runs up to here have been rewritten
        std::uint64_t documents = 0;
        std::atomic<std::uint64_t> documents_done = 0;
    };

    /// Neighbouring runs of one type that are to be replaced.
    struct Job {
        TypeId type;
        Runs inputs;
        Rebuild* rebuild = nullptr;
    };

    /// What the merging thread is working on.
    struct Active {
        TypeId type;
        Position first;
        Position last;
        std::vector<Death> deaths;  ///< of its documents, since it began
    };

    explicit Impl(const SearchIndexOptions& given) : options(given) {
        thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }

    Position horizon() const noexcept {
        return {last > options.positions_retained ? last - options.positions_retained : 0};
    }

    MergePolicy policy() const noexcept {
        return {options.fan_in, options.run_documents_max, options.runs_wanted};
    }

    std::shared_ptr<const SearchRuns> published(TypeId type) const;
    void publish(Type& type, std::shared_ptr<const SearchRuns> runs);
    void fold(TypeId type);
    void add_runs(TypeId type, const Runs& added);
    void want_fold(TypeId type);
    bool fold_one(std::unique_lock<std::mutex>& lock);
    void replace(TypeId type, const Runs& inputs, const Runs& outputs, Position dropped_through);
    void note_half_dead(TypeId type, const SearchRun& run);
    void merge_small(TypeId type);
    void count_merge(std::uint64_t documents, std::uint64_t began_us);
    void wake();

    void work(const std::stop_token& stop);
    void bury();
    std::optional<Job> next_job();
    std::optional<Job> next_merge();
    std::optional<Job> next_vacuum();
    std::optional<Job> next_rebuild();
    std::optional<Job> next_erased();
    bool end_rebuild(std::unique_lock<std::mutex>& lock);
    void perform(Job job, std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
    static Runs rewrite(const SearchRun& run, Rebuild& rebuild, Position horizon,
                        Position& dropped_through, const std::stop_token& stop);

    const SearchIndexOptions options;
    std::array<Type, kResourceTypeCount> types;
    SearchPendingSpares spares;
    std::atomic<std::uint64_t> pending_bytes = 0;

    // Everything below is guarded by `edit`, as are changes to the types' runs; it is held briefly. A thread waiting for it may
    // hold locks of SearchPending.
    mutable std::mutex edit;
    std::uint64_t last = 0;  ///< highest position that was added, or at which something died
    std::uint64_t vacuum_due =
        ~std::uint64_t{0};                  ///< from this last position on, a run is to be vacuumed
    std::bitset<kResourceTypeCount> dirty;  ///< types where there may be something to merge
    std::bitset<kResourceTypeCount> folds;  ///< types whose pending documents are to become a run
    std::optional<Active> active;
    std::deque<Rebuild> rebuilds;
    bool rebuilds_given_up = false;
    bool erased_wanted = false;
    bool merged_last = false;  ///< then other work goes first
    bool woken = false;
    bool idle = false;
    std::condition_variable_any wanted;
    std::condition_variable_any done;

    Runs replaced;  ///< the merging thread's: large runs that a reader may still hold

    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> merges = 0;
    std::atomic<std::uint64_t> documents_merged = 0;
    std::atomic<std::uint64_t> merge_us = 0;

    std::jthread thread;  // last: it uses all of the above
};

}  // namespace annals::storage
