// Files that are read, replaced and copied as a whole.
//
// Layer:   storage; small files of core, net and tools come by here, too.
// Threads: plain functions. They block.

#pragma once

#include "storage/file_system.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// The directory that `path` is in; "." where it says none.
std::string directory_of(const std::string& path);

/// All of the file at `path`. Errors: not_found, io; corrupt (it has more than `bytes_max` bytes).
Result<std::string> read_whole(FileSystem& fs, const std::string& path, std::uint64_t bytes_max);

/// Makes `text` all that is in the file at `path`, which need not be there. `PATH.tmp` is used for it.
/// Durability: when it returns well. After a crash before that the file is as it was, or as it is to be.
/// Errors:     no_store, io; the file is one or the other, and nothing else is left.
Result<void> replace_file(FileSystem& fs, const std::string& path, std::string_view text);

/// The same; returns the file, open for writing. Without `durable` nothing is synced: what a crash of the machine leaves of
/// it is not known.
Result<std::unique_ptr<File>> replace_and_open(FileSystem& fs, const std::string& path,
                                               std::string_view text, bool durable);

/// Writes all of a large file, which is empty, so that what it begins with is on its way to the device meanwhile.
/// Durability: none before a sync. Errors: no_store, io.
Result<void> write_large(File& file, std::string_view bytes);

/// Copies the first `bytes` bytes of a file into a new one; returns that. `go_on`, if it is there, ends it between two
/// pieces by its error; then, and after any other, the part of the copy is left.
/// Durability: none before a sync.
/// Errors:     no_store, io; corrupt (the file is shorter); those of `go_on`.
Result<std::unique_ptr<File>> copy_file(FileSystem& fs, const std::string& from,
                                        const std::string& to, std::uint64_t bytes,
                                        const std::function<Result<void>()>& go_on = {});

}  // namespace annals::storage
