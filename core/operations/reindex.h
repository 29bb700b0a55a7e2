// $reindex: rebuilds the search index in the background.
//
// Layer:   core/operations.
// Spec:    docs/api/reindex.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/target.h"

namespace annals::core {

/// POST starts it: 202, or 409 while one is running. GET tells its progress: 202 with X-Progress, or 200 with
/// Parameters once nothing is left to do.
asio::awaitable<Response> reindex_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
