// Finds the faults in one walk over the flat nodes, in text order. Resources that the parser has found to be sound
// (codec/schema/expectation.h) need no walk.

#include "codec/schema/structure.h"

#include "codec/schema/expectation.h"
#include "codec/schema/primitive.h"
#include "codec/schema/schema.h"
#include "codec/schema/structure_faults.h"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace annals::schema {

namespace {

using json::Kind;
using json::Member;
using json::Node;
using json::Value;
using tables::ElementRow;

// What has been seen of an object's members.
struct Seen {
    std::uint32_t bits = 0;     // of required elements and choices
    std::uint32_t doubled = 0;  // of choices reported for having several types
};

std::string_view base_name_of(const ElementRow& row) noexcept {
    return {tables::kNames + row.name, row.base_size};
}

// The bit of a required element or choice; 0 for any other.
std::uint32_t bit_of(const ElementRow& row) noexcept {
    return 1U << row.mark >> 1;
}

// Whether this element of Reference is Reference.reference.
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
          faults_(resource.tree(), rules, prefix) {}

    Result<void> run() {
        check_resource(root_, nullptr, {});
        return faults_.take();
    }

  private:
    // Pairs the elements of a primitive's array and its sibling's: each position is requested once, in ascending order.
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

    // The following are rarely needed.
    void check_unescaped(std::uint32_t index, bool reference, const ElementRow& row, Site site);
    void check_has_more_than_id(std::uint32_t index, Site site);
    Seen check_other_member(std::uint32_t key, std::uint16_t type, Seen seen);
    void check_sibling(std::uint32_t key, const ElementRow& row);
    void check_extended(std::uint32_t index, std::uint16_t type, Site site);
    Seen check_second_type(std::uint32_t key, std::uint16_t type, const ElementRow& row, Seen seen);
    void report_missing(std::uint16_t type, std::uint32_t missing);

    Value value(std::uint32_t index) const noexcept { return {tree_, index}; }

    Spot spot(Site site) const noexcept { return {place_, site}; }

    Value open_object() const noexcept { return value(place_ == nullptr ? root_ : place_->index); }

    // A string's characters, verbatim.
    std::string_view text_of(const Node& node) const noexcept {
        return {text_ + node.begin + 1, node.end - node.begin - 2};
    }

    const json::Tree& tree_;
    const Node* const nodes_;
    const char* const text_;
    const std::uint32_t root_;
    const StructureRules rules_;
    const Place* place_ = nullptr;  // of the current object; null: the outermost resource
    StructureFaults faults_;
};

void Walk::check_resource(std::uint32_t index, const ElementRow* container, Site site) {
    if (nodes_[index].kind != Kind::object) [[unlikely]] {
        faults_.report_kind(spot(site), index, "a resource");
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
        faults_.report(spot(site), name ? Errc::structure : Errc::required,
                       name ? "must be a string" : "a resource must have a resourceType",
                       "resourceType");
        return;
    }
    const std::optional<TypeId> id = name.node().escaped ? find_resource_type(name.string())
                                                         : find_resource_type(name.raw_string());
    if (!id) [[unlikely]] {
        faults_.report(
            spot(site), Errc::value,
            fmt::format("FHIR R4 has no resource type '{}'", name.string().substr(0, kShownMax)),
            "resourceType");
        return;
    }
    if (container == nullptr) {
        faults_.name_resource(resource_type_name(*id));
    } else if (name_of(*container) == "contained") {
        if (!resource["id"]) [[unlikely]] {
            faults_.report(spot(site), Errc::required, "a contained resource must have an id",
                           "id");
        }
        if (resource["contained"]) [[unlikely]] {
            faults_.report(spot(site), Errc::structure,
                           "a contained resource must not contain others", "contained");
        }
    }
    const Place place{place_, site, index};
    if (container != nullptr) {
        place_ = &place;
    }
    check_members(first, nodes_[index].next, Type(*id).index());
    place_ = container != nullptr ? place.parent : nullptr;
}

