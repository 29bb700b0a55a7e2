// $diff: the difference between two versions, as a FHIRPath Patch.
//
// Layer:   core/operations.
// Spec:    FHIR R4 fhirpatch.html; docs/api/diff.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// type/id/$diff between two versions of a resource, $diff between two resources or versions of one type: 200 with
/// Parameters.
///
/// Status: 400 (parameters; two types; a deletion, which has no content); 404, 410 without resource or
/// version.
asio::awaitable<Response> diff_operation(const Service& service, const Request& request,
                                         const Target& target);

}  // namespace annals::core
