#include "tools/commands/http_client.h"

#include "core/base/text.h"
#include "net/coding.h"
#include "tools/commands/bundle_answers.h"
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

#include <cerrno>
#include <cstring>
#include <thread>

namespace annals::tools {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kReadBytes = 256 << 10;

/// Smaller bodies are sent as they are: little would be saved.
constexpr std::size_t kCompressedBytesMin = 1 << 10;

/// How long to wait on a socket before checking whether to go on.
constexpr milliseconds kLookUp{100};

/// How many replies in a row may be unreadable. With the usual pauses, that is half a minute.
constexpr int kUnreadableMax = 12;

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

/// Retry-After in seconds; nothing for a date.
milliseconds retry_after(const HttpReply& reply) {
    const std::string_view text = reply.header("Retry-After").value_or("");
    return std::chrono::seconds(parse_number<std::uint32_t>(text).value_or(0));
}

/// The text of an OperationOutcome in the reply, after a colon; empty for any other body, such as a proxy's page.
std::string said_in(const HttpReply& reply) {
    json::Parser parser;
    const auto outcome = parser.parse(reply.body);
    if (!outcome || !outcome->root()["resourceType"].equals("OperationOutcome")) {
        return {};
    }
    const std::string text = outcome_text(outcome->root());
    return text.empty() ? text : ": " + text;
}

/// Whether the server has only stopped waiting for an operation that may still complete.
bool is_given_up(const HttpReply& reply) {
    if (reply.status != 503) {
        return false;
    }
    json::Parser parser;
    const auto outcome = parser.parse(reply.body);
    if (!outcome) {
        return false;
    }
    for (const json::Value issue : outcome->root()["issue"].elements()) {
        if (issue["code"].equals("timeout")) {
            return true;
        }
    }
    return false;
}

/// The same request with its body compressed, which `encoded` keeps.
HttpRequest compressed(const HttpRequest& request, std::string& encoded) {
    HttpRequest smaller = request;
    if (const net::EncoderPointer encoder = net::take_encoder(net::Coding::zstd)) {
        encoder->add(request.body, net::Encoder::Then::end, encoded);
        smaller.body = encoded;
        smaller.headers.emplace_back("Content-Encoding", net::coding_name(net::Coding::zstd));
    }
    return smaller;
}

}  // namespace

std::optional<std::string_view> HttpReply::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (equal_ignoring_case(key, name)) {
            return value;
        }
    }
    return std::nullopt;
}

// ---- the connection ----

struct HttpClient::Impl {
    ServerUrl server;
    std::chrono::milliseconds timeout;
    Patience patience;  ///< of the current request
    std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
    int fd = -1;
    std::unique_ptr<TlsClient> tls;  ///< null: no TLS
    bool sent = false;               ///< some bytes of the last request were sent
    std::string credential_lines;
    std::shared_ptr<const TlsIdentity> identity;
    bool let_in = false;  ///< it has answered anything but 401

    void close() {
        tls.reset();
        if (fd >= 0) {
            ::close(fd);
            fd = -1;
        }
    }

    /// Whether the server has closed the idle connection, or sent something on it.
    bool stale() const {
        pollfd entry{fd, POLLIN, 0};
        return ::poll(&entry, 1, 0) != 0 && (tls == nullptr || tls->is_stale());
    }

    /// Whether to go on waiting for data, having waited since then.
    bool goes_on(Clock::time_point since) const {
        return Clock::now() - since < timeout && !(patience.stop && patience.stop());
    }

    /// The same while no reply can be lost by stopping.
    bool goes_on_connecting(Clock::time_point since) const {
        return Clock::now() - since < timeout && !patience.ends();
    }

    ssize_t receive() {
        return tls != nullptr ? tls->receive(buffer.get(), kReadBytes)
                              : ::recv(fd, buffer.get(), kReadBytes, 0);
    }

    /// The error for a broken connection.
    Error broken(std::string_view what, int number) const {
        if (tls == nullptr || number != EPROTO) {
            return socket_error(server, what, number);
        }
        const Errc code = tls->is_refused() && !let_in ? Errc::usage : Errc::io;
        return {code, fmt::format("{}: {}: {}", server.authority(), what, tls->fault()), ""};
    }

    /// A parser's error for a reply, with the server's name.
    Error of_server(const Error& error) const {
        return {error.code, fmt::format("{}: {}", server.authority(), error.detail), ""};
    }

