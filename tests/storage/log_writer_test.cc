// Durability, group commit and what happens when the device refuses.

#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/no_descriptors.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::put;
using test::SimFileSystem;
using test::type_of;
using Status = Submission::Status;

std::unique_ptr<Store> open_store(SimFileSystem& fs, std::uint64_t segment_bytes = 64 << 10,
                                  Durability durability = Durability::commit) {
    StoreOptions options;
    options.segment_bytes = segment_bytes;
    options.prepare_segments = false;
    options.durability = durability;
    options.sync_interval_ms = 5;
    auto store = Store::open(fs, "/data", options);
    EXPECT_TRUE(store) << store.error().detail;
    return store ? *std::move(store) : nullptr;
}

Submission submit(Store& store, const std::string& id, const std::string& text = "x") {
    CommitBuilder builder;
    builder.put("Patient", id, text);
    return store.submit(builder.commit());
}

/// Hears of settled commits on behalf of one loop.
class Listener final : public SettleListener {
  public:
    explicit Listener(Store& store) : store_(store) { store_.add_listener(*this); }

    ~Listener() override { store_.remove_listener(*this); }

    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void settled(Ticket through, bool ok, Errc why) noexcept override {
        const std::lock_guard lock(mutex_);
        through_ = through;
        ok_ = ok;
        why_ = why;
        ++calls_;
        wake_.notify_one();
    }

    /// Waits until `ticket` has settled; returns how far the settled ones go.
    Ticket await(Ticket ticket) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return through_ >= ticket; });
        return through_;
    }

    bool ok() {
        const std::lock_guard lock(mutex_);
        return ok_;
    }

    Errc why() {
        const std::lock_guard lock(mutex_);
        return why_;
    }

    int calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

  private:
    Store& store_;
    std::mutex mutex_;
    std::condition_variable wake_;
    Ticket through_;
    bool ok_ = false;
    Errc why_ = Errc::internal;
    int calls_ = 0;
};

TEST(LogWriter, PaysOneSyncForALoneWriter) {
    SimFileSystem fs;
    auto store = open_store(fs);
    const std::uint64_t before = fs.file_syncs();
    constexpr int kCommits = 50;
    for (int i = 0; i < kCommits; ++i) {
        put(*store, "Patient", "p" + std::to_string(i), "x");
    }
    EXPECT_EQ(fs.file_syncs() - before, kCommits);
    EXPECT_EQ(store->metrics().syncs, kCommits);
    EXPECT_EQ(store->metrics().commits, kCommits);
}

TEST(LogWriter, WritesNothingBeforeAFlush) {
    SimFileSystem fs;
    auto store = open_store(fs);
    const std::uint64_t before = fs.changing_calls();
    const Submission submission = submit(*store, "a");
    ASSERT_EQ(submission.status, Status::accepted);
    EXPECT_GT(store->metrics().gathered_bytes, 0U);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(fs.changing_calls(), before);
    EXPECT_FALSE(store->current(type_of("Patient"), "a"));
    ASSERT_TRUE(store->wait(submission.ticket));
    EXPECT_EQ(store->metrics().gathered_bytes, 0U);
    EXPECT_TRUE(store->current(type_of("Patient"), "a"));
}

TEST(LogWriter, FlushesWhatWasSubmittedWhenTheStoreGoes) {
    SimFileSystem fs;
    {
        auto store = open_store(fs);
        ASSERT_EQ(submit(*store, "a").status, Status::accepted);
    }
    auto after = fs.after_power_cut(0);
    auto store = open_store(*after);
    EXPECT_TRUE(store->current(type_of("Patient"), "a"));
}

/// `writers` clients of one loop, each of which submits again when its commit has settled.
double commits_per_sync(std::size_t writers, std::uint32_t sync_ms) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 20);
    fs.set_sync_ms(sync_ms);
    constexpr std::size_t kTurns = 30;
    const std::uint64_t before = fs.file_syncs();
    std::vector<Ticket> waiting;
    std::size_t commits = 0;
    {
        Listener listener(*store);
        for (std::size_t w = 0; w < writers; ++w) {
            waiting.push_back(submit(*store, "w" + std::to_string(w)).ticket);
        }
        store->flush_idle();
        while (commits < kTurns * writers) {
            const Ticket through = listener.await(*std::ranges::min_element(waiting));
            for (std::size_t w = 0; w < writers; ++w) {
                if (waiting[w] <= through) {
                    ++commits;
                    waiting[w] = submit(*store, "w" + std::to_string(w)).ticket;
                }
            }
            store->flush_idle();
        }
        listener.await(*std::ranges::max_element(waiting));
    }
    return static_cast<double>(commits + writers) / static_cast<double>(fs.file_syncs() - before);
}

