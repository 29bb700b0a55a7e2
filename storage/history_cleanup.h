// HistoryCleanup: periodically removes the oldest versions of resources beyond their limit, a little at a time.
//
// Layer:   storage; uses only the store's public interface.
// Threads: a thread of its own, of low priority.

#pragma once

#include "storage/store.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace annals::storage {

/// What a cleanup removed, or would remove.
struct CleanupReport {
    std::uint64_t resources = 0;  ///< that had more versions than their limit
    std::uint64_t versions = 0;   ///< removed from these
};

/// Goes through the log once. Pauses in between so that writers hardly notice and, if they leave no room, until they do; ends
/// early once `pause` returns true. With `dry_run` nothing is removed.
/// Errors: those of a submission: no_store, io; what is done stays done.
Result<CleanupReport> clean_history(Store& store, const HistoryLimits& limits, bool dry_run,
                                    const std::function<bool(std::chrono::milliseconds)>& pause);

class HistoryCleanup {
  public:
    /// The first cycle begins this long after the start of a store, or sooner if the interval is shorter.
    static constexpr std::chrono::seconds kFirstAfter{5};

    /// Starts the thread. The first cycle begins after `first_after`, every other one `interval` after the end of the one
    /// before. Lifetime: `store` outlives it.
    HistoryCleanup(Store& store, const HistoryLimits& limits, std::chrono::milliseconds interval,
                   std::chrono::milliseconds first_after);

    /// Abandons the cycle under way.
    ~HistoryCleanup();
    HistoryCleanup(const HistoryCleanup&) = delete;
    HistoryCleanup& operator=(const HistoryCleanup&) = delete;

  private:
    void run();
    bool stopped_within(std::chrono::milliseconds time);

    Store& store_;
    const HistoryLimits limits_;
    const std::chrono::milliseconds interval_;
    const std::chrono::milliseconds first_after_;
    std::mutex mutex_;  ///< guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace annals::storage
