// Readers search while versions are written, turned into runs and merged.

#include "core/search/execute.h"
#include "core/search/terms.h"
#include "storage/search_index.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

using namespace core::search;
using storage::SearchEntries;
using storage::SearchIndex;

constexpr std::uint64_t kResources = 60;
constexpr std::uint64_t kVersions = 5'000;

/// The entries of each version: every condition holds for each resource once, whatever has become of its older versions.
void fill(SearchEntries& entries, std::uint64_t key, std::uint64_t position) {
    entries.clear();
    entries.terms = {token(column_of("code"), key % 2 == 0 ? "even" : "odd"), identity(key)};
    entries.add_text(column_of("name"), "anna " + std::to_string(key % 7));
    const auto at = static_cast<std::int64_t>(position);
    entries.intervals.push_back({column_of("date"), at, at + (key % 5 == 0 ? 100'000 : 0)});
    entries.add_text(beside(column_of("value"), ":units"), key % 3 == 0 ? "kg" : "g");
    entries.intervals.push_back({beside(column_of("value"), key % 3 == 0 ? "=kg" : "=g"), at, at});
    const std::uint64_t next = key % kResources + 1;
    entries.links.push_back({column_of("subject"), next});
    entries.terms.push_back(reference(column_of("subject"), next));
    std::sort(entries.terms.begin(), entries.terms.end());
}

Plan any_quantity() {
    Plan plan = interval(column_of("value"), Comparison::ge, {0, 0});
    plan.kind = Plan::Kind::quantity;
    plan.in_unit = [](std::string_view) { return std::optional(Range{0, 0}); };
    return plan;
}

std::vector<Plan> plans(TypeId type) {
    std::vector<Plan> plans;
    plans.push_back(everything());
    plans.push_back(carrying({token(column_of("code"), "even"), token(column_of("code"), "odd")}));
    plans.push_back(containing(column_of("name"), "nn"));
    plans.push_back(begins_with(column_of("name"), "anna"));
    plans.push_back(interval(column_of("date"), Comparison::ge, {0, 0}));
    plans.push_back(any_quantity());
    plans.push_back(negation_of(carrying({token(column_of("code"), "neither")})));
    plans.push_back(chain(column_of("subject"), type, everything()));
    return plans;
}

class Reader {
  public:
    Reader(const SearchIndex& index, TypeId type, const std::atomic<std::uint64_t>& published)
        : index_(index), type_(type), published_(published), plans_(plans(type)) {}

    /// Expects every plan to find, and to count, each resource at the position once. False: the snapshot is too old already.
    bool look() {
        const Position at{published_.load(std::memory_order_acquire)};
        Snapshot snapshot([this](TypeId type) { return index_.runs(type); }, at);
        if (at.value < kResources || !snapshot.answers(type_)) {
            return false;
        }
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            Execution execution(snapshot, type_, plans_[i]);
            execution.want({});
            EXPECT_TRUE(execution.advance(Pace()));
            std::set<std::uint64_t> keys;
            for (const Match& match : execution.matches()) {
                keys.insert(match.key());
            }
            EXPECT_EQ(execution.matches().size(), kResources) << "plan " << i << " at " << at.value;
            EXPECT_EQ(keys.size(), kResources) << "plan " << i << " at " << at.value;
            execution.want({.count_only = true});
            EXPECT_TRUE(execution.advance(Pace()));
            EXPECT_EQ(execution.count(), kResources) << "plan " << i << " at " << at.value;
        }
        return true;
    }

  private:
    const SearchIndex& index_;
    TypeId type_;
    const std::atomic<std::uint64_t>& published_;
    std::vector<Plan> plans_;
};

TEST(ConcurrentSearch, FindsEveryResourceOnceWhileRunsAreMadeAndMerged) {
    const TypeId type = type_of("Patient");
    SearchIndex index({.positions_retained = 2'000,
                       .fan_in = 3,
                       .runs_wanted = 8,
                       .runs_max = 12,
                       .pending_documents = 16});
    std::atomic<std::uint64_t> published = 0;
    std::atomic<std::uint64_t> looks = 0;
    std::atomic<bool> stop = false;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            Reader reader(index, type, published);
            while (!stop && !::testing::Test::HasFailure()) {
                looks += reader.look() ? 1 : 0;
            }
        });
    }

    std::mt19937_64 random(3);
    std::vector<Position> current(kResources + 1);
    SearchEntries entries;
    std::uint64_t position = 0;
    // On a busy machine, this continues until the readers have looked often enough.
    while (position < kVersions || (looks < 20 && !::testing::Test::HasFailure())) {
        ++position;
        const std::uint64_t key = position <= kResources ? position : 1 + random() % kResources;
        fill(entries, key, position);
        const storage::IndexedDocument document{{position}, key, &entries};
        index.add(type, {&document, 1});
        if (current[key] != Position{}) {
            index.died(type, current[key], {position});
        }
        current[key] = {position};
        published.store(position, std::memory_order_release);
        if (position % 1'024 == 0) {
            index.wait_until_idle();
        }
    }
    index.wait_until_idle();
    stop = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_GT(index.stats().merges, 0U);
    Reader last(index, type, published);
    EXPECT_TRUE(last.look());
}

}  // namespace
}  // namespace annals::test
