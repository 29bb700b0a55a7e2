// Searches over HTTP's requests and answers, without sockets.

#include "codec/json/document.h"
#include "core/search/cursor.h"
#include "core/search/execute.h"
#include "core/search/plan.h"
#include "core/search/snapshot.h"
#include "core/search/sort.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"

#include <asio/post.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <thread>

namespace annals::test {
namespace {

// A searchset as its reader sees it.
struct Searchset {
    int status = 0;
    std::optional<std::uint64_t> total;
    std::vector<std::string> matches;   // "Patient/1"
    std::vector<std::string> included;  // the same
    std::vector<std::string> warnings;
    std::map<std::string, std::string> links;  // below {base_url}
    std::string text;
};

class Search : public ServiceFixture {
  protected:
    Searchset get(const std::string& target, const Headers& headers = {}) {
        return read(send("GET", target, {}, headers));
    }

    static Searchset read(const Answer& answer) {
        Searchset page;
        page.status = answer.status;
        page.text = answer.body;
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        EXPECT_TRUE(document.has_value()) << answer.body;
        if (!document || answer.status != 200) {
            return page;
        }
        const json::Value bundle = document->root();
        EXPECT_TRUE(bundle["type"].equals("searchset"));
        EXPECT_EQ(answer.cache_control, "no-cache");
        if (bundle["total"]) {
            page.total = std::stoull(std::string(bundle["total"].raw()));
        }
        for (const json::Value link : bundle["link"].elements()) {
            const std::string url = link["url"].string();
            EXPECT_TRUE(url.starts_with(kBaseUrl));
            page.links[link["relation"].string()] = url.substr(kBaseUrl.size());
        }
        for (const json::Value entry : bundle["entry"].elements()) {
            const json::Value resource = entry["resource"];
            const std::string name =
                resource["resourceType"].string() + "/" + resource["id"].string();
            const std::string mode = entry["search"]["mode"].string();
            if (mode == "outcome") {
                for (const json::Value issue : resource["issue"].elements()) {
                    page.warnings.push_back(issue["diagnostics"].string());
                }
                continue;
            }
            EXPECT_TRUE(entry["fullUrl"].string().starts_with(fmt::format("{}/", kBaseUrl)));
            (mode == "match" ? page.matches : page.included).push_back(name);
        }
        return page;
    }

    void put(std::string_view type, std::string_view id, std::string_view members) {
        const Answer answer = send("PUT", fmt::format("/{}/{}", type, id),
                                   fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})", type, id,
                                               members.empty() ? "" : ",", members));
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    void put_named(std::string_view id, std::string_view family, std::string_view birth = {}) {
        put("Patient", id,
            fmt::format(R"("name":[{{"family":"{}"}}]{})", family,
                        birth.empty() ? "" : fmt::format(R"(,"birthDate":"{}")", birth)));
    }

    using Names = std::vector<std::string>;
};

TEST_F(Search, FindsWhatWasWrittenNewestFirst) {
    put_named("a", "Chalmers");
    put_named("b", "Windsor");
    put_named("c", "Chalmersson");
    EXPECT_EQ(get("/Patient?family=chalmers").matches, (Names{"Patient/c", "Patient/a"}));
    const Searchset all = get("/Patient");
    EXPECT_EQ(all.matches, (Names{"Patient/c", "Patient/b", "Patient/a"}));
    EXPECT_EQ(all.total, 3U);
    EXPECT_EQ(all.links.size(), 1U);
}

TEST_F(Search, SeesUpdatesAndDeletionsAtOnce) {
    put_named("a", "Chalmers");
    put_named("a", "Windsor");
    EXPECT_TRUE(get("/Patient?family=chalmers").matches.empty());
    EXPECT_EQ(get("/Patient?family=windsor").matches, Names{"Patient/a"});
    send("DELETE", "/Patient/a");
    EXPECT_TRUE(get("/Patient").matches.empty());
    EXPECT_EQ(get("/Patient").total, 0U);
    put_named("a", "Windsor");
    EXPECT_EQ(get("/Patient?family=windsor").matches, Names{"Patient/a"});
}

TEST_F(Search, GoesThroughPagesForthAndBackWhileWritesGoOn) {
    for (int i = 0; i < 25; ++i) {
        put_named(fmt::format("p{:02}", i), i % 5 == 4 ? "Windsor" : "Chalmers");
    }
    std::vector<std::string> expected;
    for (int i = 24; i >= 0; --i) {
        if (i % 5 != 4) {
            expected.push_back(fmt::format("Patient/p{:02}", i));
        }
    }
    std::vector<std::string> found;
    std::vector<std::vector<std::string>> pages;
    Searchset page = get("/Patient?family=chalmers&_count=6");
    std::string last_self;
    for (int guard = 0; guard < 10; ++guard) {
        ASSERT_EQ(page.status, 200) << page.text;
        EXPECT_EQ(page.total, 20U);
        EXPECT_FALSE(page.matches.empty());
        found.insert(found.end(), page.matches.begin(), page.matches.end());
        pages.push_back(page.matches);
        EXPECT_EQ(page.links.contains("previous"), guard > 0);
        EXPECT_EQ(page.links.contains("first"), guard > 0);
        last_self = page.links["self"];
        if (!page.links.contains("next")) {
            break;
        }
        // Each of these would move what comes.
        put_named(fmt::format("p{:02}", guard), "Windsor");
        put_named(fmt::format("new{}", guard), "Chalmers");
        send("DELETE", fmt::format("/Patient/p{:02}", 10 + guard));
        page = get(page.links["next"]);
    }
    EXPECT_EQ(found, expected);
    ASSERT_EQ(pages.size(), 4U);

    EXPECT_EQ(get(last_self).matches, pages.back());
    for (std::size_t i = pages.size() - 1; i-- > 0;) {
        ASSERT_TRUE(page.links.contains("previous"));
        page = get(page.links["previous"]);
        EXPECT_EQ(page.matches, pages[i]);
        EXPECT_TRUE(page.links.contains("next"));
    }
    EXPECT_FALSE(page.links.contains("previous"));
    const Searchset end = get(get("/Patient?family=chalmers&_count=6").links["last"]);
    EXPECT_FALSE(end.links.contains("next"));
    EXPECT_TRUE(end.links.contains("previous"));
}

TEST_F(Search, PagesSurviveARestart) {
    for (int i = 0; i < 10; ++i) {
        put_named(fmt::format("p{}", i), "Chalmers");
    }
    const Searchset first = get("/Patient?_count=4");
    put_named("later", "Chalmers");
    restart(core::Config());
    const Searchset second = get(first.links.at("next"));
    EXPECT_EQ(second.matches, (Names{"Patient/p5", "Patient/p4", "Patient/p3", "Patient/p2"}));
}

