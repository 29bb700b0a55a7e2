// Segments as readers see them: mapped files by number, and the scan of one that has no footer.
//
// Layer:   storage.
// Format:  docs/format.md, "Segment" and "Recovery".
// Threads: SegmentTable::find() from any thread, insert() from one at a time; the rest plain functions.

#pragma once

#include "storage/format.h"
#include "storage/index.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::storage {

/// One segment, mapped. Immutable but for the bytes behind the frames of the open one.
struct Segment {
    SegmentHeader header;
    std::shared_ptr<const char> data;
    std::uint64_t bytes = 0;

    std::string_view view() const noexcept { return {data.get(), bytes}; }
};

/// All segments of a store by number. Readers take no lock.
class SegmentTable {
  public:
    SegmentTable() = default;
    SegmentTable(const SegmentTable&) = delete;
    SegmentTable& operator=(const SegmentTable&) = delete;
    ~SegmentTable();

    /// Adds a segment under header.number. Requires: the number is new and at most kNumberMax.
    void insert(Segment segment);

    /// The segment of that number, or null. Lifetime: the table's.
    const Segment* find(std::uint64_t number) const noexcept;

    std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    static constexpr std::uint64_t kNumberMax = (1U << 22) - 1;

  private:
    static constexpr std::size_t kChunk = 1024;
    using Chunk = std::array<std::atomic<const Segment*>, kChunk>;

    std::array<std::atomic<Chunk*>, (kNumberMax + 1) / kChunk> chunks_{};
    std::atomic<std::uint64_t> size_{0};
};

/// The bytes of a version whose record is at `location`, checksum verified. Errors: corrupt, not_found.
Result<StoredVersion> load_version(const SegmentTable& segments, const Location& location,
                                   const VersionInfo& info);

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

SegmentScan scan_segment(std::string_view bytes, const SegmentHeader& header);

/// The first whole frame at or after `from` (a multiple of kAlignment).
std::optional<FrameAt> find_frame(std::string_view bytes, std::uint64_t from, std::uint64_t salt);

}  // namespace annals::storage
