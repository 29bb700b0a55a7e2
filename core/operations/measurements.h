// Measurements: numbers with their units, brought together where one unit can be had from another.
//
// Layer:   core/operations.
// Spec:    FHIR R4 datatypes.html#quantity; UCUM as codec/fhirpath/ucum.h knows it.
// Threads: plain values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace annals::core {

/// So many units of one code are told apart.
inline constexpr std::size_t kUnitsMax = 100;

/// What the values of a group are in; all of it may be empty.
struct MeasuredUnit {
    std::string system;
    std::string code;
    std::string unit;  ///< for people

    bool is_ucum() const;
};

/// Values in one unit.
struct Measured {
    MeasuredUnit unit;
    std::vector<long double> values;
};

class Measurements {
  public:
    /// Takes a Quantity that says one number; false if it is none: without a value, or with a comparator.
    /// Errors: too_costly, if that makes more than kUnitsMax units.
    Result<bool> add(json::Value quantity);

    /// All values, of the unit that most of them had first; what can be converted to that is. Nothing is left here.
    std::vector<Measured> by_unit();

  private:
    std::vector<Measured> units_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace annals::core
