// Restore: a new store out of a backup, as it was at a position or an instant.
//
// Layer:   storage.
// Format:  docs/format.md, "Backup".
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"
#include "storage/types.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace annals::storage {

struct RestoreOptions {
    /// The last commit that ends at or before it is the last one that is taken.
    std::optional<Position> to_position;
    /// The last commit of this instant or before is the last one that is taken.
    std::optional<Instant> to_instant;
    bool unfinished = false;  ///< what is whole of it, whatever the manifest says; also without one
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct RestoreReport {
    Position position;  ///< of the newest version in the new store
    Instant instant;    ///< of its newest commit
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;
};

/// Makes a store in `to` of the backup in `from` (with `unfinished`, a store that nobody writes will do, too). Everything is
/// checked as it is read, against the manifest too, and once more as it was written.
///
/// Durability: when it returns well, all of it. Interrupted at any point, `to` is no store that opens, and the next one begins anew.
/// Errors:     usage (`to` has a store or a part of one, or can't be made; `from` is no backup, or an unfinished one; there is nothing at
///             that position or instant, the backup ends before that position, or it lacks bodies that were erased
///             after it), corrupt (names segment and offset, or the segment that is not as
///             the manifest says), no_store, io.
Result<RestoreReport> restore(FileSystem& fs, const std::string& from, const std::string& to,
                              const RestoreOptions& options);

}  // namespace annals::storage