TEST(LogWriter, SharesASyncAmongTheWritersInFlight) {
    for (const std::size_t writers : {16U, 64U, 256U}) {
        EXPECT_GE(commits_per_sync(writers, 1), 0.7 * static_cast<double>(writers)) << writers;
    }
}

TEST(LogWriter, GathersWhileASyncIsUnderWay) {
    SimFileSystem fs;
    auto store = open_store(fs);
    fs.hold_syncs();
    const Submission first = submit(*store, "first");
    store->flush();
    fs.await_held_sync();
    Submission last;
    for (int i = 0; i < 20; ++i) {
        last = submit(*store, "p" + std::to_string(i));
        store->flush();
    }
    const std::uint64_t before = fs.file_syncs();
    fs.release_syncs();
    ASSERT_TRUE(store->wait(last.ticket));
    ASSERT_TRUE(store->wait(first.ticket));
    EXPECT_EQ(fs.file_syncs() - before, 2U);
}

TEST(LogWriter, SaysHowLongTheDeviceHasBeenBusyWithWhatItWrites) {
    SimFileSystem fs;
    auto store = open_store(fs);
    EXPECT_EQ(store->write_wait().count(), 0);
    fs.hold_syncs();
    const Submission submission = submit(*store, "a");
    store->flush();
    fs.await_held_sync();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_GE(store->write_wait(), std::chrono::milliseconds(20));
    fs.release_syncs();
    ASSERT_TRUE(store->wait(submission.ticket));
    while (store->write_wait().count() > 0) {
        std::this_thread::yield();
    }
}

TEST(LogWriter, NeverDelaysAReadByASlowSync) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "old");
    fs.hold_syncs();
    const Submission pending = submit(*store, "a", "new");
    store->flush();
    fs.await_held_sync();
    // The sync is blocked for as long as this takes: every read completes, and sees the old version.
    for (int i = 0; i < 100; ++i) {
        const auto info = store->current(type_of("Patient"), "a");
        ASSERT_TRUE(info);
        EXPECT_EQ(info->version, VersionNumber{1});
        auto loaded = store->load(*info);
        ASSERT_TRUE(loaded);
        EXPECT_NE(loaded->body.find("old"), std::string_view::npos);
    }
    EXPECT_EQ(store->head(type_of("Patient"), "a").version, VersionNumber{2});
    fs.release_syncs();
    ASSERT_TRUE(store->wait(pending.ticket));
    EXPECT_EQ(store->current(type_of("Patient"), "a")->version, VersionNumber{2});
}

TEST(LogWriter, TellsListenersOncePerBatchInTicketOrder) {
    SimFileSystem fs;
    auto store = open_store(fs);
    Listener listener(*store);
    Ticket last;
    for (int i = 0; i < 10; ++i) {
        last = submit(*store, "p" + std::to_string(i)).ticket;
    }
    store->flush();
    EXPECT_EQ(listener.await(last), last);
    EXPECT_EQ(listener.calls(), 1);
    EXPECT_TRUE(listener.ok());
}

TEST(LogWriter, PoisonsItselfAfterAFailedSync) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    Listener listener(*store);
    const Submission lost = submit(*store, "b");
    EXPECT_FALSE(store->wait(lost.ticket));
    listener.await(lost.ticket);
    EXPECT_FALSE(listener.ok());
    EXPECT_EQ(listener.why(), Errc::no_store);
    EXPECT_EQ(store->write_state(), WriteState::failed);
    EXPECT_EQ(submit(*store, "c").status, Status::failed);
    EXPECT_FALSE(store->current(type_of("Patient"), "b"));
    const auto kept = store->current(type_of("Patient"), "a");
    ASSERT_TRUE(kept);
    EXPECT_TRUE(store->load(*kept));
}

TEST(LogWriter, PoisonsItselfAfterAFailedWrite) {
    SimFileSystem fs;
    auto store = open_store(fs);
    fs.fail_next(SimFileSystem::Call::write, Errc::io);
    EXPECT_FALSE(store->wait(submit(*store, "a").ticket));
    EXPECT_EQ(store->write_state(), WriteState::failed);
}

TEST(LogWriter, TreatsASyncThatFindsNoSpaceAsFailed) {
    SimFileSystem fs;
    auto store = open_store(fs);
    fs.fail_next(SimFileSystem::Call::sync, Errc::no_store);
    EXPECT_FALSE(store->wait(submit(*store, "a").ticket));
    EXPECT_EQ(store->write_state(), WriteState::failed);
}

