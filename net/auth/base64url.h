// Base64url without padding, as tokens have it.
//
// Layer:   net/auth.
// Spec:    RFC 4648 section 5, RFC 7515 section 2.
// Threads: plain functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace annals::net::auth {

/// The bytes that `text` stands for; none if it is no base64url (padding and white space are not allowed).
std::optional<std::string> decode_base64url(std::string_view text);

/// `bytes` in base64url.
std::string encode_base64url(std::string_view bytes);

}  // namespace annals::net::auth
