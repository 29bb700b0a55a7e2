// mapped_body: a file's mapping as the body of an answer, each part of which is brought into memory before it is sent.
//
// Layer:   core.
// Threads: the coroutine is awaited on its loop.

#pragma once

#include "core/exchange.h"
#include "core/loop.h"

#include <string_view>

namespace annals::core {

/// Makes `bytes` the body of `response`: the first part becomes `body`, which is in memory when this returns, and the rest `more`,
/// whose size is known and each slice of which is brought into memory while the one before it is sent. Sending straight from the
/// mapping would block the network thread whenever the device had to be waited for.
/// Lifetime: `bytes` live as long as `pin`; `response` until this returns.
asio::awaitable<void> put_mapped(Loop& loop, std::string_view bytes, Body::Pin pin,
                                 Response& response);

}  // namespace annals::core
