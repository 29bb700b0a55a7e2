#include "core/config/units.h"

#include "core/base/ascii.h"

#include <fmt/format.h>

#include <limits>
#include <span>

namespace annals::core {

namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr Unit kDurationUnits[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kSizeUnits[] = {{"B", 1},
                               {"kB", 1000},
                               {"MB", 1000'000},
                               {"GB", 1000'000'000},
                               {"KiB", 1ULL << 10},
                               {"MiB", 1ULL << 20},
                               {"GiB", 1ULL << 30}};

/// Reads a value such as "250ms": digits, an optional blank, a unit.
std::optional<std::uint64_t> read_with_unit(std::string_view text, std::span<const Unit> units) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::uint64_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) {
        const auto digit = static_cast<std::uint64_t>(text[digits] - '0');
        if (number > (kMax - digit) / 10) {
            return {};
        }
        number = number * 10 + digit;
        ++digits;
    }
    if (digits == 0) {
        return {};
    }
    text.remove_prefix(digits);
    if (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    for (const Unit& unit : units) {
        if (text == unit.name) {
            return number > kMax / unit.factor ? std::nullopt : std::optional(number * unit.factor);
        }
    }
    return {};
}

std::string in_units(std::uint64_t number, std::span<const Unit> units) {
    const Unit* best = nullptr;
    for (const Unit& unit : units) {
        if (number != 0 && number % unit.factor == 0 &&
            (best == nullptr || unit.factor > best->factor)) {
            best = &unit;
        }
    }
    return best == nullptr ? fmt::format("{}{}", number, units.front().name)
                           : fmt::format("{}{}", number / best->factor, best->name);
}

}  // namespace

std::optional<std::uint64_t> read_duration(std::string_view text) {
    return read_with_unit(text, kDurationUnits);
}

std::optional<std::uint64_t> read_size(std::string_view text) {
    return read_with_unit(text, kSizeUnits);
}

std::string duration_text(std::uint64_t milliseconds) {
    return in_units(milliseconds, kDurationUnits);
}

std::string size_text(std::uint64_t bytes) {
    return in_units(bytes, kSizeUnits);
}

}  // namespace annals::core
