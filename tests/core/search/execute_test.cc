#include "core/search/execute.h"

#include "core/search/intervals.h"
#include "core/search/ordered_walk.h"
#include "core/search/sort.h"
#include "core/search/terms.h"
#include "storage/search_index.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace annals::test {
namespace {

using core::search::beside;
using core::search::Column;
using core::search::column_of;
using core::search::Comparison;
using core::search::Execution;
using core::search::Match;
using core::search::Pace;
using core::search::Plan;
using core::search::Snapshot;
using core::search::Wanted;
using storage::SearchEntries;
using storage::SearchIndex;

constexpr std::size_t kTypes = 3;

// Versions of random resources, in an index with many small runs and in a list.
class SearchModel : public ::testing::Test {
  protected:
    struct Version {
        TypeId type;
        std::uint64_t key = 0;
        Position position;
        Position died = storage::kNotDied;
        bool deletion = false;
        SearchEntries entries;
    };

    SearchModel() {
        for (const std::string_view name : {"Patient", "Observation", "Encounter"}) {
            types_.push_back(type_of(name));
        }
    }

    std::uint64_t number(std::uint64_t below) { return random_() % below; }

    Column column(std::size_t index) const {
        return column_of(std::string("c") + std::to_string(index));
    }

    // What a version of a resource carries.
    void fill(SearchEntries& entries, std::uint64_t key) {
        for (int i = 0; i < 3; ++i) {
            if (number(3) != 0) {
                // Skewed, so that there are rare and common terms.
                entries.terms.push_back(
                    core::search::token(column(0), std::to_string(number(1 + number(40)))));
            }
        }
        entries.terms.push_back(core::search::identity(key));
        static const char* const kTexts[] = {"anna",  "annabel", "berta", "bertram", "carl",
                                             "carla", "dora",    "emil",  "emilia",  ""};
        for (std::uint64_t i = number(3); i > 0; --i) {
            entries.add_text(column(1), kTexts[number(10)]);
        }
        for (std::uint64_t i = number(3); i > 0; --i) {
            const auto low = static_cast<std::int64_t>(number(1000));
            const std::int64_t size = number(5) == 0
                                          ? static_cast<std::int64_t>(number(100'000'000))
                                          : static_cast<std::int64_t>(number(20));
            const std::int64_t open = low % 20;
            entries.intervals.push_back(
                {column(2), open == 0 ? INT64_MIN : low, open == 1 ? INT64_MAX : low + size});
        }
        const auto only = static_cast<std::int64_t>(number(1000));
        entries.intervals.push_back(
            {column(5), only, only + static_cast<std::int64_t>(number(number(9) == 0 ? 900 : 9))});
        if (number(2) == 0) {
            const std::string unit = number(2) == 0 ? "kg" : "g";
            const auto value = static_cast<std::int64_t>(number(50));
            entries.add_text(beside(column(3), ":units"), unit);
            entries.intervals.push_back({beside(column(3), "=" + unit), value, value + 1});
        }
        for (std::uint64_t i = number(3); i > 0; --i) {
            const std::uint64_t target = 1 + number(keys_);
            entries.links.push_back({column(4), target});
            entries.terms.push_back(core::search::reference(column(4), target));
        }
        std::sort(entries.terms.begin(), entries.terms.end());
        entries.terms.erase(std::unique(entries.terms.begin(), entries.terms.end()),
                            entries.terms.end());
    }

