// Expectations: what the parser compares an object's members with while it parses, so that a resource with the
// structure that FHIR R4 defines needs no second walk.
//
// The answer is "yes" or "maybe not": whatever is not plainly valid is left to check_structure(), which knows all rules
// and reports the faults. An Expectation is an element's row in a form made for that: its name as bytes, how its values
// are tested, and which element followed it last time, which is compared first.
//
// Layer:   codec; depends on codec/json and core/base.
// Spec:    as structure.h.
// Threads: each thread has its own; their contents are made on first use.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/primitive.h"
#include "codec/schema/schema.h"

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace annals::schema {

struct alignas(64) Expectation {
    /// How values are tested. What `kind` and the length don't settle is left to is_plain().
    enum class Check : std::uint8_t {
        anything,  // below an element that R4 does not have, or a fault
        primitive,
        reference,  // Reference.reference
        complex,
        resource,
        contained,
    };

    static constexpr std::uint8_t kNoKind = 0xff;

    bool repeats() const noexcept { return opens == static_cast<std::uint8_t>(json::Kind::array); }

    std::array<char, 32> name;  ///< and the closing quote
    std::uint32_t name_bits;    ///< which of its bytes a key must match
    std::uint32_t once;  ///< of a choice: the bit that must not be set yet in an object's `seen`
    std::uint32_t seen;  ///< the bit that it sets; of a type's start: the bits required in the end
    std::uint16_t type;  ///< of its values
    std::uint8_t key_bytes;  ///< the name and its quotes; 0 if no name is kept
    std::uint8_t place;      ///< its number among the members that the type can have
    Expectation* next;       ///< what followed it last time; never null
    Check check;
    std::uint8_t kind;       ///< of values that need no further check: a json::Kind, or kNoKind
    std::uint8_t item_kind;  ///< the same of an array's elements
    std::uint8_t
        opens;  ///< the kind that the member's value must have, if that is an object or array
    std::uint8_t size_bits;   ///< a string not checked further has 1 to 1 << size_bits bytes
    std::uint8_t space_mask;  ///< 0xff if there must be no white space in such a string, else 0
    bool known;               ///< an element, or resourceType: a member with a place of its own
};

static_assert(sizeof(Expectation) == 64);

inline constexpr std::size_t kStringBytesMax = 1 << 20;

/// The place of resourceType, which is not an element.
inline constexpr std::uint8_t kResourceTypePlace = 255;

/// The expectation for the value of an unknown element, and the start of an object's members there: below it, nothing
/// is expected. The start for an object of a known type lies as far behind it as the type's number; its `next` is the
/// member that came first last time.
Expectation* anything() noexcept;

/// The start for a resource whose resourceType's value is at `name`; anything() unless that is an R4 type in quotes.
/// Requires: 66 readable bytes.
Expectation* start_of_resource(const char* name) noexcept;

/// The expectation for the member `key` of an object that began with `start` and whose last member was
/// `before`; anything() if the type has no such element. `_name` of a primitive that does not repeat sets
/// `seen`, too, and must be an object.
///
/// Requires: 32 readable bytes from `key` on, no escapes in it.
Expectation* expect(Expectation* start, Expectation* before, const char* key, std::uint32_t size,
                    std::uint32_t& seen) noexcept;

/// Whether a scalar that needs a further check is valid. `in_array`: as an array's element.
bool is_plain(const Expectation& expected, bool in_array, const json::Node& node,
              const char* text) noexcept;

/// Whether a string's characters, as they are between its quotes, are a value of `type`. Requires: 64 readable bytes;
/// the string has no control character that FHIR does not allow.
///
/// `reference`: whether it is a Reference.reference. Also false if only resolving the escapes could make it a value.
bool is_value(Primitive type, bool reference, std::string_view text, bool escaped) noexcept;

/// Whether a contained resource has an id and contains no others; `places` are its members, as bits.
bool is_contained_well(const Expectation& start, const std::uint64_t* places) noexcept;

/// Whether the key at `key`, after its quote, is the expected one, of key_bytes. Where the name is not kept, a control character is
/// taken for it, and has no bytes. Requires: 32 readable bytes; they may be any.
inline bool has_name(const Expectation& expected, const char* key) noexcept {
    const __m256i own = _mm256_load_si256(reinterpret_cast<const __m256i*>(expected.name.data()));
    const __m256i its = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key));
    const auto same =
        std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(own, its)));
    return (expected.name_bits & ~same) == 0;
}

/// Which of the 64 bytes at `at` are a space or below, as bits.
inline std::uint64_t low_bytes(const char* at) noexcept {
    const __m256i spaces = _mm256_set1_epi8(' ');
    const auto low = [spaces](const char* from) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return std::uint64_t{std::bit_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(block, spaces), block)))};
    };
    return low(at) | low(at + 32) << 32;
}

/// Whether a string of `size` bytes, without escapes, needs no further check. `kind`: the kind to compare with; `low`:
/// low_bytes() of the string, whatever comes behind it.
inline bool is_settled(const Expectation& expected, std::uint8_t kind, std::uint64_t low,
                       std::uint32_t size) noexcept {
    return ((kind ^ static_cast<unsigned>(json::Kind::string)) |
            (std::uint64_t{size - 1} >> expected.size_bits) |
            _bzhi_u64(low, size & expected.space_mask)) == 0;
}

}  // namespace annals::schema
