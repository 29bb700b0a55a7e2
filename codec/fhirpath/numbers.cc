// Functions on numbers, and boundaries and precision of inexact values.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Math"; its later drafts for lowBoundary(), highBoundary(), precision(), comparable().

#include "codec/fhirpath/machine.h"

#include <cmath>

namespace annals::fhirpath {
namespace {

std::optional<Decimal> power(const Decimal& base, const Decimal& exponent) {
    const std::optional<std::int64_t> whole = exponent.integer();
    if (whole && exponent.is_integral() && *whole >= 0 && *whole <= 1024) {
        // Exact, by squaring, as long as there are enough digits.
        std::optional<Decimal> result = Decimal(1);
        std::optional<Decimal> square = base;
        for (std::int64_t rest = *whole; rest > 0; rest /= 2) {
            if (rest % 2 == 1) {
                result = result && square ? Decimal::multiply(*result, *square) : std::nullopt;
            }
            if (rest > 1) {
                square = square ? Decimal::multiply(*square, *square) : std::nullopt;
            }
        }
        return result;
    }
    return Decimal::from_double(std::pow(base.to_double(), exponent.to_double()));
}

// The least or greatest number with `digits` decimals that rounds to `value`.
std::optional<Decimal> boundary(const Decimal& value, std::int64_t digits, bool high) {
    if (digits < 0 || digits > Decimal::kScaleMax) {
        return std::nullopt;
    }
    const auto scale = static_cast<int>(digits);
    if (value.scale() + 1 > Decimal::kScaleMax) {
        return std::nullopt;
    }
    const Decimal half(5, value.scale() + 1);
    const std::optional<Decimal> edge =
        high ? Decimal::add(value, half) : Decimal::subtract(value, half);
    // A value without any digit in that precision stays zero.
    const std::optional<Decimal> cut = value.truncated(scale);
    if (!edge || !cut) {
        return std::nullopt;
    }
    if (cut->is_zero() && !value.is_zero()) {
        return cut;
    }
    return high ? edge->ceiling(scale) : edge->floor(scale);
}

}  // namespace

bool Machine::on_number(const Node& node, const Scope& scope, Range input) {
    std::optional<Item> value;
    if (!single(input, value, "a number")) {
        return false;
    }
    std::optional<Item> given;
    if (node.count > 0 && !argument(node, 0, scope, given)) {
        return false;
    }
    if (!value || (node.count > 0 && !given)) {
        return true;
    }
    const bool quantity = value->kind() == Item::Kind::quantity;
    if (quantity && node.function == Function::abs) {
        Quantity result = value->as_quantity();
        result.value = result.value.is_negative() ? result.value.negated() : result.value;
        return push_quantity(result);
    }
    if (!is_number(*value) || (node.count > 0 && !is_number(*given))) {
        return fail("a function of numbers on " + type_name(is_number(*value) ? *given : *value));
    }
    const Decimal number = decimal_of(*value);
    const bool integer = value->kind() == Item::Kind::integer;
    std::optional<Decimal> result;
    const auto push_integer = [&] {
        const std::optional<std::int64_t> whole =
            result ? result->integer() : std::optional<std::int64_t>();
        return !whole || *whole > INT32_MAX || *whole < INT32_MIN || push(Item::integer(*whole));
    };
    const bool takes_long = node.function == Function::sqrt || node.function == Function::exp ||
                            node.function == Function::ln || node.function == Function::log ||
                            node.function == Function::power;
    // A decimal is made of a double's digits, or there are up to twenty multiplications.
    if (takes_long && !step(50)) {
        return false;
    }
    switch (node.function) {
        case Function::abs:
            result = number.is_negative() ? number.negated() : number;
            if (integer) {
                return push_integer();
            }
            break;
        case Function::ceiling:
            result = number.ceiling();
            return push_integer();
        case Function::floor:
            result = number.floor();
            return push_integer();
        case Function::truncate:
            result = number.truncated();
            return push_integer();
        case Function::round: {
            const Decimal places = node.count > 0 ? decimal_of(*given) : Decimal(0);
            if (places.is_negative()) {
                return fail("round() to a negative number of decimals");
            }
            const std::optional<std::int64_t> count = places.integer();
            result = !count || *count >= number.scale() ? number
                                                        : number.rounded(static_cast<int>(*count));
            break;
        }
        case Function::sqrt:
            result = Decimal::from_double(std::sqrt(number.to_double()));
            break;
        case Function::exp:
            result = Decimal::from_double(std::exp(number.to_double()));
            break;
        case Function::ln:
            result = Decimal::from_double(std::log(number.to_double()));
            break;
        case Function::log:
            // log(0) is minus infinity, by which the result would be 0.
            result = decimal_of(*given).is_zero()
                         ? std::nullopt
                         : Decimal::from_double(std::log(number.to_double()) /
                                                std::log(decimal_of(*given).to_double()));
            break;
        case Function::power:
            result = power(number, decimal_of(*given));
            if (integer && given->kind() == Item::Kind::integer &&
                !decimal_of(*given).is_negative()) {
                return push_integer();
            }
            break;
        default:
            break;
    }
    return !result || push(Item::decimal(*result));
}

bool Machine::comparable(const Node& node, const Scope& scope, Range input) {
    std::optional<Item> value;
    std::optional<Item> other;
    if (!single(input, value, "a value") || !argument(node, 0, scope, other)) {
        return false;
    }
    if (!value || !other) {
        return true;
    }
    if (value->kind() != Item::Kind::quantity || other->kind() != Item::Kind::quantity) {
        return fail("comparable() compares quantities");
    }
    const std::optional<Unit> a = unit_of(value->as_quantity());
    const std::optional<Unit> b = unit_of(other->as_quantity());
    return push(Item::boolean(a && b && a->same_dimension(*b)));
}

bool Machine::boundaries(const Node& node, const Scope& scope, Range input) {
    std::optional<Item> value;
    if (!single(input, value, "a value")) {
        return false;
    }
    std::optional<std::int64_t> given;
    if (node.count > 0 && !integer_argument(node, 0, scope, given)) {
        return false;
    }
    if (!value) {
        return true;
    }
    if (node.function == Function::precision) {
        if (value->kind() == Item::Kind::decimal) {
            return push(Item::integer(value->as_decimal().decimals()));
        }
        if (is_temporal(value->kind())) {
            return push(Item::integer(precision_digits(value->as_temporal())));
        }
        return value->kind() == Item::Kind::integer ? push(Item::integer(0))
                                                    : fail("precision() of " + type_name(*value));
    }
    const bool high = node.function == Function::high_boundary;
    if (is_number(*value)) {
        const std::optional<Decimal> result = boundary(decimal_of(*value), given.value_or(8), high);
        return !result || push(Item::decimal(*result));
    }
    if (value->kind() == Item::Kind::quantity) {
        Quantity quantity = value->as_quantity();
        const std::optional<Decimal> result = boundary(quantity.value, given.value_or(8), high);
        if (!result) {
            return true;
        }
        quantity.value = *result;
        return push_quantity(quantity);
    }
    if (!is_temporal(value->kind())) {
        return fail("boundaries of " + type_name(*value));
    }
    const std::int64_t digits = given.value_or(value->kind() == Item::Kind::date   ? 8
                                               : value->kind() == Item::Kind::time ? 9
                                                                                   : 17);
    if (digits < 0 || digits > 17) {
        return true;
    }
    const std::optional<Temporal> result =
        fhirpath::boundary(value->as_temporal(), static_cast<int>(digits), high);
    return !result || push(Item::temporal(*result));
}

}  // namespace annals::fhirpath
