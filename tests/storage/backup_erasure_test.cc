// Backups of a store in which an erasure failed.

#include "tests/storage/backup_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/store_files.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace annals::storage {
namespace {

/// Any of the calls of an erasure fails, so that a segment may have been changed without a sync. Once the store is opened again
/// it has a copy of its own of every file that a backup shares, and what was not synced is only in that of the backup.
TEST(Backup, IsWholeAfterAPowerCutAlsoWhereAnErasureHadFailed) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        test::SimFileSystem fs;
        if (seed % 2 == 1) {
            fs.lose_on_failed_sync();
        }
        ASSERT_TRUE(fs.make_directory("/data"));
        auto store = open_store(fs, "/data");
        test::put(*store, "Patient", "gone", std::string(3000, 'y'));
        fill_segments(*store);
        test::CommitBuilder builder;
        builder.erase("Patient", "gone");
        fs.fail_next(test::SimFileSystem::Call::sync, Errc::io, 1, 1 + seed / 2 % 3);
        const Submission done = store->submit(builder.commit());
        ASSERT_EQ(done.status, Submission::Status::accepted);
        ASSERT_TRUE(store->wait(done.ticket));
        failed += store->wait_erased(done.ticket) ? 0 : 1;
        fs.fail_next(test::SimFileSystem::Call::sync, Errc::io, 0);
        const auto report = back_up_store(fs, *store, "/data", "/backup");
        ASSERT_TRUE(report) << report.error().detail;
        store.reset();
        store = open_store(fs, "/data");
        const auto after = fs.after_power_cut(seed);
        test::expect_sound(*after, "/backup");
        test::expect_sound(*after, "/data");
    }
    EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace annals::storage
