// Backups: what one contains, what the next one copies, and what is left after a power cut.

#include "storage/restore.h"
#include "storage/segment_check.h"
#include "storage/verify.h"
#include "tests/storage/backup_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::put;
using test::SimFileSystem;

TEST_F(BackupTest, HasAllOfAStoreThatGoesOn) {
    const auto report = back_up_now();
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->position, store_->last_position());
    EXPECT_EQ(report->segments, store_->metrics().segments);
    EXPECT_GE(report->segments, 3U);
    EXPECT_EQ(report->linked, report->segments - 1);
    EXPECT_EQ(report->copied, 1U);
    const std::string then = content(*store_);
    fill_segments(*store_, 1);
    EXPECT_EQ(content_of_backup(), then);
    const auto verified = verify(fs_, backup_);
    ASSERT_TRUE(verified);
    EXPECT_TRUE(verified->damages.empty()) << verified->damages.front().reason;
}

TEST_F(BackupTest, TakesOnlyWhatIsNew) {
    ASSERT_TRUE(back_up_now());
    const auto same = back_up_now();
    ASSERT_TRUE(same) << same.error().detail;
    EXPECT_EQ(same->kept, same->segments);
    fill_segments(*store_, 1);
    const auto more = back_up_now();
    ASSERT_TRUE(more) << more.error().detail;
    EXPECT_GE(more->kept, same->segments - 1);
    EXPECT_GT(more->linked, 0U);
    EXPECT_EQ(more->copied, 1U);
    EXPECT_EQ(content_of_backup(), content(*store_));
}

TEST_F(BackupTest, TakesAReplacedSegmentAnew) {
    ASSERT_TRUE(back_up_now());
    const std::string segment = data_ + "/segments/" + segment_name(1);
    const auto before = fs_.facts(backup_ + "/segments/" + segment_name(1));
    ASSERT_TRUE(before);
    EXPECT_EQ(before->number, fs_.facts(segment)->number) << "one file with two names";
    const auto old = fs_.open(segment, FileSystem::Mode::read);
    std::string bytes(before->bytes, '\0');
    ASSERT_TRUE((*old)->read(0, {bytes.data(), bytes.size()}));
    const auto fresh = fs_.open(segment + ".tmp", FileSystem::Mode::create);
    ASSERT_TRUE(fresh);
    ASSERT_TRUE((*fresh)->write(0, bytes));
    ASSERT_TRUE(fs_.rename(segment + ".tmp", segment));
    const auto again = back_up_now();
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(again->linked, 1U);
    const auto after = fs_.facts(backup_ + "/segments/" + segment_name(1));
    ASSERT_TRUE(after);
    EXPECT_NE(after->number, before->number);
}

TEST_F(BackupTest, OfAStoreThatNobodyWritesNeedsNoStore) {
    const std::string then = content(*store_);
    store_.reset();
    const auto report = back_up(fs_, data_, backup_, [&] { return find_log_end(fs_, data_); });
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(content_of_backup(), then);
    EXPECT_EQ(report->position.value, 72U);
}

/// As after a restore that ended at the beginning of a segment, or if the next segment could not be begun.
TEST(Backup, OfAStoreThatEndsWithASealedSegmentHasAllOfIt) {
    for (const bool packed : {false, true}) {
        SCOPED_TRACE(packed);
        SimFileSystem fs;
        {
            StoreOptions options;
            options.segment_bytes = kBackedUpSegmentBytes;
            options.prepare_segments = false;
            options.pack_segments = packed;
            const auto store = *Store::open(fs, "/data", options);
            fill_segments(*store);
            if (packed) {
                store->compact(true);
                ASSERT_TRUE(store->wait_compacted());
                ASSERT_GT(store->metrics().segments_packed, 0U);
            }
        }
        for (std::uint64_t number = 3; fs.exists("/data/segments/" + segment_name(number));
             ++number) {
            ASSERT_TRUE(fs.remove("/data/segments/" + segment_name(number)));
        }
        const std::string all = content(*open_store(fs, "/data", true));
        const auto report =
            back_up(fs, "/data", "/backup", [&] { return find_log_end(fs, "/data"); });
        ASSERT_TRUE(report) << report.error().detail;
        expect_sound(fs, "/backup");
        EXPECT_EQ(content(*open_store(fs, "/backup", true)), all);
        ASSERT_TRUE(restore(fs, "/backup", "/restored", {}));
        EXPECT_EQ(content(*open_store(fs, "/restored")), all);
    }
}

