// Pages of mapped files that the device can't read: they read as zeros instead of ending the process.
//
// Layer:   storage (the operating system's signals; part of posix_file_system.cc).
// Threads: any.

#pragma once

#include <cstddef>

namespace annals::storage {

/// From now on a page of this mapping that can't be read, because of a bad sector or because the file was truncated, reads as
/// zeros instead of killing the process with SIGBUS, so that its reader finds a wrong checksum. Such a page stays zero until the
/// mapping ends. The first call installs a SIGBUS handler, which passes all other faults to the previous handler.
void guard_mapping(const char* begin, std::size_t bytes);

/// To be called before the mapping ends. Requires: guard_mapping() was called with it.
void unguard_mapping(const char* begin) noexcept;

}  // namespace annals::storage
