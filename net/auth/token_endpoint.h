// TokenEndpoint: issues access tokens of this server to known clients, in exchange for assertions that they sign.
//
// Layer:   net/auth.
// Spec:    RFC 6749 sections 4.4 and 5, RFC 7521 to 7523, RFC 9068; SMART App Launch 2.0, Backend Services;
//          docs/security.md, "Tokens of its own".
// Threads: any; reload_if_changed() from one only.

#pragma once

#include "core/config/config.h"
#include "core/exchange.h"
#include "net/auth/clients.h"
#include "net/auth/replays.h"
#include "net/auth/settled.h"
#include "net/auth/token_signer.h"
#include "net/throttle.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace annals::net::auth {

class TokenEndpoint {
  public:
    /// Larger requests for a token are rejected.
    static constexpr std::size_t kRequestBytesMax = 32 << 10;
    static constexpr std::chrono::seconds kTokenLife{300};

    /// Reads the files that `config` names, and the assertions taken before, from the data directory, which belongs to
    /// this process unless it is read-only. Lifetime: `files` outlives it, and so does `shown`, the certificate used
    /// for fetching clients' keys. Errors: usage: one line that names the setting and what is wrong; no_store, io.
    static Result<std::unique_ptr<TokenEndpoint>> open(const core::Config& config,
                                                       storage::FileSystem& files, Instant now,
                                                       const ClientCertificate* shown = nullptr);

    /// Whether the files can be used. Errors: as open().
    static Result<void> check(const core::Config& config);

    /// Whether `request`, its path below /fhir, is for the endpoint.
    static bool is_for(const core::Request& request) noexcept;

    /// Refuses a request for the endpoint by its head if it is too large, or doesn't say how large it is.
    static std::optional<core::Response> refuse_at_head(const core::Request& request);

    /// Answers a request for the endpoint that came from `address`. `client` is set to the client that got a token.
    ///
    /// If that depends on newer keys of the client, it asks for them and sets `later`: there is no response
    /// yet, and another call once that is settled knows more. If `later` is null, it asks nobody.
    std::optional<core::Response> answer(const core::Request& request, std::string_view address,
                                         Instant now, Settled* later, std::string& client);

    /// The response to a request for the public keys of its tokens. None: it is for something else.
    std::optional<core::Response> answer_keys(const core::Request& request) const;

    /// The keys that verify its tokens.
    KeySet keys() const;

    /// Reads the clients' files again if they have changed.
    void reload_if_changed() { clients_->reload_if_changed(); }

    std::uint64_t issued() const noexcept { return issued_.load(std::memory_order_relaxed); }

    std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  private:
    TokenEndpoint(const core::Config& config, TokenSigner signer, std::unique_ptr<Clients> clients,
                  std::unique_ptr<Replays> replays);

    Result<std::string> give(const core::Request& request, Instant now, Settled* later,
                             std::string& client);
    Result<std::string> make(const Client& client, const std::string& scopes, Instant now) const;

    const std::string issuer_;  ///< base_url
    const std::string url_;
    const std::chrono::milliseconds leeway_;
    const TokenSigner signer_;
    const std::unique_ptr<Clients> clients_;
    Throttle throttle_;
    const std::unique_ptr<Replays> replays_;
    std::atomic<std::uint64_t> issued_{0};
    std::atomic<std::uint64_t> refused_{0};
};

}  // namespace annals::net::auth
