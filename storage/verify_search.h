// verify_search_checkpoint: what verify() says of the search index's files.
//
// Layer:   storage.
// Format:  docs/format.md, "Search checkpoint".
// Threads: any; changes nothing. The store should not be open for writing.

#pragma once

#include "storage/file_system.h"
#include "storage/verify.h"

#include <string>

namespace annals::storage {

/// Reads what is there of the checkpoint that was synced last and adds to `report` what is in it, and what is damaged.
///
/// A file that is missing is no damage: erasure removes files before the manifest that names them is written anew. Nor
/// is what was written since without a sync, which a power cut may leave in pieces.
void verify_search_checkpoint(FileSystem& fs, const std::string& directory, VerifyReport& report);

}  // namespace annals::storage
