// The CapabilityStatement, made from the tables that dispatch.
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

/// JSON with kBaseUrlMark in it.
std::string make_capability_statement(const Described& described);

/// The SMART capabilities that clients are told of: what is done with scopes here, what the token endpoint does where there is
/// one, and those of the authorization server, which the configuration says.
std::vector<std::string> smart_capabilities(const Config& config);

}  // namespace annals::core
