// Fetching a small document by HTTP.
//
// Layer:   net/auth; it and net/notifier.cc are the users of libcurl.
// Threads: any; blocks the calling thread.

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

/// Initialises libcurl, unless that has been done. Required before its first use.
void initialise_curl();

/// Prepares `curl`, a CURL handle, for a request to `url` (http or https) that takes no longer than `limit`. It trusts
/// the file of certificate authorities named by the environment (SSL_CERT_FILE), which OpenSSL uses, but libcurl by
/// itself does not, and presents `shown`, copied, if there is one.
void prepare_request(void* curl, const std::string& url, std::chrono::milliseconds limit,
                     const ClientCertificate* shown);

/// The body of a 200 response from `url` (http or https, the server's certificate verified); redirects are not
/// followed. `shown` is presented to a server that requests a certificate, if there is one. Ends early when
/// `stop` becomes true. Errors: io, timeout, body_too_large.
Result<std::string> fetch(const std::string& url, std::chrono::milliseconds limit,
                          const std::atomic<bool>& stop, const ClientCertificate* shown = nullptr);

/// A form from a client with a name and a secret (RFC 6749 section 2.3.1).
struct Form {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string client;  ///< empty: the certificate identifies the client
    std::string secret;
};

/// The same for a form that is posted to `url`; errors contain neither fields nor secret.
Result<std::string> post_form(const std::string& url, const Form& form,
                              std::chrono::milliseconds limit, const std::atomic<bool>& stop,
                              const ClientCertificate* shown = nullptr);

}  // namespace annals::net::auth
