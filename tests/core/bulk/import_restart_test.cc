// The job of an $import that is stopped, and goes on from what it saved.

#include "core/bulk/import_job.h"
#include "core/bulk/import_task.h"
#include "core/definitions.h"
#include "core/jobs/jobs.h"
#include "core/terminology/worker.h"
#include "tests/support/busy_worker_fixture.h"
#include "tests/support/costly_rules.h"
#include "tests/support/sim_file_system.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

/// The state of an import that has saved nothing but that it has begun.
constexpr std::string_view kBegun =
    R"({"begun":"2020-01-01T00:00:00.000Z","input":0,"offset":0,"line":0,"position":0,"counts":[0],"files":{"done":[],"series":[],"bytes":0}})";

class ImportJobTest : public test::BusyWorkerFixture {
  protected:
    ImportJobTest() {
        EXPECT_TRUE(files_.make_directory("j"));
        ImportTask task;
        task.inputs = {{.name = "upload.ndjson", .type = "", .uploaded = true}};
        order_.base_url = kBaseUrl;
        order_.task = task_json(task);
    }

    /// Continues from `saved` and is to stop in the window of that number. Returns what it has saved then.
    std::string run(std::string_view saved, const std::string& text, int windows) {
        files_.set_content("j/upload.ndjson", text);
        JobRun job("j", order_, "j", std::string(saved), files_,
                   {.stopping = [&] { return windows <= 1; },
                    .say = [&](const std::string&) { --windows; }});
        static_cast<void>(import_job(service(), job));
        return job.saved();
    }

    test::SimFileSystem files_;
    JobOrder order_;
};

TEST_F(ImportJobTest, StoppedAnywhereTakesEachLineOnce) {
    std::string text;
    for (int i = 0; i < 9000; ++i) {
        text += i % 1000 == 7 ? "broken\n"
                : i % 1000 == 8
                    ? "{\"resourceType\":\"Basic\",\"code\":{\"text\":\"no id\"}}\n"
                    : fmt::format(
                          "{{\"resourceType\":\"Patient\",\"id\":\"p{}\",\"language\":\"l{}\"}}\n",
                          i % 4500, i);
    }
    files_.set_content("j/upload.ndjson", text);
    std::string saved;
    // The previous state: a crash may leave the saved state that far behind the store.
    std::string before;
    Result<JobResult> result = Error{Errc::timeout, "", ""};
    for (int runs = 0; !result && runs < 100; ++runs) {
        const std::string from = runs % 2 == 0 || before.empty() ? saved : before;
        int asks = 0;
        before = saved;
        JobRun run("j", order_, "j", from, files_,
                   {.stopping = [&] { return asks-- <= 0; }, .say = [](const std::string&) {}});
        result = import_job(service(), run);
        saved = run.saved();
    }
    ASSERT_TRUE(result);
    EXPECT_EQ(store().totals().versions, 9000U - 9U);
    EXPECT_EQ(store().totals(find_resource_type("Basic")).live, 9U);
    ASSERT_EQ(result->files.size(), 2U);
    EXPECT_EQ(result->files[0].count, 9000U - 9U);
    EXPECT_EQ(result->files[1].count, 9U);
    EXPECT_FALSE(files_.exists("j/upload.ndjson"));
}

TEST_F(ImportJobTest, OfSeveralFilesGoesOnInTheOneWhereItStood) {
    ImportTask task;
    for (const char* name : {"a", "b", "c"}) {
        std::string text = "broken\n";
        for (int i = 0; i < 1500; ++i) {
            text += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"{}{}\"}}\n", name, i);
        }
        files_.set_content(fmt::format("j/{}", name), text);
        task.inputs.push_back({.name = name, .type = "", .uploaded = true});
    }
    order_.task = task_json(task);
    std::string saved;
    Result<JobResult> result = Error{Errc::timeout, "", ""};
    int runs = 0;
    for (; !result && runs < 100; ++runs) {
        JobRun run("j", order_, "j", saved, files_,
                   {.stopping = [] { return true; }, .say = [](const std::string&) {}});
        result = import_job(service(), run);
        saved = run.saved();
    }
    ASSERT_TRUE(result);
    EXPECT_GT(runs, 3);
    ASSERT_EQ(result->files.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result->files[i].count, 1500U) << i;
    }
    EXPECT_EQ(result->files[3].count, 3U) << "errors";
    EXPECT_EQ(store().totals().versions, 4500U);
}

TEST_F(ImportJobTest, StoppedInWhatItReadsAgainTakesEachLineOnce) {
    std::string text;
    for (int i = 0; i < 6000; ++i) {
        text += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"p{}\"}}\n", i);
    }
    run(kBegun, text, 4);  // what it saved is lost
    const std::string noted = run(kBegun, text, 1);
    EXPECT_EQ(store().totals().versions, 4096U);
    run(noted, text, 100);
    EXPECT_EQ(store().totals().versions, 6000U);
}

