// $document: a Composition and what it refers to, as one Bundle.
//
// Layer:   core/operations.
// Spec:    FHIR R4 composition-operation-document.html, documents.html; docs/api/document.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <cstddef>

namespace annals::core {

/// The most resources in a document.
inline constexpr std::size_t kDocumentEntriesMax = 10'000;

/// GET or POST Composition/id/$document, Composition/$document?id=: 200 with a Bundle of type document, from one
/// state of the store; with `persist` it is also stored.
///
/// Status: 400 (a parameter), 403 (no access to a type that the document must have), 404, 410 without the
/// Composition, 422 (a reference's target is missing; too many resources or bytes).
asio::awaitable<Response> document_operation(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
