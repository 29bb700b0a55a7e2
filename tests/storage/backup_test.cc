// Backups: what is in one, what the next one takes, what a restore makes of it, and what is left of it when
// the power goes.

#include "storage/backup.h"

#include "core/base/digest.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/restore.h"
#include "storage/segment_check.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::put;
using test::SimFileSystem;
using test::type_of;

constexpr std::uint64_t kBackedUpSegmentBytes = 16 << 10;

std::unique_ptr<Store> open_store(FileSystem& fs, const std::string& directory,
                                  bool read_only = false) {
    StoreOptions options;
    options.segment_bytes = kBackedUpSegmentBytes;
    options.prepare_segments = false;
    options.read_only = read_only;
    options.clock = [instant = Instant{1'700'000'000'000'000}]() mutable {
        instant.us += 1'000'000;
        return instant;
    };
    auto store = Store::open(fs, directory, std::move(options));
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

/// Every version that is there, by its position.
std::string content(const Store& store, Position through = {~0ULL}) {
    std::string text;
    for (std::uint64_t i = 1; i <= std::min(store.last_position(), through).value; ++i) {
        const auto info = store.at({i});
        if (!info) {
            continue;
        }
        const auto loaded = store.load(*info);
        EXPECT_TRUE(loaded) << loaded.error().detail;
        if (loaded) {
            text += fmt::format("{} {} {} {} {}\n", i, loaded->id, info->version.value,
                                info->instant.us, loaded->body);
        }
    }
    return text;
}

void commit(Store& store, const std::vector<std::string>& ids, const std::string& text) {
    CommitBuilder builder;
    for (const std::string& id : ids) {
        builder.put("Patient", id, text);
    }
    const Submission done = store.submit(builder.commit());
    ASSERT_EQ(done.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(done.ticket));
}

/// About three segments' worth, a commit of three among each ten.
void fill_segments(Store& store, int round = 0) {
    const std::string text(700, 'x');
    for (int i = 0; i < 60; ++i) {
        const std::string id = fmt::format("p{}-{}", round, i);
        if (i % 10 == 5) {
            commit(store, {id, id + "b", id + "c"}, text);
        } else {
            commit(store, {id}, text);
        }
    }
}

Result<BackupReport> back_up_store(FileSystem& fs, const Store& store, const std::string& from,
                                   const std::string& to) {
    BackupOptions options;
    options.files = &store.segment_files();
    return back_up(fs, from, to, [&] { return Result<LogEnd>(*store.log_end()); }, options);
}

void erase_from(Store& store, const std::string& id) {
    CommitBuilder builder;
    builder.erase("Patient", id);
    const Submission done = store.submit(builder.commit());
    ASSERT_EQ(done.status, Submission::Status::accepted);
    ASSERT_TRUE(store.wait(done.ticket));
    ASSERT_TRUE(store.wait_erased(done.ticket));
}

class BackupTest : public ::testing::Test {
  protected:
    BackupTest() : store_(open_store(fs_, data_)) { fill_segments(*store_); }

    Result<BackupReport> back_up_now() { return back_up_store(fs_, *store_, data_, backup_); }

    std::string content_of_backup() {
        const auto opened = open_store(fs_, backup_, true);
        return opened == nullptr ? "does not open" : content(*opened);
    }

    test::TemporaryDirectory directory_;
    FileSystem& fs_ = posix_file_system();
    const std::string data_ = directory_ / "data";
    const std::string backup_ = directory_ / "backup";
    std::unique_ptr<Store> store_;
};

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
    EXPECT_EQ(before->links, 2U);
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

/// As after a restore that ended where a segment begins, or where the next one could not be begun.
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
        const auto report = back_up_store(fs_, *store_, data_, other / "data");
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, Errc::usage) << "a store is no backup";
        ASSERT_TRUE(back_up_store(fs_, *another, other / "data", other / "backup"));
    }
    const auto mixed = back_up_store(fs_, *store_, data_, other / "backup");
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().code, Errc::usage) << "a backup of another store";
}

TEST_F(BackupTest, OfADamagedStoreNamesTheDamage) {
    const std::string path = data_ + "/segments/" + segment_name(2);
    const auto file = fs_.open(path, FileSystem::Mode::read_write);
    ASSERT_TRUE((*file)->write(900, "damage"));
    const auto report = back_up_now();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::corrupt);
    EXPECT_NE(report.error().detail.find(segment_name(2)), std::string::npos);
    EXPECT_TRUE(fs_.exists(backup_ + "/" + std::string(kBackupPartial)));
}

