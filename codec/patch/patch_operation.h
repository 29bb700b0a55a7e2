// The operations of a FHIRPath Patch, read from its Parameters.
//
// Layer:   codec, inside codec/patch.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstddef>

namespace annals::patch {

/// The parts of one operation by name; missing if they aren't given. Lifetime: the Parameters outlive it.
struct Operation {
    json::Value type;
    json::Value path;
    json::Value name;
    json::Value value;  ///< the part itself; the others are the parts' values
    json::Value index;
    json::Value source;
    json::Value destination;
};

/// Errors: invalid (not an operation, or one without a type or a path).
Result<Operation> read_operation(json::Value parameter);

/// `error` with the number, type and path of the operation that failed.
Error fault_of(Error error, std::size_t number, const Operation& operation);

}  // namespace annals::patch
