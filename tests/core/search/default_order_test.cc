// The order of searches without `_sort`: by `_lastUpdated`, also where versions were not committed in the order of their instants.

#include "codec/json/document.h"
#include "core/search/cursor.h"
#include "core/search/ordered_walk.h"
#include "core/search/sort.h"
#include "tests/core/search/execute_fixture.h"
#include "tests/core/search/search_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

class DefaultOrder : public Search {
  protected:
    struct Version {
        std::string name;  // "Patient/1"
        int second = 0;    // of its instant
        std::string members;
    };

    /// Has a history bundle bring them, in this order.
    void bring(const std::vector<Version>& versions) {
        std::string entries;
        for (const Version& version : versions) {
            const std::size_t slash = version.name.find('/');
            entries += fmt::format(
                R"({}{{"fullUrl":"http://a/{}","resource":{{"resourceType":"{}","id":"{}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:{:02}:{:02}Z"}}{}{}}},)"
                R"("request":{{"method":"PUT","url":"{}"}},"response":{{"status":"201"}}}})",
                entries.empty() ? "" : ",", version.name, version.name.substr(0, slash),
                version.name.substr(slash + 1), version.second / 60, version.second % 60,
                version.members.empty() ? "" : ",", version.members, version.name);
            brought_.push_back(version);
        }
        const Answer answer = send(
            "POST", "/",
            fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{}]}})", entries));
        ASSERT_EQ(answer.status, 200) << answer.body;
    }

    /// 300 Patients and 300 Observations of the first of these, with 40 instants in no order.
    void bring_many() {
        std::vector<Version> versions;
        for (int i = 0; i < 600; ++i) {
            const int number = i / 2;
            const int second = i * 7 % 40 * 3;
            if (i % 2 == 0) {
                versions.push_back(
                    {fmt::format("Patient/p{}", number), second,
                     fmt::format(
                         R"("gender":"{}","contained":[{{"resourceType":"Organization","id":"o"}}],"managingOrganization":{{"reference":"#o"}})",
                         number % 3 == 0 ? "male" : "female")});
            } else {
                versions.push_back(
                    {fmt::format("Observation/o{}", number), second,
                     R"("status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p0"})"});
            }
        }
        bring(versions);
    }

    /// The names of what was brought and passes, in the order in which a search must find it.
    Names in_order(const std::function<bool(const Version& version)>& passes) const {
        std::vector<std::pair<int, std::size_t>> found;
        for (std::size_t i = 0; i < brought_.size(); ++i) {
            if (passes(brought_[i])) {
                found.emplace_back(brought_[i].second, i);
            }
        }
        std::ranges::sort(found, std::greater());
        Names names;
        for (const auto& one : found) {
            names.push_back(brought_[one.second].name);
        }
        return names;
    }

    std::function<bool(const Version&)> of_type(std::string_view type) const {
        return [type](const Version& version) { return version.name.starts_with(type); };
    }

    std::vector<Version> brought_;
};

TEST_F(DefaultOrder, IsThatOfInstantsOnAllPagesInBothDirectionsWhateverIsWrittenMeanwhile) {
    bring_many();
    const std::uint64_t position = store().last_position().value;
    const auto all = [](const Version&) { return true; };
    const auto male = [](const Version& version) {
        return version.members.find(R"("male")") != std::string::npos;
    };
    const std::vector<std::pair<std::string, Names>> searches = {
        {"/Patient?_count=7", in_order(of_type("Patient"))},
        {"/Patient?_count=100", in_order(of_type("Patient"))},
        {"/Patient?gender=male&_count=3", in_order(male)},
        {"/Patient?gender=male&_count=40", in_order(male)},
        {"/Observation?patient.gender=male&_count=50", in_order(of_type("Observation"))},
        {"/?_type=Patient,Observation&_count=7", in_order(all)},
        {"/?_count=90", in_order(all)},
        {"/Patient/p0/Observation?_count=40", in_order(of_type("Observation"))},
        {"/Organization?_contained=both&_count=45", in_order(of_type("Patient"))},
    };
    std::vector<std::pair<std::string, Names>> targets = searches;
    for (const auto& [target, expected] : searches) {
        targets.emplace_back(fmt::format("{}&_asOf={}", target, position), expected);
        targets.emplace_back(target + "&_total=none", expected);
    }
    int round = 0;
    for (const auto& [target, expected] : targets) {
        SCOPED_TRACE(target);
        Searchset page = get(target);
        const Searchset first = page;
        // They would be among those of the following pages.
        bring({{fmt::format("Patient/later{}", round), 30, R"("gender":"male")"},
               {fmt::format("Observation/later{}", round), 0,
                R"("status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p0"})"}});
        ++round;
        Names forth = page.matches;
        std::vector<Names> pages{page.matches};
        while (page.links.contains("next")) {
            page = get(page.links.at("next"));
            ASSERT_EQ(page.status, 200) << page.text;
            forth.insert(forth.end(), page.matches.begin(), page.matches.end());
            pages.push_back(page.matches);
        }
        Names before = forth;
        std::erase_if(before, [](const std::string& name) {
            return name.find("later") != std::string::npos;  // of earlier rounds
        });
        EXPECT_EQ(before, expected);
        EXPECT_GT(pages.size(), 1U);
        for (std::size_t i = pages.size() - 1; i-- > 0;) {
            page = get(page.links.at("previous"));
            ASSERT_EQ(page.matches, pages[i]) << "page " << i;
        }
        EXPECT_FALSE(page.links.contains("previous"));
        if (first.links.contains("last")) {
            Searchset last = get(first.links.at("last"));
            EXPECT_FALSE(last.links.contains("next"));
            EXPECT_EQ(follow("previous", last), forth);
        }
        EXPECT_EQ(first.links.contains("last"), first.total.has_value());
        EXPECT_EQ(first.total.value_or(forth.size()), forth.size());
    }
}

