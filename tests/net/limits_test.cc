// Time limits, too many connections, and clients that break off.

#include "tests/net/fake_service.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace {

/// What accept4() fails with instead of being asked; 0: it is asked.
std::atomic<int> accept_fault{0};
std::atomic<int> accepts{0};

}  // namespace

/// In the place of libc's, so that a system can be had that gives no connections.
extern "C" int accept4(int fd, sockaddr* address, socklen_t* bytes, int flags) {
    ++accepts;
    if (const int fault = accept_fault; fault != 0) {
        errno = fault;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_accept4, fd, address, bytes, flags));
}

namespace annals::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kGet = "GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n";

std::string get_request(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

/// A socket that can be broken off with a reset.
class RawSocket {
  public:
    explicit RawSocket(std::uint16_t port, int receive_bytes = 0) {
        fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
        if (receive_bytes > 0) {
            ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }

    RawSocket(const RawSocket&) = delete;
    RawSocket& operator=(const RawSocket&) = delete;

    ~RawSocket() { ::close(fd_); }

    bool connected() const { return connected_; }

    void send(std::string_view bytes) { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

    ssize_t receive(char* out, std::size_t size) { return ::recv(fd_, out, size, 0); }

    void reset_on_close() {
        const linger now{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }

  private:
    int fd_ = -1;
    bool connected_ = false;
};

std::uint64_t open_connections(std::uint16_t port) {
    const std::string page = exchange(port, "GET", "/metrics").body;
    const std::string name = "\nannals_http_connections ";
    return std::stoull(page.substr(page.find(name) + name.size())) - 1;
}

// The page's own connection is left out; one that asked before may still be counted.
void expect_connections_go(std::uint16_t port) {
    const auto end = Clock::now() + std::chrono::seconds(30);
    std::uint64_t open = open_connections(port);
    while (open > 0 && Clock::now() < end) {
        std::this_thread::sleep_for(milliseconds(5));
        open = open_connections(port);
    }
    EXPECT_EQ(open, 0U);
}

TEST(TimeLimits, CloseAnIdleConnectionWithoutAWord) {
    FakeServer server([](core::Config& config) { config.limits.idle_timeout = milliseconds(500); });
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(kGet));
    ASSERT_TRUE(connection.receive());
    EXPECT_FALSE(connection.receive());
    EXPECT_TRUE(connection.closed_by_peer());
}

TEST(TimeLimits, AnswerAHeadThatDripsIn) {
    FakeServer server(
        [](core::Config& config) { config.limits.header_timeout = milliseconds(150); });
    Connection connection(server.port());
    const auto begin = Clock::now();
    for (const char byte : std::string_view("GET /fhir/text HTTP/1.1\r\nHost: abcdefghijklmnop")) {
        if (!connection.send({&byte, 1}) || Clock::now() - begin > milliseconds(400)) {
            break;
        }
        std::this_thread::sleep_for(milliseconds(10));
    }
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 408);
    EXPECT_EQ(response->header("Connection"), "close");
    EXPECT_NE(response->body.find("\"timeout\""), std::string::npos);
}

TEST(TimeLimits, AnswerAHeadThatDoesNotEndInWhatItAsksFor) {
    FakeServer server(
        [](core::Config& config) { config.limits.header_timeout = milliseconds(100); });
    Connection connection(server.port());
    ASSERT_TRUE(connection.send("GET /fhir/text HTTP/1.1\r\nAccept: application/fhir+xml\r\n"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 408);
    EXPECT_EQ(response->header("Content-Type"), "application/fhir+xml; charset=utf-8");
}

// Sends `bytes` again and again until the server answers or closes; how long that took.
Clock::duration time_that_is_gained_by(Connection& connection, std::string_view bytes) {
    const auto begin = Clock::now();
    std::atomic<bool> ended = false;
    std::thread sender([&] {
        while (!ended && Clock::now() - begin < std::chrono::seconds(25) &&
               connection.send(bytes)) {
            std::this_thread::sleep_for(milliseconds(20));
        }
    });
    connection.receive();
    ended = true;
    const Clock::duration time = Clock::now() - begin;
    sender.join();
    return time;
}

TEST(TimeLimits, EmptyLinesBeforeARequestGainNoTime) {
    FakeServer server([](core::Config& config) {
        config.limits.idle_timeout = milliseconds(500);
        config.limits.header_timeout = milliseconds(500);
    });
    for (const std::string_view lines : {"\r\n", "\r\n\r"}) {
        Connection connection(server.port());
        ASSERT_TRUE(connection.send(kGet));
        ASSERT_TRUE(connection.receive());
        EXPECT_LT(time_that_is_gained_by(connection, lines), std::chrono::seconds(20));
    }
}

TEST(TimeLimits, BeginAnewWithEachRequest) {
    FakeServer server([](core::Config& config) {
        config.limits.idle_timeout = milliseconds(1000);
        config.limits.header_timeout = milliseconds(1000);
    });
    Connection one_by_one(server.port());
    Connection overlapping(server.port());
    // Each portion ends one request and begins the next: the server never waits for one to begin.
    const std::string_view begin = kGet.substr(0, kGet.size() / 2);
    const std::string_view end = kGet.substr(begin.size());
    ASSERT_TRUE(overlapping.send(begin));
    const auto until = Clock::now() + milliseconds(1600);
    while (Clock::now() < until) {
        std::this_thread::sleep_for(milliseconds(50));
        ASSERT_TRUE(one_by_one.send(kGet));
        ASSERT_TRUE(overlapping.send(std::string(end) + std::string(begin)));
        for (Connection* const connection : {&one_by_one, &overlapping}) {
            const auto response = connection->receive();
            ASSERT_TRUE(response);
            EXPECT_EQ(response->status, 200);
        }
    }
}

TEST(TimeLimits, OfAConnectionOverTheLimitDoNotBeginAnewWithWhatDripsIn) {
    FakeServer server([](core::Config& config) { config.limits.max_connections = 1; });
    Connection first(server.port());
    ASSERT_TRUE(first.send(kGet));
    ASSERT_TRUE(first.receive());
    for (const std::string_view bytes : {"\r\n", "G"}) {
        Connection second(server.port());
        EXPECT_LT(time_that_is_gained_by(second, bytes), std::chrono::seconds(20)) << bytes;
    }
}

TEST(TimeLimits, AnswerABodyThatDoesNotCome) {
    FakeServer server([](core::Config& config) {
        config.limits.body_timeout = milliseconds(150);
        config.limits.header_timeout = std::chrono::minutes(2);
    });
    Connection connection(server.port());
    ASSERT_TRUE(
        connection.send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 408);
    EXPECT_EQ(response->header("Retry-After"), "1");
}

TEST(TimeLimits, AnswerForAHandlerThatTakesTooLong) {
    FakeServer server(
        [](core::Config& config) { config.limits.request_timeout = milliseconds(100); });
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(get_request("/fhir/wait?2000") + std::string(kGet)));
    const auto begin = Clock::now();
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_NE(response->body.find("\"timeout\""), std::string::npos);
    EXPECT_FALSE(connection.receive());
    EXPECT_LT(Clock::now() - begin, milliseconds(1900));
    expect_connections_go(server.port());
}

TEST(TimeLimits, DropAClientThatDoesNotRead) {
    FakeServer server(
        [](core::Config& config) { config.limits.idle_timeout = milliseconds(1000); });
    RawSocket slow(server.port(), 4096);
    ASSERT_TRUE(slow.connected());
    slow.send(get_request("/fhir/view?60000000"));
    const auto end = Clock::now() + std::chrono::seconds(30);
    std::uint64_t open = 0;
    while (open == 0 && Clock::now() < end) {
        open = open_connections(server.port());
    }
    EXPECT_EQ(open, 1U);
    expect_connections_go(server.port());
}

TEST(TimeLimits, KeepAClientThatReadsSlowly) {
    FakeServer server(
        [](core::Config& config) { config.limits.idle_timeout = milliseconds(2000); });
    RawSocket slow(server.port(), 64 << 10);
    slow.send(get_request("/fhir/view?60000000"));
    // In so little time less than what has to be free before the kernel takes more from the server.
    std::vector<char> room(64 << 10);
    std::int64_t got = 0;
    const auto end = Clock::now() + milliseconds(5000);
    while (Clock::now() < end) {
        const ssize_t count = slow.receive(room.data(), room.size());
        ASSERT_GT(count, 0) << "after " << got << " bytes";
        got += count;
        std::this_thread::sleep_for(milliseconds(200));
    }
    while (got <= 60'000'000) {
        const ssize_t count = slow.receive(room.data(), room.size());
        ASSERT_GT(count, 0) << "after " << got << " bytes";
        got += count;
    }
}

TEST(Connections, ThatTheSystemDoesNotGiveAreAskedForNowAndThen) {
    const FakeServer server;
    for (const int fault : {EPERM, EPROTO, EOPNOTSUPP}) {
        accept_fault = fault;
        const int before = accepts;
        Connection waits(server.port());
        std::this_thread::sleep_for(milliseconds(350));
        const int asked = accepts - before;
        accept_fault = 0;
        EXPECT_GE(asked, 1) << fault;
        EXPECT_LE(asked, 5) << fault;
        ASSERT_TRUE(waits.send(kGet));
        EXPECT_TRUE(waits.receive()) << fault;
    }
}

TEST(Connections, OverTheLimitAreToldSo) {
    FakeServer server([](core::Config& config) {
        config.limits.max_connections = 2;
        config.limits.idle_timeout = std::chrono::seconds(60);
    });
    Connection first(server.port());
    Connection second(server.port());
    ASSERT_TRUE(first.send(kGet));
    ASSERT_TRUE(first.receive());
    ASSERT_TRUE(second.send(kGet));
    ASSERT_TRUE(second.receive());
    Connection third(server.port());
    const auto response = third.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->header("Connection"), "close");
    EXPECT_TRUE(response->header("Retry-After"));
    EXPECT_NE(response->body.find("\"transient\""), std::string::npos);
    ASSERT_TRUE(first.send(kGet));
    EXPECT_TRUE(first.receive());
}

TEST(Connections, OverTheLimitLeaveHealthAndMetricsToBeAsked) {
    FakeServer server([](core::Config& config) { config.limits.max_connections = 2; });
    Connection first(server.port());
    ASSERT_TRUE(first.send(kGet));
    ASSERT_TRUE(first.receive());
    Connection second(server.port());
    ASSERT_TRUE(second.send(get_request("/fhir/hold")));
    HeldLoop held;
    // More than are listened to at the same time, as far as there are descriptors, all of them by the other thread, and none
    // says anything.
    rlimit descriptors{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &descriptors), 0);
    std::vector<std::unique_ptr<RawSocket>> silent;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(1100, descriptors.rlim_cur / 4); ++i) {
        silent.push_back(std::make_unique<RawSocket>(server.port()));
    }
    const auto ask = [&](std::string_view request) {
        Connection connection(server.port());
        EXPECT_TRUE(connection.send(request));
        const auto response = connection.receive();
        EXPECT_TRUE(response);
        EXPECT_EQ(response ? response->header("Connection") : "", "close");
        return response ? response->status : 0;
    };
    EXPECT_EQ(ask(get_request("/healthz")), 200);  // after all of them
    silent.push_back(std::make_unique<RawSocket>(server.port()));
    std::this_thread::sleep_for(milliseconds(20));
    held.let_go();
    EXPECT_TRUE(second.receive());
    for (const char* path : {"/healthz", "/readyz", "/metrics"}) {
        EXPECT_EQ(ask(get_request(path)), 200) << path;
    }
    EXPECT_EQ(ask(kGet), 503);
    EXPECT_EQ(ask("POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc"), 503);
    ASSERT_TRUE(first.send(kGet));
    EXPECT_TRUE(first.receive());
}

