// DELETE of one old version or of a whole history; only with hard_delete.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-deletion.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// DELETE [base]/[type]/[id]/_history/[vid]: 204; 404; 409 for the current version of a live resource.
asio::awaitable<Response> delete_version(const Service& service, const Request& request,
                                         const Target& target);

/// DELETE [base]/[type]/[id]/_history: 204; a live resource keeps its current version; 404.
asio::awaitable<Response> delete_history(const Service& service, const Request& request,
                                         const Target& target);

}  // namespace annals::core