// ---- restore ----

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
    CommitBuilder builder;
    builder.erase("Patient", "precious");
    const Submission erased = store_->submit(builder.commit());
    ASSERT_TRUE(store_->wait(erased.ticket));
    ASSERT_TRUE(store_->wait_erased(erased.ticket));
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
    EXPECT_FALSE(fs_.exists(there + "/segments"));
    options = {};
    options.to_instant = Instant{1};
    EXPECT_EQ(restore(fs_, backup_, there, options).error().code, Errc::usage);
    EXPECT_FALSE(fs_.exists(there + "/segments"));
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

// ---- copies that are not whole ----

/// A backup of several segments, the last commit of which erases.
class CopiedBackup : public ::testing::Test {
  protected:
    CopiedBackup() {
        EXPECT_TRUE(fs_.make_directory("/data"));
        store_ = open_store(fs_, "/data");
        fill_segments(*store_);
        put(*store_, "Patient", "doomed", "x");
        erase_from(*store_, "doomed");
        const auto report = back_up_store(fs_, *store_, "/data", "/backup");
        EXPECT_TRUE(report) << report.error().detail;
        last_ = report->segments;
        end_ = report->position;
    }

    static std::string segment(std::uint64_t number) {
        return "/backup/segments/" + segment_name(number);
    }

    /// Where its frames end, from the first on.
    std::vector<std::uint64_t> frame_ends(std::uint64_t number) {
        std::vector<std::uint64_t> ends;
        EXPECT_TRUE(check_segment(fs_, segment(number), [&](const CheckedFrame& frame) {
            ends.push_back(frame.end);
            return true;
        }));
        return ends;
    }

    void expect_refused(std::uint64_t number, const RestoreOptions& options = {}) {
        const auto restored = restore(fs_, "/backup", "/restored", options);
        ASSERT_FALSE(restored) << "up to position " << restored->position.value;
        EXPECT_EQ(restored.error().code, Errc::corrupt);
        EXPECT_NE(restored.error().detail.find(segment_name(number)), std::string::npos)
            << restored.error().detail;
        const auto verified = verify(fs_, "/backup");
        ASSERT_TRUE(verified) << verified.error().detail;
        ASSERT_FALSE(verified->damages.empty());
        EXPECT_EQ(verified->damages.front().segment, segment_name(number));
    }

    /// It is not looked into as it is, unless damage is allowed.
    void expect_unread(std::uint64_t number) {
        StoreOptions options;
        options.read_only = true;
        const auto refused = Store::open(fs_, "/backup", options);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::corrupt);
        EXPECT_NE(refused.error().detail.find(segment_name(number)), std::string::npos)
            << refused.error().detail;
        options.allow_damaged = true;
        OpenReport report;
        const auto rest = Store::open(fs_, "/backup", options, &report);
        ASSERT_TRUE(rest) << rest.error().detail;
        EXPECT_FALSE(report.damages.empty());
    }

    SimFileSystem fs_;
    std::unique_ptr<Store> store_;
    std::uint64_t last_ = 0;  ///< number of the last segment
    Position end_;
};

TEST_F(CopiedBackup, WithoutItsLastSegmentIsRefused) {
    ASSERT_GE(last_, 3U);
    ASSERT_TRUE(fs_.remove(segment(last_)));
    expect_refused(last_);
    expect_unread(last_);
    RestoreOptions options;
    options.to_instant = Instant{4'000'000'000'000'000};
    expect_refused(last_, options);
    options = {};
    options.unfinished = true;
    const auto rest = restore(fs_, "/backup", "/restored", options);
    ASSERT_TRUE(rest) << "what is whole of it: " << rest.error().detail;
    EXPECT_EQ(rest->segments, last_ - 1);
}

/// The erase that is lost has no position: what is left ends at the same one.
TEST_F(CopiedBackup, CutWhereAFrameEndsIsRefused) {
    const auto ends = frame_ends(last_);
    ASSERT_GE(ends.size(), 2U);
    const std::string whole = fs_.content(segment(last_));
    fs_.set_content(segment(last_), whole.substr(0, ends[ends.size() - 2]));
    expect_refused(last_);
    expect_unread(last_);
}

TEST_F(CopiedBackup, WithZerosInThePlaceOfItsEndIsRefused) {
    const auto ends = frame_ends(last_);
    ASSERT_GE(ends.size(), 2U);
    std::string bytes = fs_.content(segment(last_));
    const std::size_t left = ends[ends.size() - 2];
    bytes.replace(left, std::string::npos, bytes.size() - left, '\0');
    fs_.set_content(segment(last_), bytes);
    expect_refused(last_);
}

TEST_F(CopiedBackup, UnderTheManifestOfAnotherOneIsRefused) {
    const std::string manifest = "/backup/" + std::string(kBackupManifest);
    const std::string older = fs_.content(manifest);
    fill_segments(*store_, 1);
    ASSERT_TRUE(back_up_store(fs_, *store_, "/data", "/backup"));
    fs_.set_content(manifest, older);
    expect_refused(last_);
}

TEST_F(CopiedBackup, WithASegmentThatItsManifestHasNotIsRefused) {
    fs_.set_content(segment(last_ + 1), "");
    const auto restored = restore(fs_, "/backup", "/restored", {});
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, Errc::corrupt);
    EXPECT_NE(restored.error().detail.find(segment_name(last_ + 1)), std::string::npos)
        << restored.error().detail;
}

