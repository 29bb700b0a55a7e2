// GET [base]/[type]?..., POST [base]/[type]/_search, the same for the system, and GET [base]/[compartment]/[id]/[type].
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html, http.html#search; docs/api/search.md.
// Threads: run on the loop of their request, in turns.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 200 with a searchset Bundle; 400 (parameters); 404 (no such compartment); 410 (a page that is no longer
/// available); 413 (too costly); 503 (took too long).
asio::awaitable<Response> search_resources(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
