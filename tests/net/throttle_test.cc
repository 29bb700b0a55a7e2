// Rates and connections of one client, and how much tables with lasting entries may hold.

#include "net/throttle.h"

#include "net/coding.h"
#include "net/make_room.h"
#include "tests/net/fake_service.h"
#include "tests/net/token_requests.h"
#include "tests/support/guarded_server.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

namespace annals::test {
namespace {

using net::PeerAddress;
using net::Throttle;
using std::chrono::milliseconds;
using testing::HasSubstr;

PeerAddress v4(unsigned char last) {
    PeerAddress address;
    address.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last};
    return address;
}

PeerAddress v6(unsigned char network, unsigned char host) {
    PeerAddress address;
    address.bytes = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host};
    return address;
}

TEST(Addresses, AreWrittenAsEverybodyDoes) {
    EXPECT_EQ(v4(7).text(), "192.0.2.7");
    EXPECT_EQ(v6(1, 2).text(), "2001:db8:0:1::2");
}

/// How a client connecting from and to `from` looks to a server listening at `at`.
std::string seen_at(const std::string& at, const std::string& from) {
    const auto address_of = [](const std::string& text, in_port_t port) {
        sockaddr_storage address{};
        if (text.find(':') == std::string::npos) {
            auto& v4 = reinterpret_cast<sockaddr_in&>(address);
            v4.sin_family = AF_INET;
            v4.sin_port = port;
            EXPECT_EQ(::inet_pton(AF_INET, text.c_str(), &v4.sin_addr), 1);
        } else {
            auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
            v6.sin6_family = AF_INET6;
            v6.sin6_port = port;
            EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr), 1);
        }
        return address;
    };
    const sockaddr_storage own = address_of(at, 0);
    const int listener = ::socket(own.ss_family, SOCK_STREAM, 0);
    const int off = 0;
    static_cast<void>(::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0) << at;
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    const sockaddr_storage to =
        address_of(from, reinterpret_cast<const sockaddr_in&>(bound).sin_port);
    const int client = ::socket(to.ss_family, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << from;
    const int served = ::accept(listener, nullptr, nullptr);
    const std::string text = net::peer_address(served).text();
    for (const int fd : {served, client, listener}) {
        ::close(fd);
    }
    return text;
}

TEST(Addresses, OfPeersAreTheirs) {
    EXPECT_EQ(seen_at("127.0.0.1", "127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(net::peer_address(-1).text(), "::");
    if (!has_ipv6()) {
        GTEST_SKIP() << "this machine has no IPv6";
    }
    EXPECT_EQ(seen_at("::1", "::1"), "::1");
    EXPECT_EQ(seen_at("::", "127.0.0.1"), "127.0.0.1");
}

TEST(MakeRoom, LetsGoOfWhatIsOverAndOfAllIfNothingIs) {
    std::unordered_map<int, bool> map;
    const auto add = [&](int key, bool is_over) {
        net::make_room(map, 3, [](const auto& entry) { return entry.second; });
        map.emplace(key, is_over);
    };
    add(1, true);
    add(2, false);
    add(3, false);
    EXPECT_THAT(map, testing::SizeIs(3));
    add(4, false);
    EXPECT_THAT(map, testing::UnorderedElementsAre(std::pair(2, false), std::pair(3, false),
                                                   std::pair(4, false)));
    add(5, false);
    EXPECT_THAT(map, testing::UnorderedElementsAre(std::pair(5, false)));
}

TEST(Throttle, LetsSoManyAtOnceAndThenSoManyASecond) {
    Throttle throttle(10, 3, 0);
    Throttle::Clock::time_point time{};
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(throttle.take("a", time));
    }
    EXPECT_EQ(throttle.take("a", time), milliseconds(100));
    EXPECT_FALSE(throttle.take("b", time));
    time += milliseconds(60);
    EXPECT_EQ(throttle.take("a", time), milliseconds(40));
    time += milliseconds(40);
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_TRUE(throttle.take("a", time));
    time += std::chrono::hours(1);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(throttle.take("a", time));
    }
    EXPECT_TRUE(throttle.take("a", time));
}

// Threads may come in another order than they read the clock.
TEST(Throttle, NeitherTakesNorGivesForTimesThatGoBack) {
    Throttle throttle(1, 2, 0);
    const Throttle::Clock::time_point time{std::chrono::hours(1)};
    const Throttle::Clock::time_point before = time - std::chrono::seconds(5);
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_FALSE(throttle.take("a", before));
    EXPECT_TRUE(throttle.take("a", before));
    EXPECT_TRUE(throttle.take("a", time));
}

