#include "storage/history_cleanup.h"

#include "core/base/limits.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::put;
using test::SimFileSystem;
using test::type_of;

bool no_pause(std::chrono::milliseconds) {
    return false;
}

/// Whether `condition` becomes true within a time that is long enough on any machine.
bool comes_true(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
}

class HistoryCleanupTest : public testing::Test {
  protected:
    HistoryCleanupTest() {
        open();
        limits_.keep.fill(3);
        limits_.keep[type_of("Observation").value] = 1;
        limits_.keep[type_of("Task").value] = 0;
    }

    void open() {
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        options.prepare_segments = false;
        store_ = *Store::open(fs_, "/data", std::move(options));
    }

    void write(std::string_view type, const std::string& id, int versions) {
        for (int v = 1; v <= versions; ++v) {
            put(*store_, type, id, fmt::format("marker-{}-{}-{};", type, id, v));
        }
    }

    std::vector<std::uint64_t> versions(std::string_view type, std::string_view id) {
        HistoryQuery query;
        query.type = type_of(type);
        query.id = id;
        query.count = 100;
        const HistoryPage page = store_->history(query);
        std::vector<std::uint64_t> numbers;
        for (const VersionInfo& info : page.versions) {
            numbers.push_back(info.version.value);
        }
        EXPECT_EQ(page.total, numbers.size());
        return numbers;
    }

    using Numbers = std::vector<std::uint64_t>;

    SimFileSystem fs_;
    std::unique_ptr<Store> store_;
    HistoryLimits limits_;
};

TEST_F(HistoryCleanupTest, KeepsTheMostRecentVersionsOfEachResource) {
    write("Patient", "a", 5);
    write("Patient", "b", 3);
    write("Observation", "o", 4);
    write("Task", "t", 6);
    const auto would = clean_history(*store_, limits_, true, no_pause);
    ASSERT_TRUE(would);
    EXPECT_EQ(would->versions, 5U);
    EXPECT_EQ(would->resources, 2U);
    EXPECT_EQ(versions("Patient", "a").size(), 5U);

    const auto did = clean_history(*store_, limits_, false, no_pause);
    ASSERT_TRUE(did) << did.error().detail;
    EXPECT_EQ(did->versions, 5U);
    EXPECT_EQ(did->resources, 2U);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3}));
    EXPECT_EQ(versions("Patient", "b"), (Numbers{3, 2, 1}));
    EXPECT_EQ(versions("Observation", "o"), (Numbers{4}));
    EXPECT_EQ(versions("Task", "t").size(), 6U);
    EXPECT_FALSE(store_->version(type_of("Patient"), "a", {2}));
    EXPECT_EQ(store_->totals().versions, 13U);
    EXPECT_EQ(store_->totals().resources, 4U);
    for (const std::string& path : fs_.paths()) {
        EXPECT_EQ(fs_.content(path).find("marker-Patient-a-2;"), std::string::npos) << path;
    }
    EXPECT_EQ(clean_history(*store_, limits_, false, no_pause)->versions, 0U);
    put(*store_, "Patient", "a", "next");
    EXPECT_EQ(store_->current(type_of("Patient"), "a")->version, VersionNumber{6});
}

TEST_F(HistoryCleanupTest, CountsOnlyWhatIsLeftWhereSomeWereErased) {
    write("Patient", "a", 8);
    for (const std::uint64_t gone : {5U, 7U}) {
        CommitBuilder erase;
        erase.erase("Patient", "a", Erase::Scope::version, {gone});
        ASSERT_TRUE(store_->wait(store_->submit(erase.commit()).ticket));
    }
    ASSERT_TRUE(clean_history(*store_, limits_, false, no_pause));
    EXPECT_EQ(versions("Patient", "a"), (Numbers{8, 6, 4}));
}

