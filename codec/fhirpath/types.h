// Questions about types that the schema does not answer.
//
// Layer:   codec, inside codec/fhirpath.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/schema.h"

#include <string_view>

namespace annals::fhirpath::types {

/// The type that an object's resourceType names; missing if it names none.
inline schema::Type of_resource(json::Value value) {
    const json::Value name = value["resourceType"];
    return name ? schema::find_type(name.raw_string()) : schema::Type();
}

/// The kind of System value of a primitive type; Kind::element for other types.
Item::Kind system_kind(schema::Type type);

/// "Integer" for Kind::integer and so on.
std::string_view system_name(Item::Kind kind);

schema::Type quantity();

/// The name that type() returns: for a backbone element, that of its base type.
std::string_view public_name(schema::Type type);

}  // namespace annals::fhirpath::types