TEST_F(BackupTest, WhileWritersAreAtWorkIsWhole) {
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        for (int round = 1; !stop; ++round) {
            fill_segments(*store_, round);
        }
    });
    for (int i = 0; i < 5; ++i) {
        const auto report = back_up_now();
        ASSERT_TRUE(report) << report.error().detail;
        const auto opened = open_store(fs_, backup_, true);
        ASSERT_NE(opened, nullptr);
        EXPECT_EQ(opened->last_position(), report->position);
        EXPECT_EQ(content(*opened), content(*store_, report->position));
        EXPECT_EQ(store_->commit_end(report->position), report->position);
    }
    stop = true;
    writer.join();
}

TEST_F(BackupTest, IsNotOpenedForWriting) {
    ASSERT_TRUE(back_up_now());
    const auto opened = Store::open(fs_, backup_, {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::usage);
}

TEST_F(BackupTest, RefusesADirectoryOfSomethingElse) {
    test::TemporaryDirectory other;
    {
        const auto another = open_store(fs_, other / "data");
        put(*another, "Patient", "a", "x");
        ASSERT_TRUE(back_up_store(fs_, *another, other / "data", other / "backup"));
    }
    const auto over_a_store = back_up_store(fs_, *store_, data_, other / "data");
    ASSERT_FALSE(over_a_store);
    EXPECT_EQ(over_a_store.error().code, Errc::usage) << "a store is no backup";
    EXPECT_EQ(open_store(fs_, other / "data")->last_position(), Position{1});
    const auto mixed = back_up_store(fs_, *store_, data_, other / "backup");
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, Errc::usage) << "a backup of a different store";
}

TEST_F(BackupTest, OfADamagedStoreNamesTheDamage) {
    const std::string path = data_ + "/segments/" + segment_name(2);
    const auto file = fs_.open(path, FileSystem::Mode::read_write);
    ASSERT_TRUE((*file)->write(900, "damage"));
    const auto report = back_up_now();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::corrupt);
    EXPECT_TRUE(report.error().detail.starts_with(path + ", taken as ")) << report.error().detail;
    EXPECT_TRUE(fs_.exists(backup_ + "/" + std::string(kBackupPartial)));
    const auto written_to = Store::open(fs_, backup_, {});
    ASSERT_FALSE(written_to);
    EXPECT_EQ(written_to.error().code, Errc::usage) << "one that is not finished is a backup, too";
}

TEST_F(BackupTest, OfADamagedEndThatNobodyWritesNamesTheDamage) {
    const LogEnd end = *store_->log_end();
    store_.reset();
    const std::string path = data_ + "/segments/" + segment_name(end.segment);
    ASSERT_TRUE((*fs_.open(path, FileSystem::Mode::read_write))->write(900, "damage"));
    const auto report = back_up(fs_, data_, backup_, [&] { return find_log_end(fs_, data_); });
    ASSERT_FALSE(report) << "up to position " << report->position.value;
    EXPECT_EQ(report.error().code, Errc::corrupt);
    EXPECT_NE(report.error().detail.find("but a later one"), std::string::npos)
        << report.error().detail;
}

