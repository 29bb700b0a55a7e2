// The last file of the log when a store is opened: what a crash may have left there is checked, cut and made durable before
// anything is served.
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

/// The newest segment's file. Lifetime: its references', one call.
struct LastFile {
    const std::string& name;  ///< in the folder of segments
    File& file;               ///< to be read and written
};

/// Reads again from the file what is at `end` of `segment` instead of a whole frame: what the device can't read is zeros in the
/// mapping, so a damaged commit may look like a torn tail. Errors: io (it is no such tail).
Result<void> check_end(const LastFile& file, const Segment& segment, std::uint64_t end);

/// Overwrites what follows the frames with zeros, and syncs, if there is anything. Errors: no_store, io.
Result<void> cut_tail(const LastFile& file, const SegmentScan& scan);

/// Whether the bytes were durable already, as they were if a footer follows, or may be only in the page cache.
enum class WasDurable : std::uint8_t { perhaps, yes };

/// Writes the bytes in [from, to) again and syncs: a process that was killed, or whose sync failed, may have left them only in
/// the page cache, and what is served from now on must survive a power cut.
/// Writing makes pages dirty again that a failed sync may have marked as clean. The bytes are read from the file: in a mapping,
/// what can't be read is zeros, which would be written for good. Such pages are left alone if they were durable before.
/// Errors: no_store, io.
Result<void> make_durable(const LastFile& file, std::uint64_t from, std::uint64_t to,
                          WasDurable before);

}  // namespace annals::storage
