// A server that starts, and one that stops.

#include "net/server.h"

#include "storage/file_system.h"
#include "tests/net/raw_exchange.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST(Stopping, FinishesWhatIsInFlightAndClosesTheIdle) {
    FakeServer server;
    std::optional<Connection> idle(server.port());
    ASSERT_TRUE(idle->send(get("/fhir/text")));
    ASSERT_TRUE(idle->receive());
    std::optional<Connection> busy(server.port());
    ASSERT_TRUE(busy->send(get("/fhir/wait?300")));
    std::this_thread::sleep_for(milliseconds(50));

    const auto begin = Clock::now();
    std::thread stop([&] { server.server().stop(); });
    const auto response = busy->receive();
    EXPECT_TRUE(idle->closed_by_peer());
    busy.reset();  // the server waits two seconds for that
    idle.reset();
    stop.join();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->header("Connection"), "close");
    EXPECT_FALSE(Connection(server.port()).send("\r\n"));
}

/// What `asking` receives of a server that is told to stop. Both close then: it waits two seconds for that.
auto receive_while_stopping(FakeServer& server, std::optional<Connection>& asking,
                            std::optional<Connection>& other) {
    std::thread stop([&] { server.server().stop(); });
    auto response = asking->receive();
    asking.reset();
    other.reset();
    stop.join();
    return response;
}

TEST(Stopping, AnswersWhatHasComeThoughNobodyHasReadItYet) {
    FakeServer server([](core::Config& config) { config.threads = 1; });
    std::optional<Connection> asking(server.port());
    ASSERT_TRUE(asking->send(get("/fhir/text")));
    ASSERT_TRUE(asking->receive());
    std::optional<Connection> blocking(server.port());
    ASSERT_TRUE(blocking->send(get("/fhir/block?500")));
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_TRUE(asking->send(get("/fhir/text")));
    const auto response = receive_while_stopping(server, asking, blocking);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
}

TEST(Stopping, AnswersWhoIsConnectedThoughNobodyHasAcceptedHimYet) {
    for (const std::uint64_t threads : {std::uint64_t{1}, std::uint64_t{2}}) {
        FakeServer server([&](core::Config& config) { config.threads = threads; });
        // By the thread that accepts.
        std::optional<Connection> blocking(server.port());
        ASSERT_TRUE(blocking->send(get("/fhir/block?500")));
        std::this_thread::sleep_for(milliseconds(100));
        std::optional<Connection> asking(server.port());
        ASSERT_TRUE(asking->send(get("/fhir/text")));
        const auto response = receive_while_stopping(server, asking, blocking);
        ASSERT_TRUE(response) << threads;
        EXPECT_EQ(response->status, 200);
    }
}

TEST(Stopping, IsBoundedByItsTimeout) {
    FakeServer server([](core::Config& config) { config.shutdown_timeout = milliseconds(100); });
    Connection slow(server.port());
    ASSERT_TRUE(slow.send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"));
    Connection waiting(server.port());
    ASSERT_TRUE(waiting.send(get("/fhir/wait?1000")));
    std::this_thread::sleep_for(milliseconds(50));
    const auto begin = Clock::now();
    server.server().stop();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4));
    EXPECT_FALSE(slow.receive());
}

TEST(Stopping, UnderLoadLosesNoResponse) {
    FakeServer server;
    std::atomic<int> failures{0};
    std::atomic<int> answered{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 8; ++i) {
        clients.emplace_back([&] {
            for (;;) {
                if (!Connection(server.port()).send("\r\n")) {
                    return;
                }
                Connection connection(server.port());
                for (;;) {
                    if (!connection.send(get("/fhir/wait?1"))) {
                        break;
                    }
                    const auto response = connection.receive();
                    if (!response) {
                        break;  // closed between requests
                    }
                    ++answered;
                    if (response->status != 200 || response->body != "waited") {
                        ++failures;
                    }
                    if (response->header("Connection") == "close") {
                        return;
                    }
                }
            }
        });
    }
    while (answered < 200) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    server.server().stop();
    for (std::thread& client : clients) {
        client.join();
    }
    EXPECT_EQ(failures, 0);
}

TEST(Starting, SaysWhatIsWrongWithTheAddress) {
    FakeServer running;
    const auto error_of = [&](const std::string& listen) {
        TemporaryDirectory directory;
        auto store = storage::Store::open(storage::posix_file_system(), directory.path(), {});
        core::Config config;
        config.listen = listen;
        config.threads = 1;
        const core::Service service(config, **store);
        auto server = net::Server::start(service, fake_handlers());
        return server ? Error{Errc::internal, "started", ""} : server.error();
    };
    for (const std::string& listen :
         {std::string("nonsense"), std::string("1.2.3.4"), std::string("127.0.0.1:x"),
          std::string("127.0.0.1:99999"), std::string(":80"), std::string("::1:80"),
          std::string("no.such.host.invalid:80"), "127.0.0.1:" + std::to_string(running.port())}) {
        const Error error = error_of(listen);
        EXPECT_EQ(error.code, Errc::usage) << listen << ": " << error.detail;
        EXPECT_EQ(error.detail.find('\n'), std::string::npos);
    }
}

TEST(Starting, ListensOnIpv6) {
    if (!has_ipv6()) {
        GTEST_SKIP() << "this machine has no IPv6";
    }
    FakeServer server([](core::Config& config) { config.listen = "[::1]:0"; });
    EXPECT_EQ(server.server().url(), "http://[::1]:" + std::to_string(server.port()) + "/fhir");
    const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(server.port());
    address.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request = get("/fhir/text");
    ::send(fd, request.data(), request.size(), 0);
    std::array<char, 1000> bytes;
    EXPECT_GT(::recv(fd, bytes.data(), bytes.size(), 0), 0);
    ::close(fd);
}

}  // namespace
}  // namespace annals::test
