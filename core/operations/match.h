// Patient/$match: the stored patients that may be the given one.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-match.html; docs/api/match.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// The most candidates compared for each criterion: the newest ones.
inline constexpr std::size_t kMatchCandidatesMax = 1000;

/// POST Patient/$match: 200 with a searchset Bundle, the most likely first.
///
/// Status: 400 (parameters); 422 (nothing to match by); 503 if it takes too long.
asio::awaitable<Response> match_operation(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
