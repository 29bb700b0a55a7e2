// HttpClient: a kept-alive HTTP/1.1 connection to a FHIR server, with blocking calls.
//
// Layer:   tools (import, replicate, what bench asks beside its load, and tests).
// Threads: a client belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "tools/commands/http_message.h"
#include "tools/commands/patience.h"
#include "tools/commands/server_url.h"

#include <chrono>
#include <memory>

namespace annals::tools {

class HttpConnection;

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
    /// so, bodies of 1 KiB and more are sent compressed by zstd until it turns out to take none (415, or 400 to the first), which
    /// Patience::say is told. The reply may be compressed, too.
    ///
    /// Errors: io (connection refused or reset, the reply is not HTTP), timeout; and those that retrying can't cure: body_too_large,
    ///         usage (the server's certificate is not trusted, a credential file is unusable, the server demands another certificate; only
    ///         before it has first let us in, since certificates get renewed), processing (a success has an unknown encoding).
    Result<HttpReply> send(const HttpRequest& request);

    /// send(), repeated with growing pauses while the server can't be reached or answers 429 or
    /// 5xx, or 401 if it had let us in and the credentials are in files, which get renewed; also if the reply to a GET contains
    /// zero bytes, which JSON never does (Annals sends them for what it is erasing), or is_cut_off(). A dozen of these two in a row end the attempts. Waits as
    /// Retry-After says, up to longest_wait. A request that is not repeatable is sent again only if it certainly was not carried out;
    /// one that is divisible is not if the server gave up.
    ///
    /// Returns the last reply, even if it is not a success. Errors: as send(), once patience ends; timeout also if the
    ///         server gave up waiting for a request that is not repeatable, and may have carried it out.
    Result<HttpReply> send_patiently(const HttpRequest& request, const Patience& patience);

    /// Whether the server has only stopped waiting for an operation that may still complete: 503 `timeout`.
    static bool is_given_up(const HttpReply& reply);

    /// Whether any part of the last request was sent: if not, it was certainly not carried out.
    bool sent() const noexcept;

    /// Closes the connection; the next send() opens one.
    void close();

  private:
    /// Compressed, if the server takes that.
    Result<HttpReply> send_body(const HttpRequest& request);

    std::unique_ptr<HttpConnection> connection_;
};

}  // namespace annals::tools
