// The walk goes over the flat nodes once, in text order. What is valid costs a few instructions a node:
// - what it has seen of an object are the bits of one integer (Element::mark);
// - members come in the same order again and again, so each thread remembers which element followed which, and
//   compares the next key with that one's name, as words, before it looks a name up;
// - formats are first tried by vectors: a text without white space is a code and a uri, whatever else it is.
// Everything about faults and rarities stands apart.

#include "codec/schema/structure.h"

#include "codec/schema/primitive.h"
#include "codec/schema/schema.h"

#include <fmt/format.h>

#include <immintrin.h>

#include <bit>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annals::schema {

namespace {

using json::Kind;
using json::Member;
using json::Node;
using json::Value;
using tables::ElementRow;
using tables::TypeRow;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kStringBytesMax = 1 << 20;
constexpr std::size_t kShownMax = 80;  // bytes of a name or a wrong value that a message shows

// Where a value stands in the object around it.
struct Site {
    std::uint32_t key = kNone;       // node
    std::uint32_t position = kNone;  // in the array, if it is in one
};

// An object that is open, and where it stands.
struct Place {
    const Place* parent;
    Site site;
    std::uint32_t index;
};

// What was seen of an object's members.
struct Seen {
    std::uint32_t bits = 0;     // of required elements and choices
    std::uint32_t doubled = 0;  // of choices with several types that were reported
};

std::string_view kind_name(Kind kind) noexcept {
    switch (kind) {
        case Kind::null:
            return "null";
        case Kind::boolean:
            return "a boolean";
        case Kind::number:
            return "a number";
        case Kind::string:
            return "a string";
        case Kind::array:
            return "an array";
        case Kind::object:
            return "an object";
    }
    return "";
}

std::string_view name_of(const ElementRow& row) noexcept {
    return {tables::kNames + row.name, row.name_size};
}

std::string_view base_name_of(const ElementRow& row) noexcept {
    return {tables::kNames + row.name, row.base_size};
}

// The bit of a required element or choice; 0 for all others.
std::uint32_t bit_of(const ElementRow& row) noexcept {
    return 1U << row.mark >> 1;
}

// How a value is checked, by its element's type. 0 is no guess.
enum class Check : std::uint8_t {
    none,
    complex,  // no primitive
    array,    // of whatever
    kind,     // boolean, decimal: their JSON kind says it all
    text,     // string, markdown, xhtml: any but an empty one
    token,    // code, uri, url, canonical: any without white space; others may be valid still
    special,  // ask is_special()
};

// What the walk needs of an element at once: its name as words, how its values are checked, and which element
// followed it last time.
struct Hint {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t mask = 0;  // what of a word belongs to the name
    std::uint16_t next = 0;  // element; 0: none yet
    std::uint8_t size = 0;   // 0: not made yet
    std::uint8_t last_at = 0;
    std::uint8_t mark = 0;
    Check check = Check::none;
    Kind kind = Kind::null;
    std::uint8_t size_bits = 0;  // what is quick to check has one to 1 << size_bits characters
};

static_assert(sizeof(Hint) == 32);

// By element and, behind those, by type, for what comes first in its objects. Made when first needed. They only
// ever save time: the name is compared with the key, and what follows an element is of the same type.
thread_local Hint hints[tables::kElementCount + tables::kTypeCount];

// Of an element of Reference: whether it is Reference.reference.
bool is_reference_row(const ElementRow& row) noexcept {
    return name_of(row) == "reference";
}

Check check_of(std::uint16_t type, const ElementRow& row) noexcept {
    switch (row.type <= tables::kLastPrimitive ? static_cast<Primitive>(row.type)
                                               : Primitive::none) {
        case Primitive::none:
            return Check::complex;
        case Primitive::boolean:
        case Primitive::decimal:
            return Check::kind;
        case Primitive::string:
            return type == tables::kReferenceType && is_reference_row(row) ? Check::special
                                                                           : Check::text;
        case Primitive::markdown:
        case Primitive::xhtml:
            return Check::text;
        case Primitive::canonical:
        case Primitive::code:
        case Primitive::uri:
        case Primitive::url:
            return Check::token;
        default:
            return Check::special;
    }
}

Kind kind_of(std::uint16_t type) noexcept {
    const auto primitive = static_cast<Primitive>(type);
    return primitive == Primitive::boolean ? Kind::boolean
           : is_json_number(primitive)     ? Kind::number
                                           : Kind::string;
}

// Fills in `hint`, that of `row`, an element of `type`.
[[gnu::noinline]] void make_hint(Hint& hint, std::uint16_t type, const ElementRow& row) noexcept {
    const tables::Name name = tables::padded_name(tables::kNames + row.name, row.name_size);
    const bool is_short = row.name_size < 8;
    hint.first = name.first;
    hint.last = is_short ? name.first : name.last;
    hint.mask = is_short ? (std::uint64_t{1} << row.name_size * 8) - 1 : ~std::uint64_t{0};
    hint.size = row.name_size;
    hint.last_at = is_short ? 0 : static_cast<std::uint8_t>(row.name_size - 8);
    hint.mark = row.mark;
    hint.check = (row.flags & tables::kRepeats) != 0 ? Check::array : check_of(type, row);
    hint.kind = kind_of(row.type);
    hint.size_bits = hint.check == Check::text ? 20 : hint.check == Check::token ? 6 : 32;
}

// Whether the key at `text` has the name of `element`. Requires: eight readable bytes.
inline bool is_right(const Hint& hint, std::uint16_t element, const char* text,
                     std::uint32_t size) noexcept {
    const std::uint64_t wrong = (((tables::load_word(text) ^ hint.first) |
                                  (tables::load_word(text + hint.last_at) ^ hint.last)) &
                                 hint.mask) |
                                (size ^ hint.size);
    return wrong == 0 && size != 0 &&
           (size <= 16 || std::string_view(text, size) == name_of(tables::kElements[element]));
}

inline __m256i load_block(const char* at) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// The bytes of 64 that are a space or below.
inline std::uint64_t low_bytes(const char* at) noexcept {
    const __m256i spaces = _mm256_set1_epi8(' ');
    const auto low = [spaces](__m256i block) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(block, spaces), block)))};
    };
    return low(load_block(at)) | low(load_block(at + 32)) << 32;
}

