// Packed segments: what goes in comes out, nothing erased is left, and no byte of a file is trusted.

#include "storage/packed_segment.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/backup.h"
#include "storage/compaction.h"
#include "storage/file_system.h"
#include "storage/pack_dictionary.h"
#include "storage/restore.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/packed_files.h"
#include "tests/support/store_files.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::expect_sound;
using test::kDirectory;
using test::on_disk;
using test::put;
using test::SimFileSystem;
using test::type_of;

constexpr int kPackedResources = 300;

std::string segment_path(int number) {
    return fmt::format("{}/segments/{}", kDirectory,
                       segment_name(static_cast<std::uint64_t>(number)));
}

StoreOptions packing_options(bool packed = true) {
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.prepare_segments = false;
    options.pack_segments = packed;
    options.pack_after = std::chrono::hours(24);  // none by itself; pack_all() doesn't wait
    return options;
}

std::unique_ptr<Store> open(FileSystem& fs, const StoreOptions& options,
                            const std::string& directory = kDirectory) {
    auto store = Store::open(fs, directory, options);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

std::string id_of(int i) {
    return fmt::format("p{}", i);
}

/// A text that is in the body of one resource, and nowhere else.
std::string marker(int i) {
    return fmt::format("marker-{}-{};", i, i * 7919);
}

/// A long part that all have in common, and a short one of this resource only.
std::string text_of(int i) {
    return fmt::format(
        R"({}"name":[{{"use":"official","family":"Family{}","given":["Given{}"]}}],"telecom":[{{"system":"phone",)"
        R"("value":"555-{}","use":"home"}}],"address":[{{"line":["{} Main Street"],"city":"Springfield","state":"MA",)"
        R"("postalCode":"{}","country":"US"}}],"maritalStatus":{{"coding":[{{"system":)"
        R"("http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"M","display":"Married"}}]}})",
        marker(i), i * 13 % 97, i * 31 % 89, i * 1237 % 10'000, i, 10'000 + i * 17 % 9000);
}

void fill_store(Store& store) {
    for (int i = 0; i < kPackedResources; ++i) {
        put(store, "Patient", id_of(i), text_of(i));
    }
}

void pack_all(Store& store) {
    store.compact(true);
    const auto done = store.wait_compacted();
    ASSERT_TRUE(done) << done.error().detail;
}

void erase_patient(Store& store, const std::string& id) {
    CommitBuilder builder;
    builder.erase("Patient", id);
    const Submission submission = store.submit(builder.commit());
    ASSERT_TRUE(store.wait(submission.ticket));
    const auto done = store.wait_erased(submission.ticket);
    ASSERT_TRUE(done) << done.error().detail;
}

/// Expects every resource to be as it was written, except those that are `erased`.
template <typename Erased>
void expect_all(const Store& store, Erased&& erased) {
    for (int i = 0; i < kPackedResources; ++i) {
        const auto info = store.current(type_of("Patient"), id_of(i));
        ASSERT_EQ(info.has_value(), !erased(i)) << i;
        if (info) {
            EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(i) + 1);
            const auto stored = store.load(*info);
            ASSERT_TRUE(stored) << stored.error().detail;
            EXPECT_EQ(stored->id, id_of(i));
            EXPECT_EQ(stored->body, test::expected_body("Patient", id_of(i), text_of(i),
                                                        info->version, info->instant));
        }
    }
}

constexpr auto kNone = [](int) { return false; };

/// The packed segment in a file of `fs`. Lifetime: `fs` outlives it.
std::shared_ptr<const PackedSegment> packed_at(SimFileSystem& fs, const std::string& path) {
    const auto file = fs.open(path, FileSystem::Mode::read);
    const std::uint64_t bytes = *(*file)->size();
    auto data = *(*file)->map(bytes);
    const auto header = decode_segment_header({data.get(), bytes}, path);
    auto packed = PackedSegment::open(*header, data, bytes);
    EXPECT_TRUE(packed) << packed.error().detail;
    return *packed;
}

