// The OpenAPI document, generated from the tables that dispatch requests.
//
// Layer:   core.
// Spec:    OpenAPI 3.1.0; docs/api/openapi.md.
// Threads: a plain function.

#pragma once

#include "core/descriptions.h"

#include <string>

namespace annals::core {

/// JSON that contains kBaseUrlMark. What depends on the resource type, such as its search, has a path for each type; all other
/// paths are templates.
std::string make_openapi(const Described& described);

}  // namespace annals::core