/// Submits until the store takes it again.
Submission submit_when_ready(Store& store, const std::string& id) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
        const Submission submission = submit(store, id);
        if (submission.status == Status::accepted && store.wait(submission.ticket)) {
            return submission;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "no space came back";
    return {};
}

TEST(LogWriter, DropsWhatWasGatheredWhenTheDeviceIsFullAndComesBack) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 2);
    const Submission first = submit(*store, "b");
    const Submission second = submit(*store, "b");
    ASSERT_EQ(second.status, Status::accepted);
    EXPECT_FALSE(store->wait(second.ticket));
    EXPECT_FALSE(store->wait(first.ticket));
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_EQ(submit(*store, "c").status, Status::no_space);
    EXPECT_FALSE(store->head(type_of("Patient"), "b").exists);
    EXPECT_TRUE(store->load(*store->current(type_of("Patient"), "a")));

    submit_when_ready(*store, "b");
    EXPECT_EQ(store->write_state(), WriteState::ready);
    const auto back = store->current(type_of("Patient"), "b");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->version, VersionNumber{1});
    EXPECT_EQ(back->position, Position{2});
    put(*store, "Patient", "d", "x");
    store.reset();
    store = open_store(fs);
    EXPECT_EQ(store->last_position(), Position{3});
}

TEST(LogWriter, LeavesNothingOfADroppedCommitOnTheDisk) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 1);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(5000, 'b')).ticket));
    const auto after = fs.after_power_cut(1);
    EXPECT_EQ(after->content("/data/segments/0000000001.seg").find("bbbb"), std::string::npos);
}

TEST(LogWriter, NeedsNoMoreThanTheSpaceThereIs) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    fs.set_space(70 << 10);
    const std::string text(1000, 'x');
    int stored = 0;
    while (true) {
        const Submission submission = submit(*store, "p" + std::to_string(stored), text);
        if (submission.status != Status::accepted || !store->wait(submission.ticket)) {
            break;
        }
        ++stored;
    }
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_GT(stored, 40);
    EXPECT_EQ(store->last_position().value, static_cast<std::uint64_t>(stored));
    fs.set_space({});
    submit_when_ready(*store, "more");
    store.reset();
    store = open_store(fs, 16 << 10);
    EXPECT_EQ(store->last_position().value, static_cast<std::uint64_t>(stored) + 1);
}

TEST(LogWriter, ServesReadsFromAFullDeviceAlsoAfterReopening) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    put(*store, "Patient", "a", "kept");
    fs.set_space(16 << 10);
    while (store->wait(submit(*store, "b", std::string(1000, 'x')).ticket)) {
    }
    ASSERT_EQ(store->write_state(), WriteState::no_space);
    store.reset();
    store = open_store(fs, 16 << 10);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_TRUE(store->load(*store->current(type_of("Patient"), "a")));
    fs.set_space({});
    submit_when_ready(*store, "c");
    EXPECT_EQ(store->write_state(), WriteState::ready);
}

bool becomes_ready(const Store& store) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (store.write_state() != WriteState::ready && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return store.write_state() == WriteState::ready;
}

TEST(LogWriter, ComesBackToAFullSegmentWithoutACommit) {
    struct Full {
        SimFileSystem fs;
        std::unique_ptr<Store> store;
        Position last;
    };

    std::array<Full, 2> all;  // they wait side by side
    const auto open = [&](Full& full, Durability durability) {
        full.store = open_store(full.fs, 16 << 10, durability);
        full.fs.set_space(40 << 10);
        while (full.store->wait(submit(*full.store, "a", std::string(1000, 'x')).ticket)) {
        }
        EXPECT_EQ(full.store->write_state(), WriteState::no_space);
        full.last = full.store->last_position();
    };
    open(all[0], Durability::commit);
    open(all[1], Durability::none);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    for (Full& full : all) {
        EXPECT_EQ(full.store->write_state(), WriteState::no_space);
        full.fs.set_space({});
    }
    for (auto& [fs, store, last] : all) {
        EXPECT_TRUE(becomes_ready(*store));
        EXPECT_EQ(store->last_position(), last);
        put(*store, "Patient", "b", "x");
        store.reset();
        const auto after = fs.after_power_cut(0);
        EXPECT_EQ(open_store(*after, 16 << 10)->last_position(), Position{last.value + 1});
    }
}

