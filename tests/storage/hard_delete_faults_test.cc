// Hard deletes of which a call fails, that wait for room, or that a power cut ends: nothing of them is left in the end.

#include "storage/format.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/erasure_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::kDirectory;
using test::SimFileSystem;

TEST(HardDelete, ErasesNothingWhereTheLogCouldNotBeSynced) {
    SimFileSystem fs;
    StoreOptions options = segments_on_demand();
    options.durability = Durability::none;
    const auto store = *Store::open(fs, kDirectory, options);
    test::put(*store, "Patient", "a", "marker-a");
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    EXPECT_FALSE(store->wait(submit_erase(*store, "a").ticket));
    EXPECT_EQ(store->write_state(), WriteState::failed);
    const auto info = store->current(test::type_of("Patient"), "a");
    ASSERT_TRUE(info);
    const auto read = store->load(*info);
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_TRUE(read->body.ends_with("marker-a"));
}

TEST(HardDelete, ThatFailsFailsNobodyWhoWaitedForWhatWasBefore) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    const auto erase = [&](const char* id) {
        const Ticket written = test::put(*store, "Patient", id, "text").ticket;
        EXPECT_TRUE(store->wait_erased(written)) << "nothing was erased";
        const Ticket erased = submit_erase(*store, id).ticket;
        EXPECT_TRUE(store->wait(erased));
        return erased;
    };
    const Ticket first = erase("a");
    EXPECT_TRUE(store->wait_erased(first));
    // The journal's, after the logs'.
    fs.fail_next(SimFileSystem::Call::sync, Errc::io, 1, 2);
    const Ticket second = erase("b");
    EXPECT_FALSE(store->wait_erased(second));
    EXPECT_TRUE(store->wait_erased(first));
}

TEST(HardDelete, OfMoreThanOneJournalHoldsIsFinishedByTheNextOpening) {
    constexpr int kResources = 5000;
    SimFileSystem fs;
    StoreOptions options = segments_on_demand(4 << 20);
    options.pack_segments = false;
    const auto all = [&](Store& store, const auto& fill) {
        CommitBuilder builder;
        for (int i = 0; i < kResources; ++i) {
            fill(builder, "p" + std::to_string(i));
        }
        const Ticket ticket = store.submit(builder.commit()).ticket;
        EXPECT_TRUE(store.wait(ticket));
        return ticket;
    };
    {
        const auto store = *Store::open(fs, kDirectory, options);
        all(*store,
            [](CommitBuilder& b, const std::string& id) { b.put("Patient", id, "marker"); });
        // After the log's, the first journal's and two for each of its 4,096 bodies: the second journal's.
        fs.fail_next(SimFileSystem::Call::write, Errc::io, 1, 2 + 2 * 4096);
        const Ticket erased =
            all(*store, [](CommitBuilder& b, const std::string& id) { b.erase("Patient", id); });
        EXPECT_FALSE(store->wait_erased(erased));
    }
    ASSERT_TRUE(Store::open(fs, kDirectory, options));
    for (const std::string& path : fs.paths()) {
        EXPECT_EQ(fs.content(path).find("marker"), std::string::npos) << path;
    }
}

/// Erases two resources in a frame from which a third was erased before, while one file system call fails.
void erase_where_a_call_fails(SimFileSystem::Call call, Errc code, std::uint64_t passed,
                              bool linked) {
    SCOPED_TRACE(testing::Message()
                 << "call " << static_cast<int>(call) << " after " << passed
                 << (code == Errc::io ? ", io" : "") << (linked ? ", linked" : ""));
    const std::string elsewhere = "/backup/1";
    StoreOptions options = segments_on_demand();
    options.pack_segments = false;
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    const auto erase = [&](const char* id) {
        const Submission submission = submit_erase(*store, id);
        if (submission.status != Submission::Status::accepted || !store->wait(submission.ticket)) {
            return false;
        }
        (void)store->wait_erased(submission.ticket);
        return true;
    };
    CommitBuilder builder;
    for (const char* id : {"a", "b", "c", "d"}) {
        builder.put("Patient", id, "marker-" + std::string(id));
    }
    ASSERT_TRUE(store->wait(store->submit(builder.commit()).ticket));
    ASSERT_TRUE(erase("b"));
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    if (linked) {
        fs.add_name(kDirectory + "/segments/" + segment_name(1), elsewhere);
    }
    fs.fail_next(call, code, 1, passed);
    if (!erase("c") || !erase("d")) {
        return;  // the call was one of the log's own
    }
    store->compact(true);
    (void)store->wait_compacted();
    fs.fail_next(call, code, 0);
    if (code == Errc::io) {
        store.reset();
        store = *Store::open(fs, kDirectory, options);
    }
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "a")));
    store.reset();
    for (const std::string& path : fs.paths()) {
        if (path != elsewhere) {
            EXPECT_EQ(fs.content(path).find("marker-c"), std::string::npos) << path;
            EXPECT_EQ(fs.content(path).find("marker-d"), std::string::npos) << path;
        }
    }
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
}

