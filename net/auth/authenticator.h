// Authenticator: from a request's headers to a Principal.
//
// Layer:   net/auth.
// Spec:    RFC 6750; contract.md, auth.mode; spec.md, Authentication.
// Threads: one for each network thread: nothing is locked for a token that was seen before.

#pragma once

#include "core/access.h"
#include "core/exchange.h"
#include "net/auth/credentials.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace annals::net::auth {

class Authenticator {
  public:
    /// The credentials that a connection brought last, if they were good: it mostly brings the same again. The connection's.
    struct Memo {
        std::string credentials;
        bool is_key = false;
        std::uint64_t number = 0;  ///< Trusted::number
        Instant learned;
        Instant expires;
        std::shared_ptr<const core::Principal> principal;
    };

    /// Where a request comes from.
    struct Peer {
        std::string_view address;
        /// x5t#S256 of the client certificate that the connection showed. Empty: it was not asked for one, so that what a token is
        /// bound to is for whoever stands before this server to look at.
        std::string_view certificate = {};
    };

    /// Lifetime: `credentials` outlives it.
    Authenticator(const core::Config::Auth& config, Credentials& credentials);

    /// Who of `peer` sends `request`; null if it brings no credentials.
    ///
    /// Where that depends on what must be asked elsewhere (newer keys, introspection) it asks, and sets `later`: the result is
    /// an error that says nothing, and once that is settled another call knows more. With `later` null it asks nothing.
    ///
    /// Errors: bad_credentials, credentials_expired; overloaded: it can't be found out at present; throttled: nothing more is
    ///         found out for that address at present.
    Result<std::shared_ptr<const core::Principal>> authenticate(const core::Request& request,
                                                                const Peer& peer, Instant now,
                                                                Settled* later, Memo& memo);

  private:
    struct Known {
        std::shared_ptr<const core::Principal> principal;
        Instant expires;
        std::string certificate = {};  ///< Claims::certificate
    };

    struct Hash {
        using is_transparent = void;

        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };

    void catch_up();
    Result<Known> by_bearer(std::string_view value, std::string_view address, Instant now,
                            Settled* later);
    Result<Known> by_token(std::string_view token, std::string_view address, Instant now,
                           Settled* later);
    Result<Claims> verify(std::string_view token, std::string_view address, Instant now,
                          Settled* later) const;
    Result<Known> by_key(std::string_view key) const;

    const bool takes_tokens_;
    const bool takes_keys_;
    Credentials& credentials_;
    std::shared_ptr<const Trusted> trusted_;
    std::vector<std::shared_ptr<const core::Principal>> key_holders_;  ///< as trusted_->api_keys
    std::unordered_map<std::string, Known, Hash, std::equal_to<>> tokens_;  ///< good ones
    Instant last_now_;
};

}  // namespace annals::net::auth
