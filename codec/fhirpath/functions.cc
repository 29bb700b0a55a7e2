// Functions on collections, and where each function is found.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Existence" to "Combining", "Utility functions"; FHIR R4 fhirpath.html.

#include "codec/fhirpath/machine.h"

#include <algorithm>

namespace annals::fhirpath {

bool Machine::argument(const Node& node, std::uint32_t which, const Scope& scope, Item& out,
                       bool& present) {
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, which), scope) ||
        !single({mark, top_}, out, present, "an argument")) {
        return false;
    }
    top_ = mark;
    return true;
}

bool Machine::integer_argument(const Node& node, std::uint32_t which, const Scope& scope,
                               std::int64_t& out, bool& present) {
    Item item;
    if (!argument(node, which, scope, item, present)) {
        return false;
    }
    if (!present) {
        return true;
    }
    if (item.kind() != Item::Kind::integer) {
        return fail("an argument that is no integer");
    }
    out = item.as_integer();
    return true;
}

bool Machine::string_argument(const Node& node, std::uint32_t which, const Scope& scope,
                              std::string_view& out, bool& present) {
    Item item;
    if (!argument(node, which, scope, item, present)) {
        return false;
    }
    if (!present) {
        return true;
    }
    if (item.kind() != Item::Kind::string) {
        return fail("an argument that is no string");
    }
    out = item.as_string();
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
        case Function::not_: {
            Truth truth = Truth::unknown;
            if (!truth_of(input, truth)) {
                return false;
            }
            return push_truth(truth == Truth::yes  ? Truth::no
                              : truth == Truth::no ? Truth::yes
                                                   : truth);
        }
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
        case Function::take: {
            std::int64_t count = 1;
            bool present = true;
            if (node.function != Function::tail &&
                !integer_argument(node, 0, scope, count, present)) {
                return false;
            }
            if (!present) {
                return true;
            }
            const auto cut =
                static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, input.size()));
            const bool take = node.function == Function::take;
            const std::uint32_t begin = take ? input.begin : input.begin + cut;
            const std::uint32_t end = take ? input.begin + cut : input.end;
            for (std::uint32_t i = begin; i < end; ++i) {
                if (!push(at(i))) {
                    return false;
                }
            }
            return true;
        }
        case Function::distinct:
        case Function::is_distinct: {
            for (std::uint32_t i = input.begin; i < input.end; ++i) {
                if (!push(at(i))) {
                    return false;
                }
            }
            if (!distinct({input.end, top_}, input.end)) {
                return false;
            }
            if (node.function == Function::distinct) {
                return true;
            }
            const bool all = top_ - input.end == input.size();
            top_ = input.end;
            return push(Item::boolean(all));
        }
        case Function::subset_of:
        case Function::superset_of:
        case Function::intersect:
        case Function::exclude:
        case Function::union_:
        case Function::combine:
            return two_collections(node, scope, input);
        case Function::children:
            for (std::uint32_t i = input.begin; i < input.end; ++i) {
                const Item item = at(i);
                if (!push_children(item)) {
                    return false;
                }
            }
            return true;
        case Function::descendants: {
            // What is pushed is looked at in its turn.
            for (std::uint32_t i = input.begin; i < top_; ++i) {
                const Item item = at(i);
                if (!push_children(item)) {
                    return false;
                }
            }
            return true;
        }
        case Function::type:
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
        case Function::extension: {
            std::string_view url;
            bool present = false;
            if (!string_argument(node, 0, scope, url, present)) {
                return false;
            }
            for (std::uint32_t i = input.begin; present && i < input.end; ++i) {
                const Item item = at(i);
                if (!push_extensions(item, url)) {
                    return false;
                }
            }
            return true;
        }
        case Function::has_value:
        case Function::get_value: {
            if (input.size() != 1) {
                return node.function == Function::get_value || push(Item::boolean(false));
            }
            // Only primitives have values.
            const Item& item = at(input.begin);
            const json::Value value = item.value();
            const bool primitive =
                !item.is_element() || (value && !value.is_object() && !value.is_array());
            if (node.function == Function::has_value) {
                return push(Item::boolean(primitive));
            }
            Item system;
            bool present = false;
            return !primitive || (system_value(item, system, present) && push(system));
        }
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
        case Function::comparable:
            return boundaries(node, scope, input);
        default:
            return on_string(node, scope, input);
    }
}

bool Machine::on_truths(Function function, Range input) {
    const bool any = function == Function::any_true || function == Function::any_false;
    const bool wanted = function == Function::any_true || function == Function::all_true;
    bool result = !any;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        Item value;
        bool present = false;
        if (!step() || !system_value(at(i), value, present)) {
            return false;
        }
        if (!present || value.kind() != Item::Kind::boolean) {
            return fail("an item that is no boolean where all must be");
        }
        const bool hit = value.as_boolean() == wanted;
        result = any ? result || hit : result && hit;
    }
    return push(Item::boolean(result));
}

