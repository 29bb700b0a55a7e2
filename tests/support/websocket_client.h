// WebsocketClient: a client's frames over a test's connection, right or wrong as the test wants them.
//
// Threads: the test's.

#pragma once

#include "tests/support/http_exchange.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// A frame as a client sends it. `first` is its first byte: 0x81 a whole text, 0x01 and 0x80 the ends of one in fragments,
/// 0x88 close, 0x89 ping.
std::string client_frame(unsigned first, std::string_view payload, bool masked = true);

class WebsocketClient {
  public:
    using Headers = std::vector<std::pair<std::string, std::string>>;

    /// Sends the handshake; `headers` besides those that it takes.
    explicit WebsocketClient(std::uint16_t port, const Headers& headers = {});

    /// What the handshake was answered with.
    const HttpResponse& opening() const { return opening_; }

    /// Sends a text in one frame.
    bool say(std::string_view text) { return send(client_frame(0x81, text)); }

    bool send(std::string_view bytes) { return connection_.send(bytes); }

    /// The next frame: its first byte and its payload; of what the connection ends with instead: 0 and nothing.
    std::pair<unsigned, std::string> receive();

    /// The payload of the next text, answering pings; "closed CODE", or "gone" without a close frame.
    std::string hear();

  private:
    Connection connection_;
    HttpResponse opening_;
};

}  // namespace annals::test
