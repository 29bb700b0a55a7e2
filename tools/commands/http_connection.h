// HttpConnection: a kept-alive connection to a server, plain or by TLS, which sends requests with credentials and reads the replies.
//
// Layer:   tools, for HttpClient.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "tools/commands/http_message.h"
#include "tools/commands/patience.h"
#include "tools/commands/server_url.h"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

struct addrinfo;

namespace annals::tools {

class TlsClient;
class TlsIdentity;

class HttpConnection {
  public:
    /// Connects once something is to be sent. `timeout`: how long the server may be silent.
    HttpConnection(ServerUrl server, std::chrono::milliseconds timeout);
    ~HttpConnection();
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;

    const ServerUrl& server() const noexcept { return server_; }

    /// Sets what ends the waiting for the following requests.
    void set_patience(const Patience& patience) { patience_ = patience; }

    const Patience& patience() const noexcept { return patience_; }

    /// Sends one request as it is and reads its reply, with the credentials and errors that HttpClient::send() describes.
    Result<HttpReply> exchange(const HttpRequest& request);

    /// Whether any part of the last request was sent.
    bool sent() const noexcept { return sent_; }

    /// Whether the server has answered anything but 401.
    bool let_in() const noexcept { return let_in_; }

    void close();

  private:
    using Clock = std::chrono::steady_clock;

    /// Whether the server has closed the idle connection, or sent something on it.
    bool stale() const;

    /// Whether to go on waiting for data, having waited since then.
    bool goes_on(Clock::time_point since) const;

    /// The same while no reply can be lost by stopping.
    bool goes_on_connecting(Clock::time_point since) const;

    Result<void> read_credentials();
    Result<HttpReply> exchange_once(const HttpRequest& request);
    Result<void> connect();
    bool connect_to(const addrinfo& address, Clock::time_point begun);
    Result<void> begin_tls(Clock::time_point begun);
    std::string head_of(const HttpRequest& request) const;
    Result<void> write(const HttpRequest& request);
    Result<HttpReply> read(const HttpRequest& request, bool& nothing_came);
    ssize_t receive();

    /// The error for a broken connection.
    Error broken(std::string_view what, int number) const;

    /// A parser's error for a reply, with the server's name.
    Error of_server(const Error& error) const;

    ServerUrl server_;
    std::chrono::milliseconds timeout_;
    Patience patience_;
    std::unique_ptr<char[]> buffer_;
    int fd_ = -1;
    std::unique_ptr<TlsClient> tls_;  ///< null: no TLS
    std::string credential_lines_;
    std::shared_ptr<const TlsIdentity> identity_;
    bool sent_ = false;
    bool let_in_ = false;
};

}  // namespace annals::tools
