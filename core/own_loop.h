// OwnLoop: runs coroutines on a thread that has no loop and may block.
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

/// Runs one answer after another, each on the calling thread. The loop is made for the first and used for all.
class OwnLoop {
  public:
    /// Lifetime: `store` outlives it.
    explicit OwnLoop(storage::Store& store) : store_(store) {}

    /// Runs `answer`, the answer to `request`, to its end; Request::loop is set meanwhile.
    /// `stopping`: checked a few times a second; when it returns true, `answer` is abandoned wherever it is.
    /// Requires:  `answer` is a coroutine that has not been started.
    /// Errors:    overloaded: no loop can be made for want of descriptors or memory, and nothing was done; timeout:
    ///             it was abandoned.
    /// Lifetime:  `name` is a literal; what `answer` refers to lives until this returns.
    Result<Response> run(const char* name, Request& request, asio::awaitable<Response> answer,
                         std::function<bool()> stopping = {});

  private:
    storage::Store& store_;
    std::unique_ptr<Loop> loop_;
};

}  // namespace annals::core
