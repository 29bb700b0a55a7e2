// SMART configuration: tells clients where to get tokens.
//
// Layer:   net/auth.
// Spec:    SMART App Launch 2.0, conformance; docs/security.md.
// Threads: plain functions.

#pragma once

#include "core/config/config.h"
#include "core/exchange.h"

#include <optional>

namespace annals::net::auth {

/// The response to a request for {base}/.well-known/smart-configuration: JSON whatever it accepts, without
/// credentials; 404 if no tokens are accepted, 405 for methods that don't read. None: it is for something else.
/// `request` has its path below /fhir.
std::optional<core::Response> answer_smart_configuration(const core::Config& config,
                                                         const core::Request& request);

}  // namespace annals::net::auth