// The bits of the first `size` of 64 bytes.
inline std::uint64_t first_bits(std::size_t size) noexcept {
    return _bzhi_u64(~std::uint64_t{0}, static_cast<std::uint32_t>(size));
}

// is_id(). Requires: 64 readable bytes.
bool is_id_text(std::string_view text) noexcept {
    const auto wrong = [](__m256i block) {
        const auto is_below = [](__m256i bytes, char first, char count) {
            const __m256i from_first = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
            return _mm256_cmpeq_epi8(
                _mm256_min_epu8(from_first, _mm256_set1_epi8(static_cast<char>(count - 1))),
                from_first);
        };
        return std::uint64_t{~std::bit_cast<std::uint32_t>(_mm256_movemask_epi8(
            _mm256_or_si256(is_below(_mm256_or_si256(block, _mm256_set1_epi8(0x20)), 'a', 26),
                            _mm256_or_si256(is_below(block, '0', 10), is_below(block, '-', 2)))))};
    };
    return text.size() - 1 < 64 &&
           ((wrong(load_block(text.data())) | wrong(load_block(text.data() + 32)) << 32) &
            first_bits(text.size())) == 0;
}

// Relative references name a type of R4 and an id, and perhaps a version.
bool is_relative_reference(std::string_view text) noexcept {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || !find_resource_type(text.substr(0, slash))) {
        return false;
    }
    std::string_view id = text.substr(slash + 1);
    if (const std::size_t history = id.find("/_history/"); history != std::string_view::npos) {
        if (!is_id(id.substr(history + 10))) {
            return false;
        }
        id = id.substr(0, history);
    }
    return is_id(id);
}

bool is_reference(std::string_view text) noexcept {
    const char first = text.front();
    if (first == '#') {
        return text.size() == 1 || is_uri(text);
    }
    if (first >= 'A' && first <= 'Z') {
        if (const std::size_t question = text.find('?'); question != std::string_view::npos) {
            return find_resource_type(text.substr(0, question)).has_value();
        }
        if (text.find(':') == std::string_view::npos) {
            return is_relative_reference(text);
        }
    }
    return is_uri(text);
}

