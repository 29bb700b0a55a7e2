// Versions of random resources in a search index, and a scan of them all to compare executions with.

#pragma once

#include "core/search/execute.h"
#include "core/search/terms.h"
#include "storage/search_index.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace annals::core::search {

// Versions of random resources, in an index with many small runs and in a list.
class SearchModel : public ::testing::Test {
  protected:
    static constexpr std::size_t kTypes = 3;

    struct Version {
        TypeId type;
        std::uint64_t key = 0;
        Position position;
        Position died = storage::kNotDied;
        bool deletion = false;
        storage::SearchEntries entries;
    };

    SearchModel() {
        for (const std::string_view name : {"Patient", "Observation", "Encounter"}) {
            types_.push_back(test::type_of(name));
        }
    }

    std::uint64_t number(std::uint64_t below) { return random_() % below; }

    Column column(std::size_t index) const {
        return column_of(std::string("c") + std::to_string(index));
    }

    // The search entries of a version.
    void fill(storage::SearchEntries& entries, std::uint64_t key) {
        for (int i = 0; i < 3; ++i) {
            if (number(3) != 0) {
                // Skewed, so that there are rare and common terms.
                entries.terms.push_back(token(column(0), std::to_string(number(1 + number(40)))));
            }
        }
        entries.terms.push_back(identity(key));
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
        // Many share an instant, and not in commit order, as in a history bundle.
        const auto instant = static_cast<std::int64_t>((key + versions_.size()) * 7919 % 100);
        entries.intervals.push_back({column_of("_lastUpdated"), instant, instant});
        if (number(2) == 0) {
            const std::string unit = number(2) == 0 ? "kg" : "g";
            const auto value = static_cast<std::int64_t>(number(50));
            entries.add_text(beside(column(3), ":units"), unit);
            entries.intervals.push_back({beside(column(3), "=" + unit), value, value + 1});
        }
        for (std::uint64_t i = number(3); i > 0; --i) {
            const std::uint64_t target = 1 + number(keys_);
            entries.links.push_back({column(4), target});
            entries.terms.push_back(reference(column(4), target));
        }
        std::sort(entries.terms.begin(), entries.terms.end());
        entries.terms.erase(std::unique(entries.terms.begin(), entries.terms.end()),
                            entries.terms.end());
    }

    // Writes some commits of several versions each.
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

    // What the version is sorted by in an order by a date or number.
    std::optional<std::int64_t> value_of(Position position, Column column, bool descending) const {
        std::optional<std::int64_t> value;
        for (const auto& interval : versions_[position.value - 1].entries.intervals) {
            if (interval.column != column) {
                continue;
            }
            const std::int64_t one = descending ? interval.high : interval.low;
            if (!value || (descending ? one > *value : one < *value)) {
                value = one;
            }
        }
        return value;
    }

    // Adds documents of the first type at the positions from 1 on, whose dates, in column 2, are all those below `count`, shuffled;
    // those at whose date `carries` is true have `term`.
    template <typename Carries>
    void add_dated(std::uint64_t count, Term term, const Carries& carries) {
        std::vector<storage::SearchEntries> entries(count);
        std::vector<storage::IndexedDocument> documents;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto date = static_cast<std::int64_t>(i * 7919 % count);
            entries[i].intervals.push_back({column(2), date, date});
            if (carries(date)) {
                entries[i].terms.push_back(term);
            }
            documents.push_back({Position{i + 1}, i + 1, &entries[i]});
        }
        index_.add(types_.front(), documents);
    }

    Plan random_plan(int depth, TypeId type) {
        const std::uint64_t kind = number(depth > 0 ? 13 : 7);
        switch (kind) {
            case 0:
            case 1: {
                std::vector<Term> terms;
                for (std::uint64_t i = 1 + number(number(4) == 0 ? 80 : 3); i > 0; --i) {
                    terms.push_back(token(column(0), std::to_string(number(40))));
                }
                return carrying(std::move(terms));
            }
            case 2:
                return begins_with(column(1), number(2) == 0 ? "an" : "carl");
            case 3:
                return containing(column(1), number(2) == 0 ? "a" : "il");
            case 4:
            case 5: {
                const auto low = static_cast<std::int64_t>(number(1000));
                return interval(column(2), static_cast<Comparison>(number(9)),
                                {low, low + static_cast<std::int64_t>(number(30))});
            }
            case 6: {
                Plan plan;
                plan.kind = Plan::Kind::quantity;
                plan.column = column(3);
                plan.comparison = static_cast<Comparison>(number(9));
                plan.text = number(2) == 0 ? "k" : "";
                const auto low = static_cast<std::int64_t>(number(50));
                plan.in_unit = [low](std::string_view unit) -> std::optional<Range> {
                    if (unit != "kg") {
                        return {};
                    }
                    return Range{low, low + 5};
                };
                return plan;
            }
            case 7:
            case 8:
                return all_of(parts(random_plan(depth - 1, type), random_plan(depth - 1, type)));
            case 9:
            case 10:
                return any_of(parts(random_plan(depth - 1, type), random_plan(depth - 1, type)));
            case 11:
                return negation_of(random_plan(depth - 1, type));
            default: {
                const TypeId other = types_[number(kTypes)];
                Plan inner = number(4) == 0 ? everything() : random_plan(depth - 1, other);
                return number(2) == 0 ? chain(column(4), other, std::move(inner))
                                      : has(column(4), other, std::move(inner));
            }
        }
    }

    /// A plan that counts in `asked` how often a value is examined.
    Plan counted_quantity(int& asked) const {
        Plan plan;
        plan.kind = Plan::Kind::quantity;
        plan.column = column(3);
        plan.in_unit = [&asked](std::string_view) {
            ++asked;
            return std::optional(Range{0, 100});
        };
        return plan;
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
        const auto related = [&](const Plan& part, const storage::SearchEntries&) {
            return std::any_of(versions_.begin(), versions_.end(), [&](const Version& other) {
                if (!is_visible(other, at) || other.type != part.type ||
                    !matches(part.parts.front(), other, at)) {
                    return false;
                }
                const Version& from = part.kind == Plan::Kind::chain ? version : other;
                const Version& to = part.kind == Plan::Kind::chain ? other : version;
                return std::any_of(from.entries.links.begin(), from.entries.links.end(),
                                   [&](const storage::SearchEntries::Link& link) {
                                       return link.column == part.column && link.target == to.key;
                                   });
            });
        };
        return search::matches(plan, version.entries, {}, related);
    }

    // The positions of all matches, newest first, by a full scan.
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
    storage::SearchIndex index_{{.positions_retained = 1'000'000, .fan_in = 4}};
    std::vector<Version> versions_;
    std::map<std::uint64_t, std::size_t> current_;
    std::vector<std::tuple<TypeId, Position, Position>> deaths_;
    Position last_;
};

}  // namespace annals::core::search
