// Detects that segments are missing at the end of a log: files that were derived from it reach further.
//
// Layer:   storage.
// Format:  docs/format.md, "Recovery".
// Threads: plain functions.

#pragma once

#include "core/base/ids.h"
#include "storage/file_system.h"

#include <cstdint>
#include <string>

namespace annals::storage {

/// Why a store in `directory` that has no segment must once have had some, and what can be done; empty: there is no sign of
/// any.
std::string why_all_are_lost(FileSystem& fs, const std::string& directory);

/// The same for a log that ends with a whole sealed segment, at `last`: the next segment had its name before a version was
/// written to it. For an open last segment this can't be told: a power cut may have taken what the files were derived from.
std::string why_more_are_lost(FileSystem& fs, const std::string& directory, std::uint64_t store_id,
                              Position last);

}  // namespace annals::storage
