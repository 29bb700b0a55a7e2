#include "codec/fhirpath/ucum.h"
#include "core/search/ranges.h"
#include "core/search/reading.h"

#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

namespace annals::core::search {

namespace {

using fhirpath::Decimal;
using fhirpath::kUcum;
using fhirpath::Unit;

// How many conditions it counts for: it is bound to every unit that occurs before the clock is checked again.
constexpr std::size_t kConditions = 100;

// What a number is compared with (search.html#number): for equality the range implied by its digits, otherwise the
// exact number. For `ap`: a tenth of it in both directions, or what its digits cover.
Range asked_range(Comparison comparison, const Number& number) {
    switch (comparison) {
        case Comparison::eq:
        case Comparison::ne:
            return number.range;
        case Comparison::ap: {
            const double tenth = std::abs(number.value) / 10;
            return {std::min(number.range.low, ordered(number.value - tenth)),
                    std::max(number.range.high, ordered(number.value + tenth))};
        }
        default:
            return {ordered(number.value), ordered(number.value)};
    }
}

// A unit, and the offset of its zero from the zero of its dimension: not 0 for temperatures.
struct Scale {
    Unit unit;
    Decimal zero;
};

std::optional<Scale> read_scale(std::string_view code) {
    const bool celsius = code == "Cel";
    const bool fahrenheit = code == "[degF]";
    auto unit = fhirpath::parse_unit(celsius || fahrenheit ? "K" : code);
    const auto zero = Decimal::parse(celsius ? "273.15" : fahrenheit ? "459.67" : "0");
    if (!unit || !zero) {
        return std::nullopt;
    }
    if (fahrenheit) {
        unit->numerator = Decimal(5);
        unit->denominator = Decimal(9);
    }
    return Scale{*unit, *zero};
}

std::optional<double> converted(double value, const Scale& from, const Scale& to) {
    // Decimals are exact, but have at most 28 places: if neither unit has an offset, only the digits are converted, and
    // the power of ten is applied separately.
    const bool is_factor = from.zero.is_zero() && to.zero.is_zero();
    std::array<char, 32> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value,
                      is_factor ? std::chars_format::scientific : std::chars_format::general);
    std::string_view digits(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
    const std::string_view power =
        is_factor ? digits.substr(std::min(digits.find('e'), digits.size())) : std::string_view();
    digits.remove_suffix(power.size());
    const auto decimal = Decimal::parse(digits);
    const auto above = decimal ? Decimal::add(*decimal, from.zero) : std::nullopt;
    const auto there = above ? fhirpath::convert(*above, from.unit, to.unit) : std::nullopt;
    const auto result = there ? Decimal::subtract(*there, to.zero) : std::nullopt;
    if (!result) {
        return std::nullopt;
    }
    std::array<char, Decimal::kCharsMax + 8> out;
    const std::size_t size = result->write(out.data());
    power.copy(out.data() + size, power.size());
    return number_value({out.data(), size + power.size()});
}

// Converts both ends to another unit. A range that ends just before a number still does so afterwards.
std::optional<Range> converted(Range range, const Scale& from, const Scale& to) {
    const bool point = range.low == range.high;
    const auto low = converted(number_of(range.low), from, to);
    const auto high = point ? low : converted(number_of(range.high + 1), from, to);
    if (!low || !high) {
        return std::nullopt;
    }
    return Range{ordered(*low), point ? ordered(*low) : ordered(*high) - 1};
}

// The parts of a unit's text in the index: system, code, and the human-readable unit.
struct UnitText {
    std::string_view system;
    std::string_view code;
    std::string_view unit;
};

UnitText read_unit(std::string_view text) {
    const std::size_t first = text.find('\x1F');
    if (first == std::string_view::npos) {
        return {};
    }
    const std::size_t second = text.find('\x1F', first + 1);
    if (second == std::string_view::npos) {
        return {};
    }
    return {text.substr(0, first), text.substr(first + 1, second - first - 1),
            text.substr(second + 1)};
}

// The UCUM unit of this text. There are few, so parsed ones are cached. Lifetime: until the next call.
const std::optional<Scale>& ucum_scale(std::string_view text) {
    constexpr std::size_t kKeptMax = 1000;
    thread_local std::map<std::string, std::optional<Scale>, std::less<>> kept;
    const auto known = kept.find(text);
    if (known != kept.end()) {
        return known->second;
    }
    if (kept.size() == kKeptMax) {
        kept.clear();
    }
    return kept.emplace(text, read_scale(text)).first->second;
}

// `value|system|code`: the same unit, or any UCUM unit of the same dimension.
std::function<std::optional<Range>(std::string_view)> in_units_of(std::string system,
                                                                  std::string code, Range range) {
    const auto from = system == kUcum ? ucum_scale(code) : std::nullopt;
    return [system = std::move(system), code = std::move(code), range,
            from](std::string_view text) -> std::optional<Range> {
        const UnitText unit = read_unit(text);
        if (unit.system != system) {
            return std::nullopt;
        }
        if (unit.code == code || code.empty()) {
            return range;
        }
        if (!from) {
            return std::nullopt;
        }
        const std::optional<Scale>& to = ucum_scale(unit.code);
        return to ? converted(range, *from, *to) : std::nullopt;
    };
}

// `value||code`: the unit's code or human-readable name; without a name, any unit.
std::function<std::optional<Range>(std::string_view)> in_units_called(std::string name,
                                                                      Range range) {
    if (name.empty()) {
        return [range](std::string_view) { return range; };
    }
    return [name = std::move(name), range](std::string_view text) -> std::optional<Range> {
        const UnitText unit = read_unit(text);
        return unit.code == name || unit.unit == name ? std::optional(range) : std::nullopt;
    };
}

}  // namespace

Result<Plan> number_plan(const Asked& asked, Comparison comparison, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    const auto number = number_range(value);
    if (!number) {
        return asked.bad("a number is needed");
    }
    return interval(asked.parameter.column, comparison, asked_range(comparison, *number));
}

Result<Plan> number_plan(const Asked& asked, std::string_view value) {
    const Prefixed prefixed = take_prefix(value);
    return number_plan(asked, prefixed.comparison, prefixed.rest);
}

Result<Plan> quantity_plan(const Asked& asked, Comparison comparison, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    const auto parts = split_unescaped(value, '|');
    const auto number = number_range(parts[0]);
    if (!number || parts.size() == 2 || parts.size() > 3) {
        return asked.bad("number, number|system|code or number||code is needed");
    }
    ANNALS_TRY_VOID(asked.reading.spend(kConditions));
    Plan plan = interval(asked.parameter.column, comparison, asked_range(comparison, *number));
    auto system = parts.size() == 3 ? unescape(parts[1]) : std::string();
    auto code = parts.size() == 3 ? unescape(parts[2]) : std::string();
    if (!system || !code) {
        return asked.bad("unknown escape");
    }
    plan.kind = Plan::Kind::quantity;
    plan.in_unit = system->empty() ? in_units_called(*std::move(code), plan.range)
                                   : in_units_of(*std::move(system), *std::move(code), plan.range);
    return plan;
}

Result<Plan> quantity_plan(const Asked& asked, std::string_view value) {
    const Prefixed prefixed = take_prefix(value);
    return quantity_plan(asked, prefixed.comparison, prefixed.rest);
}

}  // namespace annals::core::search
