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

std::vector<std::uint32_t> died_in(RunFacts& facts, const std::shared_ptr<const SearchRun>& run) {
    const roaring_bitmap_t* const died = facts.died(run).bitmap.get();
    std::vector<std::uint32_t> documents(died == nullptr ? 0
                                                         : roaring_bitmap_get_cardinality(died));
    if (died != nullptr) {
        roaring_bitmap_to_uint32_array(died, documents.data());
    }
    return documents;
}

TEST(RunFacts, AddsThoseThatDieLater) {
    constexpr std::uint32_t kLast = SearchRun::kBlock + 4;
    const auto run = run_of(kLast + 1);
    RunFacts facts;
    EXPECT_EQ(died_in(facts, run), std::vector<std::uint32_t>());
    run->mark_died(kLast, {5000});
    EXPECT_EQ(died_in(facts, run), (std::vector<std::uint32_t>{kLast}));
    EXPECT_EQ(facts.died(run).last.value, 5000U);
    run->mark_died(7, {5001});
    run->mark_died(SearchRun::kBlock, {0});
    EXPECT_EQ(died_in(facts, run), (std::vector<std::uint32_t>{7, SearchRun::kBlock, kLast}));
    EXPECT_EQ(facts.died(run).last.value, 5001U);
    run->mark_died(8, {5002});
    EXPECT_EQ(died_in(facts, run), (std::vector<std::uint32_t>{7, 8, SearchRun::kBlock, kLast}));
    EXPECT_EQ(facts.died(run).last.value, 5002U);
}

}  // namespace
}  // namespace annals::core::search
