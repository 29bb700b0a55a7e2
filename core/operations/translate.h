// ConceptMap/$translate: translates a code to another code system.
//
// Layer:   core/operations.
// Spec:    FHIR R4 conceptmap-operation-translate.html; docs/api/translate.md.
// Threads: runs on the loop of its request; long work on the worker's thread.

#pragma once

#include "core/service.h"

namespace annals::core {

/// Type level by `url` or `conceptMap`, and instance level.
///
/// Status: 200 with Parameters (result, message, match); 400; 404 if the concept map is unknown.
asio::awaitable<Response> translate_operation(const Service& service, const Request& request,
                                              const Target& target);

}  // namespace annals::core
