// Fetching a small document by HTTP.
//
// Layer:   net/auth; with net/notifier.cc the users of libcurl.
// Threads: blocks the calling thread; any.

#pragma once

#include "core/base/result.h"
#include "net/auth/client_certificate.h"

#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace annals::net::auth {

inline constexpr std::size_t kFetchedBytesMax = 1 << 20;

/// The file of authorities that the environment names (SSL_CERT_FILE), which OpenSSL goes by and libcurl alone does not.
/// Null: none.
const char* named_authorities() noexcept;

/// What `url` (http or https, the server's certificate verified) answers with 200; redirections are not followed.
/// A server that asks who we are is `shown` its certificate, if there is one.
/// Ends early when `stop` becomes true. Errors: io, timeout, body_too_large.
Result<std::string> fetch(const std::string& url, std::chrono::milliseconds limit,
                          const std::atomic<bool>& stop, const ClientCertificate* shown = nullptr);

/// What a client sends that has a name and a secret (RFC 6749 section 2.3.1).
struct Form {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string client;  ///< empty: the certificate says who it is
    std::string secret;
};

/// The same for a form that is posted to `url`; errors name neither fields nor secret.
Result<std::string> post_form(const std::string& url, const Form& form,
                              std::chrono::milliseconds limit, const std::atomic<bool>& stop,
                              const ClientCertificate* shown = nullptr);

}  // namespace annals::net::auth
