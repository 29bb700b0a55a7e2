// What a websocket says about Subscriptions that are on the device only.

#include "net/subscription_socket.h"

#include "core/loop.h"
#include "net/server.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/websocket_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace annals::net {
namespace {

using test::client_frame;

class SubscriptionSocketTest : public test::ServiceFixture {
  protected:
    SubscriptionSocketTest() {
        restart_on(disk_);
        EXPECT_EQ(send("PUT", "/Subscription/s",
                       R"({"resourceType":"Subscription","id":"s","status":"requested",)"
                       R"("reason":"x","criteria":"Patient?","channel":{"type":"websocket"}})")
                      .status,
                  201);
        disk_->forget_all();
        restart_on(disk_);
    }

    /// Binds without waiting for the device.
    void bind(SubscriptionSocket& socket) {
        std::string out;
        socket.take(client_frame(0x81, "bind s"), out);
        socket.go_on(out);
        EXPECT_EQ(out,
                  "\x81\x07"
                  "bound s");
    }

    std::shared_ptr<test::SimFileSystem> disk_ = std::make_shared<test::SimFileSystem>();
};

TEST_F(SubscriptionSocketTest, TellsWhatItWaitsForAndGoesOnOnceThatIsFetched) {
    core::Pings pings;
    SubscriptionSocket socket(service(), pings);
    std::string out;
    socket.take(client_frame(0x81, "bind s") + client_frame(0x89, "ping"), out);
    EXPECT_EQ(socket.unread(), Position{1});
    EXPECT_EQ(out, "") << "an answer before the one that waits";
    socket.go_on(out);
    EXPECT_EQ(socket.unread(), Position{});
    EXPECT_EQ(out,
              "\x81\x07"
              "bound s"
              "\x8a\x04"
              "ping");
    EXPECT_TRUE(pings.is_bound("s"));
    // After a close, nothing is said or heard.
    out.clear();
    socket.take(client_frame(0x88, "") + client_frame(0x89, "ping"), out);
    EXPECT_EQ(out, "\x88\x02\x03\xe8");
    EXPECT_TRUE(socket.has_ended());
    out.clear();
    socket.take(client_frame(0x89, "ping"), out);
    socket.end(CloseCode::going_away, out);
    EXPECT_EQ(out, "");
}

TEST_F(SubscriptionSocketTest, AnswersAllThatCameAtOnce) {
    core::Pings pings;
    SubscriptionSocket socket(service(), pings);
    std::string once;
    std::string twice;
    socket.take(client_frame(0x81, "what"), once);
    socket.take(client_frame(0x81, "what") + client_frame(0x81, "what"), twice);
    EXPECT_EQ(twice, once + once);
}

TEST_F(SubscriptionSocketTest, SaysNothingAfterItEnded) {
    core::Pings pings;
    SubscriptionSocket socket(service(), pings);
    bind(socket);
    pings.ping("s");
    std::string out;
    socket.end(CloseCode::policy, out);
    EXPECT_EQ(out, "\x88\x02\x03\xf0");
    socket.take(client_frame(0x89, "ping"), out);
    socket.add_pings(out);
    EXPECT_EQ(out, "\x88\x02\x03\xf0");
}

TEST_F(SubscriptionSocketTest, IsNotPingedForWhatWasBeforeItsBinding) {
    core::Pings pings;
    SubscriptionSocket first(service(), pings);
    bind(first);
    pings.ping("s");
    SubscriptionSocket second(service(), pings);
    bind(second);
    std::string out;
    second.add_pings(out);
    EXPECT_EQ(out, "");
    first.add_pings(out);
    EXPECT_EQ(out,
              "\x81\x06"
              "ping s");
}

TEST_F(SubscriptionSocketTest, PingsAsManyTimesAsItShouldAndNoMoreAtOnceThanFit) {
    core::Pings pings;
    SubscriptionSocket socket(service(), pings);
    bind(socket);
    constexpr std::size_t kPings = 20'000;
    for (std::size_t i = 0; i < kPings; ++i) {
        pings.ping("s");
    }
    constexpr std::size_t kFrame = 8;
    std::size_t all = 0;
    for (std::string out; all == 0 || !out.empty(); all += out.size()) {
        out.clear();
        socket.add_pings(out);
        EXPECT_LT(out.size(), SubscriptionSocket::kPingBytesMax + kFrame);
    }
    EXPECT_EQ(all, kPings * kFrame);
}

TEST_F(SubscriptionSocketTest, SaysThatASubscriptionIsDamaged) {
    core::Pings pings;
    for (const std::string& path : disk_->paths()) {
        if (const std::size_t at = disk_->content(path).find("\"websocket\"");
            at != std::string::npos) {
            const auto file = disk_->open(path, storage::FileSystem::Mode::read_write);
            ASSERT_TRUE((*file)->write(at, "#"));
        }
    }
    SubscriptionSocket socket(service(), pings);
    std::string out;
    socket.take(client_frame(0x81, "bind s"), out);
    socket.go_on(out);
    EXPECT_NE(out.find("error s: it cannot be read"), std::string::npos) << out;
}

/// Over a socket, what is on the device only is fetched.
TEST_F(SubscriptionSocketTest, IsAnsweredOnceItsSubscriptionIsFetched) {
    core::Config config;
    config.listen = "127.0.0.1:0";
    config.threads = 1;
    config.data = data();
    config.subscriptions.enabled = true;
    const core::Service subscribed(config, store());
    const auto server = Server::start(subscribed);
    ASSERT_TRUE(server) << server.error().detail;
    test::WebsocketClient client((*server)->port());
    client.say("bind s");
    EXPECT_EQ(client.hear(), "bound s");
}

}  // namespace
}  // namespace annals::net
