// Comparison of items: equality, equivalence, order.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Equality", "Comparison"; FHIR R4 fhirpath.html "Using FHIR types".

#include "codec/fhirpath/machine.h"
#include "codec/fhirpath/text.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

using json::Kind;

Truth truth(bool holds) {
    return holds ? Truth::yes : Truth::no;
}

Truth truth(Order order) {
    return order == Order::equal     ? Truth::yes
           : order == Order::unknown ? Truth::unknown
                                     : Truth::no;
}

Order order(std::strong_ordering ordering) {
    return ordering < 0 ? Order::less : ordering > 0 ? Order::greater : Order::equal;
}

Order compare_quantities(const Quantity& a, const Quantity& b) {
    if (a.unit == b.unit) {
        return order(a.value <=> b.value);
    }
    const std::optional<Unit> unit_a = unit_of(a);
    const std::optional<Unit> unit_b = unit_of(b);
    if (!unit_a || !unit_b || !unit_a->same_dimension(*unit_b)) {
        return Order::unknown;
    }
    // a/b is compared as a's numerator times b's denominator, so nothing is rounded.
    const auto x = Decimal::multiply(a.value, unit_a->numerator);
    const auto y = Decimal::multiply(b.value, unit_b->numerator);
    const auto left = x ? Decimal::multiply(*x, unit_b->denominator) : std::nullopt;
    const auto right = y ? Decimal::multiply(*y, unit_a->denominator) : std::nullopt;
    return left && right ? order(*left <=> *right) : Order::unknown;
}

bool equivalent_decimals(const Decimal& a, const Decimal& b) {
    const Decimal x = a.normalized();
    const Decimal y = b.normalized();
    const int scale = std::min(x.scale(), y.scale());
    const auto left = x.rounded(scale);
    const auto right = y.rounded(scale);
    return left && right && *left == *right;
}

// Calendar years and months are equivalent to those of UCUM, but not equal to them.
std::optional<Unit> definite_unit_of(const Quantity& quantity) {
    const bool year = quantity.calendar && quantity.unit.starts_with("year");
    const bool month = quantity.calendar && quantity.unit.starts_with("month");
    return year || month ? parse_unit(year ? "a" : "mo") : unit_of(quantity);
}

bool equivalent_quantities(const Quantity& a, const Quantity& b) {
    if (a.unit == b.unit) {
        return equivalent_decimals(a.value, b.value);
    }
    const std::optional<Unit> unit_a = definite_unit_of(a);
    const std::optional<Unit> unit_b = definite_unit_of(b);
    if (!unit_a || !unit_b || !unit_a->same_dimension(*unit_b)) {
        return false;
    }
    // Compared in the larger unit, so that the less precise of the two decides.
    const bool to_a = compare_size(*unit_a, *unit_b).value_or(0) >= 0;
    const auto converted = to_a ? fhirpath::convert(b.value, *unit_b, *unit_a)
                                : fhirpath::convert(a.value, *unit_a, *unit_b);
    return converted && equivalent_decimals(*converted, to_a ? a.value : b.value);
}

bool is_date(Item::Kind kind) {
    return kind == Item::Kind::date || kind == Item::Kind::date_time;
}

// Dates with or without a time can be compared with each other, times of day only with their like.
bool are_comparable(Item::Kind a, Item::Kind b) {
    return is_date(a) ? is_date(b) : a == Item::Kind::time && b == Item::Kind::time;
}

}  // namespace

bool Machine::equal(Range a, Range b, Truth& out) {
    if (a.size() != b.size()) {
        out = Truth::no;
        return true;
    }
    out = Truth::yes;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        Truth one = Truth::unknown;
        if (!equal_items(at(a.begin + i), at(b.begin + i), one)) {
            return false;
        }
        if (one == Truth::no) {
            out = Truth::no;
            return true;
        }
        out = one == Truth::unknown ? one : out;
    }
    undecided_ = undecided_ || out == Truth::unknown;
    return true;
}

