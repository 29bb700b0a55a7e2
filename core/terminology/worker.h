// Worker: a thread of its own for answers that would hold up a network thread.
//
// Layer:   core/terminology.
// Threads: run() on the loop that waits; the work runs on the worker's thread.

#pragma once

#include "core/base/result.h"

#include <asio/awaitable.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace annals::core {
class Loop;
}

namespace annals::terminology {

/// One piece of work at a time, in the order in which they come; the thread begins with the first.
class Worker {
  public:
    /// Bytes of resources that may be parsed and looked at more than once on a network thread; more of them are its work.
    static constexpr std::size_t kBytesOnLoop = 256 << 10;

    /// Steps (Effort) that an answer may take on a network thread, a millisecond's work; what takes more is its work.
    static constexpr std::uint64_t kStepsOnLoop = 40'000;

    Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Waits for the work under way, which stopping() tells of; what has not begun is dropped.
    ~Worker();

    /// Returns when `work` has run. It may outlive the caller, so that it owns what it works on.
    /// Errors: overloaded: too much is waiting, or there is no thread for it.
    asio::awaitable<Result<void>> run(core::Loop& loop, std::function<void()> work);

    /// The same of work that comes to something. Errors: its own, too.
    template <typename Made>
    asio::awaitable<Result<Made>> make(core::Loop& loop, std::function<Result<Made>()> work) {
        const auto made = std::make_shared<std::optional<Result<Made>>>();
        Result<void> ran =
            co_await run(loop, [made, work = std::move(work)] { made->emplace(work()); });
        if (!ran) {
            co_return std::move(ran.error());
        }
        co_return std::move(**made);
    }

    /// True when the work under way is to end.
    const std::atomic<bool>& stopping() const noexcept { return stopping_; }

  private:
    struct Task {
        std::function<void()> work;
        std::atomic<bool> done{false};
    };

    Result<void> submit(const std::shared_ptr<Task>& task);
    void work();

    std::mutex mutex_;
    std::condition_variable wakes_;
    std::deque<std::shared_ptr<Task>> tasks_;  // guarded by mutex_
    std::atomic<bool> stopping_{false};
    std::jthread thread_;  // begun under mutex_; the first to go, which waits for its end
};

}  // namespace annals::terminology
