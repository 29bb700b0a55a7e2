// verify: reads a whole store, offline, and names everything that is not as it was written.
//
// Layer:   storage.
// Format:  docs/format.md; what is checked beyond checksums is what that page says must hold.
// Threads: any; takes no lock and changes nothing. The store should not be open for writing.

#pragma once

#include "storage/file_system.h"
#include "storage/store.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace annals::storage {

/// What a store holds, and what is wrong with it.
struct VerifyReport {
    std::uint64_t segments = 0;
    std::uint64_t commits = 0;    ///< frames with records
    std::uint64_t versions = 0;   ///< in the log, deletions included, erased or not
    std::uint64_t deletions = 0;  ///< of these
    std::uint64_t erases = 0;
    std::uint64_t bodies_gone = 0;       ///< of erased versions: taken out
    std::uint64_t bodies_left = 0;       ///< of erased versions: opening takes them out; no damage
    std::uint64_t visible_versions = 0;  ///< not erased
    std::uint64_t resources = 0;         ///< with any version that is not erased
    std::uint64_t live = 0;              ///< of these, not deleted
    std::uint64_t bytes = 0;
    /// Of a write that was never acknowledged; opening cuts them; no damage.
    std::uint64_t torn_bytes = 0;
    /// One file of the erasure journal is not whole, as after a crash while it was written; opening finishes its erasures; no
    /// damage.
    bool torn_journal = false;
    std::uint64_t search_runs = 0;       ///< of the search checkpoint, whole
    std::uint64_t search_documents = 0;  ///< in these
    /// Whether parts of the search checkpoint have another version of its format: no damage, opening makes them again.
    bool search_other_format = false;
    bool unfinished_backup = false;  ///< or one that is being made: no damage, but incomplete
    /// In order of segments and offsets; the erasure journal, backup.manifest and search files last.
    std::vector<Damage> damages;
};

/// Called now and then with the number of bytes read so far, and of all bytes.
using VerifyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Reads every byte of the store in `directory`: headers, frames and records with their checksums, positions without a gap,
/// commit instants that never descend, version numbers that ascend within each resource, erases of versions that exist, bodies
/// missing only from erased versions, and footers that match their data exactly (so that the index built from footers equals
/// the one built from data); the erasure journal; the search checkpoint that was synced last; and, for a backup, whether it
/// matches its manifest.
/// Continues after damage, at the next whole frame.
///
/// Errors: usage (no store there, or a newer format), io (the directory can't be listed), no_store (no descriptors: no damage).
Result<VerifyReport> verify(FileSystem& fs, const std::string& directory,
                            const VerifyProgress& progress = {});

}  // namespace annals::storage
