// Walks of executions in sorted order.

#include "core/search/ordered_walk.h"
#include "core/search/sort.h"
#include "tests/core/search/execute_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace annals::core::search {
namespace {

TEST_F(SearchModel, WalksInTheOrderThatSortingGives) {
    std::size_t walked = 0;
    for (int round = 0; round < 6; ++round) {
        write(20);
        for (int i = 0; i < 60; ++i) {
            const TypeId type = types_[number(kTypes)];
            // A document may have several of the first column's values, but only one of the others'.
            const bool by_time = number(3) == 0;
            const Column sorted_by =
                by_time ? column_of("_lastUpdated") : column(number(2) == 0 ? 2 : 5);
            Plan plan = number(3) == 0 ? everything() : random_plan(1, type);
            if (number(2) == 0) {
                const auto low = static_cast<std::int64_t>(number(1000));
                plan = all_of(parts(
                    std::move(plan),
                    interval(sorted_by, static_cast<Comparison>(number(10)), {low, low + 30})));
            }
            const Position at{number(3) == 0 ? 1 + number(last_.value) : last_.value};
            Parameter parameter;
            parameter.type = schema::SearchType::date;
            parameter.column = sorted_by;
            std::vector<SortKey> keys{{&parameter, "c", number(2) == 0}};
            if (by_time) {
                keys.front().parameter = nullptr;
                keys.front().code = "_lastUpdated";
            }
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

            // In pages, each from the end of the one before, as long as there are enough values.
            const std::size_t count = 1 + number(7);
            Position edge;
            std::size_t next = 0;
            for (;;) {
                OrderedWalk walk(own, execution, keys, edge, count);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                for (std::size_t j = 0; j < walk.matches().size(); ++j) {
                    ASSERT_LT(next, expected.size());
                    edge = walk.matches()[j].position();
                    ASSERT_EQ(edge.value, expected[next++]) << "round " << round << " " << i;
                    ++walked;
                }
                if (!walk.found_enough() || walk.found_all()) {
                    break;
                }
            }
            // The order says nothing about what doesn't match.
            const Position other{1 + static_cast<std::uint64_t>(37 * i + round) % last_.value};
            if (std::ranges::find(expected, other.value) == expected.end()) {
                OrderedWalk walk(own, execution, keys, other, count);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                EXPECT_FALSE(walk.found_enough()) << other.value;
                EXPECT_TRUE(walk.matches().empty());
            }
            // The rest has no value.
            for (; next < expected.size(); ++next) {
                EXPECT_FALSE(value_of({expected[next]}, sorted_by, false));
            }
        }
    }
    EXPECT_GT(walked, 2'000U);
}

// Further keys order what has the same value, of which the walk finds all.
TEST_F(SearchModel, WalksToAllThatFurtherKeysMustSort) {
    std::size_t pages = 0;
    for (int round = 0; round < 4; ++round) {
        write(20);
        for (int i = 0; i < 40; ++i) {
            const TypeId type = types_[number(kTypes)];
            const Plan plan = number(3) == 0 ? everything() : random_plan(1, type);
            Parameter first;
            first.type = schema::SearchType::date;
            first.column =
                number(3) == 0 ? column(2) : column_of("_lastUpdated");  // many share one
            Parameter second = first;
            second.column = column(5);
            const std::vector<SortKey> keys{{&first, "first", number(2) == 0},
                                            {&second, "second", number(2) == 0}};
            Snapshot own = snapshot(last_);
            Execution execution(own, type, plan);
            run(execution, {});
            const std::vector<Match> all = execution.matches();
            Sorter of_all(own, keys, all);
            of_all.want({}, false, all.size());
            ASSERT_TRUE(of_all.advance(Pace()).has_value());

            const std::size_t count = 1 + number(7);
            Position edge;
            std::size_t next = 0;
            for (;; ++pages) {
                OrderedWalk walk(own, execution, keys, edge, count);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                if (!walk.found_enough()) {
                    break;
                }
                std::vector<Match> found = walk.matches();
                if (const auto known = walk.edge(); edge.value != 0) {
                    ASSERT_TRUE(known.has_value());
                    found.push_back(known->match);
                }
                std::ranges::sort(found, std::greater(), &Match::position);
                ASSERT_EQ(std::ranges::adjacent_find(found, {}, &Match::position), found.end());
                Sorter sorter(own, keys, found);
                sorter.want(edge, false, count);
                ASSERT_TRUE(sorter.advance(Pace()).has_value());
                ASSERT_EQ(sorter.page().size(), count);
                for (const std::uint32_t index : sorter.page()) {
                    edge = found[index].position();
                    ASSERT_LT(next, all.size());
                    ASSERT_EQ(edge, all[of_all.page()[next++]].position())
                        << "round " << round << " " << i;
                }
            }
            // Too few are left for a page: which of those with the edge's value are behind it is not known to the walk.
            const bool downwards = keys.front().descending;
            const auto at_edge =
                edge.value == 0 ? std::nullopt : value_of(edge, first.column, downwards);
            std::size_t left = 0;
            for (; next < all.size(); ++next) {
                const auto value =
                    value_of(all[of_all.page()[next]].position(), first.column, downwards);
                left += value && value != at_edge ? 1 : 0;
            }
            EXPECT_LT(left, count) << "round " << round << " " << i;
        }
    }
    EXPECT_GT(pages, 500U);
}

// Like encounters in progress, the newest first: nearly all of these versions have been replaced.
TEST_F(SearchModel, WalksPastDeadDocumentsThatAreOpenAtTheEnd) {
    constexpr std::uint64_t kResources = 5000;
    constexpr std::uint64_t kOpen = 3;
    const TypeId type = types_.front();
    std::vector<storage::SearchEntries> entries(2 * kResources);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < entries.size(); ++i) {
        const std::uint64_t resource = i % kResources;
        const auto begin = static_cast<std::int64_t>(resource);
        entries[i].intervals.push_back({column(2), begin, i < kResources ? INT64_MAX : begin + 10});
        documents.push_back({Position{i + 1}, resource + 1, &entries[i]});
    }
    index_.add(type, documents);
    for (std::uint64_t i = kOpen; i < kResources; ++i) {
        index_.died(type, {i + 1}, {kResources + i + 1});
    }

    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    const SortKey key{&parameter, "c2", true};
    const Plan plan = everything();
    Snapshot own = snapshot(Position{2 * kResources});
    Execution execution(own, type, plan);
    run(execution, {.limit = 0});
    OrderedWalk walk(own, execution, {&key, 1}, {}, kOpen + 1);
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    int turns = 0;
    for (bool done = false; !done; ++turns) {
        const Result<bool> advanced = walk.advance(pace);
        ASSERT_TRUE(advanced.has_value());
        done = *advanced;
    }
    EXPECT_LE(turns, 2);
    ASSERT_EQ(walk.matches().size(), kOpen + 1);
    EXPECT_EQ(walk.matches().front().position().value, kOpen);
    EXPECT_EQ(walk.matches().back().position().value, 2 * kResources);
}

// Like the page behind one that ends in the past, the newest first: all that is still open comes before it.
TEST_F(SearchModel, DoesNotWalkThroughLongIntervalsBeforeTheEdge) {
    constexpr std::uint64_t kOpen = 12'000;
    constexpr std::uint64_t kDocuments = 3 * kOpen;
    constexpr std::size_t kCount = 5;
    const TypeId type = types_.front();
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        const auto begin = static_cast<std::int64_t>(i);
        entries[i].intervals.push_back(
            {column(2), begin, begin + (i < kOpen ? INT64_MAX / 2 : 10)});
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);

    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    const SortKey key{&parameter, "c2", true};
    const Plan plan = everything();
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    run(execution, {.limit = 0});
    // Behind one that has ended, and behind one that is open, as others behind it are.
    for (const std::uint64_t edge : {kDocuments - 100, kOpen}) {
        OrderedWalk walk(own, execution, {&key, 1}, Position{edge}, kCount);
        ASSERT_TRUE(walk.advance(Pace()).has_value());
        EXPECT_TRUE(walk.found_enough());
        ASSERT_EQ(walk.matches().size(), kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            EXPECT_EQ(walk.matches()[i].position().value, edge - 1 - i);
        }
    }
}