TEST_F(ImportJobTest, StoppedInWhatItReadsAgainTakesEachEntryWithoutAVersionNumberOnce) {
    std::string text;
    for (int i = 0; i < 6000; ++i) {
        text +=
            i % 3 == 1
                ? fmt::format("{{\"request\":{{\"method\":\"DELETE\",\"url\":\"Patient/p{}\"}}}}\n",
                              i - 1)
                : fmt::format(
                      "{{\"resource\":{{\"resourceType\":\"Patient\",\"id\":\"p{0}\"}},"
                      "\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/p{0}\"}}}}\n",
                      i % 3 == 2 ? i - 2 : i);
    }
    run(kBegun, text, 4);  // what it saved is lost
    const std::string noted = run(kBegun, text, 1);
    EXPECT_EQ(store().totals().versions, 4096U);
    run(noted, text, 100);
    EXPECT_EQ(store().totals().versions, 6000U);
    EXPECT_EQ(send("GET", "/Patient/p0").etag, 3U);
}

TEST_F(ImportJobTest, StoppedEndsWithinAWindow) {
    Config config;
    config.shutdown_timeout = std::chrono::milliseconds(0);
    restart(config);
    std::string text;
    for (int i = 0; i < 3; ++i) {
        text += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"p{}\"}}\n", i);
    }
    std::string saved(kBegun);
    for (std::uint64_t versions = 1; versions <= 3; ++versions) {
        saved = run(saved, text, 1);
        EXPECT_EQ(store().totals().versions, versions) << saved;
    }
}

TEST_F(ImportJobTest, StoppedEndsWithinAWindowAndGoesOnBehindALineThatItRefused) {
    Config config;
    config.shutdown_timeout = std::chrono::milliseconds(0);
    restart(config);
    std::string text;
    for (int i = 0; i < 3; ++i) {
        text += fmt::format("broken\n{{\"resourceType\":\"Patient\",\"id\":\"p{}\"}}\n", i);
    }
    std::string saved(kBegun);
    for (std::uint64_t lines = 1; lines <= 6; ++lines) {
        saved = run(saved, text, 1);
        EXPECT_EQ(store().totals().versions, lines / 2) << saved;
    }
    run(saved, text, 100);
    EXPECT_EQ(std::ranges::count(files_.content("j/error-1.ndjson"), '\n'), 3);
}

/// Of entries without version numbers, some of which wait for the worker.
class ImportOfCostlyEntries : public ImportJobTest {
  protected:
    ImportOfCostlyEntries() {
        EXPECT_EQ(send("PUT", "/StructureDefinition/costly", test::costly_profile()).status, 201);
        Config config;
        config.validation = "full";
        config.shutdown_timeout = std::chrono::seconds(5);  // one of them for the import
        restart(config);
    }

    static std::string entry(std::string_view id, std::string_view resource) {
        return fmt::format(
            "{{\"resource\":{},\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/{}\"}}}}\n",
            resource, id);
    }

    const std::string text_ = entry("a", R"({"resourceType":"Patient","id":"a","active":true})") +
                              entry("p", test::costly_patient("p"));
};

TEST_F(ImportOfCostlyEntries, StoppedWhileOneWaitsTakesEachOnce) {
    std::promise<void> go_on;
    auto busy = occupy(go_on);
    auto stopped = std::async(std::launch::async, [&] { return run(kBegun, text_, 1); });
    EXPECT_EQ(stopped.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Patient/p").status, 404);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
    run(stopped.get(), text_, 100);
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 1U);
}

TEST_F(ImportOfCostlyEntries, TakesEachOnceWhileTheWorkerTakesNothingMore) {
    std::vector<std::future<Result<void>>> others;
    const auto leave_to_worker = [&](std::function<void()> work) {
        on_loop([&] {
            others.push_back(asio::co_spawn(
                loop().context(), service().definitions().worker().run(loop(), std::move(work)),
                asio::use_future));
        });
    };
    std::promise<void> begun;
    std::promise<void> go_on;
    leave_to_worker([&] {
        begun.set_value();
        go_on.get_future().wait();
    });
    begun.get_future().wait();
    for (int i = 0; i < 64; ++i) {
        leave_to_worker([] {});
    }
    auto imported = std::async(std::launch::async, [&] { return run(kBegun, text_, 100); });
    EXPECT_EQ(imported.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    go_on.set_value();
    for (std::future<Result<void>>& other : others) {
        EXPECT_TRUE(other.get());
    }
    imported.get();
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 1U);
}

TEST_F(ImportJobTest, ReadingAgainDeletesNothingThatWasWrittenAfterADeletionOfNothing) {
    const auto deletion = [](std::string_view id) {
        return fmt::format("{{\"request\":{{\"method\":\"DELETE\",\"url\":\"Patient/{}\"}}}}\n",
                           id);
    };
    const auto written = [](std::string_view id, std::string_view meta) {
        return fmt::format(
            "{{\"resource\":{{\"resourceType\":\"Patient\",\"id\":\"{0}\"{1}}},"
            "\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/{0}\"}}}}\n",
            id, meta);
    };
    const std::string text = deletion("p") + written("p", "") + deletion("p") + deletion("p") +
                             written("p", "") + written("q", ",\"meta\":{\"versionId\":\"1\"}") +
                             deletion("q") + deletion("q") + written("q", "");
    for (int times = 0; times < 2; ++times) {
        run(kBegun, text, 100);  // the second time as if nothing had been saved
        EXPECT_EQ(store().totals().versions, 6U);
        EXPECT_EQ(send("GET", "/Patient/p").etag, 3U);
        EXPECT_EQ(send("GET", "/Patient/q").etag, 3U);
    }
}

