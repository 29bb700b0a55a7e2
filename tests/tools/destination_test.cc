#include "tools/commands/destination.h"

#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"
#include "tools/commands/store_access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>

namespace annals::tools {
namespace {

TEST(ServerDestination, SaysThatNothingCanBeStoredOnceItHasWaited) {
    constexpr std::string_view kOutcome =
        R"({"resourceType":"OperationOutcome","issue":[{"code":"no-store"}]})";
    const test::HookReceiver full([&](const auto&, std::size_t before, const auto&) {
        // The second answer asks to wait longer than is allowed.
        return fmt::format("HTTP/1.1 503 -\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n{}",
                           kOutcome.size(), before == 0 ? "" : "Retry-After: 3600\r\n", kOutcome);
    });
    Patience patience;
    patience.longest_wait = std::chrono::hours(1);
    const auto destination = connect_to_server(*parse_server_url(full.url()), patience);
    const auto reply = destination->submit("{}", true);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::no_store);
    EXPECT_EQ(reply.error().detail, "503 no-store");
    EXPECT_EQ(full.received().size(), 2U);
}

TEST(ServerDestination, SubmitsToTheRootAndOnlyOnceWhatIsNotToBeRepeated) {
    const test::HookReceiver server([](const auto&, std::size_t before, const auto&) {
        // The ends of the first two answers get lost.
        return fmt::format("HTTP/1.1 404 -\r\nConnection: close\r\nContent-Length: {}\r\n\r\nnone",
                           before < 2 ? 5 : 4);
    });
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    const auto destination = connect_to_server(*parse_server_url(server.url() + "/fhir"), patience);
    const auto lost = destination->submit("{}", false);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Errc::io) << "it may have been stored";
    EXPECT_EQ(server.received().size(), 1U);
    const auto reply = destination->submit("{}", true);
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->status, 404);
    EXPECT_EQ(reply->body, "none");
    ASSERT_EQ(server.received().size(), 3U);
    for (const test::ReceivedHook& hook : server.received()) {
        EXPECT_EQ(hook.method, "POST");
        EXPECT_EQ(hook.target, "/fhir");
        EXPECT_EQ(hook.body, "{}");
        EXPECT_EQ(hook.header("prefer"), "return=minimal");
    }

    patience.give_up_after = std::chrono::milliseconds(0);
    const auto nobody = connect_to_server({"127.0.0.1", "1", "/fhir"}, patience);
    const auto unsent = nobody->submit("{}", false);
    ASSERT_FALSE(unsent);
    EXPECT_EQ(unsent.error().code, Errc::no_store) << "it was certainly not stored";
}

TEST(DirectStore, SaysWhatKeepsItFromStoring) {
    const test::TemporaryDirectory directory;
    const auto config = offline_config({}, directory / "data");
    ASSERT_TRUE(config);
    const auto store = DirectStore::open(*config);
    ASSERT_TRUE(store) << store.error().detail;
    const auto destination = (*store)->connect();
    const std::string bundle =
        R"({"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Basic","code":{"text":")" +
        std::string(400 << 10, 'x') + R"("}},"request":{"method":"POST","url":"Basic"}}]})";

    // A limit on file sizes acts like a full device.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{300 << 10, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto reply = destination->submit(bundle, false);
    const std::string_view ails = destination->ails();
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_NE(reply->body.find(R"("status":"503)"), std::string::npos) << reply->body;
    EXPECT_EQ(ails,
              "there is not enough space on the device, or there are not enough file descriptors");
}

}  // namespace
}  // namespace annals::tools