TEST_F(DefaultOrder, GoesOnAfterARestartAndWhenInstantsNoLongerAscend) {
    std::vector<Version> versions;
    for (int i = 0; i < 200; ++i) {
        versions.push_back(i % 10 == 0 ? Version{fmt::format("Observation/o{}", i), i / 2,
                                                 R"("status":"final","code":{"text":"c"})"}
                                       : Version{fmt::format("Patient/p{}", i), i / 2, {}});
    }
    bring(versions);
    ASSERT_TRUE(store().instants_ascend());

    struct Begun {
        Searchset first;
        Searchset second;
        Names expected;
    };

    std::vector<Begun> begun;
    begun.push_back({get("/Patient?_count=9"), {}, in_order(of_type("Patient"))});
    begun.push_back({get("/?_type=Patient,Observation&_count=9"), {}, in_order(of_type(""))});
    for (Begun& one : begun) {
        one.second = get(one.first.links.at("next"));
    }
    // From here on, pages are found in another way.
    bring({{"Patient/earlier", 20, {}}});
    ASSERT_FALSE(store().instants_ascend());
    ASSERT_FALSE(store().instants_ascend(find_resource_type("Patient")));
    EXPECT_TRUE(store().instants_ascend(find_resource_type("Observation")));
    restart(core::Config());
    ASSERT_FALSE(store().instants_ascend());
    for (Begun& one : begun) {
        Searchset page = one.second;
        Names all = follow("next", page);
        all.insert(all.begin(), one.first.matches.begin(), one.first.matches.end());
        EXPECT_EQ(all, one.expected);
        EXPECT_EQ(follow("previous", page), one.expected);
        EXPECT_EQ(get(one.second.links.at("previous")).matches, one.first.matches);
    }
    EXPECT_EQ(get("/Patient?_count=300").matches, in_order(of_type("Patient")));
}

// Those that an earlier version of the server wrote.
TEST_F(DefaultOrder, IsThatOfCommitsForCursorsThatKnowNoOther) {
    bring_many();
    Names by_commit;
    for (const Version& version : brought_) {
        if (version.name.starts_with("Patient/")) {
            by_commit.insert(by_commit.begin(), version.name);
        }
    }
    Searchset page = get("/Patient?_count=11");
    const std::string next = page.links.at("next");
    const std::size_t at = next.find("_cursor=") + 8;
    Result<core::search::Cursor> cursor = core::search::read_cursor(next.substr(at));
    ASSERT_TRUE(cursor);
    EXPECT_TRUE(cursor->by_instant);
    cursor->by_instant = false;
    cursor->edge = store().current(*find_resource_type("Patient"), "p280")->position;
    page = get(next.substr(0, at) + core::search::write_cursor(*cursor));
    EXPECT_EQ(follow("next", page), Names(by_commit.begin() + 20, by_commit.end()));
    Names back = follow("previous", page);
    EXPECT_EQ(back, by_commit);
}

TEST_F(DefaultOrder, IsThatOfASortByTheInstant) {
    bring_many();
    Searchset sorted = get("/Patient?_count=8&_sort=-_lastUpdated");
    Searchset unsorted = get("/Patient?_count=8");
    EXPECT_EQ(follow("next", sorted), follow("next", unsorted));
    EXPECT_EQ(follow("previous", sorted), in_order(of_type("Patient")));
    Searchset upwards = get("/Patient?_count=8&_sort=_lastUpdated");
    Names expected = in_order(of_type("Patient"));
    std::ranges::reverse(expected);
    EXPECT_EQ(follow("next", upwards), expected);
    EXPECT_EQ(follow("previous", upwards), expected);
}

