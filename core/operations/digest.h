// $digest: a summary of the store's contents, by which two stores can be compared in a few exchanges.
//
// Layer:   core/operations.
// Spec:    docs/api/digest.md.
// Threads: runs on the loop of its request; what was not read before is read by a thread of its own.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 200 with Parameters; 202 with X-Progress while the store is being read; 400 (prefix).
asio::awaitable<Response> digest_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
