// The rows that tools/generate_schema makes of FHIR R4's definitions. Read them through schema.h.
//
// Layer:   codec; depends on core/base only.
// Spec:    FHIR R4 structuredefinition.html. How they are made: docs/schema.md.
// Threads: constant data.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace annals::schema::tables {

// Row 0 of each table but kLists is "none". Texts are offset and size into a pool; lists are an offset into a
// table of count, item, item...

enum : std::uint8_t {
    kRequired = 1,
    kRepeats = 2,
    kSummary = 4,
    kModifier = 8,
    kAttribute = 16,  // an XML attribute
    kChoice = 32,
    kContent = 64,  // by contentReference
    kValue = 128,   // a primitive's value, which has no name of its own in JSON
};

struct ElementRow {
    std::uint16_t name;
    std::uint8_t name_size;
    std::uint8_t base_size;  // the base name is so much of the name: "value" of "valueQuantity"
    std::uint16_t type;
    std::uint8_t flags;
    std::uint8_t
        mark;  // 1 to 31: the bit of a required element or a choice among its type's; else 0
    std::uint16_t extra;
};

struct ExtraRow {
    std::uint16_t binding;
    std::uint16_t targets;     // list of types
    std::uint16_t invariants;  // list
};

struct BindingRow {
    std::uint8_t strength;
    std::uint16_t value_set;
};

struct TypeRow {
    std::uint32_t slots;     // first of its slots
    std::uint32_t seed;      // that makes them perfect
    std::uint32_t required;  // bits of the marks that must be set
    std::uint16_t name;
    std::uint16_t first;  // element
    std::uint16_t base;
    std::uint16_t invariants;  // list
    std::uint8_t name_size;
    std::uint8_t shift;
    std::uint8_t count;  // of elements
    std::uint8_t kind;   // 8 is added if it is abstract
};

struct InvariantRow {
    std::uint32_t key;
    std::uint32_t expression;
    std::uint16_t expression_size;
    std::uint8_t key_size;
    std::uint8_t error;
};

struct SystemRow {
    std::uint32_t url;
    std::uint16_t url_size;
};

struct ValueSetRow {
    std::uint32_t url;
    std::uint16_t first;
    std::uint16_t count;
    std::uint8_t url_size;
    std::uint8_t enumerated;
};

struct CodeRow {  // sorted by code and system within a value set
    std::uint32_t code;
    std::uint16_t system;
    std::uint8_t code_size;
};

struct SearchParameterRow {
    std::uint32_t code;
    std::uint32_t id;
    std::uint32_t expression;
    std::uint16_t expression_size;
    std::uint16_t bases;    // list of types
    std::uint16_t targets;  // list of types
    std::uint16_t first_component;
    std::uint8_t component_count;
    std::uint8_t code_size;
    std::uint8_t id_size;
    std::uint8_t type;
};

struct SearchComponentRow {
    std::uint32_t expression;
    std::uint16_t parameter;
    std::uint16_t expression_size;
};

// Where types stand; the generated tables assert them. Primitives are 1 to 20.
inline constexpr std::uint16_t kLastPrimitive = 20;
inline constexpr std::uint16_t kResourceType = 23;
inline constexpr std::uint16_t kDomainResourceType = 24;
inline constexpr std::uint16_t kExtensionType = 41;
inline constexpr std::uint16_t kReferenceType = 56;
inline constexpr std::uint16_t kFirstResource = 64;
inline constexpr std::uint16_t kTypeSlotCount = 2048;

extern const char kNames[];
extern const std::uint16_t kTypeCount;
extern const std::uint16_t kElementCount;
extern const TypeRow kTypes[];
extern const std::uint16_t kTypeSlots[];
extern const std::uint8_t kSlots[];
extern const ElementRow kElements[];
extern const ExtraRow kExtras[];
extern const BindingRow kBindings[];
extern const std::uint16_t kLists[];

extern const char kInvariantText[];
extern const InvariantRow kInvariants[];

extern const char kCodeText[];
extern const SystemRow kSystems[];
extern const std::uint16_t kValueSetCount;
extern const ValueSetRow kValueSets[];
extern const CodeRow kCodes[];

extern const char kSearchText[];
extern const std::uint16_t kSearchParameterCount;
extern const SearchParameterRow kSearchParameters[];
extern const SearchComponentRow kSearchComponents[];
extern const std::uint16_t kSearchParametersOfType[];
extern const std::uint16_t kSearchLists[];

template <typename T>
T load(const char* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

/// The hash by which the generator has laid out the slots: of the first and last eight bytes, and the size.
inline std::uint64_t hash_name(const char* name, std::size_t size) noexcept {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (size >= 8) {
        first = load<std::uint64_t>(name);
        last = load<std::uint64_t>(name + size - 8);
    } else if (size >= 4) {
        first = load<std::uint32_t>(name);
        last = load<std::uint32_t>(name + size - 4);
    } else if (size > 0) {
        const auto byte = [name](std::size_t at) {
            return std::uint64_t{static_cast<unsigned char>(name[at])};
        };
        first = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
    }
    const std::uint64_t hash =
        first * 0x9e37'79b9'7f4a'7c15 + last * 0xc2b2'ae3d'27d4'eb4f + size * 0x1656'67b1'9e37'79f9;
    return hash ^ hash >> 32;
}

/// Whether two names of the same size are equal; most are short.
inline bool same_name(const char* a, const char* b, std::size_t size) noexcept {
    if (size >= 8) {
        return load<std::uint64_t>(a) == load<std::uint64_t>(b) &&
               load<std::uint64_t>(a + size - 8) == load<std::uint64_t>(b + size - 8) &&
               (size <= 16 || std::memcmp(a + 8, b + 8, size - 16) == 0);
    }
    if (size >= 4) {
        return load<std::uint32_t>(a) == load<std::uint32_t>(b) &&
               load<std::uint32_t>(a + size - 4) == load<std::uint32_t>(b + size - 4);
    }
    return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

}  // namespace annals::schema::tables