TEST_F(ImportJobTest, TakesALineThatSaysWhatAnEarlierOneDid) {
    const std::string was = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n";
    const std::string other = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":false}\n";
    run(kBegun, was + other, 100);
    run(kBegun, was + other + was, 100);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 3U);
    EXPECT_TRUE(send("GET", "/Patient/p").says(R"("active":true)"));
}

TEST_F(ImportJobTest, FindsALineBehindWhateverElseWasWrittenOfItsResource) {
    for (int i = 0; i < 250; ++i) {
        put_patient("p");
    }
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n";
    run(kBegun, text, 100);
    run(kBegun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 251U);
}

TEST_F(ImportJobTest, ReadingAgainBringsNothingBackThatWasErased) {
    const auto erase = [&](std::string_view id, storage::Erase::Scope scope) {
        storage::Erase what;
        what.type = find_resource_type("Patient").value();
        what.id = id;
        what.scope = scope;
        storage::Commit commit;
        commit.erases = std::span(&what, 1);
        const storage::Submission submission = store().submit(commit);
        ASSERT_EQ(submission.status, storage::Submission::Status::accepted);
        ASSERT_TRUE(store().wait(submission.ticket));
    };
    using Scope = storage::Erase::Scope;
    put_patient("was");
    erase("was", Scope::everything);
    std::string begun(kBegun);
    begun.replace(begun.find(R"("position":0)"), 12, R"("position":1)");
    const std::string gone = "{\"resourceType\":\"Patient\",\"id\":\"gone\"}\n";
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"was\"}\n" + gone +
                             "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n"
                             "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":false}\n" +
                             gone;
    run(begun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/was").status, 200) << "that was before";
    erase("gone", Scope::everything);
    erase("p", Scope::all_but_current);
    run(begun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/was").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/gone").status, 404);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 2U);
    EXPECT_TRUE(send("GET", "/Patient/p").says(R"("active":false)"));
    EXPECT_EQ(store().totals().versions, 2U);

    // What follows is imported as usual.
    run(begun, text + gone, 100);
    EXPECT_EQ(send("GET", "/Patient/gone").status, 200);
}

TEST_F(ImportJobTest, SaysOfAFileThatItHasBecomeShorterThanWhatWasRead) {
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n";
    std::string saved(kBegun);
    saved.replace(saved.find(R"("counts":[0)"), 11, R"("counts":[1)");
    saved.replace(saved.find(R"("line":0)"), 8, R"("line":1)");
    for (const std::size_t read : {text.size(), text.size() + 1}) {
        const std::string begun = std::string(saved).replace(saved.find(R"("offset":0)"), 10,
                                                             fmt::format("\"offset\":{}", read));
        files_.set_content("j/upload.ndjson", text);
        JobRun job("j", order_, "j", begun, files_,
                   {.stopping = [] { return false; }, .say = [](const std::string&) {}});
        const auto result = import_job(service(), job);
        ASSERT_TRUE(result);
        EXPECT_EQ(result->files.size(), read > text.size() ? 2U : 1U);
        EXPECT_EQ(result->files.front().count, 1U);
        EXPECT_EQ(result->files.back().part, read > text.size() ? "error" : "output");
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

/// As with a durability other than "commit", when the saved state survived a power cut, but not the versions it counts.
TEST_F(ImportJobTest, GoesOnBehindNothingThatAPowerCutTook) {
    std::string saved = run(kBegun, "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n", 100);
    ASSERT_EQ(store().totals().versions, 1U);
    const std::size_t at = saved.find(R"("position":1)");
    ASSERT_NE(at, std::string::npos) << saved;
    saved.replace(at, 12, R"("position":2)");
    JobRun job("j", order_, "j", saved, files_,
               {.stopping = [] { return false; }, .say = [](const std::string&) {}});
    const auto result = import_job(service(), job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::conflict);
}

/// Starting over would import its lines twice.
TEST_F(ImportJobTest, WhoseCheckpointIsDamagedFails) {
    files_.set_content("j/upload.ndjson", R"({"resourceType":"Patient","id":"p"})");
    for (const std::string_view member : {R"("input":)", R"("offset":)", R"("line":)",
                                          R"("position":)", R"("counts":[)", R"("bytes":)"}) {
        std::string saved(kBegun);
        saved.replace(saved.find(member) + member.size(), 1, "-1");
        JobRun run("j", order_, "j", saved, files_,
                   {.stopping = [] { return false; }, .say = [](const std::string&) {}});
        const auto result = import_job(service(), run);
        ASSERT_FALSE(result) << saved;
        EXPECT_EQ(result.error().code, Errc::corrupt) << saved;
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

}  // namespace
}  // namespace annals::core
