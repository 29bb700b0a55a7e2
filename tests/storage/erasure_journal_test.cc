// The journal of erasures: when it is whole, durable and needed no more.

#include "storage/erasure_journal.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/erasure_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::kDirectory;
using test::SimFileSystem;

TEST(ErasureJournal, IsThereAfterAPowerCutAlsoIfItsFirstWriteFailed) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    ErasureJournal::Content content;
    content.blankings.push_back({.segment = 7});
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store);
    ASSERT_FALSE(journal.write(content));
    ASSERT_TRUE(journal.write(content));
    const auto after = fs.after_power_cut(0);
    const auto read = ErasureJournal::read(*after, kDirectory);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->sequence, 1U);
    ASSERT_EQ(read->blankings.size(), 1U);
    EXPECT_EQ(read->blankings.front().segment, 7U);
}

TEST(ErasureJournal, SyncsAlsoWhatHoldsItsFolderThoughAnAttemptBeforeCameToMakeThat) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::no_store);
    ASSERT_FALSE(journal.write({}));
    const std::uint64_t before = fs.calls(SimFileSystem::Call::sync_directory);
    ASSERT_TRUE(journal.write({}));
    EXPECT_EQ(fs.calls(SimFileSystem::Call::sync_directory), before + 2);
}

TEST(ErasureJournal, CopiesOnlyASegmentThatHasNotAllOfItYet) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    const std::string path = kDirectory + "/segments/" + segment_name(1);
    const std::string before = fs.content(path);
    ASSERT_TRUE(test::erase(*store, "Patient", "a"));
    const std::string after = fs.content(path);
    const auto journal = ErasureJournal::read(fs, kDirectory);
    ASSERT_TRUE(journal);
    ASSERT_EQ(journal->blankings.size(), 1U);
    const Blanking& blanking = journal->blankings.front();
    const auto copies = [&](const std::string& bytes) {
        const std::shared_ptr<const char> data(bytes.data(), [](const char*) {});
        return journal->applied(1, data, bytes.size()) != data;
    };
    EXPECT_TRUE(copies(before));
    EXPECT_FALSE(copies(after));
    for (const std::uint64_t at :
         {blanking.frame_offset, blanking.record_offset,
          blanking.record_offset + blanking.record_bytes - blanking.body_bytes}) {
        std::string half = after;
        half.replace(at, 8, before, at, 8);
        EXPECT_TRUE(copies(half)) << at;
    }
}

TEST(ErasureJournal, ThatWasReplayedIsNeededNoMoreAfterAPowerCut) {
    for (const bool shared : {false, true}) {
        SimFileSystem fs;
        const auto store = *Store::open(fs, kDirectory, segments_on_demand());
        test::put(*store, "Patient", "a", "marker-a");
        const std::string path = kDirectory + "/segments/" + segment_name(1);
        const std::string before = fs.content(path);
        ASSERT_TRUE(test::erase(*store, "Patient", "a"));
        const auto journal = ErasureJournal::read(fs, kDirectory);
        ASSERT_TRUE(journal);

        SimFileSystem other;
        ASSERT_TRUE(other.make_directory(kDirectory + "/segments"));
        other.set_content(path, before);
        if (shared) {
            other.add_name(path, kDirectory + "/backup");
        }
        const auto whole = replay(other, kDirectory + "/segments", *journal);
        ASSERT_TRUE(whole && *whole);
        const auto after = other.after_power_cut(0);
        EXPECT_EQ(after->content(path).size(), before.size());
        EXPECT_EQ(after->content(path).find("marker-a"), std::string::npos) << shared;
    }
}

TEST(ErasureJournal, IsPutOffOnlyWhereNothingWasWrittenYet) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    ASSERT_TRUE(test::erase(*store, "Patient", "a"));
    const auto journal = ErasureJournal::read(fs, kDirectory);
    ASSERT_TRUE(journal);
    const std::string segments = kDirectory + "/segments";
    // The segment's file has no other name, so it is edited in place and may be half erased already.
    fs.set_descriptors(fs.open_files());
    const auto refused = replay(fs, segments, *journal);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_store);
    fs.add_name(segments + "/" + segment_name(1), kDirectory + "/backup");
    fs.set_descriptors({});
    fs.set_space(0);
    const auto put_off = replay(fs, segments, *journal);
    ASSERT_TRUE(put_off);
    EXPECT_FALSE(*put_off);
}

