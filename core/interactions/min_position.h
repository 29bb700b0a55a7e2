// X-Annals-Min-Position: waits until what the client wrote earlier, or on another server, is visible here.
//
// Layer:   core/interactions.
// Spec:    docs/api/README.md, Positions.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <string_view>

namespace annals::core {

/// Waits until the position in `request`'s header is visible, at most five seconds or half of limits.request_timeout.
/// If this server follows another one, it is a position of that server. Requires: the request has the header.
/// Errors: invalid (not a position), timeout.
asio::awaitable<Result<void>> await_min_position(const Service& service, const Request& request);

/// A position as written in headers and parameters: only decimal digits.
std::optional<Position> parse_position(std::string_view text) noexcept;

}  // namespace annals::core
