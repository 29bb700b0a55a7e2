// PATCH [base]/[type]/[id] and PATCH [base]/[type]?criteria: the next version, computed from the newest one.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#patch, #concurrency; docs/api/patch.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 200; 400, 404, 410, 412, 415, 422. Computed from one version and written only if that is still the newest:
/// without If-Match it is computed again if another write came first.
asio::awaitable<Response> patch_resource(const Service& service, const Request& request,
                                         const Target& target);

/// The same for the one match of the criteria; 404 without a match, 412 with several.
asio::awaitable<Response> conditional_patch(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
