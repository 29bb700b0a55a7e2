// Opening files that are not as they were written.

#include "storage/recovery.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/backup.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/segment.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/recovery_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/no_descriptors.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace annals::storage {
namespace {

using test::put;
using test::SimFileSystem;
using test::type_of;

/// Flips a bit of the byte at `offset`.
void damage(SimFileSystem& fs, const std::string& path, std::uint64_t offset) {
    std::string bytes = fs.content(path);
    bytes[offset] = static_cast<char>(bytes[offset] ^ 4);
    fs.set_content(path, bytes);
}

/// The offset of the frame of patient `i`.
std::uint64_t frame_of(const SimFileSystem& fs, const std::string& path, int i) {
    const std::string bytes = fs.content(path);
    const std::uint64_t marker = offset_in_file(fs, path, "marker-" + std::to_string(i) + ";");
    const auto header = decode_segment_header(bytes, path);
    EXPECT_TRUE(header);
    std::uint64_t last = 0;
    for (const FrameAt& frame : scan_segment(bytes, *header).frames) {
        last = frame.offset < marker ? frame.offset : last;
    }
    return last;
}

TEST(Recovery, RefusesDamageInTheMiddleAndNamesItsPlace) {
    auto fs = store_of_patients(10);
    const std::uint64_t place = frame_of(*fs, kFirstSegment, 4);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    const std::string before = fs->content(kFirstSegment);
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
    EXPECT_NE(store.error().detail.find("0000000001.seg"), std::string::npos);
    EXPECT_NE(store.error().detail.find("offset " + std::to_string(place)), std::string::npos)
        << store.error().detail;
    EXPECT_EQ(fs->content(kFirstSegment), before);
    EXPECT_FALSE(Store::open(*fs, "/data", small_segments(true)));
}

TEST(Recovery, RefusesDamageAnywhereInASyncedFrame) {
    auto fs = store_of_patients(3);
    const std::uint64_t begin = frame_of(*fs, kFirstSegment, 1);
    const std::uint64_t end = frame_of(*fs, kFirstSegment, 2);
    for (std::uint64_t at = begin; at < end; ++at) {
        damage(*fs, kFirstSegment, at);
        auto store = Store::open(*fs, "/data", small_segments());
        ASSERT_FALSE(store) << at;
        ASSERT_EQ(store.error().code, Errc::corrupt);
        damage(*fs, kFirstSegment, at);
    }
}

TEST(Recovery, LooksAgainWhereAnotherProcessMayErase) {
    auto fs = store_of_patients(3);
    const std::string whole = fs->content(kFirstSegment);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-1;"));
    int lists = 0;
    fs->after_list([&] {
        if (++lists == 3) {  // the format's, the first attempt's, the second's
            fs->set_content(kFirstSegment, whole);
        }
    });
    OpenReport report;
    const auto store = Store::open(*fs, "/data", small_segments(true), &report);
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ(report.versions, 3U);
    const auto info = (*store)->current(type_of("Patient"), "p1");
    ASSERT_TRUE(info);
    EXPECT_TRUE((*store)->load(*info));
}

TEST(Recovery, ServesWhatIsWholeOfADamagedStoreOnDemand) {
    auto fs = store_of_patients(10);
    const std::uint64_t place = frame_of(*fs, kFirstSegment, 4);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    const std::uint64_t calls = fs->changing_calls();
    OpenReport report;
    auto opened = Store::open(*fs, "/data", small_segments(true, true), &report);
    ASSERT_TRUE(opened) << opened.error().detail;
    ASSERT_FALSE(report.damages.empty());
    EXPECT_EQ(report.damages[0].segment, "0000000001.seg");
    EXPECT_EQ(report.damages[0].offset, place);
    const Store& store = **opened;
    for (int i = 0; i < 10; ++i) {
        const auto info = store.current(type_of("Patient"), "p" + std::to_string(i));
        ASSERT_EQ(info.has_value(), i != 4) << i;
        if (info) {
            EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(i) + 1);
            EXPECT_TRUE(store.load(*info));
        }
    }
    EXPECT_EQ(store.totals().versions, 9U);
    EXPECT_EQ(fs->changing_calls(), calls);
}

