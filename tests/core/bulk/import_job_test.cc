// The job of an $import by itself: what it waits for, what it gives up for, and what of a line only it decides.

#include "core/bulk/import_job.h"

#include "core/base/limits.h"
#include "core/bulk/import_task.h"
#include "core/jobs/job.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace annals::core {
namespace {

using test::SimFileSystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImportRun : public test::ServiceFixture {
  protected:
    ImportRun() {
        EXPECT_TRUE(files_.make_directory("j"));
        restart_on(disk_);
    }

    /// Imports `text`, having noted what `saved` says; it waits for nothing for long.
    Result<JobResult> run(const std::string& text, std::string_view saved = {}) {
        ImportTask task;
        task.inputs = {{.name = "lines", .type = "", .uploaded = true}};
        JobOrder order;
        order.base_url = kBaseUrl;
        order.task = task_json(task);
        files_.set_content("j/lines", text);
        bool waited = false;
        const auto say = [&](const std::string& what) {
            said_.push_back(what);
            waited = what == "waiting for space on the disk";
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
            while (store().write_state() == storage::WriteState::no_space &&
                   std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        // Whoever is to stop waits for no pause.
        JobRun job("j", order, "j", std::string(saved), files_,
                   {.stopping = [&] { return waited; }, .say = say});
        Result<JobResult> result = import_job(service(), job);
        if (!result) {
            return result;
        }
        for (const JobFile& file : result->files) {
            if (file.part == "error") {
                errors_ += files_.content("j/" + file.name);
            }
        }
        return result;
    }

    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
    SimFileSystem files_;
    std::vector<std::string> said_;
    std::string errors_;
};

std::string patient_line(const std::string& id) {
    return fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"{}\"}}\n", id);
}

std::string entry_line(const std::string& id) {
    return fmt::format(
        "{{\"resource\":{{\"resourceType\":\"Patient\",\"id\":\"{0}\"}},"
        "\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/{0}\"}}}}\n",
        id);
}

TEST_F(ImportRun, GoesOnOnceTheDiskHasRoomAgain) {
    disk_->fail_next(SimFileSystem::Call::write, Errc::no_store);
    const auto result = run(entry_line("a") + patient_line("b"));
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_THAT(said_, ElementsAre("waiting for space on the disk"));
    EXPECT_EQ(result->files.at(0).count, 2U);
    EXPECT_EQ(errors_, "");
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/b").etag, 1U);
}

TEST_F(ImportRun, EndsWhereTheLogTakesNothingMore) {
    for (const std::string& text : {patient_line("a"), entry_line("a")}) {
        disk_ = std::make_shared<SimFileSystem>();
        restart_on(disk_);
        disk_->fail_next(SimFileSystem::Call::sync, Errc::io);
        const auto result = run(text);
        ASSERT_FALSE(result);
        EXPECT_THAT(said_, ElementsAre());
    }
}

TEST_F(ImportRun, WaitsForWhatALineRefersTo) {
    Config config;
    config.integrity_on_write = true;
    restart(config);
    const auto observation = [](const std::string& id, const std::string& subject) {
        return fmt::format(
            "{{\"resourceType\":\"Observation\",\"id\":\"{}\",\"status\":\"final\",\"code\":{{"
            "\"text\":\"x\"}},\"subject\":{{\"reference\":\"Patient/{}\"}}}}\n",
            id, subject);
    };
    const auto result = run(patient_line("p") + observation("o", "p") + observation("x", "none"));
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_EQ(result->files.at(0).count, 2U);
    EXPECT_EQ(send("GET", "/Observation/o").status, 200);
    EXPECT_EQ(send("GET", "/Observation/x").status, 404);
    EXPECT_THAT(errors_, HasSubstr("lines:3: "));
    EXPECT_THAT(errors_, HasSubstr("Patient/none"));
}

TEST_F(ImportRun, TakesEntriesThatNestDeeperThanAResourceMay) {
    const std::size_t depth = kJsonDepthMax - 1;
    const std::string deep = R"({"resourceType":"Patient","id":"a","x":)" +
                             std::string(depth, '[') + std::string(depth, ']') + "}";
    const auto result = run(
        fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"Patient/a"}}}})", deep));
    ASSERT_TRUE(result);
    EXPECT_EQ(errors_, "");
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(ImportRun, CountsWhatItHadTakenBefore) {
    constexpr std::string_view kBegun =
        R"({"begun":"2020-01-01T00:00:00.000Z","input":0,"offset":0,"line":0,"position":0,"counts":[0],"files":{"done":[],"series":[],"bytes":0}})";
    const std::string text = patient_line("a") + entry_line("b") + entry_line("c");
    for (int i = 0; i < 2; ++i) {
        const auto result = run(text, kBegun);
        ASSERT_TRUE(result);
        EXPECT_EQ(result->files.at(0).count, 3U);
        EXPECT_EQ(format_instant(result->time), "2020-01-01T00:00:00.000Z");
        EXPECT_EQ(store().totals().versions, 3U);
    }
}

}  // namespace
}  // namespace annals::core
