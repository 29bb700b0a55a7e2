// Jobs by themselves, with work that does as the test says.

#include "tests/core/jobs/jobs_fixture.h"
#include "tests/support/no_threads.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace annals::core {
namespace {

using std::chrono::milliseconds;

TEST_F(JobsTest, DoWhatTheirKindDoesAndKeepWhatItMade) {
    const auto id = begin("count", "me");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    const JobView view = look(*id);
    EXPECT_EQ(view.stage, JobStage::done);
    EXPECT_EQ(view.owner, "me");
    EXPECT_EQ(view.url, "http://test/fhir/$count?a=\"b\"");
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
    may_end_ = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    await_begun(1);
    while (look(*id).progress.empty()) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(look(*id).stage, JobStage::running);
    EXPECT_EQ(look(*id).progress, "0%");
    EXPECT_FALSE(jobs_->open(*id, "three.ndjson"));
    may_end_ = true;
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

TEST_F(JobsTest, ThatFailSayWhyWithoutPathsAndLeaveNoFiles) {
    const auto id = begin("fail");
    ASSERT_TRUE(id);
    jobs_->wait_until_idle();
    const auto check = [&] {
        const JobView view = look(*id);
        EXPECT_EQ(view.stage, JobStage::failed);
        EXPECT_EQ(view.state.code, "no-store");
        EXPECT_EQ(view.state.detail,
                  "There is too little space, or there are too few file descriptors, for the job's "
                  "output");
    };
    check();
    EXPECT_EQ(job_paths().size(), 2U);
    open();
    check();
}

TEST_F(JobsTest, AreRefusedWhenTooManyAreUnderWay) {
    open({.running_max = 2});
    may_end_ = false;
    ASSERT_TRUE(begin("count"));
    ASSERT_TRUE(begin("count"));
    EXPECT_EQ(begin("count").error().code, Errc::throttled);
    may_end_ = true;
    jobs_->wait_until_idle();
    EXPECT_TRUE(begin("count"));
}

TEST_F(JobsTest, AreForgottenWithTheirFilesWhileTheyRunAndAfter) {
    may_end_ = false;
    const auto running = begin("count");
    ASSERT_TRUE(running);
    await_begun(1);
    EXPECT_TRUE(remove(*running));
    EXPECT_FALSE(*jobs_->look(*running));
    EXPECT_EQ(remove(*running).error().code, Errc::not_found);
    may_end_ = true;
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
    may_end_ = false;
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
    may_end_ = true;
    jobs_->wait_until_idle();
    EXPECT_TRUE(job_paths().empty());
}

TEST_F(JobsTest, ThatCannotBeRemovedAreThereAsBefore) {
    const auto done = begin("count");
    ASSERT_TRUE(done);
    jobs_->wait_until_idle();
    may_end_ = false;
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
    may_end_ = false;
    const auto id = begin("count");
    ASSERT_TRUE(id);
    bool throttled = false;
    for (int i = 0; i < 100'000 && !throttled; ++i) {
        throttled = !jobs_->look(*id, true);
    }
    EXPECT_TRUE(throttled);
    may_end_ = true;
    jobs_->wait_until_idle();
    for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(jobs_->look(*id, true));
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
    EXPECT_EQ(begun_, 2);
}

}  // namespace
}  // namespace annals::core
