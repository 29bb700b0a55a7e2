// Operators: comparisons, arithmetic, types.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 section "Operations".

#include "codec/fhirpath/machine.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

std::string_view symbol(Op op) {
    switch (op) {
        case Op::multiply:
            return "*";
        case Op::divide:
            return "/";
        case Op::div:
            return "div";
        case Op::mod:
            return "mod";
        case Op::add:
            return "+";
        case Op::subtract:
            return "-";
        case Op::concatenate:
            return "&";
        default:
            return "an operator";
    }
}

}  // namespace

bool Machine::single(Range range, std::optional<Item>& out, std::string_view what) {
    if (range.size() > 1) {
        return fail("several items as " + std::string(what) + ", which takes one");
    }
    out.reset();
    return range.size() == 0 || system_value(at(range.begin), out);
}

bool Machine::binary(const Node& node, const Scope& scope) {
    const std::uint32_t mark = top_;
    if (!evaluate(node.a, scope)) {
        return false;
    }
    const std::uint32_t middle = top_;
    if (!evaluate(node.value, scope)) {
        return false;
    }
    const Range a{mark, middle};
    const Range b{middle, top_};
    switch (node.op) {
        case Op::union_:
            return environment_->union_keeps_equal || distinct({mark, top_}, mark);
        case Op::equal:
        case Op::not_equal: {
            Truth truth = Truth::unknown;
            if (a.size() > 0 && b.size() > 0 && !equal(a, b, truth)) {
                return false;
            }
            top_ = mark;
            if (node.op == Op::not_equal && truth != Truth::unknown) {
                truth = truth == Truth::yes ? Truth::no : Truth::yes;
            }
            return push_truth(truth);
        }
        case Op::equivalent:
        case Op::not_equivalent: {
            bool same = false;
            if (!equivalent(a, b, same)) {
                return false;
            }
            top_ = mark;
            return push(Item::boolean(same == (node.op == Op::equivalent)));
        }
        case Op::in:
        case Op::contains: {
            const Range one = node.op == Op::in ? a : b;
            const Range many = node.op == Op::in ? b : a;
            if (one.size() > 1) {
                return fail("several items where in and contains take one");
            }
            bool found = false;
            const bool known = one.size() == 1;
            if (known && !contains(many, at(one.begin), found)) {
                return false;
            }
            top_ = mark;
            return !known || push(Item::boolean(found));
        }
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
            return compare(node, a, b);
        default:
            return arithmetic(node, a, b);
    }
}

bool Machine::compare(const Node& node, Range a, Range b) {
    Truth truth = Truth::unknown;
    if (a.size() > 1 || b.size() > 1) {
        return fail("several items where a comparison takes one");
    }
    if (a.size() == 1 && b.size() == 1) {
        Order order = Order::unknown;
        if (!compare_items(at(a.begin), at(b.begin), order)) {
            return false;
        }
        if (order != Order::unknown) {
            const bool yes = node.op == Op::less         ? order == Order::less
                             : node.op == Op::less_equal ? order != Order::greater
                             : node.op == Op::greater    ? order == Order::greater
                                                         : order != Order::less;
            truth = yes ? Truth::yes : Truth::no;
        }
    }
    top_ = a.begin;
    return push_truth(truth);
}

bool Machine::arithmetic(const Node& node, Range a, Range b) {
    std::optional<Item> x;
    std::optional<Item> y;
    if (!single(a, x, symbol(node.op)) || !single(b, y, symbol(node.op))) {
        return false;
    }
    top_ = a.begin;
    if (node.op == Op::concatenate) {
        if ((x && x->kind() != Item::Kind::string) || (y && y->kind() != Item::Kind::string)) {
            return fail("& joins strings only");
        }
        std::string text;
        text += x ? x->as_string() : std::string_view();
        text += y ? y->as_string() : std::string_view();
        return push_text(text);
    }
    if (!x || !y) {
        return true;
    }
    if (is_number(*x) && is_number(*y)) {
        return numbers(node, decimal_of(*x), decimal_of(*y),
                       x->kind() == Item::Kind::integer && y->kind() == Item::Kind::integer);
    }
    const bool has_quantity =
        x->kind() == Item::Kind::quantity || y->kind() == Item::Kind::quantity;
    if (has_quantity && is_number_or_quantity(*x) && is_number_or_quantity(*y)) {
        const Quantity left = as_quantity(*x);
        const Quantity right = as_quantity(*y);
        return step(100) && quantities(node, left, right);
    }
    if (node.op == Op::add && x->kind() == Item::Kind::string && y->kind() == Item::Kind::string) {
        std::string text(x->as_string());
        text += y->as_string();
        return push_text(text);
    }
    if ((node.op == Op::add || node.op == Op::subtract) && is_temporal(x->kind()) &&
        y->kind() == Item::Kind::quantity) {
        return add_duration(node, x->as_temporal(), y->as_quantity());
    }
    return fail(type_name(*x) + " " + std::string(symbol(node.op)) + " " + type_name(*y) +
                " has no meaning");
}

