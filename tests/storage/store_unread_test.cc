// What of a store is on the device only, and how it gets into memory.

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <future>

namespace annals::storage {
namespace {

class StoreUnread : public testing::TestWithParam<bool> {
  protected:
    static constexpr std::uint64_t kSegmentBytes = 64 << 10;

    StoreUnread() {
        StoreOptions options;
        options.segment_bytes = kSegmentBytes;
        options.pack_segments = GetParam();
        options.pack_after = std::chrono::seconds(0);
        store_ = *Store::open(fs_, "data", options);
        for (int i = 0; i < 100; ++i) {
            test::put(*store_, "Patient", std::to_string(i), std::string(3000, 'a' + i % 26));
        }
        test::put(*store_, "Patient", "long", std::string(20'000, 'x'));
        if (GetParam()) {
            store_->compact(true);
            EXPECT_TRUE(store_->wait_compacted());
        }
    }

    std::vector<VersionInfo> all() const {
        std::vector<VersionInfo> versions;
        for (std::uint64_t i = 1; i <= store_->last_position().value; ++i) {
            versions.push_back(*store_->at({i}));
        }
        return versions;
    }

    void fetch(Position position) const {
        std::promise<void> done;
        store_->fetch(position, [&done] { done.set_value(); });
        done.get_future().wait();
    }

    test::SimFileSystem fs_;
    std::unique_ptr<Store> store_;
};

TEST_P(StoreUnread, HasNothingUnreadThatIsInMemory) {
    EXPECT_TRUE(store_->unread(all()).empty());
    for (const VersionInfo& info : all()) {
        const auto loaded = store_->load_resident(info);
        ASSERT_TRUE(loaded);
        EXPECT_FALSE(loaded->unread);
        EXPECT_EQ(loaded->body, store_->load(info)->body);
    }
}

TEST_P(StoreUnread, LoadsWhatIsOnTheDeviceOnceItIsFetched) {
    fs_.forget_all();
    for (const VersionInfo& info : all()) {
        // The cached knowledge of its pages expires after a moment.
        bool loaded = false;
        for (int i = 0; i < 10 && !loaded; ++i) {
            const auto missing = store_->unread(std::span(&info, 1));
            const auto now = store_->load_resident(info);
            ASSERT_TRUE(now) << now.error().detail;
            if (!now->unread) {
                EXPECT_EQ(now->body, store_->load(info)->body);
                loaded = true;
            } else {
                EXPECT_EQ(missing, std::vector{info.position});
                fetch(info.position);
            }
        }
        EXPECT_TRUE(loaded);
    }
}

TEST_P(StoreUnread, TellsEachOfManyOnce) {
    fs_.forget_all();
    const std::vector<VersionInfo> versions = all();
    const std::vector<Position> missing = store_->unread(versions);
    ASSERT_EQ(missing.size(), versions.size());
    for (std::size_t i = 0; i < missing.size(); ++i) {
        EXPECT_EQ(missing[i], versions[i].position);
    }
}

TEST_P(StoreUnread, PassesOverWhatItDoesNotHave) {
    fs_.forget_all();
    VersionInfo elsewhere;
    elsewhere.position = {0xff00'0000};
    EXPECT_TRUE(store_->unread(std::span(&elsewhere, 1)).empty());
    EXPECT_TRUE(store_->unread({}).empty());
}

TEST_P(StoreUnread, FinishesFetchingBeforeItCloses) {
    std::atomic<int> done{0};
    for (const VersionInfo& info : all()) {
        store_->fetch(info.position, [&done] { ++done; });
    }
    store_.reset();
    EXPECT_EQ(done, 101);
}

INSTANTIATE_TEST_SUITE_P(Plain, StoreUnread, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Packed, StoreUnread, testing::Values(true));

}  // namespace
}  // namespace annals::storage
