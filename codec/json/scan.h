// What the Walk looks for in a text: where strings end, white space, how objects begin.
//
// Layer:   codec; used by the parser and its Walk alone.
// Spec:    RFC 8259, FHIR R4 json.html.
// Threads: plain functions.

#pragma once

#include "codec/json/faults.h"
#include "codec/schema/expectation.h"

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace annals::json {

/// Where a string may end.
struct Stop {
    const char* at;
    std::uint64_t low;  // as schema::low_bytes() of the up to 64 bytes before it; others may be set
};

/// The first quote, backslash or control character from `at` on; `seen` collects the bits of all bytes passed, and of some
/// beyond. Requires: 32 readable bytes after that character.
inline Stop find_string_stop(const char* at, __m256i& seen) noexcept {
    const auto bits = [](__m256i bytes) {
        return std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
    };
    const auto up_to = [](__m256i block, char most) {
        return _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(most)), block);
    };
    std::uint64_t low = 0;
    for (unsigned shift = 0;; at += sizeof(__m256i), shift = 32) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
        seen = _mm256_or_si256(seen, block);
        low |= std::uint64_t{bits(up_to(block, ' '))} << shift;
        // Where the next token begins depends on the quote alone, as long as others are predicted not to come before it.
        const std::uint32_t quotes = bits(_mm256_cmpeq_epi8(block, _mm256_set1_epi8('"')));
        const __m256i other =
            _mm256_or_si256(up_to(block, '\x1f'), _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\')));
        const std::uint32_t others = bits(other) & _blsmsk_u32(quotes);
        if (others != 0) [[unlikely]] {
            return {at + std::countr_zero(others), low};
        }
        if (quotes != 0) [[likely]] {
            return {at + std::countr_zero(quotes), low};
        }
    }
}

/// Whether there is white space where it usually is, if there is any: after the first brace or behind the value.
inline bool is_spaced(std::string_view text) noexcept {
    return text.size() < 2 || is_space(text[1]) || is_space(text.back());
}

inline constexpr std::string_view kResourceTypeKey = "\"resourceType\"";

/// The value of resourceType in the object that begins at the token; null unless it is among the first
/// kTokensAhead. Requires: the text is padded with NUL, which is the last token.
inline const char* find_resource_type_ahead(const char* text, const std::uint32_t* token) noexcept {
    constexpr int kTokensAhead = 4096;
    int depth = 0;
    for (int i = 1; i <= kTokensAhead && text[token[i]] != '\0' && depth >= 0; ++i) {
        const char* const at = text + token[i];
        if (depth == 0 && *at == '"' &&
            std::memcmp(at, kResourceTypeKey.data(), kResourceTypeKey.size()) == 0 &&
            text[token[i + 1]] == ':') {
            return text + token[i + 2];
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return nullptr;
}

/// The same in a text without white space; null unless it is the first member.
inline const char* find_first_resource_type(const char* object) noexcept {
    const char* const colon = object + 1 + kResourceTypeKey.size();
    return std::memcmp(object + 1, kResourceTypeKey.data(), kResourceTypeKey.size()) == 0 &&
                   *colon == ':'
               ? colon + 1
               : nullptr;
}

/// The beginning of an object in a checked parse.
struct Opening {
    schema::Expectation* start;
    bool resource;
    bool contained;
};

/// For the resource with this value of resourceType, or none.
[[gnu::noinline]] inline schema::Expectation* start_of_resource(const char* name,
                                                                std::uint32_t& doubts) noexcept {
    schema::Expectation* const start =
        name == nullptr ? schema::anything() : schema::start_of_resource(name);
    doubts += start == schema::anything();
    return start;
}

/// For an object that is not plainly the expected one. The start of a resource remains to be found.
[[gnu::noinline]] inline Opening open_other(const schema::Expectation& expected, bool in_array,
                                            std::uint32_t& doubts) noexcept {
    const bool contained = expected.check == schema::Expectation::Check::contained;
    if (in_array == expected.repeats() &&
        (contained || expected.check == schema::Expectation::Check::resource)) {
        return {schema::anything(), true, contained};
    }
    ++doubts;
    return {schema::anything(), false, false};
}

}  // namespace annals::json
