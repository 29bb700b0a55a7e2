// verify_search_checkpoint: verify()'s check of the search index's files.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: any; changes nothing. The store should not be open for writing.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"
#include "storage/verify.h"

#include <string>

namespace annals::storage {

/// Reads the search checkpoint that was synced last and adds its contents and its damage to `report`.
///
/// A missing file is no damage: erasure removes files before the manifest that names them is rewritten. Nor is what was written
/// later without a sync, which a power cut may leave in pieces. Errors: no_store (no descriptors: no damage).
Result<void> verify_search_checkpoint(FileSystem& fs, const std::string& directory,
                                      VerifyReport& report);

}  // namespace annals::storage
