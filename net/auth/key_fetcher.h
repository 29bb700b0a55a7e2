// KeyFetcher: the keys of one issuer, fetched from its URL in the background.
//
// Layer:   net/auth.
// Threads: for all threads; it fetches on one of its own, so that an issuer which is away delays no other.

#pragma once

#include "net/auth/client_certificate.h"
#include "net/auth/key_set.h"
#include "net/auth/settled.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace annals::net::auth {

class KeyFetcher {
  public:
    /// Gets keys that have changed, and their number: 1, 2, ... Called on the fetching thread with the fetcher locked: it
    /// must not ask().
    using Take = std::function<void(KeySet keys, std::uint64_t number)>;

    /// Fetches now and every five minutes; `name` is for logs, `shown` for fetch(). Throws std::system_error where there is no
    /// thread for it. Lifetime: `shown` outlives it.
    KeyFetcher(std::string name, std::string url, const ClientCertificate* shown, Take take);

    ~KeyFetcher();
    KeyFetcher(const KeyFetcher&) = delete;
    KeyFetcher& operator=(const KeyFetcher&) = delete;

    /// No keys are taken from now on, and its thread ends soon.
    void stop();

    /// Asks for newer keys than those of the number `seen` (0: none yet): settled once they have been taken, which is at once
    /// if they have come meanwhile, or can't be had. Null: that was asked less than ten seconds ago.
    Settled ask(std::uint64_t seen);

  private:
    void run();

    const std::string name_;
    const std::string url_;
    const ClientCertificate* const shown_;
    const Take take_;
    std::atomic<bool> quit_{false};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::uint64_t taken_ = 0;                              ///< number of the keys taken last
    bool wanted_ = true;                                   ///< at once
    std::shared_ptr<std::atomic<bool>> question_;          ///< not answered yet; null: none
    std::chrono::steady_clock::time_point next_question_;  ///< not before
    std::thread thread_;
};

}  // namespace annals::net::auth
