// What the log writer does while there is too little space, or too few descriptors, and how it comes back.

#include "storage/file_system.h"
#include "storage/sequencer.h"
#include "tests/storage/log_writer_fixture.h"
#include "tests/support/no_descriptors.h"
#include "tests/support/store_files.h"
#include "tests/support/temporary_directory.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::put;
using test::SimFileSystem;
using test::type_of;
using Status = Submission::Status;

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

/// Waits for the condition, for 20 seconds at most.
template <typename Condition>
bool comes_true(const Condition& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
}

TEST(LogWriterWithoutSpace, DropsWhatWasGatheredWhenTheDeviceIsFullAndComesBack) {
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
    const Guard overtaken{.type = type_of("Patient"), .terms = {}, .as_of = {}};
    Commit question;
    question.guards = {&overtaken, 1};
    EXPECT_EQ(store->submit(question).status, Status::busy) << "it needs no space";
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

TEST(LogWriterWithoutSpace, LeavesNothingOfADroppedCommitOnTheDisk) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 1);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(5000, 'b')).ticket));
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        const auto after = fs.after_power_cut(seed);
        EXPECT_EQ(after->content("/data/segments/0000000001.seg").find("bbbb"), std::string::npos)
            << seed;
    }
}

TEST(LogWriterWithoutSpace, RemovesWhatADroppedCommitLeftBeforeItWritesAnother) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    // The commit, what cleans up after it, and the first look for space; the next commit comes before the second look.
    const std::uint64_t before = fs.calls(SimFileSystem::Call::write);
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 3);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(5000, 'b')).ticket));
    ASSERT_TRUE(comes_true([&] { return fs.calls(SimFileSystem::Call::write) >= before + 3; }));
    put(*store, "Patient", "c", "x");
    EXPECT_EQ(store->write_state(), WriteState::ready);
    EXPECT_EQ(fs.content("/data/segments/0000000001.seg").find("bbbb"), std::string::npos);
}

TEST(LogWriterWithoutSpace, IsPoisonedIfWhatADroppedCommitLeftCannotBeRemovedDurably) {
    SimFileSystem fs;
    auto store = open_store(fs);
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store);
    fs.fail_next(SimFileSystem::Call::sync, Errc::io);
    EXPECT_FALSE(store->wait(submit(*store, "a").ticket));
    EXPECT_EQ(store->write_state(), WriteState::failed);
}

TEST(LogWriterWithoutSpace, AcknowledgesThePartOfABatchThatFittedIntoTheSegment) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    fs.set_space(16 << 10);
    std::vector<Ticket> tickets;
    for (int i = 0; i < 40; ++i) {  // written together, since nothing flushes them one by one
        tickets.push_back(submit(*store, "p" + std::to_string(i), std::string(1000, 'x')).ticket);
    }
    EXPECT_FALSE(store->wait(tickets.back()));
    const std::uint64_t stored = store->last_position().value;
    EXPECT_GT(stored, 0U);
    EXPECT_LT(stored, tickets.size());
    for (std::size_t i = 0; i < tickets.size(); ++i) {
        EXPECT_EQ(store->wait(tickets[i]).has_value(), i < stored) << i;
    }
    store.reset();
    EXPECT_EQ(open_store(fs, 16 << 10)->last_position(), Position{stored});
}

TEST(LogWriterWithoutSpace, EndsAtTheBeginningOfANewSegmentThatTookNothingYet) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    while (store->log_end()->segment == 1) {
        // Were the segment full, its footer and the next one's header would be written first.
        fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 2, 2);
        const Submission submission = submit(*store, "a", std::string(1000, 'x'));
        ASSERT_EQ(submission.status, Status::accepted);
        if (!store->wait(submission.ticket)) {
            break;
        }
    }
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_EQ(store->log_end()->segment, 2U);
    EXPECT_EQ(store->log_end()->position, store->last_position());
}

TEST(LogWriterWithoutSpace, NeedsNoMoreThanTheSpaceThereIs) {
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
    EXPECT_FALSE(fs.exists("/data/segments/new.tmp"));
    EXPECT_GT(stored, 40);
    EXPECT_EQ(store->last_position().value, static_cast<std::uint64_t>(stored));
    fs.set_space({});
    submit_when_ready(*store, "more");
    store.reset();
    store = open_store(fs, 16 << 10);
    EXPECT_EQ(store->last_position().value, static_cast<std::uint64_t>(stored) + 1);
}

TEST(LogWriterWithoutSpace, BeginsNoSegmentThatIsTooSmallForItsCommit) {
    SimFileSystem fs;
    auto store = open_store(fs, 16 << 10);
    put(*store, "Patient", "a", std::string(8 << 10, 'x'));
    fs.set_space(20 << 10);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(12 << 10, 'x')).ticket));
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_EQ(fs.paths(), std::vector<std::string>{"/data/segments/0000000001.seg"});
}

TEST(LogWriterWithoutSpace, ServesReadsFromAFullDeviceAlsoAfterReopening) {
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

TEST(LogWriterWithoutSpace, BeginsNoStore) {
    SimFileSystem fs;
    fs.set_space(0);
    StoreOptions options;
    options.prepare_segments = false;
    EXPECT_FALSE(Store::open(fs, "/data", options));
}

bool becomes_ready(const Store& store) {
    return comes_true([&] { return store.write_state() == WriteState::ready; });
}

TEST(LogWriterWithoutSpace, ComesBackToAFullSegmentWithoutACommit) {
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
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t before = all[0].fs.calls(SimFileSystem::Call::create);
    const auto looks = [&] { return all[0].fs.calls(SimFileSystem::Call::create) - before; };
    ASSERT_TRUE(comes_true([&] { return looks() >= 2; }));
    const std::uint64_t looked = looks();
    const auto intervals = (std::chrono::steady_clock::now() - begin) / Sequencer::kProbeInterval;
    EXPECT_LE(looked, static_cast<std::uint64_t>(intervals) + 1) << "once a second";
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
TEST(LogWriterWithoutSpace, ComesBackWhereTheNextSegmentCouldNotBeBegun) {
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

TEST(LogWriterWithoutSpace, SaysWhyAPassingRefusalHasBecomeFinal) {
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

TEST(LogWriterWithoutSpace, RefusesWritesWhileThereAreTooFewDescriptors) {
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

TEST(LogWriterWithoutSpace, TriesTheOpenSegmentWithZerosOnlyAndNotOnceItIsReady) {
    SimFileSystem fs;
    auto store = open_store(fs);
    put(*store, "Patient", "a", "kept");
    // The commit, what cleans up after it, and the first look for space.
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store, 3);
    EXPECT_FALSE(store->wait(submit(*store, "b", std::string(50'000, 'b')).ticket));
    EXPECT_EQ(store->write_state(), WriteState::no_space);
    EXPECT_TRUE(becomes_ready(*store));
    EXPECT_EQ(fs.content("/data/segments/0000000001.seg").size(), 64U << 10);
    const auto after = fs.after_power_cut(0);
    EXPECT_EQ(after->content("/data/segments/0000000001.seg").find("bbbb"), std::string::npos);
    EXPECT_EQ(open_store(*after)->last_position(), Position{1});
    const std::uint64_t before = fs.changing_calls();
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    EXPECT_EQ(fs.changing_calls(), before);
    put(*store, "Patient", "c", "x");
    EXPECT_EQ(store->last_position(), Position{2});
}

}  // namespace
}  // namespace annals::storage
