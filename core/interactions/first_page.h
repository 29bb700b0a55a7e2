// FirstPage: whether a first page is made again, because something was erased while it was made.
//
// Layer:   core/interactions.
// Spec:    docs/search.md, How a search is answered.
// Threads: on the loop of its request.

#pragma once

#include "core/exchange.h"
#include "core/interactions/turns.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstdint>

namespace annals::core {

class FirstPage {
  public:
    /// Before the page is made for the first time. Lifetime: `service` outlives this.
    explicit FirstPage(const Service& service);

    /// Each time it has been made: whether to make it again, which this call begins. An erased version may have been counted
    /// already, or replaced after the page's snapshot, which then shows neither; if it was a value set, the query seems wrong.
    /// Never after the answers that it asks for too much or that there is no time for it: no erasure is their reason.
    bool begin_again(const Response& made);

  private:
    const Service& service_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::uint64_t erased_;
    int times_ = 0;
};

/// A handler whose work is done in `turns`.
using HandlerInTurns = asio::awaitable<Response> (*)(const Service& service, const Request& request,
                                                     const Target& target, Turns& turns);

/// Answers by `make`, again as if that were a first page: for operations that search and have no other pages. All of it together has
/// `limits.request_timeout`. Lifetime: the arguments outlive the call.
asio::awaitable<Response> answer_as_first_page(const Service& service, const Request& request,
                                               const Target& target, HandlerInTurns make);

}  // namespace annals::core
