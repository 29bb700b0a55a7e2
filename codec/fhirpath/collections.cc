// Functions on collections: existence, subsets, children and descendants, and combining two collections.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Existence", "Subsetting", "Combining", "Tree navigation"; FHIR R4 fhirpath.html.

#include "codec/fhirpath/machine.h"

#include <algorithm>

namespace annals::fhirpath {

bool Machine::negation(Range input) {
    Truth truth = Truth::unknown;
    if (!truth_of(input, truth)) {
        return false;
    }
    return push_truth(truth == Truth::yes ? Truth::no : truth == Truth::no ? Truth::yes : truth);
}

bool Machine::on_truths(Function function, Range input) {
    const bool any = function == Function::any_true || function == Function::any_false;
    const bool wanted = function == Function::any_true || function == Function::all_true;
    bool result = !any;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        std::optional<Item> value;
        if (!step() || !system_value(at(i), value)) {
            return false;
        }
        if (!value || value->kind() != Item::Kind::boolean) {
            return fail("an item that is not a boolean where all must be");
        }
        const bool hit = value->as_boolean() == wanted;
        result = any ? result || hit : result && hit;
    }
    return push(Item::boolean(result));
}

// A collection without its first items, or only its first items.
bool Machine::part(const Node& node, const Scope& scope, Range input) {
    std::optional<std::int64_t> count = 1;
    if (node.function != Function::tail && !integer_argument(node, 0, scope, count)) {
        return false;
    }
    if (!count) {
        return true;
    }
    const auto cut = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*count, 0, input.size()));
    const bool take = node.function == Function::take;
    return push_all(take ? Range{input.begin, input.begin + cut}
                         : Range{input.begin + cut, input.end});
}

bool Machine::push_all(Range range) {
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        if (!push(at(i))) {
            return false;
        }
    }
    return true;
}

bool Machine::distinct_items(Function function, Range input) {
    if (!push_all(input) || !distinct({input.end, top_}, input.end)) {
        return false;
    }
    if (function == Function::distinct) {
        return true;
    }
    const bool all = top_ - input.end == input.size();
    top_ = input.end;
    return push(Item::boolean(all));
}

bool Machine::two_collections(const Node& node, const Scope& scope, Range input) {
    if (node.function == Function::union_ || node.function == Function::combine) {
        if (!push_all(input)) {
            return false;
        }
    }
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, 0), scope)) {
        return false;
    }
    const Range other{mark, top_};
    switch (node.function) {
        case Function::combine:
            return true;
        case Function::union_:
            return distinct({input.end, top_}, input.end);
        case Function::subset_of:
        case Function::superset_of: {
            const bool subset = node.function == Function::subset_of;
            const Range small = subset ? input : other;
            const Range large = subset ? other : input;
            bool all = true;
            for (std::uint32_t i = small.begin; i < small.end && all; ++i) {
                if (!contains(large, at(i), all)) {
                    return false;
                }
            }
            top_ = mark;
            return push(Item::boolean(all));
        }
        default:
            break;
    }
    const bool intersect = node.function == Function::intersect;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        bool found = false;
        if (!contains(other, at(i), found)) {
            return false;
        }
        if (found == intersect && !push(at(i))) {
            return false;
        }
    }
    if (intersect) {
        if (!distinct({other.end, top_}, other.end)) {
            return false;
        }
    }
    collapse(mark, other.end);
    return true;
}

bool Machine::below(Function function, Range input) {
    // For descendants, pushed items are visited in their turn.
    const bool deep = function == Function::descendants;
    for (std::uint32_t i = input.begin; i < (deep ? top_ : input.end); ++i) {
        const Item item = at(i);
        if (!push_children(item)) {
            return false;
        }
    }
    return true;
}

bool Machine::extensions(const Node& node, const Scope& scope, Range input) {
    std::optional<std::string_view> url;
    if (!string_argument(node, 0, scope, url)) {
        return false;
    }
    for (std::uint32_t i = input.begin; url && i < input.end; ++i) {
        const Item item = at(i);
        if (!push_extensions(item, *url)) {
            return false;
        }
    }
    return true;
}

bool Machine::type_infos(Range input) {
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        Item info;
        info.kind_ = Item::Kind::type_info;
        info.system_ = !at(i).is_element();
        info.kind_of_ = at(i).kind();
        info.type_ = at(i).is_element() ? at(i).type() : schema::Type();
        if (!push(info)) {
            return false;
        }
    }
    return true;
}

// hasValue() and getValue(): whether the single item is a primitive with a value, and that value.
bool Machine::primitive(Function function, Range input) {
    if (input.size() != 1) {
        return function == Function::get_value || push(Item::boolean(false));
    }
    const Item& item = at(input.begin);
    const json::Value value = item.value();
    const bool primitive = !item.is_element() || (value && !value.is_object() && !value.is_array());
    if (function == Function::has_value) {
        return push(Item::boolean(primitive));
    }
    std::optional<Item> system;
    return !primitive || (system_value(item, system) && push(*system));
}

}  // namespace annals::fhirpath
