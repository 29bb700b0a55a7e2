// Claims: what is said of a token, in itself or by its issuer, and whether that holds here and now.
//
// Layer:   net/auth.
// Spec:    RFC 7519 section 4.1; RFC 7662 section 2.2; RFC 8705 section 3.1; contract.md, auth.jwt.*.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "core/base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace annals::net::auth {

/// The error of credentials that are not taken. Its detail is for the client: it names nothing secret.
Error bad_credentials(std::string_view why);

struct TokenRules {
    std::string issuer;    ///< iss must be this; empty: any
    std::string audience;  ///< aud must name this; empty: any
    std::chrono::milliseconds leeway{0};
    std::string secret;  ///< of HS256; empty: no such tokens
};

/// What a good token says.
struct Claims {
    std::string name;     ///< sub, else client_id, else azp; a long one ends in its digest
    std::string scopes;   ///< separated by blanks
    Instant expires;      ///< exp and the leeway
    std::string patient;  ///< the id that `patient` names; empty: none
    std::string
        certificate;  ///< x5t#S256 of the client certificate that it is bound to; empty: to none
};

/// Checks everything but signatures. Without an exp of its own a token holds until `expires_else`, if that is given.
///
/// Errors: bad_credentials (the detail says what is wrong, and nothing of the token), credentials_expired.
Result<Claims> check_claims(json::Value claims, const TokenRules& rules, Instant now,
                            std::optional<Instant> expires_else = {});

}  // namespace annals::net::auth
