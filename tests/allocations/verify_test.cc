// The memory that verify takes beside its index.

#include "storage/verify.h"

#include "storage/store.h"
#include "tests/allocations/counted_heap.h"
#include "tests/support/commits.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::storage {
namespace {

constexpr std::uint64_t kSegmentBytes = 32 << 20;

TEST(Verify, HoldsNoSegmentInMemory) {
    const test::TemporaryDirectory directory;
    {
        StoreOptions options;
        options.segment_bytes = kSegmentBytes;
        const auto store = Store::open(posix_file_system(), directory.path(), std::move(options));
        ASSERT_TRUE(store) << store.error().detail;
        for (int i = 0; (*store)->metrics().segments < 2; ++i) {
            test::put(**store, "Patient", "p" + std::to_string(i), std::string(1 << 20, 'x'));
        }
    }
    test::largest_allocation = 0;
    const auto report = verify(posix_file_system(), directory.path());
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->segments, 2U);
    EXPECT_LT(test::largest_allocation.load(), kSegmentBytes / 4);
}

}  // namespace
}  // namespace annals::storage
