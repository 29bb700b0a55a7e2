// WebSocket: the handshake's response, and encoding and decoding of frames.
//
// Layer:   net; independent of sockets.
// Spec:    RFC 6455, the server's side; no extensions, no subprotocols.
// Threads: plain functions; a FrameReader belongs to one connection.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::net {

/// Sec-WebSocket-Accept for a Sec-WebSocket-Key; none if that is not 16 bytes in base64 (RFC 6455 section 4.2.1).
std::optional<std::string> websocket_accept(std::string_view key);

enum class Opcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10
};

/// The codes of section 7.4.1 that this server sends.
enum class CloseCode : std::uint16_t {
    normal = 1000,
    going_away = 1001,
    protocol_error = 1002,
    unsupported = 1003,
    not_utf8 = 1007,
    policy = 1008,
    too_large = 1009,
};

/// Appends a whole message or a control frame as servers send it: unmasked. Requires: a control frame has at
/// most 125 bytes, a message less than 2^16.
void append_frame(std::string& out, Opcode opcode, std::string_view payload);

/// Appends a close frame without a reason text.
void append_close(std::string& out, CloseCode code);

/// Reads a client's frames. Keeps no more than a message, a control frame and the bytes last fed.
class FrameReader {
  public:
    enum class Event : std::uint8_t {
        need_bytes,
        text,  ///< a whole message; payload()
        ping,  ///< payload() is to be sent back in a pong
        pong,
        close,   ///< the client closes; nothing more follows
        failed,  ///< fault() says why; nothing more follows
    };

    explicit FrameReader(std::size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

    /// Adds bytes that have arrived.
    void feed(std::string_view bytes) { buffer_ += bytes; }

    Event next();

    /// Lifetime: until the next call.
    std::string_view payload() const noexcept { return payload_; }

    CloseCode fault() const noexcept { return fault_; }

  private:
    struct Head;

    Event fail(CloseCode code);
    std::optional<Event> read_head(Head& head);
    Event take(const Head& head, std::string payload);

    std::size_t message_bytes_max_;
    std::string buffer_;   ///< fed, but not consumed yet
    std::string message_;  ///< the fragments so far of a message
    bool in_message_ = false;
    bool ended_ = false;
    Event end_ = Event::failed;
    CloseCode fault_ = CloseCode::protocol_error;
    std::string payload_;
};

}  // namespace annals::net
