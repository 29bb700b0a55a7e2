// Erased versions in the files of the search index, whatever happens meanwhile.

#include "tests/storage/search_checkpoint_fixture.h"
#include "tests/support/search_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace annals::storage {
namespace {

using test::checkpoint_files;
using test::mentions;
using test::SimFileSystem;
using Call = SimFileSystem::Call;

TEST_F(SearchCheckpointTest, ForgetsWhatWasNotSyncedToo) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    add(5);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    EXPECT_TRUE(mentions(fs_, "text-22;"));
    search_.died(kType, {22}, {0});
    index_.erase({{1022, salt_}, Erase::Scope::everything, {}});
    const Position erased{22};
    ASSERT_TRUE(checkpoint.forget({&erased, 1}));
    EXPECT_FALSE(mentions(fs_, "text-22;"));
    EXPECT_EQ(loaded_documents(), 0U);
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    EXPECT_FALSE(mentions(fs_, "text-22;"));
    EXPECT_EQ(loaded_documents(), 24U);
}

TEST_F(SearchCheckpointTest, ForgetsWhatIsBeingWritten) {
    SearchCheckpoint checkpoint = this->checkpoint();
    constexpr std::uint64_t kDocuments = 1'000;
    constexpr std::uint64_t kErased = 300;
    add(kDocuments, std::string(100, '.'));
    for (std::uint64_t p = 1; p <= kErased; ++p) {
        std::thread writer([&] {
            EXPECT_TRUE(checkpoint.write_recent(search_, now_, SearchCheckpoint::Small::gather));
        });
        // At a different moment of the write each time.
        std::this_thread::sleep_for(std::chrono::microseconds(10 * (p % 60)));
        search_.died(kType, {p}, {0});
        index_.erase({{1000 + p, salt_}, Erase::Scope::everything, {}});
        const Position erased{p};
        ASSERT_TRUE(checkpoint.forget({&erased, 1}));
        writer.join();
        ASSERT_FALSE(mentions(fs_, fmt::format("text-{};", p)));
        // Syncing doesn't fail because of files that are gone.
        for (bool done = false; !done;) {
            const Result<bool> synced = checkpoint.sync_next();
            ASSERT_TRUE(synced) << synced.error().detail;
            done = *synced;
        }
    }
    ASSERT_TRUE(checkpoint.write(search_, now_));
    EXPECT_EQ(loaded_documents(), kDocuments - kErased);
}

TEST_F(SearchCheckpointTest, DoesNotWriteWhatIsForgottenBeforeItsTurn) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    int looks = 0;
    const auto forget_meanwhile = [&] {
        if (++looks == 2) {  // the runs to write are chosen, but no file exists yet
            search_.died(kType, {5}, {0});
            index_.erase({{1005, salt_}, Erase::Scope::everything, {}});
            const Position erased{5};
            EXPECT_TRUE(checkpoint.forget({&erased, 1}));
        }
        return fingerprints_;
    };
    ASSERT_TRUE(checkpoint.write_recent(search_, forget_meanwhile));
    EXPECT_EQ(looks, 2);
    EXPECT_FALSE(mentions(fs_, "text-5;"));
    // The manifest doesn't claim to cover the type's documents.
    SearchCheckpoint reader(fs_, index_, {.directory = "/data", .store_id = 7, .read_only = true});
    EXPECT_EQ(load(reader)[kType.value].covered, Position{});
    ASSERT_TRUE(checkpoint.write_recent(search_, now_));
    EXPECT_FALSE(mentions(fs_, "text-5;"));
    EXPECT_EQ(loaded_documents(), 19U);
}

TEST_F(SearchCheckpointTest, ForgetsAtTheNextAttemptWhatItCouldNotRemove) {
    for (const Call call : {Call::remove, Call::sync_directory}) {
        for (const std::uint64_t passed : {0U, 1U}) {
            SCOPED_TRACE(passed);
            SimFileSystem fs;
            SearchCheckpoint checkpoint = this->checkpoint(fs);
            add(20);
            add(3);
            ASSERT_TRUE(checkpoint.write(search_, now_));
            ASSERT_TRUE(mentions(fs, "text-7;"));
            const Position erased{7};
            fs.fail_next(call, Errc::no_store, 1, passed);
            if (checkpoint.forget({&erased, 1})) {
                continue;  // it makes only one such call
            }
            ASSERT_TRUE(checkpoint.forget({&erased, 1}));
            EXPECT_FALSE(mentions(fs, "text-7;"));
            EXPECT_FALSE(mentions(*fs.after_power_cut(0), "text-7;"));
            const std::uint64_t calls = fs.changing_calls();
            ASSERT_TRUE(checkpoint.forget({&erased, 1}));
            EXPECT_EQ(fs.changing_calls(), calls);
        }
    }
}

TEST_F(SearchCheckpointTest, ForgetsWhatTheOneBeforeHasAlsoWhereItsSuccessorIsNotDurable) {
    for (const std::uint64_t passed : {0U, 1U}) {
        SCOPED_TRACE(passed);
        SimFileSystem fs;
        SearchCheckpoint checkpoint = this->checkpoint(fs);
        add(3);
        ASSERT_TRUE(checkpoint.write(search_, now_));
        const std::string text = fmt::format("text-{};", index_.last_position().value);
        const Position erased = index_.last_position();
        add(3);
        fs.fail_next(Call::sync_directory, Errc::io, 1, passed);
        ASSERT_FALSE(checkpoint.write(search_, now_));
        ASSERT_TRUE(mentions(fs, text));
        ASSERT_TRUE(checkpoint.forget({&erased, 1}));
        EXPECT_FALSE(mentions(fs, text));
        EXPECT_FALSE(mentions(*fs.after_power_cut(0), text));
    }
}

TEST_F(SearchCheckpointTest, IsRemovedAtTheNextAttemptWhereThatWasNotDurable) {
    SearchCheckpoint checkpoint = this->checkpoint();
    add(20);
    ASSERT_TRUE(checkpoint.write(search_, now_));
    fs_.fail_next(Call::sync_directory, Errc::no_store);
    ASSERT_FALSE(SearchCheckpoint::remove_all(fs_, "/data"));
    ASSERT_TRUE(SearchCheckpoint::remove_all(fs_, "/data"));
    EXPECT_TRUE(checkpoint_files(*fs_.after_power_cut(0)).empty());
}

}  // namespace
}  // namespace annals::storage
