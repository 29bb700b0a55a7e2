// The housekeeper: which erasures it takes together.

#include "storage/housekeeper.h"

#include "storage/segment_writer.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <semaphore>
#include <vector>

namespace annals::storage {
namespace {

/// Notes what it is told of.
class Notes final : public SettleListener {
  public:
    void settled(Ticket, std::optional<Errc>) noexcept override {}

    void erased(Ticket through, std::optional<Errc> why_not) noexcept override {
        EXPECT_FALSE(why_not);
        const std::lock_guard lock(mutex_);
        through_.push_back(through.value);
    }

    std::vector<std::uint64_t> through() {
        const std::lock_guard lock(mutex_);
        return through_;
    }

  private:
    std::mutex mutex_;
    std::vector<std::uint64_t> through_;
};

/// One that has nothing to remove, and waits for a permit each time it begins.
class HeldHousekeeper : public ::testing::Test {
  protected:
    HeldHousekeeper() {
        for (const char* directory : {"/data", "/data/segments", "/data/erase"}) {
            EXPECT_TRUE(fs_.make_directory(directory));
        }
        EXPECT_TRUE(writer_.begin(1, {1}, {}));
        listeners_.add(notes_);
        keeper_.emplace(
            eraser_, compaction_, listeners_,
            [this](auto) {
                begun_.release();
                permits_.acquire();
                return Result<void>();
            },
            Housekeeper::Left{});
    }

    ~HeldHousekeeper() override {
        permits_.release(kPermitsMax);
        keeper_.reset();
    }

    /// The commit of which something may be left; 0: none.
    std::uint64_t unfinished() {
        const Result<Ticket> commit = keeper_->unfinished();
        EXPECT_TRUE(commit);
        return commit ? commit->value : 0;
    }

    static constexpr std::ptrdiff_t kPermitsMax = 1000;

    test::SimFileSystem fs_;
    SegmentTable table_;
    Index index_;
    SegmentFiles files_;
    SegmentWriter writer_{fs_, "/data/segments", {1 << 20, false}, 1, table_};
    const OpenLog log_{fs_, "/data", table_, index_, writer_, files_};
    Eraser eraser_{log_, {}};
    Compaction compaction_{log_, eraser_, {}};
    SettleListeners listeners_;
    Notes notes_;
    std::counting_semaphore<> begun_{0};
    std::counting_semaphore<> permits_{0};
    std::optional<Housekeeper> keeper_;
};

TEST_F(HeldHousekeeper, TakesNoPartOfACommit) {
    keeper_->announce({1});
    keeper_->add({});
    keeper_->wake();
    begun_.acquire();
    // Meanwhile two more come, of which the last is not complete when it goes on.
    keeper_->announce({2});
    keeper_->add({});
    keeper_->wake();
    keeper_->announce({3});
    keeper_->add({});
    permits_.release(2);
    EXPECT_TRUE(keeper_->wait({2}));
    EXPECT_EQ(unfinished(), 3);
    keeper_->add({});
    keeper_->wake();
    permits_.release();
    EXPECT_TRUE(keeper_->wait({3}));
    EXPECT_EQ(unfinished(), 0);
    keeper_.reset();
    EXPECT_EQ(notes_.through(), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(HeldHousekeeper, TakesCompleteCommitsTogether) {
    keeper_->announce({1});
    keeper_->add({});
    keeper_->wake();
    begun_.acquire();
    for (const std::uint64_t ticket : {2U, 3U}) {
        keeper_->announce({ticket});
        keeper_->add({});
        keeper_->wake();
    }
    permits_.release(2);
    EXPECT_TRUE(keeper_->wait({3}));
    keeper_.reset();
    EXPECT_EQ(notes_.through(), (std::vector<std::uint64_t>{1, 3}));
}

/// Whoever finds a version gone must be told before the housekeeper knows of it.
TEST_F(HeldHousekeeper, SaysOfACommitThatIsAnnouncedThatItIsUnfinished) {
    EXPECT_EQ(unfinished(), 0);
    keeper_->announce({4});
    EXPECT_EQ(unfinished(), 4);
    keeper_->add({});
    EXPECT_EQ(unfinished(), 4);
    keeper_->wake();
    permits_.release();
    EXPECT_TRUE(keeper_->wait({4}));
    EXPECT_EQ(unfinished(), 0);
}

}  // namespace
}  // namespace annals::storage
