// The walk that tells the faults: over the flat nodes once, in text order. What the parser has found to be in order on
// its way (codec/schema/expectation.h) needs none.

#include "codec/schema/structure.h"

#include "codec/schema/expectation.h"
#include "codec/schema/primitive.h"
#include "codec/schema/schema.h"

#include <fmt/format.h>

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

std::string_view base_name_of(const ElementRow& row) noexcept {
    return {tables::kNames + row.name, row.base_size};
}

// The bit of a required element or choice; 0 for all others.
std::uint32_t bit_of(const ElementRow& row) noexcept {
    return 1U << row.mark >> 1;
}

// Of an element of Reference: whether it is Reference.reference.
bool is_reference_row(const ElementRow& row) noexcept {
    return name_of(row) == "reference";
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
    Seen check_member(std::uint32_t key, std::uint16_t type, const ElementRow& row, bool sibling,
                      Seen seen);
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
void Walk::check_members(std::uint32_t first, std::uint32_t end, std::uint16_t type) {
    Seen seen;
    for (std::uint32_t at = first; at < end && !full_; at = nodes_[at + 1].next) {
        const std::string_view key = text_of(nodes_[at]);
        const ElementRow* const row = tables::find_element(
            tables::kTypes[type], tables::padded_name(key.data(), key.size()), key.data());
        if (row != nullptr && (row->flags & tables::kValue) == 0) [[likely]] {
            seen = check_member(at, type, *row, false, seen);
        } else {
            seen = check_other_member(at, type, seen);
        }
    }
    const std::uint32_t missing = tables::kTypes[type].required >> 1 & ~seen.bits;
    if (missing != 0 && !full_) [[unlikely]] {
        report_missing(type, missing);
    }
}

// A member that is that of `row`, or the sibling of such.
Seen Walk::check_member(std::uint32_t key, std::uint16_t type, const ElementRow& row, bool sibling,
                        Seen seen) {
    if ((seen.bits & bit_of(row)) != 0) [[unlikely]] {
        seen = check_second_type(key, type, row, seen);
    }
    seen.bits |= bit_of(row);
    if (sibling) {
        check_sibling(key, row);
    } else if ((row.flags & tables::kRepeats) != 0) {
        check_array(key, row);
    } else if (row.type > tables::kLastPrimitive) {
        check_complex(key + 1, row, {key, kNone});
    } else {
        check_primitive(key + 1, type == tables::kReferenceType && is_reference_row(row), row,
                        {key, kNone});
    }
    return seen;
}

// `reference`: of Reference.reference.
void Walk::check_primitive(std::uint32_t index, bool reference, const ElementRow& row, Site site) {
    const Node& node = nodes_[index];
    const auto primitive = static_cast<Primitive>(row.type);
    if (node.kind != kind_of(primitive) || node.control) [[unlikely]] {
        report_primitive(index, row.type, site);
    } else if (node.kind != Kind::string) {
        if (!is_valid(primitive, value(index).raw())) [[unlikely]] {
            report_primitive(index, row.type, site);
        }
    } else if (text_of(node).empty()) [[unlikely]] {
        report_primitive(index, row.type, site);
    } else if (!is_value(primitive, reference, text_of(node), node.escaped)) [[unlikely]] {
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
    } else if (reference && !is_reference(text)) {
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
    return check_member(key, type_index, tables::kElements[element.index()], sibling, seen);
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
    const Kind kind = kind_of(primitive);
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
    if (resource && resource.node().sound) {
        return {};
    }
    return Walk(resource, rules, prefix).run();
}

}  // namespace annals::schema
