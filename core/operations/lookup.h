// CodeSystem/$lookup and $subsumes: what is known about a code, and which of two codes subsumes the other.
//
// Layer:   core/operations.
// Spec:    FHIR R4 codesystem-operation-lookup.html, codesystem-operation-subsumes.html; docs/api/lookup.md,
//          docs/api/subsumes.md.
// Threads: run on the loop of their request; long work on the worker's thread.

#pragma once

#include "core/service.h"

namespace annals::core {

/// Status: 200 with Parameters (name, version, display, designation, property); 400; 404 if the code system or the
/// code is unknown; 422 if the code system's codes aren't on this server.
asio::awaitable<Response> lookup_operation(const Service& service, const Request& request,
                                           const Target& target);

/// Status: 200 with Parameters (outcome: equivalent, subsumes, subsumed-by or not-subsumed); 400, 404 and 422 as above.
asio::awaitable<Response> subsumes_operation(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
