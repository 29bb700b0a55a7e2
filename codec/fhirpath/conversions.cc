// toX() and convertsToX(), and the functions for the current time.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Conversion", "Current date and time functions".

#include "codec/fhirpath/machine.h"
#include "core/base/text.h"

#include <algorithm>

namespace annals::fhirpath {
namespace {

struct Row {
    Function function;
    Item::Kind kind;
    bool tests;
};

constexpr auto kRows = std::to_array<Row>({
    {Function::to_boolean, Item::Kind::boolean, false},
    {Function::to_date, Item::Kind::date, false},
    {Function::to_date_time, Item::Kind::date_time, false},
    {Function::to_decimal, Item::Kind::decimal, false},
    {Function::to_integer, Item::Kind::integer, false},
    {Function::to_quantity, Item::Kind::quantity, false},
    {Function::to_string, Item::Kind::string, false},
    {Function::to_time, Item::Kind::time, false},
    {Function::converts_to_boolean, Item::Kind::boolean, true},
    {Function::converts_to_date, Item::Kind::date, true},
    {Function::converts_to_date_time, Item::Kind::date_time, true},
    {Function::converts_to_decimal, Item::Kind::decimal, true},
    {Function::converts_to_integer, Item::Kind::integer, true},
    {Function::converts_to_quantity, Item::Kind::quantity, true},
    {Function::converts_to_string, Item::Kind::string, true},
    {Function::converts_to_time, Item::Kind::time, true},
});

std::optional<bool> boolean_of(std::string_view text) {
    const std::string lower = ascii_lower(text.substr(0, 8));
    constexpr auto kTrue = std::to_array<std::string_view>({"true", "t", "yes", "y", "1", "1.0"});
    constexpr auto kFalse = std::to_array<std::string_view>({"false", "f", "no", "n", "0", "0.0"});
    if (std::ranges::find(kTrue, lower) != kTrue.end()) {
        return true;
    }
    return std::ranges::find(kFalse, lower) != kFalse.end() ? std::optional(false) : std::nullopt;
}

std::optional<Item> boolean_item(const Item& value) {
    std::optional<bool> result;
    if (value.kind() == Item::Kind::string) {
        result = boolean_of(value.as_string());
    } else if (is_number(value)) {
        const Decimal number = decimal_of(value);
        result = number == Decimal(1) ? std::optional(true)
                 : number.is_zero()   ? std::optional(false)
                                      : std::nullopt;
    }
    return result ? std::optional(Item::boolean(*result)) : std::nullopt;
}

// A number with a sign, and no exponent.
std::optional<Decimal> number_of(std::string_view text, bool integral) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) {
            return std::nullopt;
        }
    }
    if (text.find_first_of(integral ? "eE." : "eE") != std::string_view::npos) {
        return std::nullopt;
    }
    return Decimal::parse(text);
}

std::optional<Item> integer_item(const Item& value) {
    if (value.kind() == Item::Kind::boolean) {
        return Item::integer(value.as_boolean() ? 1 : 0);
    }
    const std::optional<Decimal> number =
        value.kind() == Item::Kind::string ? number_of(value.as_string(), true) : std::nullopt;
    const std::optional<std::int64_t> whole = number ? number->integer() : std::nullopt;
    return whole && *whole <= INT32_MAX && *whole >= INT32_MIN
               ? std::optional(Item::integer(*whole))
               : std::nullopt;
}