TEST(Backup, IsNotReplacedByThatOfAnEarlierState) {
    SimFileSystem fs;
    auto store = open_filled_store(fs);
    ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
    RestoreOptions options;
    options.to_position = Position{10};
    ASSERT_TRUE(restore(fs, "/backup", "/earlier", options));
    store = open_store(fs, "/earlier");
    const auto report = back_up_store(fs, *store, "/earlier", "/backup");
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::usage);
    EXPECT_NE(report.error().detail.find("newer than the store"), std::string::npos)
        << report.error().detail;
}

TEST(Backup, IsCopiedWhereNothingCanBeLinked) {
    SimFileSystem fs;
    const auto store = open_filled_store(fs);
    fs.fail_next(SimFileSystem::Call::link, Errc::io, 1000);
    const auto report = back_up_store(fs, *store, "/data", "/backup");
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->copied, report->segments);
    const auto again = back_up_store(fs, *store, "/data", "/backup");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->kept, again->segments);
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
        const auto after = fs.after_power_cut(seed);
        const auto kept = open_store(*after, "/backup", true);
        ASSERT_NE(kept, nullptr) << seed;
        EXPECT_EQ(content(*kept), content(*store)) << seed;
    }
}

/// The open segment's file is longer than what has been written to it.
TEST_F(BackupTest, ItsProgressEndsAtItsTotal) {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    BackupOptions options;
    options.progress = [&](std::uint64_t now, std::uint64_t all) {
        EXPECT_GT(now, done);
        done = now;
        total = all;
    };
    const auto report =
        back_up(fs_, data_, backup_, [&] { return Result<LogEnd>(*store_->log_end()); }, options);
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(done, total);
    EXPECT_EQ(done, report->bytes);
}

/// A version erased while a backup is made is in it either as erased, together with the erasure, or as it was.
TEST(Backup, IsOfOnePositionAlsoWhereVersionsAreErasedMeanwhile) {
    for (const bool linked : {true, false}) {
        SCOPED_TRACE(linked);
        SimFileSystem fs;
        const auto store = open_filled_store(fs);
        fs.fail_next(SimFileSystem::Call::link, Errc::io, linked ? 0 : 1000);
        BackupOptions options;
        options.files = &store->segment_files();
        // After each segment, one version is erased in every segment, including the open one.
        options.progress = [&, i = 0](std::uint64_t, std::uint64_t) mutable {
            for (const int id : {1, 21, 36, 50}) {
                erase_from(*store, fmt::format("p0-{}", id + i));
            }
            ++i;
        };
        const auto report = back_up(
            fs, "/data", "/backup", [&] { return Result<LogEnd>(*store->log_end()); }, options);
        ASSERT_TRUE(report) << report.error().detail;
        expect_sound(fs, "/backup");
        expect_sound(fs, "/data");
    }
}

/// A backup begins between an eraser's look at how many names a segment's
/// file has and its write to that file, and has plenty of time.
TEST(Backup, IsNotWrittenToByWhoLookedBeforeItCame) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("/data"));
    const auto store = open_store(fs, "/data");
    put(*store, "Patient", "gone", "unmistakable");
    fill_segments(*store);
    std::thread backup;
    std::atomic<bool> made = false;
    fs.after_links([&] {
        backup = std::thread([&] {
            const auto report = back_up_store(fs, *store, "/data", "/backup");
            EXPECT_TRUE(report) << report.error().detail;
            made = true;
        });
        for (int i = 0; i < 300 && !made; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    erase_from(*store, "gone");
    ASSERT_TRUE(backup.joinable());
    backup.join();
    expect_sound(fs, "/backup");
    expect_sound(fs, "/data");
    const auto manifest = read_backup_manifest(fs, "/backup");
    ASSERT_TRUE(manifest && *manifest);
    for (const BackupManifest::Part& part : (*manifest)->parts) {
        const auto checked = check_segment(fs, "/backup/segments/" + segment_name(part.number));
        ASSERT_TRUE(checked) << checked.error().detail;
        EXPECT_EQ(checked->checksum, part.checksum) << part.number;
    }
}

/// What a backup has linked stays as it is, whatever is erased from the store later.
TEST(Backup, KeepsWhatIsErasedLater) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("/data"));
    const auto store = open_store(fs, "/data");
    put(*store, "Patient", "gone", "unmistakable");
    fill_segments(*store);
    ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
    const std::string before = content(*open_store(fs, "/backup", true));
    erase_from(*store, "gone");
    EXPECT_EQ(content(*open_store(fs, "/backup", true)), before);
    EXPECT_NE(before.find("unmistakable"), std::string::npos);
    EXPECT_EQ(content(*store).find("unmistakable"), std::string::npos);
    expect_sound(fs, "/backup");
}