bool Machine::numbers(const Node& node, const Decimal& a, const Decimal& b, bool integers) {
    std::optional<Decimal> result;
    bool integer = integers;
    switch (node.op) {
        case Op::multiply:
            result = Decimal::multiply(a, b);
            break;
        case Op::divide:
            if (!step(5)) {
                return false;
            }
            result = Decimal::divide(a, b);
            integer = false;
            break;
        case Op::div:
            result = Decimal::divide_whole(a, b);
            integer = integers || (result && result->integer() && *result->integer() <= INT32_MAX &&
                                   *result->integer() >= INT32_MIN);
            break;
        case Op::mod:
            result = Decimal::remainder(a, b);
            break;
        case Op::add:
            result = Decimal::add(a, b);
            break;
        case Op::subtract:
            result = Decimal::subtract(a, b);
            break;
        default:
            return fail(std::string(symbol(node.op)) + " does not apply to numbers");
    }
    // Overflow and division by zero yield an empty collection.
    if (!result) {
        return true;
    }
    if (!integer) {
        return push(Item::decimal(*result));
    }
    const std::optional<std::int64_t> whole = result->integer();
    return !whole || *whole > INT32_MAX || *whole < INT32_MIN || push(Item::integer(*whole));
}

bool Machine::quantities(const Node& node, const Quantity& a, const Quantity& b) {
    switch (node.op) {
        case Op::add:
        case Op::subtract:
            return add_quantities(node, a, b);
        case Op::multiply:
        case Op::divide:
            return multiply_quantities(node, a, b);
        default:
            return fail(std::string(symbol(node.op)) + " does not apply to quantities");
    }
}

bool Machine::add_quantities(const Node& node, const Quantity& a, const Quantity& b) {
    Quantity result = a;
    std::optional<Decimal> left = a.value;
    std::optional<Decimal> right = b.value;
    if (a.unit != b.unit) {
        const std::optional<Unit> x = unit_of(a);
        const std::optional<Unit> y = unit_of(b);
        // A mass and a length are known to have no sum.
        const bool differ = x && y && !x->same_dimension(*y);
        const std::optional<int> larger = x && y && !differ ? compare_size(*x, *y) : std::nullopt;
        if (!larger) {
            undecided_ = undecided_ || !differ;
            return true;
        }
        // The result has the finer of the two units.
        if (*larger > 0) {
            left = fhirpath::convert(a.value, *x, *y);
            result = b;
        } else if (*larger < 0) {
            right = fhirpath::convert(b.value, *y, *x);
        }
    }
    if (!left || !right) {
        return true;
    }
    const std::optional<Decimal> value =
        node.op == Op::add ? Decimal::add(*left, *right) : Decimal::subtract(*left, *right);
    return !value || push_quantity({*value, result.unit, result.calendar});
}

bool Machine::multiply_quantities(const Node& node, const Quantity& a, const Quantity& b) {
    const bool divide = node.op == Op::divide;
    std::optional<Decimal> value =
        divide ? Decimal::divide(a.value, b.value) : Decimal::multiply(a.value, b.value);
    if (!value) {
        return true;
    }
    if (b.unit == "1") {
        return push_quantity({*value, a.unit, a.calendar});
    }
    if (a.unit == "1" && !divide) {
        return push_quantity({*value, b.unit, b.calendar});
    }
    if (a.unit == b.unit && divide) {
        return push_quantity({*value, "1"});
    }
    // The result is in base units.
    const std::optional<Unit> x = unit_of(a);
    const std::optional<Unit> y = unit_of(b);
    const std::optional<Unit> unit = x && y ? combine(*x, *y, divide) : std::nullopt;
    Unit base;
    if (unit) {
        base.powers = unit->powers;
        base.arbitrary = unit->arbitrary;
    }
    const std::string text = unit ? base_text(base) : std::string();
    if (text.empty()) {
        // One of the units is not known here, or that of the result can't be written.
        undecided_ = true;
        return true;
    }
    value = fhirpath::convert(*value, *unit, base);
    std::string_view kept;
    return !value || (keep(text, kept) && push_quantity({*value, kept}));
}

