// The file at the end of the log as opening a store finds it: what a crash may have left there is judged, cut and made durable
// before anything is served.
//
// Layer:   storage.
// Format:  docs/format.md, "Recovery", 4 and 5.
// Threads: one, before the store serves.

#pragma once

#include "storage/file_system.h"
#include "storage/segment.h"

#include <cstdint>
#include <string>

namespace annals::storage {

/// The newest segment's. Lifetime: of both, a call's.
struct LastFile {
    const std::string& name;  ///< in the folder of segments
    File& file;               ///< to be read and written
};

/// Reads once more what is there instead of a whole frame at `end` of `segment`: in its mapping, what the device can't read is
/// zeros, and a commit that has some of them looks like a torn tail. Errors: io (it is no such tail).
Result<void> check_end(const LastFile& file, const Segment& segment, std::uint64_t end);

/// Overwrites what is behind the frames with zeros, and syncs, if there is anything. Errors: no_store, io.
Result<void> cut_tail(const LastFile& file, const SegmentScan& scan);

/// Whether what is there was durable already, when there was a footer behind it, or may be in the system's memory alone.
enum class WasDurable : std::uint8_t { perhaps, yes };

/// Writes what is there in [from, to) once more and syncs: a process that was killed, or whose sync failed, may have left
/// it in the system's memory alone, and what is served from now on must outlive a power cut.
/// Writing makes pages dirty again that a failed sync may have marked as clean. Not from the mapping: what can't be
/// read is zeros there, which would be written for good. Of what was durable before, such pages are left as they are.
/// Errors: no_store, io.
Result<void> make_durable(const LastFile& file, std::uint64_t from, std::uint64_t to,
                          WasDurable before);

}  // namespace annals::storage
