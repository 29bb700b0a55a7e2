// The job of $export by itself, when it is stopped or the disk is full.

#include "core/bulk/export_job.h"

#include "core/bulk/export_task.h"
#include "tests/core/bulk/export_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

class ExportJobTest : public ExportTest {
  protected:
    /// Creates `count` patients, in several bundles.
    void fill(int count) {
        std::string entries;
        for (int i = 0; i < count; ++i) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","active":{}}},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
                i == 0 ? "" : ",", i, i % 3 == 0, i);
        }
        ASSERT_EQ(
            send("POST", "/",
                 fmt::format(R"({{"resourceType":"Bundle","type":"batch","entry":[{}]}})", entries),
                 {{"Content-Type", "application/fhir+json"}})
                .status,
            200);
    }

    /// Runs the job until it has asked `asks` times whether to stop.
    Result<JobResult> run_for(const ExportTask& task, std::string& saved, int asks,
                              test::SimFileSystem& files) {
        return run_until([&] { return asks-- <= 0; }, task, saved, files);
    }

    Result<JobResult> run_until(std::function<bool()> is_to_stop, const ExportTask& task,
                                std::string& saved, test::SimFileSystem& files) {
        JobOrder order;
        order.base_url = kBaseUrl;
        order.task = task_json(task);
        JobRun run("j", order, "j", saved, files,
                   {.stopping = std::move(is_to_stop), .say = [](const std::string&) {}});
        Result<JobResult> result = export_job(service(), run);
        saved = run.saved();
        return result;
    }
};

TEST_F(ExportJobTest, GoesOnWhereItStood) {
    Config config;
    config.export_max_file = 100'000;
    restart(config);
    fill(6000);
    ExportTask whole;
    ExportTask searched;
    searched.filters = {"Patient?active=true"};
    ExportTask earlier = searched;
    earlier.as_of = store().last_position();
    for (const ExportTask& task : {whole, searched, earlier}) {
        test::SimFileSystem once;
        ASSERT_TRUE(once.make_directory("j"));
        std::string saved;
        const auto expected = run_for(task, saved, 1'000'000, once);
        ASSERT_TRUE(expected) << expected.error().detail;

        test::SimFileSystem files;
        ASSERT_TRUE(files.make_directory("j"));
        saved.clear();
        int runs = 0;
        const int asks = 1 + static_cast<int>(task.filters.size());  // one step after each filter
        Result<JobResult> result = run_for(task, saved, asks, files);
        while (!result && runs < 1000) {
            ++runs;
            // What is written in the meantime is not part of this snapshot.
            ASSERT_LT(put_patient(fmt::format("later{}", runs)), 300);
            result = run_for(task, saved, asks, files);
        }
        ASSERT_TRUE(result);
        EXPECT_GT(runs, 1);
        ASSERT_EQ(result->files.size(), expected->files.size());
        for (std::size_t i = 0; i < result->files.size(); ++i) {
            EXPECT_EQ(result->files[i].name, expected->files[i].name);
            EXPECT_EQ(result->files[i].count, expected->files[i].count);
            EXPECT_EQ(files.content("j/" + result->files[i].name),
                      once.content("j/" + result->files[i].name));
        }
    }
}

TEST_F(ExportJobTest, GoesOnWhereItStoodAmongWhatIsLinked) {
    for (int i = 0; i < 10; ++i) {
        put("Practitioner", fmt::format("d{}", i));
        put("Organization", fmt::format("o{}", i));
        put("Patient", fmt::format("p{}", i),
            fmt::format(
                R"("generalPractitioner":[{{"reference":"Practitioner/d{}"}}],"managingOrganization":{{"reference":"Organization/o{}"}})",
                i, i));
    }
    ExportTask task;
    task.level = ExportTask::Level::patient;
    test::SimFileSystem once;
    ASSERT_TRUE(once.make_directory("j"));
    std::string saved;
    const auto expected = run_for(task, saved, 1'000'000, once);
    ASSERT_TRUE(expected) << expected.error().detail;
    ASSERT_EQ(expected->files.size(), 3U);
    // Stopped at each step in turn, and then continued to the end.
    for (int asks = 0;; ++asks) {
        SCOPED_TRACE(asks);
        test::SimFileSystem files;
        ASSERT_TRUE(files.make_directory("j"));
        saved.clear();
        Result<JobResult> result = run_for(task, saved, asks, files);
        if (result) {
            EXPECT_GT(asks, 10);
            break;
        }
        result = run_for(task, saved, 1'000'000, files);
        ASSERT_TRUE(result) << result.error().detail;
        ASSERT_EQ(result->files.size(), 3U);
        for (const JobFile& file : expected->files) {
            EXPECT_EQ(files.content("j/" + file.name), once.content("j/" + file.name));
        }
    }
}

