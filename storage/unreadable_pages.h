// Pages of mapped files that the device can't read: zeros in the place of the end of the process.
//
// Layer:   storage (the operating system's signals; part of posix_file_system.cc).
// Threads: any.

#pragma once

#include <cstddef>

namespace annals::storage {

/// From now on a page of this mapping that can't be read, for a bad sector or because the file was cut, reads as zeros
/// instead of killing the process with SIGBUS: who reads it finds a wrong checksum. Such a page stays so until the
/// mapping ends. Installs a handler of SIGBUS the first time, which leaves all others to the handler before it.
void guard_mapping(const char* begin, std::size_t bytes);

/// Before the mapping ends. Requires: guard_mapping() was called with it.
void unguard_mapping(const char* begin) noexcept;

}  // namespace annals::storage
