// $validate: validates a resource without storing it.
//
// Layer:   core/operations.
// Spec:    FHIR R4 resource-operation-validate.html; docs/api/validate.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST [type[/id]]/$validate with a resource or Parameters, GET type/id/$validate for the stored one.
///
/// Status: 200 with an OperationOutcome, whatever its issues; 404, 410 if the resource of an instance doesn't
/// exist; 400 if there is nothing to validate or the body can't be read.
asio::awaitable<Response> validate_operation(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
