// $everything: all that is known of a patient or an encounter.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-everything.html, encounter-operation-everything.html; docs/api/everything.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// At most so many resources on a page that no _count was given for, and so many referred to beside them.
inline constexpr std::size_t kEverythingPageMax = 10'000;

/// GET or POST Patient[/id]/$everything, Encounter/id/$everything: 200 with a searchset Bundle, page by page.
///
/// Status: 400 (a parameter), 404, 410 without the resource; 410 `expired` for a page that can't be given any more.
asio::awaitable<Response> everything_operation(const Service& service, const Request& request,
                                               const Target& target);

}  // namespace annals::core
