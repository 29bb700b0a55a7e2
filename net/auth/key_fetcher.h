// KeyFetcher: the keys of one issuer, fetched from its URL in the background.
//
// Layer:   net/auth.
// Threads: for all threads; it fetches on one of its own, so that an issuer which is away delays no other.

#pragma once

#include "net/auth/key_set.h"
#include "net/auth/settled.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace annals::net::auth {

class KeyFetcher {
  public:
    /// Fetches now and every five minutes. `take` gets the keys, on the fetching thread, whenever they have changed; `name` is
    /// for logs.
    KeyFetcher(std::string name, std::string url, std::function<void(KeySet)> take);

    ~KeyFetcher();
    KeyFetcher(const KeyFetcher&) = delete;
    KeyFetcher& operator=(const KeyFetcher&) = delete;

    /// Asks for newer keys: settled once they have been taken, or can't be had. Null: that was asked less than ten seconds
    /// ago.
    Settled ask();

  private:
    void run();

    const std::string name_;
    const std::string url_;
    const std::function<void(KeySet)> take_;
    std::atomic<bool> quit_{false};

    std::mutex mutex_;
    std::condition_variable wake_;
    bool wanted_ = true;                                   ///< at once
    std::shared_ptr<std::atomic<bool>> question_;          ///< not answered yet; null: none
    std::chrono::steady_clock::time_point next_question_;  ///< not before
    std::thread thread_;
};

}  // namespace annals::net::auth
