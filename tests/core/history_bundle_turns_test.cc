// How long a history bundle keeps others waiting, and how much it answers.

#include "core/interactions/turns.h"
#include "tests/core/history_bundle_fixture.h"
#include "tests/support/longest_pause.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

std::string photos(std::string_view each, std::string_view last) {
    std::string text = R"("photo":[)";
    for (int i = 0; i < 10'000; ++i) {
        text += each;
    }
    return text + std::string(last) + ']';
}

TEST(HistoryBundle, ComparesLargeEntriesInTurns) {
    TestService server;
    // Milliseconds each, because members are in another order and only the last photo differs.
    constexpr std::uint64_t kEntries = 40;
    post_history(
        server, {version_entry("a", 1, photos(R"({"title":"t","url":"u"},)", R"({"title":"t"})"))});
    const std::string bundle = bundle_of(
        "history",
        std::vector(
            kEntries,
            version_entry("a", 1, photos(R"({"url":"u","title":"t"},)", R"({"title":"u"})"))));
    Request request;
    request.method = HttpMethod::post;
    request.body = bundle;
    request.base_url = kBase;
    std::set<std::uint64_t> differing;
    const Result<Response> answer = test::handle_beside(
        server.service(), request, [&] { differing.insert(server.service().divergences()); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(server.service().divergences(), kEntries);
    EXPECT_TRUE(std::ranges::any_of(differing, [](auto count) {
        return count > 0 && count < kEntries;
    })) << "others have a turn while entries are compared";
}

TEST(HistoryBundle, EndsIfComparingTakesTooLong) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(1);
    TestService server(config);
    // Milliseconds each, as above.
    constexpr std::uint64_t kEntries = 40;
    post_history(
        server, {version_entry("a", 1, photos(R"({"title":"t","url":"u"},)", R"({"title":"t"})"))});
    std::vector<std::string> entries(
        kEntries, version_entry("a", 1, photos(R"({"url":"u","title":"t"},)", R"({"title":"u"})")));
    entries.push_back(version_entry("b", 1));
    const Received answer = server.submit(bundle_of("history", entries));
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.body.find(R"("timeout")"), std::string::npos) << answer.body;
    EXPECT_LT(server.service().divergences(), kEntries);
    EXPECT_EQ(server.get("/Patient/b").status, 200);
}

/// A hundred faults.
std::string refused_entry() {
    std::string names = "0";
    for (int i = 1; i < 100; ++i) {
        names += ",0";
    }
    return version_entry("a", 1, R"("name":[)" + names + ']');
}

TEST(HistoryBundle, SaysInTurnsWhyEntriesAreRefused) {
    TestService server;
    const std::string bundle = bundle_of("history", std::vector(1000, refused_entry()));
    Request request;
    request.method = HttpMethod::post;
    request.body = bundle;
    request.base_url = kBase;
    const test::Watched watched = test::handle_watched(server.service(), request);
    ASSERT_TRUE(watched.response);
    EXPECT_EQ(watched.response->status, 200);
    EXPECT_GT(watched.response->body.size(), 10U << 20);
    EXPECT_GT(watched.response->body.piece_count(), 1000U) << "outcomes are not copied";
    test::expect_turns_of(kLongTurn, watched);
}

TEST(HistoryBundle, SaysOnlyWhatKindOfFaultEntriesHaveOnceTheirOutcomesAreTooLong) {
    Config config;
    config.limits.max_body = 64 << 10;
    TestService server(config);
    constexpr std::size_t kEntries = 100;
    const Received answer =
        server.submit(bundle_of("history", std::vector(kEntries, refused_entry())));
    EXPECT_EQ(answer.status, 200);
    EXPECT_LT(answer.body.size(), 4 * config.limits.max_body + kEntries * 512);
    const Json bundle(answer.body);
    std::size_t index = 0;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        EXPECT_TRUE(entry["response"]["status"].equals("400 Bad Request"));
        const json::Value issues = entry["response"]["outcome"]["issue"];
        EXPECT_TRUE(index > 0 || issues.size() == 100U);
        EXPECT_TRUE(index + 1 < kEntries || issues.size() == 1U);
        EXPECT_TRUE((*issues.elements().begin())["code"].equals("structure"));
        ++index;
    }
    EXPECT_EQ(index, kEntries);
}

}  // namespace
}  // namespace annals::core
