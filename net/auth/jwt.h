// JSON Web Tokens: whether a bearer token was signed by whom it should be, for this server, and still holds.
//
// Layer:   net/auth.
// Spec:    RFC 7515, 7518, 7519, 8725 (best current practices); contract.md, auth.jwt.*.
// Threads: plain functions.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "net/auth/key_set.h"

#include <chrono>
#include <string>
#include <string_view>

namespace annals::net::auth {

/// Longer tokens are refused unread.
inline constexpr std::size_t kTokenBytesMax = 16 << 10;

struct TokenRules {
    std::string issuer;    ///< iss must be this; empty: any
    std::string audience;  ///< aud must name this; empty: any
    std::chrono::milliseconds leeway{0};
    std::string secret;  ///< of HS256; empty: no such tokens
};

/// What a good token says.
struct Claims {
    std::string name;    ///< sub, else client_id, else azp
    std::string scopes;  ///< separated by blanks
    Instant expires;     ///< exp and the leeway
};

/// Reads `token` and checks everything: its signature first.
///
/// Errors: bad_credentials (the detail says what is wrong, and nothing of the token), credentials_expired,
///         not_found: it names a key that `keys` does not have, which newer ones may.
Result<Claims> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                            Instant now);

}  // namespace annals::net::auth