/// Which calls make the next segment, of which each may lack a descriptor, memory or room in the directory.
TEST(LogWriter, ComesBackWhereTheNextSegmentCouldNotBeBegun) {
    using Call = SimFileSystem::Call;

    struct Refused {
        Call call;
        std::unique_ptr<SimFileSystem> fs;
        std::unique_ptr<Store> store;
        Position last;
    };

    const auto expect_last = [](const SimFileSystem& fs, Position last) {
        for (std::uint64_t seed = 0; seed < 8; ++seed) {
            const auto after = fs.after_power_cut(seed);
            EXPECT_EQ(open_store(*after, 16 << 10)->last_position(), last) << seed;
        }
    };
    std::vector<Refused> all;  // each looks for space again after a second: they wait side by side
    const std::string text(1000, 'x');
    for (const Call call : {Call::create, Call::allocate, Call::write, Call::map, Call::rename,
                            Call::sync_directory}) {
        SCOPED_TRACE(static_cast<int>(call));
        auto owned = std::make_unique<SimFileSystem>();
        SimFileSystem& fs = *owned;
        auto store = open_store(fs, 16 << 10);
        const auto segments = [&] { return fs.paths().size(); };
        while (segments() < 2) {
            put(*store, "Patient", "a", text);
        }
        int refused = 0;
        while (segments() == 2 && refused == 0) {
            // Of a segment that is only allocated smaller ones are tried.
            fs.fail_next(call, Errc::no_store, call == Call::allocate ? 8 : 1);
            const Submission submission = submit(*store, "a", text);
            ASSERT_EQ(submission.status, Status::accepted);
            refused += store->wait(submission.ticket) ? 0 : 1;
        }
        ASSERT_EQ(refused, 1);
        EXPECT_EQ(store->write_state(), WriteState::no_space);
        const Position last = store->last_position();
        expect_last(fs, last);
        fs.fail_next(call, Errc::no_store, 0);
        all.push_back({call, std::move(owned), std::move(store), last});
    }
    for (Refused& each : all) {
        SCOPED_TRACE(static_cast<int>(each.call));
        EXPECT_TRUE(becomes_ready(*each.store));
        put(*each.store, "Patient", "b", text);
        const Position next{each.last.value + 1};
        EXPECT_EQ(each.store->last_position(), next);
        expect_last(*each.fs, next);
        each.store.reset();
        test::expect_sound(*each.fs, "/data");
    }
}

TEST(LogWriter, SaysWhyAPassingRefusalHasBecomeFinal) {
    SimFileSystem fs;
    auto store = open_store(fs);
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 2);
    EXPECT_FALSE(store->wait(submit(*store, "a").ticket));
    ASSERT_EQ(store->write_state(), WriteState::no_space);
    testing::internal::CaptureStderr();
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    while (store->write_state() == WriteState::no_space) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    store.reset();
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("until the store is opened again"), std::string::npos) << told;
}

TEST(LogWriter, PoisonsItselfWhereTheNameOfTheNextSegmentMayNotBeDurable) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::io);
    while (store->wait(submit(*store, "a", std::string(1000, 'x')).ticket)) {
    }
    EXPECT_EQ(store->write_state(), WriteState::failed);
}

TEST(LogWriter, BeginsNoSegmentInAnotherDirectoryThatHasTheNameOfItsOwn) {
    const test::TemporaryDirectory directory;
    StoreOptions options;
    options.segment_bytes = 16 << 10;
    options.prepare_segments = false;
    auto store = *Store::open(posix_file_system(), directory / "data", options);
    put(*store, "Patient", "a", "x");
    std::filesystem::rename(directory / "data", directory / "moved");
    std::filesystem::create_directories(directory / "data/segments");
    while (store->wait(submit(*store, "a", std::string(1000, 'x')).ticket)) {
        ASSERT_LT(store->last_position(), Position{1000});
    }
    EXPECT_EQ(store->write_state(), WriteState::failed);
    EXPECT_TRUE(std::filesystem::is_empty(directory / "data/segments"));
    const Position last = store->last_position();
    store.reset();
    store = *Store::open(posix_file_system(), directory / "moved", options);
    EXPECT_EQ(store->last_position(), last);
}

TEST(LogWriter, RefusesWritesWhileThereAreTooFewDescriptors) {
    const test::TemporaryDirectory directory;
    StoreOptions options;
    options.segment_bytes = 16 << 10;
    options.prepare_segments = false;
    auto store = *Store::open(posix_file_system(), directory / "data", options);
    while (store->metrics().segments < 2) {
        put(*store, "Patient", "a", std::string(1000, 'x'));
    }
    Position last;
    {
        // The segment that is sealed leaves one, for the next one's file, but none for its name.
        const test::NoDescriptors none;
        while (store->wait(submit(*store, "a", std::string(1000, 'x')).ticket)) {
            ASSERT_LT(store->last_position(), Position{1000});
        }
        EXPECT_EQ(store->write_state(), WriteState::no_space);
        last = store->last_position();
        EXPECT_TRUE(store->load(*store->current(type_of("Patient"), "a")));
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        EXPECT_EQ(store->write_state(), WriteState::no_space);
    }
    EXPECT_TRUE(becomes_ready(*store));
    put(*store, "Patient", "a", "x");
    EXPECT_EQ(store->last_position(), Position{last.value + 1});
    store.reset();
    test::expect_sound(posix_file_system(), directory / "data");
}