class Walk {
  public:
    Walk(Value resource, const StructureRules& rules, std::string_view prefix) noexcept
        : tree_(resource.tree()),
          nodes_(resource.tree().nodes().data()),
          text_(resource.tree().text().data()),
          root_(resource.index()),
          rules_(rules),
          prefix_(prefix) {}

    Result<void> run() {
        check_resource(root_, nullptr, {});
        if (faults_.empty()) {
            return {};
        }
        Error error = std::move(faults_.front());
        error.others.assign(std::make_move_iterator(faults_.begin() + 1),
                            std::make_move_iterator(faults_.end()));
        return error;
    }

  private:
    // Elements of a primitive's array and its sibling's, side by side: each position is asked for once, in
    // ascending order.
    class Partner {
      public:
        explicit Partner(Value array) noexcept
            : nodes_(array ? array.tree().nodes().data() : nullptr),
              at_(array.is_array() ? array.index() + 1 : 0),
              end_(array.is_array() ? array.node().next : 0) {}

        bool has_value_at(std::uint32_t position) noexcept {
            for (; at_ < end_ && position_ < position; ++position_) {
                at_ = nodes_[at_].next;
            }
            return at_ < end_ && nodes_[at_].kind != Kind::null;
        }

      private:
        const Node* nodes_;
        std::uint32_t at_;
        std::uint32_t end_;
        std::uint32_t position_ = 0;
    };

    void check_resource(std::uint32_t index, const ElementRow* container, Site site);
    void check_members(std::uint32_t first, std::uint32_t end, std::uint16_t type);
    void check_primitive(std::uint32_t index, bool reference, const ElementRow& row, Site site);
    void check_complex(std::uint32_t index, const ElementRow& row, Site site);
    void check_array(std::uint32_t key, const ElementRow& row);

    // What follows is rare.
    void check_unescaped(std::uint32_t index, bool reference, const ElementRow& row, Site site);
    void check_has_more_than_id(std::uint32_t index, Site site);
    Seen check_other_member(std::uint32_t key, std::uint16_t type, Seen seen);
    void check_sibling(std::uint32_t key, const ElementRow& row);
    void check_extended(std::uint32_t index, std::uint16_t type, Site site);
    Seen check_second_type(std::uint32_t key, std::uint16_t type, const ElementRow& row, Seen seen);
    void report_missing(std::uint16_t type, std::uint32_t missing);
    void report_kind(std::uint32_t index, std::string_view expected, Site site);
    void report_primitive(std::uint32_t index, std::uint16_t type, Site site);
    bool is_given_by_server(Site site) const;
    void report(Errc code, std::string detail, Site site, std::string_view below = {});
    void append_site(std::string& expression, Site site) const;
    void append_place(std::string& expression, const Place* place) const;

    Value value(std::uint32_t index) const noexcept { return {tree_, index}; }

    Value open_object() const noexcept { return value(place_ == nullptr ? root_ : place_->index); }

    // A string's characters as they stand.
    std::string_view text_of(const Node& node) const noexcept {
        return {text_ + node.begin + 1, node.end - node.begin - 2};
    }

    const json::Tree& tree_;
    const Node* const nodes_;
    const char* const text_;
    const std::uint32_t root_;
    const StructureRules rules_;
    std::string_view prefix_;
    const Place* place_ = nullptr;  // of the object that is open; null: the outermost resource
    bool full_ = false;             // enough faults
    std::vector<Error> faults_;
};

