// Jobs after a restart or a power cut: which go on, and which are left alone.

#include "core/jobs/job_folder.h"
#include "tests/core/jobs/jobs_fixture.h"
#include "tests/support/no_threads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

using std::chrono::milliseconds;

TEST_F(JobsTest, GoOnAfterARestartFromWhatTheyKept) {
    may_end_ = false;
    const auto id = begin("count", "me");
    ASSERT_TRUE(id);
    await_begun(1);
    open();  // stops them first
    const JobView taken_up = look(*id);
    EXPECT_EQ(taken_up.stage, JobStage::running);
    EXPECT_EQ(taken_up.owner, "me");
    EXPECT_EQ(taken_up.scopes, "system/*.rs");
    EXPECT_EQ(taken_up.url, "http://test/fhir/$count?a=\"b\"");
    await_begun(2);
    const JobOrder order = last_order();
    EXPECT_EQ(order.kind, "count");
    EXPECT_EQ(order.base_url, "http://test/fhir");
    EXPECT_EQ(order.task, R"({"to":3})");
    may_end_ = true;
    jobs_->wait_until_idle();
    EXPECT_EQ(begun_, 2);
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
    EXPECT_EQ(begun_, 2);
}

TEST_F(JobsTest, GoOnOnlyOnceTheyAreStarted) {
    may_end_ = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    jobs_.reset();
    may_end_ = true;
    jobs_ = std::make_unique<Jobs>(service(), *files_, "data/jobs", JobsOptions{.work = work_of});
    EXPECT_FALSE(*jobs_->look(*id));
    jobs_->wait_until_idle();
    EXPECT_EQ(begun_, 1);
    jobs_->start();
    jobs_->wait_until_idle();
    EXPECT_EQ(begun_, 2);
    EXPECT_EQ(look(*id).stage, JobStage::done);
}

TEST_F(JobsTest, WhoseEndCannotBeKeptAreNotBegunAgain) {
    may_end_ = false;
    const auto id = begin("slow");
    ASSERT_TRUE(id);
    await_begun(1);
    files_->fail_next(test::SimFileSystem::Call::write, Errc::no_store, 10);
    may_end_ = true;
    jobs_->wait_until_idle();
    EXPECT_EQ(look(*id).stage, JobStage::failed);
    open();
    jobs_->wait_until_idle();
    EXPECT_FALSE(*jobs_->look(*id));
    EXPECT_EQ(begun_, 1);
    EXPECT_EQ(job_paths(), std::vector<std::string>());
}

TEST_F(JobsTest, AreThereAfterAPowerCutOnceTheyHaveBegun) {
    may_end_ = false;
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
            may_end_ = true;
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

TEST_F(JobsTest, ThatAreTakenUpWithoutAThreadGoOnWhenThereIsOne) {
    may_end_ = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    {
        const test::NoThreads none;
        open();
        EXPECT_EQ(look(*id).stage, JobStage::running);
        EXPECT_EQ(remove(*id).error().code, Errc::overloaded);
    }
    may_end_ = true;
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
    may_end_ = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    files_->fail_next(test::SimFileSystem::Call::list, Errc::io);
    EXPECT_NE(opened().find("jobs are ignored: "), std::string::npos);
    EXPECT_FALSE(*jobs_->look(*id));
    may_end_ = true;
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
