// $everything: all data about a patient or an encounter.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-everything.html, encounter-operation-everything.html; docs/api/everything.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// The most resources on a page without _count, and the most resources that are included because others refer to them.
inline constexpr std::size_t kEverythingPageMax = 10'000;

/// GET or POST Patient[/id]/$everything, Encounter/id/$everything: 200 with a searchset Bundle, page by page.
///
/// Status: 400 (a parameter), 404, 410 without the resource; 410 `expired` for a page that is no longer available.
asio::awaitable<Response> everything_operation(const Service& service, const Request& request,
                                               const Target& target);

}  // namespace annals::core
