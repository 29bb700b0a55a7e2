// $restore of the system: a backup brought back into the store while it is being served.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: runs on the loop of its request; the restoration has a thread of its own.

#pragma once

#include "core/service.h"

namespace annals::core {

/// By POST it begins: 202, 404 without such a backup, or 409 while one is under way; by GET it says how far that is: 202
/// with X-Progress, then 200 with Parameters, or what went wrong; 404 before the first.
asio::awaitable<Response> restore_store_operation(const Service& service, const Request& request,
                                                  const Target& target);

}  // namespace annals::core
