// Executions of plans: what they reckon that counting costs, and how much they do in a turn.

#include "core/search/binding.h"
#include "tests/core/search/execute_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace annals::core::search {
namespace {

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

}  // namespace
}  // namespace annals::core::search
