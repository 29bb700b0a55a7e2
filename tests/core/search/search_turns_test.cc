// Searches that look at large bodies: that they let others have their turn.

#include "core/interactions/turns.h"
#include "core/search/execute.h"
#include "core/search/ordered_walk.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"
#include "core/search/snapshot_bodies.h"
#include "tests/core/search/search_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/cpu_of.h"
#include "tests/support/longest_pause.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace annals::test {
namespace {

using core::search::Match;
using core::search::Pace;
using core::search::Plan;

class SearchTurns : public Search {
  protected:
    // An Observation and a DiagnosticReport with another, which refer to a contained Organization with very many names.
    void put_large() {
        std::string names = R"("alias 0")";
        for (int i = 1; i < 20'000; ++i) {
            names += fmt::format(R"(,"alias {}")", i);
        }
        const std::string contained =
            R"("contained":[{"resourceType":"Organization","id":"org","alias":[)" + names + "]}";
        const std::string observation =
            R"("status":"final","code":{"text":"c"},"performer":[{"reference":"#org"}])";
        put("Observation", "o",
            observation + R"(,"subject":{"reference":"#p"},)" + contained +
                R"(,{"resourceType":"Patient","id":"p","active":true,"managingOrganization":{"reference":"#org"}}])");
        put("DiagnosticReport", "d",
            R"("status":"final","code":{"text":"c"},"result":[{"reference":"#o"}],)" + contained +
                R"(,{"resourceType":"Observation","id":"o",)" + observation + "}]");
    }

    Watched watch(std::string_view path, const std::string& query) {
        core::Request request;
        request.path = path;
        request.query = query;
        request.base_url = kBaseUrl;
        return handle_watched_repeatedly(service(), request);
    }
};

TEST_F(SearchTurns, MayEndAfterEachCheckOfABody) {
    for (int i = 0; i < 20; ++i) {
        put("Patient", std::to_string(i), "");
    }
    std::size_t looked = 0;
    const auto check = [&looked](unsigned long divisor) {
        return core::search::verified(core::search::everything(),
                                      [&looked, divisor](json::Value patient) {
                                          ++looked;
                                          return std::stoul(patient["id"].string()) % divisor == 0;
                                      });
    };
    const Plan plan =
        core::search::all_of(core::search::negation_of(core::search::all_of(check(2), check(3))),
                             core::search::any_of(core::search::negation_of(check(1)),
                                                  core::search::any_of(check(5), check(7))));
    core::search::Snapshot snapshot(store());
    core::search::Execution execution(snapshot, type_of("Patient"), plan);
    const auto find = [&](auto& work, const Pace& pace) {
        for (bool done = false; !done;) {
            const std::size_t before = looked;
            const Result<bool> advanced = work.advance(pace);
            done = !advanced || *advanced;
            EXPECT_TRUE(advanced);
            EXPECT_TRUE(pace.is_over() ? looked - before <= 1 : done);
        }
        std::string ids;
        for (const Match& match : work.matches()) {
            ids += store().load(*store().at(match.position()))->id;
            ids += " ";
        }
        return ids;
    };
    // Each turn is over before it begins.
    const Pace over{std::chrono::microseconds(1)};
    for (const std::size_t limit : {1U, 2U, 100U}) {
        execution.want({.limit = limit});
        looked = 0;
        const std::string found = find(execution, Pace());
        const std::size_t looked_in_one = looked;
        execution.want({.limit = limit});
        looked = 0;
        EXPECT_EQ(find(execution, over), found);
        EXPECT_EQ(looked, looked_in_one) << "no check is repeated";
    }
    EXPECT_EQ(find(execution, over), "15 14 10 7 5 ");

    // What begins in the middle of a test knows nothing of it.
    for (int turns = 0; turns < 30; ++turns) {
        execution.want({});
        for (int turn = 0; turn < turns; ++turn) {
            ASSERT_TRUE(execution.advance(over));
        }
    }
    execution.want({});
    EXPECT_EQ(find(execution, Pace()), "15 14 10 7 5 ");

    const core::search::SortKey by_time;
    const Position edge = execution.matches().back().position();
    core::search::OrderedWalk in_one(snapshot, execution, {&by_time, 1}, edge, 3);
    looked = 0;
    EXPECT_EQ(find(in_one, Pace()), "7 10 14 ");
    const std::size_t looked_in_one = looked;
    core::search::OrderedWalk in_turns(snapshot, execution, {&by_time, 1}, edge, 3);
    looked = 0;
    EXPECT_EQ(find(in_turns, over), "7 10 14 ");
    EXPECT_EQ(looked, looked_in_one);
}

/// Another document follows where the one whose test was interrupted has been erased meanwhile.
TEST_F(SearchTurns, KnowNothingOfAnotherBodyThanTheInterruptedOne) {
    put("Patient", "1", "");
    const Position one = store().last_position();
    put("Patient", "2", "");
    const Position two = store().last_position();
    const auto is = [](const char* id) {
        return core::search::verified(core::search::everything(), [id](json::Value patient) {
            return patient["id"].string() == id;
        });
    };
    const Plan is_two = is("2");
    const Plan is_one = is("1");
    const Pace over{std::chrono::microseconds(1)};
    const core::search::Snapshot snapshot(store());
    const core::search::Resolution resolution;
    core::search::SnapshotBodies bodies(snapshot, resolution);
    bodies.begin(two, over);
    EXPECT_TRUE(bodies.passes(is_two, two));
    EXPECT_FALSE(bodies.passes(is_one, two));
    ASSERT_TRUE(bodies.is_interrupted());
    bodies.begin(one, over);
    EXPECT_FALSE(bodies.passes(is_two, one));
    EXPECT_FALSE(bodies.is_interrupted());
}

TEST_F(SearchTurns, EndBetweenCriteriaThatFollowChainsIntoWhatIsContained) {
    put_large();
    std::string query = "_id=o";
    for (int i = 0; i < 40; ++i) {
        query += fmt::format("&performer:Organization.name=alias%20{}", i);
    }
    const Watched watched = watch("/Observation", query);
    ASSERT_TRUE(watched.response);
    EXPECT_EQ(watched.response->status, 200);
    EXPECT_NE(watched.response->body.str().find(R"("total":1)"), std::string::npos);
    expect_turns_of(core::kTurn, watched);
}

// What a resource contains is extracted once for all criteria that can't be told apart.
TEST_F(SearchTurns, LookOnceAtWhatIsContainedHoweverManyCriteriaLeadToIt) {
    put_large();
    const auto time = [&](int criteria) {
        std::string filter;
        std::string query = "_contained=true";
        for (int i = 0; i < criteria; ++i) {
            filter += fmt::format("{}organization.name sw \"alias {}\"", i == 0 ? "" : " and ", i);
            query += fmt::format("&performer:Organization.name=alias%20{}", i);
        }
        std::string encoded;
        for (const char c : fmt::format("subject:Patient[{}].active eq true", filter)) {
            encoded += c == ' ' ? "%20" : std::string(1, c);
        }
        return std::pair(
            cpu_of([&] {
                EXPECT_EQ(get("/Observation?_filter=" + encoded).matches, Names{"Observation/o"});
            }),
            cpu_of([&] {
                EXPECT_EQ(get("/Observation?" + query).matches, Names{"DiagnosticReport/d"});
            }));
    };
    const auto usual = time(1);
    const auto many = time(40);
    EXPECT_LT(many.first, 10 * usual.first);
    EXPECT_LT(many.second, 10 * usual.second);
}

}  // namespace
}  // namespace annals::test
