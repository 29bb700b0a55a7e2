// FirstPage: whether a first page is made again, because something was erased while it was made.
//
// Layer:   core/interactions.
// Spec:    docs/search.md, How a search is answered.
// Threads: plain functions and values.

#pragma once

#include "core/exchange.h"
#include "core/service.h"

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

}  // namespace annals::core
