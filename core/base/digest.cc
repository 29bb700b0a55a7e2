#include "core/base/digest.h"

#define XXH_INLINE_ALL
#include <openssl/sha.h>
#include <xxhash.h>

#include <array>

namespace annals {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

struct Hash64Stream::State {
    XXH3_state_t xxh3;
};

Hash64Stream::Hash64Stream(std::uint64_t seed) : seed_(seed), state_(std::make_unique<State>()) {
    restart();
}

Hash64Stream::~Hash64Stream() = default;
Hash64Stream::Hash64Stream(Hash64Stream&& other) noexcept = default;
Hash64Stream& Hash64Stream::operator=(Hash64Stream&& other) noexcept = default;

void Hash64Stream::add(std::string_view bytes) noexcept {
    XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t Hash64Stream::value() const noexcept {
    return XXH3_64bits_digest(&state_->xxh3);
}

void Hash64Stream::restart() noexcept {
    XXH3_64bits_reset_withSeed(&state_->xxh3, seed_);
}

Hash128 hash128(std::string_view bytes, std::uint64_t seed) noexcept {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
    return {hash.low64, hash.high64};
}

std::string sha1(std::string_view bytes) {
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
    SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    return {digest.begin(), digest.end()};
}

std::string sha256_hex(std::string_view bytes) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    std::string hex;
    hex.reserve(digest.size() * 2);
    for (const unsigned char byte : digest) {
        hex.push_back(kDigits[byte >> 4]);
        hex.push_back(kDigits[byte & 15]);
    }
    return hex;
}

}  // namespace annals