bool Machine::select(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        const Scope inner = lambda(scope, input, i);
        if (node.function == Function::select) {
            if (!evaluate(body, inner)) {
                return false;
            }
            continue;
        }
        Truth truth = Truth::unknown;
        if (!evaluate_truth(body, inner, truth)) {
            return false;
        }
        const bool yes = truth == Truth::yes;
        if (node.function == Function::where) {
            if (yes && !push(at(i))) {
                return false;
            }
        } else if (yes == (node.function == Function::exists)) {
            // exists() has found one, or all() one that isn't.
            return push(Item::boolean(node.function == Function::exists));
        }
    }
    return node.function == Function::select || node.function == Function::where ||
           push(Item::boolean(node.function == Function::all));
}

bool Machine::repeat(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    // The queue is what was found already, after the input itself.
    const std::uint32_t first = input.end;
    std::vector<std::uint64_t> hashes;
    for (std::uint32_t i = input.begin; i < top_; ++i) {
        const std::uint32_t before = top_;
        if (!evaluate(body, lambda(scope, input, i))) {
            return false;
        }
        // Keep what wasn't there before; hashes spare most comparisons.
        std::uint32_t kept = before;
        for (std::uint32_t k = before; k < top_; ++k) {
            const std::uint64_t hash = hash_of(at(k));
            bool seen = false;
            for (std::uint32_t m = first; m < kept && !seen; ++m) {
                if (hashes[m - first] != hash) {
                    continue;
                }
                Truth same = Truth::no;
                if (!equal_items(at(m), at(k), same)) {
                    return false;
                }
                seen = same == Truth::yes;
            }
            if (!step(1 + (kept - first) / 8)) {
                return false;
            }
            if (!seen) {
                stack_[kept++] = at(k);
                hashes.push_back(hash);
            }
        }
        top_ = kept;
    }
    return true;
}

bool Machine::aggregate(const Node& node, const Scope& scope, Range input) {
    const std::uint32_t body = argument_node(node, 0);
    const std::uint32_t mark = top_;
    if (node.count > 1 && !evaluate(argument_node(node, 1), scope)) {
        return false;
    }
    Range total{mark, top_};
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        Scope inner = lambda(scope, input, i);
        inner.total = total;
        inner.has_total = true;
        if (!evaluate(body, inner)) {
            return false;
        }
        collapse(mark, total.end);
        total.end = top_;
    }
    return true;
}

bool Machine::iif(const Node& node, const Scope& scope, Range input) {
    if (input.size() > 1) {
        return fail("iif() of several items");
    }
    Scope inner = scope;
    if (node.a != kNone) {
        inner.has_self = input.size() == 1;
        if (inner.has_self) {
            inner.self = at(input.begin);
        }
    }
    const std::uint32_t mark = top_;
    if (!evaluate(argument_node(node, 0), inner)) {
        return false;
    }
    Item criterion;
    bool present = false;
    if (!single({mark, top_}, criterion, present, "a criterion")) {
        return false;
    }
    top_ = mark;
    if (present && criterion.kind() != Item::Kind::boolean) {
        return fail("a criterion of iif() that is no boolean");
    }
    if (present && criterion.as_boolean()) {
        return evaluate(argument_node(node, 1), inner);
    }
    return node.count < 3 || evaluate(argument_node(node, 2), inner);
}

bool Machine::sort(const Node& node, const Scope& scope, Range input) {
    // One key, or one for each argument; a minus before it turns the order around.
    const std::uint32_t keys = std::max<std::uint32_t>(node.count, 1);
    if (std::size_t{input.size()} * keys > environment_->limits.items) {
        return fail(Errc::too_costly, "sort() has too many keys");
    }
    std::vector<Item> values;
    std::vector<bool> there;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        for (std::uint32_t k = 0; k < keys; ++k) {
            Item value;
            bool present = true;
            if (node.count == 0) {
                if (!system_value(at(i), value, present)) {
                    return false;
                }
            } else {
                std::uint32_t body = argument_node(node, k);
                if (program_->nodes[body].op == Op::negative) {
                    body = program_->nodes[body].a;
                }
                const std::uint32_t mark = top_;
                if (!evaluate(body, lambda(scope, input, i)) ||
                    !single({mark, top_}, value, present, "a key of sort()")) {
                    return false;
                }
                top_ = mark;
            }
            values.push_back(value);
            there.push_back(present);
        }
    }
    std::vector<std::uint32_t> order(input.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    // A merge of our own, since comparing can fail; what has no key comes first, whichever way.
    const auto less = [&](std::uint32_t a, std::uint32_t b, bool& out) {
        out = false;
        for (std::uint32_t k = 0; k < keys; ++k) {
            const std::size_t x = std::size_t{a} * keys + k;
            const std::size_t y = std::size_t{b} * keys + k;
            if (there[x] != there[y]) {
                out = !there[x];
                return true;
            }
            Order found = Order::equal;
            if (there[x] && !compare_items(values[x], values[y], found)) {
                return false;
            }
            if (found == Order::less || found == Order::greater) {
                const bool down =
                    node.count > 0 && program_->nodes[argument_node(node, k)].op == Op::negative;
                out = (found == Order::less) != down;
                return true;
            }
        }
        return true;
    };
    std::vector<std::uint32_t> merged(order.size());
    for (std::size_t width = 1; width < order.size(); width *= 2) {
        for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
            std::size_t a = begin;
            const std::size_t a_end = std::min(begin + width, order.size());
            std::size_t b = a_end;
            const std::size_t b_end = std::min(begin + 2 * width, order.size());
            for (std::size_t out = begin; out < b_end; ++out) {
                bool take_b = a == a_end;
                if (a < a_end && b < b_end && !less(order[b], order[a], take_b)) {
                    return false;
                }
                merged[out] = take_b ? order[b++] : order[a++];
            }
        }
        order.swap(merged);
    }
    for (const std::uint32_t i : order) {
        if (!push(at(input.begin + i))) {
            return false;
        }
    }
    return true;
}

