// The target types of references, derived from the expression that finds them: R4 defines one parameter for many types and
// lists the targets of all of them together.
//
// Layer:   core/search.
// Spec:    FHIR R4 searchparameter-registry.html.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"
#include "core/base/resource_types.h"

#include <string_view>
#include <vector>

namespace annals::core::search {

/// The target types of the references that `expression` finds in resources of `type`. Empty: any type, or the
/// expression consists of more than paths, which may end with `where(resolve() is Type)`.
std::vector<TypeId> types_led_to(std::string_view expression, schema::Type type);

}  // namespace annals::core::search