TEST(Throttle, RemembersNoMoreClientsThanItMay) {
    Throttle throttle(1, 1, 0);
    const Throttle::Clock::time_point time{};
    for (std::size_t i = 0; i <= Throttle::kBucketsMax; ++i) {
        EXPECT_FALSE(throttle.take(std::to_string(i), time));
    }
    // The last one is still known, but none before it, although all of them would have to wait.
    EXPECT_TRUE(throttle.take(std::to_string(Throttle::kBucketsMax), time));
    EXPECT_FALSE(throttle.take("0", time));
}

TEST(Throttle, ForgetsNobodyWhoHasToWaitWhileOthersHaveNot) {
    Throttle throttle(1, 2, 0);
    Throttle::Clock::time_point time{};
    EXPECT_FALSE(throttle.take("hasty", time));
    EXPECT_FALSE(throttle.take("hasty", time));
    for (std::size_t i = 1; i < Throttle::kBucketsMax; ++i) {
        EXPECT_FALSE(throttle.take(std::to_string(i), time));
    }
    // By now, the others may send as much as ever.
    time += std::chrono::seconds(1);
    EXPECT_FALSE(throttle.take("hasty", time));
    EXPECT_FALSE(throttle.take("new", time));
    EXPECT_TRUE(throttle.take("hasty", time));
}

TEST(Throttle, GivesBackWhatWasTakenAndNoMore) {
    Throttle throttle(1, 2, 0);
    const Throttle::Clock::time_point time{};
    throttle.give_back("nobody yet");
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_FALSE(throttle.take("a", time));
    throttle.give_back("a");
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_TRUE(throttle.take("a", time));
    for (int i = 0; i < 5; ++i) {
        throttle.give_back("a");
    }
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_FALSE(throttle.take("a", time));
    EXPECT_TRUE(throttle.take("a", time));
}

TEST(Throttle, LimitsNothingUnlessItIsSaid) {
    Throttle throttle(0, 0, 0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(throttle.take("a", Throttle::Clock::time_point{}));
        EXPECT_TRUE(throttle.connect(v4(1)));
    }
}

TEST(Throttle, CountsConnectionsByNetwork) {
    Throttle throttle(0, 0, 2);
    EXPECT_TRUE(throttle.connect(v4(1)));
    EXPECT_TRUE(throttle.connect(v4(1)));
    EXPECT_FALSE(throttle.connect(v4(1)));
    EXPECT_TRUE(throttle.connect(v4(2)));
    throttle.disconnect(v4(1));
    EXPECT_TRUE(throttle.connect(v4(1)));
    EXPECT_FALSE(throttle.connect(v4(1)));
    EXPECT_TRUE(throttle.connect(v6(1, 1)));
    EXPECT_TRUE(throttle.connect(v6(1, 2)));
    EXPECT_FALSE(throttle.connect(v6(1, 3)));
    EXPECT_TRUE(throttle.connect(v6(2, 1)));
}

TEST(Rates, AreAnsweredBy429AndWhenToComeAgain) {
    FakeServer server([](core::Config& config) {
        config.limits.rate = 1;
        config.limits.rate_burst = 2;
    });
    // On one connection, so that all three arrive within a second on any machine.
    Connection connection(server.port());
    const std::string get = "GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_TRUE(connection.send(get + get + get + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(connection.receive()->status, 200);
    EXPECT_EQ(connection.receive()->status, 200);
    const auto refused = connection.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_EQ(refused->header("Retry-After"), "1");
    EXPECT_EQ(refused->header("RateLimit-Limit"), "2");
    EXPECT_EQ(refused->header("RateLimit-Remaining"), "0");
    EXPECT_EQ(refused->header("RateLimit-Reset"), "1");
    EXPECT_THAT(refused->body, HasSubstr(R"("code":"throttled")"));
    // Health checks are exempt.
    EXPECT_EQ(connection.receive()->status, 200);
    EXPECT_THAT(exchange(server.port(), "GET", "/metrics").body,
                HasSubstr("annals_http_requests_throttled_total 1"));
}

