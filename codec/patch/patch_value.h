// The values of a FHIRPath Patch: the part of a parameter as the JSON of an element.
//
// Layer:   codec, inside codec/patch.
// Spec:    FHIR R4 fhirpatch.html, parameters.html, json.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/base/result.h"

#include <string>
#include <string_view>

namespace annals::patch {

/// An element's JSON: the value of its name, and of _name beside it. One of them is not empty.
struct PatchValue {
    std::string json;     ///< empty: a primitive with an id or extensions only
    std::string sibling;  ///< empty: none
};

/// The type of `part`'s value; missing if the value is built of nested parts.
/// Errors: invalid (no value, or one of no known type).
Result<schema::Type> value_type(json::Value part);

/// The value of `part` as a `type`, which must accept the value's own type; nested parts become the elements
/// of `type`. Errors: invalid.
Result<PatchValue> read_value(json::Value part, schema::Type type);

/// The element of `type` that FHIRPath or JSON calls `name` and that accepts a `value`; of a choice, the option of
/// that type. Errors: invalid (there is none).
Result<schema::Element> find_element(schema::Type type, std::string_view name, schema::Type value);

/// True if an element of `type` accepts a `value`: the same type, a related one, or for primitives the same kind
/// of JSON (a string for a code: checking its content is left to validation). A missing `value` is an object.
bool takes(schema::Type type, schema::Type value) noexcept;

}  // namespace annals::patch
