#include "tests/support/http_exchange.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace annals::test {

std::optional<std::string> HttpResponse::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (equal_ignoring_case(key, name)) {
            return value;
        }
    }
    return std::nullopt;
}

Connection::Connection(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    ANNALS_CHECK(socket_ >= 0);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const timeval limit{30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        close(socket_);
        socket_ = -1;
    }
}

Connection::~Connection() {
    if (socket_ >= 0) {
        close(socket_);
    }
}

bool Connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void Connection::shut_down_sending() {
    shutdown(socket_, SHUT_WR);
}

bool Connection::fill() {
    std::array<char, 65536> chunk;
    const ssize_t got = recv(socket_, chunk.data(), chunk.size(), 0);
    if (got <= 0) {
        return false;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    return true;
}

std::string Connection::read_through(std::string_view text) {
    std::size_t at;
    while ((at = buffer_.find(text)) == std::string::npos) {
        if (!fill()) {
            return std::exchange(buffer_, {});
        }
    }
    std::string bytes = buffer_.substr(0, at + text.size());
    buffer_.erase(0, bytes.size());
    return bytes;
}

std::optional<std::string> Connection::read_exactly(std::size_t count) {
    while (buffer_.size() < count) {
        if (!fill()) {
            return std::nullopt;
        }
    }
    std::string bytes = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return bytes;
}

std::optional<HttpResponse> Connection::receive(bool head) {
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (!fill()) {
            return std::nullopt;
        }
    }
    if (!buffer_.starts_with("HTTP/1.1 ")) {
        return std::nullopt;  // such as a body where none should be
    }
    HttpResponse response;
    const std::string block = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    std::size_t at = block.find("\r\n");
    response.status = std::atoi(block.c_str() + block.find(' ') + 1);
    at += 2;
    while (at < block.size()) {
        const std::size_t line_end = block.find("\r\n", at);
        const std::string_view line = std::string_view(block).substr(at, line_end - at);
        const std::size_t colon = line.find(':');
        response.headers.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
        at = line_end + 2;
    }
    if (head || response.status < 200 || response.status == 204 || response.status == 304) {
        return response;
    }
    const auto need = [this](std::size_t bytes) {
        while (buffer_.size() < bytes) {
            if (!fill()) {
                return false;
            }
        }
        return true;
    };
    if (const auto length = response.header("Content-Length")) {
        const auto bytes = static_cast<std::size_t>(std::strtoull(length->c_str(), nullptr, 10));
        if (!need(bytes)) {
            return std::nullopt;
        }
        response.body = buffer_.substr(0, bytes);
        buffer_.erase(0, bytes);
        return response;
    }
    if (response.header("Transfer-Encoding") == "chunked") {
        response.chunked = true;
        while (true) {
            while ((end = buffer_.find("\r\n")) == std::string::npos) {
                if (!fill()) {
                    return std::nullopt;
                }
            }
            const auto bytes =
                static_cast<std::size_t>(std::strtoull(buffer_.c_str(), nullptr, 16));
            buffer_.erase(0, end + 2);
            if (!need(bytes + 2)) {
                return std::nullopt;
            }
            response.body.append(buffer_, 0, bytes);
            buffer_.erase(0, bytes + 2);
            if (bytes == 0) {
                return response;
            }
        }
    }
    while (fill()) {
    }
    response.body = std::move(buffer_);
    buffer_.clear();
    return response;
}

bool Connection::has_come() const {
    pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
    return !buffer_.empty() || ::poll(&readable, 1, 0) > 0;
}

bool Connection::closed_by_peer() {
    std::array<char, 4096> chunk;
    while (true) {
        const ssize_t got = recv(socket_, chunk.data(), chunk.size(), 0);
        if (got == 0) {
            return true;
        }
        if (got < 0) {
            return errno == ECONNRESET;
        }
    }
}

HttpResponse exchange(std::uint16_t port, std::string_view method, std::string_view target,
                      std::string_view body,
                      const std::vector<std::pair<std::string, std::string>>& headers) {
    std::string request(method);
    request.append(" ").append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1:");
    request.append(std::to_string(port)).append("\r\n");
    for (const auto& [name, value] : headers) {
        request.append(name).append(": ").append(value).append("\r\n");
    }
    if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
        request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    }
    request.append("\r\n").append(body);
    Connection connection(port);
    connection.send(request);
    return connection.receive(method == "HEAD").value_or(HttpResponse{});
}

bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    const bool has = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return has;
}

}  // namespace annals::test