bool Machine::equal_items(const Item& a, const Item& b, Truth& out) {
    std::optional<Item> x;
    std::optional<Item> y;
    if (!step() || !system_value(a, x) || !system_value(b, y)) {
        return false;
    }
    out = Truth::no;
    if (!x || !y) {
        if (!x && !y && a.is_element() && b.is_element()) {
            bool same = false;
            if (!equal_json(a.sibling(), b.sibling(), false, same)) {
                return false;
            }
            out = truth(same);
        }
        return true;
    }
    if (x->kind() == Item::Kind::string && y->kind() == Item::Kind::string) {
        out = truth(x->as_string() == y->as_string());
        return step(x->as_string().size() / 64);
    }
    if (x->kind() == Item::Kind::integer && y->kind() == Item::Kind::integer) {
        out = truth(x->as_integer() == y->as_integer());
        return true;
    }
    if (is_number(*x) && is_number(*y)) {
        out = truth(decimal_of(*x) == decimal_of(*y));
        return true;
    }
    if (x->kind() == Item::Kind::quantity || y->kind() == Item::Kind::quantity) {
        const bool comparable = is_number_or_quantity(*x) && is_number_or_quantity(*y);
        // Parsing units is slower than other comparisons.
        if (!step(comparable ? 100 : 1)) {
            return false;
        }
        out = comparable ? truth(compare_quantities(as_quantity(*x), as_quantity(*y))) : Truth::no;
        return true;
    }
    if (are_comparable(x->kind(), y->kind())) {
        out = truth(fhirpath::compare(x->as_temporal(), y->as_temporal()));
        return true;
    }
    if (x->kind() != y->kind()) {
        return true;
    }
    switch (x->kind()) {
        case Item::Kind::boolean:
            out = truth(x->as_boolean() == y->as_boolean());
            return true;
        case Item::Kind::type_info:
            out = truth(x->type() == y->type() && x->kind_of_ == y->kind_of_);
            return true;
        case Item::Kind::element: {
            bool same = false;
            if (!equal_json(x->value(), y->value(), false, same)) {
                return false;
            }
            out = truth(same);
            return true;
        }
        default:
            return true;
    }
}

bool Machine::equal_json(json::Value a, json::Value b, bool equivalence, bool& out) {
    out = false;
    if (!step()) {
        return false;
    }
    if (!a || !b) {
        out = !a && !b;
        return true;
    }
    if (a.node().kind != b.node().kind) {
        return true;
    }
    if (a.raw().size() == b.raw().size()) {
        if (!step(a.raw().size() / 64)) {
            return false;
        }
        if (a.raw() == b.raw()) {
            out = true;
            return true;
        }
    }
    switch (a.node().kind) {
        case Kind::null:
        case Kind::boolean:
            return true;
        case Kind::number: {
            const std::optional<Decimal> x = Decimal::parse(a.raw());
            const std::optional<Decimal> y = Decimal::parse(b.raw());
            out = x && y && (equivalence ? equivalent_decimals(*x, *y) : *x == *y);
            return true;
        }
        case Kind::string:
            if (equivalence) {
                std::string_view x;
                std::string_view y;
                if (!string_of(a, x) || !string_of(b, y) || !step((x.size() + y.size()) / 16)) {
                    return false;
                }
                out = equivalent_strings(x, y);
            } else if (a.node().escaped || b.node().escaped) {
                out = a.string() == b.string();
            }
            return true;
        case Kind::array:
            if (a.size() != b.size()) {
                return true;
            }
            return equivalence ? equivalent_arrays(a, b, out) : equal_arrays(a, b, out);
        case Kind::object:
            return a.size() != b.size() || equal_objects(a, b, equivalence, out);
    }
    return true;
}

// Requires: both have the same size; also for the next function.
bool Machine::equal_arrays(json::Value a, json::Value b, bool& out) {
    auto other = b.elements().begin();
    for (const json::Value x : a.elements()) {
        bool same = false;
        if (!equal_json(x, *other, false, same)) {
            return false;
        }
        if (!same) {
            return true;
        }
        ++other;
    }
    out = true;
    return true;
}

bool Machine::equal_objects(json::Value a, json::Value b, bool equivalence, bool& out) {
    for (const auto [key, value] : a.members()) {
        bool same = false;
        if (!step(b.size())) {
            return false;
        }
        for (const auto [other_key, other] : b.members()) {
            if (key.raw() == other_key.raw()) {
                if (!equal_json(value, other, equivalence, same)) {
                    return false;
                }
                break;
            }
        }
        if (!same) {
            return true;
        }
    }
    out = true;
    return true;
}

