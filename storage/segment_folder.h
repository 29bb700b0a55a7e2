// The folder of a store's segments: which there are, and whether this program can read them.
//
// Layer:   storage.
// Format:  docs/format.md, "Segment".
// Threads: plain functions; they block.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"

#include <cstdint>
#include <string>
#include <vector>

namespace annals::storage {

/// The numbers of the segments in the folder `segments`, ascending. Errors: not_found, io.
Result<std::vector<std::uint64_t>> segment_numbers(FileSystem& fs, const std::string& segments);

/// Refuses a store that a newer program wrote, without touching anything. Errors: usage, io.
Result<void> check_format(FileSystem& fs, const std::string& segments);

}  // namespace annals::storage
