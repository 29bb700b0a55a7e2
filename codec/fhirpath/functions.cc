// Function calls: input, arguments, and dispatch.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Existence" to "Combining", "Utility functions"; FHIR R4 fhirpath.html.

#include "codec/fhirpath/machine.h"

namespace annals::fhirpath {

bool Machine::argument(const Node& node, std::uint32_t which, const Scope& scope,
                       std::optional<Item>& out) {
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, which), scope) || !single({mark, top_}, out, "an argument")) {
        return false;
    }
    top_ = mark;
    return true;
}

bool Machine::integer_argument(const Node& node, std::uint32_t which, const Scope& scope,
                               std::optional<std::int64_t>& out) {
    std::optional<Item> item;
    if (!argument(node, which, scope, item)) {
        return false;
    }
    if (item && item->kind() != Item::Kind::integer) {
        return fail("an argument that is not an integer");
    }
    out = item ? std::optional(item->as_integer()) : std::nullopt;
    return true;
}

bool Machine::string_argument(const Node& node, std::uint32_t which, const Scope& scope,
                              std::optional<std::string_view>& out) {
    std::optional<Item> item;
    if (!argument(node, which, scope, item)) {
        return false;
    }
    if (item && item->kind() != Item::Kind::string) {
        return fail("an argument that is not a string");
    }
    out = item ? std::optional(item->as_string()) : std::nullopt;
    return true;
}

bool Machine::function(const Node& node, const Scope& scope) {
    const std::uint32_t mark = top_;
    if (node.a != kNone) {
        if (!evaluate(node.a, scope)) {
            return false;
        }
    } else if (scope.has_self && !push(scope.self)) {
        return false;
    }
    const Range input{mark, top_};
    if (!on_collection(node, scope, input)) {
        return false;
    }
    collapse(mark, input.end);
    return true;
}

// Pushes the result above the input.
bool Machine::on_collection(const Node& node, const Scope& scope, Range input) {
    switch (node.function) {
        case Function::empty:
            return push(Item::boolean(input.size() == 0));
        case Function::exists:
            if (node.count == 0) {
                return push(Item::boolean(input.size() > 0));
            }
            [[fallthrough]];
        case Function::where:
        case Function::all:
        case Function::select:
            return select(node, scope, input);
        case Function::all_true:
        case Function::all_false:
        case Function::any_true:
        case Function::any_false:
            return on_truths(node.function, input);
        case Function::repeat:
            return repeat(node, scope, input);
        case Function::aggregate:
            return aggregate(node, scope, input);
        case Function::iif:
            return iif(node, scope, input);
        case Function::sort:
            return sort(node, scope, input);
        case Function::trace:
            return trace(node, scope, input);
        case Function::not_:
            return negation(input);
        case Function::count:
            return push(Item::integer(input.size()));
        case Function::first:
            return input.size() == 0 || push(at(input.begin));
        case Function::last:
            return input.size() == 0 || push(at(input.end - 1));
        case Function::single:
            if (input.size() > 1) {
                return fail("single() of several items");
            }
            return input.size() == 0 || push(at(input.begin));
        case Function::tail:
        case Function::skip:
        case Function::take:
            return part(node, scope, input);
        case Function::distinct:
        case Function::is_distinct:
            return distinct_items(node.function, input);
        case Function::subset_of:
        case Function::superset_of:
        case Function::intersect:
        case Function::exclude:
        case Function::union_:
        case Function::combine:
            return two_collections(node, scope, input);
        case Function::children:
        case Function::descendants:
            return below(node.function, input);
        case Function::type:
            return type_infos(input);
        case Function::extension:
            return extensions(node, scope, input);
        case Function::has_value:
        case Function::get_value:
            return primitive(node.function, input);
        case Function::resolve:
            for (std::uint32_t i = input.begin; i < input.end; ++i) {
                const Item item = at(i);
                if (!step() || !resolve(item)) {
                    return false;
                }
            }
            return true;
        case Function::html_checks:
            return html_checks(input);
        case Function::check_modifiers:
            return check_modifiers(node, scope, input);
        case Function::conforms_to:
        case Function::member_of:
        case Function::subsumes:
        case Function::subsumed_by:
            return outside(node, scope, input);
        case Function::now:
        case Function::today:
        case Function::time_of_day:
            return push_now(node.function);
        case Function::to_boolean:
        case Function::to_date:
        case Function::to_date_time:
        case Function::to_decimal:
        case Function::to_integer:
        case Function::to_quantity:
        case Function::to_string:
        case Function::to_time:
        case Function::converts_to_boolean:
        case Function::converts_to_date:
        case Function::converts_to_date_time:
        case Function::converts_to_decimal:
        case Function::converts_to_integer:
        case Function::converts_to_quantity:
        case Function::converts_to_string:
        case Function::converts_to_time:
            return convert(node, scope, input);
        case Function::abs:
        case Function::ceiling:
        case Function::exp:
        case Function::floor:
        case Function::ln:
        case Function::log:
        case Function::power:
        case Function::round:
        case Function::sqrt:
        case Function::truncate:
            return on_number(node, scope, input);
        case Function::low_boundary:
        case Function::high_boundary:
        case Function::precision:
            return boundaries(node, scope, input);
        case Function::comparable:
            return comparable(node, scope, input);
        default:
            return on_string(node, scope, input);
    }
}

}  // namespace annals::fhirpath
