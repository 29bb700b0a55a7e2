#include "core/own_loop.h"
#include "core/service.h"
#include "tests/core/history_fixture.h"
#include "tests/support/commits.h"

#include <asio/post.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <future>
#include <string>
#include <string_view>

namespace annals::test {
namespace {

TEST_F(History, ShowsTheVersionsOfAResourceNewestFirst) {
    fill();
    const HistoryPage page = get("/Patient/2/_history");
    EXPECT_EQ(page.total, 4U);
    EXPECT_EQ(page.versions, (Texts{"Patient/2/_history/4", "Patient/2/_history/3",
                                    "Patient/2/_history/2", "Patient/2/_history/1"}));
    EXPECT_EQ(page.methods, (Texts{"DELETE", "PUT", "PUT", "POST"}));
    EXPECT_EQ(page.links.size(), 1U);
}

TEST_F(History, HasTheEntryShapeOfTheContract) {
    ASSERT_EQ(put_patient("1"), 201);
    const std::string stored = send("GET", "/Patient/1").body;
    const std::string created = format_instant(send("GET", "/Patient/1").last_modified);
    const Answer gone = send("DELETE", "/Patient/1");
    EXPECT_EQ(
        get("/Patient/1/_history").text,
        fmt::format(
            R"({{"resourceType":"Bundle","type":"history","total":2,)"
            R"("link":[{{"relation":"self","url":"http://test/fhir/Patient/1/_history"}}],"entry":[)"
            R"({{"fullUrl":"http://test/fhir/Patient/1/_history/2",)"
            R"("request":{{"method":"DELETE","url":"Patient/1"}},)"
            R"("response":{{"status":"410 Gone","etag":"W/\"2\"","lastModified":"{}"}}}},)"
            R"({{"fullUrl":"http://test/fhir/Patient/1/_history/1","resource":{},)"
            R"("request":{{"method":"POST","url":"Patient/1"}},)"
            R"("response":{{"status":"201 Created","etag":"W/\"1\"","lastModified":"{}"}}}}]}})",
            format_instant(gone.last_modified), stored, created));
}

TEST_F(History, ShowsWhatCameAfterADeletionAsPut) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(get("/Patient/1/_history").methods, (Texts{"PUT", "DELETE", "POST"}));
}

TEST_F(History, OfTypeAndSystemGoesInCommitOrderNewestFirst) {
    fill();
    const HistoryPage type = get("/Patient/_history");
    EXPECT_EQ(type.total, 7U);
    EXPECT_EQ(type.versions.front(), "Patient/2/_history/4");
    EXPECT_EQ(type.versions[1], "Patient/2/_history/3");
    EXPECT_EQ(type.versions[2], "Patient/1/_history/3");
    EXPECT_EQ(type.versions.back(), "Patient/1/_history/1");
    const HistoryPage system = get("/_history");
    EXPECT_EQ(system.total, 8U);
    EXPECT_EQ(system.versions.front(), "Basic/1/_history/1");
    EXPECT_EQ(get("/Observation/_history").total, 0U);
    EXPECT_EQ(get("/Observation/_history").text.find("entry"), std::string::npos);
}

TEST_F(History, KnowsNothingOfWhatNeverWas) {
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
    EXPECT_EQ(send("GET", "/Patent/_history").status, 404);
    EXPECT_EQ(send("GET", "/Patient/a_b/_history").status, 404);
}

TEST_F(History, TakesHead) {
    fill();
    for (const std::string path : {"/Patient/1/_history", "/Patient/_history", "/_history"}) {
        EXPECT_EQ(send("HEAD", path).status, 200) << path;
    }
}

