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
    /// Lifetime: `credentials` outlives it.
    Authenticator(const core::Config::Auth& config, const Credentials& credentials);

    /// Who sends `request`; null if it brings no credentials.
    ///
    /// Errors: bad_credentials, credentials_expired; not_found: signed with a key that isn't known, which may be a
    ///         new one (Credentials::ask_for_keys()).
    Result<std::shared_ptr<const core::Principal>> authenticate(const core::Request& request,
                                                                Instant now);

  private:
    struct Known {
        std::shared_ptr<const core::Principal> principal;
        Instant expires;
    };

    struct Hash {
        using is_transparent = void;

        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };

    void catch_up();
    Result<std::shared_ptr<const core::Principal>> by_token(std::string_view token, Instant now);
    Result<std::shared_ptr<const core::Principal>> by_key(std::string_view key) const;

    const bool takes_tokens_;
    const bool takes_keys_;
    const Credentials& credentials_;
    std::shared_ptr<const Trusted> trusted_;
    std::vector<std::shared_ptr<const core::Principal>> key_holders_;  ///< as trusted_->api_keys
    std::unordered_map<std::string, Known, Hash, std::equal_to<>> tokens_;  ///< good ones
};

}  // namespace annals::net::auth
