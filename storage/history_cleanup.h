// HistoryCleanup: removes the oldest versions of resources that have more than are kept, now and then, a little at a time.
//
// Layer:   storage; uses the store's public face alone.
// Threads: a thread of its own, of low priority.

#pragma once

#include "storage/store.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace annals::storage {

/// What a cleanup removed, or would.
struct CleanupReport {
    std::uint64_t resources = 0;  ///< that have more versions than are kept
    std::uint64_t versions = 0;   ///< removed of these
};

/// Goes through the log once. Waits in between, so that writers hardly notice, and where they leave it no room, until they
/// do; once `pause` says so, it ends early. With `dry_run` nothing is removed.
/// Errors: those of a submission: no_store, io; what is done is done.
Result<CleanupReport> clean_history(Store& store, const HistoryLimits& limits, bool dry_run,
                                    const std::function<bool(std::chrono::milliseconds)>& pause);

class HistoryCleanup {
  public:
    /// The first cycle begins this long after the start.
    static constexpr std::chrono::seconds kFirstAfter{5};

    /// Starts the thread, whose first cycle begins after `first_after`, and each other `interval` after the end of the one
    /// before. Lifetime: `store` outlives it.
    HistoryCleanup(Store& store, const HistoryLimits& limits, std::chrono::milliseconds interval,
                   std::chrono::milliseconds first_after = kFirstAfter);

    /// Gives up the cycle under way.
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
