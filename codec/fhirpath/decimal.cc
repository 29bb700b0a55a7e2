#include "codec/fhirpath/decimal.h"

#include <array>
#include <cmath>

namespace annals::fhirpath {
namespace {

using Unsigned128 = unsigned __int128;  // NOLINT

constexpr std::array<Unsigned128, Decimal::kDigitsMax + 1> kPowers = [] {
    std::array<Unsigned128, Decimal::kDigitsMax + 1> powers{};
    Unsigned128 power = 1;
    for (Unsigned128& slot : powers) {
        slot = power;
        power *= 10;
    }
    return powers;
}();

constexpr Unsigned128 kLimit = kPowers[Decimal::kDigitsMax];

Unsigned128 magnitude(Int128 value) {
    return value < 0 ? -static_cast<Unsigned128>(value) : static_cast<Unsigned128>(value);
}

Unsigned128 power_of_ten(int exponent) {
    return kPowers[static_cast<std::size_t>(exponent)];
}

// A product of two magnitudes: four 64-bit words, least significant first.
struct Wide {
    std::array<std::uint64_t, 4> words{};

    auto operator<=>(const Wide& other) const {
        for (std::size_t i = 4; i-- > 0;) {
            if (words[i] != other.words[i]) {
                return words[i] <=> other.words[i];
            }
        }
        return std::strong_ordering::equal;
    }

    bool fits() const { return words[2] == 0 && words[3] == 0 && low() < kLimit; }

    Unsigned128 low() const { return (static_cast<Unsigned128>(words[1]) << 64) | words[0]; }

    // Divides by ten and returns the remainder.
    unsigned divide_by_ten() {
        std::uint64_t rest = 0;
        for (std::size_t i = 4; i-- > 0;) {
            const Unsigned128 part = (static_cast<Unsigned128>(rest) << 64) | words[i];
            words[i] = static_cast<std::uint64_t>(part / 10);
            rest = static_cast<std::uint64_t>(part % 10);
        }
        return static_cast<unsigned>(rest);
    }
};

Wide product(Unsigned128 a, Unsigned128 b) {
    const std::array<std::uint64_t, 2> x{static_cast<std::uint64_t>(a),
                                         static_cast<std::uint64_t>(a >> 64)};
    const std::array<std::uint64_t, 2> y{static_cast<std::uint64_t>(b),
                                         static_cast<std::uint64_t>(b >> 64)};
    Wide wide;
    for (std::size_t i = 0; i < 2; ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < 2; ++j) {
            const Unsigned128 sum =
                static_cast<Unsigned128>(x[i]) * y[j] + wide.words[i + j] + carry;
            wide.words[i + j] = static_cast<std::uint64_t>(sum);
            carry = static_cast<std::uint64_t>(sum >> 64);
        }
        wide.words[i + 2] = carry;
    }
    return wide;
}

std::optional<Decimal> make(Unsigned128 size, bool negative, int scale) {
    if (size >= kLimit) {
        return std::nullopt;
    }
    const Int128 coefficient = static_cast<Int128>(size);
    return Decimal(negative ? -coefficient : coefficient, scale);
}

// How to round when the scale shrinks.
enum class Mode { half_away, floor, ceiling, truncate };

std::optional<Decimal> rescaled(const Decimal& value, int scale, Mode mode) {
    const Unsigned128 size = magnitude(value.coefficient());
    const bool negative = value.is_negative();
    if (scale < 0 || scale > Decimal::kScaleMax) {
        return std::nullopt;
    }
    if (scale >= value.scale()) {
        const Wide wide = product(size, power_of_ten(scale - value.scale()));
        return wide.fits() ? make(wide.low(), negative, scale) : std::nullopt;
    }
    const Unsigned128 divisor = power_of_ten(value.scale() - scale);
    Unsigned128 quotient = size / divisor;
    const Unsigned128 rest = size % divisor;
    const bool up = mode == Mode::half_away ? rest >= divisor - rest && rest != 0
                    : mode == Mode::floor   ? negative && rest != 0
                    : mode == Mode::ceiling ? !negative && rest != 0
                                            : false;
    quotient += up ? 1 : 0;
    return make(quotient, negative, scale);
}

// The next digit of a long division; updates the remainder. Requires: rest < divisor < 10^38.
unsigned next_digit(Unsigned128& rest, Unsigned128 divisor) {
    unsigned digit = 0;
    // rest * 10 may exceed 128 bits: add ten times instead.
    Unsigned128 next = 0;
    for (int i = 0; i < 10; ++i) {
        next += rest;
        if (next >= divisor) {
            next -= divisor;
            ++digit;
        }
    }
    rest = next;
    return digit;
}

struct Division {
    std::optional<Unsigned128> quotient;  // none if it has too many digits
    Unsigned128 rest;                     // with as many decimals as the operand that has more
};

// How often b goes into a, and the remainder, both without sign. Requires: b is not zero.
Division divided(const Decimal& a, const Decimal& b) {
    Unsigned128 rest = magnitude(a.coefficient());
    Unsigned128 divisor = magnitude(b.coefficient());
    if (a.scale() > b.scale()) {
        const Wide wide = product(divisor, power_of_ten(a.scale() - b.scale()));
        if (!wide.fits()) {
            return {0, rest};  // b exceeds any number with a's decimals
        }
        divisor = wide.low();
    }
    std::optional<Unsigned128> quotient = rest / divisor;
    rest %= divisor;
    for (int i = a.scale(); i < b.scale(); ++i) {
        const unsigned digit = next_digit(rest, divisor);
        quotient = quotient && *quotient < kLimit / 10 ? std::optional(*quotient * 10 + digit)
                                                       : std::nullopt;
    }
    return {quotient, rest};
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
    std::size_t at = 0;
    const bool negative = !text.empty() && text[0] == '-';
    at += negative ? 1 : 0;
    Unsigned128 size = 0;
    int scale = 0;
    bool any = false;
    bool point = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '.' && !point && any) {
            point = true;
            any = false;
            continue;
        }
        if (c < '0' || c > '9') {
            break;
        }
        any = true;
        if (size >= kLimit / 10) {
            return std::nullopt;
        }
        size = size * 10 + static_cast<unsigned>(c - '0');
        scale += point ? 1 : 0;
        if (scale > 2 * kDigitsMax) {
            return std::nullopt;
        }
    }
    if (!any) {
        return std::nullopt;
    }
    if (at < text.size()) {
        if (text[at] != 'e' && text[at] != 'E') {
            return std::nullopt;
        }
        ++at;
        const bool down = at < text.size() && text[at] == '-';
        at += at < text.size() && (text[at] == '-' || text[at] == '+') ? 1 : 0;
        int exponent = 0;
        if (at == text.size()) {
            return std::nullopt;
        }
        for (; at < text.size(); ++at) {
            if (text[at] < '0' || text[at] > '9' || exponent > 1000) {
                return std::nullopt;
            }
            exponent = exponent * 10 + (text[at] - '0');
        }
        scale += down ? exponent : -exponent;
    }
    while (scale < 0) {
        if (size >= kLimit / 10) {
            return std::nullopt;
        }
        size *= 10;
        if (++scale < -2 * kDigitsMax && size == 0) {
            scale = 0;
        }
    }
    while (scale > kScaleMax && size % 10 == 0) {
        size /= 10;
        --scale;
        if (size == 0) {
            scale = kScaleMax;
        }
    }
    if (scale > kScaleMax) {
        return std::nullopt;
    }
    return make(size, negative, scale);
}

