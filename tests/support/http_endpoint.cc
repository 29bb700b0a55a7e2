#include "tests/support/http_endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace annals::test {

namespace {

/// Head and body, as far as they come.
std::string receive(int peer) {
    std::string text;
    char room[4096];
    for (;;) {
        const std::size_t head = text.find("\r\n\r\n");
        if (head != std::string::npos) {
            const std::size_t length = text.find("Content-Length: ");
            const std::size_t body =
                length < head ? std::strtoull(text.c_str() + length + 16, nullptr, 10) : 0;
            if (text.size() >= head + 4 + body) {
                return text;
            }
        }
        const ssize_t got = ::recv(peer, room, sizeof room, 0);
        if (got <= 0) {
            return text;
        }
        text.append(room, static_cast<std::size_t>(got));
    }
}

}  // namespace

HttpEndpoint::HttpEndpoint(std::function<Answer(const std::string& request)> answer)
    : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_, 64);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

HttpEndpoint::~HttpEndpoint() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
}

void HttpEndpoint::serve() {
    for (;;) {
        const int peer = ::accept(socket_, nullptr, nullptr);
        if (peer < 0) {
            return;
        }
        const std::string request = receive(peer);
        ++requests_;
        const Answer answer = answer_(request);
        const std::string text =
            "HTTP/1.1 " + std::to_string(answer.status) +
            " -\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) +
            "\r\n\r\n" + answer.body;
        (void)::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
        ::close(peer);
    }
}

std::string deserted_url() {
    const HttpEndpoint gone([](const std::string&) { return HttpEndpoint::Answer(); });
    return gone.url();
}

}  // namespace annals::test