void Walk::check_resource(std::uint32_t index, const ElementRow* container, Site site) {
    if (nodes_[index].kind != Kind::object) [[unlikely]] {
        report_kind(index, "a resource", site);
        return;
    }
    const Value resource = value(index);
    std::uint32_t first = index + 1;
    Value name;
    if (nodes_[index].count != 0 && text_of(nodes_[first]) == "resourceType") [[likely]] {
        name = value(first + 1);
        first += 2;
    } else {
        name = resource["resourceType"];
    }
    if (!name || !name.is_string()) [[unlikely]] {
        report(name ? Errc::structure : Errc::required,
               name ? "must be a string" : "a resource must have a resourceType", site,
               "resourceType");
        return;
    }
    const std::optional<TypeId> id = name.node().escaped ? find_resource_type(name.string())
                                                         : find_resource_type(name.raw_string());
    if (!id) [[unlikely]] {
        report(Errc::value,
               fmt::format("FHIR R4 has no resource type '{}'", name.string().substr(0, kShownMax)),
               site, "resourceType");
        return;
    }
    if (container == nullptr) {
        if (prefix_.empty()) {
            prefix_ = resource_type_name(*id);
        }
    } else if (name_of(*container) == "contained") {
        if (!resource["id"]) [[unlikely]] {
            report(Errc::required, "a contained resource must have an id", site, "id");
        }
        if (resource["contained"]) [[unlikely]] {
            report(Errc::structure, "a contained resource must not contain others", site,
                   "contained");
        }
    }
    const Place place{place_, site, index};
    if (container != nullptr) {
        place_ = &place;
    }
    check_members(first, nodes_[index].next, Type(*id).index());
    place_ = container != nullptr ? place.parent : nullptr;
}

// The members, from node `first` to `end`, of an object of that type.
void Walk::check_members(std::uint32_t first, std::uint32_t end, std::uint16_t type_index) {
    const Node* const nodes = nodes_;
    const char* const text = text_;
    Hint* const all = hints;
    Hint* before = all + tables::kElementCount + type_index;
    Seen seen;
    std::uint32_t next = first;
    for (std::uint32_t at = first; at < end; at = next) {
        const char* const key = text + nodes[at].begin + 1;  // with the tree's padding behind it
        const std::uint32_t size = nodes[at].end - nodes[at].begin - 2;
        std::uint16_t element = before->next;
        if (!is_right(all[element], element, key, size)) [[unlikely]] {
            const ElementRow* const found = tables::find_element(
                tables::kTypes[type_index], tables::padded_name(key, size), key);
            if (found == nullptr || (found->flags & tables::kValue) != 0) {
                seen = check_other_member(at, type_index, seen);
                next = nodes[at + 1].next;
                if (full_) {
                    break;
                }
                continue;
            }
            element = static_cast<std::uint16_t>(found - tables::kElements);
            before->next = element;
            if (all[element].size == 0) {
                make_hint(all[element], type_index, *found);
            }
        }
        const Hint& hint = all[element];
        const ElementRow& row = tables::kElements[element];
        before = all + element;
        const std::uint32_t bit = 1U << hint.mark >> 1;
        if ((seen.bits & bit) != 0) [[unlikely]] {
            seen = check_second_type(at, type_index, row, seen);
        }
        seen.bits |= bit;
        if (hint.check == Check::complex) {
            next = nodes[at + 1].next;
            check_complex(at + 1, row, {at, kNone});
        } else if (hint.check == Check::array) {
            next = nodes[at + 1].next;
            check_array(at, row);
        } else {
            next = at + 2;  // known sooner than node.next, which it is unless something is wrong
            const Node& node = nodes[at + 1];
            // All that is quick to know at once, so that there is little to branch on.
            const bool token = hint.check == Check::token;
            const std::uint32_t length = node.end - node.begin - 2;
            const std::uint64_t low =
                low_bytes(text + node.begin + 1) & first_bits(token ? length : 0);
            const std::uint64_t wrong =
                (static_cast<unsigned>(node.kind) ^ static_cast<unsigned>(hint.kind)) |
                static_cast<unsigned>(node.control) | static_cast<unsigned>(token & node.escaped) |
                (std::uint64_t{length - 1} >> hint.size_bits) | low;
            if (wrong != 0 || hint.check == Check::special) {
                next = node.next;
                check_primitive(at + 1, type_index == tables::kReferenceType, row, {at, kNone});
            }
        }
        if (full_) [[unlikely]] {
            break;
        }
    }
    if (const std::uint32_t missing = tables::kTypes[type_index].required >> 1 & ~seen.bits;
        missing != 0) [[unlikely]] {
        if (!full_) {
            report_missing(type_index, missing);
        }
    }
}

