#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace annals::test {
namespace {

using CompactOperation = ServiceFixture;

TEST_F(CompactOperation, SaysThatAFaultHasEndedIt) {
    const auto disk = std::make_shared<SimFileSystem>();
    store_options_.segment_bytes = 64 << 10;
    store_options_.prepare_segments = false;
    restart_on(disk);
    ASSERT_EQ(put_patient("gone"), 201);
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(put_patient(fmt::format("kept{}", i), std::string(20'000, 'x')), 201);
    }
    ASSERT_EQ(send("POST", "/Patient/gone/$purge").status, 200);

    disk->fail_next(SimFileSystem::Call::sync_directory, Errc::io);
    ASSERT_EQ(send("POST", "/$compact").status, 202);
    Answer now = send("GET", "/$compact");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (now.status == 202 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        now = send("GET", "/$compact");
    }
    EXPECT_EQ(now.status, 503) << now.body;
    EXPECT_TRUE(now.says(R"("code":"no-store")"));
    EXPECT_EQ(send("POST", "/$compact").status, 503);
    EXPECT_EQ(send("GET", "/Patient/kept0").status, 200);

    restart_on(disk);
    EXPECT_EQ(send("POST", "/$compact").status, 202);
}

TEST_F(CompactOperation, IsNotForReadOnlyServers) {
    ASSERT_EQ(put_patient("a"), 201);
    store_options_.read_only = true;
    core::Config config;
    config.read_only = true;
    restart(config);
    EXPECT_EQ(send("POST", "/$compact").status, 503);
    EXPECT_EQ(send("POST", "/$compact?dryRun=true").status, 200);
}

TEST_F(CompactOperation, SaysWhatHistoryCleanupWouldRemoveByItsSettings) {
    core::Config config;
    config.max_history_versions = 1;
    restart(config);
    for (int i = 0; i < 3; ++i) {
        ASSERT_LE(put_patient("a", fmt::format("{}", i)), 201);
        ASSERT_LE(put_patient("b", fmt::format("{}", i)), 201);
    }
    const Answer would = send("POST", "/$compact?dryRun=true");
    EXPECT_EQ(would.status, 200);
    EXPECT_TRUE(would.says(R"({"name":"resourcesToClean","valueDecimal":2})")) << would.body;
    EXPECT_TRUE(would.says(R"({"name":"versionsToClean","valueDecimal":4})")) << would.body;
}

}  // namespace
}  // namespace annals::test
