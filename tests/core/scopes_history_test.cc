// Scopes that permit a part: what histories show.

#include "core/interactions/shown_history.h"
#include "core/interactions/turns.h"
#include "core/own_loop.h"
#include "core/scoped_view.h"
#include "tests/core/scopes_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/longest_pause.h"
#include "tests/support/turn_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

TEST_F(ScopesTest, OfAPatientAreForAHistoryThatIsReadInTurns) {
    send_as(&everybody_);
    put("/Patient/m", R"({"resourceType":"Patient","id":"m"})");
    std::string notes = R"({"text":"a"})";
    for (int i = 1; i < 10'000; ++i) {
        notes += R"(,{"text":"a"})";
    }
    for (int version = 0; version < 100; ++version) {
        put("/Observation/o",
            fmt::format(
                R"({{"resourceType":"Observation","id":"o","status":"final",)"
                R"("code":{{"text":"c"}},"note":[{}],"subject":{{"reference":"Patient/m"}}}})",
                notes));
    }
    Request request;
    request.path = "/Observation/o/_history";
    request.query = "_count=1";
    request.base_url = kBaseUrl;
    request.principal = &mine_;
    const test::Watched watched = test::handle_watched_repeatedly(service(), request);
    ASSERT_TRUE(watched.response);
    EXPECT_EQ(watched.response->status, 200);
    EXPECT_NE(watched.response->body.str().find(R"("total":100)"), std::string::npos);
    test::expect_turns_of(kTurn, watched);
}

TEST_F(ScopesTest, OfAPatientAreForNoHistoryOfWhatIsErasedMeanwhile) {
    std::set<int> statuses;
    const test::TurnLengths short_ones([](std::chrono::microseconds) noexcept {
        return std::chrono::microseconds(1);  // a version each
    });
    for (const char* query : {"_count=1", "_count=1&_since=2000-01-01"}) {
        for (int turns = 0; turns < 12; ++turns) {
            send_as(&everybody_);
            for (int version = 0; version < 4; ++version) {
                put("/Observation/o", observation("o", "m", "text"));
            }
            Request request;
            request.path = "/Observation/o/_history";
            request.query = query;
            request.base_url = kBaseUrl;
            request.principal = &mine_;
            int turn = 0;
            const auto erase_if_due = [&] {  // as a hard delete does
                if (turn++ == turns) {
                    test::CommitBuilder erasure;
                    erasure.erase("Observation", "o");
                    EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
                }
            };
            erase_if_due();
            const Result<Response> answer = test::handle_beside(service(), request, erase_if_due);
            ASSERT_TRUE(answer);
            while (turn <= turns) {
                erase_if_due();
            }
            statuses.insert(answer->status);
            EXPECT_EQ(answer->body.str().find(R"("total":0)"), std::string::npos)
                << query << ", erased after " << turns << " turns";
        }
    }
    EXPECT_EQ(statuses, (std::set{200, 404}));
}

TEST_F(ScopesTest, OfAPatientPageThroughAHistoryByOffsets) {
    send_as(&everybody_);
    for (int version = 0; version < 4; ++version) {
        put("/Patient/m", R"({"resourceType":"Patient","id":"m"})");
    }
    send_as(&mine_);
    const Answer page = send("GET", "/Patient/m/_history?_offset=1&_count=1");
    EXPECT_EQ(total(page), 4);
    EXPECT_TRUE(page.says("Patient/m/_history/3\"")) << page.body;
}

/// Restricted versions, which may be large, are parsed to tell whether they are shown.
TEST_F(ScopesTest, GoThroughAHistoryInTurnsOfOneVersionAtLeast) {
    send_as(&everybody_);
    for (int i = 0; i < 5; ++i) {
        const std::string id = fmt::format("o{}", i);
        put("/Observation/" + id, observation(id, i == 2 ? "t" : "m", "text"));
    }
    // An instant older than its neighbours': orders by instant then take fill_by_instant(), which once added a complete page
    // again.
    const std::string old =
        R"({"resourceType":"Observation","id":"o5","meta":{"versionId":"1","lastUpdated":"2020-01-02T03:04:05Z"},)"
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/m"}})";
    EXPECT_EQ(
        send("POST", "/", bundle("history", entry("PUT", "Observation/o5", old)), kJson).status,
        200);
    Request request;
    request.principal = &mine_;
    const ScopedView view(service(), request, kMaySearch);
    for (int round = 0; round < 8; ++round) {
        storage::HistoryQuery query;
        query.type = find_resource_type("Observation");
        query.order = static_cast<storage::HistoryOrder>(round % 4);
        query.count = round < 4 ? 4 : 64;
        ShownHistory history(store(), view, query);
        const search::Pace over(std::chrono::microseconds(1));  // each turn is over when it begins
        int turns = 1;
        for (; !*history.advance(over); ++turns) {
            ASSERT_LT(turns, 100);
        }
        EXPECT_GE(turns, 5);
        std::set<Position> found;
        for (const storage::VersionInfo& info : history.page().versions) {
            EXPECT_TRUE(found.insert(info.position).second) << info.position.value;
        }
        EXPECT_EQ(found.size(), round < 4 ? 4U : 5U);
        EXPECT_EQ(history.page().more, round < 4);
        EXPECT_EQ(history.page().total, 5U);
    }
}

