// Incomplete copies of backups, and damaged manifests.

#include "core/base/digest.h"
#include "storage/format.h"
#include "storage/restore.h"
#include "storage/segment_check.h"
#include "storage/verify.h"
#include "tests/storage/backup_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {
namespace {

using test::expect_sound;
using test::put;
using test::SimFileSystem;
using testing::EndsWith;

/// A backup of several segments, whose last commit is an erasure.
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

    /// The offsets at which its frames end, in order.
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

    /// The backup can't be opened as a store unless damage is allowed.
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
    ASSERT_TRUE(rest) << "its intact part: " << rest.error().detail;
    EXPECT_EQ(rest->segments, last_ - 1);
}

/// The lost erasure has no position, so the rest ends at the same position.
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

TEST_F(CopiedBackup, LosesWhatIsNotOfItsStoreWhenItIsMadeAgain) {
    fs_.set_content(segment(last_ + 1), "of a log that is gone");
    fs_.set_content(segment(1) + ".tmp", "of a backup that was interrupted");
    const auto again = back_up_store(fs_, *store_, "/data", "/backup");
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(again->kept, last_);
    EXPECT_EQ(fs_.list("/backup/segments")->size(), last_);
    EXPECT_TRUE(restore(fs_, "/backup", "/restored", {}));
}

TEST_F(CopiedBackup, TakesASegmentAnewThatHasLostItsEnd) {
    const std::string whole = fs_.content(segment(2));
    ASSERT_TRUE(fs_.remove(segment(2)));
    fs_.set_content(segment(2), whole.substr(0, whole.size() / 2));
    const auto again = back_up_store(fs_, *store_, "/data", "/backup");
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(again->kept, last_ - 1);
    EXPECT_EQ(fs_.content(segment(2)), whole);
}

TEST_F(CopiedBackup, IsNotMadeOfSegmentsThatAreNotThoseOfTheLog) {
    const auto refusal = [&](const LogEnd& end) {
        const auto report = back_up(fs_, "/data", "/another", [&] { return Result<LogEnd>(end); });
        EXPECT_FALSE(report);
        EXPECT_FALSE(fs_.exists("/another/" + std::string(kBackupManifest)));
        return report ? "" : report.error().detail;
    };
    LogEnd end = *store_->log_end();
    ++end.position.value;
    EXPECT_THAT(refusal(end), EndsWith("it does not end where the log ends"));
    end = *store_->log_end();
    end.offset += kAlignment;
    EXPECT_THAT(refusal(end), EndsWith("it does not end where the log ends"));
    const auto other = open_store(fs_, "/other");
    fill_segments(*other);
    for (const std::string& wrong : {fs_.content("/data/segments/" + segment_name(3)),
                                     fs_.content("/other/segments/" + segment_name(2))}) {
        fs_.set_content("/data/segments/" + segment_name(2), wrong);
        EXPECT_THAT(refusal(*store_->log_end()),
                    EndsWith("the header belongs to a different segment"));
    }
}

/// A restore that ends earlier doesn't need the rest of the backup, but the rest must be there.
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
    ASSERT_TRUE(back_up_store(fs_, *store_, "/data", "/backup")) << "it is made again";
    expect_sound(fs_, "/backup");
}

/// Until the next backup is finished, the manifest is the previous one's, which lists less.
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

TEST_F(CopiedBackup, AnInterruptedOneIsRestoredOnlyIfItsSegmentsContinueEachOther) {
    RestoreOptions options;
    options.unfinished = true;
    const auto refusal = [&] {
        const auto restored = restore(fs_, "/backup", "/restored", options);
        EXPECT_FALSE(restored);
        EXPECT_FALSE(fs_.exists("/restored"));
        return restored ? "" : restored.error().detail;
    };
    const auto other = open_store(fs_, "/other");
    fill_segments(*other);
    const std::string second = fs_.content(segment(2));
    const std::string path = segment(2);
    const std::string name = path + ": ";
    for (const std::string& wrong :
         {fs_.content(segment(3)), fs_.content("/other/segments/" + segment_name(2))}) {
        ASSERT_TRUE(fs_.remove(path));
        fs_.set_content(path, wrong);
        EXPECT_EQ(refusal(), name + "does not continue the segment before it");
    }
    fs_.set_content(path, second);
    fs_.set_content(path, second.substr(0, frame_ends(2).front()));
    EXPECT_EQ(refusal(), name + "no complete footer");
    ASSERT_TRUE(fs_.remove(path));
    EXPECT_EQ(refusal(), name + "the segment is missing");
}

/// The body was taken out of a segment that was copied, and the erasure is in one that no longer was.
TEST_F(CopiedBackup, AnInterruptedOneSaysWhatIsGoneWithoutItsErasure) {
    erase_from(*store_, "p0-0");
    RestoreOptions options;
    options.unfinished = true;
    int lacking = 0;
    for (std::uint64_t copied = 0; copied < 3; ++copied) {
        fs_.fail_next(SimFileSystem::Call::rename, Errc::io, 1, copied);
        ASSERT_FALSE(back_up_store(fs_, *store_, "/data", "/backup")) << copied;
        const std::string to = fmt::format("/restored{}", copied);
        const auto report = restore(fs_, "/backup", to, options);
        ASSERT_TRUE(report) << report.error().detail;
        const auto verified = verify(fs_, to);
        ASSERT_TRUE(verified) << verified.error().detail;
        EXPECT_EQ(report->damages.size(), verified->damages.size());
        for (const Damage& damage : report->damages) {
            EXPECT_EQ(damage.reason,
                      "the body of a version is missing, although nothing erased it");
            ++lacking;
        }
    }
    EXPECT_GT(lacking, 0);
    ASSERT_TRUE(back_up_store(fs_, *store_, "/data", "/backup"));
    const auto whole = restore(fs_, "/backup", "/restored", options);
    ASSERT_TRUE(whole) << whole.error().detail;
    EXPECT_TRUE(whole->damages.empty());
}

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

}  // namespace
}  // namespace annals::storage
