#include "core/search/intervals.h"

#include "core/search/execute.h"
#include "storage/search_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace annals::core::search {
namespace {

// Quantities with a comparator, like `less than -3`, are open at one end and may still count as short in their column.
TEST(Intervals, CompareAsEachDoesByItselfHoweverLongTheyAre) {
    const std::array<std::int64_t, 9> ends{INT64_MIN,    ordered(-100), ordered(-30),
                                           ordered(-3),  ordered(0),    ordered(2.1),
                                           ordered(100), ordered(1e18), INT64_MAX};
    std::mt19937_64 random(42);
    for (int round = 0; round < 300; ++round) {
        std::vector<storage::SearchEntries> entries(1 + random() % 10);
        std::vector<storage::IndexedDocument> documents;
        for (storage::SearchEntries& one : entries) {
            const auto [low, high] =
                std::minmax({ends[random() % ends.size()], ends[random() % ends.size()]});
            one.intervals.push_back({1, low, high});
            documents.push_back({Position{documents.size() + 1}, documents.size() + 1, &one});
        }
        const auto run = storage::SearchRun::build(documents);
        const storage::IntervalColumn column = run->intervals(1);
        for (std::size_t i = 0; i < 10 * (ends.size() - 2); ++i) {
            const auto comparison = static_cast<Comparison>(i % 10);
            const std::size_t end = 1 + i / 10;
            const Range asked{
                ends[end], ends[end + random() % std::min<std::size_t>(3, ends.size() - 1 - end)]};
            const IntervalCondition condition(column, comparison, asked);
            DocumentSet found;
            found.reset(run->size());
            condition.add_to(found);
            found.seal();
            for (std::uint32_t document = 0; document < run->size(); ++document) {
                const auto& own = entries[document].intervals.front();
                const bool expected = compares(comparison, {own.low, own.high}, asked);
                ASSERT_EQ(condition.holds(document), expected);
                ASSERT_EQ(found.contains(document), expected)
                    << "round " << round << " comparison " << i % 10 << " of " << own.low << " to "
                    << own.high << " with " << asked.low << " to " << asked.high;
            }
        }
    }
}

}  // namespace
}  // namespace annals::core::search