TEST_F(ExportJobTest, SavesNothingMoreOnceItsTimeToStopIsOver) {
    Config config;
    config.shutdown_timeout = std::chrono::milliseconds(1);  // a fifth of which is nothing
    restart(config);
    fill(3000);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    std::string saved;
    ASSERT_FALSE(run_for(ExportTask(), saved, 1, files));
    EXPECT_THAT(saved, testing::HasSubstr(R"("after":0,)"));
    const auto result = run_for(ExportTask(), saved, 1'000'000, files);
    ASSERT_TRUE(result) << result.error().detail;
    ASSERT_EQ(result->files.size(), 1U);
    EXPECT_EQ(names_in(files.content("j/Patient-1.ndjson")).size(), 3000U);
}

TEST_F(ExportJobTest, IsWholeWhereverItsTimeToStopEnds) {
    Config config;
    config.shutdown_timeout = std::chrono::milliseconds(1);  // a fifth of which is nothing
    restart(config);
    fill(50);
    put("Device", "d");
    put("Organization", "o");
    test::SimFileSystem once;
    ASSERT_TRUE(once.make_directory("j"));
    std::string saved;
    const auto expected = run_for(ExportTask(), saved, 1'000'000, once);
    ASSERT_TRUE(expected) << expected.error().detail;
    ASSERT_EQ(expected->files.size(), 3U);
    // From the first sync, of the state, to the last: in between are those of the files, at the end.
    for (std::uint64_t syncs = 1; syncs < once.file_syncs(); ++syncs) {
        SCOPED_TRACE(syncs);
        test::SimFileSystem files;
        ASSERT_TRUE(files.make_directory("j"));
        saved.clear();
        const auto is_to_stop = [&] { return files.file_syncs() >= syncs; };
        ASSERT_FALSE(run_until(is_to_stop, ExportTask(), saved, files));
        EXPECT_EQ(files.file_syncs(), syncs);
        const auto result = run_for(ExportTask(), saved, 1'000'000, files);
        ASSERT_TRUE(result) << result.error().detail;
        ASSERT_EQ(result->files.size(), 3U);
        for (const JobFile& file : expected->files) {
            EXPECT_EQ(files.content("j/" + file.name), once.content("j/" + file.name));
        }
    }
}

TEST_F(ExportJobTest, OfASnapshotThatIsNoMoreBeginsAnew) {
    fill(5);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/Patient-1.ndjson", "of before");
    std::string saved =
        R"({"position":1000,"time":"2020-01-01T00:00:00.000Z","pass":0,"after":0,"resources":0,"files":{"done":[],"series":[],"bytes":0}})";
    const auto result = run_for(ExportTask(), saved, 1'000'000, files);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->files.size(), 1U);
    EXPECT_EQ(names_in(files.content("j/Patient-1.ndjson")).size(), 5U);
}

