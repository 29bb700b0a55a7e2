// Housekeeper: the thread that removes erased bodies from the files, for many commits at a time, and compacts segments in
// between.
//
// Layer:   storage.
// Threads: its own; add() and wake() from the log writer's, the rest from any.

#pragma once

#include "storage/compaction.h"
#include "storage/eraser.h"
#include "storage/settle_listeners.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace annals::storage {

class Housekeeper {
  public:
    /// Removes what was erased from files that are derived from the log. Called before segments are touched.
    using ForgetDerived = std::function<Result<void>(std::span<const Position>)>;

    /// What an earlier process has left to do.
    struct Left {
        std::uint64_t erases = 0;  ///< erase records
        std::vector<Position> erased = {};
    };

    /// Starts the thread, which begins with what is `left`. Lifetime: all references outlive the housekeeper.
    Housekeeper(Eraser& eraser, Compaction& compaction, SettleListeners& listeners,
                ForgetDerived forget_derived, Left left);

    /// Completes the outstanding erasures, and stops. Requires: nothing is added any more.
    ~Housekeeper();
    Housekeeper(const Housekeeper&) = delete;
    Housekeeper& operator=(const Housekeeper&) = delete;

    /// Announces that the commit `ticket` erases something, before it makes the first version invisible: whoever then finds it
    /// gone is told so by unfinished(). Requires: tickets ascend. Threads: the log writer's, as for add() and wake().
    void announce(Ticket ticket);

    /// Adds the versions that an erase record of the announced commit has made invisible.
    void add(std::span<const Position> erased);

    /// Begins with what was added, which is visible to everyone by now. Requires: the announced commit is added completely.
    void wake();

    /// Blocks until nothing is left of what commits up to `ticket` erased, except in damaged records (Eraser::take_damage()).
    /// Errors: no_store, io.
    Result<void> wait(Ticket ticket);

    /// The newest commit of which something may be left whose removal has not failed: it is under way, or begins soon. 0: nothing
    /// is left of any commit, including those of earlier processes, except in damaged records.
    /// Errors: no_store, io: the last attempt failed, and something is left.
    Result<Ticket> unfinished();

    /// Compacts every sealed segment with anything dead: at full speed (`hurry`), or at a pace that writers hardly notice.
    void compact(bool hurry);

    /// Blocks until that is done. Errors: that of erasures, which come first; that of the last segment that could not be
    /// compacted.
    Result<void> wait_compacted();

    std::uint64_t bodies_erased() const noexcept { return bodies_.load(std::memory_order_relaxed); }

  private:
    struct Task {
        Ticket ticket;
        std::uint64_t erases = 0;
        std::vector<Position> erased;

        void take(Task& other);  ///< which is empty then
    };

    void run();
    Result<std::optional<Error>> work(Task& task);
    void erase(Task& task, std::unique_lock<std::mutex>& lock);
    void compact_step(std::unique_lock<std::mutex>& lock);

    Eraser& eraser_;
    Compaction& compaction_;
    SettleListeners& listeners_;
    const ForgetDerived forget_derived_;

    std::mutex mutex_;  ///< guards everything below except the thread
    std::condition_variable wake_;
    std::condition_variable done_wake_;
    Ticket announced_;  ///< the newest, also once it is done
    Task adding_;       ///< until wake(): perhaps only a part of a commit
    Task added_;        ///< complete commits
    bool left_;         ///< what an earlier process left is not done yet
    bool ready_ = false;
    bool compacting_ = true;           ///< there may be something to compact
    bool hurried_ = false;             ///< by compact()
    Result<void> compaction_outcome_;  ///< of the last segment
    bool stopping_ = false;
    Ticket done_;
    Ticket failed_from_;
    Result<void> outcome_;  ///< of the last erasure

    std::atomic<std::uint64_t> bodies_{0};
    std::thread thread_;
};

}  // namespace annals::storage
