// Files that are read, replaced and copied as a whole.
//
// Layer:   storage; core, net and tools use it for small files, too.
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// The directory part of `path`; "." if it has none.
std::string directory_of(const std::string& path);

/// The contents of the file at `path`. Errors: not_found, io; corrupt (it has more than `bytes_max` bytes).
Result<std::string> read_whole(FileSystem& fs, const std::string& path, std::uint64_t bytes_max);

/// Removes the file at `path` if there is one. Durability: none before a sync of the directory. Errors: io.
Result<void> remove_if_there(FileSystem& fs, const std::string& path);

/// Creates the file at `path`, in place of one that an interrupted attempt left there. Errors: no_store, io.
Result<std::unique_ptr<File>> create_anew(FileSystem& fs, const std::string& path);

/// Replaces the contents of the file at `path` by `text`, or creates it, by way of `PATH.tmp`.
/// Durability: once it has succeeded. A crash before that leaves the old file or the new one.
/// Errors:     no_store, io; the file is the old or the new one, and nothing else is left.
Result<void> replace_file(FileSystem& fs, const std::string& path, std::string_view text);

/// The same; returns the file, open for writing. Without `durable` nothing is synced: what a crash of the machine leaves of it
/// is unknown.
Result<std::unique_ptr<File>> replace_and_open(FileSystem& fs, const std::string& path,
                                               std::string_view text, bool durable);

/// Writes all of a large file, which is empty, in pieces, so that the device can begin with the first ones meanwhile.
/// Durability: none before a sync. Errors: no_store, io.
Result<void> write_large(File& file, std::string_view bytes);

/// Copies the first `bytes` bytes of a file into a new one, which it returns. `go_on`, if set, can stop it between two pieces
/// by returning an error. After any error the partial copy is left in place.
/// Durability: none before a sync.
/// Errors:     no_store, io; corrupt (the file is shorter); those of `go_on`.
Result<std::unique_ptr<File>> copy_file(FileSystem& fs, const std::string& from,
                                        const std::string& to, std::uint64_t bytes,
                                        const std::function<Result<void>()>& go_on = {});

}  // namespace annals::storage
