// X-Annals-Position of what was written, X-Annals-Min-Position of who wants to see it.

#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using test::patient;

class PositionsTest : public test::ServiceFixture {};

std::string bundle(std::string_view type, std::string_view entries) {
    return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type, entries);
}

std::string put_entry(std::string_view id) {
    return fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"Patient/{}"}}}})",
                       patient(id), id);
}

TEST_F(PositionsTest, EveryWriteSaysItsPosition) {
    EXPECT_EQ(send("PUT", "/Patient/a", patient("a")).position, 1U);
    EXPECT_EQ(send("POST", "/Patient", patient("")).position, 2U);
    EXPECT_EQ(send("PATCH", "/Patient/a", R"([{"op":"add","path":"/active","value":true}])",
                   {{"Content-Type", "application/json-patch+json"}})
                  .position,
              3U);
    EXPECT_EQ(send("DELETE", "/Patient/a").position, 4U);
    EXPECT_EQ(store().last_position().value, 4U);
}

TEST_F(PositionsTest, ABundleSaysTheLastOne) {
    const std::string two = put_entry("a") + "," + put_entry("b");
    EXPECT_EQ(send("POST", "/", bundle("transaction", two)).position, 2U);
    EXPECT_EQ(send("POST", "/", bundle("batch", two)).position, 4U);
    const std::string version =
        R"({"resource":{"resourceType":"Patient","id":"a","meta":{"versionId":"9"}}})";
    EXPECT_EQ(send("POST", "/", bundle("history", version)).position, 5U);
    EXPECT_EQ(send("POST", "/", bundle("history", version)).position, 0U) << "nothing was written";
}

TEST_F(PositionsTest, WhatWritesNothingSaysNone) {
    send("PUT", "/Patient/a", patient("a"));
    send("DELETE", "/Patient/a");
    EXPECT_EQ(send("DELETE", "/Patient/a").position, 0U);
    EXPECT_EQ(send("GET", "/Patient/a").position, 0U);
    EXPECT_EQ(send("PUT", "/Patient/a", "no JSON").position, 0U);
    EXPECT_EQ(send("POST", "/", bundle("batch", "")).position, 0U);
}

TEST_F(PositionsTest, ARemovalSaysTheNewest) {
    Config config;
    config.hard_delete = true;
    restart(config);
    send("PUT", "/Patient/a", patient("a"));
    send("PUT", "/Patient/a", patient("a"));
    EXPECT_EQ(send("DELETE", "/Patient/a/_history/1").position, 2U);
    EXPECT_EQ(send("DELETE", "/Patient/a").position, 2U);
}

TEST_F(PositionsTest, WhatIsVisibleIsAnsweredAtOnce) {
    send("PUT", "/Patient/a", patient("a"));
    for (const char* position : {"0", "1"}) {
        EXPECT_EQ(send("GET", "/Patient/a", {}, {{"X-Annals-Min-Position", position}}).status, 200);
    }
}

TEST_F(PositionsTest, AReaderWaitsForWhatIsToCome) {
    send("PUT", "/Patient/a", patient("a"));
    int status = 0;
    std::thread reader(
        [&] { status = send("GET", "/Patient/b", {}, {{"X-Annals-Min-Position", "3"}}).status; });
    send("PUT", "/Patient/a", patient("a"));
    send("PUT", "/Patient/b", patient("b"));
    reader.join();
    EXPECT_EQ(status, 200);
}

TEST_F(PositionsTest, AReaderDoesNotWaitForEver) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(100);
    restart(config);
    const Answer answer = send("GET", "/Patient/a", {}, {{"X-Annals-Min-Position", "1"}});
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.says(R"("code":"timeout")"));
    EXPECT_EQ(answer.header("Retry-After"), "1");
}

TEST_F(PositionsTest, WhatIsNoPositionIsRefused) {
    for (const char* text : {"", "-1", "1x", "0x1", "18446744073709551616", "1,2"}) {
        EXPECT_EQ(send("GET", "/metadata", {}, {{"X-Annals-Min-Position", text}}).status, 400)
            << text;
    }
}

TEST_F(PositionsTest, AWaitEndsWhenTheServerStops) {
    int status = 0;
    std::thread reader(
        [&] { status = send("GET", "/metadata", {}, {{"X-Annals-Min-Position", "7"}}).status; });
    on_loop([&] { loop().end_waits(); });
    reader.join();
    EXPECT_EQ(status, 503);
}

}  // namespace
}  // namespace annals::core
