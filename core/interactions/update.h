// PUT [base]/[type]/[id] and PUT [base]/[type]?criteria: the next version, or the first.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#update, #cond-update, #concurrency; docs/api/update.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 200; 201 if the resource was absent (with update_create) or deleted; 400, 404, 412.
asio::awaitable<Response> update(const Service& service, const Request& request,
                                 const Target& target);

/// The same, answered before it is durable (EarlyHandler). None if update() must be used: a precondition is malformed, or what
/// there is does not permit it; scopes are restricted; the body is larger than 1 MiB; validation would hold up the loop
/// (definitions that are not in memory, many steps); or another commit must settle first.
std::optional<Response> update_early(const Service& service, const Request& request,
                                     const Target& target);

/// The same for the one match of the criteria; 201 without a match, 412 with several.
asio::awaitable<Response> conditional_update(const Service& service, const Request& request,
                                             const Target& target);

}  // namespace annals::core
