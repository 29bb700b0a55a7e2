// GET [base]/[type]/[id]/_history, [base]/[type]/_history and [base]/_history.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#history; docs/api/history.md.
// Threads: run on the loop of their request; `_at` over many resources yields to it.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 200 with a history Bundle; 400 (parameters); 404 (the resource never existed or was removed).
asio::awaitable<Response> instance_history(const Service& service, const Request& request,
                                           const Target& target);

/// The history of a type or of the system: 200 with a history Bundle; 400 (parameters).
asio::awaitable<Response> history_of_many(const Service& service, const Request& request,
                                          const Target& target);

}  // namespace annals::core
