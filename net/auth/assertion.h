// Client assertions: how a client that wants a token says who it is, once.
//
// Layer:   net/auth.
// Spec:    RFC 7523 section 3; SMART App Launch 2.0, "Client Authentication: Asymmetric".
// Threads: plain functions; a Replays is for all threads.
// Memory:  of those that were seen kAllMax at most.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace annals::net::auth {

/// How far ahead the exp of an assertion may be, but for the leeway.
inline constexpr std::chrono::minutes kAssertionLifeMax{5};

/// A jti has no more bytes.
inline constexpr std::size_t kAssertionIdBytesMax = 512;

struct Assertion {
    std::string id;   ///< jti
    Instant expires;  ///< exp and the leeway
};

/// Checks that `claims`, which were signed by the client `id`, are an assertion for the token endpoint at `url`, now.
///
/// Errors: bad_credentials; the detail says what is wrong.
Result<Assertion> check_assertion(std::string_view claims, const std::string& id,
                                  const std::string& url, std::chrono::milliseconds leeway,
                                  Instant now);

/// The assertions that were taken and could be sent again.
class Replays {
  public:
    static constexpr std::size_t kAllMax = 100'000;
    static constexpr std::size_t kOfOneClientMax = 10'000;

    /// Keeps `assertion` in mind until it expires.
    /// Errors: bad_credentials: it was seen before; overloaded: there is no room for more, and it is not taken.
    Result<void> take(const std::string& client, const Assertion& assertion, Instant now);

  private:
    void make_room(Instant now);

    std::mutex mutex_;
    // By client: the digest of the jti, and when it is over.
    std::unordered_map<std::string, std::unordered_map<std::string, Instant>> seen_;
    std::size_t count_ = 0;
    Instant next_look_{};
};

}  // namespace annals::net::auth