TEST_F(ScopesTest, PagesOfHistoryHaveEachVersionOnce) {
    fill();
    for (const char* sort : {"_lastUpdated", "-_lastUpdated", "_position", "-_position"}) {
        std::string target = fmt::format("/Observation/_history?_count=3&_sort={}", sort);
        std::vector<std::string> seen;
        for (int page = 0; page < 10; ++page) {
            const Answer answer = send("GET", target);
            ASSERT_EQ(answer.status, 200) << answer.body;
            EXPECT_EQ(total(answer), 8) << target;
            for (std::size_t at = 0;
                 (at = answer.body.find(R"("fullUrl":")", at)) != std::string::npos; ++at) {
                seen.push_back(answer.body.substr(at, answer.body.find(',', at) - at));
            }
            const std::size_t next = answer.body.find(R"("relation":"next","url":")");
            if (next == std::string::npos) {
                break;
            }
            const std::size_t begin = next + 25 + kBaseUrl.size();
            target = answer.body.substr(begin, answer.body.find('"', begin) - begin);
        }
        EXPECT_EQ(seen.size(), 8u) << sort;
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end()) << sort;
    }
}

// docs/security.md, A part of a type
TEST_F(ScopesTest, DoNotLookThroughMoreThan4096VersionsOfAResource) {
    send_as(&everybody_);
    const auto add_versions = [this](std::string_view patient, int first, int last) {
        std::string entries;
        for (int version = first; version <= last; ++version) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Observation","id":"{}","meta":{{"versionId":"{}"}},)"
                R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"Patient/{}"}}}},"request":{{"method":"PUT","url":"Observation/{}"}}}})",
                version == first ? "" : ",", patient, version, patient, patient);
        }
        ASSERT_EQ(send("POST", "/", bundle("history", entries), kJson).status, 200);
    };
    add_versions("m", 1, 4096);
    add_versions("t", 1, 4097);
    EXPECT_EQ(total(send("GET", "/Observation/t/_history")), 4097);
    send_as(&mine_);
    EXPECT_EQ(total(send("GET", "/Observation/m/_history")), 4096);
    send_as(&everybody_);
    add_versions("m", 4097, 4097);
    send_as(&mine_);
    EXPECT_EQ(send("GET", "/Observation/m/_history").status, 413);
    // That there are so many versions must not tell that there is a resource.
    EXPECT_EQ(send("GET", "/Observation/t/_history").status, 404);
}

TEST_F(ScopesTest, ShowInHistoriesWhatNamesThePatientHoweverThatIsWritten) {
    send_as(&everybody_);
    put("/Observation/a", observation("a", "zq9", "x"));
    put("/Observation/b", observation("b", "yx8", "x"));
    put("/Observation/c", observation("c", "\\u007aq9", "x"));
    put("/Observation/d", observation("d", "yx8", "x"));
    put("/Observation/d", observation("d", "zq9", "x"));
    const Principal held("x", "patient/*.cruds", "zq9");
    send_as(&held);
    EXPECT_EQ(total(send("GET", "/Observation/_history")), 3);
    EXPECT_EQ(send("GET", "/Observation/b/_history/1").status, 404);
    EXPECT_EQ(send("GET", "/Observation/c/_history/1").status, 200);
    EXPECT_EQ(send("GET", "/Observation/d/_history/1").status, 404);
    EXPECT_EQ(send("GET", "/Observation/d/_history/2").status, 200);
}

}  // namespace
}  // namespace annals::core