/// Of a restore that ends before it, the rest of the backup is not asked for, but must be there.
TEST_F(CopiedBackup, IsRestoredUpToAPositionIfAllOfItIsThere) {
    RestoreOptions options;
    options.to_position = {end_.value - 1};
    const auto report = restore(fs_, "/backup", "/earlier", options);
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_LT(report->position, end_);
    ASSERT_TRUE(fs_.remove(segment(last_)));
    options.to_position = {2};
    expect_refused(last_, options);
    options.unfinished = true;
    EXPECT_TRUE(restore(fs_, "/backup", "/restored", options));
}

TEST_F(CopiedBackup, WithADamagedManifestIsNotSound) {
    expect_sound(fs_, "/backup");
    const std::string manifest = "/backup/" + std::string(kBackupManifest);
    std::string bytes = fs_.content(manifest);
    bytes[bytes.size() / 2] ^= 1;
    fs_.set_content(manifest, bytes);
    EXPECT_EQ(restore(fs_, "/backup", "/restored", {}).error().code, Errc::corrupt);
    const auto verified = verify(fs_, "/backup");
    ASSERT_TRUE(verified) << verified.error().detail;
    ASSERT_EQ(verified->damages.size(), 1U);
    EXPECT_EQ(verified->damages.front().segment, kBackupManifest);
    RestoreOptions options;
    options.unfinished = true;
    EXPECT_TRUE(restore(fs_, "/backup", "/restored", options)) << "it is not asked then";
}

/// Until the next one is finished, the manifest is of the one before, and has less.
TEST_F(CopiedBackup, AnInterruptedOneIsNotComparedWithTheManifestBefore) {
    fill_segments(*store_, 1);
    fs_.fail_next(SimFileSystem::Call::rename, Errc::io, 1, 1);
    ASSERT_FALSE(back_up_store(fs_, *store_, "/data", "/backup"));
    expect_sound(fs_, "/backup");
    RestoreOptions options;
    options.unfinished = true;
    const auto report = restore(fs_, "/backup", "/restored", options);
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_GT(report->position, end_);
}

// ---- the manifest ----