TEST(ErasureJournal, ACopyHasAllBytesBeforeItHasTheNameOfTheSegment) {
    SimFileSystem fs;
    const std::string segments = kDirectory + "/segments";
    ASSERT_TRUE(fs.make_directory(segments));
    const std::string path = segments + "/" + segment_name(1);
    const std::string bytes(10'000, 'x');
    fs.set_content(path, bytes);
    fs.add_name(path, kDirectory + "/backup");
    const auto copied = break_links(fs, segments, 1);
    ASSERT_TRUE(copied && *copied);
    EXPECT_EQ(fs.after_power_cut(0)->content(path), bytes);
}

TEST(ErasureJournal, KeepsTheOneBeforeUntilTheNextIsWhole) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    {
        ErasureJournal journal(fs, kDirectory, 0);
        ErasureJournal::Content content;
        for (content.erases_done = 1; content.erases_done <= 3; ++content.erases_done) {
            ASSERT_TRUE(journal.write(content));
        }
        content.erases_done = 4;
        content.blankings.resize(1000);  // many blocks
        fs.power_off_at(1);
        ASSERT_FALSE(journal.write(content));
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto after = fs.after_power_cut(seed);
        const auto read = ErasureJournal::read(*after, kDirectory);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->erases_done, read->sequence);
        EXPECT_GE(read->sequence, 3U);
    }
}

TEST(ErasureJournal, IsMadeDurableByTheNextProcessBeforeTheOneBeforeGoes) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal::Content content;
    {
        ErasureJournal journal(fs, kDirectory, 0);
        for (content.erases_done = 1; content.erases_done <= 2; ++content.erases_done) {
            ASSERT_TRUE(journal.write(content));
        }
        fs.fail_next(SimFileSystem::Call::sync, Errc::no_store);
        ASSERT_FALSE(journal.write(content));
    }
    auto found = ErasureJournal::read_durably(fs, kDirectory);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->erases_done, 3U);
    found->erases_done = 4;
    fs.power_off_at(1);
    ASSERT_FALSE(ErasureJournal(fs, kDirectory, found->sequence).write(*found));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto read = ErasureJournal::read(*fs.after_power_cut(seed), kDirectory);
        ASSERT_TRUE(read);
        EXPECT_GE(read->erases_done, 3U);
    }
}

TEST(ErasureJournal, CountsForNothingWhereItIsNotWhole) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    ErasureJournal::Content content{.erases_done = 5, .blankings = {}, .dead_bytes = {{1, 2}}};
    content.blankings.resize(3);
    ASSERT_TRUE(journal.write(content));
    const std::string path = kDirectory + "/" + ErasureJournal::path_of(1);
    const std::string whole = fs.content(path);
    ASSERT_EQ(ErasureJournal::read(fs, kDirectory)->erases_done, 5U);
    // The rest of the block is zeros.
    const std::size_t end = whole.find_last_not_of('\0') + 1;
    ASSERT_GT(end, 100U);
    for (std::size_t at = 0; at < end; ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        fs.set_content(path, damaged);
        const auto read = ErasureJournal::read(fs, kDirectory);
        if (!read) {
            EXPECT_TRUE(at >= 8 && at < 12) << at;  // the version
            continue;
        }
        EXPECT_EQ(read->sequence, 0U) << at;
        fs.set_content(path, whole.substr(0, at));
        EXPECT_EQ(ErasureJournal::read(fs, kDirectory)->sequence, 0U) << at;
    }
}

TEST(ErasureJournal, WhoseNewestWritingIsDamagedDamagesNoFrameThatIsWhole) {
    for (const bool sealed : {false, true}) {
        SimFileSystem fs;
        const auto store = *Store::open(fs, kDirectory, segments_on_demand());
        CommitBuilder together;
        for (const char* const id : {"a", "b", "c"}) {
            together.put("Patient", id, "marker");
        }
        ASSERT_TRUE(store->wait(store->submit(together.commit()).ticket));
        while (sealed && store->metrics().segments < 2) {
            test::put(*store, "Patient", "other", std::string(9000, 'x'));
        }
        for (const char* const id : {"a", "b"}) {
            ASSERT_TRUE(test::erase(*store, "Patient", id));
        }
        // The process is killed, so that the writing before the newest still has its blanking.
        const auto killed = fs.after_power_cut(1);
        const auto journal = ErasureJournal::read(*killed, kDirectory);
        ASSERT_TRUE(journal);
        const std::string path = kDirectory + "/" + ErasureJournal::path_of(journal->sequence);
        std::string damaged = killed->content(path);
        damaged[60] = static_cast<char>(damaged[60] ^ 4);
        killed->set_content(path, damaged);
        StoreOptions reading = segments_on_demand();
        reading.read_only = true;
        EXPECT_TRUE(Store::open(*killed, kDirectory, reading));
        const auto torn = verify(*killed, kDirectory);
        ASSERT_TRUE(torn);
        EXPECT_TRUE(torn->damages.empty());
        EXPECT_TRUE(torn->torn_journal);
        {
            const auto again = Store::open(*killed, kDirectory, segments_on_demand());
            ASSERT_TRUE(again) << again.error().detail;
            const auto info = (*again)->current(test::type_of("Patient"), "c");
            ASSERT_TRUE(info);
            EXPECT_TRUE((*again)->load(*info));
        }
        const auto report = verify(*killed, kDirectory);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty());
        EXPECT_FALSE(report->torn_journal);
    }
}

