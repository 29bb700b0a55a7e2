// The scopes granted to a client out of those it asks for.
//
// Layer:   net/auth.
// Spec:    RFC 6749 section 3.3; SMART App Launch 2.0, scopes; docs/security.md, "Tokens of its own".
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::net::auth {

/// Further scopes, asked for or allowed, are ignored.
inline constexpr std::size_t kGrantedScopesMax = 100;

/// The scopes that both `asked` and `allowed` permit, separated by blanks; empty if there are none. A resource scope
/// that asks for more than is allowed is narrowed to that; any other scope is granted as it is or not at all.
std::string granted_scopes(std::string_view asked, std::string_view allowed);

}  // namespace annals::net::auth