TEST_F(History, RefusesWhatItDoesNotUnderstand) {
    fill();
    for (const std::string query :
         {"_count=-1", "_count=", "_count=x", "_count=1.5", "_count=99999999999999999999x",
          "_since=yesterday", "_since=", "_since=2026-13-01", "_at=x", "_sort=name", "_sort=",
          "_since=2026&_at=2026", "_count=1&_count=1", "_cursor=x", "_cursor=", "_since=%zz",
          "name=x", "_lastUpdated=2026", "_cursor=1nf.1.1.1.-.-.-.-.00000000"}) {
        for (const std::string path : {"/Patient/1/_history", "/Patient/_history", "/_history"}) {
            const Answer answer = send("GET", path + "?" + query);
            EXPECT_EQ(answer.status, 400) << path << "?" << query;
            EXPECT_TRUE(answer.says(R"("code":"invalid")")) << query;
        }
    }
    for (const std::string at : {"ge2026", "lt2026-01-02", "eq", "eqx", "eqeq2026"}) {
        EXPECT_EQ(send("GET", "/Patient/1/_history?_at=" + at).status, 400) << at;
    }
    EXPECT_EQ(send("GET", "/Patient/_history?_offset=1").status, 400);
    EXPECT_EQ(send("GET", "/Patient/1/_history?_offset=-1").status, 400);
    EXPECT_EQ(send("GET", "/Patient/1/_history?_offset=9x").status, 400);
    EXPECT_EQ(send("GET", "/_history?_format=json&_pretty=true").status, 200);
}

TEST_F(History, SortsUpwardsAndDownwards) {
    fill();
    const Texts newest = get("/_history").versions;
    for (const std::string sort : {"-_position", "-_lastUpdated", "none"}) {
        EXPECT_EQ(get("/_history?_sort=" + sort).versions, newest) << sort;
    }
    for (const std::string sort : {"_position", "_lastUpdated"}) {
        EXPECT_EQ(get("/_history?_sort=" + sort).versions, reversed(newest)) << sort;
        EXPECT_EQ(get("/_history?_sort=" + sort).links.at("self"), "/_history?_sort=" + sort);
    }
}

TEST_F(History, ShowsWhatHappenedSinceAnInstant) {
    fill();
    const std::string third = format_instant(send("GET", "/Patient/1/_history/3").last_modified);
    const HistoryPage page = get("/Patient/1/_history?_since=" + third);
    EXPECT_EQ(page.total, 1U);
    EXPECT_EQ(page.versions, Texts{"Patient/1/_history/3"});
    EXPECT_EQ(get("/_history?_since=" + third).total, 4U);
    EXPECT_EQ(get("/_history?_since=2000").total, 8U);
    EXPECT_EQ(get("/_history?_since=2200-01-01").total, 0U);
    // An unescaped + in a zone arrives as a blank.
    EXPECT_EQ(get("/_history?_since=2000-01-01T00:00:00+01:00").total, 8U);
    EXPECT_EQ(follow("/_history?_count=2&_since=" + third),
              get("/_history?_since=" + third).versions);
    // Links can express instants that a zone moves out of the range of years.
    EXPECT_EQ(follow("/_history?_count=3&_since=0001-01-01T00:00:00%2B14:00").size(), 8U);
    const HistoryPage last = get("/_history?_since=9999-12-31T23:59:59-14:00");
    EXPECT_EQ(last.total, 0U);
    EXPECT_EQ(get(last.links.at("self")).total, 0U);
}

TEST_F(History, CountsOnceWhatHappenedSinceAnInstant) {
    fill();
    const std::string target = "/_history?_since=2000&_count=2";
    const HistoryPage first = get(target);
    EXPECT_EQ(first.total, 8U);
    CommitBuilder erasure;
    erasure.erase("Patient", "1", storage::Erase::Scope::version, {1});
    ASSERT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    EXPECT_EQ(get(target).total, 7U);
    const HistoryPage second = get(first.links.at("next"));
    EXPECT_EQ(second.total, 8U);
    EXPECT_EQ(get(second.links.at("next")).total, 8U);
}

asio::awaitable<void> answer_history(const core::Service& service, const core::Request& request,
                                     core::Response& response, bool& answered) {
    response = co_await core::handle(service, request);
    answered = true;
}

