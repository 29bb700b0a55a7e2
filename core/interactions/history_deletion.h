// DELETE of one old version or of a whole history, and the work of $purge-history; only with hard_delete.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-deletion.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

#include <cstdint>

namespace annals::core {

/// Whether the configuration permits deleting history.
bool hard_delete_on(const Config& config);

/// DELETE [base]/[type]/[id]/_history/[vid]: 204; 404; 409 for the current version of a live resource.
asio::awaitable<Response> delete_version(const Service& service, const Request& request,
                                         const Target& target);

/// DELETE [base]/[type]/[id]/_history: 204; a live resource keeps its current version; 404.
asio::awaitable<Response> delete_history(const Service& service, const Request& request,
                                         const Target& target);

/// Removes all versions of the resource, except the current one if it is live, and returns how many there were once no
/// byte of them is left. The request's preconditions apply.
///
/// Errors: invalid, precondition; not_found; those of a write.
asio::awaitable<Result<std::uint64_t>> erase_history(const Service& service, const Request& request,
                                                     const Target& target);

}  // namespace annals::core
