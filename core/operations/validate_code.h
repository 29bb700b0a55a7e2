// $validate-code: whether a code is in a value set or a code system.
//
// Layer:   core/operations.
// Spec:    FHIR R4 valueset-operation-validate-code.html, codesystem-operation-validate-code.html;
//          docs/api/validate-code.md.
// Threads: runs on the loop of its request; long work on the worker's thread.

#pragma once

#include "core/service.h"

namespace annals::core {

/// ValueSet and CodeSystem, type and instance: `code` and `system`, `coding` or `codeableConcept`.
///
/// Status: 200 with Parameters (result, message, display), also for an unknown code; 400; 404 if the value set or
/// code system that is named is unknown.
asio::awaitable<Response> validate_code_operation(const Service& service, const Request& request,
                                                  const Target& target);

}  // namespace annals::core