TEST(Recovery, LeavesOutASegmentThatBeginsFurtherAwayThanRecordsCanBeLost) {
    for (const std::uint64_t first : {std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
        auto fs = store_of_patients(300);
        std::string second = fs->content(kSecondSegment);
        store_le(second.data() + 32, first);
        store_le(second.data() + 56, hash64({second.data(), 56}));
        fs->set_content(kSecondSegment, second);
        OpenReport report;
        auto opened = Store::open(*fs, "/data", small_segments(true, true), &report);
        ASSERT_TRUE(opened) << opened.error().detail;
        ASSERT_FALSE(report.damages.empty());
        EXPECT_EQ(report.damages[0].segment, "0000000002.seg");
        EXPECT_EQ(report.damages[0].offset, 32U);
        EXPECT_TRUE((*opened)->current(type_of("Patient"), "p0"));
        // What follows the segment is served.
        EXPECT_TRUE((*opened)->current(type_of("Patient"), "p299"));
    }
}

TEST(Recovery, TakesNothingForDamageThatIsWrittenMeanwhile) {
    constexpr std::uint64_t kBytes = 32 << 20;
    const test::TemporaryDirectory directory;
    const SegmentHeader header{
        .store_id = 1, .number = 1, .first_position = {1}, .salt = 7, .last_instant = {}};
    std::string start(kSegmentHeaderBytes, '\0');
    encode_segment_header(header, start.data());
    const auto file =
        *posix_file_system().open(directory / segment_name(1), FileSystem::Mode::create);
    ASSERT_TRUE(file->write(0, start));
    ASSERT_TRUE(file->resize(kBytes));
    const auto mapped = *file->map(kBytes);
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> end = kSegmentHeaderBytes;
    std::thread writer([&] {
        // Each frame is written after the ones before it are durable, and says so.
        while (!stop && end < kBytes / 2) {
            char frame[kFrameHeaderBytes] = {};
            finish_frame({.length = sizeof frame,
                          .first_position = {1},
                          .instant = {},
                          .synced_offset = end,
                          .record_count = 0},
                         header.salt, frame);
            if (!file->write(end, {frame, sizeof frame})) {
                break;
            }
            end += sizeof frame;
        }
    });
    while (end == kSegmentHeaderBytes) {
        std::this_thread::yield();
    }
    for (int i = 0; i < 10; ++i) {
        const SegmentScan scan = scan_segment({mapped.get(), kBytes}, header);
        EXPECT_FALSE(scan.witness) << i;
        EXPECT_GT(scan.end, kSegmentHeaderBytes);
    }
    stop = true;
    writer.join();
    const SegmentScan scan = scan_segment({mapped.get(), kBytes}, header);
    EXPECT_EQ(scan.end, end);
    EXPECT_EQ(scan.garbage_end, end);
}

TEST(Recovery, CutsATornTailAndSaysHowMuch) {
    auto fs = store_of_patients(5);
    const std::uint64_t place = frame_of(*fs, kFirstSegment, 4);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    OpenReport report;
    auto store = Store::open(*fs, "/data", small_segments(), &report);
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_GT(report.torn_bytes_cut, 50U);
    EXPECT_EQ((*store)->last_position(), Position{4});
    EXPECT_EQ(fs->content(kFirstSegment).find_first_not_of('\0', place), std::string::npos);
    put(**store, "Patient", "new", "x");
    EXPECT_EQ((*store)->current(type_of("Patient"), "new")->position, Position{5});
}

TEST(Recovery, CutsNothingWhenItMayOnlyRead) {
    auto fs = store_of_patients(5);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    const std::string before = fs->content(kFirstSegment);
    const std::uint64_t calls = fs->changing_calls();
    {
        auto store = Store::open(*fs, "/data", small_segments(true));
        ASSERT_TRUE(store) << store.error().detail;
        EXPECT_EQ((*store)->last_position(), Position{4});
    }
    EXPECT_EQ(fs->content(kFirstSegment), before);
    EXPECT_EQ(fs->changing_calls(), calls);
}

TEST(Recovery, SeesDamageInTheLastCommitOfAnOrderlyEnd) {
    auto fs = store_of_patients(5, true);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
}

TEST(Recovery, SeesDamageInTheLastCommitOfAnOrderlyEndWithoutCommits) {
    auto fs = store_of_patients(5);
    ASSERT_TRUE(Store::open(*fs, "/data", small_segments()));
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    EXPECT_FALSE(Store::open(*fs, "/data", small_segments()));
}

TEST(Recovery, AllowsDamageToNoWriter) {
    auto fs = store_of_patients(5, true);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    EXPECT_FALSE(Store::open(*fs, "/data", small_segments(false, true)));
}

TEST(Recovery, SeesDamageInTheLastCommitOfASecondOrderlyEnd) {
    auto fs = store_of_patients(5, true);
    {
        auto store = Store::open(*fs, "/data", small_segments());
        ASSERT_TRUE(store);
        test::put(**store, "Patient", "more", "marker-more;");
    }
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-more;"));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
}

TEST(Recovery, FindsAnOrderlyEndWithoutATail) {
    auto fs = store_of_patients(5, true);
    for (int i = 0; i < 3; ++i) {
        const std::string before = fs->content(kFirstSegment);
        OpenReport report;
        auto store = Store::open(*fs, "/data", small_segments(), &report);
        ASSERT_TRUE(store);
        EXPECT_EQ(report.torn_bytes_cut, 0U);
        store->reset();
        EXPECT_EQ(fs->content(kFirstSegment), before);
    }
}

TEST(Recovery, RefusesASealedSegmentWithoutAWholeFooter) {
    auto fs = store_of_patients(kTwoSegments);
    damage(*fs, kFirstSegment, fs->content(kFirstSegment).size() - 40);
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
    EXPECT_NE(store.error().detail.find("0000000001.seg"), std::string::npos);

    OpenReport report;
    auto damaged = Store::open(*fs, "/data", small_segments(true, true), &report);
    ASSERT_TRUE(damaged) << damaged.error().detail;
    EXPECT_EQ(report.versions, static_cast<std::uint64_t>(kTwoSegments));
    EXPECT_EQ(report.damages.size(), 1U);
}

TEST(Recovery, RefusesAMissingSegment) {
    auto fs = store_of_patients(kTwoSegments);
    ASSERT_TRUE(fs->remove(kFirstSegment));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
    EXPECT_NE(store.error().detail.find("0000000001.seg"), std::string::npos);

    auto damaged = Store::open(*fs, "/data", small_segments(true, true));
    ASSERT_TRUE(damaged) << damaged.error().detail;
    const int last = kTwoSegments - 1;
    const auto info = (*damaged)->current(type_of("Patient"), "p" + std::to_string(last));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(kTwoSegments));
}

