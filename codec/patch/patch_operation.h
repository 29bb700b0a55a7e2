// The operations of a FHIRPath Patch, as its Parameters say them.
//
// Layer:   codec, inside codec/patch.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstddef>

namespace annals::patch {

/// The parts of one operation, sorted by name; missing where they are not given. Lifetime: the Parameters outlive it.
struct Operation {
    json::Value type;
    json::Value path;
    json::Value name;
    json::Value value;  ///< the part itself; of the others what it says
    json::Value index;
    json::Value source;
    json::Value destination;
};

/// Errors: invalid (no operation, or one without a type or a path).
Result<Operation> read_operation(json::Value parameter);

/// `error`, with the operation that it is of: its number, type and path.
Error fault_of(Error error, std::size_t number, const Operation& operation);

}  // namespace annals::patch