// Like a large transaction, all of which has one instant, in an index where other instants do not ascend.
TEST_F(SearchModel, GoesOnAmongVeryManyOfOneInstantWithoutPassingThem) {
    constexpr std::uint64_t kDocuments = 30'000;
    constexpr std::uint64_t kBatch = 1'700;
    constexpr std::uint64_t kOthers = 200;  // are earlier, and as many are later
    constexpr std::size_t kCount = 20;
    const TypeId type = types_.front();
    for (std::uint64_t begin = 0; begin < kDocuments; begin += kBatch) {
        std::vector<storage::SearchEntries> entries(std::min(kBatch, kDocuments - begin));
        std::vector<storage::IndexedDocument> documents;
        for (std::uint64_t i = 0; i < entries.size(); ++i) {
            const Position position{begin + i + 1};
            const std::int64_t instant = position.value <= kOthers               ? 30
                                         : position.value > kDocuments - kOthers ? 10
                                                                                 : 20;
            entries[i].intervals.push_back({column_of("_lastUpdated"), instant, instant});
            documents.push_back({position, position.value, &entries[i]});
        }
        index_.add(type, documents);
    }
    const Plan plan = everything();
    Snapshot own = snapshot(Position{kDocuments});
    ASSERT_GT(own.runs(type).runs.size(), 1U);
    Execution execution(own, type, plan);
    run(execution, {.limit = 0});
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    for (const bool descending : {false, true}) {
        for (const bool backwards : {false, true}) {
            const SortKey key{nullptr, "_lastUpdated", descending};
            const bool down = descending != backwards;
            // Next to the first and the last one of the instant, and in its middle.
            for (const std::uint64_t edge : {kOthers + 1, kDocuments / 2,
                                             kDocuments - kOthers - kCount, kDocuments - kOthers}) {
                OrderedWalk walk(own, execution, {&key, 1}, Position{edge}, kCount, std::nullopt,
                                 backwards);
                int turns = 0;
                for (bool done = false; !done; ++turns) {
                    const Result<bool> advanced = walk.advance(pace);
                    ASSERT_TRUE(advanced.has_value());
                    done = *advanced;
                }
                EXPECT_EQ(turns, 1);
                ASSERT_TRUE(walk.found_enough());
                ASSERT_EQ(walk.matches().size(), kCount);
                std::uint64_t expected = edge;
                for (const Match& match : walk.matches()) {
                    if (down) {
                        expected = expected == kOthers + 1 ? kDocuments : expected - 1;
                    } else {
                        expected = expected == kDocuments - kOthers ? 1 : expected + 1;
                    }
                    ASSERT_EQ(match.position().value, expected) << edge << ' ' << down;
                }
            }
        }
    }
}

