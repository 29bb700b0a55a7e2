// Credentials: what tokens and API keys are checked against, kept up to date while the server runs.
//
// Layer:   net/auth.
// Spec:    docs/security.md.
// Threads: any thread; what current() returns is immutable.

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

/// An issuer of tokens and the rules for them. Its keys verify only tokens that have its name as iss.
struct TrustedIssuer {
    TokenRules rules;
    KeySet keys;
    std::uint64_t fetched = 0;  ///< KeyFetcher's number of the keys; 0: none fetched yet
};

/// One state of all credentials.
struct Trusted {
    /// The one of auth.jwt.* first, if any, then auth.jwt.issuers, then this server.
    std::vector<TrustedIssuer> issuers;
    std::vector<core::ApiKey> api_keys;
    std::string introspection_secret;
    std::uint64_t number = 0;  ///< greater than in every earlier state
};

class Credentials {
  public:
    /// Reads the files that `config` names. Keys at URLs are fetched in the background (KeyFetcher); until then,
    /// that issuer's tokens are rejected. Errors: usage: one line that names the key of the configuration and
    /// what is wrong. `own_keys`: for the tokens that this server issues. Lifetime: `shown`, the certificate used
    /// for fetching, outlives it.
    static Result<std::unique_ptr<Credentials>> open(const core::Config& config,
                                                     KeySet own_keys = {},
                                                     const ClientCertificate* shown = nullptr);

    /// Whether the files can be used. Errors: as open().
    static Result<void> check(const core::Config& config);

    Credentials(const Credentials&) = delete;
    Credentials& operator=(const Credentials&) = delete;

    std::shared_ptr<const Trusted> current() const;

    /// The number of the newest state. Cost: one atomic load.
    std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }

    /// Asks for newer keys, after a token of the issuer at `index` named a key that isn't in its keys of
    /// number `seen` (TrustedIssuer::fetched). Null: none are expected.
    Settled ask_for_keys(std::size_t index, std::uint64_t seen);

    /// For opaque tokens; null: they are rejected.
    Introspector* introspector() const noexcept { return introspector_.get(); }

    /// Reads files again that have changed. If one can't be used, a warning is logged, the old state stays,
    /// and each call tries again.
    void reload_if_changed();

  private:
    Credentials(const core::Config& config, KeySet own_keys);

    Result<Trusted> read() const;
    void warn_of(const Trusted& trusted) const;  ///< of what permits nothing, but may be meant to
    void set(Trusted trusted);                   ///< under the mutex
    void set_keys(std::size_t index, KeySet keys, std::uint64_t fetched);

    const core::Config::Auth config_;
    const std::vector<core::Config::Auth::Issuer> issuers_;  ///< as Trusted::issuers
    const KeySet own_keys_;
    FileWatch watch_;  ///< used by the thread that reloads
    std::atomic<std::uint64_t> number_{0};

    mutable std::mutex mutex_;
    std::shared_ptr<const Trusted> current_;
    // Last, so that their threads end before the other members are destroyed.
    /// As issuers_; null: its keys are in a file.
    std::vector<std::unique_ptr<KeyFetcher>> fetchers_;
    std::unique_ptr<Introspector> introspector_;
};

}  // namespace annals::net::auth
