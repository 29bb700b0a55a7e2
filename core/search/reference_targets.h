// What references lead to, by the expression that finds them: R4 has one definition of a parameter for many types, whose
// targets are those of all of them.
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

/// The types that the references may lead to which `expression` finds in resources of `type`. Empty: any type, or it is
/// neither of paths nor of such that end with `where(resolve() is Type)`.
std::vector<TypeId> types_led_to(std::string_view expression, schema::Type type);

}  // namespace annals::core::search
