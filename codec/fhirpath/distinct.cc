// Finding duplicates among items: hashes, membership, distinct.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "distinct", "Collections".

#include "codec/fhirpath/machine.h"

namespace annals::fhirpath {
namespace {

using json::Kind;

// The same for all values, because they can be equal in different units.
constexpr std::uint64_t kQuantityHash = 6;

std::uint64_t mix(std::uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

std::uint64_t hash_text(std::string_view text) {
    std::uint64_t hash = text.size() * 0xc2b2ae3d27d4eb4fULL;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        hash = mix(hash ^ word);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, text.size() - i);
    return mix(hash ^ word);
}

bool is_measured(const Item& item) {
    return item.is_element() ? item.type().is_a(types::quantity())
                             : item.kind() == Item::Kind::quantity;
}

bool is_counted(const Item& item) {
    return item.is_element() ? item.value() && item.value().is(Kind::number) : is_number(item);
}

}  // namespace

std::uint64_t Machine::hash_json(json::Value value) {
    if (!value) {
        return 1;
    }
    steps_ += 1;
    switch (value.node().kind) {
        case Kind::string:
            return value.node().escaped ? hash_text(value.string()) : hash_text(value.raw_string());
        case Kind::array: {
            std::uint64_t hash = 3;
            for (const json::Value element : value.elements()) {
                hash = mix(hash ^ hash_json(element));
            }
            return hash;
        }
        case Kind::object: {
            // Independent of the order of members.
            std::uint64_t hash = 4;
            for (const auto [key, member] : value.members()) {
                hash += mix(hash_text(key.raw_string()) ^ hash_json(member));
            }
            return hash;
        }
        default:
            return 5;  // 1.0 equals 1
    }
}

std::uint64_t Machine::hash_of(const Item& item) {
    if (item.is_element()) {
        const json::Value value = item.value();
        if (!value || value.is(Kind::null)) {
            return hash_json(item.sibling());
        }
        if (value.is_object() || value.is_array()) {
            return item.type().is_a(types::quantity()) ? kQuantityHash : hash_json(value);
        }
        if (value.is_string()) {
            const Item::Kind kind = types::system_kind(item.type());
            // Dates and strings with escapes can be equal though their texts differ.
            return is_temporal(kind)      ? 7
                   : value.node().escaped ? hash_text(value.string())
                                          : hash_text(value.raw_string());
        }
        if (value.is(Kind::boolean)) {
            return value.raw() == "true" ? 8 : 9;
        }
        const std::optional<Decimal> number = Decimal::parse(value.raw());
        return number ? hash_of(Item::decimal(*number)) : 10;
    }
    switch (item.kind()) {
        case Item::Kind::boolean:
            return item.as_boolean() ? 8 : 9;
        case Item::Kind::integer:
            return mix(static_cast<std::uint64_t>(item.as_integer()) + 11);
        case Item::Kind::decimal: {
            const std::optional<std::int64_t> whole = item.as_decimal().integer();
            return whole ? mix(static_cast<std::uint64_t>(*whole) + 11) : 12;
        }
        case Item::Kind::string:
            return hash_text(item.as_string());
        case Item::Kind::quantity:
            return kQuantityHash;
        case Item::Kind::type_info:
            return 13;
        default:
            return 7;
    }
}

bool Machine::contains(Range range, const Item& item, bool& out) {
    const Item wanted = item;
    out = false;
    for (std::uint32_t i = range.begin; i < range.end && !out; ++i) {
        Truth same = Truth::no;
        if (!equal_items(at(i), wanted, same)) {
            return false;
        }
        out = same == Truth::yes;
    }
    return true;
}

bool Machine::distinct(Range range, std::uint32_t to) {
    constexpr std::uint32_t kSmall = 8;
    std::uint32_t kept = to;
    if (range.size() <= kSmall) {
        for (std::uint32_t i = range.begin; i < range.end; ++i) {
            bool seen = false;
            if (!contains({to, kept}, at(i), seen)) {
                return false;
            }
            if (!seen) {
                stack_[kept++] = at(i);
            }
        }
        top_ = kept;
        return true;
    }
    // A number equals a quantity of unit one or of percent; all of these have the same hash.
    bool measured = false;
    for (std::uint32_t i = range.begin; i < range.end && !measured; ++i) {
        measured = is_measured(at(i));
    }
    // Open addressing over hashes.
    std::size_t slots = 32;
    while (slots < std::size_t{range.size()} * 2) {
        slots *= 2;
    }

    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t item = kNone;
    };

    std::vector<Slot> table(slots);
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        const std::uint64_t hash = measured && is_counted(at(i)) ? kQuantityHash : hash_of(at(i));
        if (!step()) {
            return false;
        }
        std::size_t slot = mix(hash) & (slots - 1);
        bool seen = false;
        for (; table[slot].item != kNone && !seen; slot = (slot + 1) & (slots - 1)) {
            if (table[slot].hash == hash) {
                Truth same = Truth::no;
                if (!equal_items(at(table[slot].item), at(i), same)) {
                    return false;
                }
                seen = same == Truth::yes;
            }
            if (!step()) {
                return false;
            }
        }
        if (!seen) {
            table[slot] = {hash, kept};
            stack_[kept++] = at(i);
        }
    }
    top_ = kept;
    return true;
}

}  // namespace annals::fhirpath
