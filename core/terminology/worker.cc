#include "core/terminology/worker.h"

#include "core/base/start_thread.h"
#include "core/loop.h"

#include <algorithm>
#include <chrono>

namespace annals::terminology {

namespace {

constexpr std::size_t kTasksMax = 64;
constexpr std::chrono::milliseconds kFirstWait{1};
constexpr std::chrono::milliseconds kLongestWait{20};

}  // namespace

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wakes_.notify_all();
}

Result<void> Worker::submit(const std::shared_ptr<Task>& task) {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() >= kTasksMax || stopping_) {
        return Error{Errc::overloaded};
    }
    if (!thread_.joinable()) {
        ANNALS_TRY(thread_, start_thread("terminology", [this] { work(); }));
    }
    tasks_.push_back(task);
    wakes_.notify_one();
    return {};
}

bool Worker::withdraw(const std::shared_ptr<Task>& task) {
    const std::lock_guard lock(mutex_);
    return std::erase(tasks_, task) != 0;
}

void Worker::work() {
    for (;;) {
        std::shared_ptr<Task> task;
        {
            std::unique_lock lock(mutex_);
            wakes_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
            if (stopping_) {
                return;
            }
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task->work();
        task->done.store(true, std::memory_order_release);
    }
}

// The loop polls instead of being notified, so that nothing is sent to a loop that may be gone.
asio::awaitable<Result<void>> Worker::run(core::Loop& loop, std::function<void()> work,
                                          Clock::time_point end) {
    if (loop.given_up()) {
        co_return Error{Errc::overloaded};
    }
    auto task = std::make_shared<Task>();
    task->work = std::move(work);
    Result<void> submitted = submit(task);
    if (!submitted) {
        co_return submitted;
    }
    std::chrono::milliseconds wait = kFirstWait;
    while (!task->done.load(std::memory_order_acquire)) {
        co_await loop.pause(wait);
        const bool given_up = loop.given_up();
        if ((given_up || Clock::now() >= end) && withdraw(task)) {
            co_return Error{given_up ? Errc::overloaded : Errc::timeout};
        }
        wait = std::min(wait * 2, kLongestWait);
    }
    co_return Result<void>();
}

}  // namespace annals::terminology