// A primitive that may be anything.
[[gnu::noinline]] void Walk::check_primitive(std::uint32_t index, bool reference,
                                             const ElementRow& row, Site site) {
    const Node& node = nodes_[index];
    const auto primitive = static_cast<Primitive>(row.type);
    if (node.kind != kind_of(row.type) || node.control) [[unlikely]] {
        report_primitive(index, row.type, site);
        return;
    }
    if (node.kind != Kind::string) {
        if (primitive != Primitive::decimal && primitive != Primitive::boolean &&
            !is_valid(primitive, value(index).raw())) [[unlikely]] {
            report_primitive(index, row.type, site);
        }
        return;
    }
    std::string_view text = text_of(node);
    if (text.empty()) [[unlikely]] {
        report_primitive(index, row.type, site);
        return;
    }
    bool valid = false;
    switch (primitive) {
        case Primitive::id:
            valid = is_id_text(text);
            break;
        case Primitive::string:
            // Most references that aren't relative are of this kind: urn:uuid:..., http://...
            valid =
                reference && is_reference_row(row)
                    ? !node.escaped && ((text.front() >= 'a' && text.size() <= 64 &&
                                         (low_bytes(text.data()) & first_bits(text.size())) == 0) ||
                                        is_reference(text))
                    : text.size() <= kStringBytesMax;
            break;
        case Primitive::markdown:
            valid = text.size() <= kStringBytesMax;
            break;
        case Primitive::xhtml:
            valid = true;
            break;
        default:
            valid = !node.escaped && is_valid(primitive, text);
            break;
    }
    if (!valid) [[unlikely]] {
        check_unescaped(index, reference, row, site);
    }
}

void Walk::check_complex(std::uint32_t index, const ElementRow& row, Site site) {
    const Node& node = nodes_[index];
    if (node.kind != Kind::object || node.count == 0) [[unlikely]] {
        report_kind(index, "an object", site);
        return;
    }
    if (row.type == tables::kResourceType) [[unlikely]] {
        check_resource(index, &row, site);
        return;
    }
    const Place place{place_, site, index};
    place_ = &place;
    check_members(index + 1, node.next, row.type);
    place_ = place.parent;
    if (row.type == tables::kReferenceType && text_of(nodes_[index + 1]) != "reference")
        [[unlikely]] {
        check_has_more_than_id(index, site);
    }
}

void Walk::check_array(std::uint32_t key, const ElementRow& row) {
    const Node& node = nodes_[key + 1];
    if (node.kind != Kind::array || node.count == 0) [[unlikely]] {
        report_kind(key + 1, "an array", {key, kNone});
        return;
    }
    std::uint32_t at = key + 2;
    if (row.type > tables::kLastPrimitive) {
        for (std::uint32_t i = 0; at < node.next && !full_; at = nodes_[at].next, ++i) {
            check_complex(at, row, {key, i});
        }
        return;
    }
    std::optional<Partner> partner;
    for (std::uint32_t i = 0; at < node.next && !full_; at = nodes_[at].next, ++i) {
        if (nodes_[at].kind != Kind::null) [[likely]] {
            check_primitive(at, false, row, {key, i});
            continue;
        }
        if (!partner) {
            partner.emplace(open_object()[std::string("_").append(name_of(row))]);
        }
        if (!partner->has_value_at(i)) {
            report(Errc::structure,
                   fmt::format("null stands only beside what _{} has at its place", name_of(row)),
                   {key, i});
        }
    }
}

// A primitive that is invalid as it stands; with its escapes resolved it may be valid.
[[gnu::noinline]] void Walk::check_unescaped(std::uint32_t index, bool reference,
                                             const ElementRow& row, Site site) {
    const auto primitive = static_cast<Primitive>(row.type);
    const std::string text = value(index).string();
    const bool is_its_type = primitive == Primitive::xhtml || is_valid(primitive, text);
    if (!is_its_type) {
        report_primitive(index, row.type, site);
    } else if (reference && is_reference_row(row) && !is_reference(text)) {
        report(Errc::value,
               fmt::format("'{}' is no reference: expected Type/id of R4, an absolute URL, a URN, "
                           "#id or Type?criteria",
                           text.substr(0, kShownMax)),
               site);
    }
}

