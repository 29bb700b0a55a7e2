// LogWriter: the one thread that makes commits durable, visible and known, a batch at a time.
//
// Layer:   storage.
// Threads: its own; the public members from any thread. Listeners are called on its thread.

#pragma once

#include "storage/dropped_tickets.h"
#include "storage/housekeeper.h"
#include "storage/index.h"
#include "storage/search_feed.h"
#include "storage/segment_writer.h"
#include "storage/sequencer.h"
#include "storage/store.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace annals::storage {

/// Takes what the sequencer gathered, writes it with one write, syncs once, publishes to the indices and
/// notifies listeners once.
///
/// If a write finds the device full, or there is no descriptor for the next segment, everything not yet durable
/// is dropped, and writing resumes when there is enough again; the writer probes for that by itself, because
/// without submissions nobody else would. Any other failed write and any failed sync end writing for good: what
/// the device holds is unknown until recovery has read it.
class LogWriter {
  public:
    struct Options {
        Durability durability = Durability::commit;
        std::uint32_t sync_interval_ms = 100;
    };

    /// What it works on. Lifetime: all outlive the writer.
    struct Parts {
        Sequencer& sequencer;
        SegmentWriter& segments;
        Index& index;
        SearchFeed* search;  ///< null: there is no search
        Housekeeper& housekeeper;
        SettleListeners& listeners;
    };

    /// Starts the thread.
    LogWriter(const Parts& parts, Options options);

    /// As stop(), unless that was called.
    ~LogWriter();
    LogWriter(const LogWriter&) = delete;
    LogWriter& operator=(const LogWriter&) = delete;

    /// Store::close(): writes what was gathered, syncs, marks the log's end and ends the thread. Requires: nobody submits
    /// any more.
    Result<void> stop();

    /// Blocks until `ticket` has settled. Requires: it was flushed.
    /// Errors: no_store: it was dropped, or, if it settled long ago, perhaps a neighbouring ticket was (DroppedTickets).
    Result<void> wait(Ticket ticket);

    /// The end of the log at the newest publication, or the beginning of the newest segment if that is later. `segment` is 0
    /// if there is none yet.
    LogEnd end() const;

    /// Store::write_wait().
    Sequencer::Clock::duration write_wait() const noexcept;

    /// Sets the writer's counters in `metrics`.
    void count(StoreMetrics& metrics) const noexcept;

  private:
    void run();
    void write_batch(Batch& batch);
    Result<void> write_run(Batch& batch, std::size_t begin, std::size_t end);
    Result<void> sync();
    void follow_end();
    void publish(Batch& batch, std::size_t begin, std::size_t end, std::uint64_t file_offset);
    void publish_search(Batch& batch, std::size_t begin, std::size_t end);
    void add_to_index();
    void erase(const Hint& record, Ticket ticket);
    void take_writes_again();
    void fail(const Error& error);
    void settle(Ticket through, bool ok);
    void probe();
    std::optional<Sequencer::Clock::time_point> next_sync() const;
    std::optional<Sequencer::Clock::time_point> next_probe() const;

    Sequencer& sequencer_;
    SegmentWriter& segments_;
    Index& index_;
    SearchFeed* const search_;
    Housekeeper& housekeeper_;
    SettleListeners& listeners_;
    const Options options_;

    // The log writer's thread alone.
    Position written_;
    Instant instant_;
    std::vector<IndexedVersion> added_;  ///< on their way into the index
    std::vector<Position> erased_;
    Sequencer::Clock::time_point last_sync_ = Sequencer::Clock::now();
    Sequencer::Clock::time_point last_probe_;  ///< without a commit

    std::mutex settle_mutex_;  ///< guards the three below
    std::condition_variable settled_wake_;
    Ticket settled_;
    DroppedTickets dropped_;

    mutable std::mutex end_mutex_;
    LogEnd end_;  ///< guarded by end_mutex_

    std::atomic<Sequencer::Clock::time_point> writing_since_{};  ///< the epoch: nothing is written

    std::atomic<std::uint64_t> commits_{0};
    std::atomic<std::uint64_t> versions_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::uint64_t> syncs_{0};
    std::atomic<std::uint64_t> sync_ns_{0};

    std::thread thread_;
};

}  // namespace annals::storage
