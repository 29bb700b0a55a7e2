// The functions' names and how many arguments they take.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Functions"; FHIR R4 fhirpath.html "Additional functions".
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/program.h"

#include <cstdint>
#include <string_view>

namespace annals::fhirpath {

struct FunctionRow {
    std::string_view name;
    Function function;
    std::uint8_t arguments_min;
    std::uint8_t arguments_max;
};

/// The row with that name; null if there is none.
const FunctionRow* find_function(std::string_view name);

}  // namespace annals::fhirpath
