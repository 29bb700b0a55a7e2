// Fetcher: threads that wait for the device on behalf of those that serve requests.
//
// Layer:   storage.
// Threads: add() from any.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace annals::storage {

class Fetcher {
  public:
    /// The number of concurrent reads: solid-state disks need many to be busy.
    static constexpr std::size_t kThreadsMax = 32;

    using Work = std::function<void()>;

    Fetcher() = default;

    /// Completes all work that was added.
    ~Fetcher();

    Fetcher(const Fetcher&) = delete;
    Fetcher& operator=(const Fetcher&) = delete;

    /// Queues `work`, which must not throw; work is begun in the order in which it was added. Threads are started on demand; if
    /// none can be started, `work` runs at once on the calling thread.
    void add(Work work);

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Work> queue_;
    std::size_t idle_ = 0;
    bool stopping_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace annals::storage