TEST(Rates, AreOfPrincipalsAndOfTheAddressForThoseWhoAreNone) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({key.jwk()}))(config, self);
        config.limits.rate = 1;
        config.limits.rate_burst = 1;
    });
    const auto token_of = [&](const std::string& name) {
        return key.sign(R"({"sub":")" + name + R"(","exp":4000000000,"scope":"system/*.rs"})");
    };
    const auto request = [](const std::string& token) {
        return "GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token +
               "\r\n\r\n";
    };
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(request(token_of("a")) + request(token_of("a")) +
                                request(token_of("b")) + request("x.y.z") + request("x.y.z")));
    for (const int status : {404, 429, 404, 401, 429}) {
        const auto answer = connection.receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, status);
    }
}

TEST(Rates, AreAlsoOfRequestsForTokens) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_clients(client_entry("lab", inline_keys(key)))(config, self);
        config.limits.rate = 1;
        config.limits.rate_burst = 1;
    });
    const std::string request =
        "POST /fhir/auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\ngrant_type=x";
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(request + request));
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 400);
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 429);
}

TEST(Rates, CountARequestOnceWhoseBodyComesAfterItsHead) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({key.jwk()}))(config, self);
        config.limits.rate = 1;
        config.limits.rate_burst = 1;
    });
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(
        "POST /fhir/Patient/_search HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n"
        "Authorization: Bearer " +
        key.sign(R"({"sub":"a","exp":4000000000,"scope":"system/*.rs"})") + "\r\n\r\n"));
    const auto interim = connection.receive(true);
    ASSERT_TRUE(interim);
    EXPECT_EQ(interim->status, 100);
    ASSERT_TRUE(connection.send("_id=1"));
    const auto answer = connection.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200) << answer->body;
}

TEST(Connections, OfOneAddressMayBeLimited) {
    FakeServer server([](core::Config& config) { config.limits.connections_per_address = 2; });
    const std::string get = "GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n";
    std::optional<Connection> first(server.port());
    Connection second(server.port());
    for (Connection* connection : {&*first, &second}) {
        ASSERT_TRUE(connection->send(get));
        EXPECT_EQ(connection->receive()->status, 200);
    }
    Connection third(server.port());
    const auto refused = third.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503);
    EXPECT_THAT(refused->body, HasSubstr(R"("code":"transient")"));
    first.reset();
    // It takes a moment until the server notices the close.
    int status = 0;
    for (int i = 0; i < 500 && status != 200; ++i) {
        Connection next(server.port());
        next.send(get);
        const auto answer = next.receive();
        status = answer ? answer->status : 0;
    }
    EXPECT_EQ(status, 200);
}

TEST(Bodies, OfAllRequestsTogetherAreBounded) {
    FakeServer server([](core::Config& config) { config.limits.max_memory = 1 << 20; });
    const std::string head =
        "POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n";
    {
        Connection large(server.port());
        // The server may close before it has everything.
        large.send(head + std::string(3'000'000, 'x'));
        const auto refused = large.receive();
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->status, 503);
        EXPECT_THAT(refused->body, HasSubstr(R"("code":"transient")"));
        // Small ones are still accepted, also while others are under way, which end in the middle of their bodies.
        std::vector<std::unique_ptr<Connection>> holding;
        for (const std::size_t bytes : {400'000U, 200'000U, 100'000U, 60'000U, 60'000U, 60'000U}) {
            holding.push_back(std::make_unique<Connection>(server.port()));
            ASSERT_TRUE(holding.back()->send(head + std::string(bytes, 'x')));
        }
        for (int i = 0; i < 50; ++i) {
            EXPECT_EQ(exchange(server.port(), "POST", "/fhir/echo", "x").status, 200);
        }
    }
    // Once the server has noticed the close, the memory is free again.
    const auto send = [&] {
        return exchange(server.port(), "POST", "/fhir/echo", std::string(200'000, 'x')).status;
    };
    int status = 0;
    for (int i = 0; i < 500 && status != 200; ++i) {
        status = send();
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(send(), 200);
    }
}

TEST(Bodies, ThatAreSmallAreTakenHoweverMuchOthersUse) {
    FakeServer server([](core::Config& config) { config.limits.max_memory = 1; });
    EXPECT_EQ(exchange(server.port(), "POST", "/fhir/echo", "x").status, 200);
    EXPECT_EQ(exchange(server.port(), "POST", "/fhir/echo", std::string(100'000, 'x')).status, 503);
}

TEST(Bodies, ThatWereAnsweredTakeNothingFromOthers) {
    FakeServer server([](core::Config& config) { config.limits.max_memory = 1 << 20; });
    const std::string request =
        "POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" +
        std::string(200'000, 'x');
    std::vector<std::unique_ptr<Connection>> waiting;
    for (int i = 0; i < 12; ++i) {
        waiting.push_back(std::make_unique<Connection>(server.port()));
        ASSERT_TRUE(waiting.back()->send(request));
        const auto answer = waiting.back()->receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 200) << i;
    }
}

TEST(Bodies, OfConnectionsThatEndTakeNothingFromOthers) {
    FakeServer server([](core::Config& config) { config.limits.max_memory = 1 << 20; });
    const std::string body(200'000, 'x');
    std::vector<std::unique_ptr<Connection>> ended;
    for (int i = 0; i < 12; ++i) {
        ended.push_back(std::make_unique<Connection>(server.port()));
        ASSERT_TRUE(
            ended.back()->send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                               "Content-Length: 200000\r\n\r\n" +
                               body));
        const auto answer = ended.back()->receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 200) << i;
        EXPECT_TRUE(ended.back()->closed_by_peer());
    }
}

TEST(Bodies, ThatUnpackToMoreThanThereIsMemoryForAreRefused) {
    FakeServer server([](core::Config& config) { config.limits.max_memory = 1 << 20; });
    std::string body;
    net::take_encoder(net::Coding::zstd)
        ->add(std::string(8 << 20, ' '), net::Encoder::Then::end, body);
    for (int i = 0; i < 50; ++i) {
        const HttpResponse refused =
            exchange(server.port(), "POST", "/fhir/echo", body, {{"Content-Encoding", "zstd"}});
        EXPECT_EQ(refused.status, 503);
    }
    EXPECT_EQ(exchange(server.port(), "POST", "/fhir/echo", "x").status, 200);
}

TEST(Bodies, ThatWereUnpackedCountForAsLongAsTheyAreWorkedOn) {
    FakeServer server([](core::Config& config) {
        config.limits.max_memory = 1 << 20;
        config.threads = 1;
    });
    std::string body;
    net::take_encoder(net::Coding::zstd)
        ->add(std::string(1'000'000, ' '), net::Encoder::Then::end, body);
    Connection first(server.port());
    ASSERT_TRUE(
        first.send("POST /fhir/wait?2000 HTTP/1.1\r\nHost: a\r\nContent-Encoding: zstd\r\n"
                   "Content-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body));
    // Until the first request has arrived.
    int status = 200;
    for (int i = 0; i < 100 && status == 200; ++i) {
        status = exchange(server.port(), "POST", "/fhir/echo", std::string(200'000, 'x')).status;
    }
    EXPECT_EQ(status, 503);
    EXPECT_EQ(first.receive().value_or(HttpResponse{}).status, 200);
}

TEST(Bodies, AreNotReadBeforeTheirSenderIsKnown) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const auto head = [](const std::string& authorization, const std::string& more = {}) {
        return "PUT /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nContent-Type: "
               "application/fhir+json\r\n" +
               authorization + more + "Content-Length: 37\r\n\r\n";
    };
    const std::string good = "Authorization: Bearer " + key.sign(kClaims) + "\r\n";
    const std::string reader =
        "Authorization: Bearer " + key.sign(R"({"exp":4000000000,"scope":"system/*.rs"})") + "\r\n";
    const std::string expects = "Expect: 100-continue\r\n";
    const std::vector<std::pair<std::string, int>> cases{
        {"", 401}, {"Authorization: Bearer a.b.c\r\n", 401}, {reader, 403}};
    for (const auto& [authorization, status] : cases) {
        for (const std::string& more : {std::string(), expects}) {
            // No byte of the body is sent.
            Connection connection(server.port());
            ASSERT_TRUE(connection.send(head(authorization, more)));
            const auto answer = connection.receive();
            ASSERT_TRUE(answer);
            EXPECT_EQ(answer->status, status);
            EXPECT_EQ(answer->header("Connection"), "close");
        }
    }
    // The same where no credentials are needed.
    for (const auto& [path, status] :
         std::vector<std::pair<std::string, int>>{{"/healthz", 405}, {"/elsewhere", 404}}) {
        Connection connection(server.port());
        ASSERT_TRUE(
            connection.send("POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 37\r\n\r\n"));
        const auto answer = connection.receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, status);
        EXPECT_EQ(answer->header("Connection"), "close");
    }
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(head(good, expects)));
    EXPECT_EQ(connection.receive()->status, 100);
    ASSERT_TRUE(connection.send(R"({"resourceType":"Patient","id":"1" })"
                                " "));
    EXPECT_EQ(connection.receive()->status, 201);
}

}  // namespace
}  // namespace annals::test
