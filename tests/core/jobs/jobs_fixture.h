// JobsTest: jobs by themselves, with work that does as the test says.

#pragma once

#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <asio/awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {

class JobsTest : public test::ServiceFixture {
  protected:
    /// Whether the work below may end.
    static inline std::atomic<bool> may_end_ = true;
    static inline std::atomic<int> begun_ = 0;  ///< how often work has begun

    static inline std::mutex order_mutex_;
    static inline JobOrder last_order_;  ///< of the work that began last; guarded by order_mutex_

    static JobOrder last_order() {
        const std::lock_guard lock(order_mutex_);
        return last_order_;
    }

    /// Counts in its state to three, as often as it may end each step; then says what it has counted.
    static Result<JobResult> count_to_three(const Service&, JobRun& run) {
        {
            const std::lock_guard lock(order_mutex_);
            last_order_ = run.order();
        }
        ++begun_;
        int count = run.saved().empty() ? 0 : run.saved()[9] - '0';  // {"count":1}
        while (count < 3) {
            run.say(std::to_string(count * 33) + "%");
            while (!may_end_ && !run.stopping()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
        return JobResult{Instant{5'000'000},
                         {{"output", "Patient", "three.ndjson", 3, "in"},
                          {"error", "OperationOutcome", "", 0, ""}}};
    }

    /// Ends when it may, and not when it is to stop.
    static Result<JobResult> take_its_time(const Service&, JobRun&) {
        ++begun_;
        while (!may_end_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return Error{Errc::timeout, "", ""};
    }

    static Result<JobResult> fail(const Service&, JobRun& run) {
        ANNALS_TRY(const auto file,
                   run.files().open(run.path("half"), storage::FileSystem::Mode::create));
        return Error{Errc::no_store, "write /secret/path: no space", ""};
    }

    static JobWork work_of(std::string_view kind) noexcept {
        return kind == "count"  ? count_to_three
               : kind == "slow" ? take_its_time
               : kind == "fail" ? fail
                                : nullptr;
    }

    static asio::awaitable<void> begin_in(Jobs& jobs, Loop& loop, JobOrder order,
                                          std::promise<Result<std::string>>& promise) {
        Result<std::string> id = co_await jobs.begin(loop, std::move(order));
        promise.set_value(std::move(id));
    }

    static asio::awaitable<void> remove_in(Jobs& jobs, Loop& loop, std::string id,
                                           std::promise<Result<void>>& promise) {
        Result<void> removed = co_await jobs.remove(loop, std::move(id));
        promise.set_value(std::move(removed));
    }

    JobsTest() {
        may_end_ = true;
        begun_ = 0;
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
        while (begun_ < count) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

}  // namespace annals::core