TEST(PackedSegment, HoldsWhatTheSegmentHeld) {
    SimFileSystem fs;
    std::string plain;
    {
        const auto store = open(fs, packing_options(false));
        fill_store(*store);
        plain = fs.content(segment_path(1));
        expect_all(*store, kNone);
    }
    {
        const auto store = open(fs, packing_options());
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
        const auto store = open(fs, packing_options(packs));
        expect_all(*store, kNone);
        put(*store, "Patient", "new", "after");
        EXPECT_EQ(store->totals().live, kPackedResources + 1U);
        erase_patient(*store, "new");
    }
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, IsMadeOnceItsLastCommitIsOldEnough) {
    SimFileSystem fs;
    std::atomic<std::int64_t> clock{1'767'323'045'678'000};
    StoreOptions with = packing_options();
    with.clock = [&] { return Instant{clock.load()}; };
    with.pack_after = std::chrono::hours(1);
    {
        const auto store = open(fs, with);
        fill_store(*store);
    }
    {
        const auto store = open(fs, with);
        // Where there is something to pack, the first of it is read within 250 ms.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        EXPECT_EQ(store->metrics().compaction.pack_bytes_read, 0U);
        EXPECT_EQ(store->metrics().segments_packed, 0U);
    }
    clock += 2 * std::chrono::microseconds(std::chrono::hours(1)).count();
    const auto store = open(fs, with);
    while (store->metrics().segments_packed + 1 < store->metrics().segments) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the test's timeout ends this
    }
    expect_all(*store, kNone);
}

