// $document: a Composition and what it refers to, as one Bundle.
//
// Layer:   core/operations.
// Spec:    FHIR R4 composition-operation-document.html, documents.html; docs/api/document.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <cstddef>

namespace annals::core {

/// A document has at most so many resources.
inline constexpr std::size_t kDocumentEntriesMax = 10'000;

/// GET or POST Composition/id/$document, Composition/$document?id=: 200 with a Bundle of type document, of one state of
/// the store; stored as well with `persist`.
///
/// Status: 400 (a parameter), 403 (a type that a document of it must have), 404, 410 without the Composition, 422 (what it
///         refers to isn't here; too many resources or bytes).
asio::awaitable<Response> document_operation(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