    // Some commits, each of some versions.
    void write(int commits) {
        for (int i = 0; i < commits; ++i) {
            std::map<std::uint16_t, std::vector<std::size_t>> added;
            std::vector<std::uint64_t> keys;
            for (std::uint64_t n = 1 + number(30); n > 0; --n) {
                const std::uint64_t key = 1 + number(keys_);
                if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
                    continue;
                }
                keys.push_back(key);
                ++last_.value;
                const TypeId type = types_[key % kTypes];
                const auto before = current_.find(key);
                if (before != current_.end()) {
                    Version& old = versions_[before->second];
                    old.died = last_;
                    deaths_.push_back({type, old.position, last_});
                }
                Version version{type, key, last_, storage::kNotDied, number(6) == 0, {}};
                if (!version.deletion) {
                    fill(version.entries, key);
                    added[type.value].push_back(versions_.size());
                    current_[key] = versions_.size();
                } else {
                    current_.erase(key);
                }
                versions_.push_back(std::move(version));
            }
            for (const auto& [type, indexes] : added) {
                std::vector<storage::IndexedDocument> documents;
                for (const std::size_t index : indexes) {
                    const Version& version = versions_[index];
                    documents.push_back({version.position, version.key, &version.entries});
                }
                index_.add({type}, documents);
            }
            for (const auto& [type, position, at] : deaths_) {
                index_.died(type, position, at);
            }
            deaths_.clear();
        }
    }

    Plan random_plan(int depth, TypeId type) {
        const std::uint64_t kind = number(depth > 0 ? 13 : 7);
        switch (kind) {
            case 0:
            case 1: {
                std::vector<core::search::Term> terms;
                for (std::uint64_t i = 1 + number(number(4) == 0 ? 80 : 3); i > 0; --i) {
                    terms.push_back(core::search::token(column(0), std::to_string(number(40))));
                }
                return core::search::carrying(std::move(terms));
            }
            case 2:
                return core::search::begins_with(column(1), number(2) == 0 ? "an" : "carl");
            case 3:
                return core::search::containing(column(1), number(2) == 0 ? "a" : "il");
            case 4:
            case 5: {
                const auto low = static_cast<std::int64_t>(number(1000));
                return core::search::interval(column(2), static_cast<Comparison>(number(9)),
                                              {low, low + static_cast<std::int64_t>(number(30))});
            }
            case 6: {
                Plan plan;
                plan.kind = Plan::Kind::quantity;
                plan.column = column(3);
                plan.comparison = static_cast<Comparison>(number(9));
                plan.text = number(2) == 0 ? "k" : "";
                const auto low = static_cast<std::int64_t>(number(50));
                plan.in_unit = [low](std::string_view unit) -> std::optional<core::search::Range> {
                    if (unit != "kg") {
                        return {};
                    }
                    return core::search::Range{low, low + 5};
                };
                return plan;
            }
            case 7:
            case 8:
                return core::search::all_of(
                    parts(random_plan(depth - 1, type), random_plan(depth - 1, type)));
            case 9:
            case 10:
                return core::search::any_of(
                    parts(random_plan(depth - 1, type), random_plan(depth - 1, type)));
            case 11:
                return core::search::negation_of(random_plan(depth - 1, type));
            default: {
                const TypeId other = types_[number(kTypes)];
                Plan inner =
                    number(4) == 0 ? core::search::everything() : random_plan(depth - 1, other);
                return number(2) == 0 ? core::search::chain(column(4), other, std::move(inner))
                                      : core::search::has(column(4), other, std::move(inner));
            }
        }
    }

    static std::vector<Plan> parts(Plan a, Plan b) {
        std::vector<Plan> parts;
        parts.push_back(std::move(a));
        parts.push_back(std::move(b));
        return parts;
    }

    bool is_visible(const Version& version, Position at) const {
        return !version.deletion && version.position <= at && version.died > at;
    }

    bool matches(const Plan& plan, const Version& version, Position at) const {
        const auto related = [&](const Plan& part, const SearchEntries&) {
            return std::any_of(versions_.begin(), versions_.end(), [&](const Version& other) {
                if (!is_visible(other, at) || other.type != part.type ||
                    !matches(part.parts.front(), other, at)) {
                    return false;
                }
                const Version& from = part.kind == Plan::Kind::chain ? version : other;
                const Version& to = part.kind == Plan::Kind::chain ? other : version;
                return std::any_of(from.entries.links.begin(), from.entries.links.end(),
                                   [&](const SearchEntries::Link& link) {
                                       return link.column == part.column && link.target == to.key;
                                   });
            });
        };
        return core::search::matches(plan, version.entries, {}, related);
    }

