// Segments as readers see them: mapped files by number, and the scan of one that has no footer.
//
// Layer:   storage.
// Format:  docs/format.md, "Segment" and "Recovery".
// Threads: SegmentTable from any thread, retire() and renew_holds() from one at a time; the rest plain functions.

#pragma once

#include "storage/format.h"
#include "storage/index.h"
#include "storage/reader_counts.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

class PackedSegment;
class ResidentPages;

/// One mapped segment. Immutable, except for the bytes after the frames of the open one and bodies that are erased in place.
struct Segment {
    SegmentHeader header;
    std::shared_ptr<const char> data;
    /// Size of the file when it was mapped; sealing makes the file shorter. Nothing after its current end is read.
    std::uint64_t bytes = 0;
    std::shared_ptr<const PackedSegment> packed = nullptr;  ///< null: plain
    /// Bodies may be zeroed in place: once the bytes are held, ask the index again whether the version was erased.
    bool erased_from = false;

    /// Owners of the bytes, each with a count of its own, so that threads reading one segment don't contend for one count.
    using Holds = std::array<std::shared_ptr<const char>, kThreadPlaces>;
    Holds holds = {};

    std::string_view view() const noexcept { return {data.get(), bytes}; }

    /// The owner by which the calling thread keeps the bytes mapped. Requires: the segment is in a table.
    const std::shared_ptr<const char>& hold() const noexcept { return holds[thread_place()]; }
};

/// All segments of a store, each in a slot, which is what Location::segment names. A segment whose file is replaced gets
/// another slot; the old one is retired once the index names the new one everywhere.
class SegmentTable {
  public:
    SegmentTable() = default;
    SegmentTable(const SegmentTable&) = delete;
    SegmentTable& operator=(const SegmentTable&) = delete;
    ~SegmentTable();

    /// While one exists, what find() returned to its thread stays valid. Keep it short-lived: retire() waits for it.
    class Reader : ReaderCounts::Reader {
      public:
        explicit Reader(const SegmentTable& table) noexcept
            : ReaderCounts::Reader(table.readers_) {}
    };

    /// Adds a segment, possibly in place of another of the same number, and returns its slot.
    std::uint32_t insert(Segment segment);

    /// How many of them are packed.
    std::uint64_t packed() const noexcept { return packed_.load(std::memory_order_relaxed); }

    /// The segment in a slot, or null. Lifetime: a Reader's, or until retire() for the thread that calls that.
    const Segment* find(std::uint64_t slot) const noexcept;

    /// The slot of the segment of that number that was inserted last; none if there is none.
    std::optional<std::uint32_t> slot_of(std::uint64_t number) const;

    /// Releases the segment in a slot: it is unmapped once nobody reads it and no Pin holds it.
    /// Requires: another one of its number was inserted, and the index no longer names this slot.
    void retire(std::uint32_t slot);

    /// Gives later readers of a segment new owners of its bytes and returns the previous ones. Once the result is the only
    /// reference to each of these, nobody still reads anything that the index showed as erased before the call.
    Segment::Holds renew_holds(std::uint32_t slot);

    std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    static constexpr std::uint64_t kSlotMax = (1U << 22) - 1;

  private:
    static constexpr std::size_t kChunk = 1024;
    using Chunk = std::array<std::atomic<const Segment*>, kChunk>;

    ReaderCounts readers_;
    std::array<std::atomic<Chunk*>, (kSlotMax + 1) / kChunk> chunks_{};
    std::atomic<std::uint64_t> size_{0};
    std::atomic<std::uint64_t> packed_{0};
    mutable std::mutex mutex_;          ///< guards everything below; insert() holds it
    std::vector<std::uint32_t> slots_;  ///< by number
    std::vector<std::uint32_t> free_;   ///< slots that were retired
    std::uint32_t next_slot_ = 1;
};

/// A segment made of its mapped file, which begins with this header. Errors: corrupt.
Result<Segment> make_segment(const SegmentHeader& header, std::shared_ptr<const char> data,
                             std::uint64_t bytes);

/// Makes `segment` the current one of its number: relocates its versions in `index` and retires the one before. Errors: corrupt
/// (no whole footer). Threads: as SegmentTable::retire().
Result<void> switch_segment(SegmentTable& table, Index& index, Segment segment);

/// The bytes of a version, checksum verified. `read_only`: another process may have erased it, which its record shows but
/// `index` doesn't, or may erase it at any moment, so the bytes are a copy. Errors: corrupt, not_found (it was erased).
Result<StoredVersion> load_version(const SegmentTable& segments, const Index& index,
                                   const VersionInfo& info, bool read_only = false);

/// The same if its bytes are in memory; otherwise only StoredVersion::unread is set.
Result<StoredVersion> load_resident(const SegmentTable& segments, const Index& index,
                                    const VersionInfo& info, ResidentPages& pages,
                                    bool read_only = false);

/// The positions of those `versions` whose bytes are only on the device. Versions that are not in the log are left out.
std::vector<Position> find_unread(const SegmentTable& segments, const Index& index,
                                  std::span<const VersionInfo> versions, ResidentPages& pages);

/// Brings the bytes of the version at `position` into memory; blocks.
void bring_in(const SegmentTable& segments, const Index& index, Position position,
              ResidentPages& pages);

/// The request that made a commit (Commit::request), and where its record is.
struct CommitRequest {
    Location place;
    std::string id;
};

/// The request of the commit whose last version is at `last`; none if it has none or that was erased.
std::optional<CommitRequest> find_request(const SegmentTable& segments, const Index& index,
                                          Position last);

struct FrameAt {
    std::uint64_t offset = 0;
    FrameHeader header;
};

/// What a scan of a segment without footer found.
struct SegmentScan {
    std::vector<FrameAt> frames;    ///< whole ones from the start, without a gap
    std::uint64_t end = 0;          ///< where they end
    std::uint64_t garbage_end = 0;  ///< the end of the last nonzero byte after `end`; else `end`
    std::optional<std::uint64_t> witness;  ///< a later whole frame that proves `end` was durable
};

/// Scans a segment that has no footer. Another process may be writing to it: frames that arrive during the scan don't count as
/// witnesses.
SegmentScan scan_segment(std::string_view bytes, const SegmentHeader& header);

/// The first whole frame at or after `from` (a multiple of kAlignment).
std::optional<FrameAt> find_frame(std::string_view bytes, std::uint64_t from, std::uint64_t salt);

/// The offset of the frame that contains the record at `offset`. Cost: proportional to the records before it in the frame.
std::optional<std::uint64_t> frame_around(std::string_view bytes, std::uint64_t offset,
                                          std::uint64_t salt);

}  // namespace annals::storage
