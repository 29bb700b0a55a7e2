// $reindex: makes what is stored findable anew, in the background.
//
// Layer:   core/operations.
// Spec:    docs/api/reindex.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/target.h"

namespace annals::core {

/// By POST it begins: 202, or 409 while one is under way; by GET it says how far that is: 202 with X-Progress, or 200
/// with Parameters once nothing is left to do.
asio::awaitable<Response> reindex_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
