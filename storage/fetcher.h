// Fetcher: threads that wait for the device in the place of those that serve.
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
    /// So many reads are asked of the device at once: what disks that remember without moving parts need to be busy.
    static constexpr std::size_t kThreadsMax = 32;

    using Work = std::function<void()>;

    Fetcher() = default;

    /// All that was added is done.
    ~Fetcher();

    Fetcher(const Fetcher&) = delete;
    Fetcher& operator=(const Fetcher&) = delete;

    /// Has `work` done by a thread of its own, soon; in the order in which it was added. It must not throw. Threads begin when
    /// they are needed; where there can be none, `work` is done at once.
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
