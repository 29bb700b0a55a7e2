// Expectations: what the parser compares an object's members with on its way, so that what is built as FHIR R4
// defines it costs no walk of its own.
//
// They say yes or "maybe not": whatever is not plainly in order is left to check_structure(), which knows all the
// rules and tells the faults. An Expectation is an element's row, laid out for that: its name as bytes, how its
// values are tested, and which element followed it last time, which is what is compared first.
//
// Layer:   codec; depends on core/base only.
// Spec:    as structure.h.
// Threads: each has its own; what stands in them is made when it is first needed.

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

    std::array<char, 32> name;  ///< and the quote behind it
    std::uint32_t name_bits;    ///< the bytes of it that a key must have
    std::uint32_t once;  ///< the bit in an object's `seen` that must not be there yet: of a choice
    std::uint32_t seen;  ///< that it sets; of a type's start: what must be set in the end
    std::uint16_t type;  ///< of its values
    std::uint8_t key_bytes;  ///< the name and its quotes; 0 if it is no element's
    std::uint8_t place;      ///< among the members that the type can have
    Expectation* next;       ///< what followed it last time; never null
    Check check;
    std::uint8_t kind;       ///< of values that are settled at once: a json::Kind, or kNoKind
    std::uint8_t item_kind;  ///< the same of an array's elements
    std::uint8_t
        opens;  ///< the kind that its value must have as a member if that is an object or array
    std::uint8_t size_bits;   ///< a string that is settled at once has one to 1 << size_bits bytes
    std::uint8_t space_mask;  ///< 0xff if there must be no white space in such a string, else 0
};

static_assert(sizeof(Expectation) == 64);

inline constexpr std::size_t kStringBytesMax = 1 << 20;

/// The kind of JSON value that a primitive of `type` is.
constexpr json::Kind kind_of(Primitive type) noexcept {
    return type == Primitive::boolean ? json::Kind::boolean
           : is_json_number(type)     ? json::Kind::number
                                      : json::Kind::string;
}

/// The place of resourceType, which is no element.
inline constexpr std::uint8_t kResourceTypePlace = 255;

/// That of an unknown element's value, and the start of the members of an object there: below it, nothing is expected.
/// The start of the members of an object of a type whose Expectation is there already is as far behind it as the type's
/// number: the start's `next` is that of the member which came first last time.
Expectation* anything() noexcept;

/// The start of a resource whose resourceType's value stands at `name`; anything() unless that is one of R4 between
/// quotes. Requires: 66 readable bytes.
Expectation* start_of_resource(const char* name) noexcept;

/// That of the member called `key` in an object which `start` begins and whose last member was `before`; anything()
/// if its type has no such element. `_name` of a primitive that does not repeat counts as seen, and is an object.
///
/// Requires: 32 readable bytes from `key` on, no escapes in it.
Expectation* expect(Expectation* start, Expectation* before, const char* key, std::uint32_t size,
                    std::uint32_t& seen) noexcept;

/// Whether a scalar is in order that was not settled at once. `in_array`: as an array's element.
bool is_plain(const Expectation& expected, bool in_array, const json::Node& node,
              const char* text) noexcept;

/// Whether the characters of a string, as they stand between its quotes, are a value of `type`. Requires: 64 readable
/// bytes; the string has no control character that FHIR's don't have.
///
/// `reference`: of Reference.reference. False, too, where resolving the escapes might make it one.
bool is_value(Primitive type, bool reference, std::string_view text, bool escaped) noexcept;

/// Whether a contained resource has an id and contains none; `places` are those of its members, as bits.
bool is_contained_well(const Expectation& start, const std::uint64_t* places) noexcept;

/// Whether the key at `key`, behind its quote, is what is expected. Requires: 32 readable bytes.
inline bool has_name(const Expectation& expected, const char* key) noexcept {
    const __m256i own = _mm256_load_si256(reinterpret_cast<const __m256i*>(expected.name.data()));
    const __m256i its = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key));
    const auto same =
        std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(own, its)));
    return (expected.name_bits & ~same) == 0;
}

/// The bytes of the 64 at `at` that are a space or below, as bits.
inline std::uint64_t low_bytes(const char* at) noexcept {
    const __m256i spaces = _mm256_set1_epi8(' ');
    const auto low = [spaces](const char* from) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return std::uint64_t{std::bit_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(block, spaces), block)))};
    };
    return low(at) | low(at + 32) << 32;
}

/// Whether a string of those bytes, without escapes, is settled at once; `kind` is the one that is asked of it.
/// Requires: 64 readable bytes.
inline bool is_settled(const Expectation& expected, std::uint8_t kind, const char* at,
                       std::uint32_t size) noexcept {
    const std::uint64_t low = _bzhi_u64(low_bytes(at), size & expected.space_mask);
    return ((kind ^ static_cast<unsigned>(json::Kind::string)) |
            (std::uint64_t{size - 1} >> expected.size_bits) | low) == 0;
}

}  // namespace annals::schema
