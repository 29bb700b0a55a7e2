// OwnLoop: what is awaited, done by a thread that has no loop and may block.
//
// Layer:   core.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/exchange.h"
#include "core/loop.h"

#include <functional>
#include <memory>

namespace annals::core {

/// A loop over `store`, for who can go on without one. Lifetime: `store` outlives it.
/// Errors: overloaded: the process is out of descriptors or memory, which may pass.
Result<std::unique_ptr<Loop>> make_loop(storage::Store& store);

/// One answer after another, each on the thread that asks for it. The loop is made for the first and serves all of them.
class OwnLoop {
  public:
    /// Lifetime: `store` outlives it.
    explicit OwnLoop(storage::Store& store) : store_(store) {}

    /// Runs `answer`, which is about `request`, to its end; meanwhile Request::loop is set.
    /// `stopping`: looked at a few times a second; when it says so `answer` is given up wherever it is.
    /// Requires:  `answer` is a coroutine's, which has looked at nothing yet.
    /// Errors:    overloaded: there can be no loop (make_loop()), and nothing was done; timeout: it was given up.
    /// Lifetime:  `name` is a literal; what `answer` refers to lives until this returns.
    Result<Response> run(const char* name, Request& request, asio::awaitable<Response> answer,
                         std::function<bool()> stopping = {});

  private:
    storage::Store& store_;
    std::unique_ptr<Loop> loop_;
};

}  // namespace annals::core
