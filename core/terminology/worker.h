// Worker: a thread for answers that would block a network thread for too long.
//
// Layer:   core/terminology.
// Threads: run() on the waiting loop; the work itself runs on the worker's thread.

#pragma once

#include "core/base/result.h"

#include <asio/awaitable.hpp>

#include <atomic>
#include <chrono>
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

/// Runs one piece of work at a time, in the order of arrival; the thread is started by the first.
class Worker {
  public:
    using Clock = std::chrono::steady_clock;

    /// The maximum size of resources that are parsed, or looked at more than once, on a network thread; beyond it, the worker
    /// does it.
    static constexpr std::size_t kBytesOnLoop = 256 << 10;

    /// The maximum number of steps (Effort) for an answer on a network thread, about a millisecond's work; beyond it, the
    /// worker does it.
    static constexpr std::uint64_t kStepsOnLoop = 40'000;

    Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Signals stopping() and waits for the current work; drops all that has not begun.
    ~Worker();

    /// Returns once `work` has run. The work may outlive the caller, so it must own what it uses. Errors: overloaded: too much
    /// is waiting, there is no thread for it, or the loop gave up before it began; timeout: it had not begun at `end`.
    asio::awaitable<Result<void>> run(core::Loop& loop, std::function<void()> work,
                                      Clock::time_point end = Clock::time_point::max());

    /// The same for work with a result. Errors: also those of the work.
    template <typename Made>
    asio::awaitable<Result<Made>> make(core::Loop& loop, std::function<Result<Made>()> work,
                                       Clock::time_point end = Clock::time_point::max()) {
        const auto made = std::make_shared<std::optional<Result<Made>>>();
        Result<void> ran =
            co_await run(loop, [made, work = std::move(work)] { made->emplace(work()); }, end);
        if (!ran) {
            co_return std::move(ran.error());
        }
        co_return std::move(**made);
    }

    /// How many pieces of work have not begun yet.
    std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return tasks_.size();
    }

    /// Set when the current work should end.
    const std::atomic<bool>& stopping() const noexcept { return stopping_; }

  private:
    struct Task {
        std::function<void()> work;
        std::atomic<bool> done{false};
    };

    Result<void> submit(const std::shared_ptr<Task>& task);

    /// False if it has begun.
    bool withdraw(const std::shared_ptr<Task>& task);

    void work();

    mutable std::mutex mutex_;
    std::condition_variable wakes_;
    std::deque<std::shared_ptr<Task>> tasks_;  // guarded by mutex_
    std::atomic<bool> stopping_{false};
    std::jthread thread_;  // started under mutex_; destroyed first, which waits for its end
};

}  // namespace annals::terminology
