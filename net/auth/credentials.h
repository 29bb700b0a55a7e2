// Credentials: what presented tokens and API keys are held against, kept up to date while the server runs.
//
// Layer:   net/auth.
// Spec:    contract.md, auth.*.
// Threads: for all threads; what current() gives is immutable. A thread of its own fetches keys from a URL.

#pragma once

#include "core/config/api_keys.h"
#include "core/config/config.h"
#include "net/auth/jwt.h"
#include "net/auth/key_set.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace annals::net::auth {

/// One state of everything.
struct Trusted {
    KeySet keys;
    std::vector<core::ApiKey> api_keys;
    TokenRules rules;
    std::uint64_t number = 0;  ///< greater than that of every earlier state
};

class Credentials {
  public:
    /// Reads the files that `config` names. Keys of auth.jwt.jwks_url are fetched in the background, now and every
    /// five minutes; until they are there tokens are refused.
    /// Errors: usage: one line that names the key of the configuration and what is wrong.
    static Result<std::unique_ptr<Credentials>> open(const core::Config& config);

    /// Whether the files are of use. Errors: as open().
    static Result<void> check(const core::Config& config);

    ~Credentials();
    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    std::shared_ptr<const Trusted> current() const;

    /// The number of the newest state; a load.
    std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }

    /// A token names a key that isn't there in the state `seen`: asks for newer keys, unless that was done less than ten
    /// seconds ago. True if newer ones may come soon, or have come meanwhile: number() tells.
    bool ask_for_keys(std::uint64_t seen);

    /// Reads files again that have changed. If one is of no use, a warning is logged and the old state stays.
    void reload_if_changed();

  private:
    explicit Credentials(const core::Config& config);

    Result<Trusted> read() const;
    std::vector<std::filesystem::file_time_type> times() const;
    void set(Trusted trusted);  ///< under the mutex
    void fetch_keys();

    const core::Config::Auth config_;
    std::vector<std::filesystem::file_time_type> times_;  ///< of the thread that reloads
    std::atomic<std::uint64_t> number_{0};
    std::atomic<bool> quit_{false};

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::shared_ptr<const Trusted> current_;
    bool wanted_ = false;    ///< keys, at once
    bool fetching_ = false;  ///< they are on their way
    std::chrono::steady_clock::time_point asked_;
    std::thread thread_;  ///< only with a URL
};

}  // namespace annals::net::auth
