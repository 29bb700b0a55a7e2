// Checksums and hashes: xxHash 3 for frames, keys and terms, SHA-256 for secrets and receipts.
//
// Layer:   core/base; the only user of <xxhash.h>.
// Threads: plain functions.

#pragma once

#include <compare>
#include <cstdint>
#include <memory>
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

/// hash64() of bytes that come in parts.
class Hash64Stream {
  public:
    explicit Hash64Stream(std::uint64_t seed = 0);
    ~Hash64Stream();
    Hash64Stream(Hash64Stream&& other) noexcept;
    Hash64Stream& operator=(Hash64Stream&& other) noexcept;

    void add(std::string_view bytes) noexcept;

    /// The hash of everything added so far.
    std::uint64_t value() const noexcept;

    /// Starts again, as if nothing had been added.
    void restart() noexcept;

  private:
    struct State;

    std::uint64_t seed_;
    std::unique_ptr<State> state_;
};

/// XXH3-128 of `bytes` with `seed`.
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0) noexcept;

/// SHA-1 of `bytes`: its 20 bytes. Only where others demand it, never for security.
std::string sha1(std::string_view bytes);

/// SHA-256 of `bytes` in lower-case hex.
std::string sha256_hex(std::string_view bytes);

}  // namespace annals