bool Decimal::is_integral() const {
    return magnitude(coefficient()) % power_of_ten(scale_) == 0;
}

std::optional<std::int64_t> Decimal::integer() const {
    const Int128 whole = coefficient() / static_cast<Int128>(power_of_ten(scale_));
    if (whole > INT64_MAX || whole < INT64_MIN) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(whole);
}

Decimal Decimal::normalized() const {
    Int128 value = coefficient();
    int scale = scale_;
    while (scale > 0 && value % 10 == 0) {
        value /= 10;
        --scale;
    }
    return {value, scale};
}

std::optional<Decimal> Decimal::rounded(int scale) const {
    return rescaled(*this, scale, Mode::half_away);
}

std::optional<Decimal> Decimal::floor(int scale) const {
    return rescaled(*this, scale, Mode::floor);
}

std::optional<Decimal> Decimal::ceiling(int scale) const {
    return rescaled(*this, scale, Mode::ceiling);
}

std::optional<Decimal> Decimal::truncated(int scale) const {
    return rescaled(*this, scale, Mode::truncate);
}

std::optional<Decimal> Decimal::add(const Decimal& a, const Decimal& b) {
    const int scale = a.scale_ > b.scale_ ? a.scale_ : b.scale_;
    std::optional<Decimal> x = rescaled(a, scale, Mode::half_away);
    std::optional<Decimal> y = rescaled(b, scale, Mode::half_away);
    if (!x || !y) {
        // Trailing zeros may be the only obstacle.
        const Decimal short_a = a.normalized();
        const Decimal short_b = b.normalized();
        const int least = short_a.scale_ > short_b.scale_ ? short_a.scale_ : short_b.scale_;
        x = rescaled(short_a, least, Mode::half_away);
        y = rescaled(short_b, least, Mode::half_away);
        if (!x || !y) {
            return std::nullopt;
        }
    }
    Int128 sum = 0;
    if (__builtin_add_overflow(x->coefficient(), y->coefficient(), &sum)) {
        return std::nullopt;  // the sum of two of the largest exceeds 128 bits
    }
    return make(magnitude(sum), sum < 0, x->scale_);
}

