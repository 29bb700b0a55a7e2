// Introspector: asks the authorization server about opaque tokens.
//
// Layer:   net/auth.
// Spec:    RFC 7662; RFC 6749 section 2.3.1 (client id and secret); docs/security.md, Opaque tokens.
// Threads: any. It has its own threads for asking; a look-up takes a lock, so an Authenticator remembers valid tokens itself.
// Memory:  at most kAnswersMax answers of each kind and kWaitingMax tokens waiting to be asked about.

#pragma once

#include "core/base/text_map.h"
#include "core/config/config.h"
#include "net/auth/claims.h"
#include "net/auth/client_certificate.h"
#include "net/auth/settled.h"
#include "net/throttle.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::net::auth {

class Introspector {
  public:
    static constexpr std::size_t kAnswersMax = 10'000;
    static constexpr std::size_t kWaitingMax = 256;
    static constexpr std::size_t kThreadsMax = 4;

    /// `shown`: for post_form(); without a secret, it identifies this server. Lifetime: it outlives the introspector.
    Introspector(const core::Config::Auth& config, std::string secret,
                 const ClientCertificate* shown = nullptr);

    ~Introspector();
    Introspector(const Introspector&) = delete;
    Introspector& operator=(const Introspector&) = delete;

    /// The most questions in progress for one address.
    static constexpr std::size_t kOfOneAddressMax = 64;

    /// The authorization server's answer about `token`, which came from `address`; its `expires` is when to ask again.
    ///
    /// Errors: bad_credentials, credentials_expired; not_found: it is being asked, and `later` tells when to
    ///         call again; overloaded: it can't be found out now, or not without waiting, and `later` is
    ///         null; throttled: too many tokens from that address were invalid.
    Result<Claims> find_out(std::string_view token, std::string_view address, Instant now,
                            Settled* later);

    /// Sets the secret to send from now on.
    void set_secret(std::string secret);

  private:
    struct Good {
        Claims claims;
        Instant for_who_waited;  ///< until then also valid for those who waited for this answer
    };

    struct Refused {
        Error error;
        Instant until;
    };

    struct Question {
        std::string token;
        std::string digest;
        std::string address;
        std::shared_ptr<std::atomic<bool>> settled;
    };

    void run();
    Result<Good> ask(const std::string& token, const std::string& secret);
    void keep(const std::string& digest, Result<Good> answer);  ///< under the mutex
    void forget_if_back(Instant now);                           ///< under the mutex
    Error warn(std::string_view what);

    const core::Config::Auth::Introspection config_;
    const TokenRules rules_;
    const ClientCertificate* const shown_;
    Throttle throttle_;
    Throttle of_addresses_;  ///< counts the questions for each address, except for valid tokens
    std::atomic<bool> quit_{false};

    std::mutex mutex_;
    std::condition_variable wake_;
    std::string secret_;
    // By the SHA-256 of the token; the token itself and its length are not kept.
    TextMap<Good> good_;
    TextMap<Refused> refused_;
    Instant last_now_;
    TextMap<Settled> asked_;  ///< waiting or in progress
    std::deque<Question> waiting_;
    std::chrono::steady_clock::time_point next_warning_;
    std::vector<std::jthread> threads_;  ///< last: they end before the other members are destroyed
};

}  // namespace annals::net::auth
