#include "storage/fetcher.h"

#include "core/base/start_thread.h"

#include <utility>

namespace annals::storage {

Fetcher::~Fetcher() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::jthread& thread : threads_) {
        thread.join();
    }
}

void Fetcher::add(Work work) {
    {
        const std::lock_guard lock(mutex_);
        if (queue_.size() >= idle_ && threads_.size() < kThreadsMax) {
            // If no more can be started, the existing ones do the work.
            if (auto thread = start_thread("fetcher", [this] { run(); })) {
                threads_.push_back(*std::move(thread));
            }
        }
        if (!threads_.empty()) {
            queue_.push_back(std::exchange(work, nullptr));
        }
    }
    if (work) {
        work();
        return;
    }
    wake_.notify_one();
}

void Fetcher::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        --idle_;
        if (queue_.empty()) {
            return;
        }
        const Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work();
        lock.lock();
    }
}

}  // namespace annals::storage