std::optional<Decimal> Decimal::subtract(const Decimal& a, const Decimal& b) {
    return add(a, b.negated());
}

std::optional<Decimal> Decimal::multiply(const Decimal& a, const Decimal& b) {
    Wide wide = product(magnitude(a.coefficient()), magnitude(b.coefficient()));
    int scale = a.scale_ + b.scale_;
    unsigned last = 0;
    while (!wide.fits() || scale > kScaleMax) {
        if (scale == 0) {
            return std::nullopt;
        }
        last = wide.divide_by_ten();
        --scale;
    }
    return make(wide.low() + (last >= 5 ? 1 : 0), a.is_negative() != b.is_negative(), scale);
}

std::optional<Decimal> Decimal::divide(const Decimal& a, const Decimal& b) {
    if (b.is_zero()) {
        return std::nullopt;
    }
    const Decimal x = a.normalized();
    const Decimal y = b.normalized();
    const Unsigned128 divisor = magnitude(y.coefficient());
    Unsigned128 rest = magnitude(x.coefficient());
    Unsigned128 quotient = rest / divisor;
    rest %= divisor;
    int scale = x.scale_ - y.scale_;
    // Long division, digit by digit, until the remainder is zero or there are 28 significant digits.
    while ((rest != 0 && scale < kScaleMax && quotient < power_of_ten(27)) || scale < 0) {
        if (quotient >= kLimit / 10) {
            return std::nullopt;
        }
        quotient = quotient * 10 + next_digit(rest, divisor);
        ++scale;
    }
    if (rest >= divisor - rest && rest != 0) {
        ++quotient;
    }
    const std::optional<Decimal> result = make(quotient, a.is_negative() != b.is_negative(), scale);
    return result ? std::optional(result->normalized()) : std::nullopt;
}

std::optional<Decimal> Decimal::divide_whole(const Decimal& a, const Decimal& b) {
    if (b.is_zero()) {
        return std::nullopt;
    }
    const std::optional<Unsigned128> quotient = divided(a, b).quotient;
    return quotient ? make(*quotient, a.is_negative() != b.is_negative(), 0) : std::nullopt;
}

std::optional<Decimal> Decimal::remainder(const Decimal& a, const Decimal& b) {
    if (b.is_zero()) {
        return std::nullopt;
    }
    return make(divided(a, b).rest, a.is_negative(), a.scale_ > b.scale_ ? a.scale_ : b.scale_);
}

std::optional<Decimal> Decimal::from_double(long double value) {
    if (!std::isfinite(value) || std::fabs(value) >= 1e18L) {
        return std::nullopt;
    }
    const long double whole = std::trunc(value);
    const long double fraction = std::round((value - whole) * 1e8L);
    return Decimal(static_cast<Int128>(whole) * 100'000'000 + static_cast<Int128>(fraction), 8)
        .normalized();
}

long double Decimal::to_double() const {
    return static_cast<long double>(coefficient()) / static_cast<long double>(power_of_ten(scale_));
}

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
    const Int128 a = coefficient();
    const Int128 b = other.coefficient();
    if (scale_ == other.scale_ || (a < 0) != (b < 0) || a == 0 || b == 0) {
        return a <=> b;
    }
    const Wide x =
        product(magnitude(a), power_of_ten(scale_ < other.scale_ ? other.scale_ - scale_ : 0));
    const Wide y =
        product(magnitude(b), power_of_ten(other.scale_ < scale_ ? scale_ - other.scale_ : 0));
    return a < 0 ? y <=> x : x <=> y;
}

std::size_t Decimal::write(char* out) const {
    std::array<char, kCharsMax> reversed;
    std::size_t count = 0;
    Unsigned128 rest = magnitude(coefficient());
    int place = 0;
    while (rest != 0 || place <= scale_) {
        if (place == scale_ && scale_ != 0) {
            reversed[count++] = '.';
        }
        reversed[count++] = static_cast<char>('0' + static_cast<int>(rest % 10));
        rest /= 10;
        ++place;
    }
    std::size_t length = 0;
    if (is_negative()) {
        out[length++] = '-';
    }
    while (count > 0) {
        out[length++] = reversed[--count];
    }
    return length;
}

}  // namespace annals::fhirpath
