#include "tools/commands/http_connection.h"

#include "core/base/owned.h"
#include "tools/commands/reply_parser.h"
#include "tools/commands/tls_client.h"

#include <fmt/format.h>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace annals::tools {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadBytes = 256 << 10;

/// How long to wait on a socket before checking whether to go on.
constexpr milliseconds kLookUp{100};

/// A follower's connection may be idle for hours: keeps middleboxes from silently dropping it.
void keep_alive(int fd) {
    const int on = 1;
    constexpr int kIdleSeconds = 30;
    constexpr int kBetweenSeconds = 10;
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kBetweenSeconds, sizeof kBetweenSeconds);
}

/// Whether errno says that a socket's timeout has passed.
bool would_block(int number) {
    return number == EAGAIN || number == EWOULDBLOCK;
}

Error socket_error(const ServerUrl& server, std::string_view what, int number) {
    const bool late = would_block(number) || number == ETIMEDOUT;
    return Error{late ? Errc::timeout : Errc::io,
                 fmt::format("{}: {}: {}", server.authority(), what,
                             late ? "no response in time" : std::strerror(number))};
}

}  // namespace

HttpConnection::HttpConnection(ServerUrl server, milliseconds timeout)
    : server_(std::move(server)),
      timeout_(timeout),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {
}

HttpConnection::~HttpConnection() {
    close();
}

void HttpConnection::close() {
    tls_.reset();
    if (fd_ >= 0) {
        ::close(fd_);
        fd_ = -1;
    }
}

bool HttpConnection::stale() const {
    pollfd entry{fd_, POLLIN, 0};
    return ::poll(&entry, 1, 0) != 0 && (tls_ == nullptr || tls_->is_stale());
}

bool HttpConnection::goes_on(Clock::time_point since) const {
    return Clock::now() - since < timeout_ && !(patience_.stop && patience_.stop());
}

bool HttpConnection::goes_on_connecting(Clock::time_point since) const {
    return Clock::now() - since < timeout_ && !patience_.ends();
}

ssize_t HttpConnection::receive() {
    return tls_ != nullptr ? tls_->receive(buffer_.get(), kReadBytes)
                           : ::recv(fd_, buffer_.get(), kReadBytes, 0);
}

Error HttpConnection::broken(std::string_view what, int number) const {
    if (tls_ == nullptr || number != EPROTO) {
        return socket_error(server_, what, number);
    }
    const Errc code = tls_->is_refused() && !let_in_ ? Errc::usage : Errc::io;
    return {code, fmt::format("{}: {}: {}", server_.authority(), what, tls_->fault()), ""};
}

Error HttpConnection::of_server(const Error& error) const {
    return {error.code, fmt::format("{}: {}", server_.authority(), error.detail), ""};
}

Result<void> HttpConnection::read_credentials() {
    auto lines = header_lines(server_.credentials);
    auto shown = read_identity(server_.credentials);
    // A file may be missing for a moment while it is replaced.
    if (lines) {
        credential_lines_ = *std::move(lines);
    } else if (!let_in_) {
        return lines.error();
    }
    if (shown) {
        identity_ = *std::move(shown);
    } else if (!let_in_) {
        return shown.error();
    }
    return {};
}

/// If it returns false, errno says why.
bool HttpConnection::connect_to(const addrinfo& address, Clock::time_point begun) {
    if (::connect(fd_, address.ai_addr, address.ai_addrlen) == 0) {
        return true;
    }
    if (errno != EINPROGRESS && errno != EINTR) {
        return false;
    }
    pollfd entry{fd_, POLLOUT, 0};
    while (::poll(&entry, 1, static_cast<int>(kLookUp.count())) <= 0) {
        if (!goes_on_connecting(begun)) {
            errno = ETIMEDOUT;
            return false;
        }
    }
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &number, &size);
    errno = number;
    return number == 0;
}

Result<void> HttpConnection::begin_tls(Clock::time_point begun) {
    auto greeted = TlsClient::connect(
        fd_, server_.host, [this, begun] { return goes_on_connecting(begun); }, identity_.get());
    if (!greeted) {
        close();
        return let_in_ && greeted.error().code == Errc::usage
                   ? Error{Errc::io, greeted.error().detail}
                   : greeted.error();
    }
    tls_ = *std::move(greeted);
    return {};
}

Result<void> HttpConnection::connect() {
    ANNALS_TRY_VOID(read_credentials());
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(server_.host.c_str(), server_.port.c_str(), &hints, &found);
        code != 0) {
        return Error{Errc::io, fmt::format("{}: {}", server_.authority(), ::gai_strerror(code))};
    }
    const Owned<addrinfo, ::freeaddrinfo> owner(found);
    int number = ECONNREFUSED;
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
        fd_ = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd_ < 0) {
            number = errno;
            continue;
        }
        const timeval limit{0, std::chrono::microseconds(kLookUp).count()};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        keep_alive(fd_);
        const auto begun = Clock::now();
        if (connect_to(*address, begun)) {
            return server_.tls ? begin_tls(begun) : Result<void>();
        }
        number = errno;
        close();
    }
    return socket_error(server_, "connecting", number);
}

