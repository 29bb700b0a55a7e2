#include "storage/reader_counts.h"

#include "storage/segment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <thread>

namespace annals::storage {
namespace {

TEST(ReaderCounts, KnowsOfReadersOnAnyThread) {
    const ReaderCounts counts;
    EXPECT_TRUE(counts.none());
    std::optional<ReaderCounts::Reader> here(counts);
    EXPECT_FALSE(counts.none());
    std::latch counted(1);
    std::latch leave(1);
    std::thread other([&] {
        const ReaderCounts::Reader there(counts);
        counted.count_down();
        leave.wait();
    });
    counted.wait();
    here.reset();
    EXPECT_FALSE(counts.none());
    leave.count_down();
    other.join();
    EXPECT_TRUE(counts.none());
}

TEST(ReaderCounts, WaitsForThoseWhoWereThere) {
    const ReaderCounts counts;
    std::atomic<bool> left{false};
    std::latch counted(1);
    std::latch leave(1);
    std::thread reader([&] {
        const ReaderCounts::Reader there(counts);
        counted.count_down();
        leave.wait();
        left = true;
    });
    counted.wait();
    std::thread writer([&] {
        counts.await_none();
        EXPECT_TRUE(left);
    });
    leave.count_down();
    writer.join();
    reader.join();
}

TEST(ReaderCounts, ThreadsHavePlacesOfTheirOwn) {
    const std::size_t mine = thread_place();
    EXPECT_LT(mine, kThreadPlaces);
    EXPECT_EQ(thread_place(), mine);
    std::size_t first = mine;
    std::size_t second = mine;
    std::thread([&] { first = thread_place(); }).join();
    std::thread([&] { second = thread_place(); }).join();
    EXPECT_NE(first, second);
}

TEST(SegmentTable, ThreadsKeepTheBytesOfASegmentByCountsOfTheirOwn) {
    auto bytes = std::make_shared<char>('x');
    const std::weak_ptr<char> kept = bytes;
    SegmentTable table;
    Segment segment;
    segment.header.number = 1;
    segment.data = std::move(bytes);
    segment.bytes = 1;
    const std::uint32_t slot = table.insert(std::move(segment));

    std::shared_ptr<const char> here;
    std::shared_ptr<const char> there;
    const auto take = [&](std::shared_ptr<const char>& hold) {
        const SegmentTable::Reader reader(table);
        hold = table.find(slot)->hold();
        EXPECT_EQ(hold.use_count(), 2);
    };
    std::thread([&] { take(here); }).join();
    std::thread([&] { take(there); }).join();
    EXPECT_TRUE(here.owner_before(there) || there.owner_before(here));

    table.retire(slot);
    here.reset();
    EXPECT_FALSE(kept.expired());
    EXPECT_EQ(*there, 'x');
    there.reset();
    EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace annals::storage