/// What can't be read must not count as 0: lines would be repeated or cut off.
TEST_F(ExportJobTest, WhoseCheckpointIsDamagedFails) {
    fill(5);
    constexpr std::string_view kWhole =
        R"({"position":5,"time":"2020-01-01T00:00:00.000Z","pass":0,"after":2,"resources":2,"files":{"done":[{"part":"output","type":"Patient","name":"Patient-1.ndjson","count":2,"open":false}],"series":[{"part":"output","type":"Patient","stem":"Patient","number":2,"name":"Patient-2.ndjson","count":1,"bytes":3,"open":true}],"bytes":90}})";
    for (const std::string_view member :
         {R"("position":5)", R"("pass":0)", R"("after":2)", R"("resources":2)", R"("count":2)",
          R"("number":2)", R"("count":1)", R"("bytes":3)", R"("bytes":90)"}) {
        for (const std::string_view damage : {R"("x")", "-1", "1.5", "99999999999999999999"}) {
            test::SimFileSystem files;
            ASSERT_TRUE(files.make_directory("j"));
            files.set_content("j/Patient-2.ndjson", "{}\n");
            std::string saved(kWhole);
            const std::size_t at = saved.find(member) + member.find(':') + 1;
            saved.replace(at, member.size() - member.find(':') - 1, damage);
            const auto result = run_for(ExportTask(), saved, 1'000'000, files);
            ASSERT_FALSE(result) << saved;
            EXPECT_EQ(result.error().code, Errc::corrupt) << saved;
        }
    }
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/Patient-2.ndjson", "{}\n");
    std::string saved(kWhole);
    EXPECT_TRUE(run_for(ExportTask(), saved, 1'000'000, files));
}

TEST_F(ExportJobTest, OfAStateThatIsNoMoreFails) {
    fill(5);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    ExportTask task;
    task.as_of = Position{1000};
    std::string saved;
    const auto result = run_for(task, saved, 1'000'000, files);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::expired);
}

TEST_F(ExportJobTest, IsWholeWhereverThePowerIsCut) {
    Config config;
    config.export_max_file = 2000;
    restart(config);
    fill(50);
    remove("/Patient/p7");
    ExportTask task;
    task.since = Instant{0};
    for (std::uint64_t call = 1;; ++call) {
        auto files = std::make_unique<test::SimFileSystem>();
        ASSERT_TRUE(files->make_directory("j"));
        files->power_off_at(call);
        std::string saved;
        Result<JobResult> result = run_for(task, saved, 1'000'000, *files);
        const bool cut = !result;
        if (cut) {
            files = files->after_power_cut(call);
            // From the state on the disk; without one, from the beginning.
            saved = saved.empty() || !files->exists("j/state.json")
                        ? ""
                        : read_state(files->content("j/state.json"))->saved;
            result = run_for(task, saved, 1'000'000, *files);
        }
        ASSERT_TRUE(result) << call;
        std::vector<std::string> names;
        for (const JobFile& file : result->files) {
            for (std::string& name : names_in(files->content("j/" + file.name))) {
                names.push_back(std::move(name));
            }
        }
        EXPECT_EQ(names.size(), 50U) << call;
        EXPECT_EQ(std::count(names.begin(), names.end(), "-Patient/p7"), 1) << call;
        if (!cut) {
            EXPECT_GT(call, 10U);
            break;
        }
    }
}

TEST_F(ExportJobTest, FailsWhenTheDiskIsFullAndHarmsNothing) {
    fill(200);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_space(5000);
    std::string saved;
    const auto result = run_for(ExportTask(), saved, 1'000'000, files);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::no_store);
    EXPECT_LT(put_patient("after"), 300);
}

TEST(ExportTask, IsReadBackAsItWasWritten) {
    ExportTask task;
    task.level = ExportTask::Level::group;
    task.group = "g";
    task.types = {*find_resource_type("Observation"), *find_resource_type("Patient")};
    task.since = Instant{1'234'567'000};
    task.filters = {"Patient?name=\"x\"\\"};
    task.elements = {"Patient.name"};
    task.patients = {"a", "b"};
    task.history = true;
    task.as_of = Position{77};
    task.strict = false;
    const auto read = parse_export_task(task_json(task));
    ASSERT_TRUE(read);
    EXPECT_EQ(task_json(*read), task_json(task));
    EXPECT_EQ(read->filters, task.filters);
    EXPECT_EQ(read->since, task.since);
    EXPECT_EQ(read->as_of, task.as_of);
    EXPECT_FALSE(read->until);
}

TEST(ExportTask, IsNotReadWithANumberThatIsNone) {
    ExportTask task;
    task.as_of = Position{77};
    std::string json = task_json(task);
    json.replace(json.find("77"), 2, "\"x\"");
    EXPECT_FALSE(parse_export_task(json));
}

}  // namespace
}  // namespace annals::core