/// The process ends at each call of an erasure: a backup made then, without opening the store, is whole.
TEST(Backup, OfAStoreThatWasKilledWhileItErasedIsWhole) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("/data"));
        auto store = open_store(fs, "/data");
        put(*store, "Patient", "gone", "unmistakable");
        fill_segments(*store);
        CommitBuilder builder;
        builder.erase("Patient", "gone");
        fs.power_off_at(n);
        const Submission done = store->submit(builder.commit());
        ASSERT_EQ(done.status, Submission::Status::accepted);
        const bool erased = store->wait(done.ticket) && store->wait_erased(done.ticket);
        store.reset();
        const auto after = fs.after_power_cut(1);
        ASSERT_TRUE(finish_erasures(*after, "/data"));
        const auto report =
            back_up(*after, "/data", "/backup", [&] { return find_log_end(*after, "/data"); });
        ASSERT_TRUE(report) << report.error().detail << " call " << n;
        expect_sound(*after, "/backup");
        if (erased) {
            EXPECT_GT(n, 5U);
            break;
        }
    }
}

/// Real files, real threads: one backup after another while versions are written and erased.
TEST_F(BackupTest, ThatWasEndedBehindAnErasureIsNotTakenForADamagedOne) {
    ASSERT_TRUE(back_up_now());
    erase_from(*store_, "p0-0");
    bool first_taken = false;
    BackupOptions options;
    options.files = &store_->segment_files();
    options.progress = [&](std::uint64_t, std::uint64_t) { first_taken = true; };
    options.stop = [&] { return first_taken; };
    const auto end = [&] { return Result<LogEnd>(*store_->log_end()); };
    EXPECT_EQ(back_up(fs_, data_, backup_, end, options).error().code, Errc::expired);
    // The body is gone from the first segment, and the erasure is in the last one.
    const auto found = verify(fs_, backup_);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->unfinished_backup);
    EXPECT_EQ(found->bodies_gone, 1U);
    EXPECT_TRUE(found->damages.empty()) << found->damages.front().reason;
    ASSERT_TRUE(back_up_now());
    EXPECT_TRUE(verify(fs_, backup_)->damages.empty());
}

TEST_F(BackupTest, WhileOthersEraseIsWhole) {
    std::atomic<bool> stop = false;
    std::thread eraser([&] {
        for (int i = 0; !stop; ++i) {
            const std::string id = fmt::format("e{}", i);
            put(*store_, "Patient", id, std::string(700, 'e'));
            if (i >= 20) {
                erase_from(*store_, fmt::format("e{}", i - 20));
            }
            if (i % 50 == 49) {
                store_->compact(true);
            }
        }
    });
    for (int i = 0; i < 8; ++i) {
        const std::string to = directory_ / fmt::format("backup-{}", i % 3);
        const auto report = back_up_store(fs_, *store_, data_, to);
        EXPECT_TRUE(report) << report.error().detail;
        expect_sound(fs_, to);
    }
    stop = true;
    eraser.join();
}

