#include "codec/schema/expectation.h"

#include "core/base/check.h"
#include "core/base/owned.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace annals::schema {

namespace {

using tables::ElementRow;
using tables::kElementCount;
using tables::kTypeCount;
using Check = Expectation::Check;

constexpr std::uint32_t kTextBits = 20;
constexpr std::uint32_t kTokenBits = 6;
constexpr std::uint32_t kReferenceBit = 1;  // its elements have no marks of their own

// For starts of types, their resourceType, siblings of primitives, and elements.
struct Table {
    std::array<Expectation, kTypeCount> starts;
    std::array<Expectation, kTypeCount> resource_types;
    std::array<Expectation, tables::kLastPrimitive + 1> siblings;
    std::array<Expectation, kElementCount> elements;
    Expectation nothing;
};

// A thread's own table, initially all zeros. Not thread_local storage, every byte of which libc writes when a
// thread is created, even one that never parses: here, untouched pages take no memory.
struct OwnTable {
    OwnTable() : memory(std::calloc(1, sizeof(Table) + alignof(Table))) {
        void* place = memory.get();
        std::size_t size = sizeof(Table) + alignof(Table);
        table = static_cast<Table*>(std::align(alignof(Table), sizeof(Table), place, size));
        ANNALS_CHECK(table != nullptr);
    }