TEST_F(HistoryCleanupTest, LeavesAResourceThatWasErasedAndBeganAgainMeanwhile) {
    // More than one commit erases, so that there is a pause in which some are already chosen but not erased yet.
    constexpr int kResources = 300;
    for (int i = 0; i < kResources; ++i) {
        write("Patient", fmt::format("p{}", i), 5);
    }
    const std::string last = fmt::format("p{}", kResources - 1);
    bool begun_again = false;
    const auto pause = [&](std::chrono::milliseconds) {
        if (!std::exchange(begun_again, true)) {
            CommitBuilder erase;
            erase.erase("Patient", last);
            EXPECT_TRUE(store_->wait(store_->submit(erase.commit()).ticket));
            write("Patient", last, 3);
        }
        return false;
    };
    const auto did = clean_history(*store_, limits_, false, pause);
    ASSERT_TRUE(did) << did.error().detail;
    EXPECT_TRUE(begun_again);
    EXPECT_EQ(versions("Patient", last), (Numbers{3, 2, 1}));
    EXPECT_EQ(versions("Patient", "p0"), (Numbers{5, 4, 3}));
    EXPECT_EQ(versions("Patient", "p280"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, CountsADeletionAsAVersionAndBringsNothingBack) {
    limits_.keep.fill(1);
    write("Patient", "a", 4);
    CommitBuilder removal;
    removal.remove("Patient", "a");
    ASSERT_TRUE(store_->wait(store_->submit(removal.commit()).ticket));
    ASSERT_TRUE(clean_history(*store_, limits_, false, no_pause));
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5}));
    EXPECT_TRUE(store_->current(type_of("Patient"), "a")->deletion);
    store_.reset();
    const auto report = verify(fs_, "/data");
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
    open();
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5}));
    EXPECT_EQ(store_->head(type_of("Patient"), "a").erased_through, VersionNumber{4});
}

TEST_F(HistoryCleanupTest, CleansManyResourcesInSeveralCommits) {
    for (int i = 0; i < 700; ++i) {
        write("Patient", fmt::format("p{}", i), 4);
    }
    const std::uint64_t commits = store_->metrics().commits;
    const auto did = clean_history(*store_, limits_, false, no_pause);
    ASSERT_TRUE(did);
    EXPECT_EQ(did->versions, 700U);
    EXPECT_GE(store_->metrics().commits - commits, 3U);
    EXPECT_EQ(store_->totals().versions, 2100U);
}

