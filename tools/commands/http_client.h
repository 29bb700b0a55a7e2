// HttpClient: a kept-alive HTTP/1.1 connection to a FHIR server, with blocking calls.
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

    /// The first header with that name (in any case).
    std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpRequest {
    std::string method = "GET";
    std::string target;     ///< path and query, base path included
    std::string_view body;  ///< Lifetime: until send() returns
    std::string content_type = "application/fhir+json";
    std::vector<std::pair<std::string, std::string>> headers;
    bool repeatable = true;  ///< repeating it does no harm: may be sent again if the reply is lost
    std::uint64_t reply_bytes_max = 1 << 30;  ///< of the reply's body, which is kept in memory

    /// Checks each reply with status 200: true if it is incomplete. If a proxy speaks HTTP/1.0 to the server, truncated
    /// replies look complete.
    std::function<bool(const HttpReply&)> is_cut_off = {};
};

/// How long send_patiently() keeps trying.
struct Patience {
    std::chrono::milliseconds first_pause{100};
    std::chrono::milliseconds longest_pause{5000};
    std::chrono::milliseconds longest_wait{30000};   ///< the most that Retry-After may ask for
    std::chrono::milliseconds give_up_after{60000};  ///< without a single success; negative: never
    std::function<void(const std::string&)> say;     ///< called with the reason of each wait
    std::function<bool()> stop;  ///< true ends it early, even while waiting for a reply
    std::function<bool()> last;  ///< true: no more attempts; a reply in progress is still awaited

    /// Whether there are no more attempts.
    bool ends() const { return (stop && stop()) || (last && last()); }

    /// Says `why`, and waits for `time` or until ends().
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

    /// Sends one request and reads the whole reply, connecting first if needed. A kept-alive
    /// connection that the server has closed meanwhile is silently reopened. Credentials are read from files
    /// when connecting, and once more when the server answers 401. The reply's body is decoded. If the server's URL says
    /// so, bodies of 1 KiB and more are sent compressed by zstd, and the reply may be.
    ///
    /// Errors: io (connection refused or reset, the reply is not HTTP), timeout; and those that retrying can't cure: body_too_large,
    ///         usage (the server's certificate is not trusted, a credential file is unusable, the server demands another certificate; only
    ///         before it has first let us in, since certificates get renewed), processing (a success has an unknown encoding).
    Result<HttpReply> send(const HttpRequest& request);

    /// send(), repeated with growing pauses while the server can't be reached or answers 429 or
    /// 5xx, or 401 if it had let us in and the credentials are in files, which get renewed; also if the reply to a GET contains
    /// zero bytes, which JSON never does (Annals sends them for what it is erasing), or is_cut_off(). A dozen of these two in a row end the attempts. Waits as
    /// Retry-After says, up to longest_wait. A request that is not repeatable is sent again only if it certainly was not carried out.
    ///
    /// Returns the last reply, even if it is not a success. Errors: as send(), once patience ends; timeout also if the
    ///         server gave up waiting for a request that is not repeatable, and may have carried it out.
    Result<HttpReply> send_patiently(const HttpRequest& request, const Patience& patience);

    /// Whether any part of the last request was sent: if not, it was certainly not carried out.
    bool sent() const noexcept;

    /// Closes the connection; the next send() opens one.
    void close();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::tools
