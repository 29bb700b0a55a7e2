#include "core/own_loop.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace annals::core {

namespace {

/// The longest time until an abandoned answer is stopped.
constexpr std::chrono::milliseconds kStopPause{50};

// The arguments are passed as parameters of the coroutines, so that they live as long as their frames.
asio::awaitable<void> answer_and_stop(Loop& loop, asio::awaitable<Response> answer,
                                      std::optional<Response>& response) {
    response = co_await std::move(answer);
    loop.stop();
}

asio::awaitable<void> stop_when_asked(Loop& loop, std::function<bool()> stopping) {
    while (!stopping()) {
        co_await loop.pause(kStopPause);
    }
    loop.stop();
}

/// Errors: overloaded: the process is out of descriptors or memory, which may pass.
Result<std::unique_ptr<Loop>> make_loop(storage::Store& store) {
    try {
        return std::make_unique<Loop>(store);
    } catch (const std::system_error& refused) {
        return Error{Errc::overloaded,
                     fmt::format("cannot create an event loop: {}", refused.what())};
    }
}

}  // namespace

Result<Response> OwnLoop::run(const char* name, Request& request, asio::awaitable<Response> answer,
                              std::function<bool()> stopping) {
    if (loop_ == nullptr) {
        ANNALS_TRY(loop_, make_loop(store_));
    }
    const bool watched = stopping != nullptr;
    std::optional<Response> response;
    request.loop = loop_.get();
    spawn(*loop_, name, answer_and_stop(*loop_, std::move(answer), response));
    if (watched) {
        spawn(*loop_, name, stop_when_asked(*loop_, std::move(stopping)));
    }
    loop_->run();
    if (watched) {
        // One of the two coroutines is still suspended and refers to locals of this function.
        loop_.reset();
    }
    request.loop = nullptr;
    if (!response) {
        return Error{Errc::timeout, "stopped"};
    }
    return *std::move(response);
}

}  // namespace annals::core