// A Reference that doesn't begin with its reference.
[[gnu::noinline]] void Walk::check_has_more_than_id(std::uint32_t index, Site site) {
    for (const Member member : value(index).members()) {
        std::string unescaped;
        std::string_view name = member.key.raw_string();
        if (member.key.node().escaped) {
            name = unescaped = member.key.string();
        }
        if (name != "id" && reference_type().find(name.substr(name.starts_with('_') ? 1 : 0))) {
            return;
        }
    }
    report(Errc::structure,
           "a Reference must have a reference, a type, an identifier, a display or an extension",
           site);
}

// A member whose name is none of the type's elements as it stands: resourceType, a primitive's sibling, a name
// with escapes, or unknown.
Seen Walk::check_other_member(std::uint32_t key, std::uint16_t type_index, Seen seen) {
    const Type type(type_index);
    std::string unescaped;
    std::string_view name = text_of(nodes_[key]);
    if (nodes_[key].escaped) {
        name = unescaped = value(key).string();
    }
    if (name == "resourceType" && type.is_resource()) {
        return seen;
    }
    const bool sibling = name.starts_with('_');
    const Element element = type.find(name.substr(sibling ? 1 : 0));
    if (!element || element.is_primitive_value() ||
        (sibling && (!element.type().is_primitive() || element.is_attribute()))) {
        if (!rules_.allow_unknown_elements) {
            report(Errc::structure, fmt::format("{} has no such element", type.name()),
                   {key, kNone});
        }
        return seen;
    }
    const ElementRow& row = tables::kElements[element.index()];
    if ((seen.bits & bit_of(row)) != 0) {
        seen = check_second_type(key, type_index, row, seen);
    }
    seen.bits |= bit_of(row);
    if (sibling) {
        check_sibling(key, row);
    } else if (element.repeats()) {
        check_array(key, row);
    } else if (!element.type().is_primitive()) {
        check_complex(key + 1, row, {key, kNone});
    } else {
        check_primitive(key + 1, type_index == tables::kReferenceType, row, {key, kNone});
    }
    return seen;
}

// The value of `_name`: id and extensions of a primitive, or an array of those and nulls.
void Walk::check_sibling(std::uint32_t key, const ElementRow& row) {
    if ((row.flags & tables::kRepeats) == 0) {
        check_extended(key + 1, row.type, {key, kNone});
        return;
    }
    const Node& node = nodes_[key + 1];
    if (node.kind != Kind::array || node.count == 0) {
        report_kind(key + 1, "an array", {key, kNone});
        return;
    }
    Partner partner(open_object()[name_of(row)]);
    std::uint32_t at = key + 2;
    for (std::uint32_t i = 0; at < node.next && !full_; at = nodes_[at].next, ++i) {
        if (nodes_[at].kind != Kind::null) {
            check_extended(at, row.type, {key, i});
        } else if (!partner.has_value_at(i)) {
            report(Errc::structure,
                   fmt::format("null stands only beside what {} has at its place", name_of(row)),
                   {key, i});
        }
    }
}

// An object with a primitive's id and extensions.
void Walk::check_extended(std::uint32_t index, std::uint16_t type, Site site) {
    const Node& node = nodes_[index];
    if (node.kind != Kind::object || node.count == 0) {
        report_kind(index, "an object", site);
        return;
    }
    const Place place{place_, site, index};
    place_ = &place;
    check_members(index + 1, node.next, type);
    place_ = place.parent;
}

// The choice of `row` has a value already: of the same type (beside its sibling), or another's.
Seen Walk::check_second_type(std::uint32_t key, std::uint16_t type, const ElementRow& row,
                             Seen seen) {
    if ((row.flags & tables::kChoice) == 0 || (seen.doubled & bit_of(row)) != 0) {
        return seen;
    }
    for (const Member member : open_object().members()) {
        if (member.key.index() >= key) {
            break;
        }
        std::string unescaped;
        std::string_view name = member.key.raw_string();
        if (member.key.node().escaped) {
            name = unescaped = member.key.string();
        }
        const Element other = Type(type).find(name.substr(name.starts_with('_') ? 1 : 0));
        if (other && other.mark() == row.mark && other.name() != name_of(row)) {
            seen.doubled |= bit_of(row);
            report(Errc::structure,
                   fmt::format("{}[x] may have one type only, and {} is there", base_name_of(row),
                               other.name()),
                   {key, kNone});
            break;
        }
    }
    return seen;
}

