// Units of measure: UCUM expressions as a factor times powers of base units, for comparing and computing.
//
// Layer:   codec; depends on codec/fhirpath only.
// Spec:    UCUM (case sensitive codes): all metric prefixes, the units of ucum_units.h, products,
//          quotients, exponents, parentheses, annotations. No units on special scales except the symbol Cel.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/decimal.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::fhirpath {

/// The code system of UCUM.
inline constexpr std::string_view kUcum = "http://unitsofmeasure.org";

/// A unit as numerator / denominator (exact) times powers of metre, second, gram, radian, kelvin, coulomb,
/// candela, mole and one of the "arbitrary" units, which are comparable only with themselves.
struct Unit {
    static constexpr std::size_t kDimensions = 8;

    Decimal numerator{1};
    Decimal denominator{1};
    std::array<std::int8_t, kDimensions> powers{};
    std::uint32_t arbitrary = 0;  ///< 0, or which arbitrary unit ([iU], [pH]...)

    bool same_dimension(const Unit& other) const {
        return powers == other.powers && arbitrary == other.arbitrary;
    }
};

/// Parses a unit; nothing if it is unknown or too large to compute with.
std::optional<Unit> parse_unit(std::string_view text);

/// Whether it is a UCUM code. Also true if it is too long or too large to be parsed completely.
bool is_unit(std::string_view text);

/// `value` converted from `from` to `to`. Nothing if their dimensions differ or it can't be computed.
std::optional<Decimal> convert(const Decimal& value, const Unit& from, const Unit& to);

/// +1 if `a` is the larger unit, -1 if `b` is, 0 if they are the same size; nothing if it can't be computed. Requires: the
/// same dimension.
std::optional<int> compare_size(const Unit& a, const Unit& b);

/// The product or quotient of two units.
std::optional<Unit> combine(const Unit& a, const Unit& b, bool divide);

/// The UCUM text of a unit of factor one in base units: "m2", "g.m-1", "1"; nothing if it has another factor
/// or is arbitrary. For the results of multiplying and dividing quantities.
std::string base_text(const Unit& unit);

/// Whether FHIRPath has the word as a calendar keyword: year, years, month...
bool is_calendar_keyword(std::string_view word);

/// The unit of a calendar keyword: years and months are comparable only with each other, the others are definite
/// durations (days → d). Nothing for other words.
std::optional<Unit> calendar_unit(std::string_view keyword);

}  // namespace annals::fhirpath