TEST(HardDelete, OfWhichACallFailsIsDoneWholeBeforeAnythingElse) {
    using Call = SimFileSystem::Call;
    for (const Errc code : {Errc::no_store, Errc::io}) {
        for (const bool linked : {false, true}) {
            for (const Call call :
                 {Call::write, Call::sync, Call::create, Call::rename, Call::sync_directory}) {
                for (std::uint64_t passed = 0; passed < 6; ++passed) {
                    erase_where_a_call_fails(call, code, passed, linked);
                }
            }
        }
    }
}

TEST(HardDelete, OutlivesAPowerCutAlsoIfTheNameOfACopyWasNotDurableAtFirst) {
    const std::string elsewhere = "/backup/1";
    StoreOptions options = segments_on_demand();
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    const auto erase = [&](const char* id) {
        const Ticket ticket = submit_erase(*store, id).ticket;
        EXPECT_TRUE(store->wait(ticket));
        return ticket;
    };
    for (const char* id : {"a", "b", "c"}) {
        test::put(*store, "Patient", id, "marker-" + std::string(id));
    }
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    // From here on, both files of the journal exist.
    ASSERT_TRUE(store->wait_erased(erase("a")));
    ASSERT_TRUE(store->wait_erased(erase("b")));
    fs.add_name(kDirectory + "/segments/" + segment_name(1), elsewhere);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::no_store);
    const Ticket last = erase("c");
    ASSERT_FALSE(store->wait_erased(last));
    for (int i = 0; i < 1000 && !store->wait_erased(last); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_TRUE(store->wait_erased(last));
    const auto after = fs.after_power_cut(0);
    const std::string bytes = after->content(kDirectory + "/segments/" + segment_name(1));
    EXPECT_EQ(bytes.find("marker-c"), std::string::npos);
    EXPECT_NE(after->content(elsewhere).find("marker-c"), std::string::npos);
}

/// Cuts the power at the `n`th call of an opening that finishes an erasure whose
/// journal may not be durable yet. False if the opening makes fewer calls.
bool cut_while_an_erasure_is_finished(std::uint64_t n, std::uint64_t seed) {
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, segments_on_demand());
    CommitBuilder builder;
    builder.put("Patient", "a", "marker-a");
    builder.put("Patient", "b", std::string(2000, 'b'));
    EXPECT_TRUE(store->wait(store->submit(builder.commit()).ticket));
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::io);  // the journal's last call
    EXPECT_FALSE(test::erase(*store, "Patient", "b"));
    store.reset();
    const std::uint64_t calls = fs.changing_calls();
    fs.power_off_at(n);
    (void)Store::open(fs, kDirectory, segments_on_demand());
    const auto after = fs.after_power_cut(seed);
    const auto report = verify(*after, kDirectory);
    EXPECT_TRUE(report && report->damages.empty()) << n << ", seed " << seed;
    const auto again = Store::open(*after, kDirectory, segments_on_demand());
    EXPECT_TRUE(again && (*again)->load(*(*again)->current(test::type_of("Patient"), "a")));
    return fs.changing_calls() >= calls + n;
}

TEST(HardDelete, OutlivesAPowerCutWhileItIsFinishedByAJournalThatWasNotDurable) {
    std::uint64_t n = 1;
    for (bool reached = true; reached; ++n) {
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            reached = cut_while_an_erasure_is_finished(n, seed);
        }
    }
    EXPECT_GT(n, 8U);
}

