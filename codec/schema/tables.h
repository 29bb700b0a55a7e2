// The rows that tools/generate_schema makes from FHIR R4's definitions. Read them through schema.h.
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
    kValue = 64,  // a primitive's value, which has no name of its own in JSON
};

struct ElementRow {
    std::uint16_t name;
    std::uint8_t name_size;
    std::uint8_t base_size;  // the base name's part of the name: "value" of "valueQuantity"
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
    std::uint32_t seed;      // the hash seed with which they don't collide
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

// The places of the types, asserted by the generated tables. Primitives are 1 to 20.
inline constexpr std::uint16_t kLastPrimitive = 20;
inline constexpr std::uint16_t kResourceType = 23;
inline constexpr std::uint16_t kDomainResourceType = 24;
inline constexpr std::uint16_t kExtensionType = 41;
inline constexpr std::uint16_t kReferenceType = 56;
inline constexpr std::uint16_t kFirstResource = 64;
inline constexpr std::uint16_t kTypeSlotCount = 2048;
inline constexpr std::uint16_t kTypeCount = 683;
inline constexpr std::uint16_t kElementCount = 8267;

extern const char kNames[];
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

// Code systems and value sets: a line for each, with type, url, version and JSON separated by tabs; deflated
// (zlib), then base64, in two pieces.
extern const std::uint32_t kTerminologySize;  // of the lines
extern const std::uint32_t kTerminology1Size;
extern const std::uint32_t kTerminology2Size;
extern const char kTerminology1[];
extern const char kTerminology2[];

/// A name as two words, so that it can be hashed and compared without branches on its size.
struct Name {
    std::uint64_t first;  // its first eight bytes, padded with zeros if there are fewer
    std::uint64_t last;   // its last eight bytes, or 0 if there are fewer
    std::size_t size;

    bool operator==(const Name&) const = default;
};

inline std::uint64_t load_word(const char* at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Requires: eight bytes from `at` are readable, whatever `size` is.
inline Name padded_name(const char* at, std::size_t size) noexcept {
    const bool short_one = size < 8;
    const std::uint64_t mask = short_one ? (std::uint64_t{1} << size * 8) - 1 : ~std::uint64_t{0};
    const std::uint64_t last = load_word(at + (short_one ? 0 : size - 8));
    return {load_word(at) & mask, short_one ? 0 : last, size};
}

inline std::string_view name_of(const ElementRow& row) noexcept {
    return {kNames + row.name, row.name_size};
}

inline Name name_of(std::string_view text) noexcept {
    if (text.size() >= 8) {
        return {load_word(text.data()), load_word(text.data() + text.size() - 8), text.size()};
    }
    Name name{0, 0, text.size()};
    if (!text.empty()) {
        std::memcpy(&name.first, text.data(), text.size());
    }
    return name;
}

/// The hash by which the generator laid out the slots.
inline std::uint64_t hash_of(const Name& name) noexcept {
    const std::uint64_t hash = name.first * 0x9e37'79b9'7f4a'7c15 +
                               name.last * 0xc2b2'ae3d'27d4'eb4f +
                               name.size * 0x1656'67b1'9e37'79f9;
    return hash ^ hash >> 32;
}

/// The element of `type` called `name`, whose characters are at `text`; null if there is none.
inline const ElementRow* find_element(const TypeRow& type, const Name& name,
                                      const char* text) noexcept {
    const std::uint8_t place = kSlots[type.slots + (hash_of(name) * type.seed >> type.shift)];
    if (place == 0) [[unlikely]] {
        return nullptr;
    }
    const ElementRow* const row = kElements + type.first + place - 1;
    const char* const own = kNames + row->name;  // the pool ends with eight bytes of padding
    if (padded_name(own, row->name_size) != name ||
        (name.size > 16 && std::memcmp(own + 8, text + 8, name.size - 16) != 0)) [[unlikely]] {
        return nullptr;
    }
    return row;
}

}  // namespace annals::schema::tables
