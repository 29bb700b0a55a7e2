// Executions of plans: what they find and count.

#include "core/search/binding.h"
#include "tests/core/search/execute_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {
namespace {

TEST_F(SearchModel, FindsWhatAScanOfEverythingFinds) {
    std::size_t found = 0;
    for (int round = 0; round < 12; ++round) {
        write(12);
        for (int i = 0; i < 120; ++i) {
            const TypeId type = types_[number(kTypes)];
            const Plan plan = random_plan(3, type);
            // Also as of an earlier position.
            const Position at{number(3) == 0 ? 1 + number(last_.value) : last_.value};
            const std::vector<std::uint64_t> expected = scan(type, plan, at);
            found += expected.size();
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            ASSERT_EQ(run(execution, {}), expected) << "round " << round << " plan " << i;

            run(execution, {.count_only = true});
            ASSERT_EQ(execution.count(), expected.size()) << "round " << round << " plan " << i;

            const std::size_t limit = 1 + number(10);
            std::vector<std::uint64_t> first(
                expected.begin(),
                expected.begin() + static_cast<std::ptrdiff_t>(std::min(limit, expected.size())));
            ASSERT_EQ(run(execution, {.limit = limit}), first)
                << "round " << round << " plan " << i;
        }
    }
    EXPECT_GT(found, 10'000U);
}

TEST_F(SearchModel, LooksAtNothingElseWhereARunHasNoneOfAPart) {
    write(20);
    int asked = 0;
    const Plan quantity = counted_quantity(asked);
    for (const char* const code : {"absent", "0"}) {
        const Plan plan = all_of(parts(carrying({token(column(0), code)}), quantity));
        for (const TypeId type : types_) {
            Snapshot own = snapshot(last_);
            Execution execution(own, type, plan);
            EXPECT_EQ(run(execution, {}), scan(type, plan, last_));
        }
        EXPECT_EQ(asked > 0, std::string_view(code) == "0");
    }
}

TEST_F(SearchModel, LooksAtChainsForWhatElseLeavesAlone) {
    write(20);
    int asked = 0;
    const Plan quantity = counted_quantity(asked);
    const Plan nobody = carrying({token(column(0), "absent")});
    for (const bool forwards : {false, true}) {
        const Plan link =
            forwards ? chain(column(4), types_[1], quantity) : has(column(4), types_[1], quantity);
        const Plan plan = all_of(parts(link, nobody));
        Snapshot own = snapshot(last_);
        Execution few(own, types_[0], plan);
        EXPECT_EQ(run(few, {}), std::vector<std::uint64_t>());
        EXPECT_EQ(asked, 0);
        // So it is if no matches are wanted, as before a walk in order.
        Execution none(own, types_[0], plan);
        EXPECT_EQ(run(none, {.before = Position{0}}), std::vector<std::uint64_t>());
        EXPECT_EQ(asked, 0);
        // With a limit of 0, the chains are evaluated all the same.
        Execution all(own, types_[0], plan);
        run(all, {.limit = 0});
        EXPECT_GT(std::exchange(asked, 0), 0);
    }
}

// Like an `_id` with very many values: documents are not searched for in each value's postings.
TEST_F(SearchModel, LooksIntoWhatManyTermsHaveAtOnce) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Term> terms;
    for (std::uint64_t key = 1; key <= keys_; ++key) {
        if (key % 4 != 0) {
            terms.push_back(identity(key));
        }
    }
    for (const bool together : {false, true}) {
        Plan plan = carrying(terms);
        if (together) {
            plan = all_of(parts(std::move(plan), begins_with(column(1), "an")));
        }
        const std::vector<std::uint64_t> expected = scan(type, plan, last_);
        ASSERT_GE(expected.size(), 3U);
        Snapshot own = snapshot(last_);
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {}), expected);
        EXPECT_EQ(run(execution, {.limit = 3}),
                  std::vector<std::uint64_t>(expected.begin(), expected.begin() + 3));
        run(execution, {.count_only = true});
        EXPECT_EQ(execution.count(), expected.size());
    }
    const Plan plan = carrying(terms);
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    bool any = false;
    for (const auto& one : own.runs(type).runs) {
        const BoundPlan bound = execution.bind_to(one);
        any = any || bound.kind == BoundPlan::Kind::gathered;
        EXPECT_LE(bound.postings.size(), 16U);
    }
    EXPECT_TRUE(any);
}

TEST_F(SearchModel, CountsWhereFewHaveDied) {
    keys_ = 20'000;
    write(200);
    index_.wait_until_idle();
    for (int i = 0; i < 60; ++i) {
        const TypeId type = types_[number(kTypes)];
        const Plan plan = i % 4 == 0 ? everything() : random_plan(0, type);
        for (const Position at : {last_, Position{last_.value - number(20)}}) {
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            run(execution, {.count_only = true});
            EXPECT_EQ(execution.count(), scan(type, plan, at).size());
        }
    }
}

