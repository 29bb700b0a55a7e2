#include "core/interactions/history.h"

#include "codec/json/document.h"
#include "core/interactions/history_cursor.h"
#include "core/target.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"

#include <asio/post.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <set>

namespace annals::test {
namespace {

// A history Bundle as a client sees it.
struct HistoryPage {
    int status = 0;
    std::uint64_t total = 0;
    std::vector<std::string> versions;  // "Patient/1/_history/2"
    std::vector<std::string> methods;
    std::map<std::string, std::string> links;  // below {base_url}
    std::string text;
};

class History : public ServiceFixture {
  protected:
    HistoryPage get(const std::string& target) {
        const Answer answer = send("GET", target);
        HistoryPage page;
        page.status = answer.status;
        page.text = answer.body;
        const std::optional<json::Document> document = bundle_in(answer, "history");
        if (!document) {
            return page;
        }
        const json::Value bundle = document->root();
        page.total = std::stoull(std::string(bundle["total"].raw()));
        page.links = links_of(bundle);
        EXPECT_TRUE(page.links.contains("self"));
        for (const json::Value entry : bundle["entry"].elements()) {
            const std::string url = entry["fullUrl"].string();
            page.versions.push_back(url.substr(kBaseUrl.size() + 1));
            page.methods.push_back(entry["request"]["method"].string());
        }
        return page;
    }

    // All versions from `target` on, following the links of `relation`.
    std::vector<std::string> follow(std::string target, const std::string& relation = "next") {
        std::vector<std::string> all;
        for (int pages = 0; pages < 1000; ++pages) {
            const HistoryPage page = get(target);
            EXPECT_EQ(page.status, 200) << target << page.text;
            EXPECT_FALSE(page.versions.empty()) << target;
            all.insert(all.end(), page.versions.begin(), page.versions.end());
            const auto link = page.links.find(relation);
            if (link == page.links.end()) {
                return all;
            }
            target = link->second;
        }
        ADD_FAILURE() << "an endless chain";
        return all;
    }

    // Commits in the same millisecond share their instant; what follows gets a later one.
    static void next_millisecond() {
        const std::int64_t before = now().us / 1000;
        while (now().us / 1000 == before) {
        }
    }

    // Writes Patients 1 and 2 in turn, versions 1 to 3 each, and deletes 2 by its version 4.
    void fill() {
        for (int version = 1; version <= 3; ++version) {
            put_patient("1");
            next_millisecond();
            put_patient("2");
            next_millisecond();
        }
        ASSERT_EQ(send("DELETE", "/Patient/2").status, 204);
        ASSERT_EQ(
            send("PUT", "/Basic/1", R"({"resourceType":"Basic","id":"1","code":{"text":"c"}})")
                .status,
            201);
    }
};

using Texts = std::vector<std::string>;

Texts reversed(Texts texts) {
    std::reverse(texts.begin(), texts.end());
    return texts;
}

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
        request.loop = &loop();
        request.seen_at = seen;
        std::string found;
        on_loop([&] {
            const core::Response response =
                core::instance_history(service(), request, *core::parse_target(path));
            found = fmt::format("{} {}", response.status, response.body.str());
        });
        return found;
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
