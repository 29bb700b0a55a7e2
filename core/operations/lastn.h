// $lastn: the most recent observations of each kind.
//
// Layer:   core/operations.
// Spec:    FHIR R4 observation-operation-lastn.html; docs/api/lastn.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET or POST Observation/$lastn: 200 with a searchset Bundle of the `max` last of each code, and ties with these.
///
/// Status: 400 (parameters); 413 if the criteria match too many; 503 if it takes too long.
asio::awaitable<Response> lastn_operation(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
