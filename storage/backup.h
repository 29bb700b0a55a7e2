// Backup: a copy of a store as it was at one position, made while it is written.
//
// Layer:   storage.
// Format:  docs/format.md, "Backup": a backup is a store that can be read.
// Threads: plain functions, on a thread that may block; the store goes on meanwhile.

#pragma once

#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "storage/segment_files.h"
#include "storage/types.h"

#include <cstdint>
#include <functional>
#include <string>

namespace annals::storage {

struct BackupOptions {
    /// Told now and then how many bytes of the segments are done, and how many there are.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
    std::function<bool()> stop;  ///< true: end early
    /// For a store that is open: Store::segment_files(). Lifetime: it outlives the call.
    SegmentFiles* files = nullptr;
    std::function<Instant()> clock;
};

/// What a backup did.
struct BackupReport {
    Position position;  ///< of the newest version in it
    Instant instant;    ///< of the newest commit
    std::uint64_t segments = 0;
    std::uint64_t kept = 0;  ///< of them, those that the previous backup had already
    std::uint64_t linked = 0;
    std::uint64_t copied = 0;
    std::uint64_t bytes = 0;  ///< of all
    std::uint64_t bytes_copied = 0;
    double seconds = 0;
};

/// Backs up the store in `from` to `to`, up to `end()`, which is called once the sealed segments have been taken, so that the
/// log up to there names everything erased from these meanwhile. Sealed segments that `to` does not have are linked, or
/// copied if the two are on different devices or an erasure has not been completed there; the open one is copied up to the end.
/// Everything taken is read and checked.
///
/// Durability: on success, all of it. If interrupted, `to` is marked as unfinished, still has at least the contents of the
///             previous backup, which the next one keeps; it takes the rest anew.
/// Errors:     usage (`to` contains something else, or a backup of another or a newer store; it is being written by
///             another process), corrupt (the store is damaged; names segment and offset), no_store, io; expired if
///             `stop` returned true.
Result<BackupReport> back_up(FileSystem& fs, const std::string& from, const std::string& to,
                             const std::function<Result<LogEnd>()>& end,
                             const BackupOptions& options = {});

/// Completes erasures that a kill left half done in the store in `directory`, which a backup would find damaged. Opening a store
/// does the same. Requires: the caller has locked the directory. Errors: usage (a newer format), no_store, io.
Result<void> finish_erasures(FileSystem& fs, const std::string& directory);

/// The end of the log of the store in `directory`. Requires: nobody writes it. Errors: usage (no store, a newer format),
/// corrupt, io.
Result<LogEnd> find_log_end(FileSystem& fs, const std::string& directory);

}  // namespace annals::storage
