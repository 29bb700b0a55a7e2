// Patient/$match: which patients of the store one may be.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-match.html; docs/api/match.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// Of what one criterion finds, at most so many are compared, the newest.
inline constexpr std::size_t kMatchCandidatesMax = 1000;

/// POST Patient/$match: 200 with a searchset Bundle, the likeliest first.
///
/// Status: 400 (parameters); 422 (nothing to match by); 503 when it takes too long.
asio::awaitable<Response> match_operation(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