TEST_F(Search, RefusesCursorsOfMomentsThatNobodySearchesAt) {
    core::search::Cursor cursor;
    cursor.now = now();
    EXPECT_TRUE(core::search::read_cursor(core::search::write_cursor(cursor)));
    for (const std::int64_t moment :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        cursor.now = {moment};
        EXPECT_FALSE(core::search::read_cursor(core::search::write_cursor(cursor))) << moment;
    }
}

TEST_F(Search, RefusesCursorsThatAreNone) {
    for (int i = 0; i < 4; ++i) {
        put_named(fmt::format("p{}", i), "Chalmers");
    }
    const Searchset first = get("/Patient?family=chalmers&_count=2");
    std::string next = first.links.at("next");
    EXPECT_EQ(get(next).status, 200);
    EXPECT_EQ(get("/Patient?_cursor=x").status, 400);
    EXPECT_EQ(get("/Patient?_cursor=").status, 400);
    // Of another search.
    const std::string cursor = next.substr(next.find("_cursor"));
    EXPECT_EQ(get("/Patient?family=windsor&_count=2&" + cursor).status, 400);
    EXPECT_EQ(get("/Practitioner?family=chalmers&_count=2&" + cursor).status, 400);
    // The page's size may change.
    EXPECT_EQ(get("/Patient?family=chalmers&_count=1&" + cursor).matches, Names{"Patient/p1"});
    next[next.size() - 3] = next[next.size() - 3] == 'A' ? 'B' : 'A';
    EXPECT_EQ(get(next).status, 400);
}

TEST_F(Search, RefusesPagesThatWereSortedByWhatAParameterMeantBefore) {
    const auto define = [&](std::string_view type, std::string_view expression) {
        put("SearchParameter", "rank",
            fmt::format(
                R"("url":"http://p","name":"n","status":"active","description":"d","code":"rank","base":["Patient"],"type":"{}","expression":"Patient.{}")",
                type, expression));
        get("/Patient?_count=0");  // sees what has changed
        service().indexing().wait_until_idle();
    };
    define("date", "birthDate");
    for (int i = 0; i < 3; ++i) {
        put("Patient", fmt::format("p{}", i),
            fmt::format(R"("birthDate":"200{}","name":[{{"family":"f{}"}}])", i, 3 - i));
    }
    const Searchset first = get("/Patient?_sort=rank&_count=2");
    EXPECT_EQ(first.matches, (Names{"Patient/p0", "Patient/p1"}));
    define("date", "birthDate");  // a version that changes nothing
    EXPECT_EQ(get(first.links.at("next")).matches, Names{"Patient/p2"});
    define("string", "name.family");
    EXPECT_EQ(get(first.links.at("next")).status, 400);
    EXPECT_EQ(get("/Patient?_sort=rank&_count=2").matches, (Names{"Patient/p2", "Patient/p1"}));
}

TEST_F(Search, LinksToItsPagesByWhatTheServerTakesHoweverLongItIs) {
    std::string form = "_count=2";
    for (int i = 0; i < 4; ++i) {
        put_named(fmt::format("p{}", i), "Chalmers");
        form += "&family=chalmers," + std::string(3000, 'x');
    }
    const auto post = [&](const std::string& body) {
        return read(send("POST", "/Patient/_search", body,
                         {{"Content-Type", "application/x-www-form-urlencoded"}}));
    };
    const Searchset first = post(form);
    EXPECT_EQ(first.matches, (Names{"Patient/p3", "Patient/p2"})) << first.text.substr(0, 500);
    // Links that are longer than a URL begin with what makes the server take them (net/request_reader.cc).
    for (const char* relation : {"self", "next"}) {
        EXPECT_TRUE(first.links.at(relation).starts_with("/Patient?_cursor=")) << relation;
        EXPECT_GT(first.links.at(relation).size(), kRequestTargetBytesMax);
        EXPECT_LT(first.links.at(relation).size(), kPageTargetBytesMax);
    }
    EXPECT_EQ(get(first.links.at("self")).matches, first.matches);
    const Searchset second = get(first.links.at("next"));
    EXPECT_EQ(second.matches, (Names{"Patient/p1", "Patient/p0"}));
    EXPECT_EQ(get(second.links.at("first")).matches, first.matches);
    EXPECT_EQ(get(second.links.at("previous")).matches, first.matches);

    // What is too long even for that is asked for as it was, and says so.
    for (int i = 0; i < 30; ++i) {
        form += "&family=chalmers," + std::string(3000, 'x');
    }
    const Searchset large = post(form);
    EXPECT_EQ(large.matches, first.matches);
    EXPECT_FALSE(large.links.contains("next"));
    ASSERT_EQ(large.warnings.size(), 1U);
    const std::string& warning = large.warnings.front();
    ASSERT_NE(warning.find("_cursor="), std::string::npos) << warning;
    EXPECT_EQ(post(form + "&" + warning.substr(warning.find("_cursor="))).matches, second.matches);
}

TEST_F(Search, CountsAsAsked) {
    for (int i = 0; i < 30; ++i) {
        put_named(fmt::format("p{}", i), i % 2 == 0 ? "Chalmers" : "Windsor");
    }
    EXPECT_EQ(get("/Patient").total, 30U);
    EXPECT_EQ(get("/Patient").matches.size(), 20U);
    EXPECT_EQ(get("/Patient?_total=none").total, std::nullopt);
    EXPECT_EQ(get("/Patient?_total=accurate&family=windsor").total, 15U);
    for (const char* const none :
         {"/Patient?_count=0", "/Patient?_summary=count", "/Patient?_count=0&_total=none"}) {
        const Searchset page = get(none);
        EXPECT_EQ(page.total, 30U);
        EXPECT_TRUE(page.matches.empty());
        EXPECT_EQ(page.links.size(), 1U);
    }
    const Searchset most = get("/Patient?_count=5000");
    EXPECT_EQ(most.matches.size(), 30U);
    EXPECT_NE(most.links.at("self").find("_count=1000"), std::string::npos);
}

TEST_F(Search, SortsByDatesTextsAndIds) {
    put_named("a", "Delta", "1990-05-01");
    put_named("b", "Alpha", "1980");
    put_named("c", "Charlie", "2001-02");
    put_named("d", "Bravo");
    put_named("e", "Alpha", "1990-05-01");
    const auto order = [&](const std::string& sort) {
        std::string ids;
        for (const std::string& name : get("/Patient?_sort=" + sort).matches) {
            ids += name.substr(8);
        }
        return ids;
    };
    EXPECT_EQ(order("birthdate"), "beacd");
    EXPECT_EQ(order("-birthdate"), "ceabd");
    EXPECT_EQ(order("family"), "ebdca");
    EXPECT_EQ(order("-family"), "acdeb");
    EXPECT_EQ(order("family,birthdate"), "bedca");
    EXPECT_EQ(order("_id"), "abcde");
    EXPECT_EQ(order("-_id"), "edcba");
    EXPECT_EQ(order("_lastUpdated"), "abcde");
    EXPECT_EQ(order("-_lastUpdated"), "edcba");

    std::string ids;
    Searchset page = get("/Patient?_sort=-birthdate&_count=2");
    put_named("f", "Zulu", "1995");
    for (int guard = 0; guard < 5; ++guard) {
        for (const std::string& name : page.matches) {
            ids += name.substr(8);
        }
        if (!page.links.contains("next")) {
            break;
        }
        page = get(page.links["next"]);
    }
    EXPECT_EQ(ids, "ceabd");
    page = get(page.links.at("previous"));
    EXPECT_EQ(page.matches, (Names{"Patient/a", "Patient/b"}));
}