TEST_F(HistoryCleanupTest, TakesALongHistoryInBoundedCommits) {
    constexpr std::uint64_t kVersions = 4000;
    Ticket last;
    for (std::uint64_t v = 1; v <= kVersions; ++v) {
        CommitBuilder one;
        one.put("Patient", "long", fmt::format("marker-{};", v));
        last = store_->submit(one.commit()).ticket;
    }
    ASSERT_TRUE(store_->wait(last));
    for (const std::uint64_t gone : {900U, 901U, 2500U}) {
        CommitBuilder erase;
        erase.erase("Patient", "long", Erase::Scope::version, {gone});
        ASSERT_TRUE(store_->wait(store_->submit(erase.commit()).ticket));
    }
    write("Patient", "after", 5);
    const std::uint64_t commits = store_->metrics().commits;
    const auto would = clean_history(*store_, limits_, true, no_pause);
    std::uint64_t most = 0;
    std::uint64_t there = store_->totals().versions;
    const auto did = clean_history(*store_, limits_, false, [&](std::chrono::milliseconds) {
        most = std::max(most, there - store_->totals().versions);
        there = store_->totals().versions;
        return false;
    });
    ASSERT_TRUE(did) << did.error().detail;
    EXPECT_EQ(did->versions, kVersions - 3 - 3 + 2);
    EXPECT_EQ(did->resources, 2U);
    EXPECT_EQ(would->versions, did->versions);
    EXPECT_EQ(would->resources, did->resources);
    EXPECT_LE(most, 1024U);
    EXPECT_GE(store_->metrics().commits - commits, 4U);
    EXPECT_EQ(versions("Patient", "long"), (Numbers{4000, 3999, 3998}));
    EXPECT_EQ(versions("Patient", "after"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, SaysThatWhatWentIsOnTheDeviceStill) {
    write("Patient", "a", 5);
    // The journal of the erasure can't be created.
    fs_.fail_next(SimFileSystem::Call::create, Errc::no_store);
    const auto cleaned = clean_history(*store_, limits_, false, no_pause);
    ASSERT_FALSE(cleaned);
    EXPECT_EQ(cleaned.error().code, Errc::no_store);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, WaitsAndTriesAgainWhereWritersLeaveItNoRoom) {
    for (int i = 0; i < 200; ++i) {
        write("Patient", fmt::format("p{}", i), 4);
    }
    fs_.hold_syncs();
    const std::string large(kUnsyncedBytesMax / 2 - 4096, 'x');
    for (const std::string id : {"a", "b"}) {
        CommitBuilder one;
        one.put("Binary", id, large);
        ASSERT_EQ(store_->submit(one.commit()).status, Submission::Status::accepted);
    }
    int pauses = 0;
    const auto ended = clean_history(*store_, limits_, false,
                                     [&](std::chrono::milliseconds) { return ++pauses == 3; });
    fs_.fail_next(SimFileSystem::Call::sync, Errc::io, 1);  // spares the simulated disk the bytes
    fs_.release_syncs();
    EXPECT_EQ(pauses, 3);
    ASSERT_TRUE(ended) << ended.error().detail;
    EXPECT_EQ(ended->versions, 0U) << "there was no room yet";
}

TEST_F(HistoryCleanupTest, EndsBetweenTwoCommitsAndTheNextOneGoesOn) {
    for (int i = 0; i < 300; ++i) {
        write("Patient", fmt::format("p{}", i), 5);
    }
    const auto ended =
        clean_history(*store_, limits_, false, [](std::chrono::milliseconds) { return true; });
    ASSERT_TRUE(ended) << ended.error().detail;
    EXPECT_EQ(ended->resources, 256U);
    EXPECT_EQ(ended->versions, 512U);
    EXPECT_EQ(versions("Patient", "p0"), (Numbers{5, 4, 3}));
    EXPECT_EQ(versions("Patient", "p299"), (Numbers{5, 4, 3, 2, 1}));
    for (const std::string& path : fs_.paths()) {
        EXPECT_EQ(fs_.content(path).find("marker-Patient-p0-1;"), std::string::npos) << path;
    }
    EXPECT_EQ(clean_history(*store_, limits_, false, no_pause)->resources, 44U);
    EXPECT_EQ(versions("Patient", "p299"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, LeavesWhatCannotBeReadAndTakesTheRest) {
    write("Patient", "a", 5);
    write("Patient", "b", 5);
    // Damage is detected on reading only in sealed segments.
    for (int i = 0; store_->metrics().segments < 2; ++i) {
        put(*store_, "Task", fmt::format("t{}", i), std::string(4096, 'x'));
    }
    store_.reset();
    const std::string path = "/data/segments/0000000001.seg";
    std::string bytes = fs_.content(path);
    bytes.at(bytes.find("marker-Patient-a-2;")) = 'M';
    fs_.set_content(path, bytes);
    open();

    const auto did = clean_history(*store_, limits_, false, no_pause);
    ASSERT_TRUE(did) << did.error().detail;
    EXPECT_EQ(did->resources, 1U);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3, 2, 1}));
    EXPECT_EQ(versions("Patient", "b"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, LeavesToTheNextCycleWhatIsBeingWritten) {
    write("Patient", "a", 5);
    write("Patient", "b", 5);
    fs_.hold_syncs();
    CommitBuilder sixth;
    sixth.put("Patient", "a", "marker-Patient-a-6;");
    const Ticket writing = store_->submit(sixth.commit()).ticket;
    auto did = std::async(std::launch::async,
                          [&] { return clean_history(*store_, limits_, false, no_pause); });
    EXPECT_TRUE(comes_true([&] { return store_->last_ticket() > writing; }));
    fs_.release_syncs();
    const auto report = did.get();
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->resources, 1U);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(versions("Patient", "b"), (Numbers{5, 4, 3}));
    ASSERT_TRUE(clean_history(*store_, limits_, false, no_pause));
    EXPECT_EQ(versions("Patient", "a"), (Numbers{6, 5, 4}));
}

TEST_F(HistoryCleanupTest, SaysThatTheLogTakesNoWrites) {
    write("Patient", "a", 5);
    fs_.fail_next(SimFileSystem::Call::sync, Errc::io);
    CommitBuilder lost;
    lost.put("Patient", "b", "never there");
    ASSERT_FALSE(store_->wait(store_->submit(lost.commit()).ticket));
    const auto refused = clean_history(*store_, limits_, false, no_pause);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_store);
    EXPECT_EQ(versions("Patient", "a").size(), 5U);
    EXPECT_EQ(clean_history(*store_, limits_, true, no_pause)->versions, 2U);
}

TEST_F(HistoryCleanupTest, BeginsByItselfAndAgainAfterItsInterval) {
    write("Patient", "a", 5);
    const HistoryCleanup cleanup(*store_, limits_, std::chrono::milliseconds(1),
                                 std::chrono::milliseconds(1));
    EXPECT_TRUE(comes_true([&] { return store_->metrics().cleanup_versions == 2; }));
    EXPECT_GE(store_->metrics().cleanup_cycles, 1U);
    EXPECT_GT(store_->metrics().cleanup_ended.us, 0);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3}));
    put(*store_, "Patient", "a", "next");
    EXPECT_TRUE(comes_true([&] { return store_->metrics().cleanup_versions == 3; }));
    EXPECT_EQ(versions("Patient", "a"), (Numbers{6, 5, 4}));
}

