// $purge: erases everything stored about a patient, and reports what that was.
//
// Layer:   core/operations.
// Spec:    FHIR R4 compartmentdefinition-patient.html; docs/api/purge.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <cstddef>

namespace annals::core {

/// The most versions that are erased at once.
inline constexpr std::size_t kPurgeVersionsMax = 250'000;

/// The most resources referring to erased ones that are named; others are only counted.
inline constexpr std::size_t kPurgeReferrersTold = 1000;

/// POST Patient/id/$purge: erases the Patient, its compartment, and the versions of other resources that named it, in one
/// commit. 200 with Parameters, the receipt, once no byte of their bodies is left; with dryRun the same, but nothing is erased.
///
/// Status: 400 (a parameter), 404 without the patient, 409 if a live resource refers to something to be
/// erased and referential_integrity.on_delete is set, 413 (more than kPurgeVersionsMax).
asio::awaitable<Response> purge_operation(const Service& service, const Request& request,
                                          const Target& target);

/// The same with another limit than kPurgeVersionsMax.
asio::awaitable<Response> purge_up_to(const Service& service, const Request& request,
                                      const Target& target, std::size_t versions_max);

}  // namespace annals::core
