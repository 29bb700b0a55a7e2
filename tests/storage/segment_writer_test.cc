#include "storage/segment_writer.h"

#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace annals::storage {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

class SegmentPreparerTest : public testing::Test {
  protected:
    SegmentPreparerTest() {
        EXPECT_TRUE(fs_.make_directory("/d"));
        preparer_.start();
    }

    void await_syncs(std::uint64_t count) const {
        while (fs_.file_syncs() < count) {
            std::this_thread::yield();
        }
    }

    /// Until a requested file of one chunk is filled and handed over, which nothing tells.
    void await_ready() const {
        await_syncs(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    std::unique_ptr<File> await_file(std::uint64_t least) {
        std::unique_ptr<File> file;
        while ((file = preparer_.take(least)) == nullptr) {
            std::this_thread::yield();
        }
        return file;
    }

    void request_in_vain() {
        const std::uint64_t before = fs_.changing_calls();
        preparer_.request(8 * kMebibyte);
        // Until the file has been created, allocated (successfully or not) and removed.
        while (fs_.changing_calls() < before + 2 || fs_.exists("/d/prepared.tmp")) {
            std::this_thread::yield();
        }
        EXPECT_EQ(preparer_.take(0), nullptr);
    }

    test::SimFileSystem fs_;
    SegmentPreparer preparer_{fs_, "/d/prepared.tmp"};
};

TEST_F(SegmentPreparerTest, PreparesTheBytesThatWereAskedFor) {
    preparer_.request(2 * kMebibyte);
    const auto file = await_file(2 * kMebibyte);
    EXPECT_EQ(*file->size(), 2 * kMebibyte);
    EXPECT_EQ(preparer_.take(0), nullptr);
}

TEST_F(SegmentPreparerTest, HandsOverWhatIsInTheMakingWithTheZerosThatItHas) {
    fs_.set_sync_ms(1);
    preparer_.request(64 * kMebibyte);
    await_syncs(6);
    EXPECT_EQ(preparer_.take(65 * kMebibyte), nullptr);
    const auto file = preparer_.take(64 * kMebibyte);
    ASSERT_NE(file, nullptr);
    EXPECT_LT(fs_.file_syncs(), 64U);
    EXPECT_EQ(*file->size(), 64 * kMebibyte);
    std::string last(8, 'x');
    ASSERT_TRUE(file->read(64 * kMebibyte - last.size(), last));
    EXPECT_EQ(last, std::string(8, '\0'));
    ASSERT_TRUE(fs_.rename("/d/prepared.tmp", "/d/taken"));

    preparer_.request(kMebibyte);
    EXPECT_EQ(*await_file(kMebibyte)->size(), kMebibyte);
}

TEST_F(SegmentPreparerTest, DoesNotCutOffWhatHasHardlyBegun) {
    fs_.hold_syncs();
    preparer_.request(8 * kMebibyte);
    fs_.await_held_sync();
    EXPECT_EQ(preparer_.take(0), nullptr);
    fs_.release_syncs();
    EXPECT_GE(*await_file(8 * kMebibyte)->size(), 8 * kMebibyte);
}

TEST_F(SegmentPreparerTest, KeepsWhatIsTooSmallForOneForTheNext) {
    preparer_.request(kMebibyte);
    await_ready();
    EXPECT_EQ(preparer_.take(2 * kMebibyte), nullptr);
    EXPECT_EQ(*await_file(kMebibyte)->size(), kMebibyte);
}

TEST_F(SegmentPreparerTest, PreparesOneAtATime) {
    preparer_.request(kMebibyte);
    await_ready();
    preparer_.request(kMebibyte);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(fs_.file_syncs(), 1U);
}

TEST_F(SegmentPreparerTest, LeavesNoFileBehind) {
    {
        SegmentPreparer preparer(fs_, "/d/other.tmp");
        preparer.start();
        preparer.request(kMebibyte);
        await_ready();
        EXPECT_TRUE(fs_.exists("/d/other.tmp"));
    }
    EXPECT_FALSE(fs_.exists("/d/other.tmp"));
}

TEST_F(SegmentPreparerTest, GivesNothingOnAFullDevice) {
    fs_.set_space(kMebibyte);
    request_in_vain();
}

TEST_F(SegmentPreparerTest, GivesNothingThatHasNotTheZerosItShouldHave) {
    fs_.fail_next(test::SimFileSystem::Call::write, Errc::io, 1, 1);
    request_in_vain();
}

class SegmentWriterTest : public testing::Test {
  protected:
    SegmentWriterTest() {
        EXPECT_TRUE(fs_.make_directory("/d"));
        EXPECT_TRUE(writer_.begin(1, {1}, {}));
    }

    /// Writes 2 MiB in all, syncing after every `bytes`.
    void write_in(std::uint64_t bytes) {
        const std::string frames(bytes, 'f');
        for (std::uint64_t written = 0; written < 2 * kMebibyte; written += bytes) {
            ASSERT_TRUE(writer_.write(frames));
            ASSERT_TRUE(writer_.sync());
        }
    }

    bool is_prepared_within(std::chrono::milliseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (!fs_.exists("/d/prepared.tmp") && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        return fs_.exists("/d/prepared.tmp");
    }

    test::SimFileSystem fs_;
    SegmentTable table_;
    SegmentWriter writer_{fs_, "/d", {8 * kMebibyte, true}, 7, table_};
};

TEST_F(SegmentWriterTest, PreparesTheNextSegmentWhereLittleIsSyncedAtOnce) {
    write_in(16 << 10);
    EXPECT_TRUE(is_prepared_within(std::chrono::seconds(20)));
}

TEST_F(SegmentWriterTest, FillsTheLastPageOfAWriteWithZeros) {
    ASSERT_TRUE(writer_.write(std::string(kPageBytes + 100, 'f')));
    ASSERT_TRUE(writer_.write(std::string(50, 'g')));
    const std::string bytes = fs_.content("/d/" + segment_name(1));
    const std::size_t end = kSegmentHeaderBytes + kPageBytes + 150;
    EXPECT_EQ(bytes.substr(end - 51, 52), "f" + std::string(50, 'g') + std::string(1, '\0'));
    EXPECT_EQ(bytes.find_first_not_of('\0', end), std::string::npos);
}

TEST_F(SegmentWriterTest, HasRoomForAMarkAndTheFooterWhateverFitted) {
    const auto fill_and_seal = [this](std::uint64_t number, std::uint64_t bytes) {
        const std::string name = "/d/" + segment_name(number);
        const std::size_t size = fs_.content(name).size();
        ASSERT_TRUE(writer_.write(std::string(bytes, 'f')));
        ASSERT_TRUE(writer_.mark({1}, {1}));
        EXPECT_EQ(fs_.content(name).size(), size);
        ASSERT_TRUE(writer_.make_room({.bytes = 9 * kMebibyte + 8}, {1}, {1}));
        EXPECT_LE(fs_.content(name).size(), size);
    };
    std::uint64_t most = 8 * kMebibyte;
    while (!writer_.fits({.bytes = most})) {
        most -= 8;
    }
    fill_and_seal(1, most);
    fill_and_seal(2, 9 * kMebibyte + 8);
}

TEST_F(SegmentWriterTest, LooksForSpaceWithinItsFile) {
    ASSERT_TRUE(writer_.write(std::string(8 * kMebibyte - 3 * kPageBytes, 'f')));
    ASSERT_TRUE(writer_.probe({1}));
    EXPECT_EQ(fs_.content("/d/" + segment_name(1)).size(), 8 * kMebibyte);
}

TEST_F(SegmentWriterTest, LeavesNoMoreInMemoryThanItIsTold) {
    SegmentWriter pouring(fs_, "/d", {16 * kMebibyte, false, kMebibyte}, 7, table_);
    ASSERT_TRUE(pouring.begin(2, {1}, {}));
    const std::string frames(kMebibyte, 'f');
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(pouring.write(frames));
        EXPECT_TRUE(fs_.forgotten().size() == (i == 5 ? 1 : 0)) << i;
        ASSERT_TRUE(pouring.sync());
    }
    const test::SimFileSystem::Forgotten first = fs_.forgotten().at(0);
    EXPECT_EQ(first.path, "/d/" + segment_name(2));
    EXPECT_EQ(first.offset + first.bytes, kSegmentHeaderBytes + 4 * kMebibyte);
}

TEST_F(SegmentWriterTest, TakesNoNameThatAFileHas) {
    const std::string there = "/d/" + segment_name(2);
    fs_.set_content(there, "of a store that was not listed to its end");
    const Result<void> begun = writer_.begin(2, {1}, {});
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, Errc::io);
    const Result<void> next = writer_.make_room({.bytes = 9 * kMebibyte, .records = 1}, {1}, {});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, Errc::io);
    EXPECT_EQ(fs_.content(there), "of a store that was not listed to its end");
}

