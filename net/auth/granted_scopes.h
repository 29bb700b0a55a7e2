// What a client gets of the scopes that it asks for.
//
// Layer:   net/auth.
// Spec:    RFC 6749 section 3.3; SMART App Launch 2.0, scopes; docs/security.md, "Tokens of its own".
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::net::auth {

/// More scopes, asked for or allowed, are passed over.
inline constexpr std::size_t kGrantedScopesMax = 100;

/// The scopes that both `asked` and `allowed` permit, separated by blanks; empty if there are none. A scope on resources that
/// is asked for more widely than it is allowed is granted as narrowly as allowed; any other one as it stands, or not at all.
std::string granted_scopes(std::string_view asked, std::string_view allowed);

}  // namespace annals::net::auth
