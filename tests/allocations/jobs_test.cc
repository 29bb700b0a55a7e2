// The memory that jobs keep after their end.

#include "core/jobs/jobs.h"

#include "storage/file_system.h"
#include "tests/allocations/counted_heap.h"
#include "tests/support/service_fixture.h"
#include "tests/support/temporary_directory.h"

#include <asio/awaitable.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>

namespace annals::core {
namespace {

class JobsMemory : public test::ServiceFixture {
  protected:
    static Result<JobResult> do_nothing(const Service&, JobRun&) { return JobResult{}; }

    static JobWork work_of(std::string_view) noexcept { return do_nothing; }

    static asio::awaitable<void> begin_in(Jobs& jobs, Loop& loop, JobOrder order,
                                          std::promise<Result<std::string>>& promise) {
        Result<std::string> id = co_await jobs.begin(loop, std::move(order));
        promise.set_value(std::move(id));
    }

    std::unique_ptr<Jobs> open() {
        auto jobs = std::make_unique<Jobs>(service(), storage::posix_file_system(),
                                           directory_.path(), JobsOptions{.work = work_of});
        jobs->start();
        return jobs;
    }

    test::TemporaryDirectory directory_;
};

TEST_F(JobsMemory, AfterTheirEndIsNotThatOfTheirTasks) {
    const std::int64_t before = test::held_bytes.load();
    std::unique_ptr<Jobs> jobs = open();
    for (int i = 0; i < 4; ++i) {
        std::promise<Result<std::string>> promise;
        loop().post([&] {
            JobOrder order;
            order.kind = "nothing";
            order.task = fmt::format(R"({{"patients":"{}"}})", std::string(4 << 20, 'p'));
            spawn(loop(), "begin", begin_in(*jobs, loop(), std::move(order), promise));
        });
        ASSERT_TRUE(promise.get_future().get());
        jobs->wait_until_idle();
    }
    on_loop([] {});
    EXPECT_LT(test::held_bytes.load() - before, 1 << 20);
    jobs.reset();  // two at once must not share a directory
    jobs = open();
    EXPECT_LT(test::held_bytes.load() - before, 1 << 20) << "after a restart";
}

}  // namespace
}  // namespace annals::core