[[gnu::cold, gnu::noinline]] void Walk::report_missing(std::uint16_t type, std::uint32_t missing) {
    for (const Element element : Type(type).elements()) {
        const std::uint32_t bit = bit_of(tables::kElements[element.index()]);
        if ((missing & bit) == 0) {
            continue;
        }
        missing &= ~bit;  // once for a choice
        report(Errc::required,
               fmt::format("{}.{}{} is required", Type(type).name(), element.base_name(),
                           element.is_choice() ? "[x]" : ""),
               {}, element.base_name());
    }
}

[[gnu::cold, gnu::noinline]] void Walk::report_kind(std::uint32_t index, std::string_view expected,
                                                    Site site) {
    const Node& node = nodes_[index];
    const bool right = node.kind == Kind::object ? expected == "an object" : expected == "an array";
    report(Errc::structure,
           right && (node.kind == Kind::object || node.kind == Kind::array)
               ? std::string("must not be empty")
               : fmt::format("must be {}, not {}", expected, kind_name(node.kind)),
           site);
}

[[gnu::cold, gnu::noinline]] void Walk::report_primitive(std::uint32_t index, std::uint16_t type,
                                                         Site site) {
    const Node& node = nodes_[index];
    const auto primitive = static_cast<Primitive>(type);
    const Kind kind = primitive == Primitive::boolean ? Kind::boolean
                      : is_json_number(primitive)     ? Kind::number
                                                      : Kind::string;
    if (node.kind != kind) {
        report(Errc::structure,
               fmt::format("must be {} ({}), not {}", kind_name(kind), Type(type).name(),
                           kind_name(node.kind)),
               site);
        return;
    }
    if (kind == Kind::string && !rules_.as_stored && is_given_by_server(site)) {
        return;
    }
    if (kind == Kind::string && text_of(node).empty()) {
        report(Errc::value, "must not be empty", site);
        return;
    }
    const std::string text =
        kind == Kind::string ? value(index).string() : std::string(value(index).raw());
    report(Errc::value,
           node.control ? fmt::format("a {} must not contain control characters", Type(type).name())
                        : fmt::format("'{}{}' is no valid {}", text.substr(0, kShownMax),
                                      text.size() > kShownMax ? "..." : "", Type(type).name()),
           site);
}

// Whether a value stands where the server will put another.
bool Walk::is_given_by_server(Site site) const {
    const std::string_view name = site.key == kNone ? "" : text_of(nodes_[site.key]);
    if (place_ == nullptr) {
        return name == "id";
    }
    return place_->parent == nullptr && text_of(nodes_[place_->site.key]) == "meta" &&
           (name == "versionId" || name == "lastUpdated");
}

[[gnu::cold, gnu::noinline]] void Walk::report(Errc code, std::string detail, Site site,
                                               std::string_view below) {
    if (full_) {
        return;
    }
    std::string expression(prefix_);
    append_place(expression, place_);
    append_site(expression, site);
    if (!below.empty()) {
        expression.append(expression.empty() ? "" : ".").append(below);
    }
    faults_.push_back({code, std::move(detail), std::move(expression)});
    full_ = faults_.size() >= kFaultsMax;
}

void Walk::append_place(std::string& expression, const Place* place) const {
    if (place != nullptr) {
        append_place(expression, place->parent);
        append_site(expression, place->site);
    }
}

void Walk::append_site(std::string& expression, Site site) const {
    if (site.key == kNone) {
        return;
    }
    expression.append(expression.empty() ? "" : ".")
        .append(value(site.key).string().substr(0, kShownMax));
    if (site.position != kNone) {
        expression.append("[").append(std::to_string(site.position)).append("]");
    }
}

}  // namespace

Result<void> check_structure(json::Value resource, const StructureRules& rules,
                             std::string_view prefix) {
    return Walk(resource, rules, prefix).run();
}

}  // namespace annals::schema
