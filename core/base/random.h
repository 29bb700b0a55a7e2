// Random bytes and the ids that the server assigns.
//
// Layer:   core/base.
// Threads: any; each thread has its own buffer of system randomness.

#pragma once

#include <cstdint>
#include <string>

namespace annals {

/// 64 bits from the system's generator.
std::uint64_t random_u64() noexcept;

/// Writes 16 random hexadecimal digits to `out`, in lower case.
void write_random_hex(char* out) noexcept;

/// Writes the 36 characters of a new version-4 UUID to `out`.
void write_uuid(char* out) noexcept;

/// A new version-4 UUID, lower-case.
std::string make_uuid();

}  // namespace annals