TEST_F(Search, SortsManyByADatePageByPage) {
    std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    std::vector<std::pair<std::string, std::string>> born;
    for (int i = 0; i < 600; ++i) {
        const std::string date =
            fmt::format("{}-{:02}-{:02}", 1950 + i * 7 % 50, 1 + i % 12, 1 + i % 28);
        // The last one has none, and comes last.
        const std::string id = fmt::format("p{:03}", i);
        batch += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","id":"{}"{}}},"request":{{"method":"PUT","url":"Patient/{}"}}}})",
            i == 0 ? "" : ",", id, i == 599 ? "" : fmt::format(R"(,"birthDate":"{}")", date), id);
        born.emplace_back(i == 599 ? "0" : date, fmt::format("Patient/{}", id));
    }
    ASSERT_EQ(send("POST", "/", batch + "]}").status, 200);
    // Of those born on one day the newest version comes first, which is the one with the highest id.
    std::sort(born.begin(), born.end(), std::greater<>());
    std::vector<std::string> found;
    Searchset page = get("/Patient?_sort=-birthdate&_count=7");
    for (;;) {
        ASSERT_EQ(page.status, 200);
        found.insert(found.end(), page.matches.begin(), page.matches.end());
        if (!page.links.contains("next")) {
            break;
        }
        page = get(page.links.at("next"));
    }
    ASSERT_EQ(found.size(), born.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], born[i].second) << i;
    }
}

TEST_F(Search, SaysThatASortedPageIsGoneWithTheMatchBesideIt) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    put_named("a", "A", "1990");
    put_named("b", "B", "1991");
    put_named("c", "C", "1992");
    const std::string unsorted = get("/Patient?_count=1").links.at("next");
    const std::string by_birth = get("/Patient?_sort=birthdate&_count=1").links.at("next");
    const std::string by_gender = get("/Patient?_sort=gender&_count=1").links.at("next");
    EXPECT_EQ(get(by_birth).matches, Names{"Patient/b"});
    for (const std::string_view id : {"a", "c"}) {
        ASSERT_EQ(send("DELETE", fmt::format("/Patient/{}", id)).status, 204);
    }
    EXPECT_EQ(send("GET", by_birth).status, 410);
    EXPECT_EQ(send("GET", by_gender).status, 410);
    EXPECT_EQ(get(unsorted).matches, Names{"Patient/b"});
}

TEST_F(Search, SortsByWhatIsReadFromBodies) {
    put("Observation", "a",
        R"("status":"final","code":{"coding":[{"code":"b"}]},"subject":{"reference":"Patient/2"},"valueQuantity":{"value":10,"unit":"kg"})");
    put("Observation", "b",
        R"("status":"amended","code":{"coding":[{"code":"a"}]},"subject":{"reference":"Patient/1"},"valueQuantity":{"value":9.5,"unit":"kg"})");
    put("Observation", "c", R"("status":"final","code":{"coding":[{"code":"c"}]})");
    EXPECT_EQ(get("/Observation?_sort=code").matches,
              (Names{"Observation/b", "Observation/a", "Observation/c"}));
    EXPECT_EQ(get("/Observation?_sort=-code").matches,
              (Names{"Observation/c", "Observation/a", "Observation/b"}));
    EXPECT_EQ(get("/Observation?_sort=value-quantity").matches,
              (Names{"Observation/b", "Observation/a", "Observation/c"}));
    EXPECT_EQ(get("/Observation?_sort=subject").matches,
              (Names{"Observation/b", "Observation/a", "Observation/c"}));
    EXPECT_EQ(get("/Observation?_sort=status,-_id").matches,
              (Names{"Observation/b", "Observation/c", "Observation/a"}));
}

TEST_F(Search, SortsSeveralTypesByWhatIsReadFromBodies) {
    for (const std::string_view id : {"d", "b", "c", "a"}) {
        const std::string body = fmt::format(
            R"("subject":{{"reference":"Patient/{0}"}},"code":{{"coding":[{{"code":"{0}"}}]}})",
            id);
        put(id < "c" ? "Observation" : "Condition", id,
            id < "c" ? R"("status":"final",)" + body : body);
    }
    const Names upwards{"Observation/a", "Observation/b", "Condition/c", "Condition/d"};
    const Names downwards(upwards.rbegin(), upwards.rend());
    for (const std::string key : {"code", "subject", "patient"}) {
        EXPECT_EQ(get("/?_type=Condition,Observation&_sort=" + key).matches, upwards) << key;
        EXPECT_EQ(get("/?_type=Condition,Observation&_sort=-" + key).matches, downwards) << key;
    }
}

TEST_F(Search, SortsByWhatIsComputed) {
    put("Patient", "yes", R"("deceasedDateTime":"2020")");
    put("Patient", "no", R"("active":true)");
    put("Patient", "said", R"("deceasedBoolean":true)");
    EXPECT_EQ(get("/Patient?_sort=deceased,_id").matches,
              (Names{"Patient/no", "Patient/said", "Patient/yes"}));
    EXPECT_EQ(get("/Patient?_sort=-deceased,_id").matches,
              (Names{"Patient/said", "Patient/yes", "Patient/no"}));
}

TEST_F(Search, EndsItsTurnAfterAnyBodyThatItSortsBy) {
    for (const std::string_view id : {"a", "b", "c"}) {
        put_named(id, "Chalmers");
    }
    const TypeId type = type_of("Patient");
    core::search::Snapshot snapshot(store());
    const core::search::Plan plan = core::search::everything();
    core::search::Execution execution(snapshot, type, plan);
    execution.want({});
    ASSERT_TRUE(execution.advance(core::search::Pace()));
    const auto parameters = service().indexing().parameters();
    const std::vector<core::search::SortKey> keys{
        {parameters->find(type, "gender"), "gender", false}};
    core::search::Sorter sorter(snapshot, keys, execution.matches());
    // Its turns are over before they begin.
    const core::search::Pace pace{std::chrono::microseconds(1)};
    int turns = 0;
    for (bool done = false; !done; ++turns) {
        const Result<bool> advanced = sorter.advance(pace);
        ASSERT_TRUE(advanced);
        done = *advanced;
    }
    EXPECT_EQ(turns, 3);
}

asio::awaitable<void> answer_search(const core::Service& service, const core::Request& request,
                                    core::Response& response, bool& answered) {
    response = co_await core::handle(service, request);
    answered = true;
}

