// HttpClient: one kept-alive HTTP/1.1 connection to a FHIR server, used by blocking calls.
//
// Layer:   tools (import, replicate, export and tests; bench has its own).
// Threads: a client belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "tools/commands/server_url.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::tools {

struct HttpReply {
    int status = 0;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;

    /// The first header of that name (case ignored).
    std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpRequest {
    std::string method = "GET";
    std::string target;     ///< path and query, base path included
    std::string_view body;  ///< Lifetime: until send() returns
    std::string content_type = "application/fhir+json";
    std::vector<std::pair<std::string, std::string>> headers;
    bool repeatable =
        true;  ///< doing it twice does no harm: may be sent again if the answer is lost
    std::uint64_t reply_bytes_max = 1 << 30;  ///< of the reply's body, which is kept in memory

    /// Looks at each reply of status 200: true if some of it is missing though its end came. Where a proxy speaks HTTP/1.0 to the
    /// server, one that was cut off looks whole.
    std::function<bool(const HttpReply&)> is_cut_off = {};
};

/// How long send_patiently() goes on.
struct Patience {
    std::chrono::milliseconds first_pause{100};
    std::chrono::milliseconds longest_pause{5000};
    std::chrono::milliseconds longest_wait{30000};   ///< that Retry-After may ask for
    std::chrono::milliseconds give_up_after{60000};  ///< without one success; negative: never
    std::function<void(const std::string&)> say;     ///< hears why it waits, once per pause
    std::function<bool()> stop;  ///< true ends it early, also while an answer is awaited
    std::function<bool()>
        last;  ///< true: it is not tried again; an answer that is awaited still is

    /// Whether it is not tried again.
    bool ends() const { return (stop && stop()) || (last && last()); }

    /// Says `why`, and waits so long or until it ends().
    void wait(const std::string& why, std::chrono::milliseconds time) const;
};

class HttpClient {
  public:
    explicit HttpClient(ServerUrl server,
                        std::chrono::milliseconds timeout = std::chrono::seconds(120));
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) = delete;

    const ServerUrl& server() const noexcept;

    /// Sends one request and reads the whole reply, connecting first where needed. A kept-alive
    /// connection that the server has closed meanwhile is opened again without a word. Credentials in files are read
    /// when connecting, and once more when the server answers 401. The reply's body is plain, however it came.
    ///
    /// Errors: io (connection refused, reset, a reply that is no HTTP), timeout; and those that no patience helps: body_too_large, usage (the server's
    ///         certificate is not to be trusted, a file of credentials is of no use, the server demands another certificate: each of them before it
    ///         has let us in; later they pass, as certificates are renewed), processing (a success is in an encoding that is not known).
    Result<HttpReply> send(const HttpRequest& request);

    /// send(), again and again with growing pauses while the server can't be reached or answers 429 or
    /// 5xx, or 401 after it had let us in and the credentials are in files: these will be renewed; and where what a GET reads has
    /// zeros, which no JSON has: Annals sends them in place of what it erases just then; and where a reply is_cut_off(). Of these two a dozen in a row are not what passes. It waits as long as
    /// Retry-After says, up to longest_wait. A request that is not repeatable is sent again only if it certainly was not carried out.
    ///
    /// Returns the last reply, also one that is no success. Errors: as send(), after the patience ended; timeout also where the
    ///         server has given up waiting for a request that is not repeatable, and may have carried it out.
    Result<HttpReply> send_patiently(const HttpRequest& request, const Patience& patience);

    /// Whether any of the last request went out: if not, it was certainly not carried out.
    bool sent() const noexcept;

    /// Closes the connection; the next send() opens one.
    void close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::tools
