// The manifest of a backup: which segments it has, and their checksums.
//
// Layer:   storage.
// Format:  docs/format.md, "Backup".
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"
#include "storage/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

inline constexpr std::string_view kBackupManifest = "backup.manifest";

/// Exists while a backup is being made, and if it was not finished.
inline constexpr std::string_view kBackupPartial = "backup.partial";

/// Exists in a directory while a store is being restored there.
inline constexpr std::string_view kRestorePartial = "restore.partial";

struct BackupManifest {
    struct Part {
        std::uint64_t number = 0;
        bool sealed = false;
        std::uint64_t bytes = 0;
        std::uint64_t checksum = 0;
        std::uint64_t origin = 0;  ///< of the file that it was taken from: FileFacts::origin()

        /// Why `file`, the whole file of a segment, is not the one that was backed up; empty: it is.
        std::string fault(std::string_view file) const;

        bool operator==(const Part&) const = default;
    };

    std::uint64_t store_id = 0;
    Position position;
    Instant instant;  ///< of the newest commit
    Instant taken;
    std::vector<Part> parts;  ///< from segment 1 on, without a gap

    /// None if there is no such segment.
    const Part* part(std::uint64_t number) const noexcept {
        return number == 0 || number > parts.size() ? nullptr : &parts[number - 1];
    }

    bool operator==(const BackupManifest&) const = default;
};

std::string write_backup_manifest(const BackupManifest& manifest);

/// Errors: corrupt (also if its checksum is wrong), usage (a newer version of it).
Result<BackupManifest> parse_backup_manifest(std::string_view text);

/// The manifest of the backup in `directory`; none if there is none. Errors: corrupt, usage, io.
Result<std::optional<BackupManifest>> read_backup_manifest(FileSystem& fs,
                                                           const std::string& directory);

/// Checks that the backup in `directory` has exactly the segments that its manifest names, each with its original length, which
/// an incomplete copy lacks. Part::fault() checks their contents.
/// Errors: corrupt (names the first segment that is wrong), io.
Result<void> check_backup_parts(FileSystem& fs, const std::string& directory,
                                const BackupManifest& manifest);

/// Checks that what `directory` contains, if anything, may be taken for a store: no restoration was interrupted there.
/// Errors: usage (one was, or that can't be told).
Result<void> check_restored(FileSystem& fs, const std::string& directory);

}  // namespace annals::storage
