// $docref: the documents of a patient.
//
// Layer:   core/operations.
// Spec:    US Core, OperationDefinition docref; docs/api/docref.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET or POST DocumentReference/$docref: 200 with a searchset Bundle of what exists; no documents are made for it.
///
/// Status: 400 (parameters); 413 if too many match; 503 if it takes too long.
asio::awaitable<Response> docref_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
