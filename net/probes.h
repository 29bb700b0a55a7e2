// The responses of paths outside /fhir: /healthz, /readyz, /metrics.
//
// Layer:   net.
// Spec:    docs/operations.md.
// Threads: plain function, on the loop of the request.

#pragma once

#include "core/exchange.h"
#include "net/worker.h"

namespace annals::net {

/// Answers a request whose path is not below /fhir.
core::Response answer_outside(const Shared& shared, const core::Request& request);

}  // namespace annals::net
