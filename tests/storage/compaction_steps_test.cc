// Compaction step by step: what it begins, and what it leaves alone.

#include "storage/compaction.h"
#include "storage/format.h"
#include "storage/segment_writer.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace annals::storage {
namespace {

using test::type_of;

/// A sealed segment with one frame, and the open one behind it.
struct SealedSegment {
    explicit SealedSegment(Instant last_commit = {}) {
        EXPECT_TRUE(fs.make_directory("/data"));
        EXPECT_TRUE(fs.make_directory("/data/segments"));
        EXPECT_TRUE(writer.begin(1, {1}, {}));
        char frame[kFrameHeaderBytes] = {};
        finish_frame({.length = sizeof frame,
                      .first_position = {1},
                      .instant = {},
                      .synced_offset = kSegmentHeaderBytes,
                      .record_count = 0},
                     writer.salt(), frame);
        EXPECT_TRUE(writer.write({frame, sizeof frame}));
        EXPECT_TRUE(writer.make_room({.bytes = 2 * kMebibyte, .records = 1}, {1}, last_commit));
        eraser.set_dead_bytes(1, kMebibyte);
    }

    void flip(std::uint64_t offset) {
        const std::string path = "/data/segments/" + segment_name(1);
        std::string bytes = fs.content(path);
        bytes[offset] = static_cast<char>(bytes[offset] ^ 4);
        fs.set_content(path, bytes);
    }

    /// Lets the index have a version in it, at position 1.
    void add_version() {
        index.add({.key = hash128("a", 7),
                   .type = type_of("Patient"),
                   .position = {1},
                   .version = {1},
                   .instant = {1},
                   .location = {.segment = *table.slot_of(1), .offset = kSegmentHeaderBytes}});
        index.publish({1});
    }

    static constexpr std::uint64_t kMebibyte = 1 << 20;

    test::SimFileSystem fs;
    SegmentTable table;
    Index index;
    SegmentWriter writer{fs, "/data/segments", {kMebibyte, false}, 7, table};
    SegmentFiles files;
    const OpenLog log{fs, "/data", table, index, writer, files};
    Eraser eraser{log, {}};
};

TEST(CompactionSteps, DoesNothingMoreOnceItHasEnded) {
    SealedSegment sealed;
    Compaction compaction(sealed.log, sealed.eraser, {});
    const auto begun = compaction.step();
    ASSERT_TRUE(begun) << begun.error().detail;
    EXPECT_TRUE(*begun);
    compaction.end();
    compaction.ask();
    const std::uint64_t calls = sealed.fs.changing_calls();
    const auto done = compaction.step();
    ASSERT_TRUE(done);
    EXPECT_FALSE(*done);
    EXPECT_FALSE(compaction.progress().running);
    EXPECT_EQ(sealed.fs.changing_calls(), calls);
}

TEST(CompactionSteps, DoesNotBeginAgainAtOnceWhatAnErasureEnded) {
    SealedSegment sealed;
    sealed.add_version();
    Compaction compaction(sealed.log, sealed.eraser,
                          {.enabled = false, .after = std::chrono::hours(1), .clock = {}});
    const auto begun = compaction.step();
    ASSERT_TRUE(begun) << begun.error().detail;
    EXPECT_TRUE(*begun);
    EXPECT_FALSE(compaction.comes_back());
    const Position erased[] = {{1}};
    compaction.erasing(erased);
    const std::uint64_t calls = sealed.fs.changing_calls();
    const auto again = compaction.step();
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_FALSE(*again);
    EXPECT_EQ(sealed.fs.changing_calls(), calls);
    EXPECT_TRUE(compaction.comes_back());

    Compaction asked(sealed.log, sealed.eraser,
                     {.enabled = true, .after = std::chrono::hours(1), .clock = {}});
    asked.ask();
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(*asked.step()) << i;
        asked.erasing(erased);
    }
    EXPECT_FALSE(*asked.step()) << "who asks does not wait for ever";
    EXPECT_FALSE(asked.progress().running);
}

TEST(CompactionSteps, BeginsAgainOnceTheDelayAfterAnErasureHasPassed) {
    SealedSegment sealed;
    sealed.add_version();
    Compaction compaction(sealed.log, sealed.eraser, {.enabled = false, .after = {}, .clock = {}});
    ASSERT_TRUE(*compaction.step());
    const Position erased[] = {{1}};
    compaction.erasing(erased);
    ASSERT_FALSE(sealed.fs.exists("/data/segments/compact.tmp"));
    EXPECT_TRUE(*compaction.step());
    EXPECT_TRUE(sealed.fs.exists("/data/segments/compact.tmp"));
}

TEST(CompactionSteps, BeginsAgainWithASegmentFromWhichMoreWasErasedSince) {
    SealedSegment sealed;
    Compaction compaction(sealed.log, sealed.eraser, {});
    for (std::uint64_t done = 1; done <= 2; ++done) {
        sealed.eraser.set_dead_bytes(1, SealedSegment::kMebibyte);
        Result<bool> more = true;
        while (more && *more) {
            more = compaction.step();
        }
        ASSERT_TRUE(more) << more.error().detail;
        EXPECT_EQ(compaction.progress().segments_done, done);
    }
}

TEST(CompactionSteps, PacksSegmentsAlsoWhileTheClockIsFarBehindTheirCommits) {
    using std::chrono::minutes;
    constexpr std::chrono::microseconds kCommit = minutes(600);
    SealedSegment sealed({kCommit.count()});
    sealed.eraser.set_dead_bytes(1, 0);
    const auto is_packed_at = [&](std::chrono::microseconds time) {
        Compaction compaction(sealed.log, sealed.eraser,
                              {.enabled = true, .after = minutes(10), .clock = [=] {
                                   return Instant{time.count()};
                               }});
        const auto begun = compaction.step();
        EXPECT_TRUE(begun) << begun.error().detail;
        return begun && *begun;
    };
    EXPECT_FALSE(is_packed_at(kCommit + minutes(9)));
    EXPECT_TRUE(is_packed_at(kCommit + minutes(10)));
    EXPECT_FALSE(is_packed_at(kCommit - minutes(9))) << "the clock catches up soon";
    EXPECT_TRUE(is_packed_at(kCommit - minutes(10)));
}

TEST(CompactionSteps, DoesNotBeginAgainWhatIsDamagedUnlessAskedForAll) {
    const std::uint64_t behind_the_frame = kSegmentHeaderBytes + kFrameHeaderBytes;
    for (const std::uint64_t damaged : {kSegmentHeaderBytes + 20, behind_the_frame + 1}) {
        SCOPED_TRACE(damaged);
        SealedSegment sealed;
        sealed.flip(damaged);
        Compaction compaction(sealed.log, sealed.eraser,
                              {.enabled = true, .after = {}, .clock = {}});
        // Without the footer, it isn't begun; without the frame, it isn't copied.
        const auto until_damage = [&] {
            Result<bool> step = compaction.step();
            while (step && *step) {
                step = compaction.step();
            }
            return step;
        };
        const auto refused = until_damage();
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::corrupt);
        // First the others behind it, of which there are none, then all anew.
        for (int i = 0; i < 3; ++i) {
            const auto more = compaction.step();
            ASSERT_TRUE(more) << more.error().detail;
            EXPECT_FALSE(*more);
        }
        compaction.ask();
        EXPECT_FALSE(until_damage());
        EXPECT_FALSE(sealed.fs.exists("/data/segments/compact.tmp"));
    }
}

}  // namespace
}  // namespace annals::storage
