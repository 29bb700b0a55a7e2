// How long the handling of a request keeps others on its loop waiting.
//
// Threads: the test's.

#pragma once

#include "core/own_loop.h"
#include "core/service.h"

#include <asio/awaitable.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace annals::test {

/// The processor time of this thread: what other threads and processes take is no pause.
inline std::chrono::microseconds thread_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

/// In processor time of the loop's thread.
struct Watched {
    Result<core::Response> response;
    std::chrono::microseconds longest{0};  ///< pause of another coroutine that is always ready
    std::chrono::microseconds whole{0};
};

inline asio::awaitable<void> watch_pauses(core::Loop& loop, const bool& over,
                                          std::chrono::microseconds& longest) {
    auto last = thread_time();
    while (!over) {
        co_await loop.yield();
        const auto time = thread_time();
        longest = std::max(longest, time - last);
        last = time;
    }
}

inline asio::awaitable<core::Response> handle_beside(const core::Service& service,
                                                     const core::Request& request,
                                                     std::chrono::microseconds& longest) {
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
    const auto begin = thread_time();
    watched.response = loop.run("test", request, handle_beside(service, request, watched.longest));
    watched.whole = thread_time() - begin;
    return watched;
}

/// Expects turns of about `turn`; longer ones if everything takes long, as in a sanitized build. The whole must take several times
/// as long.
inline void expect_turns_of(std::chrono::microseconds turn, const Watched& watched) {
    const std::chrono::microseconds most = std::max(3 * turn, watched.whole / 4);
    EXPECT_GT(watched.whole.count(), most.count()) << "one turn is enough for everything";
    EXPECT_LT(watched.longest.count(), most.count()) << "of " << watched.whole.count() << " us";
}

}  // namespace annals::test
