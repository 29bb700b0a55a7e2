// $backup: begun, watched, made, refused.

#include "core/operations/backup_run.h"
#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "storage/segment_files.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/commits.h"
#include "tests/support/no_threads.h"
#include "tests/support/service_fixture.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using test::patient;

class BackupOperationTest : public test::ServiceFixture {
  protected:
    /// The answer once no backup is being made any more, or after half a minute.
    Answer finished() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (true) {
            Answer answer = send("GET", "/$backup");
            if (answer.status != 202 || std::chrono::steady_clock::now() > end) {
                return answer;
            }
            EXPECT_FALSE(answer.header("X-Progress").empty());
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    Answer back_up(std::string_view name) {
        const Answer begun = send("POST", fmt::format("/$backup?to={}", name));
        EXPECT_EQ(begun.status, 202) << begun.body;
        EXPECT_EQ(begun.content_location, "http://test/fhir/$backup");
        return finished();
    }
};

TEST_F(BackupOperationTest, MakesABackupThatCanBeServed) {
    put_patient("a");
    const Answer done = back_up("nightly");
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_TRUE(done.says(R"({"name":"to","valueString":"nightly"})"));
    EXPECT_TRUE(done.says(R"({"name":"position","valueDecimal":1})"));
    EXPECT_TRUE(done.says(R"({"name":"copied","valueDecimal":1})"));

    storage::StoreOptions options;
    options.read_only = true;
    const auto opened =
        storage::Store::open(storage::posix_file_system(), data() + "/backups/nightly", options);
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_EQ((*opened)->last_position(), Position{1});

    put_patient("b");
    EXPECT_TRUE(back_up("nightly").says(R"({"name":"position","valueDecimal":2})"));
}

TEST_F(BackupOperationTest, IsNotBegunWhereThereIsNoThreadForIt) {
    put_patient("a");
    {
        const test::NoThreads none;
        const Answer refused = send("POST", "/$backup?to=nightly");
        EXPECT_EQ(refused.status, 503);
        EXPECT_TRUE(refused.says("transient"));
        EXPECT_EQ(refused.header("Retry-After"), "1");
        EXPECT_EQ(send("GET", "/$backup").status, 404);
    }
    EXPECT_EQ(back_up("nightly").status, 200);
}

TEST_F(BackupOperationTest, IsNotBegunWhileAnotherIsBeingMade) {
    put_patient("a");
    {
        const std::lock_guard erasing(store().segment_files().mutex);  // it waits for this
        EXPECT_EQ(send("POST", "/$backup?to=first").status, 202);
        EXPECT_EQ(send("POST", "/$backup?to=second").status, 409);
        EXPECT_EQ(send("GET", "/$backup").status, 202);
    }
    const Answer done = finished();
    EXPECT_TRUE(done.says(R"("valueString":"first")")) << done.body;
    EXPECT_EQ(done.cache_control, "no-store");
    EXPECT_EQ(back_up("second").status, 200);
}

/// What the backup before had is still there, and is kept by the next one.
TEST(BackupRunTest, IsEndedWithTheServerAndCompletedByTheNext) {
    storage::FileSystem& files = storage::posix_file_system();
    const test::TemporaryDirectory directory;
    Config config;
    config.data = directory.path();
    storage::StoreOptions options;
    options.segment_bytes = 4 << 10;
    const auto store = storage::Store::open(files, config.data, options);
    ASSERT_TRUE(store) << store.error().detail;
    const auto fill = [&] {
        for (int i = 0; i < 8; ++i) {
            test::CommitBuilder commit;
            commit.put("Patient", std::to_string(i), std::string(1 << 10, 'x'));
            ASSERT_TRUE((*store)->wait((*store)->submit(commit.commit()).ticket));
        }
    };
    const auto wait_for = [](const auto& done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!done() && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    const auto back_up = [&] {
        BackupRun run(config, **store);
        EXPECT_TRUE(run.start("nightly"));
        wait_for([&] { return !run.status().running; });
        return run.status().report.value_or(storage::BackupReport());
    };
    const std::string to = config.data + "/backups/nightly";
    const auto is_unfinished = [&] {
        const auto report = storage::verify(files, to);
        EXPECT_TRUE(report) << report.error().detail;
        EXPECT_TRUE(report->damages.empty());
        return report->unfinished_backup;
    };
    fill();
    const storage::BackupReport before = back_up();
    EXPECT_GT(before.segments, 2U);
    fill();
    // On a busy machine a backup may go on before it is told to end.
    bool unfinished = false;
    for (int i = 0; i < 20 && !unfinished; ++i) {
        std::unique_lock erasing((*store)->segment_files().mutex);  // it waits for this
        auto run = std::make_unique<BackupRun>(config, **store);
        EXPECT_TRUE(run->start("nightly"));
        wait_for([&] {
            return std::filesystem::exists(fmt::format("{}/{}", to, storage::kBackupPartial));
        });
        std::thread stop([&run] { run.reset(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        erasing.unlock();
        stop.join();
        unfinished = is_unfinished();
    }
    EXPECT_TRUE(unfinished);
    options.read_only = true;
    const auto interrupted = storage::Store::open(files, to, options);
    ASSERT_TRUE(interrupted) << interrupted.error().detail;
    EXPECT_GE((*interrupted)->last_position(), before.position);
    const storage::BackupReport after = back_up();
    EXPECT_EQ(after.position, (*store)->last_position());
    EXPECT_GE(after.kept, before.segments - 1) << "all but the open one";
    EXPECT_LT(after.kept, after.segments);
    EXPECT_FALSE(is_unfinished());
}

TEST_F(BackupOperationTest, IsNotForReadOnlyServers) {
    put_patient("a");
    Config config;
    config.read_only = true;
    store_options_.read_only = true;
    restart(config);
    EXPECT_EQ(send("POST", "/$backup?to=nightly").status, 503);
    EXPECT_EQ(send("GET", "/$backup").status, 404);
}

TEST_F(BackupOperationTest, TakesItsNameFromABody) {
    put_patient("a");
    const Answer begun = send("POST", "/$backup",
                              R"({"resourceType":"Parameters","parameter":[)"
                              R"({"name":"to","valueString":"b1"}]})");
    EXPECT_EQ(begun.status, 202) << begun.body;
    EXPECT_TRUE(finished().says(R"("valueString":"b1")"));
}

TEST_F(BackupOperationTest, RefusesWhatIsNoName) {
    for (const char* query : {"", "?to=", "?to=..", "?to=.x", "?to=a/b", "?to=a%2Fb", "?to=a%20b",
                              "?to=a&to=b", "?to=a&from=b"}) {
        EXPECT_EQ(send("POST", fmt::format("/$backup{}", query)).status, 400) << query;
    }
    EXPECT_EQ(send("GET", "/$backup").status, 404) << "none has been made";
}

TEST_F(BackupOperationTest, SaysWhatWentWrong) {
    put_patient("a");
    auto& files = storage::posix_file_system();
    ASSERT_TRUE(files.make_directory(data() + "/backups/taken/segments"));
    ASSERT_TRUE(
        files.open(data() + "/backups/taken/segments/other", storage::FileSystem::Mode::create));
    const Answer answer = back_up("taken");
    EXPECT_EQ(answer.status, 409);
    EXPECT_FALSE(answer.says(data())) << "no paths for clients";
    EXPECT_EQ(back_up("free").status, 200) << "the next one is not held back by it";
    const auto lock = files.lock(data() + "/backups/free");
    ASSERT_TRUE(lock);
    const Answer in_use = back_up("free");
    EXPECT_EQ(in_use.status, 409);
    EXPECT_TRUE(in_use.says("is being read or written")) << in_use.body;
}

TEST_F(BackupOperationTest, SaysOfAFolderThatCannotBeMadeNoMoreThanThatItFailed) {
    Config config;
    config.backup_dir = "/proc/nowhere";
    restart(config);
    put_patient("a");
    const Answer answer = back_up("x");
    EXPECT_EQ(answer.status, 500);
    EXPECT_FALSE(answer.says("/proc"));
}

TEST_F(BackupOperationTest, GoesWhereTheConfigurationSays) {
    Config config;
    config.backup_dir = data() + "/elsewhere";
    restart(config);
    put_patient("a");
    EXPECT_EQ(back_up("x").status, 200);
    EXPECT_TRUE(storage::posix_file_system().exists(data() + "/elsewhere/x/backup.manifest"));
}

}  // namespace
}  // namespace annals::core
