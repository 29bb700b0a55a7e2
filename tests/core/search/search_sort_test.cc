// The order of a search's matches: by dates, texts, ids, and by values read from bodies.

#include "core/search/execute.h"
#include "core/search/plan.h"
#include "core/search/snapshot.h"
#include "core/search/sort.h"
#include "tests/core/search/search_fixture.h"
#include "tests/support/commits.h"

#include <asio/post.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

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
    EXPECT_EQ(order("family&_sort=birthdate"), "bedca");
    EXPECT_EQ(order("_id"), "abcde");
    EXPECT_EQ(order("-_id"), "edcba");
    EXPECT_EQ(order("_lastUpdated"), "abcde");
    EXPECT_EQ(order("-_lastUpdated"), "edcba");

    std::string ids;
    Searchset page = get("/Patient?_sort=-birthdate&_count=2");
    put_named("f", "Zulu", "1995");
    for (const std::string& name : follow("next", page)) {
        ids += name.substr(8);
    }
    EXPECT_EQ(ids, "ceabd");
    page = get(page.links.at("previous"));
    EXPECT_EQ(page.matches, (Names{"Patient/a", "Patient/b"}));
}

TEST_F(Search, SortsManyByADatePageByPage) {
    std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    std::vector<std::pair<std::string, std::string>> born;
    for (int i = 0; i < 600; ++i) {
        // Twelve share a date, more than a page has.
        const std::string date = fmt::format("{}-{:02}-01", 1950 + i * 7 % 50, 1 + i % 2);
        // The last one has no date and comes last.
        const std::string id = fmt::format("p{:03}", i);
        batch += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","id":"{}"{}}},"request":{{"method":"PUT","url":"Patient/{}"}}}})",
            i == 0 ? "" : ",", id, i == 599 ? "" : fmt::format(R"(,"birthDate":"{}")", date), id);
        born.emplace_back(i == 599 ? "0" : date, fmt::format("Patient/{}", id));
    }
    ASSERT_EQ(send("POST", "/", batch + "]}").status, 200);
    // Of those with the same date, the newest version comes first, which is the one with the highest id.
    std::sort(born.begin(), born.end(), std::greater<>());
    Searchset page = get("/Patient?_sort=-birthdate&_count=7");
    const Names found = follow("next", page);
    ASSERT_EQ(found.size(), born.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], born[i].second) << i;
    }

    std::ranges::sort(born, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    page = get("/Patient?_sort=-birthdate,_id&_count=7");
    const Names by_id = follow("next", page);
    ASSERT_EQ(by_id.size(), born.size());
    for (std::size_t i = 0; i < by_id.size(); ++i) {
        EXPECT_EQ(by_id[i], born[i].second) << i;
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

TEST_F(Search, SortsSeveralTypesByOneDateWhetherTheyAreFewOrMany) {
    Names written;
    std::map<std::string, std::string> by_date;
    Names undated;
    for (int i = 0; i < 120; ++i) {
        const std::string id = fmt::format("a{}", i);
        const int day = i * 7 % 120;  // not in the order of writing
        const std::string date = fmt::format("2020-{:02}-{:02}", 1 + day / 20, 1 + day % 20);
        if (i % 40 == 39) {
            put("DiagnosticReport", id, R"("status":"final","code":{"text":"c"})");
            undated.push_back("DiagnosticReport/" + id);
        } else if (i % 2 == 0) {
            put("Observation", id,
                R"("status":"final","code":{"text":"c"},"effectiveDateTime":")" + date + '"');
            by_date[date] = "Observation/" + id;
        } else {
            put("Procedure", id,
                R"("status":"completed","subject":{"reference":"Patient/1"},"performedDateTime":")" +
                    date + '"');
            by_date[date] = "Procedure/" + id;
        }
        written.push_back(i % 40 == 39 ? undated.back() : by_date[date]);
    }
    Names dated;
    for (const auto& [date, name] : by_date) {
        dated.push_back(name);
    }
    const auto pages = [&](const std::string& sort) {
        Searchset page = get("/?_type=Observation,Procedure,DiagnosticReport&_count=3" + sort);
        EXPECT_EQ(page.matches.size(), 3U);
        const Names found = follow("next", page);
        EXPECT_EQ(follow("previous", page), found) << sort;
        return found;
    };
    EXPECT_EQ(pages(""), Names(written.rbegin(), written.rend()));
    EXPECT_EQ(pages("&_sort=_lastUpdated"), written);
    EXPECT_EQ(pages("&_sort=-_lastUpdated"), Names(written.rbegin(), written.rend()));
    Names upwards = dated;
    Names downwards(dated.rbegin(), dated.rend());
    for (Names* const order : {&upwards, &downwards}) {
        order->insert(order->end(), undated.rbegin(), undated.rend());  // they have no date
    }
    EXPECT_EQ(pages("&_sort=date"), upwards);
    EXPECT_EQ(pages("&_sort=-date"), downwards);
}

TEST_F(Search, FindsLaterPagesOfSeveralTypesByOneDateWithoutAllMatches) {
    constexpr int kEach = 11'000;  // fewer are counted for the first page unasked
    std::string entries;
    for (int i = 0; i < kEach; ++i) {
        const std::string date =
            fmt::format("{}-{:02}-{:02}", 2000 + i % 20, 1 + i % 12, 1 + i % 28);
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"Observation","status":"final","code":{{"text":"c"}},"effectiveDateTime":"{}"}},"request":{{"method":"POST","url":"Observation"}}}})",
            i == 0 ? "" : ",", date);
        entries += fmt::format(
            R"(,{{"resource":{{"resourceType":"Procedure","status":"completed","subject":{{"reference":"Patient/1"}},"performedDateTime":"{}"}},"request":{{"method":"POST","url":"Procedure"}}}})",
            date);
    }
    ASSERT_EQ(
        send("POST", "", R"({"resourceType":"Bundle","type":"batch","entry":[)" + entries + "]}",
             {{"Prefer", "return=minimal"}})
            .status,
        200);
    const std::string asked = "/?_type=Observation,Procedure&_lastUpdated=ge2000&_count=50&_sort=";
    for (const std::string sort : {"date", "-date", "_lastUpdated"}) {
        Searchset page = get(asked + sort);
        Names found = page.matches;
        for (int i = 0; i < 3; ++i) {
            // A search that found all matches would state the total.
            EXPECT_EQ(page.total, std::nullopt) << sort << i;
            page = get(page.links.at("next"));
            found.insert(found.end(), page.matches.begin(), page.matches.end());
        }
        const Names at_once =
            get("/?_type=Observation,Procedure&_lastUpdated=ge2000&_count=200&_sort=" + sort)
                .matches;
        EXPECT_EQ(found, at_once) << sort;
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

/// What a search for every patient has found.
struct AllPatients {
    explicit AllPatients(const storage::Store& store)
        : snapshot(store), execution(snapshot, type, plan) {
        execution.want({});
        EXPECT_TRUE(execution.advance(core::search::Pace()));
    }

    const TypeId type = type_of("Patient");
    const core::search::Plan plan = core::search::everything();
    core::search::Snapshot snapshot;
    core::search::Execution execution;
};

// How many turns it takes if each is over before it begins.
int turns_of(core::search::Sorter& sorter) {
    const core::search::Pace pace{std::chrono::microseconds(1)};
    int turns = 0;
    for (bool done = false; !done; ++turns) {
        const Result<bool> advanced = sorter.advance(pace);
        EXPECT_TRUE(advanced);
        done = !advanced || *advanced;
    }
    return turns;
}

TEST_F(Search, EndsItsTurnAfterAnyBodyThatItSortsBy) {
    for (const std::string_view id : {"a", "b", "c"}) {
        put_named(id, "Chalmers");
    }
    AllPatients patients(store());
    const auto parameters = service().indexing().parameters();
    const std::vector<core::search::SortKey> keys{
        {parameters->find(patients.type, "gender"), "gender", false}};
    core::search::Sorter sorter(patients.snapshot, keys, patients.execution.matches());
    EXPECT_EQ(turns_of(sorter), 3);
}

TEST_F(Search, ReadsOnlyBodiesThatMayDecideWhatIsOnThePage) {
    constexpr int kPatients = 60;
    for (int i = 0; i < kPatients; ++i) {
        const int number = i * 37 % kPatients;
        // Groups of three share a date; six have none.
        put("Patient", fmt::format("p{:02}", number),
            number >= 54 ? R"("active":true)"
                         : fmt::format(R"("birthDate":"2000-01-{:02}")", number / 3 + 1));
    }
    for (const std::string sort : {"birthdate,_id", "-birthdate,_id", "birthdate,-_id"}) {
        const Names all = get("/Patient?_count=100&_sort=" + sort).matches;
        ASSERT_EQ(all.size(), static_cast<std::size_t>(kPatients));
        Searchset page = get("/Patient?_count=7&_sort=" + sort);
        EXPECT_EQ(follow("next", page), all) << sort;
        EXPECT_EQ(follow("previous", page), all) << sort;
    }

    AllPatients patients(store());
    const auto parameters = service().indexing().parameters();
    const std::vector<core::search::SortKey> keys{
        {parameters->find(patients.type, "birthdate"), "birthdate", false},
        {nullptr, "_id", false}};
    core::search::Sorter sorter(patients.snapshot, keys, patients.execution.matches());
    sorter.want({}, false, 7);
    // A turn ends after each body that is read: those of the first three groups.
    EXPECT_EQ(turns_of(sorter), 9);
    EXPECT_EQ(sorter.page().size(), 7U);
}

TEST_F(Search, SortsVeryManyOfWhichFewBodiesAreRead) {
    for (int i = 0; i < 60; ++i) {
        put_named(fmt::format("p{:02}", i), fmt::format("Family{:02}", i));
    }
    AllPatients patients(store());
    // As if a thousand patients had each name.
    std::vector<core::search::Match> many;
    for (int i = 0; i < 1000; ++i) {
        many.insert(many.end(), patients.execution.matches().begin(),
                    patients.execution.matches().end());
    }
    const core::search::SortKey family{
        service().indexing().parameters()->find(patients.type, "family"), "family", false};
    const core::search::SortKey id{nullptr, "_id", false};
    const std::vector<core::search::SortKey> by_family{family, id};
    const Position first = store().current(patients.type, "p00")->position;
    const Position second = store().current(patients.type, "p01")->position;
    for (const auto& [edge, expected] : {std::pair(Position{}, first), std::pair(first, second)}) {
        core::search::Sorter sorter(patients.snapshot, by_family, many);
        sorter.want(edge, false, 7);
        // Besides those for bodies, there are turns while matches are compared, twice.
        EXPECT_GT(turns_of(sorter), 1000 + 2 * 50);
        ASSERT_EQ(sorter.page().size(), 7U);
        for (const std::uint32_t match : sorter.page()) {
            EXPECT_EQ(many[match].position(), expected);
        }
    }
    const std::vector<core::search::SortKey> by_id{id};
    core::search::Sorter sorter(patients.snapshot, by_id, many);
    sorter.want({}, false, 7);
    const Result<bool> advanced = sorter.advance(core::search::Pace());
    ASSERT_FALSE(advanced);
    EXPECT_EQ(advanced.error().code, Errc::too_costly);
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
        // Between two of its turns.
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

}  // namespace
}  // namespace annals::test
