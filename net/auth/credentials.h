// Credentials: what presented tokens and API keys are held against, kept up to date while the server runs.
//
// Layer:   net/auth.
// Spec:    contract.md, auth.*.
// Threads: for all threads; what current() gives is immutable.

#pragma once

#include "core/config/api_keys.h"
#include "core/config/config.h"
#include "net/auth/introspector.h"
#include "net/auth/key_fetcher.h"
#include "net/auth/key_set.h"
#include "net/file_watch.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annals::net::auth {

/// Whoever signs tokens, and what they are held to. Its keys are good for tokens with its name as iss alone.
struct TrustedIssuer {
    TokenRules rules;
    KeySet keys;
    std::uint64_t fetched = 0;  ///< KeyFetcher's number of the keys; 0: none have been fetched
};

/// One state of everything.
struct Trusted {
    std::vector<TrustedIssuer>
        issuers;  ///< that of auth.jwt.* first, if there is one, then auth.jwt.issuers, then this server
    std::vector<core::ApiKey> api_keys;
    std::string introspection_secret;
    std::uint64_t number = 0;  ///< greater than that of every earlier state
};

class Credentials {
  public:
    /// Reads the files that `config` names. Keys of URLs are fetched in the background (KeyFetcher); until they are
    /// there the tokens of that issuer are refused.
    /// Errors: usage: one line that names the key of the configuration and what is wrong.
    /// `own_keys`: of the tokens that this server gives itself.
    /// Lifetime: `shown`, the certificate for whom it asks, outlives it.
    static Result<std::unique_ptr<Credentials>> open(const core::Config& config,
                                                     KeySet own_keys = {},
                                                     const ClientCertificate* shown = nullptr);

    /// Whether the files are of use. Errors: as open().
    static Result<void> check(const core::Config& config);

    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    std::shared_ptr<const Trusted> current() const;

    /// The number of the newest state; a load.
    std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }

    /// A token of the issuer at `index` names a key that isn't among those of the number `seen` (TrustedIssuer::fetched):
    /// asks for newer keys. Null: none are to be expected.
    Settled ask_for_keys(std::size_t index, std::uint64_t seen);

    /// Who is asked about opaque tokens; null: nobody.
    Introspector* introspector() const noexcept { return introspector_.get(); }

    /// Reads files again that have changed. If one is of no use, a warning is logged, the old state stays, and each call
    /// tries again.
    void reload_if_changed();

  private:
    Credentials(const core::Config& config, KeySet own_keys);

    Result<Trusted> read() const;
    void set(Trusted trusted);  ///< under the mutex
    void set_keys(std::size_t index, KeySet keys, std::uint64_t fetched);

    const core::Config::Auth config_;
    const std::vector<core::Config::Auth::Issuer> issuers_;  ///< as Trusted::issuers
    const KeySet own_keys_;
    FileWatch watch_;      ///< of the thread that reloads
    bool unread_ = false;  ///< likewise: the files were of no use
    std::atomic<std::uint64_t> number_{0};

    mutable std::mutex mutex_;
    std::shared_ptr<const Trusted> current_;
    // The last members: their threads end before the rest goes.
    std::vector<std::unique_ptr<KeyFetcher>>
        fetchers_;  ///< as issuers_; null: its keys are in a file
    std::unique_ptr<Introspector> introspector_;
};

}  // namespace annals::net::auth
