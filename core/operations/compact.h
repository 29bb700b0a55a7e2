// $compact: frees the disk space of what was erased.
//
// Layer:   core/operations.
// Spec:    docs/api/compact.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/target.h"

namespace annals::core {

/// POST starts it: 202; with dryRun it reports what would be freed: 200 with Parameters. GET tells its progress: 202
/// with X-Progress, or 200 with Parameters once nothing is left to do. 503 no-store if the store is not writable.
asio::awaitable<Response> compact_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