    Result<void> read_credentials();
    bool connect_to(const addrinfo& address, Clock::time_point begun);
    Result<void> connect();
    Result<void> write(const HttpRequest& request);
    Result<HttpReply> read(const HttpRequest& request, bool& nothing_came);
    Result<HttpReply> exchange(const HttpRequest& request);
};

Result<void> HttpClient::Impl::read_credentials() {
    auto lines = header_lines(server.credentials);
    auto shown = read_identity(server.credentials);
    // A file may be missing for a moment while it is replaced.
    if (lines) {
        credential_lines = *std::move(lines);
    } else if (!let_in) {
        return lines.error();
    }
    if (shown) {
        identity = *std::move(shown);
    } else if (!let_in) {
        return shown.error();
    }
    return {};
}

/// If it returns false, errno says why.
bool HttpClient::Impl::connect_to(const addrinfo& address, Clock::time_point begun) {
    if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) {
        return true;
    }
    if (errno != EINPROGRESS && errno != EINTR) {
        return false;
    }
    pollfd entry{fd, POLLOUT, 0};
    while (::poll(&entry, 1, static_cast<int>(kLookUp.count())) <= 0) {
        if (!goes_on_connecting(begun)) {
            errno = ETIMEDOUT;
            return false;
        }
    }
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size);
    errno = number;
    return number == 0;
}

Result<void> HttpClient::Impl::connect() {
    ANNALS_TRY_VOID(read_credentials());
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
        code != 0) {
        return Error{Errc::io, fmt::format("{}: {}", server.authority(), ::gai_strerror(code))};
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
    int number = ECONNREFUSED;
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
        fd = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            number = errno;
            continue;
        }
        const timeval limit{0, std::chrono::microseconds(kLookUp).count()};
        ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        keep_alive(fd);
        const auto begun = Clock::now();
        if (connect_to(*address, begun)) {
            if (server.tls) {
                auto greeted = TlsClient::connect(
                    fd, server.host, [this, begun] { return goes_on_connecting(begun); },
                    identity.get());
                if (!greeted) {
                    close();
                    return let_in && greeted.error().code == Errc::usage
                               ? Error{Errc::io, greeted.error().detail}
                               : greeted.error();
                }
                tls = *std::move(greeted);
            }
            return {};
        }
        number = errno;
        close();
    }
    return socket_error(server, "connecting", number);
}

Result<void> HttpClient::Impl::write(const HttpRequest& request) {
    std::string head = fmt::format(
        "{} {} HTTP/1.1\r\nHost: {}\r\nAccept: application/fhir+json\r\nAccept-Encoding: {}\r\n",
        request.method, request.target.empty() ? "/" : request.target, server.authority(),
        server.compresses ? "zstd, gzip" : "identity");
    for (const auto& [name, value] : request.headers) {
        head += fmt::format("{}: {}\r\n", name, value);
    }
    head += credential_lines;
    if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
        head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", request.content_type,
                            request.body.size());
    }
    head += "\r\n";

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
            tls != nullptr
                ? tls->send(static_cast<const char*>(vectors[0].iov_base), vectors[0].iov_len)
                : ::sendmsg(fd, &message, MSG_NOSIGNAL);
        if (written < 0) {
            const int number = errno;
            if (number == EINTR || (would_block(number) && goes_on(since))) {
                continue;
            }
            return broken("sending", number);
        }
        since = Clock::now();
        sent = true;
        auto left = static_cast<std::size_t>(written);
        for (std::string_view& part : parts) {
            const std::size_t taken = std::min(left, part.size());
            part.remove_prefix(taken);
            left -= taken;
        }
    }
    return {};
}

Result<HttpReply> HttpClient::Impl::read(const HttpRequest& request, bool& nothing_came) {
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
                            server.authority())};
        }
        nothing_came = false;
        const Result<void> taken = parser.take({buffer.get(), static_cast<std::size_t>(got)});
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

HttpClient::HttpClient(ServerUrl server, std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>()) {
    impl_->server = std::move(server);
    impl_->timeout = timeout;
}

HttpClient::~HttpClient() {
    if (impl_ != nullptr) {
        impl_->close();
    }
}

HttpClient::HttpClient(HttpClient&&) noexcept = default;

