// SearchSaver: writes checkpoints of the search index in the background when enough has changed, and at the end.
//
// Layer:   storage.
// Threads: a thread of its own, of low priority.

#pragma once

#include "storage/search_checkpoint.h"
#include "storage/search_feed.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace annals::storage {

class SearchSaver {
  public:
    /// How long a checkpoint may lag behind an erase, not counting the time that writing it takes.
    static constexpr std::chrono::seconds kEraseDelay{30};
    /// After kill -9 at most this many versions, and those that came while a checkpoint was written, are extracted again.
    static constexpr std::uint64_t kRecentVersions = 8192;
    /// Or those that came within this time, if these are more: under heavy load runs are soon merged into others, and
    /// extracting versions again takes a fraction of the time in which they came.
    static constexpr std::chrono::milliseconds kRecentInterval{500};

    /// Starts the thread. `versions` new ones, or a quarter of those in runs without a file of their own if that is more, cause
    /// a checkpoint that survives a power cut; a quarter of `versions`, but at most kRecentVersions, one that survives the
    /// process. Lifetime: all outlive the saver.
    SearchSaver(SearchCheckpoint& checkpoint, SearchFeed& feed,
                std::function<PerType<std::uint64_t>()> fingerprints, std::uint64_t versions);

    /// Writes what has changed and stops. Requires: nothing is added to the index any more.
    ~SearchSaver();
    SearchSaver(const SearchSaver&) = delete;
    SearchSaver& operator=(const SearchSaver&) = delete;

    /// Requests a checkpoint soon, whatever has changed.
    void ask() noexcept { asked_.store(true, std::memory_order_relaxed); }

    std::uint64_t written_count() const noexcept {
        return written_count_.load(std::memory_order_relaxed);
    }

    /// Bytes of the newest checkpoint.
    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  private:
    using Clock = std::chrono::steady_clock;

    void run();
    bool changed() const noexcept;
    bool due(Clock::time_point now);
    bool recent_due(Clock::time_point now) const noexcept;
    void begin(SearchCheckpoint::Small small);
    void go_on();
    void failed(const Error& error);

    SearchCheckpoint& checkpoint_;
    SearchFeed& feed_;
    const std::function<PerType<std::uint64_t>()> fingerprints_;
    const std::uint64_t versions_;
    const std::uint64_t recent_versions_;

    // The thread's own.
    std::uint64_t published_ = 0;         ///< counts of the feed when the last checkpoint was begun
    std::uint64_t recent_published_ = 0;  ///< the same, for a checkpoint of either kind
    std::uint64_t erased_ = 0;
    std::uint64_t dropped_ = 0;  ///< erases that the index was told to drop
    Clock::time_point erased_since_;
    Clock::time_point not_before_;
    Clock::time_point begun_;               ///< the last checkpoint of either kind
    std::uint64_t gathered_published_ = 0;  ///< counts when the one being synced was begun
    std::uint64_t gathered_erased_ = 0;
    bool syncing_ = false;
    bool failing_ = false;

    std::atomic<bool> asked_ = false;
    std::atomic<std::uint64_t> written_count_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::mutex mutex_;  ///< guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace annals::storage
