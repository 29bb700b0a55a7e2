// POST [base] with a Bundle: batch, transaction and history bundle submission.
//
// Layer:   core.
// Spec:    FHIR R4 http.html#transaction; docs/api/batch.md, transaction.md, history-bundle.md.
// Threads: runs on the loop of its request; long bundles yield to it.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/target.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// Answers a submitted Bundle: parses it once, checks its type and size, and hands it to the interaction
/// that Bundle.type names.
asio::awaitable<Response> submit_bundle(const Service& service, const Request& request,
                                        const Target& target);

}  // namespace annals::core