TEST_F(History, LetsOthersRunWhileItLooksAtManyVersions) {
    constexpr std::uint64_t kVersions = 100'000;
    constexpr std::uint64_t kPerCommit = 10'000;
    constexpr std::int64_t kBegin = 1'000'000'000'000'000;
    for (std::uint64_t number = 0; number < kVersions;) {
        CommitBuilder builder;
        for (std::uint64_t i = 0; i < kPerCommit; ++i, ++number) {
            // Every second once, with neighbours far apart.
            const auto second = static_cast<std::int64_t>(number * 7919 % kVersions);
            storage::VersionWrite& write = builder.put("Basic", std::to_string(number), "");
            write.instant = Instant{kBegin + second * 1'000'000};
        }
        const storage::Submission submission = store().submit(builder.commit());
        ASSERT_EQ(submission.status, storage::Submission::Status::accepted);
        ASSERT_TRUE(store().wait(submission.ticket));
    }

    const Instant since{kBegin + std::int64_t{kVersions} / 2 * 1'000'000};
    std::string target =
        fmt::format("/_history?_count=1&_sort=_lastUpdated&_since={}", format_instant(since));
    // The first page is counted and filled, the second only filled.
    for (const int second : {0, 1}) {
        core::Request request;
        request.method = core::HttpMethod::get;
        request.path = "/_history";
        request.query = std::string_view(target).substr(target.find('?') + 1);
        request.base_url = kBaseUrl;
        request.request_id = "test-1";
        request.loop = &loop();
        core::Response response;
        bool answered = false;
        std::promise<bool> ran_before;
        on_loop([&] {
            core::spawn(loop(), "history", answer_history(service(), request, response, answered));
            asio::post(loop().context(), [&] { ran_before.set_value(!answered); });
        });
        EXPECT_TRUE(ran_before.get_future().get());
        for (bool done = false; !done;) {
            on_loop([&] { done = answered; });
        }
        const std::string text = response.body.str();
        EXPECT_NE(text.find(fmt::format(R"("total":{},)", kVersions / 2)), std::string::npos);
        EXPECT_NE(text.find(format_instant({since.us + second * 1'000'000})), std::string::npos);
        constexpr std::string_view kNext = R"("relation":"next","url":")";
        const std::size_t next = text.find(kNext);
        ASSERT_NE(next, std::string::npos) << text;
        target = text.substr(next + kNext.size());
        target.resize(target.find('"'));
    }
}

TEST_F(History, ShowsTheVersionOfAnInstant) {
    fill();
    const auto instant_of = [&](const std::string& target) {
        return format_instant(send("GET", target).last_modified);
    };
    const std::string second = instant_of("/Patient/1/_history/2");
    EXPECT_EQ(get("/Patient/1/_history?_at=" + second).versions, Texts{"Patient/1/_history/2"});
    EXPECT_EQ(get("/Patient/1/_history?_at=2200").versions, Texts{"Patient/1/_history/3"});
    EXPECT_EQ(get("/Patient/2/_history?_at=2200").versions, Texts{"Patient/2/_history/4"});
    // The way HAPI's client writes a date.
    EXPECT_EQ(get("/Patient/1/_history?_at=eq" + second).versions, Texts{"Patient/1/_history/2"});
    EXPECT_EQ(follow("/_history?_count=1&_at=eq2200"), get("/_history?_at=2200").versions);
    EXPECT_EQ(get("/Patient/1/_history?_at=2000").total, 0U);
    for (const std::string nothing : {"&_count=0", "&_summary=count", "&_offset=1"}) {
        const HistoryPage page = get("/Patient/1/_history?_at=2200" + nothing);
        EXPECT_EQ(page.total, 1U) << nothing;
        EXPECT_EQ(page.versions, Texts{}) << nothing;
    }

    const HistoryPage type = get("/Patient/_history?_at=" + second);
    EXPECT_EQ(type.total, 2U);
    EXPECT_EQ(type.versions, (Texts{"Patient/1/_history/2", "Patient/2/_history/1"}));
    const HistoryPage system = get("/_history?_at=2200");
    EXPECT_EQ(system.total, 2U);
    EXPECT_EQ(system.versions, (Texts{"Basic/1/_history/1", "Patient/1/_history/3"}));
    EXPECT_EQ(follow("/_history?_count=1&_at=2200"), system.versions);
    for (const std::string order : {"_position", "_lastUpdated"}) {
        const std::string sorted = "/_history?_at=2200&_sort=" + order;
        EXPECT_EQ(get(sorted).versions, reversed(system.versions)) << order;
        EXPECT_EQ(follow(sorted + "&_count=1"), reversed(system.versions)) << order;
        EXPECT_EQ(get(sorted + "&_count=1").total, 2U) << order;
    }
    EXPECT_EQ(follow("/_history?_at=2200&_sort=-_lastUpdated&_count=1"), system.versions);
    EXPECT_EQ(get("/_history?_count=0&_at=2200").total, 2U);
}

