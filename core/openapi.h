// The OpenAPI document, made from the tables that dispatch.
//
// Layer:   core.
// Spec:    OpenAPI 3.1.0; docs/api/openapi.md.
// Threads: a plain function.

#pragma once

#include "core/descriptions.h"

#include <string>

namespace annals::core {

/// JSON with kBaseUrlMark in it. Each type has paths of its own for what depends on it, its search above all; the rest
/// are templates.
std::string make_openapi(const Described& described);

}  // namespace annals::core