const ServerUrl& HttpClient::server() const noexcept {
    return impl_->server;
}

bool HttpClient::sent() const noexcept {
    return impl_->sent;
}

void HttpClient::close() {
    impl_->close();
}

Result<HttpReply> HttpClient::Impl::exchange(const HttpRequest& request) {
    sent = false;
    if (fd >= 0 && stale()) {
        close();
    }
    const bool reused = fd >= 0;
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

Result<HttpReply> HttpClient::send(const HttpRequest& request) {
    std::string encoded;
    std::optional<HttpRequest> smaller;
    if (impl_->server.compresses && request.body.size() >= kCompressedBytesMin) {
        smaller = compressed(request, encoded);
    }
    const HttpRequest& sending = smaller ? *smaller : request;
    auto reply = impl_->exchange(sending);
    if (reply && reply->status == 401 && impl_->server.credentials.in_files()) {
        const std::string before = impl_->credential_lines;
        ANNALS_TRY_VOID(impl_->read_credentials());
        if (impl_->credential_lines != before) {
            reply = impl_->exchange(sending);
        }
    }
    impl_->let_in = impl_->let_in || (reply && reply->status != 401);
    // Callers report a reply by its body.
    if (reply && reply->status / 100 == 3) {
        if (const auto location = reply->header("Location")) {
            reply->body = fmt::format("redirect to {}", *location);
        }
    }
    return reply;
}

void Patience::wait(const std::string& why, milliseconds time) const {
    if (say) {
        say(fmt::format("{}; retrying in {} ms", why, time.count()));
    }
    const auto wake = Clock::now() + time;
    while (Clock::now() < wake && !ends()) {
        std::this_thread::sleep_for(
            std::min<Clock::duration>(milliseconds(100), wake - Clock::now()));
    }
}

Result<HttpReply> HttpClient::send_patiently(const HttpRequest& request, const Patience& patience) {
    const auto started = Clock::now();
    impl_->patience = patience;
    auto pause = patience.first_pause;
    int unreadable_in_a_row = 0;
    while (true) {
        auto reply = send(request);
        std::string why;
        bool again = false;
        bool unreadable = false;
        milliseconds asked{0};
        if (reply && !request.repeatable && is_given_up(*reply)) {
            json::Parser parser;
            return Error{Errc::timeout, fmt::format("{}: status 503: {}", impl_->server.authority(),
                                                    outcome_text(parser, reply->body))};
        }
        if (reply) {
            // Any other 503 means that nothing was done (or that a sync failed, after which nothing is until a restart); after other
            // faults that is unknown. A request with a body that was too slow (408) may be so again: that is left to the caller.
            again = reply->status == 429 || reply->status == 503 ||
                    (reply->status >= 500 && reply->status != 501 && request.repeatable) ||
                    (reply->status == 408 && request.body.empty());
            again = again ||
                    (reply->status == 401 && impl_->let_in && impl_->server.credentials.in_files());
            if (again) {
                why = fmt::format("{}: status {}{}", impl_->server.authority(), reply->status,
                                  said_in(*reply));
            }
            if (!again && request.method == "GET" && reply->body.find('\0') != std::string::npos) {
                again = unreadable = true;
                why = fmt::format("{}: a version was erased while it was being sent",
                                  impl_->server.authority());
            }
            if (reply->status == 200 && request.is_cut_off && request.is_cut_off(*reply) &&
                !again) {
                again = unreadable = true;
                why = fmt::format("{}: the response cannot be parsed, or was cut off",
                                  impl_->server.authority());
            }
            asked = std::min(retry_after(*reply), patience.longest_wait);
        } else {
            const bool passing =
                reply.error().code == Errc::io || reply.error().code == Errc::timeout;
            again = passing && (request.repeatable || !impl_->sent);
            why = reply.error().detail;
        }
        unreadable_in_a_row = unreadable ? unreadable_in_a_row + 1 : 0;
        const milliseconds wait = std::max(pause, asked);
        const bool too_late =
            patience.give_up_after.count() >= 0 &&
            std::chrono::steady_clock::now() - started + wait > patience.give_up_after;
        if (!again || patience.ends() || too_late || unreadable_in_a_row == kUnreadableMax) {
            return reply;
        }
        patience.wait(why, wait);
        pause = std::min(pause * 2, patience.longest_pause);
    }
}

}  // namespace annals::tools
