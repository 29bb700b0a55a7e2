// A server that answers HttpClient word for word as the test says, and what it is asked.

#pragma once

#include "tools/commands/http_client.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace annals::tools {

/// Listens on 127.0.0.1 and plays one script a connection: reads until the end of a request's head (and body,
/// by Content-Length), writes the next text, closes after the last.
class ScriptedServer {
  public:
    explicit ScriptedServer(std::vector<std::vector<std::string>> connections)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        ::listen(listener_, 8);
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, scripts = std::move(connections)] { play(scripts); });
    }

    ~ScriptedServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }

    ServerUrl url() const { return {"127.0.0.1", std::to_string(port_), "/fhir"}; }

    /// Requests seen. Requires: the client has its answers.
    const std::vector<std::string>& requests() const { return requests_; }

  private:
    void play(const std::vector<std::vector<std::string>>& scripts) {
        for (const auto& script : scripts) {
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0) {
                return;
            }
            for (const std::string& answer : script) {
                read_request(peer);
                (void)::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
            }
            ::close(peer);
        }
    }

    void read_request(int peer) {
        std::string text;
        char byte = 0;
        while (text.find("\r\n\r\n") == std::string::npos && ::recv(peer, &byte, 1, 0) == 1) {
            text.push_back(byte);
        }
        const std::size_t at = text.find("Content-Length: ");
        const std::size_t length =
            at == std::string::npos ? 0 : std::strtoul(text.c_str() + at + 16, nullptr, 10);
        for (std::size_t i = 0; i < length && ::recv(peer, &byte, 1, 0) == 1; ++i) {
            text.push_back(byte);
        }
        requests_.push_back(text);
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::vector<std::string> requests_;
    std::thread thread_;
};

inline HttpRequest get(const std::string& target) {
    HttpRequest request;
    request.target = target;
    return request;
}

/// A reply that its Content-Length ends.
inline std::string whole_reply(int status, const std::string& body) {
    return fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

inline HttpRequest unrepeatable_post() {
    HttpRequest request = get("/fhir");
    request.method = "POST";
    request.body = "{}";
    request.repeatable = false;
    return request;
}

}  // namespace annals::tools
