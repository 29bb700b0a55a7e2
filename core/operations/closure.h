// $closure: a table of the subsumptions between the codes that a client uses, which grows with them.
//
// Layer:   core/operations.
// Spec:    FHIR R4 conceptmap-operation-closure.html, terminology-service.html#closure; docs/api/closure.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST $closure with `name` (creates or resets the table), `concept` (adds), or `version` (returns what came
/// after it). A table is a stored ConceptMap, each change a version of it.
///
/// Status: 200 with a ConceptMap of what is new; 400; 404 if there is no such table, or a code or its system
/// is unknown; 422 if the table would be too large.
asio::awaitable<Response> closure_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