// Like what is from today on, the earliest first: earlier values are not walked through.
TEST_F(SearchModel, WalksNoFurtherThanThePlanSaysOfTheOrder) {
    write(300);
    const TypeId type = types_.front();
    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(5);
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    for (const bool descending : {false, true}) {
        const Plan plan = interval(column(5), descending ? Comparison::eb : Comparison::sa,
                                   {descending ? 300 : 700, descending ? 300 : 700});
        Snapshot own = snapshot(last_);
        Execution execution(own, type, plan);
        ASSERT_GT(run(execution, {}).size(), 10U);
        const SortKey key{&parameter, "c5", descending};
        OrderedWalk walk(own, execution, {&key, 1}, {}, 3);
        int turns = 0;
        for (bool done = false; !done; ++turns) {
            const Result<bool> advanced = walk.advance(pace);
            ASSERT_TRUE(advanced.has_value());
            done = *advanced;
        }
        EXPECT_EQ(walk.matches().size(), 3U);
        EXPECT_LE(turns, 3) << descending;
    }
}

// Like a code that is no longer used, the newest first: everything newer would be walked through.
TEST_F(SearchModel, GivesUpAWalkWhoseMatchesAreAllAtItsEnd) {
    constexpr std::uint64_t kDocuments = 40'000;
    const TypeId type = types_.front();
    const Term term = token(column(0), "old");
    add_dated(kDocuments, term, [](std::int64_t date) { return date < 4000; });

    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    Snapshot own = snapshot(Position{kDocuments});
    // A body might have to be read, but those that the walk passes by are decided without.
    const Plan seldom = verified(carrying({term}), [](json::Value) { return true; });
    for (const bool costly : {false, true}) {
        const Plan plan = costly ? any_of(seldom, carrying({term})) : carrying({term});
        Execution execution(own, type, plan);
        ASSERT_EQ(run(execution, {}).size(), 4000U);
        const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
        for (const bool descending : {false, true}) {
            const SortKey key{&parameter, "c2", descending};
            OrderedWalk walk(own, execution, {&key, 1}, {}, 20);
            int turns = 0;
            for (bool done = false; !done; ++turns) {
                const Result<bool> advanced = walk.advance(pace);
                ASSERT_TRUE(advanced.has_value());
                done = *advanced;
            }
            EXPECT_EQ(walk.found_enough(), !descending);
            EXPECT_LT(turns, costly ? 12'800 : 200) << descending;
        }
    }
}

// Like a status that passes: almost everything that has it has been updated since.
TEST_F(SearchModel, DoesNotWalkForMatchesOfWhichAlmostAllAreDead) {
    constexpr std::uint64_t kDocuments = 40'000;
    const TypeId type = types_.front();
    const Term term = token(column(0), "passing");
    add_dated(kDocuments, term, [](std::int64_t date) { return date % 2 == 0; });

    Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    const SortKey key{&parameter, "c2", true};
    const Plan conjunction =
        all_of(parts(interval(column(2), Comparison::ge, {0, 0}), carrying({term})));
    const auto is_worthwhile = [&](const Plan& plan, Position at) {
        Snapshot own = snapshot(at);
        Execution execution(own, type, plan);
        run(execution, {.limit = 0});
        return OrderedWalk(own, execution, {&key, 1}, {}, 20).is_worthwhile();
    };
    EXPECT_TRUE(is_worthwhile(carrying({term}), {kDocuments}));
    EXPECT_TRUE(is_worthwhile(conjunction, {kDocuments}));
    for (std::uint64_t i = 0; i < kDocuments; i += i == 200 ? 4 : 2) {
        index_.died(type, {i + 1}, {kDocuments + 1});
    }
    EXPECT_FALSE(is_worthwhile(carrying({term}), {kDocuments + 1}));
    EXPECT_FALSE(is_worthwhile(conjunction, {kDocuments + 1}));
    EXPECT_TRUE(is_worthwhile(carrying({term}), {kDocuments}));
}

// Even with very many matches, others have their turns while values are read and the page is found.
TEST_F(SearchModel, SortsVeryManyInTurns) {
    constexpr std::size_t kDocuments = 40'000;
    const TypeId type = types_.front();
    std::vector<storage::SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    std::vector<std::pair<std::int64_t, std::int64_t>> values;  // in the order asked for
    for (std::size_t i = 0; i < kDocuments; ++i) {
        const auto first = static_cast<std::int64_t>(number(50));
        const auto second = static_cast<std::int64_t>(number(1'000'000));
        entries[i].intervals.push_back({column(2), first, first});
        entries[i].intervals.push_back({column(3), second, second});
        values.emplace_back(first, -second);
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
        if (documents.size() == 10'000) {
            index_.add(type, documents);
            documents.clear();
        }
    }
    std::ranges::sort(values);

    Parameter first;
    first.type = schema::SearchType::date;
    first.column = column(2);
    Parameter second = first;
    second.column = column(3);
    const std::vector<SortKey> keys{{&first, "c2", false}, {&second, "c3", true}};
    const Plan plan = everything();
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    ASSERT_EQ(run(execution, {}).size(), kDocuments);
    const std::vector<Match>& matches = execution.matches();
    constexpr std::size_t kCount = 100;
    // Expects `page` to have the values from the `at`th on, in order.
    const auto expect_page = [&](const std::vector<std::uint32_t>& page, std::size_t at) {
        ASSERT_EQ(page.size(), kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            const storage::SearchEntries& of = entries[matches[page[i]].position().value - 1];
            const std::pair value(of.intervals[0].low, -of.intervals[1].low);
            ASSERT_EQ(value, values[at + i]) << i;
        }
    };
    Position edge;
    for (std::size_t at = 0; at < 3 * kCount; at += kCount) {
        Sorter sorter(own, keys, matches);
        sorter.want(edge, false, kCount);
        const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
        int turns = 0;
        for (bool done = false; !done; ++turns) {
            const Result<bool> advanced = sorter.advance(pace);
            ASSERT_TRUE(advanced.has_value());
            done = *advanced;
        }
        EXPECT_GT(turns, 40);
        EXPECT_TRUE(sorter.found_edge());
        expect_page(sorter.page(), at);
        edge = matches[sorter.page().back()].position();
    }
    Sorter before(own, keys, matches);
    before.want(edge, true, kCount);
    ASSERT_TRUE(before.advance(Pace()).has_value());
    ASSERT_EQ(before.page().size(), kCount);
    const storage::SearchEntries& of = entries[matches[before.page().back()].position().value - 1];
    EXPECT_EQ(std::pair(of.intervals[0].low, -of.intervals[1].low), values[3 * kCount - 2]);

    Sorter none(own, keys, matches);
    none.want(Position{kDocuments + 1}, false, kCount);
    ASSERT_TRUE(none.advance(Pace()).has_value());
    EXPECT_FALSE(none.found_edge());
    EXPECT_TRUE(none.page().empty());
}

}  // namespace
}  // namespace annals::core::search