TEST_F(Search, FindsWhatIsWrittenAnewAndErasedAsItWasMeanwhile) {
    constexpr int kResources = 2000;
    std::string hay;
    for (int i = 0; i < 200; ++i) {
        hay += " hay";
    }
    std::string bundle = R"({"resourceType":"Bundle","type":"transaction","entry":[)";
    for (int i = 0; i < kResources; ++i) {
        bundle +=
            fmt::format(R"({}{{"request":{{"method":"PUT","url":"Basic/{}"}},"resource":)"
                        R"({{"resourceType":"Basic","id":"{}","code":{{"text":"needle{}"}}}}}})",
                        i == 0 ? "" : ",", i, i, hay);
    }
    ASSERT_EQ(send("POST", "/", bundle + "]}").status, 200);

    core::Request request;
    request.method = core::HttpMethod::get;
    request.path = "/Basic";
    request.query = "_content=needle&_summary=count";
    request.base_url = kBaseUrl;
    request.request_id = "test-1";
    request.loop = &loop();
    core::Response response;
    bool answered = false;
    std::promise<bool> began;
    std::promise<void> erased;
    loop().post([&] {
        core::spawn(loop(), "search", answer_search(service(), request, response, answered));
        // Between two turns of it.
        asio::post(loop().context(), [&] {
            began.set_value(!answered);
            erased.get_future().wait();
        });
    });
    EXPECT_TRUE(began.get_future().get());
    core::Loop second(store());
    std::thread of_second([&] { second.run(); });
    EXPECT_EQ(send_on(second, "PUT", "/Basic/0",
                      R"({"resourceType":"Basic","id":"0","code":{"text":"needle"}})")
                  .status,
              200);
    CommitBuilder erasure;
    erasure.erase("Basic", "0", storage::Erase::Scope::version, {1});
    EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    erased.set_value();
    for (bool done = false; !done;) {
        on_loop([&] { done = answered; });
    }
    const std::string text = response.body.str();
    EXPECT_NE(text.find(fmt::format(R"("total":{},)", kResources)), std::string::npos) << text;
    second.stop();
    of_second.join();
}

TEST_F(Search, SortsByEachCodingOfAConcept) {
    put("Observation", "a", R"("status":"final","code":{"coding":[{"code":"m"},{"code":"z"}]})");
    put("Observation", "b", R"("status":"final","code":{"coding":[{"code":"n"},{"code":"b"}]})");
    put("Observation", "c", R"("status":"final","code":{"coding":[{"display":"x"},{"code":"c"}]})");
    put("Observation", "d", R"("status":"final","code":{"text":"y"})");
    EXPECT_EQ(get("/Observation?_sort=code").matches,
              (Names{"Observation/b", "Observation/c", "Observation/a", "Observation/d"}));
    EXPECT_EQ(get("/Observation?_sort=-code").matches,
              (Names{"Observation/a", "Observation/d", "Observation/b", "Observation/c"}));
}

TEST_F(Search, SortsByTheFirstOfSeveralValuesInThatDirection) {
    put("Patient", "both",
        R"("name":[{"family":"Adam"},{"family":"Zoe"}],"identifier":[{"value":"9"},{"value":"1"}])");
    put("Patient", "mid", R"("name":[{"family":"Mike"}],"identifier":[{"value":"5"}])");
    const auto put_observation = [&](std::string_view id, std::string_view values) {
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"x"}},"component":[{}])", values));
    };
    const auto component = [](int value) {
        return fmt::format(R"({{"code":{{"text":"y"}},"valueQuantity":{{"value":{}}}}})", value);
    };
    put_observation("both", component(9) + "," + component(1));
    put_observation("mid", component(5));
    const auto put_plan = [&](std::string_view id, std::string_view activities) {
        put("CarePlan", id,
            fmt::format(
                R"("status":"active","intent":"plan","subject":{{"reference":"Patient/1"}},"activity":[{}])",
                activities));
    };
    const auto activity = [](std::string_view start, std::string_view end) {
        return fmt::format(
            R"({{"detail":{{"status":"scheduled","scheduledPeriod":{{"start":"{}","end":"{}"}}}}}})",
            start, end);
    };
    put_plan("both",
             activity("2020-05-01", "2020-12-01") + "," + activity("2020-01-01", "2020-01-02"));
    put_plan("mid", activity("2020-06-01", "2020-06-01"));
    for (const auto& [type, key] :
         {std::pair("Patient", "family"), std::pair("Patient", "identifier"),
          std::pair("Observation", "component-value-quantity"),
          std::pair("CarePlan", "activity-date")}) {
        for (const std::string_view direction : {"", "-"}) {
            EXPECT_EQ(get(fmt::format("/{}?_sort={}{}", type, direction, key)).matches,
                      (Names{fmt::format("{}/both", type), fmt::format("{}/mid", type)}))
                << direction << key;
        }
    }
}

TEST_F(Search, SortsByTheEndsOfRangesAndSampledData) {
    const auto put_onset = [&](std::string_view id, std::string_view onset) {
        put("Condition", id,
            fmt::format(R"("subject":{{"reference":"Patient/1"}},"onset{})", onset));
    };
    put_onset("wide", R"(Range":{"low":{"value":10},"high":{"value":60}})");
    put_onset("narrow", R"(Range":{"low":{"value":20},"high":{"value":30}})");
    put_onset("low", R"(Range":{"low":{"value":40}})");
    put_onset("high", R"(Range":{"high":{"value":15}})");
    put_onset("none", R"(String":"early")");
    EXPECT_EQ(get("/Condition?_sort=onset-age").matches,
              (Names{"Condition/wide", "Condition/high", "Condition/narrow", "Condition/low",
                     "Condition/none"}));
    EXPECT_EQ(get("/Condition?_sort=-onset-age").matches,
              (Names{"Condition/wide", "Condition/low", "Condition/narrow", "Condition/high",
                     "Condition/none"}));

    const auto put_samples = [&](std::string_view id, std::string_view rest) {
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"x"}},"valueSampledData":{{"origin":{{"value":10}},"period":1,"dimensions":1,{}}})",
                rest));
    };
    put_samples("spread", R"("factor":2,"data":"1 -4 E 5")");      // 2 to 20
    put_samples("limits", R"("lowerLimit":-5,"data":"1 L U 2")");  // 5 to 12
    put_samples("empty", R"("data":"E E")");
    put("Observation", "single",
        R"("status":"final","code":{"text":"x"},"valueQuantity":{"value":7})");
    EXPECT_EQ(get("/Observation?_sort=value-quantity").matches,
              (Names{"Observation/spread", "Observation/limits", "Observation/single",
                     "Observation/empty"}));
    EXPECT_EQ(get("/Observation?_sort=-value-quantity").matches,
              (Names{"Observation/spread", "Observation/limits", "Observation/single",
                     "Observation/empty"}));
}

