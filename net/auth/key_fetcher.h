// KeyFetcher: fetches the keys of one issuer from its URL in the background.
//
// Layer:   net/auth.
// Threads: any; it fetches on a thread of its own, so that an unreachable issuer delays no other.

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
    /// Receives keys that have changed, and their number: 1, 2, ... Called on the fetching thread with the
    /// fetcher locked: it must not call ask().
    using Take = std::function<void(KeySet keys, std::uint64_t number)>;

    /// Fetches now and every five minutes; `name` is for logs, `shown` for fetch(). Throws std::system_error
    /// if its thread can't be started. Lifetime: `shown` outlives it.
    KeyFetcher(std::string name, std::string url, const ClientCertificate* shown, Take take);

    ~KeyFetcher();
    KeyFetcher(const KeyFetcher&) = delete;
    KeyFetcher& operator=(const KeyFetcher&) = delete;

    /// No keys are passed on from now on, and the thread ends soon.
    void stop();

    /// Asks for newer keys than those of number `seen` (0: none yet): settled once they were passed on,
    /// which is at once if that has happened meanwhile, or could not be fetched. Null: less than ten
    /// seconds ago it was asked already.
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
    std::uint64_t taken_ = 0;                              ///< number of the last keys
    bool wanted_ = true;                                   ///< fetch at once
    std::shared_ptr<std::atomic<bool>> question_;          ///< not settled yet; null: none
    std::chrono::steady_clock::time_point next_question_;  ///< not earlier
    std::thread thread_;
};

}  // namespace annals::net::auth
