// $restore on the system: restores a backup into the running store.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: runs on the loop of its request; the restoration has a thread of its own.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST starts it: 202, 404 if there is no such backup, or 409 while one is running. GET tells its progress:
/// 202 with X-Progress, then 200 with Parameters, or the error; 404 before the first.
asio::awaitable<Response> restore_store_operation(const Service& service, const Request& request,
                                                  const Target& target);

}  // namespace annals::core