TEST(Recovery, RefusesADamagedHeader) {
    for (std::uint64_t at = 0; at < kSegmentHeaderBytes; ++at) {
        if (at >= 8 && at < 12) {
            continue;  // the format version, which has a test of its own
        }
        auto fs = store_of_patients(2);
        damage(*fs, kFirstSegment, at);
        auto store = Store::open(*fs, "/data", small_segments());
        ASSERT_FALSE(store) << at;
        EXPECT_EQ(store.error().code, Errc::corrupt);
    }
}

TEST(Recovery, RefusesASegmentOfAnotherStore) {
    auto fs = store_of_patients(kTwoSegments);
    auto other = store_of_patients(kTwoSegments);
    fs->set_content(kSecondSegment, other->content(kSecondSegment));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
}

TEST(Recovery, RefusesANewerFormatAndTouchesNothing) {
    auto fs = store_of_patients(2);
    std::string bytes = fs->content(kFirstSegment);
    store_le(bytes.data() + 8, kFormatVersion + 1);
    store_le(bytes.data() + 56, hash64({bytes.data(), 56}));
    fs->set_content(kFirstSegment, bytes);
    fs->set_content("/data/segments/new.tmp", "left over");
    const std::uint64_t calls = fs->changing_calls();
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_NE(store.error().detail.find(kFirstSegment), std::string::npos);
    EXPECT_EQ(fs->content(kFirstSegment), bytes);
    EXPECT_EQ(fs->changing_calls(), calls);
}

TEST(Recovery, RefusesAFrameWithFlagsAndTouchesNoSegment) {
    auto fs = store_of_patients(3);
    std::string bytes = fs->content(kFirstSegment);
    const auto header = decode_segment_header(bytes, kFirstSegment);
    ASSERT_TRUE(header);
    const std::uint64_t at = frame_of(*fs, kFirstSegment, 1);
    char* const frame = bytes.data() + at;
    const std::uint64_t length = load_le<std::uint64_t>(frame + 16);
    store_le(frame + 12, std::uint32_t{1});
    store_le(frame + 52, static_cast<std::uint32_t>(hash64({frame + 8, 44}, header->salt)));
    store_le(frame, hash64({frame + 8, length - 8}, header->salt));
    fs->set_content(kFirstSegment, bytes);
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::usage);
    EXPECT_NE(store.error().detail.find("flags"), std::string::npos);
    EXPECT_EQ(fs->content(kFirstSegment), bytes);

    // Nobody else takes it for damage, and all name the place once.
    const auto verified = verify(*fs, "/data");
    const auto end = find_log_end(*fs, "/data");
    const LogEnd whole{
        .segment = 1, .offset = scan_segment(bytes, *header).end, .position = {3}, .instant = {}};
    const auto backup = back_up(*fs, "/data", "/backup", [&] { return Result<LogEnd>(whole); });
    ASSERT_FALSE(verified || end || backup);
    for (const Error& error : {store.error(), verified.error(), end.error(), backup.error()}) {
        EXPECT_EQ(error.code, Errc::usage) << error.detail;
        EXPECT_NE(error.detail.find("0000000001.seg"), std::string::npos) << error.detail;
        const std::string place = fmt::format(": offset {}: frame with flags", at);
        EXPECT_NE(error.detail.find(place), std::string::npos) << error.detail;
        EXPECT_EQ(error.detail.find("offset"), error.detail.rfind("offset")) << error.detail;
    }
}

