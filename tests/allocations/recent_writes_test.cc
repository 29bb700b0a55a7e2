// The memory that is kept of recent writes.

#include "storage/recent_writes.h"

#include "tests/allocations/counted_heap.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace annals::storage {
namespace {

TEST(RecentWritesMemory, IsLittleForWhatComesAfterAVersionWithVeryManyTerms) {
    constexpr std::size_t kTerms = 4 << 20;
    RecentWrites recent({0});
    {
        SearchEntries heavy;
        heavy.terms.resize(kTerms);
        recent.add(TypeId{1}, {1}, 1, &heavy);
    }
    const std::int64_t before = test::held_bytes.load();
    recent.add(TypeId{1}, {2}, 1, nullptr);
    EXPECT_LT(test::held_bytes.load() - before, 2 << 20);
}

}  // namespace
}  // namespace annals::storage
