// Reads a segment's file from end to end and checks that every byte is what was written.
//
// Layer:   storage; for backups and restores. verify() checks more, of a whole store.
// Format:  docs/format.md.
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"
#include "storage/segment.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// A frame, and the state of the log after it.
struct CheckedFrame {
    std::uint64_t end = 0;
    Position last_position;  ///< of the log after it
    bool has_versions = false;
    Instant instant;
};

/// What a segment holds.
struct CheckedSegment {
    SegmentHeader header;
    bool sealed = false;
    std::uint64_t bytes = 0;  ///< of the file; of a packed one, unpacked
    std::uint64_t end = 0;    ///< of the frames
    std::uint64_t checksum =
        0;  ///< XXH3-64, seed 0, of the frames and all before them, or of the whole file if sealed
    Position last_position;
    Instant last_instant;
    std::shared_ptr<const char> data;
    std::shared_ptr<const char> file;
    std::uint64_t file_bytes = 0;

    /// The bytes to read.
    std::string_view view() const noexcept { return {data.get(), bytes}; }

    /// The bytes on disk: the same, unless it is packed.
    std::string_view file_view() const noexcept { return {file.get(), file_bytes}; }
};

/// Reads the segment at `path` and checks header, frames, records and footer; `visit`, if set, is called for each frame and
/// ends the walk by returning false. An open segment ends where its frames do; only zeros may follow.
/// Errors: corrupt (names path and offset), usage (a newer format), io.
Result<CheckedSegment> check_segment(FileSystem& fs, const std::string& path,
                                     const std::function<bool(const CheckedFrame&)>& visit = {});

}  // namespace annals::storage