    Owned<void, std::free> memory;
    Table* table;
};

Table& table() noexcept {
    thread_local const OwnTable own;
    return *own.table;
}

bool is_made(const Expectation& expectation) noexcept {
    return expectation.next != nullptr;
}

// Valid text does not have the character that matches; none of its bytes are passed over for it (key_bytes is 0).
void set_no_name(Expectation& expectation) noexcept {
    expectation.name[0] = '\1';
    expectation.name_bits = 1;
}

// An expectation that no key matches.
Expectation* nothing() noexcept {
    Expectation& own = table().nothing;
    if (!is_made(own)) {
        set_no_name(own);
        own.kind = own.item_kind = own.opens = Expectation::kNoKind;
        own.next = &own;
    }
    return &own;
}

void set_name(Expectation& expectation, std::string_view name) noexcept {
    expectation.known = true;
    if (name.size() >= expectation.name.size()) {  // not kept, but looked up each time
        set_no_name(expectation);
        return;
    }
    expectation.key_bytes = static_cast<std::uint8_t>(name.size() + 2);
    name.copy(expectation.name.data(), name.size());
    expectation.name[name.size()] = '"';
    expectation.name_bits =
        _bzhi_u32(~std::uint32_t{0}, static_cast<std::uint32_t>(name.size() + 1));
}

void set_no_kind(Expectation& expectation) noexcept {
    expectation.kind = expectation.item_kind = expectation.opens = Expectation::kNoKind;
}

std::uint8_t byte_of(json::Kind kind) noexcept {
    return static_cast<std::uint8_t>(kind);
}

void make_start(std::uint16_t type) noexcept {
    Expectation& start = table().starts[type];
    start = *nothing();
    start.type = type;
    start.next = nothing();
    start.seen =
        type == tables::kReferenceType ? kReferenceBit : tables::kTypes[type].required >> 1;
}

// Sets what an element's values are, and which of them need no further check.
void set_primitive(Expectation& expectation, bool reference, bool repeats) noexcept {
    const auto type = static_cast<Primitive>(expectation.type);
    expectation.check = reference ? Check::reference : Check::primitive;
    json::Kind kind = json::Kind::string;
    switch (type) {
        case Primitive::boolean:
            kind = json::Kind::boolean;
            break;
        case Primitive::decimal:
            kind = json::Kind::number;
            break;
        case Primitive::string:
        case Primitive::markdown:
        case Primitive::xhtml:
            expectation.size_bits = kTextBits;
            break;
        case Primitive::canonical:
        case Primitive::code:
        case Primitive::uri:
        case Primitive::url:
            expectation.size_bits = kTokenBits;
            expectation.space_mask = 0xff;
            break;
        default:
            return;
    }
    if (!reference) {
        (repeats ? expectation.item_kind : expectation.kind) = byte_of(kind);
    }
}

// Makes the expectation for `row`, an element of `type`.
[[gnu::noinline]] void make_element(Expectation& own, std::uint16_t type,
                                    const ElementRow& row) noexcept {
    const bool repeats = (row.flags & tables::kRepeats) != 0;
    set_name(own, name_of(row));
    set_no_kind(own);
    own.type = row.type;
    own.place = static_cast<std::uint8_t>(&row - tables::kElements - tables::kTypes[type].first);
    own.next = nothing();
    own.seen = 1U << row.mark >> 1;
    own.once = (row.flags & tables::kChoice) != 0 ? own.seen : 0;
    if (type == tables::kReferenceType && name_of(row) != "id") {
        own.seen = kReferenceBit;
    }
    if (row.type <= tables::kLastPrimitive) {
        set_primitive(own, type == tables::kReferenceType && name_of(row) == "reference", repeats);
    } else if (row.type == tables::kResourceType) {
        own.check = name_of(row) == "contained" ? Check::contained : Check::resource;
    } else {
        own.check = Check::complex;
        if (!repeats) {
            own.opens = byte_of(json::Kind::object);
        }
        if (!is_made(table().starts[row.type])) {
            make_start(row.type);
        }
    }
    if (repeats) {
        own.opens = byte_of(json::Kind::array);
    }
}

// The expectation for `_name` of a primitive of `type`.
Expectation* sibling_of(std::uint16_t type) noexcept {
    Expectation& own = table().siblings[type];
    if (!is_made(own)) {
        set_no_kind(own);
        own.type = type;
        own.check = Check::complex;
        own.opens = byte_of(json::Kind::object);
        own.place = 0;
        own.next = nothing();
        make_start(type);
    }
    return &own;
}

// Whether `zone` is one of the common zones: "Z", "+hh:mm" up to 13 hours. Requires: 8 readable bytes.
bool is_usual_zone(std::string_view zone) noexcept {
    if (zone.size() == 1) {
        return zone[0] == 'Z';
    }
    const auto is_below = [&](std::size_t i, char end) { return zone[i] >= '0' && zone[i] < end; };
    return zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' &&
           (zone[1] == '0' ? is_below(2, '9' + 1) : zone[1] == '1' && is_below(2, '4')) &&
           is_below(4, '6') && is_below(5, '9' + 1);
}

// Whether `text` is a day up to the 28th, or such a day with a time and a zone: nearly all dates are.
// Requires: 64 readable bytes.
bool is_usual_day(std::string_view day, bool with_time) noexcept {
    const char* const text = day.data();
    // "YYYY-MM-DDThh:mm:ss"
    constexpr std::uint32_t kDigits = 0b110'1101'1011'0110'1111;
    constexpr std::uint32_t kDay = 0x3ff;
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
    const __m256i values = _mm256_sub_epi8(block, _mm256_set1_epi8('0'));
    const auto digits = std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(_mm256_min_epu8(values, _mm256_set1_epi8(9)), values)));
    const __m256i form = _mm256_setr_epi8(0, 0, 0, 0, '-', 0, 0, '-', 0, 0, 'T', 0, 0, ':', 0, 0,
                                          ':', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const auto marks =
        std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, form)));
    const std::uint32_t right = (digits & kDigits) | (marks & ~kDigits & 0x7'ffff);

    // Month, day, hour, minute and second as numbers, from the bytes that begin at the last digit of the year.
    const __m128i behind_year = _mm_sub_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 3)), _mm_set1_epi8('0'));
    const __m128i pairs = _mm_shuffle_epi8(
        behind_year, _mm_setr_epi8(2, 3, 5, 6, 8, 9, 11, 12, 14, 15, -1, -1, -1, -1, -1, -1));
    const __m128i tens = _mm_setr_epi8(10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 0, 0, 0, 0, 0, 0);
    const __m128i numbers =
        _mm_sub_epi16(_mm_maddubs_epi16(pairs, tens), _mm_setr_epi16(1, 1, 0, 0, 0, 0, 0, 0));
    const __m128i most = _mm_setr_epi16(11, 27, 23, 59, 60, -1, -1, -1);
    const auto fitting = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi16(_mm_min_epu16(numbers, most), numbers)));

    if (std::memcmp(text, "0000", 4) == 0 || (right & kDay) != kDay || (fitting & 0xf) != 0xf) {
        return false;
    }
    if (!with_time) {
        return day.size() == 10;
    }
    const auto fraction = static_cast<std::size_t>(std::countr_one(digits >> 20));
    const std::size_t size = text[19] == '.' ? 20 + fraction : 19;
    return right == 0x7'ffff && (fitting & 0x3ff) == 0x3ff && size != 20 && size < day.size() &&
           is_usual_zone(day.substr(size));
}

}  // namespace

Expectation* anything() noexcept {
    Expectation& own = table().starts[0];
    if (!is_made(own)) {
        own = *nothing();
        own.next = nothing();
    }
    return &own;
}

