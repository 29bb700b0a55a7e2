// mapped_body: a file's mapping as the body of an answer, of which nothing is sent before it is in memory.
//
// Layer:   core.
// Threads: the coroutine is awaited on its loop.

#pragma once

#include "core/exchange.h"
#include "core/loop.h"

#include <string_view>

namespace annals::core {

/// Makes `bytes` the body of `response`: the first of them its `body`, in memory when this returns, and what is left its
/// `more`, whose size is known and which is brought into memory while what is before it is sent. A thread of the network
/// that sent them from the mapping would stand still wherever the device had to be waited for.
/// Lifetime: `bytes` live as long as `pin`; `response` until this returns.
asio::awaitable<void> put_mapped(Loop& loop, std::string_view bytes, Body::Pin pin,
                                 Response& response);

}  // namespace annals::core
