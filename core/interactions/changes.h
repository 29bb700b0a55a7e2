// GET [base]/_changes: every version in commit order, up to the newest or for as long as the client listens.
//
// Layer:   core/interactions.
// Spec:    docs/api/changes.md.
// Threads: runs on the loop of its request; waits without a thread.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 200 with ndjson or Server-Sent Events; 400 (parameters; inside a Bundle); 406.
asio::awaitable<Response> changes(const Service& service, const Request& request,
                                  const Target& target);

}  // namespace annals::core
