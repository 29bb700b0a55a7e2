#include "core/search/ranges.h"

#include "core/base/ascii.h"
#include "core/base/instant.h"
#include "core/search/terms.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace annals::core::search {

namespace {

constexpr std::size_t kNumberCharsMax = 64;

/// The parts of -?digits[.digits][(e|E)[+-]digits]: the digits without the point, and the power of ten of the last digit.
struct DecimalParts {
    bool negative = false;
    std::array<char, kNumberCharsMax + 2> digits{};
    std::size_t size = 0;
    int power = 0;
    int exponent = 0;
};

std::optional<DecimalParts> read_decimal(std::string_view text) {
    if (text.size() > kNumberCharsMax) {
        return {};
    }
    DecimalParts decimal;
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
        decimal.negative = text[at] == '-';
        ++at;
    }
    const auto take_digits = [&] {
        const std::size_t from = at;
        for (; at < text.size() && is_digit(text[at]); ++at) {
            decimal.digits[decimal.size++] = text[at];
        }
        return at - from;
    };
    if (take_digits() == 0) {
        return {};
    }
    if (at < text.size() && text[at] == '.') {
        ++at;
        const std::size_t fraction = take_digits();
        if (fraction == 0) {
            return {};
        }
        decimal.power = -static_cast<int>(fraction);
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && text[at] == '+') {
            ++at;
            if (at < text.size() && text[at] == '-') {
                return {};  // from_chars() would accept it
            }
        }
        const auto [end, error] =
            std::from_chars(text.data() + at, text.data() + text.size(), decimal.exponent);
        if (error != std::errc() || decimal.exponent < -400 || decimal.exponent > 400) {
            return {};
        }
        at = static_cast<std::size_t>(end - text.data());
        decimal.power += decimal.exponent;
    }
    return at == text.size() ? std::optional(decimal) : std::nullopt;
}

/// digits * 10^power, rounded once.
std::optional<double> to_double(const DecimalParts& decimal, std::string_view digits, int power) {
    std::array<char, kNumberCharsMax + 16> text;
    std::size_t size = 0;
    if (decimal.negative) {
        text[size++] = '-';
    }
    size += digits.copy(text.data() + size, digits.size());
    text[size++] = 'e';
    const auto written = std::to_chars(text.data() + size, text.data() + text.size(), power);
    double value = 0;
    const auto read = std::from_chars(text.data(), written.ptr, value);
    if (read.ec == std::errc::result_out_of_range) {
        // Too small is zero, too large is no number.
        return power + static_cast<int>(digits.size()) < 0 ? std::optional(0.0) : std::nullopt;
    }
    return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

Range in_zone(InstantRange range, std::string_view text, const TimeZone* zone) {
    constexpr std::size_t kDateChars = 10;
    if (zone != nullptr && text.find_first_of("Z+- ", kDateChars) == std::string_view::npos) {
        range = zone->stretch(range);
    }
    return {range.begin.us, range.end.us - 1};
}

}  // namespace

std::optional<Range> date_range(std::string_view text, const TimeZone* zone) {
    // A leap second belongs to its own day but has no number: it is treated as the second before it.
    std::string without_leap;
    const std::size_t second = text.find('T') + 7;
    if (second >= 7 && text.substr(std::min(second, text.size()), 2) == "60") {
        without_leap = std::string(text).replace(second, 2, "59");
        text = without_leap;
    }
    const Result<InstantRange> range = parse_date_time(text);
    if (!range) {
        return {};
    }
    return in_zone(*range, text, zone);
}

std::optional<Range> asked_date_range(std::string_view text, const TimeZone* zone) {
    constexpr std::size_t kMinuteChars = 16;
    const auto range = date_range(text, zone);
    if (range || text.size() < kMinuteChars || text[10] != 'T' ||
        (text.size() > kMinuteChars && text[kMinuteChars] == ':')) {
        return range;
    }
    std::string whole(text.substr(0, kMinuteChars));
    whole.append(":00").append(text.substr(kMinuteChars));
    const auto second = date_range(whole, nullptr);
    if (!second) {
        return {};
    }
    return in_zone({{second->low}, {second->high + 1 + 59'000'000}}, text, zone);
}

std::optional<double> number_value(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    if (read.ec == std::errc() && read.ptr == end && is_digit(text[first]) &&
        is_digit(text.back())) {
        return value;
    }
    // The slow path: a sign, or digits that underflow.
    const std::optional<DecimalParts> decimal = read_decimal(text);
    return decimal ? to_double(*decimal, {decimal->digits.data(), decimal->size}, decimal->power)
                   : std::nullopt;
}

std::optional<Number> number_range(std::string_view text) {
    std::optional<DecimalParts> decimal = read_decimal(text);
    if (!decimal) {
        return {};
    }
    const auto value = to_double(*decimal, {decimal->digits.data(), decimal->size}, decimal->power);
    if (!value) {
        return {};
    }
    // Half a unit of the last digit, in both directions. With a positive exponent it is half a unit of the next digit,
    // as in the standard's example: 1e2 is [95, 105).
    const int power = decimal->power - (decimal->exponent > 0 ? 2 : 1);
    auto& digits = decimal->digits;
    std::size_t size = decimal->size;
    if (decimal->exponent > 0) {
        digits[size++] = '0';
    }
    digits[size] = '5';
    const auto outer = to_double(*decimal, {digits.data(), size + 1}, power);
    // The digits minus one, followed by a 5: 100 becomes 995. For 0 it is the negative.
    std::size_t i = size;
    while (i > 0 && digits[i - 1] == '0') {
        --i;
    }
    std::optional<double> inner;
    if (i == 0) {
        inner = outer ? std::optional(-*outer) : std::nullopt;
    } else {
        --digits[i - 1];
        for (; i < size; ++i) {
            digits[i] = '9';
        }
        inner = to_double(*decimal, {digits.data(), size + 1}, power);
    }
    if (!outer || !inner) {
        return {};
    }
    // With many digits, half a unit of the last one may be less than a double can represent.
    const std::int64_t own = ordered(*value);
    const std::int64_t low = ordered(std::min(*inner, *outer));
    const std::int64_t high = ordered(std::max(*inner, *outer)) - 1;
    return Number{*value, {std::min(low, own), std::max(high, own)}};
}

}  // namespace annals::core::search
