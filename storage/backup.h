// Backup: a copy of a store as it was at one position, made while it is written.
//
// Layer:   storage.
// Format:  docs/format.md, "Backup": a backup is a store that can be read.
// Threads: plain functions, on a thread that may block; the store goes on meanwhile.

#pragma once

#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "storage/types.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace annals::storage {

struct BackupOptions {
    /// Hears, now and then, how many bytes of the segments have been dealt with, and how many there are.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
    std::function<bool()> stop;  ///< true: end early
    /// Of a store that is open: Store::segment_files(), held while a segment gets another name and while the open one is
    /// copied. Lifetime: it outlives the call.
    std::mutex* files = nullptr;
    std::function<Instant()> clock;
};

/// What was done.
struct BackupReport {
    Position position;  ///< of the newest version in it
    Instant instant;    ///< of the newest commit
    std::uint64_t segments = 0;
    std::uint64_t kept = 0;  ///< of them, those that the backup before had already
    std::uint64_t linked = 0;
    std::uint64_t copied = 0;
    std::uint64_t bytes = 0;  ///< of all
    std::uint64_t bytes_copied = 0;
    double seconds = 0;
};

/// Makes the backup in `to` one of the store in `from` up to `end()` as it is when the sealed segments have been taken:
/// what was erased from these meanwhile, the log says up to there. Sealed segments that `to` hasn't got are linked, or
/// copied where the two are on different devices; the open one is copied up to the end. Everything taken is read and
/// checked.
///
/// Durability: when it returns well, all of it. Interrupted at any point, `to` says so, is still a store with at least
///             what the backup before had, and the next backup goes on.
/// Errors:     usage (`to` has something else in it, or a backup of another or a newer store; it is being written by
///             another process), corrupt (the store is damaged; names segment and offset), no_store, io; expired if
///             `stop` said so.
Result<BackupReport> back_up(FileSystem& fs, const std::string& from, const std::string& to,
                             const std::function<Result<LogEnd>()>& end,
                             const BackupOptions& options = {});

/// Finishes what a kill left half erased in the store in `directory`, which the caller has locked: a backup would find it
/// damaged. Opening a store does the same. Errors: usage (a newer format), no_store, io.
Result<void> finish_erasures(FileSystem& fs, const std::string& directory);

/// Where the log of the store in `directory` ends, which nobody writes. Errors: usage (no store), corrupt, io.
Result<LogEnd> find_log_end(FileSystem& fs, const std::string& directory);

}  // namespace annals::storage