// Checks the members, nodes `first` to `end`, of an object of that type.
void Walk::check_members(std::uint32_t first, std::uint32_t end, std::uint16_t type) {
    Seen seen;
    for (std::uint32_t at = first; at < end && !faults_.are_enough(); at = nodes_[at + 1].next) {
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
    if (missing != 0 && !faults_.are_enough()) [[unlikely]] {
        report_missing(type, missing);
    }
}

// Checks a member for `row`, or its sibling.
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

// `reference`: whether it is a Reference.reference.
void Walk::check_primitive(std::uint32_t index, bool reference, const ElementRow& row, Site site) {
    const Node& node = nodes_[index];
    const auto primitive = static_cast<Primitive>(row.type);
    if (node.kind != kind_of(primitive) || node.control) [[unlikely]] {
        faults_.report_primitive(spot(site), index, row.type);
    } else if (node.kind != Kind::string) {
        if (!is_valid(primitive, value(index).raw())) [[unlikely]] {
            faults_.report_primitive(spot(site), index, row.type);
        }
    } else if (text_of(node).empty()) [[unlikely]] {
        faults_.report_primitive(spot(site), index, row.type);
    } else if (!is_value(primitive, reference, text_of(node), node.escaped)) [[unlikely]] {
        check_unescaped(index, reference, row, site);
    }
}

void Walk::check_complex(std::uint32_t index, const ElementRow& row, Site site) {
    const Node& node = nodes_[index];
    if (node.kind != Kind::object || node.count == 0) [[unlikely]] {
        faults_.report_kind(spot(site), index, "an object");
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
        faults_.report_kind(spot({key, kNone}), key + 1, "an array");
        return;
    }
    std::uint32_t at = key + 2;
    if (row.type > tables::kLastPrimitive) {
        for (std::uint32_t i = 0; at < node.next && !faults_.are_enough();
             at = nodes_[at].next, ++i) {
            check_complex(at, row, {key, i});
        }
        return;
    }
    std::optional<Partner> partner;
    for (std::uint32_t i = 0; at < node.next && !faults_.are_enough(); at = nodes_[at].next, ++i) {
        if (nodes_[at].kind != Kind::null) [[likely]] {
            check_primitive(at, false, row, {key, i});
            continue;
        }
        if (!partner) {
            partner.emplace(open_object()[std::string("_").append(name_of(row))]);
        }
        if (!partner->has_value_at(i)) {
            faults_.report(
                spot({key, i}), Errc::structure,
                fmt::format("null is allowed only where _{} has a value at the same index",
                            name_of(row)));
        }
    }
}

// A primitive that is invalid verbatim; with its escapes resolved it may be valid.
[[gnu::noinline]] void Walk::check_unescaped(std::uint32_t index, bool reference,
                                             const ElementRow& row, Site site) {
    const auto primitive = static_cast<Primitive>(row.type);
    const std::string text = value(index).string();
    const bool is_its_type = primitive == Primitive::xhtml || is_valid(primitive, text);
    if (!is_its_type) {
        faults_.report_primitive(spot(site), index, row.type);
    } else if (reference && !is_reference(text)) {
        faults_.report(spot(site), Errc::value,
                       fmt::format("'{}' is not a reference: expected Type/id of R4, an absolute "
                                   "URL, a URN, #id or Type?criteria",
                                   text.substr(0, kShownMax)));
    }
}

// A Reference whose first member is not its reference.
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
    faults_.report(
        spot(site), Errc::structure,
        "a Reference must have a reference, a type, an identifier, a display or an extension");
}

// A member whose name is not verbatim one of the type's elements: resourceType, a primitive's sibling, a name
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
            faults_.report(spot({key, kNone}), Errc::structure,
                           fmt::format("{} has no such element", type.name()));
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
        faults_.report_kind(spot({key, kNone}), key + 1, "an array");
        return;
    }
    Partner partner(open_object()[name_of(row)]);
    std::uint32_t at = key + 2;
    for (std::uint32_t i = 0; at < node.next && !faults_.are_enough(); at = nodes_[at].next, ++i) {
        if (nodes_[at].kind != Kind::null) {
            check_extended(at, row.type, {key, i});
        } else if (!partner.has_value_at(i)) {
            faults_.report(
                spot({key, i}), Errc::structure,
                fmt::format("null is allowed only where {} has a value at the same index",
                            name_of(row)));
        }
    }
}

// An object with a primitive's id and extensions.
void Walk::check_extended(std::uint32_t index, std::uint16_t type, Site site) {
    const Node& node = nodes_[index];
    if (node.kind != Kind::object || node.count == 0) {
        faults_.report_kind(spot(site), index, "an object");
        return;
    }
    const Place place{place_, site, index};
    place_ = &place;
    check_members(index + 1, node.next, type);
    place_ = place.parent;
}

// The choice of `row` has a value already: of the same type (as the sibling), or of another.
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
            faults_.report(spot({key, kNone}), Errc::structure,
                           fmt::format("{}[x] may have only one type, but there is also {}",
                                       base_name_of(row), other.name()));
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
        missing &= ~bit;  // once per choice
        faults_.report(spot({}), Errc::required,
                       fmt::format("{}.{}{} is required", Type(type).name(), element.base_name(),
                                   element.is_choice() ? "[x]" : ""),
                       element.base_name());
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
