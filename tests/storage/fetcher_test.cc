#include "storage/fetcher.h"

#include "tests/support/no_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <vector>

namespace annals::storage {
namespace {

TEST(Fetcher, DoesWhatWasAddedBeforeItEnds) {
    std::atomic<int> done{0};
    {
        Fetcher fetcher;
        for (int i = 0; i < 1000; ++i) {
            fetcher.add([&done] { ++done; });
        }
    }
    EXPECT_EQ(done, 1000);
}

TEST(Fetcher, DoesAsMuchSideBySideAsItHasThreads) {
    std::latch all_there(Fetcher::kThreadsMax);
    Fetcher fetcher;
    for (std::size_t i = 0; i < Fetcher::kThreadsMax; ++i) {
        // Each piece of work waits for all the others.
        fetcher.add([&all_there] { all_there.arrive_and_wait(); });
    }
    all_there.wait();
}

TEST(Fetcher, TakesWorkInItsOrder) {
    std::mutex mutex;
    std::vector<int> begun;
    std::latch held(1);
    {
        Fetcher fetcher;
        for (std::size_t i = 0; i < Fetcher::kThreadsMax - 1; ++i) {
            fetcher.add([&held] { held.wait(); });
        }
        // All threads but one are blocked.
        for (int i = 0; i < 100; ++i) {
            fetcher.add([&, i] {
                const std::lock_guard lock(mutex);
                begun.push_back(i);
                if (begun.size() == 100) {
                    held.count_down();
                }
            });
        }
    }
    ASSERT_EQ(begun.size(), 100U);
    EXPECT_TRUE(std::is_sorted(begun.begin(), begun.end()));
}

TEST(Fetcher, DoesWorkAtOnceWhereThereIsNoThreadForIt) {
    const test::NoThreads none;
    Fetcher fetcher;
    bool done = false;
    fetcher.add([&done] { done = true; });
    EXPECT_TRUE(done);
}

TEST(Fetcher, TakesWorkFromItsOwnThreads) {
    std::atomic<int> done{0};
    std::latch last(1);
    Fetcher fetcher;
    fetcher.add([&] {
        ++done;
        fetcher.add([&] {
            ++done;
            last.count_down();
        });
    });
    last.wait();
    EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace annals::storage
