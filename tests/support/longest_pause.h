// What others on its loop do while a request is handled, and how long it keeps them waiting.
//
// Threads: the test's.

#pragma once

#include "core/base/processor_time.h"
#include "core/interactions/turns.h"
#include "core/own_loop.h"
#include "core/service.h"

#include <asio/awaitable.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace annals::test {

inline asio::awaitable<void> repeat(core::Loop& loop, const bool& over,
                                    const std::function<void()>& turn) {
    while (!over) {
        co_await loop.yield();
        turn();
    }
}

inline asio::awaitable<core::Response> answer_beside(const core::Service& service,
                                                     const core::Request& request,
                                                     const std::function<void()>& turn) {
    bool over = false;
    core::spawn(*request.loop, "beside", repeat(*request.loop, over, turn));
    core::Response response = co_await core::handle(service, request);
    over = true;
    co_await request.loop->yield();
    co_return response;
}

/// Handles `request` on a loop of its own, and calls `turn` whenever it lets others have theirs.
inline Result<core::Response> handle_beside(const core::Service& service, core::Request& request,
                                            const std::function<void()>& turn) {
    core::OwnLoop loop(service.store());
    return loop.run("test", request, answer_beside(service, request, turn));
}

/// In processor time of the loop's thread.
struct Watched {
    Result<core::Response> response;
    std::chrono::nanoseconds longest{0};  ///< pause of another coroutine that is always ready
    std::chrono::nanoseconds whole{0};
};

inline Watched handle_watched(const core::Service& service, core::Request& request) {
    Watched watched{core::Response()};
    const auto begin = processor_time();
    auto last = begin;
    watched.response = handle_beside(service, request, [&] {
        const auto time = processor_time();
        watched.longest = std::max(watched.longest, time - last);
        last = time;
    });
    watched.whole = processor_time() - begin;
    return watched;
}

/// How long a pause may be in turns of about `turn`; longer if everything takes long, as in a sanitized build.
inline std::chrono::nanoseconds longest_permitted(std::chrono::nanoseconds turn,
                                                  const Watched& watched) {
    return std::max(3 * turn, watched.whole / 4);
}

/// The same for a request that changes nothing, repeated if a pause was too long: a virtual machine's processor may have been
/// taken away from it, but hardly each time. Each time on another thread, which has nothing of what the first has made.
inline Watched handle_watched_repeatedly(const core::Service& service, core::Request& request,
                                         std::chrono::nanoseconds turn = core::kTurn) {
    Watched watched = handle_watched(service, request);
    for (int again = 0; again < 2 && watched.longest >= longest_permitted(turn, watched); ++again) {
        std::thread([&] { watched = handle_watched(service, request); }).join();
    }
    return watched;
}

/// Expects turns of about `turn`. The whole must take several times as long.
inline void expect_turns_of(std::chrono::nanoseconds turn, const Watched& watched) {
    const std::chrono::nanoseconds most = longest_permitted(turn, watched);
    EXPECT_GT(watched.whole.count(), most.count()) << "one turn is enough for everything";
    EXPECT_LT(watched.longest.count(), most.count()) << "of " << watched.whole.count() << " ns";
}

/// Handles `request`, and expects an answer of `status` in turns of about core::kTurn.
inline void expect_turns(const core::Service& service, core::Request& request, int status) {
    const Watched watched = handle_watched(service, request);
    ASSERT_TRUE(watched.response);
    EXPECT_EQ(watched.response->status, status);
    expect_turns_of(core::kTurn, watched);
}

}  // namespace annals::test
