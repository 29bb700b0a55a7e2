// Authenticator: finds the Principal for a request's headers.
//
// Layer:   net/auth.
// Spec:    RFC 6750; docs/security.md.
// Threads: one for each network thread: a token that was seen before needs no lock.

#pragma once

#include "core/access.h"
#include "core/base/text_map.h"
#include "core/exchange.h"
#include "net/auth/credentials.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net::auth {

class Authenticator {
  public:
    /// The last valid credentials of a connection, which mostly sends the same again. Belongs to the connection.
    struct Memo {
        std::string credentials;
        bool is_key = false;
        std::uint64_t number = 0;  ///< Trusted::number
        Instant learned;
        Instant expires;
        std::shared_ptr<const core::Principal> principal;
    };

    /// The origin of a request.
    struct Peer {
        std::string_view address;
        /// x5t#S256 of the connection's client certificate. Empty: none was requested, so a certificate that
        /// a token is bound to must be checked by the proxy in front of this server.
        std::string_view certificate = {};
    };

    /// Lifetime: `credentials` outlives it.
    Authenticator(const core::Config::Auth& config, Credentials& credentials);

    /// The sender of `request`, which came from `peer`; null if it has no credentials.
    ///
    /// If that depends on others (newer keys, introspection), it asks them and sets `later`: the result is a
    /// meaningless error, and another call once `later` is settled knows more. If `later` is null, it asks nobody.
    ///
    /// Errors: bad_credentials, credentials_expired; overloaded: it can't be found out now; throttled:
    ///         nothing more is found out for that address now.
    Result<std::shared_ptr<const core::Principal>> authenticate(const core::Request& request,
                                                                const Peer& peer, Instant now,
                                                                Settled* later, Memo& memo);

  private:
    struct Known {
        std::shared_ptr<const core::Principal> principal;
        Instant expires;
        std::string certificate = {};  ///< Claims::certificate
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
    TextMap<Known> tokens_;                                            ///< good ones
    Instant last_now_;
};

}  // namespace annals::net::auth
