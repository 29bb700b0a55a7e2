// X-Annals-Min-Position: a reader who wrote elsewhere, or earlier, waits until that is visible here.
//
// Layer:   core/interactions.
// Spec:    docs/api/changes.md, Positions.
// Threads: runs on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <string_view>

namespace annals::core {

/// Waits until the position that `request` asks for is visible, five seconds or half of limits.request_timeout at
/// most. It is one of the server that this one follows, if it follows one. Requires: there is one. Errors: invalid (it is no position), timeout.
asio::awaitable<Result<void>> await_min_position(const Service& service, const Request& request);

/// A position as headers and parameters have it: decimal digits alone.
std::optional<Position> parse_position(std::string_view text) noexcept;

}  // namespace annals::core
