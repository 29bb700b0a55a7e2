#include "storage/drop_behind.h"

#include "storage/format.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kKept = 8 * kMiB;

using Forgotten = test::SimFileSystem::Forgotten;

class DropBehindTest : public testing::Test {
  protected:
    DropBehindTest() {
        EXPECT_TRUE(fs_.make_directory("/d"));
        add_segment(1, 64 * kMiB);
    }

    static std::string path(std::uint64_t number) { return "/d/" + segment_name(number); }

    void add_segment(std::uint64_t number, std::uint64_t bytes) {
        const auto file = *fs_.open(path(number), FileSystem::Mode::create);
        EXPECT_TRUE(file->allocate(bytes));
    }

    /// Continues from `begin` to `end`, one MiB every `step`.
    void write(DropBehind& drop_behind, std::uint64_t begin, std::uint64_t end,
               std::chrono::milliseconds step = std::chrono::milliseconds(10)) {
        while (begin < end) {
            begin += kMiB;
            now_ += step;
            drop_behind.durable(begin, now_);
        }
    }

    test::SimFileSystem fs_;
    DropBehind drop_behind_{fs_, "/d", kKept};
    DropBehind::Clock::time_point now_ = DropBehind::Clock::now();
};

TEST_F(DropBehindTest, ForgetsAllButTheNewestBytes) {
    drop_behind_.begin(1, 0);
    write(drop_behind_, 0, 11 * kMiB);
    EXPECT_TRUE(fs_.forgotten().empty());
    write(drop_behind_, 11 * kMiB, 12 * kMiB);
    const Forgotten first{.path = path(1), .offset = 0, .bytes = DropBehind::kChunk};
    EXPECT_EQ(fs_.forgotten(), std::vector{first});
    write(drop_behind_, 12 * kMiB, 16 * kMiB);
    ASSERT_EQ(fs_.forgotten().size(), 2U);
    // Includes the page that the two chunks share.
    EXPECT_LT(fs_.forgotten()[1].offset, DropBehind::kChunk);
    EXPECT_EQ(fs_.forgotten()[1].offset + fs_.forgotten()[1].bytes, 2 * DropBehind::kChunk);
}

TEST_F(DropBehindTest, GoesOnFromOneSegmentToTheNext) {
    add_segment(2, 64 * kMiB);
    drop_behind_.begin(1, kSegmentHeaderBytes);
    drop_behind_.durable(kMiB + 5, now_);
    drop_behind_.begin(2, kSegmentHeaderBytes);
    write(drop_behind_, kSegmentHeaderBytes, 8 * kMiB);
    const Forgotten first{.path = path(1), .offset = 0, .bytes = kMiB + 5};
    EXPECT_EQ(fs_.forgotten(), std::vector{first});
    write(drop_behind_, 8 * kMiB, 13 * kMiB);
    ASSERT_EQ(fs_.forgotten().size(), 2U);
    EXPECT_EQ(fs_.forgotten()[1].path, path(2));
}

TEST_F(DropBehindTest, LeavesWhatCameSlowlyToTheSystem) {
    drop_behind_.begin(1, 0);
    write(drop_behind_, 0, 32 * kMiB, std::chrono::seconds(2));
    EXPECT_TRUE(fs_.forgotten().empty());
    write(drop_behind_, 32 * kMiB, 44 * kMiB);
    ASSERT_FALSE(fs_.forgotten().empty());
    // By now, what was written just before the fast part is just as old.
    EXPECT_GE(fs_.forgotten()[0].offset + fs_.forgotten()[0].bytes, 24 * kMiB);
}

TEST_F(DropBehindTest, LetsGoOfWhatIsRemoved) {
    drop_behind_.begin(1, 0);
    write(drop_behind_, 0, 11 * kMiB);
    ASSERT_TRUE(fs_.remove(path(1)));
    write(drop_behind_, 11 * kMiB, 64 * kMiB);
    EXPECT_TRUE(fs_.forgotten().empty());
}

TEST_F(DropBehindTest, ForgetsNothingWhereNothingIsToBeForgotten) {
    DropBehind keeping(fs_, "/d", 0);
    keeping.begin(1, 0);
    write(keeping, 0, 64 * kMiB);
    EXPECT_TRUE(fs_.forgotten().empty());
}

}  // namespace
}  // namespace annals::storage
