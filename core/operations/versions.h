// $versions: the FHIR releases that this server supports.
//
// Layer:   core/operations.
// Spec:    FHIR R5 capabilitystatement-operation-versions.html; docs/api/versions.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET or POST $versions: 200 with Parameters, or with plain JSON for clients that accept application/json.
asio::awaitable<Response> versions_operation(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
