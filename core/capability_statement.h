// The CapabilityStatement, generated from the tables that dispatch requests.
//
// Layer:   core.
// Spec:    FHIR R4 capabilitystatement.html; docs/api/metadata.md.
// Threads: a plain function.

#pragma once

#include "core/config/config.h"
#include "core/descriptions.h"

#include <string>
#include <vector>

namespace annals::core {

/// JSON that contains kBaseUrlMark.
std::string make_capability_statement(const Described& described);

/// The SMART capabilities listed for clients: those for scopes, those of the token endpoint if there is one, and those of the
/// authorization server as configured.
std::vector<std::string> smart_capabilities(const Config& config);

}  // namespace annals::core
