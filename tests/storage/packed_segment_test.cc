// Packed segments: what goes in comes out, and no byte of a file is trusted.

#include "storage/packed_segment.h"

#include "core/base/bytes.h"
#include "storage/backup.h"
#include "storage/file_system.h"
#include "storage/pack_dictionary.h"
#include "storage/restore.h"
#include "storage/segment.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/packed_store.h"
#include "tests/support/commits.h"
#include "tests/support/packed_files.h"
#include "tests/support/store_files.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace annals::storage {
namespace {

using test::expect_sound;
using test::kDirectory;
using test::put;
using test::SimFileSystem;
using test::type_of;

TEST(PackedSegment, HoldsWhatTheSegmentHeld) {
    SimFileSystem fs;
    std::string plain;
    {
        const auto store = open_packing(fs, packing_options(false));
        fill_store(*store);
        plain = fs.content(segment_path(1));
        expect_all(*store, kNone);
    }
    {
        const auto store = open_packing(fs, packing_options());
        const std::uint64_t before = store->metrics().log_bytes;
        pack_all(*store);
        const StoreMetrics metrics = store->metrics();
        EXPECT_EQ(metrics.segments_packed, metrics.segments - 1);
        EXPECT_EQ(metrics.compaction.segments_packed, metrics.segments - 1);
        EXPECT_LT(metrics.compaction.pack_bytes_written * 3, metrics.compaction.pack_bytes_read);
        EXPECT_LT(metrics.log_bytes, before / 2);
        expect_all(*store, kNone);
    }
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_LT(fs.content(segment_path(1)).size() * 3, plain.size());
    const auto packed = packed_at(fs, segment_path(1));
    const auto image = packed->image();
    ASSERT_TRUE(image) << image.error().detail;
    const auto header = decode_segment_header({image->get(), packed->image_bytes()}, "image");
    ASSERT_TRUE(header);
    const SegmentScan scan = scan_segment({image->get(), packed->frames_end()}, *header);
    EXPECT_EQ(scan.end, packed->frames_end());
    expect_sound(fs, kDirectory);
    for (const bool packs : {false, true}) {
        const auto store = open_packing(fs, packing_options(packs));
        expect_all(*store, kNone);
        put(*store, "Patient", "new", "after");
        EXPECT_EQ(store->totals().live, kPackedResources + 1U);
        EXPECT_TRUE(test::erase(*store, "Patient", "new"));
    }
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, IsMadeOnceItsLastCommitIsOldEnough) {
    SimFileSystem fs;
    AgeingSegments ageing(fs);
    fill_store(ageing.store());
    ageing.reopen();
    // Each segment but the last is too young.
    ageing.await_looks(ageing.store().metrics().segments - 1);
    EXPECT_EQ(ageing.store().metrics().compaction.pack_bytes_read, 0U);
    EXPECT_EQ(ageing.store().metrics().segments_packed, 0U);
    ageing.pass(2 * std::chrono::hours(1));
    ageing.reopen();
    ageing.await_packed(ageing.store().metrics().segments - 1);
    expect_all(ageing.store(), kNone);
}

TEST(PackedSegment, IsNotMadeOfWhatZstdCannotCompress) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    std::mt19937_64 random(1);
    std::string noise(5000, '\0');
    for (int i = 0; i < 50; ++i) {
        for (char& c : noise) {
            c = static_cast<char>(random());
        }
        put(*store, "Binary", id_of(i), noise);
    }
    pack_all(*store);
    EXPECT_GT(store->metrics().segments, 2U);
    EXPECT_EQ(store->metrics().segments_packed, 0U);
    for (const std::string& path : fs.paths()) {
        EXPECT_FALSE(path.ends_with(".tmp")) << path;
    }
}

TEST(PackedSegment, StaysPlainWhileTheDeviceIsFull) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    fill_store(*store);
    const std::string plain = fs.content(segment_path(1));
    fs.set_space(0);
    store->compact(true);
    const auto refused = store->wait_compacted();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_store);
    EXPECT_EQ(fs.content(segment_path(1)), plain);
    expect_all(*store, kNone);
    for (const std::string& path : fs.paths()) {
        EXPECT_FALSE(path.ends_with(".tmp")) << path;
    }
    fs.set_space({});
    pack_all(*store);
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    expect_all(*store, kNone);
}

TEST(PackedSegment, LeavesABackupsNameAlone) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    fill_store(*store);
    const std::string plain = fs.content(segment_path(1));
    fs.add_name(segment_path(1), "/backup/1");
    pack_all(*store);
    EXPECT_EQ(fs.content("/backup/1"), plain);
    const std::string packed = fs.content(segment_path(1));
    ASSERT_TRUE(test::is_packed(packed));
    fs.add_name(segment_path(1), "/backup/2");
    EXPECT_TRUE(test::erase(*store, "Patient", id_of(3)));
    EXPECT_EQ(fs.content("/backup/2"), packed);
    EXPECT_NE(fs.content(segment_path(1)), packed);
    EXPECT_FALSE(test::unpacked(fs.content(segment_path(1))).find(marker(3)) != std::string::npos);
}