bool Machine::two_collections(const Node& node, const Scope& scope, Range input) {
    if (node.function == Function::union_ || node.function == Function::combine) {
        for (std::uint32_t i = input.begin; i < input.end; ++i) {
            if (!push(at(i))) {
                return false;
            }
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

bool Machine::trace(const Node& node, const Scope& scope, Range input) {
    std::string_view name;
    bool present = false;
    if (!string_argument(node, 0, scope, name, present)) {
        return false;
    }
    const std::uint32_t mark = top_;
    if (node.count > 1) {
        for (std::uint32_t i = input.begin; i < input.end; ++i) {
            if (!evaluate(argument_node(node, 1), lambda(scope, input, i))) {
                return false;
            }
        }
    }
    if (environment_->hooks != nullptr && environment_->hooks->trace) {
        const Range shown = node.count > 1 ? Range{mark, top_} : input;
        environment_->hooks->trace(name, {&stack_[shown.begin], shown.size()});
    }
    top_ = mark;
    for (std::uint32_t i = input.begin; i < input.end; ++i) {
        if (!push(at(i))) {
            return false;
        }
    }
    return true;
}

// What only the caller can answer.
bool Machine::outside(const Node& node, const Scope& scope, Range input) {
    if (node.function == Function::check_modifiers) {
        std::vector<std::string_view> known;
        for (std::uint32_t i = 0; i < node.count; ++i) {
            std::string_view url;
            bool present = false;
            if (!string_argument(node, i, scope, url, present)) {
                return false;
            }
            known.push_back(url);
        }
        for (std::uint32_t i = input.begin; i < input.end; ++i) {
            for (const json::Value extension : at(i).value()["modifierExtension"].elements()) {
                const json::Value url = extension["url"];
                if (!step() || std::ranges::none_of(
                                   known, [&](std::string_view k) { return url.equals(k); })) {
                    return fail("a modifier extension that isn't known");
                }
            }
            if (!push(at(i))) {
                return false;
            }
        }
        return true;
    }
    const Hooks* hooks = environment_->hooks;
    if (input.size() == 0) {
        return true;
    }
    if (input.size() > 1) {
        return fail("several items where one is expected");
    }
    if (node.function == Function::subsumes || node.function == Function::subsumed_by) {
        const std::uint32_t mark = top_;
        if (!evaluate(argument_node(node, 0), scope)) {
            return false;
        }
        const Range other{mark, top_};
        if (other.size() != 1) {
            return other.size() == 0 || fail("several items where one is expected");
        }
        if (hooks == nullptr || !hooks->subsumes) {
            return fail(Errc::not_implemented, "subsumes() needs a terminology service");
        }
        const bool turned = node.function == Function::subsumed_by;
        Result<std::optional<bool>> answer = hooks->subsumes(
            at(turned ? other.begin : input.begin), at(turned ? input.begin : other.begin));
        if (!answer) {
            return fail(std::move(answer.error()));
        }
        top_ = mark;
        return !*answer || push(Item::boolean(**answer));
    }
    std::string_view url;
    bool present = false;
    if (!string_argument(node, 0, scope, url, present)) {
        return false;
    }
    if (!present) {
        return true;
    }
    const Item item = at(input.begin);
    if (node.function == Function::member_of) {
        if (hooks == nullptr || !hooks->member_of) {
            return fail(Errc::not_implemented, "memberOf() needs a terminology service");
        }
        Result<std::optional<bool>> answer = hooks->member_of(item, url);
        if (!answer) {
            return fail(std::move(answer.error()));
        }
        return !*answer || push(Item::boolean(**answer));
    }
    constexpr std::string_view kBase = "http://hl7.org/fhir/StructureDefinition/";
    if (url.starts_with(kBase)) {
        const schema::Type type = schema::find_type(url.substr(kBase.size()));
        if (type && type.kind() != schema::TypeKind::backbone) {
            return push(Item::boolean(item.is_element() && item.type().is_a(type)));
        }
    }
    if (hooks == nullptr || !hooks->conforms_to) {
        return fail("conformsTo() doesn't know the profile " + std::string(url.substr(0, 200)));
    }
    Result<std::optional<bool>> answer = hooks->conforms_to(item, url);
    if (!answer) {
        return fail(std::move(answer.error()));
    }
    return !*answer || push(Item::boolean(**answer));
}

}  // namespace annals::fhirpath
