// A blocking HTTP/1.1 client for tests, which sends exactly what the test wrote.
//
// Threads: one per Connection.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

struct HttpResponse {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;  ///< chunks joined
    bool chunked = false;

    /// The first header with that name, in any case; none if absent.
    std::optional<std::string> header(std::string_view name) const;
};

/// One connection to 127.0.0.1.
class Connection {
  public:
    explicit Connection(std::uint16_t port);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends `bytes` unchanged. False if the peer is gone.
    bool send(std::string_view bytes);

    /// Closes the sending side only.
    void shut_down_sending();

    /// Reads one response (1xx ones are returned, too); `head`: it has no body, whatever its headers say.
    /// None if the connection ended or thirty seconds passed first.
    std::optional<HttpResponse> receive(bool head = false);

    /// Reads until `text` has come, and returns all bytes up to its end: headers, chunk sizes and all. If the connection
    /// ends or thirty seconds pass first, returns what has come.
    std::string read_through(std::string_view text);

    /// Reads exactly `count` bytes; none if the connection ended or thirty seconds passed first.
    std::optional<std::string> read_exactly(std::size_t count);

    /// Whether there is something to receive by now.
    bool has_come() const;

    /// Whether the peer has closed the connection (waits up to thirty seconds for it).
    bool closed_by_peer();

  private:
    bool fill();

    int socket_ = -1;
    std::string buffer_;
};

/// One request over a connection of its own. Adds Host and Content-Length.
HttpResponse exchange(std::uint16_t port, std::string_view method, std::string_view target,
                      std::string_view body = {},
                      const std::vector<std::pair<std::string, std::string>>& headers = {});

/// Whether this machine has an address of IPv6 for itself, [::1].
bool has_ipv6();

}  // namespace annals::test