TEST_F(SegmentWriterTest, KnowsTheNewestSegmentAlsoWhereNoneIsOpen) {
    EXPECT_EQ(writer_.newest_number(), 1U);
    fs_.fail_next(test::SimFileSystem::Call::create, Errc::no_store);
    ASSERT_FALSE(writer_.make_room({.bytes = 9 * kMebibyte, .records = 1}, {1}, {}));
    EXPECT_EQ(writer_.open_number(), 0U);
    EXPECT_EQ(writer_.newest_number(), 1U);
    ASSERT_TRUE(writer_.make_room({.bytes = 9 * kMebibyte, .records = 1}, {1}, {}));
    EXPECT_EQ(writer_.newest_number(), 2U);
}

TEST_F(SegmentWriterTest, TakesNoWriteForOneThatWorksAgainBeforeItIsSynced) {
    ASSERT_TRUE(writer_.write(std::string(100, 'f')));
    ASSERT_TRUE(writer_.probe({1}));
    fs_.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    EXPECT_FALSE(writer_.probe({1})) << "in the open segment";
}

TEST_F(SegmentWriterTest, TakesNoFileForOneThatCanBeMadeBeforeItAndItsNameAreSynced) {
    using Call = test::SimFileSystem::Call;
    const SegmentWriter::Need more_than_fits{.bytes = 9 * kMebibyte, .records = 1};
    fs_.fail_next(Call::create, Errc::no_store);
    ASSERT_FALSE(writer_.make_room(more_than_fits, {1}, {1}));
    ASSERT_FALSE(writer_.is_open());
    for (const Call call : {Call::create, Call::write, Call::sync, Call::sync_directory}) {
        fs_.fail_next(call, Errc::no_store);
        const auto probed = writer_.probe({1});
        ASSERT_FALSE(probed) << static_cast<int>(call);
        EXPECT_EQ(probed.error().code, Errc::no_store);
        EXPECT_FALSE(fs_.exists("/d/new.tmp"));
    }
    EXPECT_TRUE(writer_.probe({1}));
    EXPECT_FALSE(writer_.is_open());
    EXPECT_FALSE(fs_.exists("/d/new.tmp"));
}

TEST_F(SegmentWriterTest, PreparesNothingWhereMuchIsSyncedAtOnce) {
    write_in(256 << 10);
    EXPECT_FALSE(is_prepared_within(std::chrono::milliseconds(50)));
}

}  // namespace
}  // namespace annals::storage