std::optional<Item> decimal_item(const Item& value) {
    switch (value.kind()) {
        case Item::Kind::boolean:
            return Item::decimal(Decimal(value.as_boolean() ? 1 : 0));
        case Item::Kind::integer:
            return Item::decimal(Decimal(value.as_integer()));
        case Item::Kind::string: {
            const std::optional<Decimal> number = number_of(value.as_string(), false);
            return number ? std::optional(Item::decimal(*number)) : std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

// `kind`: date, date_time or time.
std::optional<Item> temporal_item(const Item& value, Item::Kind kind) {
    std::optional<Temporal> result;
    if (value.kind() == Item::Kind::string) {
        const std::string_view text = value.as_string();
        result = kind == Item::Kind::time ? parse_time(text) : parse_date_time(text);
    } else if (is_temporal(value.kind()) && value.kind() != Item::Kind::time &&
               kind != Item::Kind::time) {
        result = value.as_temporal();
    }
    if (!result) {
        return std::nullopt;
    }
    if (kind == Item::Kind::date) {
        result->kind = Temporal::Kind::date;
        result->precision = std::min(result->precision, Temporal::Precision::day);
        result->zone = Temporal::kNoZone;
    } else if (kind == Item::Kind::date_time) {
        result->kind = Temporal::Kind::date_time;
    }
    return Item::temporal(*result);
}

std::string_view singular(std::string_view unit) {
    return is_calendar_keyword(unit) && unit.ends_with('s') ? unit.substr(0, unit.size() - 1)
                                                            : unit;
}

// 4.5, 4.5 'mg' or 4 days; by N1's pattern the blanks are optional, and allowed even without a unit.
std::optional<Quantity> quantity_from(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("+-0123456789."), text.size());
    const std::optional<Decimal> value = number_of(text.substr(0, digits), false);
    if (!value) {
        return std::nullopt;
    }
    std::string_view rest = text.substr(digits);
    const std::size_t blank = rest.find_first_not_of(" \t\r\n");
    if (blank == std::string_view::npos) {
        return Quantity{*value, "1", false};
    }
    rest.remove_prefix(blank);
    if (rest.size() > 2 && rest.starts_with('\'') && rest.find('\'', 1) == rest.size() - 1) {
        return Quantity{*value, rest.substr(1, rest.size() - 2), false};
    }
    return is_calendar_keyword(rest) ? std::optional(Quantity{*value, rest, true}) : std::nullopt;
}

}  // namespace

bool Machine::convert(const Node& node, const Scope& scope, Range input) {
    const Row& row = *std::ranges::find(kRows, node.function, &Row::function);
    std::optional<Item> value;
    if (!single(input, value, "a value to convert")) {
        return false;
    }
    std::optional<std::string_view> unit;
    if (node.count > 0 && !string_argument(node, 0, scope, unit)) {
        return false;
    }
    if (!value) {
        return true;
    }
    if (value->kind() == Item::Kind::string && !step(value->as_string().size() / 16)) {
        return false;
    }
    std::optional<Item> converted;
    if (row.kind == Item::Kind::quantity ? !to_quantity(*value, unit, converted)
                                         : !to_kind(*value, row.kind, converted)) {
        return false;
    }
    if (row.tests) {
        return push(Item::boolean(converted.has_value()));
    }
    return !converted || push(*converted);
}

bool Machine::to_kind(const Item& value, Item::Kind kind, std::optional<Item>& out) {
    out.reset();
    if (value.is_element() || value.kind() == Item::Kind::type_info) {
        return true;
    }
    if (value.kind() == kind) {
        out = value;
        return true;
    }
    if (kind == Item::Kind::string) {
        scratch_.clear();
        append_text(scratch_, value);
        std::string_view kept;
        if (!keep(scratch_, kept)) {
            return false;
        }
        out = Item::string(kept);
        return true;
    }
    out = kind == Item::Kind::boolean   ? boolean_item(value)
          : kind == Item::Kind::integer ? integer_item(value)
          : kind == Item::Kind::decimal ? decimal_item(value)
                                        : temporal_item(value, kind);
    return true;
}

bool Machine::to_quantity(const Item& value, std::optional<std::string_view> unit,
                          std::optional<Item>& out) {
    out.reset();
    std::optional<Quantity> quantity;
    switch (value.kind()) {
        case Item::Kind::quantity:
        case Item::Kind::integer:
        case Item::Kind::decimal:
            quantity = as_quantity(value);
            break;
        case Item::Kind::boolean:
            quantity = Quantity{Decimal(value.as_boolean() ? 1 : 0), "1", false};
            break;
        case Item::Kind::string:
            quantity = quantity_from(value.as_string());
            break;
        default:
            break;
    }
    if (quantity && unit && singular(quantity->unit) != singular(*unit)) {
        const auto parsed = [](std::string_view name) {
            return is_calendar_keyword(name) ? calendar_unit(name) : parse_unit(name);
        };
        const std::optional<Unit> from = parsed(quantity->unit);
        const std::optional<Unit> to = parsed(*unit);
        const std::optional<Decimal> converted =
            from && to ? fhirpath::convert(quantity->value, *from, *to) : std::nullopt;
        if (!converted) {
            undecided_ = undecided_ || !from || !to;
            return true;
        }
        quantity = Quantity{*converted, *unit, is_calendar_keyword(*unit)};
    }
    if (!quantity) {
        return true;
    }
    char* memory = allocate(sizeof(Quantity));
    if (memory == nullptr) {
        return false;
    }
    out = Item::quantity(*new (memory) Quantity(*quantity));
    return true;
}

bool Machine::push_now(Function function) {
    // The same instant throughout an evaluation.
    if (!now_) {
        now_ = annals::now();
    }
    Temporal now = date_time_of(now_->us);
    if (function == Function::today) {
        now.kind = Temporal::Kind::date;
        now.precision = Temporal::Precision::day;
        now.zone = Temporal::kNoZone;
    } else if (function == Function::time_of_day) {
        now.kind = Temporal::Kind::time;
        now.zone = Temporal::kNoZone;
    }
    return push(Item::temporal(now));
}

}  // namespace annals::fhirpath
