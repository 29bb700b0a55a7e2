// The journal of erasures, and how many syncs an erasure costs.

#include "storage/erasure_journal.h"

#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::SimFileSystem;

const std::string kDirectory = "/data";

TEST(ErasureJournal, IsThereAfterAPowerCutAlsoIfItsFirstWriteFailed) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    ErasureJournal journal(fs, kDirectory, 0);
    ErasureJournal::Content content;
    content.blankings.push_back({.segment = 7});
    fs.fail_next(SimFileSystem::Call::write, Errc::no_store);
    ASSERT_FALSE(journal.write(content));
    ASSERT_TRUE(journal.write(content));
    const auto after = fs.after_power_cut(0);
    const auto read = ErasureJournal::read(*after, kDirectory);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->sequence, 1U);
    ASSERT_EQ(read->blankings.size(), 1U);
    EXPECT_EQ(read->blankings.front().segment, 7U);
}

TEST(ErasureJournal, KeepsTheOneBeforeUntilTheNextIsWhole) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory(kDirectory));
    {
        ErasureJournal journal(fs, kDirectory, 0);
        ErasureJournal::Content content;
        for (content.erases_done = 1; content.erases_done <= 3; ++content.erases_done) {
            ASSERT_TRUE(journal.write(content));
        }
        content.erases_done = 4;
        content.blankings.resize(1000);  // many blocks
        fs.power_off_at(1);
        ASSERT_FALSE(journal.write(content));
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto after = fs.after_power_cut(seed);
        const auto read = ErasureJournal::read(*after, kDirectory);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->erases_done, read->sequence);
        EXPECT_GE(read->sequence, 3U);
    }
}

/// Syncs that a lone hard delete makes, once there were others.
std::uint64_t syncs_of_a_hard_delete(Durability durability) {
    SimFileSystem fs;
    StoreOptions options;
    options.segment_bytes = 64 << 10;
    options.prepare_segments = false;
    options.durability = durability;
    auto store = Store::open(fs, kDirectory, options);
    EXPECT_TRUE(store);
    std::uint64_t before = 0;
    for (const char* id : {"a", "b", "c"}) {
        test::put(**store, "Patient", id, "text");
        before = fs.file_syncs();
        CommitBuilder erase;
        erase.erase("Patient", id);
        const Submission submission = (*store)->submit(erase.commit());
        EXPECT_TRUE((*store)->wait(submission.ticket));
        EXPECT_TRUE((*store)->wait_erased(submission.ticket));
    }
    return fs.file_syncs() - before;
}

TEST(HardDelete, SyncsTheLogTheJournalAndTheSegmentOnceEach) {
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::commit), 3U);
    EXPECT_EQ(syncs_of_a_hard_delete(Durability::none), 3U);
}

}  // namespace
}  // namespace annals::storage
