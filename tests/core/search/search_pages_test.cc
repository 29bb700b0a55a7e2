// Pages of searches: what is on each while writes go on, and which cursors are accepted.

#include "core/search/cursor.h"
#include "tests/core/search/search_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {
namespace {

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
        // Each of these writes would shift the following pages.
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

TEST_F(Search, RepeatsTheTotalOfTheFirstPageWhateverIsErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    for (const std::string_view id : {"a", "b", "c", "d"}) {
        put_named(id, "Chalmers", "1990");
    }
    std::vector<std::string> second;
    for (const std::string_view sort : {"", "&_sort=birthdate", "&_sort=_id", "&_sort=gender"}) {
        second.push_back(get(fmt::format("/Patient?_count=1{}", sort)).links.at("next"));
    }
    ASSERT_EQ(send("DELETE", "/Patient/b").status, 204);
    for (const std::string& url : second) {
        EXPECT_EQ(get(url).total, 4U) << url;
    }
}

TEST_F(Search, LeadsOnFromAPageBeforeWhichAllWasErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    for (const std::string_view id : {"a", "b", "c"}) {
        put_named(id, "Chalmers");
    }
    const Searchset first = get("/Patient?_count=1");
    const Searchset second = get(first.links.at("next"));
    put_named("later", "Chalmers");
    ASSERT_EQ(send("DELETE", "/Patient/c").status, 204);
    const Searchset before = get(second.links.at("previous"));
    EXPECT_EQ(before.matches, Names{});
    EXPECT_EQ(before.links.at("first"), "/Patient?_count=1");
    EXPECT_EQ(get(before.links.at("next")).matches, Names{"Patient/b"});
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
    // A cursor of another search.
    const std::string cursor = next.substr(next.find("_cursor"));
    EXPECT_EQ(get("/Patient?family=windsor&_count=2&" + cursor).status, 400);
    EXPECT_EQ(get("/Practitioner?family=chalmers&_count=2&" + cursor).status, 400);
    EXPECT_EQ(get(next + "&" + cursor).status, 400);
    // A cursor of a store that has been restored to an earlier point since.
    Result<core::search::Cursor> later =
        core::search::read_cursor(cursor.substr(std::string_view("_cursor=").size()));
    ASSERT_TRUE(later);
    later->snapshot.value += 1000;
    EXPECT_EQ(get("/Patient?family=chalmers&_count=2&_cursor=" + core::search::write_cursor(*later))
                  .status,
              400);
    // The page size may change.
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
        get("/Patient?_count=0");  // notices the change
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
    // Links longer than a URL begin with what makes the server accept them (net/request_reader.cc).
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

    // If they are too long even for that, pages are requested with the original form, as a warning says.
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

}  // namespace
}  // namespace annals::test
