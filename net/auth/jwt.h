// JSON Web Tokens: whether a bearer token was signed by whom it should be, for this server, and still holds.
//
// Layer:   net/auth.
// Spec:    RFC 7515, 7518, 7519, 8725 (best current practices); contract.md, auth.jwt.*.
// Threads: plain functions.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "net/auth/claims.h"
#include "net/auth/key_set.h"

#include <string>
#include <string_view>

namespace annals::net::auth {

/// Longer tokens are refused unread.
inline constexpr std::size_t kTokenBytesMax = 16 << 10;

/// Whether `token` looks like one, that is not some other kind of bearer token.
bool is_jwt(std::string_view token);

/// The iss that `token` claims, empty if none: good for choosing whose keys it is held against, and for nothing else.
/// Errors: bad_credentials.
Result<std::string> unverified_issuer(std::string_view token);

/// The claims of `token`, JSON as it stands, if it is signed with one of `keys` or the secret of `rules`: nothing of what
/// they say has been checked. `key_url`: where the keys are from, if they are: the one jku that its header may have.
///
/// Errors: bad_credentials, not_found: as verify_token().
Result<std::string> verify_signature(std::string_view token, const KeySet& keys,
                                     const TokenRules& rules, std::string_view key_url = {});

/// Reads `token` and checks everything: its signature first.
///
/// Errors: bad_credentials (the detail says what is wrong, and nothing of the token), credentials_expired,
///         not_found: it names a key that `keys` does not have, which newer ones may.
Result<Claims> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                            Instant now);

}  // namespace annals::net::auth
