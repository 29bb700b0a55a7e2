// SMART configuration: where clients get their tokens.
//
// Layer:   net/auth.
// Spec:    SMART App Launch 2.0, conformance; docs/security.md.
// Threads: plain functions.

#pragma once

#include "core/config/config.h"
#include "core/exchange.h"

#include <optional>

namespace annals::net::auth {

/// The answer to a request for {base}/.well-known/smart-configuration: JSON whatever it accepts, and no credentials are
/// asked for; 404 where no tokens are taken, 405 for what doesn't read. None: it is for something else. `request` has its
/// path below /fhir.
std::optional<core::Response> answer_smart_configuration(const core::Config& config,
                                                         const core::Request& request);

}  // namespace annals::net::auth
