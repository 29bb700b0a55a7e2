// Restores: what they make of a backup, how far they go, and which they refuse.

#include "storage/restore.h"

#include "storage/format.h"
#include "tests/storage/backup_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::put;
using test::SimFileSystem;
using test::type_of;

TEST_F(BackupTest, ARestoredStoreIsTheSameAndGoesOn) {
    ASSERT_TRUE(back_up_now());
    const std::string there = directory_ / "restored";
    const auto report = restore(fs_, backup_, there, {});
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->position, store_->last_position());
    const auto restored = open_store(fs_, there);
    ASSERT_NE(restored, nullptr);
    EXPECT_EQ(content(*restored), content(*store_));
    put(*restored, "Patient", "new", "x");
    EXPECT_EQ(restored->last_position().value, report->position.value + 1);
    EXPECT_EQ(content_of_backup(), content(*store_)) << "the backup is as it was";
}

TEST_F(BackupTest, ARestoreTakesAwayWhatALogThatIsGoneHasLeft) {
    ASSERT_TRUE(back_up_now());
    const std::string all = content(*store_);
    erase_from(*store_, "p0-0");
    store_.reset();
    ASSERT_TRUE(fs_.make_directory(data_ + "/search"));
    ASSERT_TRUE(fs_.open(data_ + "/search/manifest", FileSystem::Mode::create));
    const auto segments = fs_.list(data_ + "/segments");
    for (const std::string& name : *segments) {
        ASSERT_TRUE(fs_.remove(data_ + "/segments/" + name));
    }
    ASSERT_TRUE(fs_.exists(data_ + "/erase/1.journal"));
    EXPECT_FALSE(Store::open(fs_, data_, {}));

    const auto report = restore(fs_, backup_, data_, {});
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(fs_.list(data_ + "/search")->size(), 0U);
    EXPECT_EQ(fs_.list(data_ + "/erase")->size(), 0U);
    EXPECT_EQ(content(*open_store(fs_, data_)), all);
}

TEST_F(BackupTest, ARestoreEndsAtTheCommitBeforeAPosition) {
    ASSERT_TRUE(back_up_now());
    for (std::uint64_t i = 1; i <= store_->last_position().value; ++i) {
        const std::string there = directory_ / fmt::format("restored-{}", i);
        RestoreOptions options;
        options.to_position = {i};
        const auto report = restore(fs_, backup_, there, options);
        ASSERT_TRUE(report) << i << ": " << report.error().detail;
        std::uint64_t expected = i;
        while (store_->commit_end({expected}).value > i) {
            --expected;
        }
        EXPECT_EQ(report->position.value, expected);
        const auto restored = open_store(fs_, there, true);
        ASSERT_NE(restored, nullptr);
        ASSERT_EQ(content(*restored), content(*store_, {expected}));
    }
}

TEST_F(BackupTest, ARestoreEndsAtAnInstant) {
    ASSERT_TRUE(back_up_now());
    const Instant instant = store_->at({30})->instant;
    RestoreOptions options;
    options.to_instant = instant;
    const auto report = restore(fs_, backup_, directory_ / "restored", options);
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->position, store_->commit_end({30}));
    EXPECT_EQ(report->instant, instant);
}

TEST_F(BackupTest, OnlyAnOlderBackupGoesBackBehindAnErasure) {
    put(*store_, "Patient", "precious", "x");
    const Position position = store_->last_position();
    const std::string then = content(*store_);
    const std::string older = directory_ / "older";
    ASSERT_TRUE(back_up_store(fs_, *store_, data_, older));
    ASSERT_TRUE(test::erase(*store_, "Patient", "precious"));
    fill_segments(*store_, 1);
    ASSERT_TRUE(back_up_now());
    RestoreOptions options;
    options.to_position = position;
    const auto refused = restore(fs_, backup_, directory_ / "restored", options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::usage);
    EXPECT_NE(refused.error().detail.find("erased"), std::string::npos) << refused.error().detail;
    ASSERT_TRUE(restore(fs_, older, directory_ / "restored", options)) << "nothing was left there";
    EXPECT_EQ(content(*open_store(fs_, directory_ / "restored", true)), then);
    options.to_position = {store_->last_position().value - 1};
    ASSERT_TRUE(restore(fs_, backup_, directory_ / "later", options)) << "the erase is in it";
    const auto later = open_store(fs_, directory_ / "later", true);
    EXPECT_FALSE(later->current(type_of("Patient"), "precious"));
}