TEST(PackedSegment, IsBackedUpAndRestoredToAnyPosition) {
    SimFileSystem fs;
    const auto store = open_packing(fs, packing_options());
    fill_store(*store);
    pack_all(*store);
    const auto end = [&]() -> Result<LogEnd> { return *store->log_end(); };
    const auto backup = back_up(fs, kDirectory, "/backup", end, {});
    ASSERT_TRUE(backup) << backup.error().detail;
    EXPECT_GT(backup->linked, 1U);
    for (const std::uint64_t position :
         {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{137}, std::uint64_t{300}}) {
        const std::string to = fmt::format("/restored{}", position);
        RestoreOptions until;
        until.to_position = Position{position};
        const auto restored = restore(fs, "/backup", to, until);
        ASSERT_TRUE(restored) << restored.error().detail;
        EXPECT_EQ(restored->position.value, position);
        const auto there = open_packing(fs, packing_options(), to);
        EXPECT_EQ(there->last_position().value, position);
        expect_sound(fs, to);
    }
    const auto whole = restore(fs, "/backup", "/restored", {});
    ASSERT_TRUE(whole) << whole.error().detail;
    EXPECT_EQ(fs.content("/restored/segments/0000000001.seg"), fs.content(segment_path(1)));
    expect_all(*open_packing(fs, packing_options(), "/restored"), kNone);
}

TEST(PackedSegment, LetsReadersGoOnWhileItIsMadeAndErasedFrom) {
    const test::TemporaryDirectory directory;
    StoreOptions with = packing_options();
    with.durability = Durability::none;
    const auto store = open_packing(posix_file_system(), with, directory.path());
    fill_store(*store);
    std::atomic<bool> stop = false;
    std::atomic<int> faults = 0;
    std::vector<std::thread> readers;
    for (int r = 0; r < 3; ++r) {
        readers.emplace_back([&, r] {
            for (int i = r; !stop; i = (i + 1) % kPackedResources) {
                const auto found = store->current(type_of("Patient"), id_of(i));
                if (!found) {
                    continue;
                }
                const auto stored = store->load(*found);
                const bool right =
                    stored && stored->body == test::expected_body("Patient", id_of(i), text_of(i),
                                                                  found->version, found->instant);
                faults += right || !store->current(type_of("Patient"), id_of(i)) ? 0 : 1;
            }
        });
    }
    pack_all(*store);
    for (int i = 0; i < kPackedResources; i += 20) {
        EXPECT_TRUE(test::erase(*store, "Patient", id_of(i)));
    }
    pack_all(*store);
    stop = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(faults, 0);
    expect_all(*store, [](int i) { return i % 20 == 0; });
}

/// A store with a packed segment, closed.
class DamagedPack : public testing::Test {
  protected:
    void SetUp() override {
        const auto store = open_packing(fs_, packing_options());
        fill_store(*store);
        pack_all(*store);
    }

    void flip(std::uint64_t at) {
        std::string bytes = fs_.content(segment_path(1));
        bytes[at] = static_cast<char>(bytes[at] ^ 4);
        fs_.set_content(segment_path(1), bytes);
    }

    std::uint64_t number_at(std::uint64_t from_end) {
        const std::string bytes = fs_.content(segment_path(1));
        return load_le<std::uint64_t>(bytes.data() + bytes.size() - kPackEndBytes + from_end);
    }

    SimFileSystem fs_;
};

TEST_F(DamagedPack, IsNamedWhereABlockIsNotWhole) {
    flip(kSegmentHeaderBytes + 20);
    const auto report = verify(fs_, kDirectory);
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->damages.empty());
    EXPECT_EQ(report->damages[0].segment, "0000000001.seg");
    EXPECT_EQ(report->damages[0].offset, kSegmentHeaderBytes);
    EXPECT_EQ(report->damages[0].reason, "damaged block");
    EXPECT_GT(report->versions, kPackedResources - 30U) << "what is in other blocks is looked at";
    const auto store = open_packing(fs_, packing_options());
    const auto lost = store->load(*store->current(type_of("Patient"), id_of(0)));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Errc::corrupt);
    EXPECT_TRUE(store->load(*store->current(type_of("Patient"), id_of(40))));
    // Nothing can be erased from an unreadable block, but everything else can.
    for (const int lost_or_not : {0, 40}) {
        EXPECT_TRUE(test::erase(*store, "Patient", id_of(lost_or_not)));
        EXPECT_FALSE(store->current(type_of("Patient"), id_of(lost_or_not)));
    }
}

