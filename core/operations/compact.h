// $compact: gives back the room of what was erased.
//
// Layer:   core/operations.
// Spec:    docs/api/compact.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/target.h"

namespace annals::core {

/// By POST it begins: 202; with dryRun it says what would go: 200 with Parameters. By GET it says how far that is: 202
/// with X-Progress, or 200 with Parameters once nothing is left to do. 503 no-store where nothing can be written.
asio::awaitable<Response> compact_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
