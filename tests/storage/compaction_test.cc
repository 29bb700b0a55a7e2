// Compaction of a store: what it frees and keeps, also beside readers and erasures.

#include "storage/erasure_journal.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/erasure_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::put;
using test::type_of;

constexpr int kCompactedResources = 200;

StoreOptions unsynced_options() {
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.durability = Durability::none;
    return options;
}

std::string patient_id(int i) {
    return fmt::format("p{}", i);
}

/// Resources of a kilobyte each, every other one erased.
std::unique_ptr<Store> half_erased(const std::string& directory) {
    auto store = Store::open(posix_file_system(), directory, unsynced_options());
    EXPECT_TRUE(store) << store.error().detail;
    for (int i = 0; i < kCompactedResources; ++i) {
        put(**store, "Patient", patient_id(i), std::string(1000, 'x'));
    }
    Ticket last;
    for (int i = 0; i < kCompactedResources; i += 2) {
        CommitBuilder erase;
        erase.erase("Patient", patient_id(i));
        last = (*store)->submit(erase.commit()).ticket;
    }
    EXPECT_TRUE((*store)->wait(last));
    EXPECT_TRUE((*store)->wait_erased(last));
    return *std::move(store);
}

void expect_whole(const Store& store) {
    for (int i = 0; i < kCompactedResources; ++i) {
        const auto info = store.current(type_of("Patient"), patient_id(i));
        ASSERT_EQ(info.has_value(), i % 2 == 1) << i;
        if (info) {
            EXPECT_EQ(info->position.value, static_cast<std::uint64_t>(i) + 1);
            EXPECT_TRUE(store.load(*info)) << i;
        }
    }
}

TEST(Compaction, FreesWhatWasErasedAndKeepsAllElseAtItsPlace) {
    const test::TemporaryDirectory directory;
    {
        auto store = half_erased(directory.path());
        store->compact(true);
        ASSERT_TRUE(store->wait_compacted());
        const CompactionProgress done = store->compaction();
        EXPECT_FALSE(done.running);
        EXPECT_GE(done.segments_done, 3U);
        EXPECT_GT(done.bytes_freed, 70'000U);
        EXPECT_EQ(store->measure_compaction().dead_bytes, 0U);
        expect_whole(*store);
        put(*store, "Patient", "p0", "again");
        EXPECT_EQ(store->current(type_of("Patient"), "p0")->version, VersionNumber{1});
        EXPECT_EQ(store->head(type_of("Patient"), "p2").erased_through, VersionNumber{1});
    }
    const auto report = verify(posix_file_system(), directory.path());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_gone, kCompactedResources / 2U);
    auto store = Store::open(posix_file_system(), directory.path(), unsynced_options());
    ASSERT_TRUE(store) << store.error().detail;
    EXPECT_EQ((*store)->head(type_of("Patient"), "p2").erased_through, VersionNumber{1});
    EXPECT_EQ((*store)->last_position().value, kCompactedResources + 1U);
}

TEST(Compaction, LetsReadersGoOn) {
    const test::TemporaryDirectory directory;
    auto store = half_erased(directory.path());
    const auto info = store->current(type_of("Patient"), "p1");
    const auto held = store->load(*info);
    ASSERT_TRUE(held);
    const std::string before(held->body);
    std::atomic<bool> stop = false;
    std::atomic<int> faults = 0;
    std::vector<std::thread> readers;
    for (int r = 0; r < 3; ++r) {
        readers.emplace_back([&, r] {
            for (int i = r; !stop; i = (i + 1) % kCompactedResources) {
                const auto found = store->current(type_of("Patient"), patient_id(i));
                if (found && !store->load(*found) &&
                    store->current(type_of("Patient"), patient_id(i))) {
                    ++faults;
                }
            }
        });
    }
    store->compact(true);
    EXPECT_TRUE(store->wait_compacted());
    for (int i = 1; i < kCompactedResources; i += 20) {
        ASSERT_TRUE(test::erase(*store, "Patient", patient_id(i)));
    }
    store->compact(true);
    EXPECT_TRUE(store->wait_compacted());
    stop = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(held->body, before);
}

TEST(Compaction, GoesOnBesideErasuresThatNeverPause) {
    const test::TemporaryDirectory directory;
    auto store = half_erased(directory.path());
    store->compact(false);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (int i = 0; store->compaction().segments_done < 3; ++i) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        const std::string id = fmt::format("q{}", i);
        put(*store, "Patient", id, "x");
        ASSERT_TRUE(test::erase(*store, "Patient", id));
    }
    expect_whole(*store);
}

