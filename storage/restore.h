// Restore: makes a new store from a backup, as it was at a position or an instant.
//
// Layer:   storage.
// Format:  docs/format.md, "Backup".
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"
#include "storage/store.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace annals::storage {

struct RestoreOptions {
    /// Commits that end at or before it are taken.
    std::optional<Position> to_position;
    /// Commits of this instant or before are taken.
    std::optional<Instant> to_instant;
    /// Takes what is whole, whatever the manifest says, and even without one.
    bool unfinished = false;
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct RestoreReport {
    Position position;  ///< of the newest version in the new store
    Instant instant;    ///< of its newest commit
    std::uint64_t segments = 0;
    std::uint64_t bytes = 0;
    /// With `unfinished`: what verify() finds in the new store, such as bodies without the erasure by which they are gone.
    std::vector<Damage> damages;
};

/// Makes a store in `to` from the backup in `from` (with `unfinished`, also from a store that nobody writes). Everything is
/// checked as it is read, also against the manifest, and again after it was written.
///
/// Durability: on success, all of it. If interrupted, `to` can't be opened, and the next restore starts over.
/// Errors:     usage (`to` has a store or part of one, or can't be created; `from` is not a backup, or an unfinished one; there
///             is nothing at that position or instant, the backup ends before that position, or it lacks bodies that were
///             erased after it), corrupt (names segment and offset, or the segment that does not match the manifest),
///             no_store, io.
Result<RestoreReport> restore(FileSystem& fs, const std::string& from, const std::string& to,
                              const RestoreOptions& options);

}  // namespace annals::storage
