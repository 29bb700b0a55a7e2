// Jobs by themselves, with work that does as the test says.

#include "core/jobs/jobs.h"

#include "core/jobs/job_folder.h"
#include "tests/support/no_threads.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <asio/awaitable.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace annals::core {
namespace {

using std::chrono::milliseconds;

std::atomic<bool> g_may_end = true;
std::atomic<int> g_begun = 0;

/// Counts in its state to three, as often as it may end each step; then says what it has counted.
Result<JobResult> count_to_three(const Service&, JobRun& run) {
    ++g_begun;
    int count = run.saved().empty() ? 0 : run.saved()[9] - '0';  // {"count":1}
    while (count < 3) {
        run.say(std::to_string(count * 33) + "%");
        while (!g_may_end && !run.stopping()) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        if (run.stopping()) {
            return Error{Errc::timeout, "", ""};
        }
        ++count;
        ANNALS_TRY_VOID(run.save(R"({"count":)" + std::to_string(count) + "}"));
    }
    if (run.files().exists(run.path("three.ndjson"))) {
        ANNALS_TRY_VOID(run.files().remove(run.path("three.ndjson")));
    }
    ANNALS_TRY(const auto file,
               run.files().open(run.path("three.ndjson"), storage::FileSystem::Mode::create));
    ANNALS_TRY_VOID(file->write(0, "{}\n{}\n{}\n"));
    ANNALS_TRY_VOID(file->sync());
    return JobResult{
        Instant{5'000'000},
        {{"output", "Patient", "three.ndjson", 3, "in"}, {"error", "OperationOutcome", "", 0, ""}}};
}

/// Ends when it may, and not when it is to stop.
Result<JobResult> take_its_time(const Service&, JobRun&) {
    ++g_begun;
    while (!g_may_end) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    return Error{Errc::timeout, "", ""};
}

Result<JobResult> fail(const Service&, JobRun& run) {
    ANNALS_TRY(const auto file,
               run.files().open(run.path("half"), storage::FileSystem::Mode::create));
    return Error{Errc::no_store, "write /secret/path: no space", ""};
}

JobWork work_of(std::string_view kind) noexcept {
    return kind == "count"  ? count_to_three
           : kind == "slow" ? take_its_time
           : kind == "fail" ? fail
                            : nullptr;
}

asio::awaitable<void> begin_in(Jobs& jobs, Loop& loop, JobOrder order,
                               std::promise<Result<std::string>>& promise) {
    Result<std::string> id = co_await jobs.begin(loop, std::move(order));
    promise.set_value(std::move(id));
}

asio::awaitable<void> remove_in(Jobs& jobs, Loop& loop, std::string id,
                                std::promise<Result<void>>& promise) {
    Result<void> removed = co_await jobs.remove(loop, std::move(id));
    promise.set_value(std::move(removed));
}

class JobsTest : public test::ServiceFixture {
  protected:
    JobsTest() {
        g_may_end = true;
        g_begun = 0;
        open();
    }

    ~JobsTest() override { jobs_.reset(); }

    void open(JobsOptions options = {}) {
        jobs_.reset();
        options.work = work_of;
        jobs_ = std::make_unique<Jobs>(service(), *files_, "data/jobs", options);
        jobs_->start();
    }

    Result<std::string> begin(const std::string& kind, const std::string& owner = "") {
        std::promise<Result<std::string>> promise;
        JobOrder order;
        order.kind = kind;
        order.owner = owner;
        order.scopes = "system/*.rs";
        order.url = "http://test/fhir/$count?a=\"b\"";
        order.base_url = "http://test/fhir";
        order.task = R"({"to":3})";
        loop().post([&] { spawn(loop(), "begin", begin_in(*jobs_, loop(), order, promise)); });
        return promise.get_future().get();
    }

    Result<void> remove(const std::string& id) {
        std::promise<Result<void>> promise;
        loop().post([&] { spawn(loop(), "remove", remove_in(*jobs_, loop(), id, promise)); });
        return promise.get_future().get();
    }

    JobView look(const std::string& id) {
        Result<std::optional<JobView>> view = jobs_->look(id);
        EXPECT_TRUE(view && *view);
        return view && *view ? **std::move(view) : JobView();
    }

    void await_begun(int count) {
        while (g_begun < count) {
            std::this_thread::sleep_for(milliseconds(1));
        }
    }

    std::vector<std::string> job_paths() const {
        std::vector<std::string> paths;
        for (const std::string& path : files_->paths()) {
            if (path.starts_with("data/jobs/")) {
                paths.push_back(path);
            }
        }
        return paths;
    }