TEST_F(DamagedPack, IsNamedByAnErasureThatCannotReachABody) {
    const int source = source_of(*packed_at(fs_, segment_path(1)));
    ASSERT_GT(source, 40) << "a body in another block, but with pieces in the dictionary";
    const std::string apart = apart_from_dictionary(fs_).back();
    flip(kSegmentHeaderBytes + 20);
    const auto store = open_packing(fs_, packing_options());
    const auto told_by_erasing = [&](const std::string& id) {
        testing::internal::CaptureStderr();
        EXPECT_TRUE(test::erase(*store, "Patient", id));
        return testing::internal::GetCapturedStderr();
    };
    const std::string note = "erased data here cannot be told from other data, and stays";
    EXPECT_THAT(told_by_erasing(id_of(0)), testing::HasSubstr(note)) << "in the block";
    EXPECT_THAT(told_by_erasing(apart), testing::Not(testing::HasSubstr(note)));
    // For a new dictionary, the whole segment is needed.
    EXPECT_THAT(told_by_erasing(id_of(source)), testing::HasSubstr(note));
    EXPECT_TRUE(test::is_packed(fs_.content(segment_path(1))));
}

TEST_F(DamagedPack, IsNamedWhereItsDictionaryIsNotWhole) {
    const std::uint64_t dictionary = number_at(24);
    flip(dictionary + 3);
    const auto report = verify(fs_, kDirectory);
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->damages.empty());
    EXPECT_EQ(report->damages[0].offset, dictionary);
    const auto refused = Store::open(fs_, kDirectory, packing_options());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::corrupt);
    EXPECT_NE(
        refused.error().detail.find(fmt::format("segments/0000000001.seg: offset {}", dictionary)),
        std::string::npos)
        << refused.error().detail;
    StoreOptions allowing = packing_options();
    allowing.read_only = true;
    allowing.allow_damaged = true;
    const auto store = open_packing(fs_, allowing);
    EXPECT_FALSE(store->current(type_of("Patient"), id_of(0)));
    const auto last = store->current(type_of("Patient"), id_of(kPackedResources - 1));
    ASSERT_TRUE(last);
    EXPECT_TRUE(store->load(*last));
}

TEST_F(DamagedPack, IsReadWithoutItsFooterIfThatIsAllowed) {
    const std::string bytes = fs_.content(segment_path(1));
    flip(bytes.size() - kPackEndBytes - 5);
    const auto report = verify(fs_, kDirectory);
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->damages.empty());
    EXPECT_EQ(report->damages[0].reason, "damaged footer");
    EXPECT_EQ(report->versions, static_cast<std::uint64_t>(kPackedResources));
    ASSERT_FALSE(Store::open(fs_, kDirectory, packing_options()));
    StoreOptions allowing = packing_options();
    allowing.read_only = true;
    allowing.allow_damaged = true;
    expect_all(*open_packing(fs_, allowing), kNone);
}

TEST_F(DamagedPack, NeverPassesForAWholeOne) {
    const std::string whole = fs_.content(segment_path(1));
    std::mt19937_64 random(7);
    for (int i = 0; i < 400; ++i) {
        std::string bytes = whole;
        const std::uint64_t at = random() % bytes.size();
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        fs_.set_content(segment_path(1), bytes);
        const auto report = verify(fs_, kDirectory);
        EXPECT_TRUE(!report || !report->damages.empty()) << at;
    }
    for (std::uint64_t bytes = 0; bytes < whole.size(); bytes += 97) {
        fs_.set_content(segment_path(1), std::string_view(whole).substr(0, bytes));
        const auto report = verify(fs_, kDirectory);
        EXPECT_TRUE(!report || !report->damages.empty()) << bytes;
    }
}

TEST(PackDictionary, HasPiecesOfItsSourcesAlone) {
    std::vector<std::string> bodies;
    std::vector<PackSample> samples;
    for (int i = 0; i < kPackedResources; ++i) {
        bodies.push_back(text_of(i));
    }
    for (int i = 0; i < kPackedResources; ++i) {
        samples.push_back({static_cast<std::uint64_t>(i), bodies[static_cast<std::size_t>(i)]});
    }
    const PackDictionary dictionary = choose_dictionary(samples, bodies, 8 << 10, kPackLevel);
    ASSERT_FALSE(dictionary.bytes.empty());
    ASSERT_TRUE(std::ranges::is_sorted(dictionary.sources));
    EXPECT_LT(dictionary.sources.size(), 40U);
    for (int i = 0; i < kPackedResources; ++i) {
        const bool inside = dictionary.bytes.find(marker(i)) != std::string::npos;
        const bool source =
            std::ranges::binary_search(dictionary.sources, static_cast<std::uint64_t>(i));
        EXPECT_TRUE(source || !inside) << i;
    }
    EXPECT_TRUE(choose_dictionary({}, {}, 8 << 10, kPackLevel).bytes.empty());
}

}  // namespace
}  // namespace annals::storage