TEST_F(SearchModel, FindsTheLivingWhereAlmostAllAreDead) {
    keys_ = 60;
    write(150);
    const Position middle{last_.value * 9 / 10};
    for (int i = 0; i < 40; ++i) {
        const TypeId type = types_[number(kTypes)];
        // `everything` is iterated over itself, a term by its postings, anything else as a set.
        const Plan plan = i % 4 == 0   ? everything()
                          : i % 4 == 1 ? carrying({token(column(0), "0")})
                                       : random_plan(1, type);
        for (const Position at : {last_, middle}) {
            const std::vector<std::uint64_t> expected = scan(type, plan, at);
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            ASSERT_EQ(run(execution, {}), expected) << i;
            run(execution, {.count_only = true});
            ASSERT_EQ(execution.count(), expected.size()) << i;
            if (expected.empty()) {
                continue;
            }
            const std::size_t limit = 1 + number(expected.size());
            const auto part = static_cast<std::ptrdiff_t>(limit);
            ASSERT_EQ(run(execution, {.limit = limit}),
                      std::vector(expected.begin(), expected.begin() + part))
                << i;
            std::vector<std::uint64_t> oldest(expected.rbegin(), expected.rbegin() + part);
            ASSERT_EQ(run(execution, {.upwards = true, .limit = limit}), oldest) << i;
            const Position edge{expected[number(expected.size())]};
            ASSERT_EQ(run(execution, {.before = edge}),
                      std::vector(std::ranges::find(expected, edge.value) + 1, expected.end()))
                << i;
        }
    }
}

TEST_F(SearchModel, GoesOnInBothDirectionsFromAnyPlace) {
    write(60);
    for (int i = 0; i < 200; ++i) {
        const TypeId type = types_[number(kTypes)];
        const Plan plan = random_plan(2, type);
        const std::vector<std::uint64_t> all = scan(type, plan, last_);
        const Position edge{1 + number(last_.value)};
        std::vector<std::uint64_t> older;
        std::vector<std::uint64_t> newer;
        for (const std::uint64_t position : all) {
            if (position < edge.value) {
                older.push_back(position);
            } else if (position > edge.value) {
                newer.push_back(position);
            }
        }
        std::reverse(newer.begin(), newer.end());
        older.resize(std::min<std::size_t>(older.size(), 5));
        newer.resize(std::min<std::size_t>(newer.size(), 5));
        Snapshot own = snapshot(last_);
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {.before = edge, .limit = 5}), older);
        EXPECT_EQ(run(execution, {.after = edge, .upwards = true, .limit = 5}), newer);
    }
}

TEST_F(SearchModel, IsWhatItWasWhileWritesGoOn) {
    write(30);
    const Position at = last_;
    std::vector<std::pair<TypeId, Plan>> plans;
    std::vector<std::vector<std::uint64_t>> before;
    for (int i = 0; i < 50; ++i) {
        const TypeId type = types_[number(kTypes)];
        plans.emplace_back(type, random_plan(2, type));
        before.push_back(scan(type, plans.back().second, at));
    }
    write(60);
    index_.wait_until_idle();
    for (std::size_t i = 0; i < plans.size(); ++i) {
        Snapshot own = snapshot(at);
        Execution execution(own, plans[i].first, plans[i].second);
        EXPECT_EQ(run(execution, {}), before[i]);
    }
}

TEST_F(SearchModel, SaysWhenASnapshotIsTooOld) {
    storage::SearchIndex index({.positions_retained = 50, .fan_in = 2, .pending_documents = 0});
    const TypeId type = types_.front();
    // A single resource, written again and again: all versions but the last die.
    for (std::uint64_t position = 1; position <= 2000; ++position) {
        storage::SearchEntries entries;
        fill(entries, 1);
        const storage::IndexedDocument document{{position}, 1, &entries};
        index.add(type, {&document, 1});
        index.died(type, {position - 1}, {position});
    }
    index.wait_until_idle();
    const auto runs_of = [&](TypeId of) { return index.runs(of); };
    EXPECT_FALSE(Snapshot(runs_of, {1}).answers(type));
    EXPECT_TRUE(Snapshot(runs_of, {2000}).answers(type));

    // A chain into the type makes the search of any other fail, too.
    Snapshot old(runs_of, {1});
    const Plan plan = chain(column(4), type, everything());
    Execution execution(old, types_.back(), plan);
    execution.want({});
    const Result<bool> done = execution.advance(Pace());
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Errc::expired);
}

TEST_F(SearchModel, ComesToTheSameInTurns) {
    write(80);
    for (int i = 0; i < 60; ++i) {
        const TypeId type = types_[number(kTypes)];
        const Plan plan = random_plan(2, type);
        Snapshot own = snapshot(last_);
        Execution execution(own, type, plan);
        // Every turn is over before it begins.
        Pace pace{std::chrono::microseconds(1)};
        EXPECT_EQ(run(execution, {}, pace), scan(type, plan, last_));
    }
}

TEST_F(SearchModel, FindsWhatMeetsVeryManyConditions) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Plan> parts;
    for (std::int64_t i = 0; i < 150; ++i) {
        parts.push_back(interval(column(2), Comparison::lt, {900 - i, 900 - i}));
    }
    const Plan plan = all_of(std::move(parts));
    const std::vector<std::uint64_t> expected = scan(type, plan, last_);
    ASSERT_GT(expected.size(), 10U);
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    // Every turn is over before it begins.
    const Pace pace{std::chrono::microseconds(1)};
    EXPECT_EQ(run(execution, {}, pace), expected);
    run(execution, {.count_only = true}, pace);
    EXPECT_EQ(execution.count(), expected.size());
}

}  // namespace
}  // namespace annals::core::search
