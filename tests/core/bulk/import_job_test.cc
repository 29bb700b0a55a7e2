// The job of an $import by itself: what it waits for, what makes it give up, and what it alone decides about a line.

#include "core/bulk/import_job.h"

#include "core/base/limits.h"
#include "core/bulk/import_task.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

using test::SimFileSystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kWaits = "waiting for disk space or file descriptors";

class ImportRun : public test::ServiceFixture {
  protected:
    ImportRun() {
        EXPECT_TRUE(files_.make_directory("j"));
        restart_on(disk_);
    }

    /// Imports `text`, continuing from the state `saved`. No wait takes long.
    Result<JobResult> run(const std::string& text, std::string_view saved = {}) {
        return run_all({{"lines", text}}, saved);
    }

    /// The same for several files, with their names.
    Result<JobResult> run_all(const std::vector<std::pair<std::string, std::string>>& inputs,
                              std::string_view saved = {}) {
        ImportTask task;
        for (const auto& [name, text] : inputs) {
            task.inputs.push_back({.name = name, .type = "", .uploaded = true});
            files_.set_content("j/" + name, text);
        }
        JobOrder order;
        order.base_url = kBaseUrl;
        order.task = task_json(task);
        bool waits = false;
        const auto say = [&](const std::string& what) {
            said_.push_back(what);
            waits = what == kWaits;
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
            while (store().write_state() == storage::WriteState::no_space &&
                   std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        };
        // A job that is to stop doesn't wait: it is told so once, when it would.
        JobRun job("j", order, "j", std::string(saved), files_,
                   {.stopping = [&] { return std::exchange(waits, false); }, .say = say});
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
    EXPECT_THAT(said_, ElementsAre(kWaits));
    EXPECT_EQ(result->files.at(0).count, 2U);
    EXPECT_EQ(errors_, "");
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/b").etag, 1U);
}

TEST_F(ImportRun, WaitsForADescriptorForItsFile) {
    files_.fail_next(SimFileSystem::Call::open, Errc::no_store);
    const auto result = run(patient_line("a"));
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_THAT(said_, ElementsAre(kWaits));
    EXPECT_EQ(result->files.at(0).count, 1U);
    EXPECT_EQ(errors_, "");
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
}

TEST_F(ImportRun, WaitsForADescriptorForItsErrors) {
    files_.fail_next(SimFileSystem::Call::open, Errc::no_store, 2, 1);  // after the first input
    const auto result =
        run_all({{"one", patient_line("a") + "broken\n"}, {"two", "broken\n" + patient_line("b")}});
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_THAT(said_, ElementsAre(kWaits, kWaits));
    EXPECT_EQ(result->files.at(0).count, 1U);
    EXPECT_EQ(result->files.at(1).count, 1U);
    EXPECT_EQ(result->files.at(2).count, 2U);
    EXPECT_THAT(errors_, HasSubstr("one:2: "));
    EXPECT_THAT(errors_, HasSubstr("two:1: "));
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

// ---- what is asked for ----

class ImportAsked : public test::ServiceFixture {
  protected:
    int ask(const std::string& query, const std::string& type, const std::string& body,
            const std::string& preference = "respond-async") {
        const test::Answer answer = send("POST", "/$import" + query, body,
                                         {{"Prefer", preference}, {"Content-Type", type}});
        service().jobs().wait_until_idle();
        return answer.status;
    }

    static constexpr const char* kLines = "application/fhir+ndjson";
};

TEST_F(ImportAsked, KeepsVersionsOfWhatIsSentWithItIfThatIsSaid) {
    const auto line = [](const std::string& id) {
        return R"({"resourceType":"Patient","id":")" + id + R"(","meta":{"versionId":"7"}})";
    };
    EXPECT_EQ(ask("?keepVersions=true", kLines, line("kept")), 202);
    EXPECT_EQ(ask("?keepVersions=false", kLines, line("not")), 202);
    EXPECT_EQ(send("GET", "/Patient/kept").etag, 7U);
    EXPECT_EQ(send("GET", "/Patient/not").etag, 1U);
    EXPECT_EQ(ask("?keepVersions=perhaps", kLines, line("not")), 400);
    EXPECT_EQ(ask("?_format=json&_pretty=true", "application/fhir+ndjson ; charset=utf-8", ""),
              202);
    EXPECT_EQ(ask("?unknown=1", kLines, "", "respond-async, handling=lenient"), 202);
}

TEST_F(ImportAsked, TakesOnlyTheTypeThatAFileIsSaidToHave) {
    const std::string folder = service().config().data + "/import";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/a.ndjson") << patient_line("a");
    const auto asked = [](const std::string& type, const std::string& format, int files) {
        std::string inputs;
        for (int i = 0; i < files; ++i) {
            inputs += fmt::format(R"(,{{"name":"input","part":[{{"name":"type","valueCode":"{}"}},)"
                                  R"({{"name":"url","valueUri":"a.ndjson"}}]}})",
                                  type);
        }
        return fmt::format(
            R"({{"resourceType":"Parameters","parameter":[{{"name":"inputFormat","valueCode":"{}"}}{}]}})",
            format, inputs);
    };
    constexpr const char* kJson = "application/fhir+json";
    EXPECT_EQ(ask("", kJson, asked("Observation", kLines, 1)), 202);
    EXPECT_EQ(send("GET", "/Patient/a").status, 404);
    EXPECT_EQ(ask("", kJson, asked("Nobody", kLines, 1)), 400);
    EXPECT_EQ(ask("", kJson, asked("Patient", "text/csv", 1)), 400);
    const std::string input =
        R"({"resourceType":"Parameters","parameter":[{"name":"input","part":[)"
        R"({"name":"type","valueCode":"Patient"},{"name":"url","valueUri":"a.ndjson"}]}]})";
    EXPECT_EQ(ask("?inputFormat=text/csv", kJson, input), 400);
    EXPECT_EQ(ask("?inputFormat=application/fhir+ndjson", kJson, input), 202)
        << "an unescaped + is a blank";
    EXPECT_EQ(ask("", kJson, asked("Patient", kLines, 10'001)), 413);
    EXPECT_EQ(ask("", kJson, asked("Patient", kLines, 1)), 202);
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

}  // namespace
}  // namespace annals::core
