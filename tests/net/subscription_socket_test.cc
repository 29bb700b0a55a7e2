// What is said over a websocket about Subscriptions that are on the device only.

#include "net/subscription_socket.h"

#include "core/loop.h"
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
    // Behind a close nothing is said or heard.
    out.clear();
    socket.take(client_frame(0x88, "") + client_frame(0x89, "ping"), out);
    EXPECT_EQ(out, "\x88\x02\x03\xe8");
    EXPECT_TRUE(socket.has_ended());
    out.clear();
    socket.take(client_frame(0x89, "ping"), out);
    socket.end(CloseCode::going_away, out);
    EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace annals::net
