// SegmentWriter: writes the open segment, seals it when it is full, and begins the next one.
//
// Layer:   storage. Knows frames and files, but not commits, tickets or threads.
// Format:  docs/format.md, "Writing".
// Threads: the log writer's; SegmentPreparer has a thread of its own.

#pragma once

#include "storage/drop_behind.h"
#include "storage/file_system.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace annals::storage {

/// Fills the next segment's file with zeros before it is needed, at a pace that leaves the device to the log.
class SegmentPreparer {
  public:
    SegmentPreparer(FileSystem& fs, std::string path) : fs_(fs), path_(std::move(path)) {}

    SegmentPreparer(const SegmentPreparer&) = delete;
    SegmentPreparer& operator=(const SegmentPreparer&) = delete;
    ~SegmentPreparer();

    /// Starts the thread, with the priority of the calling one. Until then nothing is prepared.
    void start();

    /// Requests a file of `bytes`, unless one is prepared or being filled.
    void request(std::uint64_t bytes);

    /// The prepared file at path(), with at least `least` bytes. A file that is being filled is taken with the zeros that it has,
    /// once the current chunk is written, unless these are too few to be useful. The caller must rename it. None: there is no
    /// file of that size.
    std::unique_ptr<File> take(std::uint64_t least);

    const std::string& path() const noexcept { return path_; }

  private:
    void run(const std::stop_token& stop);
    std::unique_ptr<File> fill(std::uint64_t bytes, const std::stop_token& stop);

    FileSystem& fs_;
    const std::string path_;
    std::mutex mutex_;  ///< guards everything below except the thread
    std::condition_variable_any wake_;
    std::condition_variable done_;
    std::uint64_t wanted_bytes_ = 0;
    std::uint64_t filled_bytes_ = 0;  ///< of the file being filled
    bool cut_ = false;                ///< the file being filled is wanted as it is
    std::unique_ptr<File> ready_;
    std::uint64_t ready_bytes_ = 0;
    std::jthread thread_;
};

/// The segment that recovery left open.
struct OpenSegment {
    SegmentHeader header;
    std::uint32_t slot = 0;  ///< in the table
    std::unique_ptr<File> file;
    std::uint64_t end = kSegmentHeaderBytes;  ///< of the frames
    std::uint64_t bytes = 0;                  ///< of the file
    FooterBuilder footer;
    bool marked = false;  ///< the last frame is a mark
};

/// Appends frames to the newest segment. After no_store (too little space, too few descriptors) everything is as it was and
/// the call may be repeated; after any other error the log must not be written any more.
class SegmentWriter {
  public:
    struct Options {
        /// The size of a segment's file; larger if one commit needs it, smaller for the first and if the device is nearly full.
        std::uint64_t segment_bytes;
        /// Fills the next file with zeros in the meantime, on a thread of its own.
        bool prepare_ahead;
        std::uint64_t kept_bytes = 0;  ///< see DropBehind
    };

    /// What the next frames need room for.
    struct Need {
        std::uint64_t bytes = 0;
        std::uint64_t records = 0;
    };

    /// `directory` is that of the segments. Lifetime: `fs` and `table` outlive the writer.
    SegmentWriter(FileSystem& fs, std::string directory, Options options, std::uint64_t store_id,
                  SegmentTable& table);

    /// Continues in a segment that recovery left open. Requires: it is durable up to its end.
    void resume(OpenSegment segment);

    /// Creates the first segment of a new store, or the one after a sealed last segment. `first_position` is that of the next
    /// version, `last_instant` that of the last commit.
    ///
    /// Durability: the file, its header and its name, once this has returned.
    /// Errors: no_store; io, also if a file of that number exists, which is left as it is.
    Result<void> begin(std::uint64_t number, Position first_position, Instant last_instant);

    /// Whether `need` fits into the open segment, together with its part of the footer.
    bool fits(const Need& need) const noexcept;

    /// Seals the open segment and begins the next if `need` doesn't fit. `first_position` and
    /// `last_instant`: of the next version, of the last commit.
    Result<void> make_room(const Need& need, Position first_position, Instant last_instant);

    /// Writes finished frames at end(). Durability: none before sync().
    Result<void> write(std::string_view frames);

    /// Makes what write() wrote durable, if it is not yet. Errors: io: the log must not be written any more, because what the
    /// device has is unknown.
    Result<void> sync();

    /// Overwrites with zeros what a failed write may have left.
    Result<void> clean();

    /// Tests whether writes that failed for a shortage work again, and leaves only zeros after end(). A full segment is sealed,
    /// but none is begun. `last_instant` is that of the last commit.
    Result<void> probe(Instant last_instant);

    /// Writes and syncs a mark, unless there are no frames or the last one is a mark.
    Result<void> mark(Position next_position, Instant last_instant);

    std::uint64_t end() const noexcept { return open_->end; }

    std::uint64_t synced() const noexcept { return synced_; }

    std::uint64_t salt() const noexcept { return open_->header.salt; }

    std::uint32_t number() const noexcept {
        return static_cast<std::uint32_t>(open_->header.number);
    }

    /// The slot of the open segment in the table.
    std::uint32_t slot() const noexcept { return open_->slot; }

    /// Number of the open segment; 0 if there is none, as between two segments while the device is full. Any thread.
    std::uint64_t open_number() const noexcept {
        return open_number_.load(std::memory_order_acquire);
    }

    /// Number of the newest segment, open or not; 0 if there is none. All before it are sealed. Any thread.
    std::uint64_t newest_number() const noexcept {
        return newest_number_.load(std::memory_order_acquire);
    }

    bool is_open() const noexcept { return open_ != nullptr; }

    FooterBuilder& footer() noexcept { return open_->footer; }

    /// The bytes of all files. Any thread.
    std::uint64_t log_bytes() const noexcept { return log_bytes_.load(std::memory_order_relaxed); }

    /// `bytes` may be negative, modulo 2^64. Any thread.
    void add_log_bytes(std::uint64_t bytes) noexcept { log_bytes_ += bytes; }

  private:
    /// A segment's file before it has its name.
    struct NewFile {
        std::string path;
        std::unique_ptr<File> file;
        std::uint64_t bytes = 0;
    };

    Result<void> sync_file();
    Result<void> seal(Instant last_instant);
    Result<void> try_new_file();
    Result<void> give_name(const std::string& path, const std::string& name);
    Result<NewFile> make_file(std::uint64_t bytes, std::uint64_t least, bool zeros);
    Result<void> begin_with(std::uint64_t least, bool zeros, Position first_position,
                            Instant last_instant);

    FileSystem& fs_;
    const std::string directory_;
    const Options options_;
    const std::uint64_t store_id_;
    SegmentTable& table_;
    SegmentPreparer preparer_;
    DropBehind drop_behind_;
    std::unique_ptr<OpenSegment> open_;
    std::uint64_t next_number_ = 1;
    std::uint64_t synced_ = 0;
    std::uint64_t dirty_bytes_ = 0;        ///< behind end() that a failed write may have touched
    std::uint64_t recent_sync_bytes_ = 0;  ///< made durable by a sync, on average
    bool sealing_ = false;                 ///< a seal has begun and must be finished first
    std::atomic<std::uint64_t> log_bytes_{0};
    std::atomic<std::uint64_t> open_number_{0};
    std::atomic<std::uint64_t> newest_number_{0};
};

}  // namespace annals::storage