TEST(PackedSegment, IsNotMadeOfWhatZstdCannotCompress) {
    SimFileSystem fs;
    const auto store = open(fs, packing_options());
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
    const auto store = open(fs, packing_options());
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

TEST(PackedSegment, IsErasedFromOnceTheDeviceHasSpaceAgain) {
    SimFileSystem fs;
    {
        const auto store = open(fs, packing_options());
        fill_store(*store);
        pack_all(*store);
        fs.fail_next(SimFileSystem::Call::create, Errc::no_store);
        CommitBuilder builder;
        builder.erase("Patient", id_of(7));
        const Submission submission = store->submit(builder.commit());
        ASSERT_TRUE(store->wait(submission.ticket));
        const auto erased = store->wait_erased(submission.ticket);
        ASSERT_FALSE(erased);
        EXPECT_EQ(erased.error().code, Errc::no_store);
        EXPECT_TRUE(on_disk(fs, marker(7)));
    }
    EXPECT_FALSE(on_disk(fs, marker(7)));
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, LosesTheBodiesThatAreErased) {
    SimFileSystem fs;
    const auto store = open(fs, packing_options());
    fill_store(*store);
    pack_all(*store);
    ASSERT_TRUE(on_disk(fs, marker(10)));
    const auto held = store->load(*store->current(type_of("Patient"), id_of(10)));
    ASSERT_TRUE(held);
    const std::string before(held->body);
    for (int i = 0; i < kPackedResources; i += 10) {
        erase_patient(*store, id_of(i));
        EXPECT_FALSE(on_disk(fs, marker(i))) << i;
    }
    EXPECT_EQ(held->body, before);
    const auto tenth = [](int i) { return i % 10 == 0; };
    expect_all(*store, tenth);
    expect_sound(fs, kDirectory);
    pack_all(*store);
    expect_all(*store, tenth);
    expect_sound(fs, kDirectory);
    for (int i = 0; i < kPackedResources; i += 10) {
        EXPECT_FALSE(on_disk(fs, marker(i))) << i;
    }
}

/// Resources of the first segment with no pieces in its dictionary: after their erasure, it is still packed.
std::vector<std::string> apart_from_dictionary(SimFileSystem& fs) {
    const auto packed = packed_at(fs, segment_path(1));
    const std::shared_ptr<const char> image = *packed->image();
    const std::string_view frames(image.get(), packed->frames_end());
    std::set<std::string> sources;
    for (const std::uint64_t offset : packed->sources()) {
        sources.insert(std::string(decode_record(frames, offset)->id));
    }
    std::vector<std::string> others;
    for (int i = 0; i < kPackedResources && frames.find(marker(i)) != std::string_view::npos; ++i) {
        if (!sources.contains(id_of(i))) {
            others.push_back(id_of(i));
        }
    }
    return others;
}

class PackedTooOften : public testing::Test {
  protected:
    /// Erases from the first segment as often as it is packed again: the next erasure is to unpack it.
    void SetUp() override {
        store_ = open(fs_, packing_options());
        fill_store(*store_);
        pack_all(*store_);
        ids_ = apart_from_dictionary(fs_);
        ASSERT_GT(ids_.size(), kTimes + 1);
        for (std::size_t i = 0; i < kTimes; ++i) {
            erase_patient(*store_, ids_[i]);
            ASSERT_TRUE(test::is_packed(fs_.content(segment_path(1)))) << i;
        }
    }

    std::string marker_of(const std::string& id) const { return marker(std::stoi(id.substr(1))); }

    static constexpr std::size_t kTimes = 8;

    SimFileSystem fs_;
    std::unique_ptr<Store> store_;
    std::vector<std::string> ids_;
};

TEST_F(PackedTooOften, StaysPackedWhereTheDeviceHasNoSpaceForAPlainOne) {
    // The write after the log's.
    fs_.fail_next(SimFileSystem::Call::write, Errc::no_store, 1, 1);
    erase_patient(*store_, ids_[kTimes]);
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes])));
    EXPECT_TRUE(test::is_packed(fs_.content(segment_path(1))));
    erase_patient(*store_, ids_[kTimes + 1]);
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes + 1])));
    EXPECT_FALSE(test::is_packed(fs_.content(segment_path(1))));
    expect_all(*store_, [&](int i) {
        return std::ranges::find(ids_, id_of(i)) < ids_.begin() + kTimes + 2;
    });
    store_.reset();
    expect_sound(fs_, kDirectory);
}

TEST_F(PackedTooOften, IsNotErasedFromWhereItCannotBeReplaced) {
    fs_.fail_next(SimFileSystem::Call::write, Errc::io, 1, 1);
    CommitBuilder builder;
    builder.erase("Patient", ids_[kTimes]);
    const Submission submission = store_->submit(builder.commit());
    ASSERT_TRUE(store_->wait(submission.ticket));
    const auto erased = store_->wait_erased(submission.ticket);
    ASSERT_FALSE(erased);
    EXPECT_EQ(erased.error().code, Errc::io);
    EXPECT_TRUE(on_disk(fs_, marker_of(ids_[kTimes])));
    store_.reset();
    store_ = open(fs_, packing_options());
    EXPECT_FALSE(on_disk(fs_, marker_of(ids_[kTimes])));
    store_.reset();
    expect_sound(fs_, kDirectory);
}

