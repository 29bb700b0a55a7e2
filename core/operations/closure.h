// $closure: a table of which codes stand above which, that grows as a client meets codes.
//
// Layer:   core/operations.
// Spec:    FHIR R4 conceptmap-operation-closure.html, terminology-service.html#closure; docs/api/closure.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST $closure with `name` (begins, or begins anew), `concept` (adds), or `version` (what came after it). A table is a
/// stored ConceptMap, each change a version of it.
///
/// Status: 200 with a ConceptMap of what is new; 400; 404 if the table was not begun, or a code or its system isn't known;
///         422 if the table would be too large.
asio::awaitable<Response> closure_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