    std::unique_ptr<test::SimFileSystem> files_ = std::make_unique<test::SimFileSystem>();
    std::unique_ptr<Jobs> jobs_;
};

TEST_F(JobsTest, DoWhatTheirKindDoesAndKeepWhatItMade) {
    const auto id = begin("count", "me");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    const JobView view = look(*id);
    EXPECT_EQ(view.stage, JobStage::done);
    EXPECT_EQ(view.order.owner, "me");
    EXPECT_EQ(view.order.url, "http://test/fhir/$count?a=\"b\"");
    EXPECT_EQ(view.state.result.time, Instant{5'000'000});
    ASSERT_EQ(view.state.result.files.size(), 2U);
    EXPECT_EQ(view.state.result.files[0].count, 3U);
    EXPECT_GT(view.expires, now());
    ASSERT_TRUE(jobs_->open(*id, "three.ndjson"));
    EXPECT_EQ(jobs_->open(*id, "job.json").error().code, Errc::not_found);
    EXPECT_EQ(jobs_->open(*id, "../../x").error().code, Errc::not_found);
    EXPECT_EQ(jobs_->open("none", "three.ndjson").error().code, Errc::not_found);
    files_->set_descriptors(files_->open_files());
    EXPECT_EQ(jobs_->open(*id, "three.ndjson").error().code, Errc::overloaded);
    files_->set_descriptors({});
    ASSERT_TRUE(files_->remove("data/jobs/" + *id + "/three.ndjson"));
    const auto gone = jobs_->open(*id, "three.ndjson");
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Errc::not_found);
    EXPECT_EQ(gone.error().detail, "The file does not exist") << "its path is told to nobody";
}

TEST_F(JobsTest, ThatAreUnderWaySayHowFarTheyAre) {
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    while (look(*id).progress.empty()) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(look(*id).stage, JobStage::running);
    EXPECT_EQ(look(*id).progress, "0%");
    EXPECT_FALSE(jobs_->open(*id, "three.ndjson"));
    g_may_end = true;
    jobs_->wait_until_idle();
    EXPECT_EQ(look(*id).stage, JobStage::done);
}

TEST_F(JobsTest, AreKeptOfNobodyAloneInThePlaceOfAllOthers) {
    const auto fill = [this](const std::string& owner) {
        std::size_t begun = 0;
        while (const auto id = begin("count", owner)) {
            ++begun;
            jobs_->wait_until_idle();
        }
        return begun;
    };
    Config guarded;
    guarded.auth.mode = "jwt";
    jobs_.reset();
    restart(guarded);
    open({.kept_max = 8});
    EXPECT_EQ(fill("lab"), 4U);
    EXPECT_EQ(fill("lab\n0123456789abcdef"), 0U);  // the same one, held to a part
    EXPECT_EQ(fill("ward"), 2U);
    EXPECT_EQ(fill("clinic"), 1U);
    EXPECT_EQ(fill("night"), 1U);
    const auto refused = begin("count", "day");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::throttled);

    // Where nobody is known there are no others.
    jobs_.reset();
    restart(Config());
    open({.kept_max = 16});
    EXPECT_EQ(fill(""), 8U);
}

TEST_F(JobsTest, GoOnAfterARestartFromWhatTheyKept) {
    g_may_end = false;
    const auto id = begin("count", "me");
    ASSERT_TRUE(id);
    await_begun(1);
    open();  // stops them first
    const JobView taken_up = look(*id);
    EXPECT_EQ(taken_up.stage, JobStage::running);
    EXPECT_EQ(taken_up.order.kind, "count");
    EXPECT_EQ(taken_up.order.owner, "me");
    EXPECT_EQ(taken_up.order.scopes, "system/*.rs");
    EXPECT_EQ(taken_up.order.url, "http://test/fhir/$count?a=\"b\"");
    EXPECT_EQ(taken_up.order.base_url, "http://test/fhir");
    EXPECT_EQ(taken_up.order.task, R"({"to":3})");
    g_may_end = true;
    jobs_->wait_until_idle();
    EXPECT_EQ(g_begun, 2);
    EXPECT_EQ(look(*id).stage, JobStage::done);
    open();
    const JobView view = look(*id);
    EXPECT_EQ(view.stage, JobStage::done);
    EXPECT_EQ(view.state.result.time, Instant{5'000'000});
    ASSERT_EQ(view.state.result.files.size(), 2U);
    const JobFile& file = view.state.result.files[0];
    EXPECT_EQ(file.part, "output");
    EXPECT_EQ(file.type, "Patient");
    EXPECT_EQ(file.name, "three.ndjson");
    EXPECT_EQ(file.count, 3U);
    EXPECT_EQ(file.input, "in");
    EXPECT_EQ(view.state.result.files[1].part, "error");
    EXPECT_EQ(g_begun, 2);
}

