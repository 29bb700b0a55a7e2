// $purge: takes everything that is stored of a patient out of the store, and says what that was.
//
// Layer:   core/operations.
// Spec:    FHIR R4 compartmentdefinition-patient.html; docs/api/purge.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <cstddef>

namespace annals::core {

/// At most so many versions go at once.
inline constexpr std::size_t kPurgeVersionsMax = 250'000;

/// So many resources are named that refer to what goes; the others are counted.
inline constexpr std::size_t kPurgeReferrersTold = 1000;

/// POST Patient/id/$purge: erases the patient, his compartment, and those versions of other resources that named him, in
/// one commit. 200 with Parameters, the receipt, when no byte of their bodies is left; with dryRun the same and
/// nothing is done.
///
/// Status: 400 (a parameter), 404 without the patient, 409 where a live resource refers to what would go and
///         referential_integrity.on_delete holds, 413 (more than kPurgeVersionsMax).
asio::awaitable<Response> purge_operation(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
