// How long HttpClient keeps asking, and who ends that.

#include "tests/support/hook_receiver.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace annals::tools {
namespace {

TEST(Patience, WaitsSoLongOrUntilItIsToldToStop) {
    using std::chrono::steady_clock;
    bool stopped = false;
    Patience patience;
    patience.stop = [&] { return stopped; };
    auto begun = steady_clock::now();
    patience.wait("", std::chrono::milliseconds(5));
    EXPECT_GE(steady_clock::now() - begun, std::chrono::milliseconds(5));
    patience.say = [&](const std::string&) { stopped = true; };
    begun = steady_clock::now();
    patience.wait("", std::chrono::seconds(60));
    EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(HttpClient, TriesNothingAgainOnceSomebodyIsAboutToEndButTakesTheAnswerThatIsOnItsWay) {
    std::atomic<bool> ends = false;
    const test::HookReceiver slow([&](const auto&, std::size_t before, const auto&) {
        ends = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        return fmt::format("HTTP/1.1 {} -\r\nContent-Length: 0\r\n\r\n", before == 0 ? 503 : 200);
    });
    Patience patience;
    patience.last = [&] { return ends.load(); };
    HttpClient client(*parse_server_url(slow.url()));
    const auto reply = client.send_patiently({}, patience);
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(slow.received().size(), 1U);
    const auto gone = HttpClient({"127.0.0.1", "1", "/fhir"}).send_patiently({}, patience);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Errc::io);

    // A listener whose queue is full doesn't answer attempts to connect, like a firewall that drops them.
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&place), size), 0);
    ASSERT_EQ(::listen(listener, 0), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size), 0);
    std::array<int, 4> others{};
    for (int& other : others) {
        other = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        ::connect(other, reinterpret_cast<const sockaddr*>(&place), size);
    }
    const auto begun = std::chrono::steady_clock::now();
    const std::string port = std::to_string(ntohs(place.sin_port));
    EXPECT_FALSE(HttpClient({"127.0.0.1", port, "/fhir"}).send_patiently({}, patience));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
    for (const int other : others) {
        ::close(other);
    }
    ::close(listener);
}

}  // namespace
}  // namespace annals::tools
