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

/// One segment, mapped. Immutable but for the bytes behind the frames of the open one.
struct Segment {
    SegmentHeader header;
    std::shared_ptr<const char> data;
    /// Of the file when it was mapped: one that has been sealed since is shorter. Behind its end nothing is looked at.
    std::uint64_t bytes = 0;
    std::shared_ptr<const PackedSegment> packed = nullptr;  ///< null: plain
    /// Bodies may turn into zeros where they stand: what the index said before its bytes were held may hold no more.
    bool erased_from = false;

    /// What keeps the bytes, each with a count of its own: threads that read one segment don't take turns at one count.
    using Holds = std::array<std::shared_ptr<const char>, kThreadPlaces>;
    Holds holds = {};

    std::string_view view() const noexcept { return {data.get(), bytes}; }

    /// What the calling thread keeps the bytes by. Requires: the segment is in a table.
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

    /// While one lives, what find() gave to its thread stays. To be short: retire() waits for it.
    class Reader : ReaderCounts::Reader {
      public:
        explicit Reader(const SegmentTable& table) noexcept
            : ReaderCounts::Reader(table.readers_) {}
    };

    /// Adds a segment, also one that takes the place of another of its number, and returns its slot.
    std::uint32_t insert(Segment segment);

    /// How many of them are packed.
    std::uint64_t packed() const noexcept { return packed_.load(std::memory_order_relaxed); }

    /// The segment in a slot, or null. Lifetime: a Reader's, or until retire() for the thread that calls that.
    const Segment* find(std::uint64_t slot) const noexcept;

    /// The slot of the segment of that number that was inserted last; none if there is none.
    std::optional<std::uint32_t> slot_of(std::uint64_t number) const;

    /// Lets go of the segment in a slot: it is unmapped once nobody reads it and no Pin holds it.
    /// Requires: another one of its number was inserted, and the index names this slot nowhere.
    void retire(std::uint32_t slot);

    /// Takes away what readers have kept the bytes of a segment by so far, and has those who come keep them by others. What the
    /// index showed as erased before this is read by nobody any more once the result's owner is the only one of each.
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
    mutable std::mutex mutex_;          ///< guards what is below and whoever inserts
    std::vector<std::uint32_t> slots_;  ///< by number
    std::vector<std::uint32_t> free_;   ///< slots that were retired
    std::uint32_t next_slot_ = 1;
};

/// The segment whose file, with this header, is mapped. Errors: corrupt.
Result<Segment> make_segment(const SegmentHeader& header, std::shared_ptr<const char> data,
                             std::uint64_t bytes);

/// Makes `segment` the one of its number: what `index` says of its versions leads there from now on, and the one before
/// is let go. Errors: corrupt (it has no whole footer). Threads: as SegmentTable::retire().
Result<void> switch_segment(SegmentTable& table, Index& index, Segment segment);

/// The bytes of a version, checksum verified. `read_only`: another process may have erased it, of which the record tells and
/// `index` does not, or erase it at any moment: they are a copy. Errors: corrupt, not_found (it was erased).
Result<StoredVersion> load_version(const SegmentTable& segments, const Index& index,
                                   const VersionInfo& info, bool read_only = false);

/// The same if its bytes are in memory; else StoredVersion::unread is set.
Result<StoredVersion> load_resident(const SegmentTable& segments, const Index& index,
                                    const VersionInfo& info, ResidentPages& pages,
                                    bool read_only = false);

/// Of `versions`, the positions of those whose bytes are on the device only. Those that are not in the log are passed over.
std::vector<Position> find_unread(const SegmentTable& segments, const Index& index,
                                  std::span<const VersionInfo> versions, ResidentPages& pages);

/// Brings the bytes of the version at `position` into memory; blocks.
void bring_in(const SegmentTable& segments, const Index& index, Position position,
              ResidentPages& pages);

/// Who made a commit: Commit::request, and where the record stands that keeps it.
struct CommitRequest {
    Location place;
    std::string id;
};

/// That of the commit whose last version is at `last`; none if none was kept, or it was erased.
std::optional<CommitRequest> find_request(const SegmentTable& segments, const Index& index,
                                          Position last);

struct FrameAt {
    std::uint64_t offset = 0;
    FrameHeader header;
};

/// What a scan of a segment without footer found.
struct SegmentScan {
    std::vector<FrameAt> frames;  ///< whole ones from the start, without a gap
    std::uint64_t end = 0;        ///< where they end
    std::uint64_t garbage_end =
        0;  ///< behind the last byte after `end` that is not zero; else `end`
    std::optional<std::uint64_t> witness;  ///< a later whole frame that says `end` had been durable
};

/// Scans a segment that has no footer. Another process may be writing to it: what comes while the scan goes on is no witness.
SegmentScan scan_segment(std::string_view bytes, const SegmentHeader& header);

/// The first whole frame at or after `from` (a multiple of kAlignment).
std::optional<FrameAt> find_frame(std::string_view bytes, std::uint64_t from, std::uint64_t salt);

/// The frame around the record at `offset` of a segment. Cost: of the records before it in the frame.
std::optional<std::uint64_t> frame_around(std::string_view bytes, std::uint64_t offset,
                                          std::uint64_t salt);

}  // namespace annals::storage
