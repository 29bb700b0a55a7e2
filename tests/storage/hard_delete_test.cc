// Hard deletes: what they cost, of very many versions, of some in a segment that is sealed then, and beside a journal that is of
// another log.

#include "storage/erasure_journal.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/storage/erasure_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::kDirectory;
using test::SimFileSystem;

/// The number of syncs of a lone hard delete, after a few others.
std::uint64_t syncs_of_a_hard_delete(Durability durability) {
    SimFileSystem fs;
    StoreOptions options = segments_on_demand();
    options.durability = durability;
    auto store = Store::open(fs, kDirectory, options);
    EXPECT_TRUE(store);
    std::uint64_t before = 0;
    for (const char* id : {"a", "b", "c"}) {
        test::put(**store, "Patient", id, "text");
        before = fs.file_syncs();
        const Submission submission = submit_erase(**store, id);
        EXPECT_TRUE((*store)->wait(submission.ticket));
        EXPECT_TRUE((*store)->wait_erased(submission.ticket));
    }
    return fs.file_syncs() - before;
}

TEST(HardDelete, SyncsTheLogTheJournalAndTheSegmentOnceEach) {
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::commit), 3U);
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::none), 3U);
}

TEST(HardDelete, LeavesNoBodyHoweverManyVersionsItIsOf) {
    constexpr std::uint64_t kAtATime = 4096;
    constexpr std::uint64_t kVersions = 2 * kAtATime + 1;
    SimFileSystem fs;
    auto store = *Store::open(fs, kDirectory, segments_on_demand(1 << 20));
    test::put(*store, "Patient", "kept", "other");
    Ticket last;
    for (std::uint64_t i = 0; i < kVersions; ++i) {
        CommitBuilder builder;
        builder.put("Patient", "a", "marker");
        last = store->submit(builder.commit()).ticket;
        if (i % 64 == 0) {
            ASSERT_TRUE(store->wait(last));
        }
    }
    ASSERT_TRUE(store->wait(last));
    CommitBuilder erase;
    erase.erase("Patient", "a");
    const Ticket ticket = store->submit(erase.commit()).ticket;
    EXPECT_EQ(erase.erases()[0].outcome.versions_erased, kVersions);
    ASSERT_TRUE(store->wait(ticket));
    ASSERT_TRUE(store->wait_erased(ticket));
    for (const std::string& path : fs.paths()) {
        EXPECT_EQ(fs.content(path).find("marker"), std::string::npos) << path;
        if (path.ends_with(".journal")) {
            EXPECT_LE(fs.content(path).size(), kAtATime * 64) << path;
        }
    }
    EXPECT_EQ(store->metrics().bodies_erased, kVersions);
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "kept")));
    store.reset();
    const auto report = verify(fs, kDirectory);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty());
    EXPECT_EQ(report->bodies_left, 0U);
    EXPECT_EQ(report->bodies_gone, kVersions);
}

TEST(HardDelete, OfSomeVersionsInASealedSegmentLeavesTheOthersForTheNextOpening) {
    using Scope = Erase::Scope;

    struct Case {
        Scope scope;
        VersionNumber version;
        std::vector<std::uint32_t> left;
    };

    const Case cases[] = {{Scope::version, {2}, {1, 3, 4}},
                          {Scope::through, {2}, {3, 4}},
                          {Scope::all_but_current, {}, {4}},
                          {Scope::everything, {}, {}}};
    const StoreOptions options = segments_on_demand();
    for (const Case& one : cases) {
        SimFileSystem fs;
        auto store = *Store::open(fs, kDirectory, options);
        for (int i = 0; i < 4; ++i) {
            test::put(*store, "Patient", "a", "text");
        }
        CommitBuilder erase;
        erase.erase("Patient", "a", one.scope, one.version);
        ASSERT_TRUE(store->wait(store->submit(erase.commit()).ticket));
        for (int i = 0; i < 4; ++i) {  // moves the log on to the next segment
            test::put(*store, "Observation", "o", std::string(20'000, 'x'));
        }
        for (const char* when : {"before", "after"}) {
            std::vector<std::uint32_t> left;
            for (std::uint32_t number = 1; number <= 4; ++number) {
                if (store->version(test::type_of("Patient"), "a", {number})) {
                    left.push_back(number);
                }
            }
            EXPECT_EQ(left, one.left) << when << static_cast<int>(one.scope);
            store.reset();
            store = *Store::open(fs, kDirectory, options);
        }
    }
}

TEST(HardDelete, IsFinishedByTheNextOpeningThoughTheJournalIsOfAnotherLog) {
    const StoreOptions options = segments_on_demand();
    const auto erase = [](Store& store, std::string_view id) {
        return test::erase(store, "Patient", id).has_value();
    };
    SimFileSystem another;
    {
        const auto store = *Store::open(another, kDirectory, options);
        for (const char* id : {"x", "y"}) {
            test::put(*store, "Patient", id, "text");
            ASSERT_TRUE(erase(*store, id));
        }
    }
    SimFileSystem fs;
    {
        const auto store = *Store::open(fs, kDirectory, options);
        test::put(*store, "Patient", "kept", "text");
        test::put(*store, "Patient", "a", "marker");
        fs.fail_next(SimFileSystem::Call::create, Errc::io);  // of the journal
        ASSERT_FALSE(erase(*store, "a"));
    }
    const std::string journal = ErasureJournal::path_of(0);
    const std::string segment = kDirectory + "/segments/" + segment_name(1);
    ASSERT_NE(fs.content(segment).find("marker"), std::string::npos);
    fs.set_content(kDirectory + "/" + journal, another.content(kDirectory + "/" + journal));
    const auto store = *Store::open(fs, kDirectory, options);
    EXPECT_EQ(fs.content(segment).find("marker"), std::string::npos);
    EXPECT_TRUE(store->load(*store->current(test::type_of("Patient"), "kept")));
}

}  // namespace
}  // namespace annals::storage
