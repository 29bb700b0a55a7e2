#include "core/base/ids.h"

#include <immintrin.h>

#include <cstring>

namespace annals {
namespace {

constexpr std::size_t kBlock = 32;

// Whether the block at `at` consists of characters of an id only.
bool is_id_block(const char* at) noexcept {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    // Marks the bytes that are one of the `count` characters from `first` on.
    const auto in = [](__m256i bytes, char first, char count) {
        const __m256i places = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
        const __m256i most = _mm256_set1_epi8(static_cast<char>(count - 1));
        return _mm256_cmpeq_epi8(_mm256_min_epu8(places, most), places);
    };
    const __m256i letters = in(_mm256_or_si256(block, _mm256_set1_epi8(0x20)), 'a', 26);
    const __m256i others = _mm256_or_si256(in(block, '0', 10), in(block, '-', 2));  // "-" and "."
    return _mm256_movemask_epi8(_mm256_or_si256(letters, others)) == -1;
}

}  // namespace

bool is_resource_id(std::string_view text) noexcept {
    const std::size_t size = text.size();
    if (size == 0 || size > 2 * kBlock) {
        return false;
    }
    if (size < kBlock) {
        char padded[] = "00000000000000000000000000000000";
        static_assert(sizeof padded > kBlock);
        std::memcpy(padded, text.data(), size);
        return is_id_block(padded);
    }
    // The two blocks may overlap.
    return is_id_block(text.data()) && is_id_block(text.data() + size - kBlock);
}

}  // namespace annals
