// Decimal: exact decimal numbers of up to 38 digits, the System.Integer and System.Decimal of FHIRPath.
//
// Layer:   codec; depends on nothing.
// Spec:    FHIRPath N1 "Decimal", "Math"; FHIR R4 datatypes.html#decimal (precision is kept).
// Threads: plain values.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace annals::fhirpath {

using Int128 = __int128;  // NOLINT: the widest integer that the machine has

/// coefficient / 10^scale. The scale is kept as written: 1.10 has two decimals, and equals 1.1.
class Decimal {
  public:
    static constexpr int kDigitsMax = 38;
    static constexpr int kScaleMax = 28;
    static constexpr std::size_t kCharsMax = 48;  ///< enough for write()

    constexpr Decimal() = default;

    constexpr explicit Decimal(std::int64_t integer) : Decimal(Int128{integer}, 0) {}

    /// Requires: 0 <= scale <= kScaleMax, |coefficient| < 10^38.
    constexpr Decimal(Int128 coefficient, int scale)
        : high_(static_cast<std::int64_t>(coefficient >> 64)),
          low_(static_cast<std::uint64_t>(coefficient)),
          scale_(scale) {}

    /// Reads -?digits(.digits)?([eE][+-]?digits)?, as JSON writes numbers (leading zeros are accepted).
    /// Nothing if the text has another form or needs more than 38 digits or 28 decimals.
    static std::optional<Decimal> parse(std::string_view text);

    constexpr Int128 coefficient() const {
        return static_cast<Int128>((static_cast<unsigned __int128>(high_) << 64) | low_);
    }

    constexpr int scale() const { return scale_; }

    bool is_negative() const { return high_ < 0; }

    bool is_zero() const { return high_ == 0 && low_ == 0; }

    /// True if the fraction has only zeros.
    bool is_integral() const;

    /// The whole part, if it fits into 64 bits.
    std::optional<std::int64_t> integer() const;

    /// Without trailing zeros in the fraction: equal values become identical.
    Decimal normalized() const;

    Decimal negated() const { return {-coefficient(), scale_}; }

    /// Rounded to `scale` decimals, halves away from zero, and padded with zeros if it has fewer.
    /// Nothing if that needs too many digits.
    std::optional<Decimal> rounded(int scale) const;

    /// To `scale` decimals: the largest value that isn't greater; the smallest that isn't less; cut off.
    std::optional<Decimal> floor(int scale = 0) const;
    std::optional<Decimal> ceiling(int scale = 0) const;
    std::optional<Decimal> truncated(int scale = 0) const;

    /// Digits after the point.
    int decimals() const { return scale_; }

    // Nothing if the result exceeds 38 digits or the divisor is zero. A product or quotient with more
    // decimals than can be kept is rounded; a quotient keeps 28 significant digits.
    static std::optional<Decimal> add(const Decimal& a, const Decimal& b);
    static std::optional<Decimal> subtract(const Decimal& a, const Decimal& b);
    static std::optional<Decimal> multiply(const Decimal& a, const Decimal& b);
    static std::optional<Decimal> divide(const Decimal& a, const Decimal& b);
    /// The quotient truncated to a whole number.
    static std::optional<Decimal> divide_whole(const Decimal& a, const Decimal& b);
    static std::optional<Decimal> remainder(const Decimal& a, const Decimal& b);

    /// The nearest decimal with at most 8 decimals (for roots, logarithms and the like).
    static std::optional<Decimal> from_double(long double value);
    long double to_double() const;

    std::strong_ordering operator<=>(const Decimal& other) const;

    bool operator==(const Decimal& other) const {
        return (*this <=> other) == std::strong_ordering::equal;
    }

    /// Writes at most kCharsMax characters and returns how many.
    std::size_t write(char* out) const;

  private:
    // Two halves, so that an Item does not need 16-byte alignment.
    std::int64_t high_ = 0;
    std::uint64_t low_ = 0;
    int scale_ = 0;
};

}  // namespace annals::fhirpath
