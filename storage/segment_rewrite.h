// SegmentRewrite: copies a sealed segment without the space of erased bodies, and packs it if asked to.
//
// Every record of a version or an erasure stays, at its position: the header, type and id of an erased version remain, to say
// what was erased and to keep numbers and positions as they are.
//
// Layer:   storage.
// Format:  docs/format.md, "Compaction" and "Packed segment".
// Threads: one.

#pragma once

#include "storage/file_system.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"
#include "storage/segment_packer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// Rewrites one segment to a new file, some frames at a time.
class SegmentRewrite {
  public:
    /// Begins to rewrite the sealed segment `number`, to a packed one if `packed`. Errors: no_store, io, corrupt (no whole
    /// footer).
    static Result<std::unique_ptr<SegmentRewrite>> begin(FileSystem& fs,
                                                         const std::string& segments,
                                                         std::uint64_t number, bool packed);

    /// Removes the new file, unless finish() has put it in place.
    ~SegmentRewrite();
    SegmentRewrite(const SegmentRewrite&) = delete;
    SegmentRewrite& operator=(const SegmentRewrite&) = delete;

    std::uint64_t number() const noexcept { return header_.number; }

    /// Bytes of the old file.
    std::uint64_t bytes() const noexcept { return source_.size(); }

    /// Bytes of the old file that are done.
    std::uint64_t done() const noexcept { return read_; }

    /// The new file is a packed one.
    bool packs() const noexcept { return header_.format == SegmentFormat::packed; }

    /// Copies about `bytes` of the old file, without the space of erased bodies. Returns true when nothing is left to copy.
    /// Errors: no_store, io, corrupt (a frame is not whole; the segment is left alone).
    Result<bool> step(std::uint64_t bytes);

    /// Puts the new file in place of the old one, durably, and returns the new segment. None: packing gained nothing, and the old
    /// file stays. Requires: step() returned true.
    Result<std::optional<Segment>> finish();

    /// The new file has the segment's name.
    bool finished() const noexcept { return finished_; }

  private:
    SegmentRewrite(FileSystem& fs, const std::string& segments)
        : fs_(fs), segments_(segments), draft_(segments + "/compact.tmp") {}

    void begin_packing();
    Result<void> copy_frame();
    Result<void> flush();

    FileSystem& fs_;
    const std::string segments_;
    const std::string draft_;
    std::shared_ptr<const char> data_;
    std::string_view source_;
    SegmentHeader header_;  ///< of the new file: another salt
    std::uint64_t old_salt_ = 0;
    std::uint64_t frames_end_ = 0;
    std::uint64_t read_ = kSegmentHeaderBytes;
    Instant last_instant_;
    std::vector<Hint> hints_;
    std::size_t next_hint_ = 0;
    std::optional<FooterBuilder> footer_;
    std::unique_ptr<File> file_;
    std::uint64_t written_ = 0;
    std::string pending_;      ///< not written yet
    std::uint64_t image_ = 0;  ///< bytes of the new segment, unpacked
    std::string frame_;
    /// Null: the new file is plain, or nothing is copied yet.
    std::unique_ptr<SegmentPacker> packer_;
    /// Offsets in the old file of what the dictionary has pieces of.
    std::vector<std::uint64_t> old_sources_;
    std::vector<std::uint64_t> sources_;  ///< and in the new segment
    bool finished_ = false;
};

}  // namespace annals::storage