Expectation* start_of_resource(const char* name) noexcept {
    if (*name != '"') {
        return anything();
    }
    std::size_t size = 0;
    while (size < 64 && name[1 + size] != '"') {  // no type's name is that long
        ++size;
    }
    const std::optional<TypeId> id = find_resource_type({name + 1, size});
    if (!id) {
        return anything();
    }
    const std::uint16_t type = Type(*id).index();
    Expectation& start = table().starts[type];
    if (!is_made(start)) {
        make_start(type);
        Expectation& own = table().resource_types[type];
        set_name(own, "resourceType");
        set_no_kind(own);
        own.type =
            static_cast<std::uint16_t>(Primitive::code);  // it is known to be an R4 type already
        set_primitive(own, false, false);
        own.place = kResourceTypePlace;
        own.next = nothing();
        start.next = &own;
    }
    return &start;
}

Expectation* expect(Expectation* start, Expectation* before, const char* key, std::uint32_t size,
                    std::uint32_t& seen) noexcept {
    const std::uint16_t type = start->type;
    if (type == 0) {
        return anything();
    }
    // Mostly it exists already, and the names in the tables, far away in memory, need not be read.
    const tables::TypeRow& rows = tables::kTypes[type];
    const std::uint64_t hash = tables::hash_of(tables::padded_name(key, size));
    if (const std::uint8_t place = tables::kSlots[rows.slots + (hash * rows.seed >> rows.shift)];
        place != 0) {
        Expectation& known = table().elements[rows.first + place - std::size_t{1}];
        if (is_made(known) && has_name(known, key)) {
            before->next = &known;
            return &known;
        }
    }
    const bool sibling = *key == '_';
    const ElementRow* const row = tables::find_element(
        rows, tables::padded_name(key + sibling, size - sibling), key + sibling);
    if (row == nullptr || (row->flags & tables::kValue) != 0) {
        const bool resource_type =
            is_made(table().resource_types[type]) && std::string_view(key, size) == "resourceType";
        return resource_type ? &table().resource_types[type] : anything();
    }
    if (sibling) {
        const std::uint32_t bit = 1U << row->mark >> 1;
        if (row->type > tables::kLastPrimitive ||
            (row->flags & (tables::kAttribute | tables::kRepeats)) != 0 ||
            ((row->flags & tables::kChoice) != 0 && (seen & bit) != 0)) {
            return anything();
        }
        seen |= type == tables::kReferenceType ? kReferenceBit : bit;
        return sibling_of(row->type);
    }
    Expectation& own = table().elements[static_cast<std::size_t>(row - tables::kElements)];
    if (!is_made(own)) {
        make_element(own, type, *row);
    }
    before->next = &own;
    return &own;
}

bool is_value(Primitive type, bool reference, std::string_view text, bool escaped) noexcept {
    switch (type) {
        case Primitive::id:
            return is_padded_id(text);
        case Primitive::string:
            if (reference) {
                // Most that aren't relative begin like this: urn:uuid:..., http://...
                return !escaped && ((text.front() >= 'a' && text.size() <= 64 &&
                                     _bzhi_u64(low_bytes(text.data()),
                                               static_cast<std::uint32_t>(text.size())) == 0) ||
                                    is_reference(text));
            }
            return text.size() <= kStringBytesMax;
        case Primitive::markdown:
            return text.size() <= kStringBytesMax;
        case Primitive::xhtml:
            return true;
        case Primitive::date:
        case Primitive::date_time:
        case Primitive::instant:
            if (text.size() >= 10 &&
                is_usual_day(text, type == Primitive::instant || text.size() > 10) &&
                (type != Primitive::date || text.size() == 10)) {
                return true;
            }
            [[fallthrough]];
        default:
            return !escaped && is_valid(type, text);
    }
}

bool is_plain(const Expectation& expected, bool in_array, const json::Node& node,
              const char* text) noexcept {
    if (expected.check == Check::anything) {
        return true;
    }
    if (expected.check > Check::reference || expected.repeats() != in_array || node.control) {
        return false;
    }
    const auto type = static_cast<Primitive>(expected.type);
    if (node.kind != kind_of(type)) {
        return false;
    }
    const bool string = node.kind == json::Kind::string;
    const std::string_view characters(text + string, node.end - node.begin - 2 * string);
    return string ? !characters.empty() &&
                        is_value(type, expected.check == Check::reference, characters, node.escaped)
                  : is_valid(type, characters);
}

bool is_contained_well(const Expectation& start, const std::uint64_t* places) noexcept {
    const Type type(start.type);
    const auto has = [&](std::string_view name) {
        const Element element = type.find(name);
        const int place = element.index() - tables::kTypes[type.index()].first;
        return element && (places[place / 64] >> place % 64 & 1) != 0;
    };
    return has("id") && !has("contained");
}

}  // namespace annals::schema
