// Checksums and hashes: xxHash 3 for frames, keys and terms, SHA-256 for secrets and receipts.
//
// Layer:   core/base; the one user of <xxhash.h>, and of OpenSSL's digests.
// Threads: plain functions.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals {

/// 128 bits of hash.
struct Hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    auto operator<=>(const Hash128&) const = default;
};

/// XXH3-64 of `bytes` with `seed`.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0) noexcept;

/// XXH3-128 of `bytes` with `seed`.
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0) noexcept;

/// SHA-256 of `bytes` in lower-case hex.
std::string sha256_hex(std::string_view bytes);

}  // namespace annals