TEST_F(Search, LeadsToAnyTypeByAParameterThatNamesNone) {
    for (const auto& [id, base, expression] :
         {std::tuple{"asked", "QuestionnaireResponse", "QuestionnaireResponse.questionnaire"},
          std::tuple{"run-by", "Patient", "Patient.managingOrganization"}}) {
        put("SearchParameter", id,
            fmt::format(
                R"("url":"http://p/{0}","name":"n","status":"active","description":"d","code":"{0}","base":["{1}"],"type":"reference","expression":"{2}")",
                id, base, expression));
    }
    put("Questionnaire", "q", R"("url":"http://q","status":"active")");
    put("QuestionnaireResponse", "r", R"("status":"completed","questionnaire":"http://q")");
    put("Organization", "whole", R"("name":"Whole")");
    put("Organization", "part", R"("name":"Part","partOf":{"reference":"Organization/whole"})");
    put("Patient", "p", R"("managingOrganization":{"reference":"Organization/part"})");
    service().indexing().wait_until_idle();
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:asked").included,
              Names{"Questionnaire/q"});
    EXPECT_EQ(get("/Patient?run-by:below=whole").matches, Names{"Patient/p"});
    EXPECT_EQ(get("/Patient?run-by=part&run-by:Organization.name=part").matches,
              Names{"Patient/p"});
}

TEST_F(Search, IncludesWhatMatchesReferTo) {
    put("Organization", "o", R"("name":"Root")");
    put("Organization", "p", R"("name":"Part","partOf":{"reference":"Organization/o"})");
    put("Patient", "a", R"("managingOrganization":{"reference":"Organization/p"})");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"text":"y"},"subject":{"reference":"Patient/a"})");
    Searchset page = get("/Observation?_include=Observation:subject");
    EXPECT_EQ(page.matches, (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(page.included, Names{"Patient/a"});
    EXPECT_EQ(page.total, 2U);
    EXPECT_EQ(get("/Observation?_include=*").included, Names{"Patient/a"});
    EXPECT_EQ(get("/Observation?_include=Observation:patient").included, Names{"Patient/a"});
    EXPECT_EQ(get("/Observation?_include=Observation:subject:Patient").included,
              Names{"Patient/a"});
    EXPECT_TRUE(get("/Observation?_include=Observation:subject:Group").included.empty());
    page =
        get("/Observation?_include=Observation:subject&_include:iterate=Patient:organization&"
            "_include:iterate=Organization:partof");
    EXPECT_EQ(page.included, (Names{"Patient/a", "Organization/p", "Organization/o"}));
    EXPECT_TRUE(get("/Observation?_include=Patient:organization").included.empty());

    EXPECT_EQ(get("/Patient?_revinclude=Observation:subject").included,
              (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(get("/Patient?_revinclude=*").included, (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(
        get("/Organization?_id=o&_revinclude=Organization:partof&"
            "_revinclude:iterate=Patient:organization&_revinclude:iterate=Observation:subject")
            .included,
        (Names{"Organization/p", "Patient/a", "Observation/y", "Observation/x"}));
}

TEST_F(Search, IncludesWhatRefersByTheParameterThatIsNamedAlone) {
    put("Patient", "a", "");
    put("Group", "g", R"("type":"person","actual":true)");
    put("Observation", "subject",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "performer",
        R"("status":"final","code":{"text":"x"},"performer":[{"reference":"Patient/a"}])");
    put("Observation", "group",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Group/g"})");
    put("Encounter", "e",
        R"("status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/a"})");
    EXPECT_EQ(get("/Patient?_revinclude=Observation:subject").included,
              Names{"Observation/subject"});
    EXPECT_EQ(get("/?_type=Patient,Group&_revinclude=Observation:subject").included,
              (Names{"Observation/group", "Observation/subject"}));
    EXPECT_EQ(get("/?_type=Patient,Group&_revinclude=Observation:subject:Group").included,
              Names{"Observation/group"});
}

TEST_F(Search, GoesOnFromWhatIsIncludedThreeTimes) {
    put("Organization", "o0", R"("name":"o0")");
    for (int i = 1; i < 7; ++i) {
        put("Organization", fmt::format("o{}", i),
            fmt::format(R"("name":"o{0}","partOf":{{"reference":"Organization/o{1}"}})", i, i - 1));
    }
    EXPECT_EQ(get("/Organization?_id=o6&_include:iterate=Organization:partof").included,
              (Names{"Organization/o5", "Organization/o4", "Organization/o3", "Organization/o2"}));
    EXPECT_EQ(get("/Organization?_id=o0&_revinclude:iterate=Organization:partof").included,
              (Names{"Organization/o1", "Organization/o2", "Organization/o3", "Organization/o4"}));
}

TEST_F(Search, IncludesNothingTwiceAndNothingDeleted) {
    put("Patient", "a", "");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"},"performer":[{"reference":"Patient/a"},{"reference":"Patient/b"}])");
    EXPECT_EQ(
        get("/Observation?_include=Observation:subject&_include=Observation:performer").included,
        Names{"Patient/a"});
    send("DELETE", "/Patient/a");
    EXPECT_TRUE(get("/Observation?_include=*").included.empty());
}

TEST_F(Search, IncludesNothingThatMatches) {
    put("Organization", "whole", R"("name":"Whole")");
    put("Organization", "part", R"("name":"Part","partOf":{"reference":"Organization/whole"})");
    const Searchset page =
        get("/Organization?_include=Organization:partof&_revinclude=Organization:partof");
    EXPECT_EQ(page.matches, (Names{"Organization/part", "Organization/whole"}));
    EXPECT_TRUE(page.included.empty());
}

TEST_F(Search, IncludesTheVersionThatAReferenceNames) {
    put_named("a", "First");
    put_named("a", "Second");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a/_history/1"})");
    EXPECT_NE(get("/Observation?_include=Observation:subject").text.find("First"),
              std::string::npos);
}

TEST_F(Search, IncludesNothingForWhatIsNoVersion) {
    put_named("a", "First");
    put_named("a", "Second");
    for (const std::string_view version : {"abc", "01", "3"}) {
        put("Observation", "x",
            fmt::format(
                R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/a/_history/{}"}})",
                version));
        EXPECT_TRUE(get("/Observation?_include=Observation:subject").included.empty()) << version;
    }
}

TEST_F(Search, IncludesWhatACanonicalUrlNames) {
    put("Questionnaire", "q1", R"("url":"http://example.org/q","version":"1","status":"active")");
    put("Questionnaire", "q2", R"("url":"http://example.org/q","version":"2","status":"active")");
    put("Questionnaire", "other", R"("url":"http://example.org/other","status":"active")");
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q|1","status":"completed")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q1"});
    // Without a version the one that was written last.
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q","status":"completed")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q2"});
}

TEST_F(Search, IncludesNothingThatHasTheUrlAsItsEndpoint) {
    put("Subscription", "s",
        R"("status":"off","reason":"x","criteria":"Patient?active=true","channel":{"type":"rest-hook",
           "endpoint":"http://example.org/lib"})");
    put("Library", "l",
        R"("url":"http://example.org/lib","status":"active","type":{"text":"logic"})");
    put("Measure", "m", R"("status":"active","library":["http://example.org/lib"])");
    EXPECT_EQ(get("/Measure?_include=Measure:depends-on").included, Names{"Library/l"});
}

TEST_F(Search, IncludesCanonicalUrlsAmongAllReferences) {
    put("Patient", "a", "");
    put("Questionnaire", "q1", R"("url":"http://example.org/q","version":"1","status":"active")");
    put("Questionnaire", "q2", R"("url":"http://example.org/q","version":"2","status":"active")");
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q|1","status":"completed","subject":{"reference":"Patient/a"})");
    const Names both{"Patient/a", "Questionnaire/q1"};
    EXPECT_EQ(get("/QuestionnaireResponse?_include=*").included, both);
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:*").included, both);
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:*:Questionnaire").included,
              Names{"Questionnaire/q1"});
    EXPECT_TRUE(get("/QuestionnaireResponse?_include=Observation:*").included.empty());
}

class CanonicalSearch : public Search {
  protected:
    void put_response(std::string_view id, std::string_view questionnaire,
                      std::string_view status) {
        put("QuestionnaireResponse", id,
            fmt::format(R"("questionnaire":"{}","status":"{}")", questionnaire, status));
    }

    // Two versions of one questionnaire, another one, and what is answered of them.
    void put_all() {
        put("Questionnaire", "q1",
            R"("url":"http://example.org/q","version":"1","title":"Quest","status":"active")");
        put("Questionnaire", "q2",
            R"("url":"http://example.org/q","version":"2","title":"Later","status":"active")");
        put("Questionnaire", "other",
            R"("url":"http://example.org/other","title":"Other","status":"active")");
        put_response("first", "http://example.org/q|1", "completed");
        put_response("second", "http://example.org/q|2", "in-progress");
        put_response("any", "http://example.org/q", "amended");
        put_response("by-id", "Questionnaire/q1", "stopped");
        put_response("none", "http://example.org/other|1", "entered-in-error");
    }

    void expect_followed() {
        const auto name = [](std::vector<std::string> ids) {
            for (std::string& id : ids) {
                id.insert(0, "QuestionnaireResponse/");
            }
            return ids;
        };
        const Names of_first = name({"by-id", "any", "first"});
        const Names of_second = name({"any", "second"});
        const auto referrers = [&](std::string_view id) {
            return get(fmt::format(
                           "/Questionnaire?_id={}&_revinclude=QuestionnaireResponse:questionnaire",
                           id))
                .included;
        };
        EXPECT_EQ(referrers("q1"), of_first);
        EXPECT_EQ(referrers("q2"), of_second);
        EXPECT_TRUE(referrers("other").empty());
        EXPECT_EQ(get("/Questionnaire?_id=q2&_revinclude=*").included, of_second);

        EXPECT_EQ(get("/QuestionnaireResponse?questionnaire.title=quest").matches, of_first);
        EXPECT_EQ(get("/QuestionnaireResponse?questionnaire:Questionnaire.title=later").matches,
                  of_second);
        EXPECT_TRUE(get("/QuestionnaireResponse?questionnaire.title=other").matches.empty());

        const auto answered = [&](std::string_view status) {
            return get(fmt::format(
                           "/Questionnaire?_has:QuestionnaireResponse:questionnaire:status={}",
                           status))
                .matches;
        };
        EXPECT_EQ(answered("completed"), Names{"Questionnaire/q1"});
        EXPECT_EQ(answered("in-progress"), Names{"Questionnaire/q2"});
        EXPECT_EQ(answered("amended"), (Names{"Questionnaire/q2", "Questionnaire/q1"}));
        EXPECT_EQ(answered("stopped"), Names{"Questionnaire/q1"});
        EXPECT_TRUE(answered("entered-in-error").empty());
    }
};

TEST_F(CanonicalSearch, LeadsFromWhatIsNamedToWhatNamesIt) {
    put_all();
    expect_followed();
    send("DELETE", "/Questionnaire/q1");
    EXPECT_TRUE(get("/QuestionnaireResponse?questionnaire.title=quest").matches.empty());
    put("Questionnaire", "q2", R"("url":"http://example.org/moved","status":"active")");
    EXPECT_TRUE(
        get("/Questionnaire?_revinclude=QuestionnaireResponse:questionnaire").included.empty());
    EXPECT_TRUE(get("/Questionnaire?_has:QuestionnaireResponse:questionnaire:status=amended")
                    .matches.empty());
}

TEST_F(CanonicalSearch, FindsFewAmongMany) {
    for (int i = 0; i < 60; ++i) {
        put("Questionnaire", fmt::format("m{}", i),
            fmt::format(R"("url":"http://example.org/m{}","status":"active")", i));
        put_response(fmt::format("m{}", i), fmt::format("http://example.org/m{}|1", i),
                     "in-progress");
        put_response(fmt::format("n{}", i), fmt::format("http://example.org/n{}", i),
                     "in-progress");
    }
    put_all();
    expect_followed();
}

TEST_F(CanonicalSearch, GoesOnFromWhatWasIncluded) {
    put_all();
    put("PlanDefinition", "p",
        R"("url":"http://example.org/p","version":"7","status":"active","action":[{"definitionCanonical":"http://example.org/q|1"}])");
    put("CarePlan", "c",
        R"("status":"active","intent":"plan","subject":{"reference":"Patient/a"},"instantiatesCanonical":["http://example.org/p|7"])");
    put("CarePlan", "before",
        R"("status":"active","intent":"plan","subject":{"reference":"Patient/a"},"instantiatesCanonical":["http://example.org/p|6"])");
    EXPECT_EQ(get("/Questionnaire?_id=q1&_revinclude=PlanDefinition:definition&"
                  "_revinclude:iterate=CarePlan:instantiates-canonical")
                  .included,
              (Names{"PlanDefinition/p", "CarePlan/c"}));
    EXPECT_EQ(
        get("/CarePlan?instantiates-canonical:PlanDefinition.definition:Questionnaire.title=quest")
            .matches,
        Names{"CarePlan/c"});
}

TEST_F(Search, IncludesWhatACanonicalNamesByItsId) {
    put("Questionnaire", "q", R"("status":"active")");
    put("QuestionnaireResponse", "r", R"("status":"completed","questionnaire":"Questionnaire/q")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q"});
}

TEST_F(Search, SaysWhenThereIsTooMuchToInclude) {
    put("Patient", "a", "");
    for (int i = 0; i < 1005; ++i) {
        put("Observation", fmt::format("o{}", i),
            R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    }
    const Searchset page = get("/Patient?_revinclude=Observation:subject");
    EXPECT_EQ(page.included.size(), 1000U);
    ASSERT_EQ(page.warnings.size(), 1U);
    EXPECT_NE(page.warnings[0].find("1000"), std::string::npos);
}

TEST_F(Search, SearchesByFormsAndSystemWide) {
    put_named("a", "Chalmers");
    put("Practitioner", "b", R"("name":[{"family":"Chalmers"}])");
    const Headers form{{"Content-Type", "application/x-www-form-urlencoded"}};
    Searchset page =
        read(send("POST", "/Patient/_search?_count=5", "family=chalmers&_sort=_id", form));
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    EXPECT_EQ(page.links.at("self"), "/Patient?_count=5&family=chalmers&_sort=_id");
    EXPECT_EQ(
        send("POST", "/Patient/_search", "{}", {{"Content-Type", "application/fhir+json"}}).status,
        415);
    EXPECT_EQ(read(send("POST", "/Patient/_search")).matches, Names{"Patient/a"});
    EXPECT_EQ(send("POST", "/Patient/_search", R"({"family":"nobody"})").status, 415);
    EXPECT_EQ(send("POST", "/Patient/_search", "<Parameters/>").status, 415);
    page = read(send("POST", "/Patient/_search", "family=nobody"));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.matches, Names{});
    page = get("/?_type=Patient,Practitioner&_lastUpdated=gt2000");
    EXPECT_EQ(page.matches, (Names{"Practitioner/b", "Patient/a"}));
    page = get("/?_count=1");
    EXPECT_EQ(page.matches, Names{"Practitioner/b"});
    EXPECT_EQ(page.total, 2U);
    page = get(page.links.at("next"));
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    EXPECT_EQ(get(page.links.at("previous")).matches, Names{"Practitioner/b"});
    EXPECT_EQ(read(send("POST", "/_search", "_type=Patient", form)).matches, Names{"Patient/a"});
    EXPECT_TRUE(send("POST", "/Patient/_search", "_format=xml", form).body.starts_with("<"));
}

TEST_F(Search, SearchesCompartments) {
    put("Patient", "a", "");
    put("Patient", "b", "");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/b"})");
    put("Observation", "z",
        R"("status":"amended","code":{"text":"x"},"performer":[{"reference":"Patient/a"}])");
    EXPECT_EQ(get("/Patient/a/Observation").matches, (Names{"Observation/z", "Observation/x"}));
    EXPECT_EQ(get("/Patient/a/Observation?status=final").matches, Names{"Observation/x"});
    EXPECT_EQ(get("/Patient/a/*").matches, (Names{"Observation/z", "Observation/x", "Patient/a"}));
    EXPECT_EQ(get("/Patient/a/*?_type=Patient").matches, Names{"Patient/a"});
    EXPECT_EQ(get("/Patient/a/Observation?_count=1").links.at("self"),
              "/Patient/a/Observation?_count=1");
    EXPECT_EQ(get("/Observation/x/Patient").status, 404);
    EXPECT_EQ(get("/Patient/a/Organization").status, 404);
}

TEST_F(Search, TakesConditionsForPartOfCompartments) {
    put("Condition", "c",
        R"("subject":{"reference":"Patient/a"},"encounter":{"reference":"Encounter/e"},"asserter":{"reference":"Practitioner/p"})");
    EXPECT_EQ(get("/Patient/a/Condition").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Patient/a/*").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Encounter/e/Condition").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Practitioner/p/Condition").matches, Names{"Condition/c"});
}

TEST_F(Search, FindsContainedResources) {
    put("MedicationRequest", "r",
        R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"#m"},"contained":[{"resourceType":"Medication","id":"m","code":{"coding":[{"code":"aspirin"}]}}])");
    put("Medication", "s", R"("code":{"coding":[{"code":"aspirin"}]})");
    EXPECT_EQ(get("/Medication?code=aspirin").matches, Names{"Medication/s"});
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=true").matches,
              Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=both").matches,
              (Names{"Medication/s", "MedicationRequest/r"}));
    const Searchset page = get("/Medication?code=aspirin&_contained=true&_containedType=contained");
    EXPECT_EQ(page.matches, Names{"Medication/m"});
    EXPECT_NE(page.text.find("MedicationRequest/r#m"), std::string::npos);
    EXPECT_TRUE(get("/Medication?code=other&_contained=true").matches.empty());
    EXPECT_EQ(get("/Medication?_id=m&_contained=true").matches, Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/Medication?_id=m,s&_contained=both").matches,
              (Names{"Medication/s", "MedicationRequest/r"}));
    EXPECT_EQ(get("/Medication?_id=m,s&_contained=both&_containedType=contained").matches,
              (Names{"Medication/s", "Medication/m"}));
    EXPECT_TRUE(get("/Medication?_id=r&_contained=true").matches.empty());
}

TEST_F(Search, CountsContainedResourcesWhereTheyAreAnswered) {
    for (int i = 0; i < 5; ++i) {
        put("MedicationRequest", fmt::format("r{}", i),
            R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"#m"},"contained":[{"resourceType":"Medication","id":"m","code":{"coding":[{"code":"aspirin"}]}},{"resourceType":"Medication","id":"n","code":{"coding":[{"code":"aspirin"}]}},{"resourceType":"Medication","id":"o"}])");
    }
    put("Medication", "s", R"("code":{"coding":[{"code":"aspirin"}]})");
    const std::string url = "/Medication?code=aspirin&_containedType=contained&_contained=";
    EXPECT_EQ(get(url + "true").total, 10U);
    EXPECT_EQ(get(url + "true").matches.size(), 10U);
    EXPECT_EQ(get(url + "both").total, 11U);
    EXPECT_EQ(get(url + "true&_summary=count").total, 10U);
    EXPECT_EQ(get(url + "both&_count=0").total, 11U);
    EXPECT_FALSE(get(url + "true&_count=2").total.has_value());
    EXPECT_FALSE(get(url + "true&_total=none").total.has_value());
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=true").total, 5U) << "what contains them";

    Searchset page = get(url + "true&_count=2&_total=accurate&_sort=_lastUpdated");
    EXPECT_EQ(page.total, 10U);
    std::size_t shown = page.matches.size();
    while (page.links.contains("next")) {
        page = get(page.links.at("next"));
        EXPECT_EQ(page.total, 10U);
        shown += page.matches.size();
    }
    EXPECT_EQ(shown, 10U);
}

TEST_F(Search, ChainsIntoAndOutOfContainedResources) {
    put("Organization", "maker", R"("name":"Bayer")");
    const auto order = [&](std::string_view id, std::string_view code, std::string_view maker) {
        put("MedicationRequest", id,
            fmt::format(
                R"("status":"active","intent":"order","subject":{{"reference":"Patient/a"}},"medicationReference":{{"reference":"#m"}},"contained":[{{"resourceType":"Medication","id":"m","code":{{"coding":[{{"code":"{}"}}]}},"manufacturer":{{"reference":"{}"}}}},{{"resourceType":"Organization","id":"o","name":"Roche"}}])",
                code, maker));
    };
    order("r", "aspirin", "Organization/maker");
    order("s", "aspirin", "#o");
    order("t", "other", "Organization/maker");
    EXPECT_EQ(get("/MedicationRequest?medication.code=aspirin").matches,
              (Names{"MedicationRequest/s", "MedicationRequest/r"}));
    EXPECT_EQ(get("/MedicationRequest?medication.code=aspirin").total, 2U);
    EXPECT_EQ(get("/MedicationRequest?medication.manufacturer.name=bayer&medication.code=aspirin")
                  .matches,
              Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/MedicationRequest?medication.manufacturer.name=roche&_sort=authoredon").matches,
              Names{"MedicationRequest/s"});
    EXPECT_EQ(get("/Patient/a/MedicationRequest?medication.code=other").status, 200);
    EXPECT_EQ(get("/Medication?manufacturer.name=bayer&_contained=true").matches,
              (Names{"MedicationRequest/t", "MedicationRequest/r"}));
    EXPECT_EQ(
        get("/Medication?manufacturer.name=roche&_contained=true&_containedType=contained").matches,
        Names{"Medication/m"});
    // A condition of a write is decided by the same.
    const Answer again = send(
        "POST", "/MedicationRequest",
        R"({"resourceType":"MedicationRequest","status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationCodeableConcept":{"text":"x"}})",
        {{"If-None-Exist", "medication.code=other"}});
    EXPECT_EQ(again.status, 200);
    EXPECT_TRUE(again.says(R"("id":"t")"));
}

TEST_F(Search, WarnsOfWhatItPassesOver) {
    put_named("a", "Chalmers");
    const Searchset page = get("/Patient?family=chalmers&nonsense=1");
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    ASSERT_EQ(page.warnings.size(), 1U);
    EXPECT_NE(page.warnings[0].find("nonsense"), std::string::npos);
    EXPECT_EQ(page.links.at("self"), "/Patient?family=chalmers");
    EXPECT_EQ(get("/Patient?nonsense=1", {{"Prefer", "handling=strict"}}).status, 400);
}

TEST_F(Search, ChainsAndReverseChains) {
    put_named("a", "Chalmers");
    put_named("b", "Windsor");
    put("Observation", "x",
        R"("status":"final","code":{"coding":[{"code":"c1"}]},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"coding":[{"code":"c2"}]},"subject":{"reference":"Patient/b"})");
    EXPECT_EQ(get("/Observation?subject:Patient.family=chalmers").matches, Names{"Observation/x"});
    EXPECT_EQ(get("/Patient?_has:Observation:patient:code=c2").matches, Names{"Patient/b"});
    put("Observation", "x",
        R"("status":"final","code":{"coding":[{"code":"c1"}]},"subject":{"reference":"Patient/b"})");
    EXPECT_TRUE(get("/Observation?subject:Patient.family=chalmers").matches.empty());
}

TEST_F(Search, FindsAbsoluteReferencesBelowTheRequestsBase) {
    put("Patient", "1", "");
    const auto observe = [&](std::string_view id, std::string_view subject) {
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"{}"}})",
                        subject));
    };
    observe("relative", "Patient/1");
    observe("absolute", fmt::format("{}/Patient/1", kBaseUrl));
    observe("elsewhere", "http://elsewhere/fhir/Patient/1");
    const std::vector<std::string> both = {"Observation/absolute", "Observation/relative"};
    for (const std::string_view asked :
         {"subject=Patient/1", "subject=1", "subject:Patient=1", "subject={}/Patient/1"}) {
        EXPECT_EQ(get("/Observation?" + fmt::format(fmt::runtime(asked), kBaseUrl)).matches, both)
            << asked;
    }
    EXPECT_EQ(get("/Observation?_id=absolute&_include=Observation:subject").included,
              std::vector<std::string>{"Patient/1"});
}

TEST_F(Search, EndsWhatTakesTooLong) {
    std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    for (int i = 0; i < 3000; ++i) {
        batch += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","language":"{}"}},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
            i == 0 ? "" : ",", i, std::string(5000, 'x'), i);
    }
    ASSERT_EQ(send("POST", "/", batch + "]}").status, 200);
    core::Config config;
    config.limits.request_timeout = std::chrono::milliseconds(1);
    restart(config);
    // Every body is read for this.
    const Answer answer = send("GET", "/Medication?code=x&_contained=true");
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.says(R"("code":"timeout")"));
    EXPECT_EQ(send("GET", "/Patient?_id=p7").status, 200);
}

TEST_F(Search, MayEndItsTurnAfterEachBody) {
    for (int i = 0; i < 20; ++i) {
        put("Patient", std::to_string(i), "");
    }
    std::size_t looked = 0;
    const core::search::Plan plan =
        core::search::verified(core::search::everything(), [&looked](json::Value) {
            ++looked;
            return true;
        });
    core::search::Snapshot snapshot(store());
    core::search::Execution execution(snapshot, type_of("Patient"), plan);
    execution.want({});
    // Every turn is over before it begins.
    const core::search::Pace pace{std::chrono::microseconds(1)};
    for (bool done = false; !done;) {
        const std::size_t before = looked;
        const Result<bool> advanced = execution.advance(pace);
        ASSERT_TRUE(advanced);
        done = *advanced;
        EXPECT_LE(looked - before, 1U);
    }
    EXPECT_EQ(looked, 20U);
}

TEST_F(Search, AnswersInsideOfABatch) {
    put_named("a", "Chalmers");
    const Answer answer = send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"Patient?family=chalmers"}}]})");
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    ASSERT_TRUE(document.has_value());
    const json::Value result = (*document->root()["entry"].elements().begin())["resource"];
    EXPECT_TRUE(result["type"].equals("searchset"));
    EXPECT_EQ(result["total"].raw(), "1");
}

TEST_F(Search, LooksAsAsked) {
    put_named("a", "Chalmers", "1990-01-01");
    const std::string text = get("/Patient?_elements=birthDate").text;
    EXPECT_EQ(text.find("Chalmers"), std::string::npos);
    EXPECT_NE(text.find("SUBSETTED"), std::string::npos);
    EXPECT_TRUE(send("GET", "/Patient?_format=xml").body.starts_with("<"));
    EXPECT_EQ(send("HEAD", "/Patient").status, 200);
}

TEST_F(Search, FindsByNamesThatWereSentWithEscapes) {
    EXPECT_EQ(
        send("PUT", "/Patient/1",
             R"({"resourceType":"Patient","id":"1","n\u0061me":[{"f\u0061mily":"Okafor"}],)"
             R"("identifi\u0065r":[{"v\u0061lue":"x"}],"m\u0065ta":{"t\u0061g":[{"code":"t"}]}})")
            .status,
        201);
    for (const std::string criteria : {"family=okafor", "identifier=x", "_tag=t"}) {
        EXPECT_EQ(get("/Patient?" + criteria).matches, std::vector<std::string>{"Patient/1"});
    }
    EXPECT_TRUE(send("GET", "/Patient/1?_elements=name").says("Okafor"));
}

}  // namespace
}  // namespace annals::test