TEST_F(DefaultOrder, HasItsTotalIfTheWalkEndsAmongThoseOfOneInstant) {
    std::string entries;
    for (int i = 0; i < 5; ++i) {
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","active":NOW}},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
            i == 0 ? "" : ",", i, i);
    }
    // So many are dead that a walk seems worthwhile; the living share an instant.
    for (int i = 0; i < 30; ++i) {
        std::string all = entries;
        for (std::size_t at; (at = all.find("NOW")) != std::string::npos;) {
            all.replace(at, 3, i % 2 == 0 ? "true" : "false");
        }
        ASSERT_EQ(send("POST", "/",
                       fmt::format(
                           R"({{"resourceType":"Bundle","type":"transaction","entry":[{}]}})", all))
                      .status,
                  200);
    }
    for (const std::string_view sort : {"_lastUpdated", "-_lastUpdated"}) {
        Searchset page = get(fmt::format("/Patient?_count=3&_sort={}", sort));
        EXPECT_EQ(page.total, 5U);
        EXPECT_EQ(follow("next", page).size(), 5U);
    }
}

TEST_F(DefaultOrder, CountsEveryContainedResourceOnce) {
    std::vector<Version> versions;
    for (int i = 0; i < 1'100; ++i) {
        versions.push_back(
            {fmt::format("Basic/b{}", i), i * 7 % 100,
             R"("code":{"text":"c"},"author":{"reference":"#o"},"contained":[{"resourceType":"Organization","id":"o"}])"});
    }
    bring(versions);
    EXPECT_EQ(get("/Organization?_contained=true&_containedType=contained&_total=accurate&_count=2")
                  .total,
              1'100U);
}

TEST_F(DefaultOrder, IsThatOfEverythingWithinEachType) {
    bring_many();
    Names expected{"Patient/p0"};
    const Names observations = in_order(of_type("Observation"));
    expected.insert(expected.end(), observations.begin(), observations.end());
    for (const int count : {7, 100, 301}) {
        SCOPED_TRACE(count);
        Searchset page = get(fmt::format("/Patient/p0/$everything?_count={}", count));
        EXPECT_EQ(page.total, 301U);
        EXPECT_EQ(follow("next", page), expected);
        EXPECT_EQ(follow("previous", page), expected);
    }
}

TEST_F(DefaultOrder, NeedsTheEdgeOfAPageOnlyWhereInstantsDoNotAscend) {
    core::Config config;
    config.hard_delete = true;
    for (const bool ascends : {true, false}) {
        SCOPED_TRACE(ascends);
        const std::string prefix = ascends ? "Patient/a" : "Patient/b";
        restart(config);
        std::vector<Version> versions;
        for (int i = 0; i < 100; ++i) {
            const int second = ascends ? i : 100 + i * 7 % 100;
            versions.push_back({fmt::format("{}{}", prefix, i), second, R"("active":true)"});
        }
        bring(versions);
        ASSERT_EQ(store().instants_ascend(find_resource_type("Patient")), ascends);
        const Names all = in_order(of_type("Patient"));
        const Searchset first = get("/Patient?_count=9");
        const Searchset second = get(first.links.at("next"));
        ASSERT_EQ(second.matches, Names(all.begin() + 9, all.begin() + 18));
        const Searchset third = get(second.links.at("next"));
        for (const std::size_t edge : {8U, 17U, 9U}) {
            ASSERT_EQ(send("DELETE", "/" + all[edge]).status, 204);
        }
        const Searchset next = get(first.links.at("next"));
        const Searchset previous = get(second.links.at("previous"));
        if (ascends) {
            Names rest(all.begin() + 10, all.begin() + 19);
            std::erase(rest, all[17]);
            rest.push_back(all[19]);
            EXPECT_EQ(next.matches, rest);
            EXPECT_EQ(previous.matches, Names(all.begin(), all.begin() + 8));
        } else {
            EXPECT_EQ(next.status, 410);
            EXPECT_EQ(previous.status, 410);
        }
        // Its own edge is left.
        const Searchset before_third = get(third.links.at("previous"));
        EXPECT_EQ(before_third.status, 200);
        Names left(all.begin(), all.begin() + 18);
        for (const std::size_t erased : {17U, 9U, 8U}) {
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(erased));
        }
        EXPECT_EQ(before_third.matches, Names(left.end() - 9, left.end()));
    }
}

TEST_F(DefaultOrder, GoesOnFromAnErasedEdgeIfInstantsAscendedOnItsPage) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    std::vector<Version> versions;
    for (int i = 0; i < 20; ++i) {
        versions.push_back({fmt::format("Patient/{}", i), 100 + i, R"("active":true)"});
    }
    bring(versions);
    const Names all = in_order(of_type("Patient"));
    Searchset page = get("/Patient?_count=3");
    const std::string next = page.links.at("next");
    ASSERT_EQ(send("DELETE", "/" + all[2]).status, 204);
    bring({{"Patient/older", 0, R"("active":true)"}});
    ASSERT_FALSE(store().instants_ascend(find_resource_type("Patient")));
    page = get(next);
    EXPECT_EQ(follow("next", page), Names(all.begin() + 3, all.end()));
}

TEST_F(DefaultOrder, IsThatOfAnEarlierStateThatTheIndexNoLongerHas) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    restart(core::Config());
    bring_many();
    const Position then = store().last_position();
    const Names expected = in_order(of_type("Patient"));
    for (int round = 0; store().search(*find_resource_type("Patient"))->vacuumed_through <= then;
         ++round) {
        ASSERT_LT(round, 3000);
        put("Patient", "p1", fmt::format(R"("birthDate":"{}")", 1900 + round % 100));
        get("/Patient?gender=female&_count=1");  // makes the index take in what was written
    }
    Searchset page = get(fmt::format("/Patient?_count=70&_asOf={}", then.value));
    EXPECT_EQ(follow("next", page), expected);
    EXPECT_EQ(follow("previous", page), expected);
}

