// X-Annals-Position of writes, and X-Annals-Min-Position of those who want to see them.

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

std::string put_of(std::string_view id) {
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

TEST_F(PositionsTest, OperationsThatWriteSayItToo) {
    send("PUT", "/Patient/a", patient("a"));
    const std::string meta =
        R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{"tag":[{"code":"x"}]}}]})";
    EXPECT_EQ(send("POST", "/Patient/a/$meta-add", meta).position, 2U);
    EXPECT_EQ(send("POST", "/Patient/a/$meta-add", meta).position, 0U) << "nothing was written";
    EXPECT_EQ(send("POST", "/Patient/a/$restore?version=1").position, 3U);
    EXPECT_EQ(send("POST", "/$undo?position=3&dryRun=true").position, 0U);
    EXPECT_EQ(send("POST", "/$undo?position=3").position, 4U);
    const std::string name =
        R"({"resourceType":"Parameters","parameter":[{"name":"name","valueString":"mine"}]})";
    EXPECT_EQ(send("POST", "/$closure", name).position, 5U);
    EXPECT_EQ(store().last_position().value, 5U);
}

TEST_F(PositionsTest, ABundleSaysTheLastOne) {
    const std::string two = put_of("a") + "," + put_of("b");
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

std::string version_of(std::string_view id, int number, std::string_view family) {
    return bundle("history",
                  fmt::format(R"({{"resource":{{"resourceType":"Patient","id":"{}",)"
                              R"("meta":{{"versionId":"{}","lastUpdated":"2020-01-01T00:00:00Z"}},)"
                              R"("name":[{{"family":"{}"}}]}}}})",
                              id, number, family));
}

TEST_F(PositionsTest, AFollowerGoesByThoseOfItsSource) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(200);
    restart(config);
    const auto status_at = [&](const char* position) {
        return send("GET", "/Patient/a", {}, {{"X-Annals-Min-Position", position}}).status;
    };
    EXPECT_EQ(status_at("1"), 503);
    EXPECT_EQ(
        send("POST", "/", version_of("a", 1, "x"), {{"X-Annals-Source-Position", "70"}}).status,
        200);
    EXPECT_EQ(status_at("70"), 200);
    EXPECT_EQ(status_at("71"), 503);
    int status = 0;
    std::thread reader([&] {
        // The timeout is short, so this asks again, as a client does.
        for (int i = 0; i < 100 && status != 200; ++i) {
            status = status_at("71");
        }
    });
    send("POST", "/", R"({"resourceType":"Bundle","type":"history"})",
         {{"X-Annals-Source-Position", "71"}});
    reader.join();
    EXPECT_EQ(status, 200);
    EXPECT_EQ(service().followed(), std::optional(Position{71}));
    send("POST", "/", version_of("a", 2, "x"), {{"X-Annals-Source-Position", "no number"}});
    EXPECT_EQ(service().followed(), std::optional(Position{71}));
}

TEST_F(PositionsTest, AVersionWithOtherContentIsCounted) {
    for (const char* family : {"x", "x", "y", "x"}) {
        EXPECT_EQ(send("POST", "/", version_of("a", 1, family)).status, 200);
    }
    EXPECT_EQ(service().divergences(), 1U);
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