    // The positions of what matches, newest first, by looking at all there is.
    std::vector<std::uint64_t> scan(TypeId type, const Plan& plan, Position at) const {
        std::vector<std::uint64_t> found;
        for (auto version = versions_.rbegin(); version != versions_.rend(); ++version) {
            if (version->type == type && is_visible(*version, at) && matches(plan, *version, at)) {
                found.push_back(version->position.value);
            }
        }
        return found;
    }

    Snapshot snapshot(Position at) {
        return Snapshot([this](TypeId type) { return index_.runs(type); }, at);
    }

    static std::vector<std::uint64_t> run(Execution& execution, const Wanted& wanted,
                                          const Pace& pace = {}) {
        execution.want(wanted);
        for (;;) {
            const Result<bool> done = execution.advance(pace);
            EXPECT_TRUE(done.has_value());
            if (!done || *done) {
                break;
            }
        }
        std::vector<std::uint64_t> positions;
        for (const Match& match : execution.matches()) {
            positions.push_back(match.position().value);
        }
        return positions;
    }

    std::uint64_t keys_ = 300;

    std::mt19937_64 random_{42};
    std::vector<TypeId> types_;
    SearchIndex index_{{.positions_retained = 1'000'000, .fan_in = 4}};
    std::vector<Version> versions_;
    std::map<std::uint64_t, std::size_t> current_;
    std::vector<std::tuple<TypeId, Position, Position>> deaths_;
    Position last_;
};

