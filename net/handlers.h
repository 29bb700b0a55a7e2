// Handlers: the functions that answer requests below /fhir.
//
// Layer:   net; core's functions, except in tests.
// Threads: called on the loop of the request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

#include <optional>

namespace annals::net {

struct Handlers {
    /// Answers without a coroutine, or sets the route by which the request must be awaited.
    std::optional<core::Response> (*plain)(const core::Service&, const core::Request&,
                                           core::Route&) = core::handle_plain;
    /// Answers a write that `plain` did not answer, before it is durable (core::Response::unsettled).
    std::optional<core::Response> (*early)(const core::Service&, const core::Request&,
                                           core::Route&) = core::handle_early;
    /// Rejects a request before its body has arrived.
    std::optional<core::Response> (*head)(const core::Service&,
                                          const core::Request&) = core::refuse_at_head;
    asio::awaitable<core::Response> (*awaiting)(const core::Service&, const core::Request&,
                                                const core::Route&) = core::handle_routed;
};

}  // namespace annals::net