TEST_F(History, OfAnInstantStaysWhatItsFirstPageSaw) {
    fill();
    for (const std::string order : {"_position", "-_position", "_lastUpdated"}) {
        const HistoryPage first = get("/_history?_count=1&_at=2200&_sort=" + order);
        put_patient("1");
        put_patient("3");
        const HistoryPage next = get(first.links.at("next"));
        EXPECT_EQ(next.total, 2U) << order;
        EXPECT_EQ(next.versions.size(), 1U) << order;
        EXPECT_FALSE(next.links.contains("next")) << order;
        EXPECT_EQ(get(next.links.at("previous")).versions, first.versions) << order;
        ASSERT_EQ(send("DELETE", "/Patient/3").status, 204);
    }
}

TEST_F(History, ComesInSlicesWhenItIsLarge) {
    for (int i = 0; i < 200; ++i) {
        ASSERT_LT(put_patient("1"), 300);
    }
    const Answer answer = send("GET", "/_history?_count=1000");
    EXPECT_GE(answer.slices, 2U);
    EXPECT_EQ(get("/_history?_count=1000").versions.size(), 200U);
}

TEST_F(History, CanBeSwitchedOffLevelByLevel) {
    fill();
    core::Config config;
    config.interactions.instance_history = false;
    restart(config);
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 405);
    EXPECT_EQ(send("GET", "/Patient/_history").status, 200);
    EXPECT_FALSE(send("GET", "/metadata").says("history-instance"));
    config = {};
    config.interactions.type_history = false;
    restart(config);
    EXPECT_EQ(send("GET", "/Patient/_history").status, 405);
    EXPECT_FALSE(send("GET", "/metadata").says("history-type"));
    config = {};
    config.interactions.system_history = false;
    restart(config);
    const Answer answer = send("GET", "/_history");
    EXPECT_EQ(answer.status, 405);
    EXPECT_TRUE(answer.says(R"("code":"not-supported")"));
    EXPECT_FALSE(send("GET", "/metadata").says("history-system"));
}

TEST_F(History, InATransactionEndsWhereTheTransactionDoes) {
    ASSERT_EQ(put_patient("1"), 201);
    const Position seen = store().last_position();
    ASSERT_EQ(put_patient("1"), 200);
    ASSERT_EQ(put_patient("later"), 201);
    const auto get_then = [&](std::string_view id, std::string_view query) {
        const std::string path = fmt::format("/Patient/{}/_history", id);
        core::Request request;
        request.path = path;
        request.query = query;
        request.base_url = kBaseUrl;
        request.seen_at = seen;
        core::OwnLoop own(store());
        const Result<core::Response> response =
            own.run("test", request, core::handle(service(), request));
        return response ? fmt::format("{} {}", response->status, response->body.str())
                        : std::string();
    };
    for (const std::string_view query : {"", "_at=2100"}) {
        const std::string found = get_then("1", query);
        EXPECT_THAT(found, testing::StartsWith(
                               R"(200 {"resourceType":"Bundle","type":"history","total":1,)"))
            << query;
        EXPECT_THAT(found, testing::HasSubstr("/Patient/1/_history/1\"")) << query;
        EXPECT_THAT(get_then("later", query), testing::StartsWith("404 ")) << query;
    }
    // Its pages come in an order that later versions don't disturb: there the transaction is no end.
    EXPECT_THAT(get_then("1", "_sort=_position"), testing::HasSubstr(R"("total":2,)"));
    EXPECT_THAT(get_then("later", "_sort=_position"), testing::StartsWith("200 "));
}

}  // namespace
}  // namespace annals::test
