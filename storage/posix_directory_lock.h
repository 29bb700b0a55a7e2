// The lock of a directory that this process has, and whether the directory is still where it was locked.
//
// Layer:   storage; for storage/posix_file_system.cc.
// Threads: plain functions; they block.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"

#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// As FileSystem::lock() of the operating system's.
Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string& directory);

/// Whether `path` is where it seems to be: a directory that this process has locked may have been moved, and the one that
/// has its name by now is another store. Errors: io.
Result<void> check_place(std::string_view path);

}  // namespace annals::storage