TEST(ErasureJournal, OfWhichNeitherFileIsWholeIsDamage) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker");
    ErasureJournal journal(fs, kDirectory, 0);
    ASSERT_TRUE(journal.write({}));
    ASSERT_TRUE(journal.write({}));
    for (const std::uint64_t which : {0U, 1U}) {
        EXPECT_TRUE(verify(fs, kDirectory)->damages.empty());
        const std::string path = kDirectory + "/" + ErasureJournal::path_of(which);
        fs.set_content(path, "X" + fs.content(path).substr(1));
    }
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->damages.size(), 1U);
    EXPECT_EQ(report->damages.front().segment, "erase/0.journal");
}

TEST(ErasureJournal, OfANewerFormatRefusesTheStoreAndTouchesNothing) {
    SimFileSystem fs;
    {
        ASSERT_TRUE(Store::open(fs, kDirectory, {}));
    }
    ErasureJournal journal(fs, kDirectory, 0);
    ASSERT_TRUE(journal.write({}));
    const std::string path = kDirectory + "/erase/1.journal";
    std::string bytes = fs.content(path);
    store_le(bytes.data() + 8, std::uint32_t{2});
    fs.set_content(path, bytes);
    const auto store = Store::open(fs, kDirectory, {});
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_NE(store.error().detail.find(path), std::string::npos) << store.error().detail;
    EXPECT_EQ(fs.content(path), bytes);
    const auto report = verify(fs, kDirectory);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::usage);
}

/// A segment with one frame whose header claims to be `length` long, and a record after it.
std::string segment_of_one_frame(std::uint64_t salt, std::uint64_t length) {
    std::string bytes(kSegmentHeaderBytes, '\0');
    SegmentHeader header;
    header.salt = salt;
    encode_segment_header(header, bytes.data());
    std::string frame(kFrameHeaderBytes, '\0');
    FrameHeader whole;
    whole.length = frame.size();
    finish_frame(whole, salt, frame.data());
    store_le(frame.data() + 16, length);
    store_le(frame.data() + 52,
             static_cast<std::uint32_t>(hash64(std::string_view(frame).substr(8, 44), salt)));
    return bytes + frame + std::string(kRecordHeaderBytes + 16, 'r');
}

TEST(ErasureJournal, OfSomebodyElsesMakingTouchesNothingOutsideOfARecord) {
    constexpr std::uint64_t kSalt = 5;
    constexpr std::uint64_t kFrame = kSegmentHeaderBytes;
    constexpr std::uint64_t kRecord = kFrame + kFrameHeaderBytes;
    constexpr std::uint32_t kBytes = kRecordHeaderBytes + 16;
    constexpr std::uint64_t kFar = ~std::uint64_t{0};
    const std::vector<Blanking> wrong = {
        {.frame_offset = kFrame, .record_offset = kRecord + kBytes},
        {.frame_offset = kFrame, .record_offset = kRecord + kBytes, .record_bytes = kBytes},
        {.frame_offset = kFrame, .record_offset = kRecord, .record_bytes = kBytes + 1},
        {.frame_offset = kFrame,
         .record_offset = kRecord,
         .record_bytes = kBytes,
         .body_bytes = 17},
        {.frame_offset = kFrame, .record_offset = kRecord, .record_bytes = ~0U, .body_bytes = 1},
        {.frame_offset = kFrame, .record_offset = kFrame, .record_bytes = kBytes},
        {.frame_offset = kFrame, .record_offset = kFar - 8, .record_bytes = kBytes},
        {.frame_offset = kFar, .record_offset = kRecord, .record_bytes = kBytes},
        {.frame_offset = kFar - 100, .record_offset = kFar, .record_bytes = kBytes},
        {.frame_offset = kFrame + 1, .record_offset = kRecord + 1, .record_bytes = kBytes},
    };
    for (const std::uint64_t length : {std::uint64_t{kFrameHeaderBytes + kBytes}, kFar}) {
        const std::string bytes = segment_of_one_frame(kSalt, length);
        const std::shared_ptr<const char> data(bytes.data(), [](const char*) {});
        SimFileSystem fs;
        fs.set_content("/1.seg", bytes);
        const auto file = fs.open("/1.seg", FileSystem::Mode::read_write);
        ASSERT_TRUE(file);
        for (Blanking blanking : wrong) {
            blanking.segment = 1;
            blanking.salt = kSalt;
            ErasureJournal::Content content;
            content.blankings = {blanking};
            EXPECT_EQ(content.applied(1, data, bytes.size()), data);
            EXPECT_TRUE(apply_blankings(**file, content.blankings));
            EXPECT_EQ(fs.content("/1.seg"), bytes);
        }
        ErasureJournal::Content right;
        right.blankings = {{.segment = 1,
                            .salt = kSalt,
                            .frame_offset = kFrame,
                            .record_offset = kRecord,
                            .record_bytes = kBytes,
                            .body_bytes = 16}};
        EXPECT_NE(right.applied(1, data, bytes.size()), data);
        EXPECT_TRUE(apply_blankings(**file, right.blankings));
        EXPECT_EQ(fs.content("/1.seg").substr(kRecord + kRecordHeaderBytes), std::string(16, '\0'));
    }
}

}  // namespace
}  // namespace annals::storage