TEST(BackupManifest, IsReadAsItWasWritten) {
    BackupManifest manifest;
    manifest.store_id = 0x123;
    manifest.position = {77};
    manifest.instant = Instant{1'700'000'000'000'000};
    manifest.taken = Instant{1'700'000'100'000'000};
    manifest.parts = {{1, true, 100, 5, 6}, {2, false, 64, 7, ~0ULL}};
    const std::string text = write_backup_manifest(manifest);
    const auto read = parse_backup_manifest(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, manifest);
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = static_cast<char>(other[i] ^ 1);
        EXPECT_FALSE(parse_backup_manifest(other)) << i;
        EXPECT_FALSE(parse_backup_manifest(std::string_view(text).substr(0, i))) << i;
    }
}

TEST(BackupManifest, IsDamagedWhereItIsMalformedUnderTheRightChecksum) {
    const auto parsed = [](const std::string& lines) {
        return parse_backup_manifest(lines + fmt::format("checksum {:016x}\n", hash64(lines)));
    };
    const std::string head =
        "annals-backup 1\nstore 00000000000000aa\nposition 9\n"
        "instant 2024-01-01T00:00:00.000Z\ntaken 2024-01-01T00:00:00.000Z\n";
    const std::string one = "segment 1 sealed 100 00000000000000bb 00000000000000cc\n";
    const std::string two = "segment 2 open 100 00000000000000bb 00000000000000cc\n";
    ASSERT_TRUE(parsed(head + one + two));

    const std::string other_lines[] = {
        head,  // no segment
        head + two,
        head + one + one,
        head + two + one,
        head + one + two + "more",
        "annals-backup 1\n" + one,
        head.substr(16) + one,
        head + "segment 1 closed 100 00000000000000bb 00000000000000cc\n",
        head + "segment 1 sealed 100 00000000000000bb\n",
        head + "segment 1 sealed -1 00000000000000bb 00000000000000cc\n",
        head + "segment 1 sealed 1x 00000000000000bb 00000000000000cc\n",
        head + "segment 1 sealed 100;00000000000000bb 00000000000000cc\n",
        head + "segment 1 sealed 99999999999999999999 00000000000000bb 00000000000000cc\n",
        head + "segment 1 sealed 100 00000000000000bg 00000000000000cc\n",
        "annals-backup 1\nstore 00000000000000aa\nposition 9\n"
        "instant soon\ntaken 2024-01-01T00:00:00.000Z\n" +
            one,
    };
    for (const std::string& lines : other_lines) {
        const auto manifest = parsed(lines);
        ASSERT_FALSE(manifest) << lines;
        EXPECT_EQ(manifest.error().code, Errc::corrupt) << lines;
    }
}

TEST(BackupManifest, IsOfANewerVersionOnlyIfItsChecksumHolds) {
    const std::string newer = "annals-backup 2\nstore of another kind\n";
    const std::string checksum = fmt::format("checksum {:016x}\n", hash64(newer));
    EXPECT_EQ(parse_backup_manifest(newer + checksum).error().code, Errc::usage);
    EXPECT_EQ(parse_backup_manifest("annals-backup 3" + newer.substr(15) + checksum).error().code,
              Errc::corrupt);
}

// ---- faults ----

TEST(Backup, IsCopiedWhereNothingCanBeLinked) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("/data"));
    const auto store = open_store(fs, "/data");
    fill_segments(*store);
    fs.fail_next(SimFileSystem::Call::link, Errc::io, 1000);
    const auto report = back_up_store(fs, *store, "/data", "/backup");
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->copied, report->segments);
    const auto again = back_up_store(fs, *store, "/data", "/backup");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->kept, again->segments);
    EXPECT_EQ(content(*open_store(fs, "/backup", true)), content(*store));
}

/// The file of the open segment is longer than what has been written of it.
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

/// What goes while a backup is made is in it, erasure and all, or is in it as it was.
TEST(Backup, IsOfOnePositionAlsoWhereVersionsAreErasedMeanwhile) {
    for (const bool linked : {true, false}) {
        SCOPED_TRACE(linked);
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("/data"));
        const auto store = open_store(fs, "/data");
        fill_segments(*store);
        fs.fail_next(SimFileSystem::Call::link, Errc::io, linked ? 0 : 1000);
        BackupOptions options;
        options.files = &store->segment_files();
        // After each segment one version goes of each segment, the open one among them.
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

/// Between an eraser's look at how many names a segment's file has and his writing to it a backup begins, and has as much
/// time as it could need.
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

/// What a backup has linked stays as it is, whatever is erased from the store then.
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

/// The process ends at every call of an erasure: the backup that is made then, by who does not open the store, is whole.
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

/// Real files, real threads: backups one after the other while versions come and go.
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
    ASSERT_TRUE(fs.make_directory("/data"));
    const auto store = open_store(fs, "/data");
    fill_segments(*store);
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
    ASSERT_TRUE(fs.make_directory("/data"));
    const auto store = open_store(fs, "/data");
    fill_segments(*store);
    const auto drafts = [&fs] {
        auto names = fs.list("/backup/segments");
        std::erase_if(*names, [](const std::string& name) { return !name.ends_with(".tmp"); });
        return *names;
    };
    using enum SimFileSystem::Call;
    for (const SimFileSystem::Call call : {write, sync, rename}) {
        fs.fail_next(call, Errc::no_store, 1, call == sync ? 1 : 0);  // the first mark's is another
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

/// The power goes at every call that a second backup makes. What the first one had is there afterwards, and the next backup
/// is whole.
TEST(Backup, SurvivesAPowerCutAtEveryBoundary) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("/data"));
        auto store = open_store(fs, "/data");
        fill_segments(*store);
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

/// The power goes at every call of a restore: what is left is refused, or the whole of it.
TEST(Restore, SurvivesAPowerCutAtEveryBoundary) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("/data"));
        auto store = open_store(fs, "/data");
        fill_segments(*store);
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
