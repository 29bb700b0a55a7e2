// Executions of plans: what they find, count and look at.

#include "core/search/binding.h"
#include "tests/core/search/execute_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
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

// Like 17 common codes: gathering them everywhere, for a total that nobody asked for, takes longer than the page.
TEST_F(SearchModel, ReckonsWhatManyTermsHaveAsWorkOfCounting) {
    constexpr std::uint64_t kDocuments = 30'000;
    constexpr std::uint64_t kTerms = 17;
    const TypeId type = types_.front();
    std::vector<Term> terms;
    for (std::uint64_t i = 0; i < kTerms; ++i) {
        terms.push_back(token(column(0), std::to_string(i)));
    }
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].terms.push_back(terms[i % kTerms]);
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);

    for (const std::size_t count : {kTerms - 1, kTerms}) {
        const Plan plan =
            carrying({terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count)});
        Snapshot own = snapshot(Position{kDocuments});
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {.limit = 20}).size(), 20U);
        EXPECT_GT(execution.counting_cost(), 20'000U) << count;
    }
}

TEST_F(SearchModel, ReckonsToLookForVeryManyTermsAsWorkOfCounting) {
    const TypeId type = types_.front();
    storage::SearchEntries entries;
    entries.terms.push_back(token(column(0), "0"));
    index_.add(type, std::vector<storage::IndexedDocument>{{Position{1}, 1, &entries}});
    for (const std::uint64_t count : {1'001U, 20'001U}) {
        std::vector<Term> terms;
        for (std::uint64_t i = 0; i < count; ++i) {
            terms.push_back(token(column(0), std::to_string(i)));
        }
        const Plan plan = carrying(std::move(terms));
        Snapshot own = snapshot(Position{1});
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {.limit = 20}).size(), 1U);
        EXPECT_EQ(execution.counting_cost() > 20'000U, count > 20'000U) << count;
    }
}

// The dead are subtracted by bitmaps. Only where few match, each of these is looked at, however few have died.
TEST_F(SearchModel, ReckonsCountingATermAsCheapUnlessEachMatchIsLookedAt) {
    constexpr std::uint64_t kDocuments = 60'000;
    constexpr std::uint64_t kRare = 600;
    const TypeId type = types_.front();
    const Term common = token(column(0), "common");
    const Term rare = token(column(0), "rare");
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].terms.push_back(i < kDocuments - kRare ? common : rare);
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);
    const auto cost_of = [&](const Plan& plan, std::uint64_t expected) {
        Snapshot own = snapshot(Position{kDocuments + 1});
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {.limit = 20}).size(), 20U);
        run(execution, {.count_only = true});
        EXPECT_EQ(execution.count(), expected);
        return execution.counting_cost();
    };
    EXPECT_LT(cost_of(carrying({rare}), kRare), 100U);
    std::uint64_t dead = 0;
    for (const std::uint64_t count : {1U, 40'000U}) {
        for (; dead < count; ++dead) {
            index_.died(type, {dead + 1}, {kDocuments + 1});
        }
        EXPECT_LT(cost_of(everything(), kDocuments - dead), 100U);
        EXPECT_LT(cost_of(carrying({common}), kDocuments - kRare - dead), 100U);
        EXPECT_GE(cost_of(carrying({rare}), kRare), kRare);
    }
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

// How many turns it takes to find what is wanted, or everything, if each is over before it begins.
int turns_of(Execution& execution, const Wanted& wanted = {}) {
    execution.want(wanted);
    const Pace pace{std::chrono::microseconds(1)};
    for (int turns = 1;; ++turns) {
        const Result<bool> done = execution.advance(pace);
        EXPECT_TRUE(done.has_value());
        if (!done || *done) {
            return turns;
        }
    }
}

TEST_F(SearchModel, LooksAtTheClockTheMoreOftenTheMoreThereIsToTest) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Plan> parts;
    for (std::int64_t i = 0; i < 2000; ++i) {
        parts.push_back(interval(column(2), Comparison::gt, {i, i}));
    }
    const Plan plan = any_of(std::move(parts));
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    // Not only after documents are tested, but also after each condition is bound to a run.
    EXPECT_GT(turns_of(execution), 2000);
    EXPECT_TRUE(execution.is_large());
    std::vector<std::uint64_t> found;
    for (const Match& match : execution.matches()) {
        found.push_back(match.position().value);
    }
    EXPECT_EQ(found, scan(type, plan, last_));
}

TEST_F(SearchModel, ReckonsTheNegationOfVeryMuchWorkAsVeryMuch) {
    constexpr std::uint64_t kDocuments = 100'000;
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].intervals.push_back({column(2), 0, 0});
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    const auto run = storage::SearchRun::build(documents);
    std::vector<Plan> intervals;
    for (std::int64_t i = 1; i <= 43'000; ++i) {
        intervals.push_back(interval(column(2), Comparison::gt, {-i, -i}));
    }
    Resolution resolution;
    const Plan plan = negation_of(any_of(std::move(intervals)));
    EXPECT_GT(bind(plan, run, resolution).work, 1'000'000'000U);
}

