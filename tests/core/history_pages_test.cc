// The pages of a history, and the cursors that lead from one to the next.

#include "core/interactions/history_cursor.h"
#include "core/target.h"
#include "tests/core/history_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <set>
#include <string>
#include <string_view>

namespace annals::test {
namespace {

TEST_F(History, GivesTheTotalAloneForACountOfNothing) {
    fill();
    for (const std::string path : {"/Patient/1/_history", "/Patient/_history", "/_history"}) {
        const HistoryPage page = get(path + "?_count=0");
        EXPECT_GT(page.total, 0U);
        EXPECT_TRUE(page.versions.empty());
        EXPECT_EQ(page.links.size(), 1U);
    }
}

TEST_F(History, LowersTheCountAndSaysSo) {
    fill();
    core::Config config;
    config.max_page_size = 2;
    restart(config);
    // One of them is beyond 64 bits.
    for (const std::string count : {"5000", "18446744073709551615", "18446744073709551616"}) {
        const HistoryPage page = get("/_history?_count=" + count);
        EXPECT_EQ(page.versions.size(), 2U) << count;
        EXPECT_EQ(page.links.at("self"), "/_history?_count=2");
        EXPECT_NE(page.links.at("next").find("_count=2&"), std::string::npos);
    }
}

TEST_F(History, HasDefaultPagesAsConfigured) {
    for (int i = 0; i < 12; ++i) {
        put_patient("1");
    }
    EXPECT_EQ(get("/Patient/1/_history").versions.size(), 10U);
    EXPECT_EQ(get("/Patient/_history").versions.size(), 12U);
    core::Config config;
    config.instance_history_page_size = 3;
    config.history_page_size = 4;
    restart(config);
    EXPECT_EQ(get("/Patient/1/_history").versions.size(), 3U);
    EXPECT_EQ(get("/Patient/_history").versions.size(), 4U);
    EXPECT_EQ(get("/_history").versions.size(), 4U);
}

TEST_F(History, LeadsThroughAllPagesForwardsAndBackwards) {
    fill();
    for (const std::string path : {"/Patient/1/_history", "/Patient/_history", "/_history"}) {
        for (const std::string sort :
             {"", "&_sort=_position", "&_sort=-_position", "&_sort=_lastUpdated",
              "&_sort=-_lastUpdated", "&_sort=none"}) {
            const Texts whole = get(path + "?_count=100" + sort).versions;
            const std::string first = path + "?_count=2" + sort;
            EXPECT_EQ(follow(first), whole) << first;

            const HistoryPage page = get(first);
            EXPECT_EQ(page.links.contains("first"), false);
            EXPECT_EQ(page.links.contains("previous"), false);
            const HistoryPage second = get(page.links.at("next"));
            EXPECT_EQ(second.links.at("first"), first);
            EXPECT_EQ(get(second.links.at("previous")).versions, page.versions) << first;
            EXPECT_EQ(get(second.links.at("self")).versions, second.versions) << first;

            Texts backwards;
            std::string target = page.links.at("last");
            while (true) {
                const HistoryPage there = get(target);
                backwards.insert(backwards.end(), there.versions.rbegin(), there.versions.rend());
                if (!there.links.contains("previous")) {
                    break;
                }
                target = there.links.at("previous");
            }
            EXPECT_EQ(reversed(backwards), whole) << first;
        }
    }
}

TEST_F(History, TakesAnOffsetOnAnInstance) {
    fill();
    const HistoryPage page = get("/Patient/1/_history?_offset=1&_count=1");
    EXPECT_EQ(page.total, 3U);
    EXPECT_EQ(page.versions, Texts{"Patient/1/_history/2"});
    EXPECT_EQ(page.links.at("self"), "/Patient/1/_history?_count=1&_offset=1");
    EXPECT_EQ(get(page.links.at("next")).versions, Texts{"Patient/1/_history/1"});
    EXPECT_EQ(get(page.links.at("previous")).versions, Texts{"Patient/1/_history/3"});
    for (const std::string offset : {"100", "99999999999999999999"}) {
        const HistoryPage behind = get("/Patient/1/_history?_count=2&_offset=" + offset);
        EXPECT_EQ(behind.total, 3U) << offset;
        EXPECT_TRUE(behind.versions.empty()) << offset;
        EXPECT_TRUE(behind.links.contains("first")) << offset;
        EXPECT_EQ(get(behind.links.at("previous")).versions,
                  get(get("/Patient/1/_history?_count=2").links.at("last")).versions)
            << offset;
    }
    const HistoryPage none = get("/Patient/1/_history?_since=2100&_offset=1");
    EXPECT_EQ(none.total, 0U);
    EXPECT_FALSE(none.links.contains("previous"));
    const std::string next = get("/Patient/1/_history?_count=1").links.at("next");
    EXPECT_NE(next.find("_cursor="), std::string::npos);
    EXPECT_EQ(send("GET", next + "&_offset=1").status, 400);
    const HistoryPage counted = get("/Patient/1/_history?_offset=1&_count=0");
    EXPECT_EQ(counted.total, 3U);
    EXPECT_EQ(counted.links.size(), 1U) << "pages of nothing lead nowhere";
}

TEST_F(History, LeadsBackFromAPageOfWhichAllWasErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    fill();
    const HistoryPage first = get("/Patient/1/_history?_count=1");
    ASSERT_EQ(send("DELETE", "/Patient/1/_history").status, 204);
    const HistoryPage second = get(first.links.at("next"));
    EXPECT_TRUE(second.versions.empty());
    EXPECT_EQ(second.links.at("first"), "/Patient/1/_history?_count=1");
    EXPECT_EQ(get(second.links.at("previous")).versions, first.versions);
}

TEST_F(History, LeadsOnFromAPageBeforeWhichAllWasErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    fill();
    const std::string begin = "/Patient/1/_history?_count=1&_sort=_position";
    const HistoryPage last = get(get(begin).links.at("last"));
    ASSERT_EQ(send("DELETE", "/Patient/1/_history").status, 204);
    const HistoryPage before = get(last.links.at("previous"));
    EXPECT_TRUE(before.versions.empty());
    EXPECT_EQ(before.links.at("first"), begin);
    EXPECT_EQ(get(before.links.at("next")).versions, last.versions);
    EXPECT_FALSE(get(before.links.at("next")).links.contains("previous"));
}

TEST_F(History, ChainNeitherSkipsNorRepeatsWhileOthersWriteAndAcrossARestart) {
    for (int i = 0; i < 20; ++i) {
        put_patient(std::to_string(i));
    }
    const Texts before = get("/_history?_count=1000").versions;
    std::atomic<bool> stop = false;
    auto writer = std::async(std::launch::async, [&] {
        while (!stop) {
            put_patient("7");
        }
    });
    std::string target = "/_history?_count=3";
    Texts seen;
    HistoryPage page = get(target);
    for (int i = 0; i < 3; ++i) {
        seen.insert(seen.end(), page.versions.begin(), page.versions.end());
        target = page.links.at("next");
        page = get(target);
    }
    stop = true;
    writer.get();
    restart(core::Config());
    const Texts rest = follow(target);
    seen.insert(seen.end(), rest.begin(), rest.end());
    const std::set<std::string> unique(seen.begin(), seen.end());
    EXPECT_EQ(unique.size(), seen.size());
    // What was there before is at the end of what was seen.
    ASSERT_GE(seen.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), seen.end() - 20));
}

