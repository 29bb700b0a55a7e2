// Measurements: numbers with units, grouped by units that can be converted to each other.
//
// Layer:   core/operations.
// Spec:    FHIR R4 datatypes.html#quantity; UCUM as in codec/fhirpath/ucum.h.
// Threads: plain values.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/base/text_map.h"

#include <string>
#include <vector>

namespace annals::core {

/// The most units that are distinguished for one code.
inline constexpr std::size_t kUnitsMax = 100;

/// The unit of a group's values; all members may be empty.
struct MeasuredUnit {
    std::string system;
    std::string code;
    std::string unit;  ///< human-readable

    bool is_ucum() const;
};

/// Values in one unit.
struct Measured {
    MeasuredUnit unit;
    std::vector<long double> values;
};

class Measurements {
  public:
    /// Adds a Quantity that is one number; false if it isn't: without a value, or with a comparator. Errors:
    /// too_costly if there are then more than kUnitsMax units.
    Result<bool> add(json::Value quantity);

    /// All values, in the unit that most of them had originally; those that can be converted to
    /// it are. Leaves this empty.
    std::vector<Measured> by_unit();

  private:
    std::vector<Measured> units_;
    TextMap<std::size_t> by_name_;
};

}  // namespace annals::core
