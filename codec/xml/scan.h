// Finds the first byte of a set, sixteen at a time.
//
// Layer:   codec, inside codec/xml.
// Threads: plain functions.

#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace annals::xml {

/// A set of bytes as two tables by nibble: a byte is in it if the entries of its two halves share a bit. So
/// the bytes of a set have at most eight different upper halves.
class ByteSet {
  public:
    constexpr explicit ByteSet(std::string_view bytes) {
        std::array<int, 16> bits{};
        int used = 0;
        for (const char c : bytes) {
            const auto byte = static_cast<unsigned char>(c);
            int& bit = bits[byte >> 4];
            if (bit == 0) {
                bit = 1 << used++;
            }
            high_[byte >> 4] = static_cast<std::uint8_t>(bit);
            low_[byte & 15] = static_cast<std::uint8_t>(low_[byte & 15] | bit);
        }
        if (used > 8) {
            throw "too many different upper halves";  // fails at compile time
        }
    }

    constexpr bool has(char c) const noexcept {
        const auto byte = static_cast<unsigned char>(c);
        return (high_[byte >> 4] & low_[byte & 15]) != 0;
    }

    /// The first byte of the set in [at, end), or `end`.
    const char* find(const char* at, const char* end) const noexcept {
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(high_.data()));
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(low_.data()));
        const __m128i nibble = _mm_set1_epi8(0x0f);
        for (; end - at >= 16; at += 16) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
            const __m128i of_low = _mm_shuffle_epi8(low, _mm_and_si128(bytes, nibble));
            const __m128i of_high =
                _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
            const __m128i none =
                _mm_cmpeq_epi8(_mm_and_si128(of_low, of_high), _mm_setzero_si128());
            const auto found = static_cast<unsigned>(_mm_movemask_epi8(none)) ^ 0xffffU;
            if (found != 0) {
                return at + std::countr_zero(found);
            }
        }
        while (at != end && !has(*at)) {
            ++at;
        }
        return at;
    }

  private:
    std::array<std::uint8_t, 16> high_{};
    std::array<std::uint8_t, 16> low_{};
};

}  // namespace annals::xml