TEST_F(HistoryCleanupTest, WaitsItsIntervalBetweenTwoCycles) {
    const HistoryCleanup cleanup(*store_, limits_, std::chrono::hours(1),
                                 std::chrono::milliseconds(1));
    EXPECT_TRUE(comes_true([&] { return store_->metrics().cleanup_cycles == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(store_->metrics().cleanup_cycles, 1U);
}

TEST_F(HistoryCleanupTest, GoesOnAfterACycleThatFailed) {
    write("Patient", "a", 5);
    // The journal of the erasure can't be created.
    fs_.fail_next(SimFileSystem::Call::create, Errc::no_store);
    const HistoryCleanup cleanup(*store_, limits_, std::chrono::milliseconds(1),
                                 std::chrono::milliseconds(1));
    EXPECT_TRUE(comes_true([&] { return store_->metrics().cleanup_cycles > 0; }));
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3}));
}

TEST_F(HistoryCleanupTest, WaitsBeforeTheFirstCycleAndEndsWithTheStore) {
    write("Patient", "a", 5);
    const auto began = std::chrono::steady_clock::now();
    store_->start_history_cleanup(limits_, std::chrono::hours(24));
    ASSERT_TRUE(store_->close());
    EXPECT_LT(std::chrono::steady_clock::now() - began, HistoryCleanup::kFirstAfter);
    EXPECT_EQ(store_->metrics().cleanup_cycles, 0U);
}

TEST_F(HistoryCleanupTest, WaitsNoLongerThanItsIntervalBeforeTheFirstCycle) {
    write("Patient", "a", 5);
    const auto began = std::chrono::steady_clock::now();
    store_->start_history_cleanup(limits_, std::chrono::milliseconds(1));
    EXPECT_TRUE(comes_true([&] { return store_->metrics().cleanup_cycles > 0; }));
    EXPECT_LT(std::chrono::steady_clock::now() - began, HistoryCleanup::kFirstAfter);
    EXPECT_EQ(versions("Patient", "a"), (Numbers{5, 4, 3}));
}

}  // namespace
}  // namespace annals::storage
