#include "codec/patch/same_number.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace annals::patch {

namespace {

// A JSON number: its digits and the power of ten in its exponent.
struct Decimal {
    bool negative = false;
    std::string_view whole;     // digits before the point
    std::string_view fraction;  // and after it
    std::int64_t exponent = 0;
    bool exponent_fits = true;

    std::size_t size() const noexcept { return whole.size() + fraction.size(); }

    char digit(std::size_t i) const noexcept {
        return i < whole.size() ? whole[i] : fraction[i - whole.size()];
    }
};

Decimal read_decimal(std::string_view text) noexcept {
    Decimal out;
    if (text.starts_with('-')) {
        out.negative = true;
        text.remove_prefix(1);
    }
    const std::size_t mark = text.find_first_of("eE");
    std::string_view exponent = mark == std::string_view::npos ? "" : text.substr(mark + 1);
    text = text.substr(0, mark);
    const std::size_t point = text.find('.');
    out.whole = text.substr(0, point);
    out.fraction = point == std::string_view::npos ? "" : text.substr(point + 1);

    bool below_one = false;
    if (!exponent.empty() && (exponent.front() == '+' || exponent.front() == '-')) {
        below_one = exponent.front() == '-';
        exponent.remove_prefix(1);
    }
    exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
    out.exponent_fits = exponent.size() <= 18;
    if (out.exponent_fits) {
        for (const char digit : exponent) {
            out.exponent = out.exponent * 10 + (digit - '0');
        }
        out.exponent = below_one ? -out.exponent : out.exponent;
    }
    return out;
}

}  // namespace

bool same_number(std::string_view a, std::string_view b) noexcept {
    if (a == b) {
        return true;
    }
    const Decimal x = read_decimal(a);
    const Decimal y = read_decimal(b);
    const auto significant = [](const Decimal& number) {
        std::size_t begin = 0;
        std::size_t end = number.size();
        while (begin < end && number.digit(begin) == '0') {
            ++begin;
        }
        while (end > begin && number.digit(end - 1) == '0') {
            --end;
        }
        return std::pair{begin, end};
    };
    const auto [x_begin, x_end] = significant(x);
    const auto [y_begin, y_end] = significant(y);
    if (x_begin == x_end || y_begin == y_end) {
        return x_begin == x_end && y_begin == y_end;  // zero equals zero, whatever the signs
    }
    if (!x.exponent_fits || !y.exponent_fits || x.negative != y.negative ||
        x_end - x_begin != y_end - y_begin) {
        return false;
    }
    // The power of ten of the first significant digit.
    const auto leading = [](const Decimal& number, std::size_t begin) {
        return number.exponent + static_cast<std::int64_t>(number.whole.size()) -
               static_cast<std::int64_t>(begin);
    };
    if (leading(x, x_begin) != leading(y, y_begin)) {
        return false;
    }
    for (std::size_t i = 0; i < x_end - x_begin; ++i) {
        if (x.digit(x_begin + i) != y.digit(y_begin + i)) {
            return false;
        }
    }
    return true;
}

}  // namespace annals::patch
