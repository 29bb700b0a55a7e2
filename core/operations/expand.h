// ValueSet/$expand: the codes of a value set.
//
// Layer:   core/operations.
// Spec:    FHIR R4 valueset-operation-expand.html; docs/api/expand.md.
// Threads: runs on the loop of its request; long expansions on the worker's thread.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET or POST ValueSet/$expand (`url`, or `valueSet`) and ValueSet/[id]/$expand.
///
/// Status: 200 with a ValueSet; 400; 404 if the value set is unknown; 422 if something it is built on is missing, or
/// if it has too many codes.
asio::awaitable<Response> expand_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
