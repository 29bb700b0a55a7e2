// WebsocketClient: a client's frames on a test's connection, valid or not.
//
// Threads: the test's.

#pragma once

#include "tests/support/http_exchange.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// A frame as a client sends it. `first` is its first byte: 0x81 a whole text, 0x01 and 0x80 the first and last of a fragmented
/// one, 0x88 close, 0x89 ping.
std::string client_frame(unsigned first, std::string_view payload, bool masked = true);

/// The frame of a client that closes.
std::string close_frame(unsigned code, std::string_view reason = {});

class WebsocketClient {
  public:
    using Headers = std::vector<std::pair<std::string, std::string>>;

    /// Sends the handshake, with `headers` in addition to those it needs.
    explicit WebsocketClient(std::uint16_t port, const Headers& headers = {});

    /// The response to the handshake.
    const HttpResponse& opening() const { return opening_; }

    /// Sends a text in one frame.
    bool say(std::string_view text) { return send(client_frame(0x81, text)); }

    bool send(std::string_view bytes) { return connection_.send(bytes); }

    /// The next frame: its first byte and its payload; 0 and nothing if the connection ends instead.
    std::pair<unsigned, std::string> receive();

    /// The payload of the next text, answering pings; "closed CODE", or "gone" if there is no close frame.
    std::string hear();

  private:
    Connection connection_;
    HttpResponse opening_;
};

}  // namespace annals::test
