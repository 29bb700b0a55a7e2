#include "core/base/random.h"

#include "core/base/check.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace annals {
namespace {

// System randomness is a system call: each thread draws a page of it at a time.
void draw(char* out, std::size_t count) noexcept {
    thread_local std::array<char, 4096> pool;
    thread_local std::size_t used = pool.size();
    if (used + count > pool.size()) {
        std::size_t filled = 0;
        while (filled < pool.size()) {
            const ssize_t got = getrandom(pool.data() + filled, pool.size() - filled, 0);
            ANNALS_CHECK(got > 0 || errno == EINTR, "getrandom failed");
            if (got > 0) {
                filled += static_cast<std::size_t>(got);
            }
        }
        used = 0;
    }
    std::memcpy(out, pool.data() + used, count);
    used += count;
}

constexpr std::array<std::array<char, 2>, 256> kHex = [] {
    constexpr char kDigits[] = "0123456789abcdef";
    std::array<std::array<char, 2>, 256> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {kDigits[i >> 4], kDigits[i & 15]};
    }
    return pairs;
}();

}  // namespace

std::uint64_t random_u64() noexcept {
    std::uint64_t value;
    draw(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}

void write_random_hex(char* out) noexcept {
    std::array<unsigned char, 8> bytes;
    draw(reinterpret_cast<char*>(bytes.data()), bytes.size());
    for (const unsigned char byte : bytes) {
        std::memcpy(out, kHex[byte].data(), 2);
        out += 2;
    }
}

void write_uuid(char* out) noexcept {
    std::array<unsigned char, 16> bytes;
    draw(reinterpret_cast<char*>(bytes.data()), bytes.size());
    bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
    bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // RFC 9562 variant
    std::size_t at = 0;
    for (const std::size_t end : {4U, 6U, 8U, 10U, 16U}) {
        for (; at < end; ++at) {
            std::memcpy(out, kHex[bytes[at]].data(), 2);
            out += 2;
        }
        if (at < bytes.size()) {
            *out++ = '-';
        }
    }
}

std::string make_uuid() {
    std::string text(36, '\0');
    write_uuid(text.data());
    return text;
}

}  // namespace annals
