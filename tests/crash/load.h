// Load: clients that write to a server and remember what it acknowledged.
//
// Threads: start(), stop() and the rest from the test's thread; each writer has its own.

#pragma once

#include "tools/commands/http_client.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace annals::test {

/// A version that a server acknowledged.
struct Acknowledged {
    std::string url;  ///< "Patient/1/_history/2"
    bool deletion = false;
    std::uint64_t hash = 0;  ///< of the body in the answer
};

/// Writers that create, update and delete until they are stopped or the server is gone. Each has its own
/// ids, so it knows what must be there.
class Load {
  public:
    Load(const std::string& url, std::size_t writers, std::uint64_t seed);

    ~Load() { stop(); }

    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    /// Stops the writers after their current request.
    void stop();

    std::uint64_t count() const noexcept { return count_; }

    /// Unsuccessful answers while the server was running.
    std::vector<std::string> faults();

    /// Everything acknowledged. Requires: stopped.
    std::vector<Acknowledged> take();

  private:
    void write(const std::string& url, std::size_t writer, std::uint64_t seed);
    void note_fault(const std::string& fault);

    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> count_{0};
    std::mutex mutex_;
    std::vector<Acknowledged> acknowledged_;
    std::vector<std::string> faults_;
    std::vector<std::thread> threads_;
};

/// What the server at `url` lacks or has differently from `expected`: one per line, at most ten.
std::vector<std::string> find_lost(const std::string& url,
                                   const std::vector<Acknowledged>& expected);

}  // namespace annals::test
