// The units and prefixes of UCUM.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    UCUM, case sensitive codes.
// Threads: constant.

#pragma once

#include "codec/fhirpath/ucum.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace annals::fhirpath {

struct UnitPrefix {
    std::string_view code;
    int exponent;  ///< of ten; of 1024 where it is 100, 200 and so on
};

/// A unit without parts, as numerator / denominator times powers of the base units.
struct UnitAtom {
    std::string_view code;
    std::string_view numerator;
    std::string_view denominator;
    std::array<std::int8_t, Unit::kDimensions> powers;  // m s g rad K C cd mol
    bool metric = false;
    bool arbitrary = false;
};

/// All prefixes.
std::span<const UnitPrefix> unit_prefixes();

/// The units that can be computed with.
std::span<const UnitAtom> unit_atoms();

/// Other UCUM units that take no prefix: known, but without a size to compute with.
std::span<const std::string_view> unsized_units();

/// The same, but they take prefixes.
std::span<const std::string_view> unsized_metric_units();

}  // namespace annals::fhirpath