// Where everything is needed, a whole set is tested in one go only if that doesn't take long.
TEST_F(SearchModel, TestsVeryManyConditionsInTurns) {
    constexpr std::uint64_t kDocuments = 40'000;
    constexpr std::size_t kPrefixes = 400;
    const TypeId type = types_.front();
    const Term rare = token(column(0), "rare");
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].add_text(column(1), std::string(kPrefixes, 'a') + std::to_string(i));
        if (i % 10 == 0) {
            entries[i].terms.push_back(rare);
        }
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);
    std::vector<Plan> prefixes;
    for (std::size_t size = 1; size <= kPrefixes; ++size) {
        prefixes.push_back(begins_with(column(1), std::string(size, 'a')));
    }
    const Plan plan = all_of(parts(carrying({rare}), any_of(std::move(prefixes))));
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    EXPECT_GT(turns_of(execution), 400 + 1000);  // Binding takes one for each condition.
    EXPECT_EQ(execution.matches().size(), kDocuments / 10);
}

// Collecting their millions of intervals takes some milliseconds, testing each of them with each document seconds.
TEST_F(SearchModel, CollectsWhatMeetsOneOfManyIntervals) {
    constexpr std::uint64_t kDocuments = 20'000;
    const TypeId type = types_.front();
    const Term rare = token(column(0), "rare");
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].intervals.push_back({column(2), 0, 0});
        if (i % 10 == 0) {
            entries[i].terms.push_back(rare);
        }
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);
    std::vector<Plan> intervals;
    for (std::int64_t i = 1; i <= 150; ++i) {
        intervals.push_back(interval(column(2), Comparison::gt, {-i, -i}));
    }
    const Plan any = any_of(std::move(intervals));
    const Plan rare_too = all_of(parts(carrying({rare}), any));
    for (const Plan* const plan : {&any, &rare_too}) {
        const std::uint64_t expected = plan == &any ? kDocuments : kDocuments / 10;
        for (const bool count_only : {false, true}) {
            Snapshot own = snapshot(Position{kDocuments});
            Execution execution(own, type, *plan);
            // Binding takes a turn for each condition.
            EXPECT_LT(turns_of(execution, {.count_only = count_only}), 150 + 60);
            EXPECT_EQ(execution.count(), expected);
        }
    }
}

// One condition that consists of very many is collected rather than tested with each document.
TEST_F(SearchModel, RestrictsASetByTheCheaperWay) {
    constexpr std::uint64_t kDocuments = 20'000;
    constexpr std::uint64_t kTexts = 1'000;
    const TypeId type = types_.front();
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].add_text(column(1), std::to_string(kTexts + i % kTexts));
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);
    std::vector<Plan> prefixes;
    for (std::uint64_t i = 0; i < kTexts; i += 2) {
        prefixes.push_back(begins_with(column(1), std::to_string(kTexts + i)));
    }
    const Plan plan = any_of(std::move(prefixes));
    Snapshot own = snapshot(Position{kDocuments});
    const auto& run = own.runs(type).runs.front();
    Resolution resolution;
    const BoundPlan condition = bind(plan, run, resolution);
    const auto time_of = [](const auto& work) {
        std::clock_t least = std::numeric_limits<std::clock_t>::max();
        for (int round = 0; round < 3; ++round) {
            const std::clock_t begin = std::clock();
            work();
            least = std::min(least, std::clock() - begin);
        }
        return least;
    };
    const std::clock_t collecting = time_of([&] {
        DocumentSet all;
        all.reset(run->size());
        collect(condition, *run, all);
        all.seal();
    });
    const std::clock_t restricting = time_of([&] {
        DocumentSet some;
        some.reset(run->size());
        some.add_range(0, 900);
        some.seal();
        restrict_to(condition, *run, some);
        EXPECT_EQ(some.size(), 450U);
    });
    EXPECT_LT(restricting, 10 * collecting);
}

// Like a reference to any type: most of its chains lead to nothing, and cost nothing.
TEST_F(SearchModel, CountsWhereFewOfManyChainsComeToSomething) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Plan> parts;
    parts.push_back(chain(column(4), types_.back(), everything()));
    for (int i = 0; i < 150; ++i) {
        Plan none = carrying({token(column(0), "none")});
        parts.push_back(chain(column(4), types_.back(), std::move(none)));
    }
    const Plan plan = any_of(std::move(parts));
    const std::vector<std::uint64_t> expected = scan(type, plan, last_);
    ASSERT_FALSE(expected.empty());
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    EXPECT_EQ(run(execution, {}), expected);
    EXPECT_FALSE(execution.is_large());
    EXPECT_LT(execution.counting_cost(), 1'000'000U);
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
