// The CapabilityStatement, made from the tables that dispatch.
//
// Layer:   core.
// Spec:    FHIR R4 capabilitystatement.html; docs/api/metadata.md.
// Threads: a plain function.

#pragma once

#include "core/descriptions.h"

#include <string>

namespace annals::core {

/// JSON with kBaseUrlMark in it.
std::string make_capability_statement(const Described& described);

}  // namespace annals::core