TEST(Compaction, WhoseNewNameIsNotSureLetsNothingBeErasedUntilTheNextStart) {
    test::SimFileSystem fs;
    StoreOptions options = segments_on_demand(64 << 10);
    options.pack_segments = false;
    const std::string marker(1000, 'm');
    for (const Errc code : {Errc::io, Errc::no_store}) {
        const std::string directory = fmt::format("/{}", static_cast<int>(code));
        auto store = *Store::open(fs, directory, options);
        put(*store, "Patient", "a", std::string(1000, 'x'));
        put(*store, "Patient", "b", marker);
        for (int i = 0; i < 4; ++i) {
            put(*store, "Observation", "o", std::string(20'000, 'x'));
        }
        const auto erase = [&](const char* id) { return test::erase(*store, "Patient", id); };
        EXPECT_TRUE(erase("a"));
        fs.fail_next(test::SimFileSystem::Call::sync_directory, code);
        store->compact(true);
        EXPECT_FALSE(store->wait_compacted());
        EXPECT_FALSE(store->compaction().running);
        EXPECT_FALSE(erase("b"));
        store->compact(false);
        EXPECT_FALSE(store->wait_compacted());
        EXPECT_FALSE(store->compaction().running);
        EXPECT_TRUE(store->compaction().ended);
        EXPECT_TRUE(store->load(*store->current(type_of("Observation"), "o")));
        store.reset();
        store = *Store::open(fs, directory, options);
        store.reset();
        for (const std::string& path : fs.paths()) {
            EXPECT_EQ(fs.content(path).find(marker), std::string::npos) << path;
        }
        const auto report = verify(fs, directory);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty());
        EXPECT_EQ(report->bodies_left, 0U);
    }
}

// The copy already has what is erased then, and another salt: what the journal says of the segment doesn't fit it.
TEST(Compaction, LeavesOutWhatIsErasedWhileItsSegmentIsCopied) {
    test::SimFileSystem fs;
    StoreOptions options = segments_on_demand(8 << 20);
    options.pack_segments = false;
    auto store = *Store::open(fs, "/data", options);
    const std::string marker = "erased-while-it-is-copied";
    put(*store, "Patient", "first", marker);
    put(*store, "Patient", "dead", std::string(3 << 20, 'x'));
    for (int i = 0; i < 4; ++i) {
        put(*store, "Patient", fmt::format("kept{}", i), std::string(1 << 20, 'x'));
    }
    put(*store, "Patient", "next", std::string(2 << 20, 'x'));
    const auto erase = [&](const char* id) { EXPECT_TRUE(test::erase(*store, "Patient", id)); };
    const std::string path = "/data/segments/" + segment_name(1);
    const auto salt = [&] { return decode_segment_header(fs.content(path), path)->salt; };
    const std::uint64_t before = salt();
    erase("dead");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (store->compaction().bytes_read == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    erase("first");
    store->compact(true);
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_NE(salt(), before);
    for (const std::string& name : fs.paths()) {
        EXPECT_EQ(fs.content(name).find(marker), std::string::npos) << name;
    }
}

TEST(Compaction, FindsWhatIsDeadAlsoWithoutAJournalThatTells) {
    test::SimFileSystem fs;
    StoreOptions options = segments_on_demand(64 << 10);
    options.pack_segments = false;
    auto store = *Store::open(fs, "/data", options);
    put(*store, "Patient", "a", std::string(1000, 'x'));
    for (int i = 0; i < 4; ++i) {
        put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    ASSERT_TRUE(test::erase(*store, "Patient", "a"));
    store.reset();
    ASSERT_TRUE(ErasureJournal::remove(fs, "/data"));
    store = *Store::open(fs, "/data", options);
    store->compact(true);
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_EQ(store->compaction().segments_done, 1U);
}

TEST(Compaction, DoesNotTryToPackAgainWhatDidNotShrink) {
    test::SimFileSystem fs;
    StoreOptions options = segments_on_demand(64 << 10);
    options.pack_segments = true;
    options.pack_after = {};
    auto store = *Store::open(fs, "/data", options);
    std::mt19937 random;
    std::string noise(20'000, ' ');
    for (int i = 0; i < 4; ++i) {
        for (char& c : noise) {
            c = static_cast<char>(random());
        }
        put(*store, "Observation", "o", noise);
    }
    store->compact(true);
    ASSERT_TRUE(store->wait_compacted());
    const std::uint64_t read = store->compaction().pack_bytes_read;
    EXPECT_GT(read, 0U);
    EXPECT_EQ(store->compaction().segments_packed, 0U);
    store->compact(true);
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_EQ(store->compaction().pack_bytes_read, read);
}

TEST(Compaction, NeedsOneDescriptorAtATime) {
    test::SimFileSystem fs;
    StoreOptions options = segments_on_demand(16 << 10);
    for (const bool packed : {false, true}) {
        options.pack_segments = packed;
        const auto store = *Store::open(fs, packed ? "/packed" : "/plain", options);
        for (int i = 0; i < 40; ++i) {
            put(*store, "Patient", patient_id(i), std::string(1000, 'x'));
        }
        ASSERT_TRUE(
            test::erase(*store, "Patient", patient_id(0)));  // too little to be compacted unasked
        fs.set_descriptors(fs.open_files() + 1);
        store->compact(true);
        const auto done = store->wait_compacted();
        fs.set_descriptors({});
        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(store->measure_compaction().dead_bytes, 0U);
        EXPECT_EQ(store->compaction().segments_packed > 0, packed);
    }
}

TEST(Compaction, GoesOnWhereADeviceThatWasFullHasNoOpenSegmentYet) {
    test::SimFileSystem fs;
    const auto store = *Store::open(fs, "/data", segments_on_demand(16 << 10));
    for (int i = 0; i < 40; ++i) {
        put(*store, "Patient", patient_id(i), std::string(1000, 'x'));
    }
    ASSERT_TRUE(
        test::erase(*store, "Patient", patient_id(0)));  // too little to be compacted unasked
    std::uint64_t used = 0;
    for (const std::string& path : fs.paths()) {
        used += fs.content(path).size();
    }
    fs.set_space(used);
    bool stored = true;
    while (stored) {
        CommitBuilder builder;
        builder.put("Patient", "more", std::string(1000, 'x'));
        stored = store->wait(store->submit(builder.commit()).ticket).has_value();
    }
    ASSERT_EQ(store->write_state(), WriteState::no_space);
    fs.set_space({});
    EXPECT_GT(store->measure_compaction().dead_bytes, 1000U);
    store->compact(true);
    ASSERT_TRUE(store->wait_compacted());
    EXPECT_EQ(store->compaction().segments_done, 1U);
    EXPECT_EQ(store->measure_compaction().dead_bytes, 0U);
    EXPECT_EQ(store->compaction().dead_bytes, 0U);
}

TEST(Compaction, LeavesTheSegmentInWhichTheLogEnds) {
    test::SimFileSystem fs;
    const auto store = *Store::open(fs, "/data", segments_on_demand(16 << 10));
    put(*store, "Patient", "a", "small");
    // The next segment is begun, but nothing is written to it.
    fs.fail_next(test::SimFileSystem::Call::write, Errc::no_store, 1, 2);
    CommitBuilder builder;
    builder.put("Patient", "b", std::string(20'000, 'x'));
    ASSERT_FALSE(store->wait(store->submit(builder.commit()).ticket));
    ASSERT_TRUE(fs.exists("/data/segments/" + segment_name(2)));
    const auto end = store->log_end();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->segment, 2U);
    EXPECT_EQ(end->offset, kSegmentHeaderBytes);
    EXPECT_EQ(end->position, Position{1});
}

TEST(Compaction, ForeseesWhatItGivesBackAndNoMore) {
    const test::TemporaryDirectory directory;
    std::uint64_t foreseen = 0;
    {
        auto store = half_erased(directory.path());
        store->compact(true);
        ASSERT_TRUE(store->wait_compacted());
        // The remaining dead bytes are in the open segment, which doesn't count.
        EXPECT_EQ(store->compaction().dead_bytes, 0U);
        EXPECT_EQ(store->compaction().segments_left, 0U);
        EXPECT_EQ(store->measure_compaction().dead_bytes, 0U);
        const std::string id = patient_id(1);
        ASSERT_TRUE(test::erase(*store, "Patient", id));
    }
    {
        StoreOptions reading = unsynced_options();
        reading.read_only = true;
        const auto store = Store::open(posix_file_system(), directory.path(), reading);
        ASSERT_TRUE(store) << store.error().detail;
        foreseen = (*store)->measure_compaction().dead_bytes;
        EXPECT_EQ((*store)->measure_compaction().segments_left, 1U);
        EXPECT_GT(foreseen, 1000U);
    }
    auto store = Store::open(posix_file_system(), directory.path(), unsynced_options());
    ASSERT_TRUE(store) << store.error().detail;
    (*store)->compact(true);
    ASSERT_TRUE((*store)->wait_compacted());
    EXPECT_EQ((*store)->compaction().segments_done, 1U);
    // A record's padding may stay.
    EXPECT_GE((*store)->compaction().bytes_freed + kAlignment, foreseen);
}

}  // namespace
}  // namespace annals::storage
