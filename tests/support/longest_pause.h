// How long the handling of a request keeps others on its loop waiting.
//
// Threads: the test's.

#pragma once

#include "core/own_loop.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <algorithm>
#include <ctime>

namespace annals::test {

struct Watched {
    Result<core::Response> response;
    std::clock_t longest =
        0;  ///< pause of another coroutine that is always ready, in processor time
    std::clock_t whole = 0;
};

inline asio::awaitable<void> watch_pauses(core::Loop& loop, const bool& over,
                                          std::clock_t& longest) {
    std::clock_t last = std::clock();
    while (!over) {
        co_await loop.yield();
        const std::clock_t time = std::clock();
        longest = std::max(longest, time - last);
        last = time;
    }
}

inline asio::awaitable<core::Response> handle_beside(const core::Service& service,
                                                     const core::Request& request,
                                                     std::clock_t& longest) {
    bool over = false;
    core::spawn(*request.loop, "watch", watch_pauses(*request.loop, over, longest));
    core::Response response = co_await core::handle(service, request);
    over = true;
    co_await request.loop->yield();
    co_return response;
}

inline Watched handle_watched(const core::Service& service, core::Request& request) {
    Watched watched{core::Response()};
    core::OwnLoop loop(service.store());
    const std::clock_t begin = std::clock();
    watched.response = loop.run("test", request, handle_beside(service, request, watched.longest));
    watched.whole = std::clock() - begin;
    return watched;
}

}  // namespace annals::test
