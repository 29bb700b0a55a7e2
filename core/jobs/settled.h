// Settled: what came of something that the keeper of the jobs does while a coroutine waits for it.
//
// Layer:   core/jobs.
// Threads: settle() on the keeper's; outcome_of() on the loop's.

#pragma once

#include "core/base/result.h"
#include "core/loop.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace annals::core {

/// One result, which is passed from one thread to another without a lock.
class Settled {
  public:
    /// To be called once.
    void settle(Result<void> result) {
        result_ = std::move(result);
        done_.store(true, std::memory_order_release);
    }

    /// Waits for settle(), and returns its argument. To be called once. Lifetime: `loop` outlives it.
    static asio::awaitable<Result<void>> outcome_of(Loop& loop, std::shared_ptr<Settled> settled) {
        while (!settled->done_.load(std::memory_order_acquire)) {
            co_await loop.pause(kPause);
        }
        co_return std::move(settled->result_);
    }

  private:
    /// How long a coroutine sleeps between two checks.
    static constexpr std::chrono::milliseconds kPause{2};

    std::atomic<bool> done_ = false;
    Result<void> result_;
};

}  // namespace annals::core
