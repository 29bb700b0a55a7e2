// This process's lock on a directory, and whether the directory is still where it was locked.
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

/// As FileSystem::lock() of posix_file_system().
Result<std::unique_ptr<DirectoryLock>> lock_directory(const std::string& directory);

/// Checks that `path` leads where it did: a directory that this process has locked may have been moved, and another store may
/// have its name by now. Errors: io.
Result<void> check_place(std::string_view path);

}  // namespace annals::storage
