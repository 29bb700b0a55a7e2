// Claims: what a token or its issuer says about it, and whether that is valid here and now.
//
// Layer:   net/auth.
// Spec:    RFC 7519 section 4.1; RFC 7662 section 2.2; RFC 8705 section 3.1; docs/security.md, Tokens.
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

/// The error for rejected credentials. Its detail is meant for the client: it contains nothing secret.
Error bad_credentials(std::string_view why);

struct TokenRules {
    std::string issuer;    ///< required iss; empty: any
    std::string audience;  ///< aud must include this; empty: any
    std::chrono::milliseconds leeway{0};
    std::string secret;  ///< of HS256; empty: no such tokens
};

/// The contents of a valid token.
struct Claims {
    std::string name;         ///< sub, else client_id, else azp; a long one ends in its digest
    std::string scopes;       ///< separated by blanks
    Instant expires;          ///< exp plus the leeway
    std::string patient;      ///< the id in `patient`; empty: none
    std::string certificate;  ///< x5t#S256 of the certificate that binds it; empty: none
};

/// Checks everything except signatures. A token without exp is valid until `expires_else`, if given.
///
/// Errors: bad_credentials (the detail says what is wrong, without quoting the token), credentials_expired.
Result<Claims> check_claims(json::Value claims, const TokenRules& rules, Instant now,
                            std::optional<Instant> expires_else = {});

}  // namespace annals::net::auth
