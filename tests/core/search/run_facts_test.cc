#include "core/search/run_facts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace annals::core::search {
namespace {

using storage::SearchRun;

std::shared_ptr<const SearchRun> run_of(std::uint32_t size) {
    static const storage::SearchEntries kNone;
    std::vector<storage::IndexedDocument> documents;
    for (std::uint32_t i = 0; i < size; ++i) {
        documents.push_back({{i + 1}, i, &kNone});
    }
    return SearchRun::build(documents);
}

using Documents = std::vector<std::uint32_t>;

Documents dead_at(std::uint64_t position, RunFacts& facts,
                  const std::shared_ptr<const SearchRun>& run) {
    const roaring_bitmap_t* const dead = facts.dead(run, {position});
    Documents documents(dead == nullptr ? 0 : roaring_bitmap_get_cardinality(dead));
    if (dead != nullptr) {
        roaring_bitmap_to_uint32_array(dead, documents.data());
    }
    return documents;
}

TEST(RunFacts, AddsThoseThatDieLater) {
    constexpr std::uint32_t kLast = SearchRun::kBlock + 4;
    const auto run = run_of(kLast + 1);
    RunFacts facts;
    EXPECT_EQ(dead_at(9000, facts, run), Documents());
    run->mark_died(kLast, {5000});
    EXPECT_EQ(dead_at(9000, facts, run), Documents({kLast}));
    run->mark_died(7, {5001});
    run->mark_died(SearchRun::kBlock, {0});
    EXPECT_EQ(dead_at(9000, facts, run), Documents({7, SearchRun::kBlock, kLast}));
    run->mark_died(8, {5002});
    EXPECT_EQ(dead_at(9000, facts, run), Documents({7, 8, SearchRun::kBlock, kLast}));
}

TEST(RunFacts, LeavesOutThoseThatDiedAfterThePosition) {
    constexpr std::uint32_t kLast = 2 * SearchRun::kBlock;
    const auto run = run_of(kLast + 1);
    RunFacts facts;
    run->mark_died(kLast, {4000});
    run->mark_died(8, {5000});
    run->mark_died(SearchRun::kBlock, {5001});
    run->mark_died(7, {5002});
    EXPECT_EQ(dead_at(3999, facts, run), Documents());
    EXPECT_EQ(dead_at(4000, facts, run), Documents({kLast}));
    EXPECT_EQ(dead_at(5000, facts, run), Documents({8, kLast}));
    EXPECT_EQ(dead_at(5001, facts, run), Documents({8, SearchRun::kBlock, kLast}));
    EXPECT_EQ(dead_at(5002, facts, run), Documents({7, 8, SearchRun::kBlock, kLast}));
    run->mark_died(7, {0});  // erased: as if it had never been there
    EXPECT_EQ(dead_at(4000, facts, run), Documents({7, kLast}));
}

}  // namespace
}  // namespace annals::core::search