TEST(HardDelete, SaysOnceThatItWaits) {
    SimFileSystem fs;
    const auto store = *Store::open(fs, kDirectory, segments_on_demand());
    test::put(*store, "Patient", "a", "marker-a");
    testing::internal::CaptureStderr();
    fs.fail_next(SimFileSystem::Call::create, Errc::no_store, 2);  // of the journal
    const Ticket ticket = submit_erase(*store, "a").ticket;
    ASSERT_TRUE(store->wait(ticket));
    EXPECT_FALSE(store->wait_erased(ticket));
    for (int i = 0; i < 1000 && !store->wait_erased(ticket); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(store->wait_erased(ticket));
    const std::size_t first = told.find("its bytes are still there");
    ASSERT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("its bytes are still there", first + 1), std::string::npos) << told;
    EXPECT_NE(told.find("the remaining bytes are removed", first), std::string::npos) << told;
}

TEST(HardDelete, ThatAnOpeningCouldNotFinishIsDoneBeforeAnythingElse) {
    using Call = SimFileSystem::Call;
    StoreOptions options = segments_on_demand();
    int openings = 0;
    for (std::uint64_t passed = 0; passed < 10; ++passed) {
        SCOPED_TRACE(passed);
        SimFileSystem fs;
        auto store = *Store::open(fs, kDirectory, options);
        test::put(*store, "Patient", "a", "marker-a");
        test::put(*store, "Patient", "b", "marker-b");
        fs.fail_next(Call::create, Errc::io);  // of the journal
        ASSERT_FALSE(test::erase(*store, "Patient", "b"));
        store.reset();
        fs.fail_next(Call::write, Errc::no_store, 1, passed);
        auto opened = Store::open(fs, kDirectory, options);
        if (!opened) {
            continue;  // opening itself needed that call
        }
        ++openings;
        store = *std::move(opened);
        store->compact(true);
        EXPECT_TRUE(store->wait_compacted());
        EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "a")));
        store.reset();
        for (const std::string& path : fs.paths()) {
            EXPECT_EQ(fs.content(path).find("marker-b"), std::string::npos) << path;
        }
        const auto report = verify(fs, kDirectory);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->damages.empty());
        EXPECT_EQ(report->bodies_left, 0U);
    }
    EXPECT_GE(openings, 5);
}

TEST(HardDelete, WaitsForRoomForACopyAndKeepsNoStoreFromOpening) {
    const std::string elsewhere = "/backup/1";
    const std::string path = kDirectory + "/segments/" + segment_name(1);
    const StoreOptions options = segments_on_demand();
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, options);
    for (const char* id : {"a", "b", "c", "d"}) {
        test::put(*store, "Patient", id, "marker-" + std::string(id));
    }
    // Moves the log on to the next segment.
    for (int i = 0; i < 4; ++i) {
        test::put(*store, "Observation", "o", std::string(20'000, 'x'));
    }
    // From here on, both files of the journal exist.
    for (const char* id : {"a", "b"}) {
        const Ticket ticket = submit_erase(*store, id).ticket;
        ASSERT_TRUE(store->wait(ticket));
        ASSERT_TRUE(store->wait_erased(ticket));
    }
    fs.add_name(path, elsewhere);
    fs.set_space(0);
    ASSERT_FALSE(test::erase(*store, "Patient", "c"));
    store.reset();

    auto opened = Store::open(fs, kDirectory, options);
    ASSERT_TRUE(opened) << opened.error().detail;
    store = *std::move(opened);
    EXPECT_FALSE(store->current(test::type_of("Patient"), "c"));
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "d")));
    EXPECT_NE(fs.content(path).find("marker-c"), std::string::npos);

    fs.set_space({});
    for (int i = 0; i < 1000 && fs.content(path).find("marker-c") != std::string::npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_EQ(fs.content(path).find("marker-c"), std::string::npos);
    EXPECT_NE(fs.content(elsewhere).find("marker-c"), std::string::npos);
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "d")));
    store.reset();
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
}

}  // namespace
}  // namespace annals::storage
