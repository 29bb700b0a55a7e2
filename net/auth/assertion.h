// Client assertions: single-use proofs of identity from clients that request a token.
//
// Layer:   net/auth.
// Spec:    RFC 7523 section 3; SMART App Launch 2.0, "Client Authentication: Asymmetric".
// Threads: plain functions.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace annals::net::auth {

/// The longest time until the exp of an assertion, leeway not counted.
inline constexpr std::chrono::minutes kAssertionLifeMax{5};

/// The longest jti.
inline constexpr std::size_t kAssertionIdBytesMax = 512;

struct Assertion {
    std::string id;   ///< jti
    Instant expires;  ///< exp plus the leeway
};

/// Checks that `claims`, signed by the client `id`, are a valid assertion for the token endpoint at `url` now.
///
/// Errors: bad_credentials; the detail says what is wrong.
Result<Assertion> check_assertion(std::string_view claims, const std::string& id,
                                  const std::string& url, std::chrono::milliseconds leeway,
                                  Instant now);

/// The longest possible time from taking an assertion until Assertion::expires.
constexpr std::chrono::microseconds assertion_life_max(std::chrono::milliseconds leeway) noexcept {
    return kAssertionLifeMax + 2 * leeway;
}

}  // namespace annals::net::auth
