// A segment's file read from end to end: is every byte of it what was written?
//
// Layer:   storage; for backups and what is made of them. `verify` does more, of a whole store.
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

/// A frame, and where it leaves the log.
struct CheckedFrame {
    std::uint64_t offset = 0;
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

    /// What is to be read.
    std::string_view view() const noexcept { return {data.get(), bytes}; }

    /// What is on the disk: the same, unless it is packed.
    std::string_view file_view() const noexcept { return {file.get(), file_bytes}; }
};

/// Reads the segment at `path` and checks header, frames, records and footer; `visit`, if it is there, sees each frame
/// and ends the walk by false. An open segment ends where its frames do, and nothing but zeros may follow.
/// Errors: corrupt (names path and offset), usage (a newer format), io.
Result<CheckedSegment> check_segment(FileSystem& fs, const std::string& path,
                                     const std::function<bool(const CheckedFrame&)>& visit = {});

}  // namespace annals::storage
