// JSON Web Tokens: whether a bearer token was signed by a trusted issuer, is meant for this server, and is still valid.
//
// Layer:   net/auth.
// Spec:    RFC 7515, 7518, 7519, 8725 (best current practices); docs/security.md, Tokens.
// Threads: plain functions.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "net/auth/claims.h"
#include "net/auth/key_set.h"

#include <string>
#include <string_view>

namespace annals::net::auth {

/// Longer tokens are rejected unread.
inline constexpr std::size_t kTokenBytesMax = 16 << 10;

/// Of the keys that fit a token's kid, if it has one, and its alg, so many are tried: anybody can send tokens for which all would
/// be. Issuers with several keys must name the right one (OpenID Connect Core 1.0, section 10.1).
inline constexpr std::size_t kKeysTriedMax = 8;

/// Whether `token` looks like a JWT rather than another kind of bearer token.
bool is_jwt(std::string_view token);

/// The iss that `token` claims, empty if none: use it only to choose the issuer whose keys to verify
/// with. Errors: bad_credentials.
Result<std::string> unverified_issuer(std::string_view token);

/// The claims of `token` as JSON, if it is signed with one of `keys` or the secret of `rules`; the claims themselves
/// are not checked. `key_url`: the URL of the keys, if any: the only jku that the header may have.
///
/// Errors: bad_credentials, not_found: as verify_token().
Result<std::string> verify_signature(std::string_view token, const KeySet& keys,
                                     const TokenRules& rules, std::string_view key_url = {});

/// Verifies `token` completely: its signature first.
///
/// Errors: bad_credentials (the detail says what is wrong, without quoting the token), credentials_expired,
///         not_found: it names a key that `keys` does not have, but newer ones may.
Result<Claims> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                            Instant now);

}  // namespace annals::net::auth