TEST(LogWriter, TriesTheOpenSegmentWithZerosOnlyAndNotOnceItIsReady) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    // The commit, what cleans up after it, and the first look for space.
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 3);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(5000, 'b')).ticket));
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_TRUE(becomes_ready(*store));
    const auto after = fs.after_power_cut(0);
    EXPECT_EQ(after->content("/data/segments/0000000001.seg").find("bbbb"), std::string::npos);
    EXPECT_EQ(open_store(*after)->last_position(), Position{1});
    const std::uint64_t before = fs.changing_calls();
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    EXPECT_EQ(fs.changing_calls(), before);
    put(*store, "Patient", "c", "x");
    EXPECT_EQ(store->last_position(), Position{2});
}

TEST(LogWriter, AcknowledgesBeforeTheSyncWhereDurabilityIsAnInterval) {
    SimFileSystem fs;
    auto store = open_store(fs, 64 << 10, Durability::interval);
    fs.hold_syncs();
    put(*store, "Patient", "a", "x");
    EXPECT_TRUE(store->current(type_of("Patient"), "a"));
    fs.await_held_sync();
    fs.release_syncs();
    while (store->metrics().syncs == 0) {
        std::this_thread::yield();
    }
    auto after = fs.after_power_cut(0);
    EXPECT_TRUE(open_store(*after)->current(type_of("Patient"), "a"));
}

TEST(LogWriter, PoisonsItselfAfterTheFailedSyncOfAnInterval) {
    SimFileSystem fs;
    auto store = open_store(fs, 64 << 10, Durability::interval);
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    put(*store, "Patient", "a", "x");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (store->write_state() != WriteState::failed &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(store->write_state(), WriteState::failed);
    EXPECT_EQ(submit(*store, "b").status, Status::failed);
    const std::uint64_t before = fs.calls(SimFileSystem::Call::sync);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fs.calls(SimFileSystem::Call::sync), before);
}

TEST(LogWriter, NeverSyncsACommitWhereDurabilityIsNone) {
    SimFileSystem fs;
    auto store = open_store(fs, 64 << 10, Durability::none);
    const std::uint64_t before = fs.file_syncs();
    put(*store, "Patient", "a", "x");
    put(*store, "Patient", "b", "x");
    EXPECT_EQ(fs.file_syncs(), before);
    store.reset();
    auto after = fs.after_power_cut(0);
    EXPECT_TRUE(open_store(*after)->current(type_of("Patient"), "b"));
}

TEST(LogWriter, SaysAtItsEndThatWhatItAcknowledgedMayNotBeOnTheDevice) {
    for (const Durability durability : {Durability::commit, Durability::none}) {
        SimFileSystem fs;
        auto store = open_store(fs, 64 << 10, durability);
        put(*store, "Patient", "a", "x");
        fs.fail_next(SimFileSystem::Call::sync, Errc::io);
        const auto closed = store->close();
        EXPECT_EQ(closed ? Errc::internal : closed.error().code,
                  durability == Durability::commit ? Errc::internal : Errc::io);
        EXPECT_TRUE(store->current(type_of("Patient"), "a"));
    }
}

TEST(LogWriter, TakesCommitsFromManyThreads) {
    SimFileSystem fs;
    auto store = open_store(fs);
    constexpr int kThreads = 4;
    constexpr int kEach = 200;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < kEach; ++i) {
                const Submission submission = submit(*store, "one");
                ASSERT_EQ(submission.status, Status::accepted);
                ASSERT_TRUE(store->wait(submission.ticket));
                const auto info = store->current(type_of("Patient"), "one");
                ASSERT_TRUE(info);
                ASSERT_TRUE(store->load(*info));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(store->current(type_of("Patient"), "one")->version.value, kThreads * kEach);
    for (std::uint64_t v = 1; v <= kThreads * kEach; ++v) {
        ASSERT_TRUE(store->version(type_of("Patient"), "one", {v})) << v;
    }
}

}  // namespace
}  // namespace annals::storage