TEST(Backup, OnAFullDeviceGoesOnWhenThereIsSpace) {
    SimFileSystem fs;
    const auto store = open_filled_store(fs);
    fs.fail_next(SimFileSystem::Call::link, Errc::io, 2);
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 1);
    const auto report = back_up_store(fs, *store, "/data", "/backup");
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::no_store);
    ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
    EXPECT_EQ(content(*open_store(fs, "/backup", true)), content(*store));
}

TEST(Backup, ThatIsNotMadeLeavesNothingToTakeTheRoomOfTheStore) {
    SimFileSystem fs;
    const auto store = open_filled_store(fs);
    const auto drafts = [&fs] {
        auto names = fs.list("/backup/segments");
        std::erase_if(*names, [](const std::string& name) { return !name.ends_with(".tmp"); });
        return *names;
    };
    using enum SimFileSystem::Call;
    for (const SimFileSystem::Call call : {write, sync, rename}) {
        fs.fail_next(call, Errc::no_store, 1, call == sync ? 1 : 0);  // the first is the mark's
        const auto report = back_up_store(fs, *store, "/data", "/backup");
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, Errc::no_store);
        EXPECT_EQ(drafts(), std::vector<std::string>());
    }
    BackupOptions options;
    options.stop = [] { return true; };
    const auto end = [&] { return Result<LogEnd>(*store->log_end()); };
    EXPECT_FALSE(back_up(fs, "/data", "/backup", end, options));
    EXPECT_EQ(drafts(), std::vector<std::string>());
    ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
}

TEST(Backup, IsMarkedAsUnfinishedBeforeItLooksLikeAStore) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        const auto store = open_filled_store(fs);
        fs.power_off_at(n);
        if (back_up_store(fs, *store, "/data", "/backup")) {
            EXPECT_GT(n, 15U);
            break;
        }
        for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
            const auto after = fs.after_power_cut(seed);
            EXPECT_TRUE(!after->exists("/backup/segments") ||
                        after->exists("/backup/" + std::string(kBackupPartial)) ||
                        after->exists("/backup/" + std::string(kBackupManifest)))
                << "call " << n << ", seed " << seed;
        }
    }
}

/// The power is cut at each call of a second backup. Afterwards, what the first one had is there, and the next backup is whole.
TEST(Backup, SurvivesAPowerCutAtEveryBoundary) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        auto store = open_filled_store(fs);
        ASSERT_TRUE(back_up_store(fs, *store, "/data", "/backup"));
        const std::string first = content(*store);
        fill_segments(*store, 1);
        const std::string second = content(*store);
        fs.power_off_at(n);
        const auto report = back_up_store(fs, *store, "/data", "/backup");
        const bool cut = !report;
        for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
            const auto after = fs.after_power_cut(seed);
            {
                const auto kept = open_store(*after, "/backup", true);
                ASSERT_NE(kept, nullptr) << "call " << n << ", seed " << seed;
                const std::string there = content(*kept);
                EXPECT_TRUE(there.starts_with(first)) << "call " << n << ", seed " << seed;
                EXPECT_TRUE(second.starts_with(there)) << "call " << n << ", seed " << seed;
                EXPECT_TRUE(cut || there == second) << "call " << n << ", seed " << seed;
                const auto manifest = read_backup_manifest(*after, "/backup");
                ASSERT_TRUE(manifest && *manifest) << "call " << n << ", seed " << seed;
                EXPECT_LE((*manifest)->position, kept->last_position());
            }
            const auto again =
                back_up(*after, "/data", "/backup", [&] { return find_log_end(*after, "/data"); });
            ASSERT_TRUE(again) << again.error().detail << " call " << n << ", seed " << seed;
            EXPECT_EQ(content(*open_store(*after, "/backup", true)), second);
            EXPECT_FALSE(after->exists("/backup/" + std::string(kBackupPartial)));
        }
        store.reset();
        if (!cut) {
            EXPECT_GT(n, 15U);
            break;
        }
    }
}

}  // namespace
}  // namespace annals::storage