std::string HttpConnection::head_of(const HttpRequest& request) const {
    std::string head = fmt::format(
        "{} {} HTTP/1.1\r\nHost: {}\r\nAccept: application/fhir+json\r\nAccept-Encoding: {}\r\n",
        request.method, request.target.empty() ? "/" : request.target, server_.authority(),
        server_.compression != nullptr ? "zstd, gzip" : "identity");
    for (const auto& [name, value] : request.headers) {
        head += fmt::format("{}: {}\r\n", name, value);
    }
    head += credential_lines_;
    if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
        head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", request.content_type,
                            request.body.size());
    }
    return head + "\r\n";
}

Result<void> HttpConnection::write(const HttpRequest& request) {
    const std::string head = head_of(request);
    auto since = Clock::now();
    std::string_view parts[2] = {head, request.body};
    while (!parts[0].empty() || !parts[1].empty()) {
        iovec vectors[2];
        std::size_t count = 0;
        for (const std::string_view part : parts) {
            if (!part.empty()) {
                vectors[count++] = {const_cast<char*>(part.data()), part.size()};
            }
        }
        msghdr message{};
        message.msg_iov = vectors;
        message.msg_iovlen = count;
        const ssize_t written =
            tls_ != nullptr
                ? tls_->send(static_cast<const char*>(vectors[0].iov_base), vectors[0].iov_len)
                : ::sendmsg(fd_, &message, MSG_NOSIGNAL);
        if (written < 0) {
            const int number = errno;
            if (number == EINTR || (would_block(number) && goes_on(since))) {
                continue;
            }
            return broken("sending", number);
        }
        since = Clock::now();
        sent_ = true;
        auto left = static_cast<std::size_t>(written);
        for (std::string_view& part : parts) {
            const std::size_t taken = std::min(left, part.size());
            part.remove_prefix(taken);
            left -= taken;
        }
    }
    return {};
}

Result<HttpReply> HttpConnection::read(const HttpRequest& request, bool& nothing_came) {
    ReplyParser parser(request);
    auto since = Clock::now();
    while (!parser.complete()) {
        const ssize_t got = receive();
        if (got < 0) {
            const int number = errno;
            if (number == EINTR || (would_block(number) && goes_on(since))) {
                continue;
            }
            return broken("waiting for the response", number);
        }
        since = Clock::now();
        if (got == 0) {
            parser.end();
            if (parser.complete()) {
                break;
            }
            return Error{
                Errc::io,
                fmt::format("{}: the connection was closed before the response was complete",
                            server_.authority())};
        }
        nothing_came = false;
        const Result<void> taken = parser.take({buffer_.get(), static_cast<std::size_t>(got)});
        if (!taken) {
            return of_server(taken.error());
        }
    }
    if (!parser.keep_alive()) {
        close();
    }
    Result<HttpReply> reply = parser.take_reply();
    if (!reply) {
        return of_server(reply.error());
    }
    return reply;
}

Result<HttpReply> HttpConnection::exchange_once(const HttpRequest& request) {
    sent_ = false;
    if (fd_ >= 0 && stale()) {
        close();
    }
    const bool reused = fd_ >= 0;
    if (!reused) {
        ANNALS_TRY_VOID(connect());
    }
    bool nothing_came = true;
    const auto attempt = [&]() -> Result<HttpReply> {
        const auto written = write(request);
        // A server may answer (413, 503) and close before it has read the whole body.
        auto reply = read(request, nothing_came);
        if (!reply && !written && reply.error().code != Errc::usage) {
            return written.error();
        }
        if (!written) {
            close();
        }
        return reply;
    };
    auto reply = attempt();
    if (!reply) {
        close();
        if (reused && nothing_came && request.repeatable && reply.error().code != Errc::timeout) {
            ANNALS_TRY_VOID(connect());
            reply = attempt();
            if (!reply) {
                close();
            }
        }
    }
    return reply;
}

Result<HttpReply> HttpConnection::exchange(const HttpRequest& request) {
    auto reply = exchange_once(request);
    if (reply && reply->status == 401 && server_.credentials.in_files()) {
        const std::string before = credential_lines_;
        ANNALS_TRY_VOID(read_credentials());
        if (credential_lines_ != before) {
            reply = exchange_once(request);
        }
    }
    let_in_ = let_in_ || (reply && reply->status != 401);
    return reply;
}

}  // namespace annals::tools
