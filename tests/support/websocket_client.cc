#include "tests/support/websocket_client.h"

#include <fmt/format.h>

namespace annals::test {

namespace {

constexpr unsigned kText = 0x81;
constexpr unsigned kClose = 0x88;
constexpr unsigned kPing = 0x89;

}  // namespace

std::string client_frame(unsigned first, std::string_view payload, bool masked) {
    const std::size_t size = payload.size();
    const unsigned short_size = size < 126       ? static_cast<unsigned>(size)
                                : size < 0x10000 ? 126
                                                 : 127;
    std::string out;
    out += static_cast<char>(first);
    out += static_cast<char>(short_size | (masked ? 0x80U : 0U));
    for (int shift = size < 126 ? -8 : size < 0x10000 ? 8 : 56; shift >= 0; shift -= 8) {
        out += static_cast<char>(static_cast<std::uint64_t>(size) >> shift & 0xff);
    }
    constexpr std::string_view kMask = "\x12\xf0\x80\x7f";
    out += masked ? kMask : "";
    for (std::size_t i = 0; i < size; ++i) {
        out += masked ? static_cast<char>(payload[i] ^ kMask[i % 4]) : payload[i];
    }
    return out;
}

std::string close_frame(unsigned code, std::string_view reason) {
    std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
    return client_frame(0x88, payload.append(reason));
}

WebsocketClient::WebsocketClient(std::uint16_t port, const Headers& headers) : connection_(port) {
    std::string request = fmt::format(
        "GET /fhir/websocket HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\n"
        "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n",
        port);
    for (const auto& [name, value] : headers) {
        request += fmt::format("{}: {}\r\n", name, value);
    }
    connection_.send(request + "\r\n");
    opening_ = connection_.receive().value_or(HttpResponse{});
}

std::pair<unsigned, std::string> WebsocketClient::receive() {
    const auto head = connection_.read_exactly(2);
    if (!head) {
        return {};
    }
    std::size_t size = static_cast<unsigned char>((*head)[1]);
    if (size == 126) {
        const std::string longer = connection_.read_exactly(2).value_or(std::string(2, '\0'));
        size = static_cast<std::size_t>(static_cast<unsigned char>(longer[0])) << 8 |
               static_cast<unsigned char>(longer[1]);
    }
    return {static_cast<unsigned char>((*head)[0]), connection_.read_exactly(size).value_or("")};
}

std::string WebsocketClient::hear() {
    for (;;) {
        const auto [first, payload] = receive();
        if (first == kText) {
            return payload;
        }
        if (first == kPing) {
            send(client_frame(0x8a, payload));
        } else if (first == kClose && payload.size() >= 2) {
            return fmt::format("closed {}", static_cast<unsigned char>(payload[0]) << 8 |
                                                static_cast<unsigned char>(payload[1]));
        } else if (first != 0x8a) {
            return "gone";
        }
    }
}

}  // namespace annals::test
