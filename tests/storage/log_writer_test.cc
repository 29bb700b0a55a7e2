// Durability, group commit and what happens when the device fails.

#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/store.h"
#include "tests/storage/log_writer_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::put;
using test::SimFileSystem;
using test::type_of;
using Status = Submission::Status;

/// Hears of settled commits on behalf of one loop.
class Listener final : public SettleListener {
  public:
    explicit Listener(Store& store) : store_(store) { store_.add_listener(*this); }

    ~Listener() override { store_.remove_listener(*this); }

    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    void settled(Ticket through, std::optional<Errc> why_not) noexcept override {
        const std::lock_guard lock(mutex_);
        through_ = through;
        why_not_ = why_not;
        ++calls_;
        wake_.notify_one();
    }

    /// Waits until `ticket` has settled; returns how far the settled ones go.
    Ticket await(Ticket ticket) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return through_ >= ticket; });
        return through_;
    }

    std::optional<Errc> why_not() {
        const std::lock_guard lock(mutex_);
        return why_not_;
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
    std::optional<Errc> why_not_ = Errc::internal;
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
    EXPECT_GT(store->metrics().bytes_written,
              kCommits * (storage::kFrameHeaderBytes + storage::kRecordHeaderBytes));
    EXPECT_GT(store->metrics().sync_seconds, 0.0);
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
    EXPECT_EQ(listener.why_not(), std::nullopt);
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
    EXPECT_EQ(listener.why_not(), Errc::no_store);
    EXPECT_EQ(store->write_state(), WriteState::failed);
    EXPECT_EQ(submit(*store, "c").status, Status::failed);
    EXPECT_FALSE(store->current(type_of("Patient"), "b"));
    const auto kept = store->current(type_of("Patient"), "a");
    ASSERT_TRUE(kept);
    EXPECT_TRUE(store->load(*kept));
    const std::uint64_t before = fs.changing_calls();
    EXPECT_TRUE(store->close());
    EXPECT_EQ(fs.changing_calls(), before) << "nothing is written after it";
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

TEST(LogWriter, PoisonsItselfWhereTheNameOfTheNextSegmentMayNotBeDurable) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    fs.fail_next(SimFileSystem::Call::sync_directory, Errc::io);
    while (store->wait(submit(*store, "a", std::string(1000, 'x')).ticket)) {
    }
    EXPECT_EQ(store->write_state(), WriteState::failed);
    store.reset();
    store = open_store(fs, 16 << 10);
    put(*store, "Patient", "b", "x");
    EXPECT_TRUE(open_store(*fs.after_power_cut(0))->current(type_of("Patient"), "b"))
        << "the next opening has made the name durable";
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
    const std::uint64_t before = fs.calls(SimFileSystem::Call::sync);
    put(*store, "Patient", "a", "x");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (store->write_state() != WriteState::failed &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(store->write_state(), WriteState::failed);
    EXPECT_EQ(submit(*store, "b").status, Status::failed);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(fs.calls(SimFileSystem::Call::sync), before + 1);
}

TEST(LogWriter, KeepsWhatAFailedSyncMayHaveLostOnceTheNextOpeningHasFoundIt) {
    SimFileSystem fs;
    fs.lose_on_failed_sync();
    auto store = open_store(fs, 64 << 10, Durability::interval);
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    put(*store, "Patient", "a", "x");
    EXPECT_FALSE(store->close());
    store.reset();
    store = open_store(fs);
    EXPECT_TRUE(store->current(type_of("Patient"), "a"));
    EXPECT_TRUE(open_store(*fs.after_power_cut(0))->current(type_of("Patient"), "a"));
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