TEST_F(JobsTest, GoOnOnlyOnceTheyAreStarted) {
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    jobs_.reset();
    g_may_end = true;
    jobs_ = std::make_unique<Jobs>(service(), *files_, "data/jobs", JobsOptions{.work = work_of});
    EXPECT_FALSE(*jobs_->look(*id));
    jobs_->wait_until_idle();
    EXPECT_EQ(g_begun, 1);
    jobs_->start();
    jobs_->wait_until_idle();
    EXPECT_EQ(g_begun, 2);
    EXPECT_EQ(look(*id).stage, JobStage::done);
}

TEST_F(JobsTest, ThatFailSayWhyWithoutPathsAndLeaveNoFiles) {
    const auto id = begin("fail");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    const auto check = [&] {
        const JobView view = look(*id);
        EXPECT_EQ(view.stage, JobStage::failed);
        EXPECT_EQ(view.state.code, "no-store");
        EXPECT_EQ(view.state.detail, "There is no space left for the job's output");
    };
    check();
    EXPECT_EQ(job_paths().size(), 2U);
    open();
    check();
}

TEST_F(JobsTest, WhoseEndCannotBeKeptAreNotBegunAgain) {
    g_may_end = false;
    const auto id = begin("slow");
    ASSERT_TRUE(id);
    await_begun(1);
    files_->fail_next(test::SimFileSystem::Call::write, Errc::no_store, 10);
    g_may_end = true;
    jobs_->wait_until_idle();
    EXPECT_EQ(look(*id).stage, JobStage::failed);
    open();
    jobs_->wait_until_idle();
    EXPECT_FALSE(*jobs_->look(*id));
    EXPECT_EQ(g_begun, 1);
    EXPECT_EQ(job_paths(), std::vector<std::string>());
}

TEST_F(JobsTest, AreRefusedWhenTooManyAreUnderWay) {
    open({.running_max = 2});
    g_may_end = false;
    ASSERT_TRUE(begin("count"));
    ASSERT_TRUE(begin("count"));
    EXPECT_EQ(begin("count").error().code, Errc::throttled);
    g_may_end = true;
    jobs_->wait_until_idle();
    EXPECT_TRUE(begin("count"));
}

TEST_F(JobsTest, AreForgottenWithTheirFilesWhileTheyRunAndAfter) {
    g_may_end = false;
    const auto running = begin("count");
    ASSERT_TRUE(running);
    await_begun(1);
    EXPECT_TRUE(remove(*running));
    EXPECT_FALSE(*jobs_->look(*running));
    EXPECT_EQ(remove(*running).error().code, Errc::not_found);
    g_may_end = true;
    const auto done = begin("count");
    ASSERT_TRUE(done);
    jobs_->wait_until_idle();
    EXPECT_TRUE(remove(*done));
    jobs_->wait_until_idle();
    EXPECT_EQ(job_paths(), std::vector<std::string>());
    open();
    EXPECT_FALSE(*jobs_->look(*done));
}

TEST_F(JobsTest, ThatStopSlowlyKeepNoOthersFromBeginning) {
    g_may_end = false;
    const auto slow = begin("slow");
    ASSERT_TRUE(slow);
    await_begun(1);
    ASSERT_TRUE(remove(*slow));
    const auto other = begin("fail");
    ASSERT_TRUE(other);
    while (look(*other).stage == JobStage::running) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(remove(*other));
    g_may_end = true;
    jobs_->wait_until_idle();
    EXPECT_TRUE(job_paths().empty());
}

TEST_F(JobsTest, ThatCannotBeRemovedAreThereAsBefore) {
    const auto done = begin("count");
    ASSERT_TRUE(done);
    jobs_->wait_until_idle();
    g_may_end = false;
    const auto running = begin("count");
    ASSERT_TRUE(running);
    await_begun(2);
    for (const auto call :
         {test::SimFileSystem::Call::remove, test::SimFileSystem::Call::sync_directory}) {
        for (const std::string& id : {*done, *running}) {
            files_->fail_next(call, Errc::io);
            EXPECT_EQ(remove(id).error().code, Errc::io);
            EXPECT_TRUE(*jobs_->look(id));
        }
    }
    EXPECT_TRUE(jobs_->open(*done, "three.ndjson"));
    EXPECT_EQ(look(*running).stage, JobStage::running);
    EXPECT_TRUE(remove(*done));
    EXPECT_TRUE(remove(*running));
    jobs_->wait_until_idle();
    EXPECT_EQ(job_paths(), std::vector<std::string>());
}

TEST_F(JobsTest, AreForgottenWhenTheirTimeIsOver) {
    open({.keep = milliseconds(0)});
    const auto id = begin("count");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    open({.keep = milliseconds(0)});  // looks at once
    while (*jobs_->look(*id)) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    jobs_->wait_until_idle();
    EXPECT_EQ(job_paths(), std::vector<std::string>());
}

