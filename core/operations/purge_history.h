// $purge-history: erases a whole history by POST, as DELETE on it does; only with hard_delete.
//
// Layer:   core/operations.
// Spec:    docs/api/history-deletion.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST [type]/[id]/$purge-history: 200 with Parameters, `count` being the number of versions removed; 404.
asio::awaitable<Response> purge_history_operation(const Service& service, const Request& request,
                                                  const Target& target);

}  // namespace annals::core