TEST_F(DefaultOrder, IsThatOfCriteriaThatReadBodies) {
    std::vector<Version> versions;
    for (int i = 0; i < 300; ++i) {
        versions.push_back(
            {fmt::format("Patient/p{}", i), i * 7 % 40,
             fmt::format(R"("name":[{{"family":"{}"}}])", i % 5 == 0 ? "Windsor" : "Chalmers")});
    }
    bring(versions);
    const auto windsor = [](const Version& version) {
        return version.members.find("Windsor") != std::string::npos;
    };
    for (const int count : {3, 7, 50}) {
        Searchset page = get(fmt::format("/Patient?_content=windsor&_count={}", count));
        EXPECT_EQ(follow("next", page), in_order(windsor));
        EXPECT_EQ(follow("previous", page), in_order(windsor));
    }
}

TEST_F(DefaultOrder, IsThatOfATransactionsOwnSearches) {
    bring_many();
    const Answer answer = send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Patient","id":"new"},)"
        R"("request":{"method":"PUT","url":"Patient/new"}},{"request":{"method":"GET","url":"Patient?_count=30"}}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    Names expected = in_order(of_type("Patient"));
    expected.insert(expected.begin(), "Patient/new");
    expected.resize(30);
    const Result<json::Document> document = json::Parser().parse(answer.body);
    ASSERT_TRUE(document);
    Names found;
    for (const json::Value entry : document->root()["entry"].elements()) {
        for (const json::Value one : entry["resource"]["entry"].elements()) {
            found.push_back("Patient/" + one["resource"]["id"].string());
        }
    }
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace annals::test

namespace annals::core::search {
namespace {

TEST_F(SearchModel, WalksBackwardsInTheOrderThatSortingGives) {
    std::size_t walked = 0;
    for (int round = 0; round < 3; ++round) {
        write(20);
        for (int i = 0; i < 30; ++i) {
            const TypeId type = types_[number(kTypes)];
            const Plan plan = number(3) == 0 ? everything() : random_plan(1, type);
            const Position at{number(3) == 0 ? 1 + number(last_.value) : last_.value};
            const std::vector<SortKey> keys{{nullptr, "_lastUpdated", number(2) == 0}};
            ASSERT_TRUE(OrderedWalk::can_reverse(keys));
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            run(execution, {});
            Sorter sorter(own, keys, execution.matches());
            sorter.want({}, false, 1'000'000);
            ASSERT_TRUE(sorter.advance(Pace()).has_value());
            std::vector<std::uint64_t> expected;
            for (const std::uint32_t index : sorter.page()) {
                expected.push_back(execution.matches()[index].position().value);
            }
            const std::size_t count = 1 + number(7);
            Position edge;
            std::size_t left = expected.size();
            for (bool more = true; more;) {
                OrderedWalk walk(own, execution, keys, edge, count, std::nullopt, true);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                // Every version has an instant.
                ASSERT_TRUE(walk.found_enough());
                EXPECT_EQ(walk.found_all(), left < count);
                for (const Match& match : walk.matches()) {
                    ASSERT_GT(left, 0U);
                    edge = match.position();
                    ASSERT_EQ(edge.value, expected[--left]) << "round " << round << " " << i;
                    ++walked;
                }
                more = !walk.found_all();
            }
            EXPECT_EQ(left, 0U);
        }
    }
    EXPECT_GT(walked, 500U);
}

}  // namespace
}  // namespace annals::core::search