bool Machine::add_duration(const Node& node, const Temporal& value, const Quantity& quantity) {
    struct Row {
        std::string_view keyword;
        std::string_view code;
        Calendar unit;
    };

    // UCUM's years and months are numbers of seconds, which can't be added to dates.
    static constexpr auto kRows = std::to_array<Row>({
        {"year", "", Calendar::year},
        {"month", "", Calendar::month},
        {"week", "wk", Calendar::week},
        {"day", "d", Calendar::day},
        {"hour", "h", Calendar::hour},
        {"minute", "min", Calendar::minute},
        {"second", "s", Calendar::second},
        {"millisecond", "ms", Calendar::millisecond},
    });
    std::string_view unit = quantity.unit;
    const auto code = std::ranges::find(kRows, unit, &Row::code);
    if (unit.ends_with('s') && unit.size() > 2) {
        unit.remove_suffix(1);
    }
    const auto keyword = std::ranges::find(kRows, unit, &Row::keyword);
    const auto row = keyword != kRows.end() ? keyword : code;
    if (row == kRows.end() || quantity.unit.empty()) {
        return fail("a date or time moves by years to milliseconds only");
    }
    if (value.kind == Temporal::Kind::time && row->unit < Calendar::hour) {
        return fail("a time moves by hours to milliseconds only");
    }
    const Decimal signed_value =
        node.op == Op::subtract ? quantity.value.negated() : quantity.value;
    const std::optional<std::int64_t> count = signed_value.integer();
    const std::optional<Temporal> result =
        count ? fhirpath::add(value, *count, row->unit) : std::nullopt;
    return !result || push(Item::temporal(*result));
}

bool Machine::negate(const Node& node, const Scope& scope) {
    const Node& inner = program_->nodes[node.a];
    if (node.op == Op::negative && inner.op == Op::literal &&
        program_->constants[inner.value].kind() == Item::Kind::integer) {
        // Includes the least integer, which has no positive counterpart.
        return push(Item::integer(-program_->constants[inner.value].as_integer()));
    }
    const std::uint32_t mark = top_;
    if (!evaluate(node.a, scope)) {
        return false;
    }
    std::optional<Item> value;
    if (!single({mark, top_}, value, node.op == Op::negative ? "-" : "+")) {
        return false;
    }
    top_ = mark;
    if (!value) {
        return true;
    }
    const bool negative = node.op == Op::negative;
    switch (value->kind()) {
        case Item::Kind::integer:
            return negative && value->as_integer() <= INT32_MIN
                       ? true
                       : push(Item::integer(negative ? -value->as_integer() : value->as_integer()));
        case Item::Kind::decimal:
            return push(
                Item::decimal(negative ? value->as_decimal().negated() : value->as_decimal()));
        case Item::Kind::quantity: {
            Quantity quantity = value->as_quantity();
            quantity.value = negative ? quantity.value.negated() : quantity.value;
            return push_quantity(quantity);
        }
        default:
            return fail("a sign before " + type_name(*value));
    }
}

bool Machine::type_operator(const Node& node, const Scope& scope) {
    const TypeSpecifier& type = program_->types[node.value];
    const std::uint32_t mark = top_;
    if (node.a == kNone) {
        if (scope.has_self && !push(scope.self)) {
            return false;
        }
    } else if (!evaluate(node.a, scope)) {
        return false;
    }
    if (!type.known) {
        return fail("no type " + std::string(type.name.substr(0, 60)));
    }
    if (node.op == Op::is) {
        if (top_ - mark > 1) {
            return fail("several items where is takes one");
        }
        if (top_ == mark) {
            return true;
        }
        const bool yes = is_type(at(mark), type);
        top_ = mark;
        return push(Item::boolean(yes));
    }
    if (node.op == Op::as && node.function == Function::as && environment_->strict_as &&
        top_ - mark > 1) {
        return fail("several items where as() takes one");
    }
    std::uint32_t kept = mark;
    for (std::uint32_t i = mark; i < top_; ++i) {
        if (is_exactly(at(i), type)) {
            stack_[kept++] = at(i);
        }
    }
    const std::uint32_t count = top_ - mark;
    top_ = kept;
    return step(count);
}

}  // namespace annals::fhirpath