TEST_F(History, UpwardsGoesOnWithWhatIsWrittenLater) {
    put_patient("1");
    put_patient("1");
    const HistoryPage page = get("/_history?_sort=_position&_count=1");
    const std::string next = page.links.at("next");
    EXPECT_EQ(get(next).versions, Texts{"Patient/1/_history/2"});
    EXPECT_FALSE(get(next).links.contains("next"));
    put_patient("1");
    const HistoryPage later = get(next);
    EXPECT_EQ(later.total, 3U);
    EXPECT_EQ(get(later.links.at("next")).versions, Texts{"Patient/1/_history/3"});
}

TEST_F(History, CursorKnowsItsRequest) {
    fill();
    const HistoryPage page = get("/Patient/_history?_count=1&_sort=_position&_since=2000");
    const std::string next = page.links.at("next");
    const std::string cursor = next.substr(next.find("_cursor="));
    EXPECT_EQ(get("/Patient/_history?_count=1&" + cursor).versions, get(next).versions);
    EXPECT_EQ(send("GET", "/_history?" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/1/_history?" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/_history?_sort=none&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/_history?_since=2001&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/_history?" + cursor + "0").status, 400);
}

TEST_F(History, CursorOfWhatThereWasAtAnInstantIsNotGoneOnWithAsIfItHadEveryVersion) {
    fill();
    const std::string next = get("/_history?_count=1&_sort=_position&_at=2999").links.at("next");
    EXPECT_EQ(send("GET", next.substr(next.find("/_history"))).status, 200);
    const std::string cursor = next.substr(next.find("_cursor="));
    EXPECT_EQ(send("GET", "/_history?" + cursor).status, 200);
    const Answer refused = send("GET", "/_history?_sort=_position&" + cursor);
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(refused.says("not one of all versions")) << refused.body;
}

TEST_F(History, CursorFromBehindTheEndOfTheStoreIsRefused) {
    fill();
    const std::uint64_t newest = store().last_position().value;
    for (const std::string_view path : {"/_history", "/Patient/_history", "/Patient/1/_history"}) {
        const auto target = core::parse_target(path);
        ASSERT_TRUE(target);
        const auto status = [&](std::uint64_t edge, std::uint64_t bound) {
            core::HistoryCursor cursor;
            cursor.edge.emplace();
            cursor.edge->position = {edge};
            cursor.bound = {bound};
            return send("GET",
                        fmt::format("{}?_cursor={}", path, core::write_cursor(cursor, *target)))
                .status;
        };
        EXPECT_EQ(status(newest, newest), 200) << path;
        EXPECT_EQ(status(newest + 1, 0), 400) << path;
        EXPECT_EQ(status(1, newest + 1), 400) << path;
    }
}

}  // namespace
}  // namespace annals::test