TEST(Recovery, RemovesFilesInTheMaking) {
    auto fs = store_of_patients(2);
    fs->set_content("/data/segments/new.tmp", "left over");
    fs->set_content("/data/segments/prepared.tmp", "left over");
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_TRUE(store);
    EXPECT_EQ(fs->paths(), std::vector<std::string>{kFirstSegment});
}

TEST(Recovery, NamesADamagedRecordThatIsRead) {
    auto fs = store_of_patients(kTwoSegments);
    damage(*fs, kFirstSegment, offset_in_file(*fs, kFirstSegment, "marker-4;"));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_TRUE(store) << store.error().detail;  // hints are whole; opening reads no data
    const auto info = (*store)->current(type_of("Patient"), "p4");
    ASSERT_TRUE(info);
    auto loaded = (*store)->load(*info);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::corrupt);
    EXPECT_NE(loaded.error().detail.find("0000000001.seg: offset"), std::string::npos);
    EXPECT_TRUE((*store)->load(*(*store)->current(type_of("Patient"), "p5")));
}

TEST(Recovery, GoesOnBehindASealedLastSegment) {
    auto fs = store_of_patients(kTwoSegments);
    ASSERT_TRUE(fs->remove(kSecondSegment));
    auto store = Store::open(*fs, "/data", small_segments());
    ASSERT_TRUE(store) << store.error().detail;
    const Position last = (*store)->last_position();
    EXPECT_GT(last, Position{10});
    put(**store, "Patient", "next", "x");
    EXPECT_EQ((*store)->current(type_of("Patient"), "next")->position.value, last.value + 1);
    EXPECT_TRUE(fs->exists(kSecondSegment));
}

TEST(Recovery, NeedsFewDescriptorsForManySegments) {
    const test::TemporaryDirectory directory;
    constexpr std::size_t kSegments = 12;
    for (const bool read_only : {false, true}) {
        if (!read_only) {
            const auto store =
                Store::open(posix_file_system(), directory / "data", small_segments());
            ASSERT_TRUE(store);
            while ((*store)->metrics().segments < kSegments) {
                put(**store, "Patient", "p", std::string(1000, 'x'));
            }
        }
        const test::NoDescriptors few(4);
        OpenReport report;
        const auto store = Store::open(posix_file_system(), directory / "data",
                                       small_segments(read_only), &report);
        ASSERT_TRUE(store) << store.error().detail;
        EXPECT_EQ(report.segments, kSegments);
    }
}

TEST(Recovery, GoesOnInNoPackedSegment) {
    SimFileSystem fs;
    StoreOptions packing = small_segments();
    packing.pack_segments = true;
    {
        auto store = Store::open(fs, "/data", packing);
        ASSERT_TRUE(store);
        for (int i = 0; i < kTwoSegments; ++i) {
            put(**store, "Patient", "p" + std::to_string(i), std::string(50, 'x'));
        }
        (*store)->compact(true);
        ASSERT_TRUE((*store)->wait_compacted());
        ASSERT_GT((*store)->metrics().segments_packed, 0U);
    }
    for (std::uint64_t number = 2; fs.exists("/data/segments/" + segment_name(number)); ++number) {
        ASSERT_TRUE(fs.remove("/data/segments/" + segment_name(number)));
    }
    const std::string whole = fs.content(kFirstSegment);
    damage(fs, kFirstSegment, whole.size() - 100);  // in the footer
    const std::string before = fs.content(kFirstSegment);
    const auto store = Store::open(fs, "/data", packing);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
    EXPECT_EQ(fs.content(kFirstSegment), before);
    fs.set_content(kFirstSegment, whole);
    EXPECT_TRUE(Store::open(fs, "/data", packing));
}

TEST(Recovery, IsNotFooledByAFrameStoredInABody) {
    SimFileSystem fs;
    auto store = *Store::open(fs, "/data", small_segments());
    put(*store, "Patient", "a", "x");
    // The bytes of a real frame, such as a client that has seen the file could send.
    const std::string bytes = fs.content(kFirstSegment);
    const std::string frame = bytes.substr(kSegmentHeaderBytes, 200);
    const std::uint64_t end = scan_segment(bytes, *decode_segment_header(bytes, kFirstSegment)).end;
    put(*store, "Binary", "b", "bait" + frame + frame);
    auto cut = fs.after_power_cut(1);
    damage(*cut, kFirstSegment, end + 100);
    OpenReport report;
    auto opened = Store::open(*cut, "/data", small_segments(), &report);
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_GT(report.torn_bytes_cut, 400U);
    EXPECT_EQ((*opened)->last_position(), Position{1});
}

}  // namespace
}  // namespace annals::storage