TEST(Connections, MayBeManyAtOnce) {
    FakeServer server;
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < 200; ++i) {
        connections.push_back(std::make_unique<Connection>(server.port()));
    }
    for (int round = 0; round < 3; ++round) {
        for (const auto& connection : connections) {
            ASSERT_TRUE(
                connection->send(round == 1 ? get_request("/fhir/wait?5") : std::string(kGet)));
        }
        for (const auto& connection : connections) {
            const auto response = connection->receive();
            ASSERT_TRUE(response);
            EXPECT_EQ(response->status, 200);
        }
    }
    EXPECT_GE(open_connections(server.port()), 200U);
    connections.clear();
    expect_connections_go(server.port());
}

TEST(Connections, AreServedByOthersWhileOneThreadIsBusy) {
    const FakeServer server([](core::Config& config) { config.threads = 2; });
    const Connection of_the_first(server.port());
    Connection of_the_second(server.port());
    ASSERT_TRUE(of_the_second.send(get_request("/fhir/hold")));
    const HeldLoop held;
    std::deque<Connection> silent;  // more than twice as many as may be on their way
    for (int i = 0; i < 200; ++i) {
        silent.emplace_back(server.port());
    }
    Connection asking(server.port());
    ASSERT_TRUE(asking.send(kGet));
    EXPECT_TRUE(asking.receive());
}