TEST_F(JobsTest, TellWhoAsksTooOften) {
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    bool throttled = false;
    for (int i = 0; i < 100'000 && !throttled; ++i) {
        throttled = !jobs_->look(*id, true);
    }
    EXPECT_TRUE(throttled);
    g_may_end = true;
    jobs_->wait_until_idle();
    for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(jobs_->look(*id, true));
    }
}

TEST_F(JobsTest, AreThereAfterAPowerCutOnceTheyHaveBegun) {
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    auto after = files_->after_power_cut(0);
    jobs_.reset();
    files_ = std::move(after);
    open();
    EXPECT_EQ(look(*id).stage, JobStage::running);
    EXPECT_TRUE(remove(*id));
    auto later = files_->after_power_cut(0);
    jobs_.reset();
    files_ = std::move(later);
    open();
    EXPECT_FALSE(*jobs_->look(*id));
}

TEST_F(JobsTest, SurviveAPowerCutAtAnyCallWholeOrNotAtAll) {
    for (std::uint64_t call = 1; call < 40; ++call) {
        for (const std::uint64_t seed : {0U, 1U, 7U}) {
            jobs_.reset();
            files_ = std::make_unique<test::SimFileSystem>();
            g_may_end = true;
            open();
            files_->power_off_at(call);
            const auto id = begin("count");
            jobs_->wait_until_idle();
            auto after = files_->after_power_cut(seed);
            jobs_.reset();
            files_ = std::move(after);
            open();
            jobs_->wait_until_idle();
            if (id) {
                EXPECT_EQ(look(*id).stage, JobStage::done) << call << " " << seed;
            }
        }
    }
}

TEST_F(JobsTest, OfAStoreThatTakesNoWritesAreNotBegun) {
    open({.read_only = true});
    EXPECT_EQ(begin("count").error().code, Errc::no_store);
}

TEST_F(JobsTest, ForWhichThereIsNoThreadAreNotBegunAndLeaveNothing) {
    {
        const test::NoThreads none;
        EXPECT_EQ(begin("count").error().code, Errc::overloaded);  // no keeper
    }
    const auto id = begin("count");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    const std::vector<std::string> before = job_paths();
    {
        const test::NoThreads none;
        EXPECT_EQ(begin("count").error().code, Errc::overloaded);
        EXPECT_EQ(job_paths(), before);
    }
    EXPECT_TRUE(begin("count"));
    jobs_->wait_until_idle();
    EXPECT_EQ(g_begun, 2);
}

TEST_F(JobsTest, ThatAreTakenUpWithoutAThreadGoOnWhenThereIsOne) {
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    {
        const test::NoThreads none;
        open();
        EXPECT_EQ(look(*id).stage, JobStage::running);
        EXPECT_EQ(remove(*id).error().code, Errc::overloaded);
    }
    g_may_end = true;
    ASSERT_TRUE(begin("count"));  // has a keeper, who looks for those that wait
    while (look(*id).stage == JobStage::running) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(look(*id).stage, JobStage::done);
    jobs_->wait_until_idle();
}

TEST_F(JobsTest, ThatCannotBeLookedForAreSaidToBeLeftAloneAndGoOnAtTheNextStart) {
    const auto opened = [this] {
        testing::internal::CaptureStderr();
        open();
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(opened(), "");  // there is no folder yet
    g_may_end = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    files_->fail_next(test::SimFileSystem::Call::list, Errc::io);
    EXPECT_NE(opened().find("jobs are ignored: "), std::string::npos);
    EXPECT_FALSE(*jobs_->look(*id));
    g_may_end = true;
    open();
    jobs_->wait_until_idle();
    EXPECT_EQ(look(*id).stage, JobStage::done);
}

TEST_F(JobsTest, WhoseFolderIsDamagedAreLeftAlone) {
    ASSERT_TRUE(files_->make_directory("data/jobs"));
    ASSERT_TRUE(files_->make_directory("data/jobs/x"));
    for (const char* text : {"", "{", "[]", R"({"format":2})", R"({"format":1,"task":{}})"}) {
        files_->set_content("data/jobs/x/job.json", text);
        open();
        EXPECT_FALSE(*jobs_->look("x")) << text;
        EXPECT_TRUE(files_->exists("data/jobs/x/job.json")) << text;
    }
    const auto done = [](std::string_view count) {
        return fmt::format(
            R"({{"state":"done","finished":"2020-01-01T00:00:00.000Z","time":"2020-01-01T00:00:00.000Z","files":[{{"part":"output","type":"Patient","name":"f","count":{},"input":""}}]}})",
            count);
    };
    EXPECT_TRUE(read_state(done("7")));
    for (const std::string_view count : {R"("7")", "-7", "7.5", "null"}) {
        EXPECT_EQ(read_state(done(count)).error().code, Errc::corrupt) << count;
    }
}

}  // namespace
}  // namespace annals::core