// In any order; an element of b matches one of a only.
bool Machine::equivalent_arrays(json::Value a, json::Value b, bool& out) {
    std::vector<bool> taken(b.size());
    for (const json::Value x : a.elements()) {
        bool found = false;
        std::size_t k = 0;
        for (const json::Value y : b.elements()) {
            if (!found && !taken[k]) {
                if (!equal_json(x, y, true, found)) {
                    return false;
                }
                taken[k] = found;
            }
            ++k;
        }
        if (!step(b.size() / 8)) {
            return false;
        }
        if (!found) {
            return true;
        }
    }
    out = true;
    return true;
}

bool Machine::equivalent(Range a, Range b, bool& out) {
    out = a.size() == b.size();
    if (!out) {
        return true;
    }
    // In any order; an item of b matches one of a only.
    std::vector<bool> taken(a.size() > 1 ? b.size() : 0);
    std::uint32_t first = 0;  // all before it are taken
    for (std::uint32_t i = a.begin; i < a.end; ++i) {
        while (first < taken.size() && taken[first]) {
            ++first;
        }
        bool found = false;
        std::uint32_t skipped = 0;
        for (std::uint32_t k = first; k < b.size() && !found; ++k) {
            if (!taken.empty() && taken[k]) {
                ++skipped;
                continue;
            }
            if (!equivalent_items(at(i), at(b.begin + k), found)) {
                return false;
            }
            if (found && !taken.empty()) {
                taken[k] = true;
            }
        }
        if (!step(skipped / 8)) {
            return false;
        }
        if (!found) {
            out = false;
            return true;
        }
    }
    return true;
}

bool Machine::equivalent_items(const Item& a, const Item& b, bool& out) {
    std::optional<Item> x;
    std::optional<Item> y;
    out = false;
    if (!step() || !system_value(a, x) || !system_value(b, y)) {
        return false;
    }
    if (!x || !y) {
        return x || y || equal_json(a.sibling(), b.sibling(), true, out);
    }
    if (x->kind() == Item::Kind::string && y->kind() == Item::Kind::string) {
        out = equivalent_strings(x->as_string(), y->as_string());
        return step((x->as_string().size() + y->as_string().size()) / 16);
    }
    if (is_number(*x) && is_number(*y)) {
        out = equivalent_decimals(decimal_of(*x), decimal_of(*y));
    } else if (is_number_or_quantity(*x) && is_number_or_quantity(*y)) {
        out = equivalent_quantities(as_quantity(*x), as_quantity(*y));
        return step(100);
    } else if (is_temporal(x->kind()) && is_temporal(y->kind())) {
        out = fhirpath::equivalent(x->as_temporal(), y->as_temporal());
    } else if (x->is_element() && y->is_element()) {
        return equal_json(x->value(), y->value(), true, out);
    } else {
        Truth same = Truth::no;
        if (!equal_items(*x, *y, same)) {
            return false;
        }
        out = same == Truth::yes;
    }
    return true;
}

bool Machine::compare_items(const Item& a, const Item& b, Order& out) {
    std::optional<Item> x;
    std::optional<Item> y;
    if (!step() || !system_value(a, x) || !system_value(b, y)) {
        return false;
    }
    out = Order::unknown;
    if (!x || !y) {
        return true;
    }
    if (x->kind() == Item::Kind::integer && y->kind() == Item::Kind::integer) {
        out = order(x->as_integer() <=> y->as_integer());
        return true;
    }
    if (is_number(*x) && is_number(*y)) {
        out = order(decimal_of(*x) <=> decimal_of(*y));
        return true;
    }
    if (x->kind() == Item::Kind::string && y->kind() == Item::Kind::string) {
        if (!step(std::min(x->as_string().size(), y->as_string().size()) / 64)) {
            return false;
        }
        // Bytes of UTF-8 have the order of its characters.
        const int order_of_bytes = x->as_string().compare(y->as_string());
        out = order_of_bytes < 0 ? Order::less : order_of_bytes > 0 ? Order::greater : Order::equal;
        return true;
    }
    if (are_comparable(x->kind(), y->kind())) {
        out = fhirpath::compare(x->as_temporal(), y->as_temporal());
        undecided_ = undecided_ || out == Order::unknown;
        return true;
    }
    if (is_number_or_quantity(*x) && is_number_or_quantity(*y)) {
        out = compare_quantities(as_quantity(*x), as_quantity(*y));
        undecided_ = undecided_ || out == Order::unknown;
        return step(100);
    }
    return fail(type_name(*x) + " and " + type_name(*y) + " cannot be compared");
}

}  // namespace annals::fhirpath