TEST(Connections, ThatBreakOffDoNoHarm) {
    FakeServer server;
    for (int i = 0; i < 20; ++i) {
        RawSocket in_head(server.port());
        in_head.send("GET /fhir");
        RawSocket in_body(server.port());
        in_body.send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
        RawSocket in_handler(server.port());
        in_handler.send(get_request("/fhir/wait?20"));
        RawSocket in_response(server.port(), 4096);
        in_response.send(get_request("/fhir/view?60000000"));
        RawSocket in_slices(server.port(), 4096);
        in_slices.send(get_request("/fhir/slices?10000"));
        std::array<char, 1000> some;
        EXPECT_GT(in_response.receive(some.data(), some.size()), 0);
        EXPECT_GT(in_slices.receive(some.data(), some.size()), 0);
        for (RawSocket* socket : {&in_head, &in_body, &in_handler, &in_response, &in_slices}) {
            socket->reset_on_close();
        }
    }
    expect_connections_go(server.port());
}

TEST(Connections, ThatTheServerEndsLoseNothingToAClientThatSendsMore) {
    constexpr std::size_t kBytes = 4'000'000;
    FakeServer server;
    for (const std::size_t sent_after : {std::size_t{1}, kBytes * 3 / 4}) {
        RawSocket socket(server.port(), 4096);
        socket.send(fmt::format(
            "GET /fhir/view?{} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", kBytes));
        std::vector<char> some(64 << 10);
        std::size_t received = 0;
        bool sent = false;
        ssize_t count = 0;
        while ((count = socket.receive(some.data(), some.size())) > 0) {
            received += static_cast<std::size_t>(count);
            if (!sent && received >= sent_after) {
                socket.send(kGet);
                sent = true;
            }
        }
        EXPECT_EQ(count, 0);
        EXPECT_GT(received, kBytes);
    }
}

}  // namespace
}  // namespace annals::test