TEST(PackedSegment, GivesUpItsDictionaryWithABodyThatHasPiecesInIt) {
    SimFileSystem fs;
    const auto store = open(fs, packing_options());
    fill_store(*store);
    pack_all(*store);
    const auto packed = packed_at(fs, segment_path(1));
    ASSERT_FALSE(packed->sources().empty());
    const auto part = packed->read(packed->sources().front());
    ASSERT_TRUE(part);
    const auto source = parse_record(part->view(), packed->sources().front() - part->offset);
    ASSERT_TRUE(source);
    const auto dictionary = packed->dictionary();
    ASSERT_TRUE(dictionary);
    const std::string id(source->id);
    const int number = std::stoi(id.substr(1));
    EXPECT_NE(dictionary->find(source->body.substr(source->body.size() - 40)), std::string::npos);

    // First one that is no source: the dictionary stays.
    int other = 0;
    for (const std::uint64_t at : packed->sources()) {
        const auto where = packed->read(at);
        ASSERT_TRUE(where);
        const auto record = parse_record(where->view(), at - where->offset);
        ASSERT_TRUE(record);
        other += record->id == id_of(other) ? 1 : 0;
    }
    erase_patient(*store, id_of(other));
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(other)));
    expect_sound(fs, kDirectory);

    erase_patient(*store, id);
    EXPECT_FALSE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(number)));
    // What was erased from the packed segment takes up space again in the plain one, and is counted.
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_EQ(store->compaction().dead_bytes, store->measure_compaction().dead_bytes);
    const auto gone = [&](int i) { return i == other || i == number; };
    expect_all(*store, gone);
    expect_sound(fs, kDirectory);
    pack_all(*store);
    EXPECT_TRUE(test::is_packed(fs.content(segment_path(1))));
    EXPECT_FALSE(on_disk(fs, marker(number)));
    expect_all(*store, gone);
    expect_sound(fs, kDirectory);
}

TEST(PackedSegment, LeavesABackupsNameAlone) {
    SimFileSystem fs;
    const auto store = open(fs, packing_options());
    fill_store(*store);
    const std::string plain = fs.content(segment_path(1));
    fs.add_name(segment_path(1), "/backup/1");
    pack_all(*store);
    EXPECT_EQ(fs.content("/backup/1"), plain);
    const std::string packed = fs.content(segment_path(1));
    ASSERT_TRUE(test::is_packed(packed));
    fs.add_name(segment_path(1), "/backup/2");
    erase_patient(*store, id_of(3));
    EXPECT_EQ(fs.content("/backup/2"), packed);
    EXPECT_NE(fs.content(segment_path(1)), packed);
    EXPECT_FALSE(test::unpacked(fs.content(segment_path(1))).find(marker(3)) != std::string::npos);
}

TEST(PackedSegment, IsBackedUpAndRestoredToAnyPosition) {
    SimFileSystem fs;
    const auto store = open(fs, packing_options());
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
        const auto there = open(fs, packing_options(), to);
        EXPECT_EQ(there->last_position().value, position);
        expect_sound(fs, to);
    }
    const auto whole = restore(fs, "/backup", "/restored", {});
    ASSERT_TRUE(whole) << whole.error().detail;
    EXPECT_EQ(fs.content("/restored/segments/0000000001.seg"), fs.content(segment_path(1)));
    expect_all(*open(fs, packing_options(), "/restored"), kNone);
}

TEST(PackedSegment, LetsReadersGoOnWhileItIsMadeAndErasedFrom) {
    const test::TemporaryDirectory directory;
    StoreOptions with = packing_options();
    with.durability = Durability::none;
    const auto store = open(posix_file_system(), with, directory.path());
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
        erase_patient(*store, id_of(i));
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
        const auto store = open(fs_, packing_options());
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
    const auto store = open(fs_, packing_options());
    const auto lost = store->load(*store->current(type_of("Patient"), id_of(0)));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Errc::corrupt);
    EXPECT_TRUE(store->load(*store->current(type_of("Patient"), id_of(40))));
    // Nothing can be erased from an unreadable block, but everything else can.
    for (const int lost_or_not : {0, 40}) {
        CommitBuilder builder;
        builder.erase("Patient", id_of(lost_or_not));
        const Submission submission = store->submit(builder.commit());
        ASSERT_TRUE(store->wait(submission.ticket));
        EXPECT_TRUE(store->wait_erased(submission.ticket));
        EXPECT_FALSE(store->current(type_of("Patient"), id_of(lost_or_not)));
    }
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
    const auto store = open(fs_, allowing);
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
    expect_all(*open(fs_, allowing), kNone);
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
