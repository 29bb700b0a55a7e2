// Searches that match more than what is kept at a time: what has to be sorted as a whole, or linked, is refused, and what is walked
// through in order is not.

#include "tests/support/matches_limit.h"

#include "core/search/ordered_walk.h"
#include "core/search/sort.h"
#include "tests/core/search/execute_fixture.h"
#include "tests/core/search/search_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::test {
namespace {

class MatchesLimitTest : public Search {
  protected:
    static constexpr int kPatients = 100;

    /// Has a history bundle bring Patients whose instants don't ascend, each with an Observation.
    void bring() {
        std::string entries;
        for (int i = 0; i < kPatients; ++i) {
            const int second = second_of(i);
            const auto add = [&](std::string_view type, std::string_view members) {
                entries += fmt::format(
                    R"({}{{"fullUrl":"http://a/{}/{}","resource":{{"resourceType":"{}","id":"{}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:{:02}:{:02}Z"}},{}}},)"
                    R"("request":{{"method":"PUT","url":"{}/{}"}},"response":{{"status":"201"}}}})",
                    entries.empty() ? "" : ",", type, i, type, i, second / 60, second % 60, members,
                    type, i);
            };
            add("Patient", R"("gender":"male")");
            add("Observation",
                fmt::format(
                    R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"Patient/{}"}})",
                    i));
        }
        const Answer answer = send(
            "POST", "/",
            fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{}]}})", entries));
        ASSERT_EQ(answer.status, 200) << answer.body;
    }

    static int second_of(int patient) { return patient * 7 % kPatients; }

    /// The Patients, the latest first.
    static Names in_order() {
        Names names(kPatients);
        for (int i = 0; i < kPatients; ++i) {
            names[static_cast<std::size_t>(kPatients - 1 - second_of(i))] =
                fmt::format("Patient/{}", i);
        }
        return names;
    }

    void erase(const std::string& name) {
        const std::size_t slash = name.find('/');
        CommitBuilder erasure;
        erasure.erase(name.substr(0, slash), name.substr(slash + 1));
        ASSERT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    }
};

TEST_F(MatchesLimitTest, HoldsForWhatIsSortedAsAWholeAndForLinks) {
    bring();
    const MatchesLimit below(kPatients - 1);
    for (const std::string_view target :
         {"/Patient?_sort=gender", "/Patient?_sort=_id", "/Observation?patient.gender=male",
          "/Patient?_has:Observation:patient:status=final"}) {
        const Searchset page = get(std::string(target));
        EXPECT_EQ(page.status, 413) << target << ": " << page.text;
    }
    EXPECT_EQ(get("/Patient?_total=accurate&_count=5").total, std::uint64_t{kPatients});
}

TEST_F(MatchesLimitTest, DoesNotHoldForPagesInTheOrderOfInstants) {
    bring();
    ASSERT_FALSE(store().instants_ascend(find_resource_type("Patient")));
    const MatchesLimit below(kPatients - 1);
    Names expected = in_order();
    for (const std::string_view target :
         {"/Patient?_count=2", "/Patient?_count=2&_sort=-_lastUpdated",
          "/Patient?_count=2&_sort=_lastUpdated"}) {
        SCOPED_TRACE(target);
        Searchset page = get(std::string(target));
        if (target.ends_with("=_lastUpdated")) {
            std::ranges::reverse(expected);
        }
        EXPECT_EQ(follow("next", page), expected);
        EXPECT_EQ(follow("previous", page), expected);
    }
}

TEST_F(MatchesLimitTest, DoesNotHideThatTheEdgeOfAPageWasErased) {
    bring();
    const MatchesLimit below(kPatients - 1);
    for (const std::string_view target :
         {"/Patient?_count=2", "/Patient?_count=2&_sort=_lastUpdated",
          "/Patient?_count=2&gender=male", "/?_type=Patient,Observation&_count=2"}) {
        SCOPED_TRACE(target);
        const Searchset first = get(std::string(target));
        const Searchset second = get(first.links.at("next"));
        ASSERT_EQ(second.matches.size(), 2U) << second.text;
        const Searchset third = get(second.links.at("next"));
        ASSERT_EQ(third.matches.size(), 2U) << third.text;
        erase(second.matches.back());
        EXPECT_EQ(get(second.links.at("next")).status, 410);
        erase(third.matches.front());
        EXPECT_EQ(get(third.links.at("previous")).status, 410);
    }
}

}  // namespace
}  // namespace annals::test

namespace annals::core::search {
namespace {

// All of them can't be sorted, even if that were less work.
TEST_F(SearchModel, DoesNotGiveUpAWalkAmongMoreMatchesThanCanBeSorted) {
    constexpr std::uint64_t kDocuments = 40'000;
    constexpr std::uint64_t kMatches = 4000;
    const TypeId type = types_.front();
    const Term term = token(column(0), "old");
    add_dated(kDocuments, term,
              [](std::int64_t date) { return date < static_cast<std::int64_t>(kMatches); });
    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    const SortKey key{&parameter, "c2", true};
    const Plan plan = carrying({term});
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    ASSERT_EQ(run(execution, {}).size(), kMatches);
    for (const bool can_be_sorted : {true, false}) {
        const test::MatchesLimit limit(can_be_sorted ? kMatches : kMatches - 1);
        OrderedWalk walk(own, execution, {&key, 1}, {}, 20);
        ASSERT_TRUE(walk.advance(Pace()).has_value());
        EXPECT_EQ(walk.found_enough(), !can_be_sorted);
    }
}

}  // namespace
}  // namespace annals::core::search