TEST_F(BackupTest, ARestoreThatCannotBeLeavesNothing) {
    ASSERT_TRUE(back_up_now());
    const std::string there = directory_ / "restored";
    RestoreOptions options;
    options.to_position = {store_->last_position().value + 1};
    EXPECT_EQ(restore(fs_, backup_, there, options).error().code, Errc::usage);
    EXPECT_FALSE(fs_.exists(there));
    options = {};
    options.to_instant = Instant{1};
    EXPECT_EQ(restore(fs_, backup_, there, options).error().code, Errc::usage);
    EXPECT_FALSE(fs_.exists(there));
    ASSERT_TRUE(fs_.make_directory(there));
    EXPECT_EQ(restore(fs_, backup_, there, options).error().code, Errc::usage);
    EXPECT_FALSE(fs_.exists(there + "/segments"));
    EXPECT_TRUE(fs_.exists(there)) << "it was there before";
    EXPECT_EQ(restore(fs_, directory_ / "nothing", there, {}).error().code, Errc::usage);
    EXPECT_EQ(restore(fs_, data_, there, {}).error().code, Errc::usage) << "no backup";
    EXPECT_EQ(restore(fs_, backup_, data_, {}).error().code, Errc::usage) << "a store is there";
    EXPECT_TRUE(restore(fs_, backup_, there, {}));
    EXPECT_EQ(restore(fs_, backup_, there, {}).error().code, Errc::usage);
}

TEST_F(BackupTest, ADamagedBackupIsNotRestored) {
    ASSERT_TRUE(back_up_now());
    const std::string path = backup_ + "/segments/" + segment_name(1);
    const auto facts = fs_.facts(path);
    const auto file = fs_.open(path, FileSystem::Mode::read_write);
    for (std::uint64_t at = 0; at < facts->bytes; at += facts->bytes / 7) {
        char was = 0;
        ASSERT_TRUE((*file)->read(at, {&was, 1}));
        const char other = static_cast<char>(was ^ 1);
        ASSERT_TRUE((*file)->write(at, {&other, 1}));
        const auto report = restore(fs_, backup_, directory_ / "restored", {});
        ASSERT_FALSE(report) << at;
        EXPECT_EQ(report.error().code, Errc::corrupt);
        ASSERT_TRUE((*file)->write(at, {&was, 1}));
    }
    EXPECT_TRUE(restore(fs_, backup_, directory_ / "restored", {}));
}

TEST(Restore, ThatCannotBeginLeavesNothing) {
    SimFileSystem fs;
    const auto store = open_filled_store(fs);
    ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
    for (const bool held : {false, true}) {
        std::unique_ptr<DirectoryLock> lock;
        if (held) {
            lock = *fs.lock("/restored");
        }
        fs.fail_next(SimFileSystem::Call::create, Errc::io, held ? 0 : 1);
        EXPECT_FALSE(restore(fs, "/backup", "/restored", {}));
        EXPECT_FALSE(fs.exists("/restored")) << held;
    }
    EXPECT_TRUE(restore(fs, "/backup", "/restored", {}));
}

/// The power is cut at each call of a restore: what is left is either refused or complete.
TEST(Restore, SurvivesAPowerCutAtEveryBoundary) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        auto store = open_filled_store(fs);
        ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
        const std::string all = content(*store);
        fs.power_off_at(n);
        const bool cut = !restore(fs, "/backup", "/restored", {});
        for (const std::uint64_t seed : {0U, 1U, 2U}) {
            const auto after = fs.after_power_cut(seed);
            StoreOptions options;
            options.read_only = true;
            const auto opened = Store::open(*after, "/restored", options);
            if (opened) {
                EXPECT_TRUE(content(**opened) == all) << "call " << n << ", seed " << seed;
            } else {
                EXPECT_TRUE(cut) << opened.error().detail;
            }
        }
        store.reset();
        if (!cut) {
            break;
        }
    }
}

}  // namespace
}  // namespace annals::storage