TEST(KeySet, HasEachKeyOnceHoweverOftenItWasAdded) {
    core::search::KeySet few;
    core::search::KeySet many;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        few.add(i % 7);
        many.add(i % 60'000);
    }
    few.seal(Pace());
    many.seal(Pace());
    EXPECT_EQ(few.size(), 7U);
    EXPECT_EQ(many.size(), 60'000U);
    for (const std::uint64_t key : {0U, 6U, 59'999U, 60'000U}) {
        EXPECT_EQ(few.contains(key), key < 7) << key;
        EXPECT_EQ(many.contains(key), key < 60'000) << key;
    }
}

TEST(KeySet, SealsVeryManyInTurns) {
    std::mt19937_64 random{7};
    std::vector<std::uint64_t> keys{0, UINT64_MAX};
    for (int i = 0; i < 200'000; ++i) {
        keys.push_back(random());
    }
    core::search::KeySet set;
    for (int i = 0; i < 3; ++i) {
        std::ranges::shuffle(keys, random);
        for (const std::uint64_t key : keys) {
            set.add(key);
        }
    }
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    int turns = 1;
    while (!set.seal(pace)) {
        ++turns;
    }
    EXPECT_GT(turns, 100);
    std::ranges::sort(keys);
    EXPECT_EQ(set.keys(), keys);
    for (int i = 0; i < 1'000; ++i) {
        const std::uint64_t key = keys[random() % keys.size()];
        EXPECT_TRUE(set.contains(key));
        EXPECT_EQ(set.contains(key + 1), std::ranges::binary_search(keys, key + 1));
        EXPECT_FALSE(set.contains(random()));
    }
    EXPECT_TRUE(set.contains(0));
    EXPECT_TRUE(set.contains(UINT64_MAX));
    EXPECT_FALSE(set.contains(1));
}

// Quantities with a comparator, as `less than -3`, are open at one end and may yet be short for their column.
TEST(Intervals, CompareAsEachDoesByItselfHoweverLongTheyAre) {
    using core::search::ordered;
    const std::array<std::int64_t, 9> ends{INT64_MIN,    ordered(-100), ordered(-30),
                                           ordered(-3),  ordered(0),    ordered(2.1),
                                           ordered(100), ordered(1e18), INT64_MAX};
    std::mt19937_64 random(42);
    for (int round = 0; round < 300; ++round) {
        std::vector<SearchEntries> entries(1 + random() % 10);
        std::vector<storage::IndexedDocument> documents;
        for (SearchEntries& one : entries) {
            const auto [low, high] =
                std::minmax({ends[random() % ends.size()], ends[random() % ends.size()]});
            one.intervals.push_back({1, low, high});
            documents.push_back({Position{documents.size() + 1}, documents.size() + 1, &one});
        }
        const auto run = storage::SearchRun::build(documents);
        const storage::IntervalColumn column = run->intervals(1);
        for (std::size_t i = 0; i < 9 * (ends.size() - 2); ++i) {
            const auto comparison = static_cast<Comparison>(i % 9);
            const std::size_t end = 1 + i / 9;
            const core::search::Range asked{
                ends[end], ends[end + random() % std::min<std::size_t>(3, ends.size() - 1 - end)]};
            const auto stretch = core::search::find_stretch(column, comparison, asked);
            core::search::DocumentSet found;
            found.reset(run->size());
            core::search::add_documents(column, stretch, comparison, asked, found);
            found.seal();
            for (std::uint32_t document = 0; document < run->size(); ++document) {
                const auto& own = entries[document].intervals.front();
                ASSERT_EQ(found.contains(document),
                          core::search::compares(comparison, {own.low, own.high}, asked))
                    << "round " << round << " comparison " << i % 9 << " of " << own.low << " to "
                    << own.high << " with " << asked.low << " to " << asked.high;
            }
        }
    }
}

TEST_F(SearchModel, FindsWhatAScanOfEverythingFinds) {
    std::size_t found = 0;
    for (int round = 0; round < 12; ++round) {
        write(12);
        for (int i = 0; i < 120; ++i) {
            const TypeId type = types_[number(kTypes)];
            const Plan plan = random_plan(3, type);
            // Also as it was some time ago.
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
    Plan quantity;
    quantity.kind = Plan::Kind::quantity;
    quantity.column = column(3);
    quantity.in_unit = [&asked](std::string_view) {
        ++asked;
        return std::optional(core::search::Range{0, 100});
    };
    for (const char* const code : {"absent", "0"}) {
        const Plan plan = core::search::all_of(
            parts(core::search::carrying({core::search::token(column(0), code)}), quantity));
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
    Plan quantity;
    quantity.kind = Plan::Kind::quantity;
    quantity.column = column(3);
    quantity.in_unit = [&asked](std::string_view) {
        ++asked;
        return std::optional(core::search::Range{0, 100});
    };
    const Plan nobody = core::search::carrying({core::search::token(column(0), "absent")});
    for (const bool forwards : {false, true}) {
        const Plan link = forwards ? core::search::chain(column(4), types_[1], quantity)
                                   : core::search::has(column(4), types_[1], quantity);
        const Plan plan = core::search::all_of(parts(link, nobody));
        Snapshot own = snapshot(last_);
        Execution few(own, types_[0], plan);
        EXPECT_EQ(run(few, {}), std::vector<std::uint64_t>());
        EXPECT_EQ(asked, 0);
        // Who wants nothing wants to know what chains come to.
        Execution all(own, types_[0], plan);
        run(all, {.limit = 0});
        EXPECT_GT(std::exchange(asked, 0), 0);
    }
}

// As of an `_id` with very many values: a document is not looked for in what each of them has.
TEST_F(SearchModel, LooksIntoWhatManyTermsHaveAtOnce) {
    write(80);
    const TypeId type = types_.front();
    std::vector<core::search::Term> terms;
    for (std::uint64_t key = 1; key <= keys_; ++key) {
        if (key % 4 != 0) {
            terms.push_back(core::search::identity(key));
        }
    }
    for (const bool together : {false, true}) {
        Plan plan = core::search::carrying(terms);
        if (together) {
            plan = core::search::all_of(
                parts(std::move(plan), core::search::begins_with(column(1), "an")));
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
    const Plan plan = core::search::carrying(terms);
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    bool any = false;
    for (const auto& one : own.runs(type).runs) {
        const core::search::BoundPlan bound = execution.bind_to(one);
        any = any || bound.kind == core::search::BoundPlan::Kind::gathered;
        EXPECT_LE(bound.postings.size(), 16U);
    }
    EXPECT_TRUE(any);
}

// As of 17 common codes: to gather them everywhere for a total that nobody asked for takes longer than the page.
TEST_F(SearchModel, ReckonsWhatManyTermsHaveAsWorkOfCounting) {
    constexpr std::uint64_t kDocuments = 30'000;
    constexpr std::uint64_t kTerms = 17;
    const TypeId type = types_.front();
    std::vector<core::search::Term> terms;
    for (std::uint64_t i = 0; i < kTerms; ++i) {
        terms.push_back(core::search::token(column(0), std::to_string(i)));
    }
    std::vector<SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        entries[i].terms.push_back(terms[i % kTerms]);
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);

    for (const std::size_t count : {kTerms - 1, kTerms}) {
        const Plan plan = core::search::carrying(
            {terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count)});
        Snapshot own = snapshot(Position{kDocuments});
        Execution execution(own, type, plan);
        EXPECT_EQ(run(execution, {.limit = 20}).size(), 20U);
        EXPECT_GT(execution.counting_cost(), 20'000U) << count;
    }
}

TEST_F(SearchModel, CountsWhereFewHaveDied) {
    keys_ = 20'000;
    write(200);
    index_.wait_until_idle();
    for (int i = 0; i < 60; ++i) {
        const TypeId type = types_[number(kTypes)];
        const Plan plan = i % 4 == 0 ? core::search::everything() : random_plan(0, type);
        for (const Position at : {last_, Position{last_.value - number(20)}}) {
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            run(execution, {.count_only = true});
            EXPECT_EQ(execution.count(), scan(type, plan, at).size());
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

TEST_F(SearchModel, WalksInTheOrderThatSortingGives) {
    std::size_t walked = 0;
    for (int round = 0; round < 6; ++round) {
        write(20);
        for (int i = 0; i < 60; ++i) {
            const TypeId type = types_[number(kTypes)];
            // Of the first one a document may have several, of the second one each has one.
            const Column sorted_by = column(number(2) == 0 ? 2 : 5);
            Plan plan = number(3) == 0 ? core::search::everything() : random_plan(1, type);
            if (number(2) == 0) {
                const auto low = static_cast<std::int64_t>(number(1000));
                plan = core::search::all_of(
                    parts(std::move(plan),
                          core::search::interval(sorted_by, static_cast<Comparison>(number(9)),
                                                 {low, low + 30})));
            }
            const Position at{number(3) == 0 ? 1 + number(last_.value) : last_.value};
            core::search::Parameter parameter;
            parameter.type = schema::SearchType::date;
            parameter.column = sorted_by;
            const std::vector<core::search::SortKey> keys{{&parameter, "c", number(2) == 0}};
            Snapshot own = snapshot(at);
            Execution execution(own, type, plan);
            run(execution, {});
            core::search::Sorter sorter(own, keys, execution.matches());
            sorter.want({}, false, 1'000'000);
            ASSERT_TRUE(sorter.advance(Pace()).has_value());
            std::vector<std::uint64_t> expected;
            for (const std::uint32_t index : sorter.page()) {
                expected.push_back(execution.matches()[index].position().value);
            }

            // In pages, each from where the one before ended, as long as there are enough values.
            const std::size_t count = 1 + number(7);
            Position edge;
            std::size_t next = 0;
            for (;;) {
                core::search::OrderedWalk walk(own, execution, keys.front(), edge, count);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                for (std::size_t j = 0; j < walk.matches().size(); ++j) {
                    ASSERT_LT(next, expected.size());
                    edge = walk.matches()[j].position();
                    ASSERT_EQ(edge.value, expected[next++]) << "round " << round << " " << i;
                    ++walked;
                }
                if (!walk.found_enough()) {
                    break;
                }
            }
            // Of what doesn't match the order tells nothing.
            const Position other{1 + static_cast<std::uint64_t>(37 * i + round) % last_.value};
            if (std::ranges::find(expected, other.value) == expected.end()) {
                core::search::OrderedWalk walk(own, execution, keys.front(), other, count);
                ASSERT_TRUE(walk.advance(Pace()).has_value());
                EXPECT_FALSE(walk.found_enough()) << other.value;
                EXPECT_TRUE(walk.matches().empty());
            }
            // What is left has no value.
            for (; next < expected.size(); ++next) {
                const auto version = std::find_if(
                    versions_.begin(), versions_.end(),
                    [&](const Version& one) { return one.position.value == expected[next]; });
                EXPECT_TRUE(std::none_of(version->entries.intervals.begin(),
                                         version->entries.intervals.end(),
                                         [&](const SearchEntries::Interval& interval) {
                                             return interval.column == sorted_by;
                                         }));
            }
        }
    }
    EXPECT_GT(walked, 2'000U);
}

// As of what is from today on, the next first: what was before is not gone through.
TEST_F(SearchModel, WalksNoFurtherThanThePlanSaysOfTheOrder) {
    write(300);
    const TypeId type = types_.front();
    core::search::Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(5);
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    for (const bool descending : {false, true}) {
        const Plan plan =
            core::search::interval(column(5), descending ? Comparison::eb : Comparison::sa,
                                   {descending ? 300 : 700, descending ? 300 : 700});
        Snapshot own = snapshot(last_);
        Execution execution(own, type, plan);
        ASSERT_GT(run(execution, {}).size(), 10U);
        const core::search::SortKey key{&parameter, "c5", descending};
        core::search::OrderedWalk walk(own, execution, key, {}, 3);
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

// As of a code that is no longer used, the newest first: all that is newer would be gone through.
TEST_F(SearchModel, GivesUpAWalkWhoseMatchesAreAllAtItsEnd) {
    constexpr std::uint64_t kDocuments = 40'000;
    const TypeId type = types_.front();
    const core::search::Term term = core::search::token(column(0), "old");
    std::vector<SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    for (std::uint64_t i = 0; i < kDocuments; ++i) {
        const auto date = static_cast<std::int64_t>(i * 7919 % kDocuments);
        entries[i].intervals.push_back({column(2), date, date});
        if (date < 4000) {
            entries[i].terms.push_back(term);
        }
        documents.push_back({Position{i + 1}, i + 1, &entries[i]});
    }
    index_.add(type, documents);

    core::search::Parameter parameter;
    parameter.type = schema::SearchType::date;
    parameter.column = column(2);
    const Plan plan = core::search::carrying({term});
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    ASSERT_EQ(run(execution, {}).size(), 4000U);
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    for (const bool descending : {false, true}) {
        const core::search::SortKey key{&parameter, "c2", descending};
        core::search::OrderedWalk walk(own, execution, key, {}, 20);
        int turns = 0;
        for (bool done = false; !done; ++turns) {
            const Result<bool> advanced = walk.advance(pace);
            ASSERT_TRUE(advanced.has_value());
            done = *advanced;
        }
        EXPECT_EQ(walk.found_enough(), !descending);
        EXPECT_LT(turns, 200) << descending;
    }
}

// Of very many, too, others have their turns while values are taken and the page is found.
TEST_F(SearchModel, SortsVeryManyInTurns) {
    constexpr std::size_t kDocuments = 40'000;
    const TypeId type = types_.front();
    std::vector<SearchEntries> entries(kDocuments);
    std::vector<storage::IndexedDocument> documents;
    std::vector<std::pair<std::int64_t, std::int64_t>> values;  // in the order that is asked for
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

    core::search::Parameter first;
    first.type = schema::SearchType::date;
    first.column = column(2);
    core::search::Parameter second = first;
    second.column = column(3);
    const std::vector<core::search::SortKey> keys{{&first, "c2", false}, {&second, "c3", true}};
    const Plan plan = core::search::everything();
    Snapshot own = snapshot(Position{kDocuments});
    Execution execution(own, type, plan);
    ASSERT_EQ(run(execution, {}).size(), kDocuments);
    const std::vector<Match>& matches = execution.matches();
    constexpr std::size_t kCount = 100;
    // Where `page` stands in the order: that of its own first match.
    const auto expect_page = [&](const std::vector<std::uint32_t>& page, std::size_t at) {
        ASSERT_EQ(page.size(), kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            const SearchEntries& of = entries[matches[page[i]].position().value - 1];
            const std::pair value(of.intervals[0].low, -of.intervals[1].low);
            ASSERT_EQ(value, values[at + i]) << i;
        }
    };
    Position edge;
    for (std::size_t at = 0; at < 3 * kCount; at += kCount) {
        core::search::Sorter sorter(own, keys, matches);
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
    core::search::Sorter before(own, keys, matches);
    before.want(edge, true, kCount);
    ASSERT_TRUE(before.advance(Pace()).has_value());
    ASSERT_EQ(before.page().size(), kCount);
    const SearchEntries& of = entries[matches[before.page().back()].position().value - 1];
    EXPECT_EQ(std::pair(of.intervals[0].low, -of.intervals[1].low), values[3 * kCount - 2]);

    core::search::Sorter none(own, keys, matches);
    none.want(Position{kDocuments + 1}, false, kCount);
    ASSERT_TRUE(none.advance(Pace()).has_value());
    EXPECT_FALSE(none.found_edge());
    EXPECT_TRUE(none.page().empty());
}

TEST_F(SearchModel, SaysWhenASnapshotIsTooOld) {
    SearchIndex index({.positions_retained = 50, .fan_in = 2, .pending_documents = 0});
    const TypeId type = types_.front();
    // One resource, written again and again: all but the last versions die.
    for (std::uint64_t position = 1; position <= 2000; ++position) {
        SearchEntries entries;
        fill(entries, 1);
        const storage::IndexedDocument document{{position}, 1, &entries};
        index.add(type, {&document, 1});
        index.died(type, {position - 1}, {position});
    }
    index.wait_until_idle();
    const auto runs_of = [&](TypeId of) { return index.runs(of); };
    EXPECT_FALSE(Snapshot(runs_of, {1}).answers(type));
    EXPECT_TRUE(Snapshot(runs_of, {2000}).answers(type));

    // A chain into the type fails the search of any other.
    Snapshot old(runs_of, {1});
    const Plan plan = core::search::chain(column(4), type, core::search::everything());
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

TEST_F(SearchModel, LooksAtTheClockTheMoreOftenTheMoreThereIsToTest) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Plan> parts;
    for (std::int64_t i = 0; i < 2000; ++i) {
        parts.push_back(core::search::interval(column(2), Comparison::gt, {i, i}));
    }
    const Plan plan = core::search::any_of(std::move(parts));
    Snapshot own = snapshot(last_);
    Execution execution(own, type, plan);
    execution.want({});
    // Every turn is over before it begins.
    const Pace pace{std::chrono::microseconds(1)};
    int turns = 0;
    for (bool done = false; !done; ++turns) {
        const Result<bool> advanced = execution.advance(pace);
        ASSERT_TRUE(advanced.has_value());
        done = *advanced;
    }
    // Not only when documents are tested: also after each condition that is bound to a run.
    EXPECT_GT(turns, 2000);
    EXPECT_TRUE(execution.is_large());
    std::vector<std::uint64_t> found;
    for (const Match& match : execution.matches()) {
        found.push_back(match.position().value);
    }
    EXPECT_EQ(found, scan(type, plan, last_));
}

// As of a reference to any type: most of its chains come to nothing, and cost nothing.
TEST_F(SearchModel, CountsWhereFewOfManyChainsComeToSomething) {
    write(80);
    const TypeId type = types_.front();
    std::vector<Plan> parts;
    parts.push_back(core::search::chain(column(4), types_.back(), core::search::everything()));
    for (int i = 0; i < 150; ++i) {
        Plan none = core::search::carrying({core::search::token(column(0), "none")});
        parts.push_back(core::search::chain(column(4), types_.back(), std::move(none)));
    }
    const Plan plan = core::search::any_of(std::move(parts));
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
        parts.push_back(core::search::interval(column(2), Comparison::lt, {900 - i, 900 - i}));
    }
    const Plan plan = core::search::all_of(std::move(parts));
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
}  // namespace annals::test
