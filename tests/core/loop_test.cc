#include "core/loop.h"

#include "core/interactions/turns.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <chrono>
#include <future>
#include <thread>

namespace annals::test {
namespace {

/// A loop over a simulated disk, on a thread of its own.
class Loops : public testing::Test {
  protected:
    Loops() {
        auto store = storage::Store::open(disk_, "data", {});
        ANNALS_CHECK(store.has_value());
        store_ = std::move(*store);
        loop_ = std::make_unique<core::Loop>(*store_);
        thread_ = std::thread([this] { loop_->run(); });
    }

    ~Loops() override {
        loop_->stop();
        thread_.join();
        loop_.reset();
    }

    storage::Submission submit(const std::string& id) {
        CommitBuilder commit;
        commit.put("Patient", id, "text");
        return store_->submit(commit.commit());
    }

    /// On the loop's thread.
    void start(asio::awaitable<void> task) { core::spawn(*loop_, "test", std::move(task)); }

    SimFileSystem disk_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Loop> loop_;
    std::thread thread_;
};

asio::awaitable<void> tell(std::promise<void>* begun) {
    begun->set_value();
    co_return;
}

asio::awaitable<void> wait_for(core::Loop* loop, storage::Ticket ticket, int number,
                               std::vector<int>* order, std::promise<Errc>* done) {
    const Result<void> settled = co_await loop->settled_ticket(ticket);
    order->push_back(number);
    done->set_value(settled ? Errc::usage : settled.error().code);
}

TEST_F(Loops, WakeWhatWaitsInTheOrderOfItsArrival) {
    constexpr int kCount = 50;
    std::vector<std::promise<Errc>> done(kCount);
    std::vector<int> order;
    std::promise<void> all_wait;
    disk_.hold_syncs();
    loop_->post([&] {
        for (int i = 0; i < kCount; ++i) {
            const storage::Submission submission = submit(std::to_string(i));
            EXPECT_EQ(submission.status, storage::Submission::Status::accepted);
            start(wait_for(loop_.get(), submission.ticket, i, &order,
                           &done[static_cast<std::size_t>(i)]));
        }
        start(tell(&all_wait));  // begins after the others
    });
    disk_.await_held_sync();
    all_wait.get_future().wait();  // so that none begins when all has settled
    disk_.release_syncs();
    for (std::promise<Errc>& one : done) {
        EXPECT_EQ(one.get_future().get(), Errc::usage);
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(store_->last_position().value, static_cast<std::uint64_t>(kCount));
}

TEST_F(Loops, AnswerAtOnceForWhatHasSettled) {
    const storage::Submission submission = submit("1");
    ASSERT_TRUE(store_->wait(submission.ticket));
    std::vector<int> order;
    std::promise<Errc> done;
    std::promise<Errc> nothing;
    loop_->post([&] {
        start(wait_for(loop_.get(), submission.ticket, 1, &order, &done));
        start(wait_for(loop_.get(), storage::Ticket{}, 2, &order, &nothing));
    });
    EXPECT_EQ(done.get_future().get(), Errc::usage);
    EXPECT_EQ(nothing.get_future().get(), Errc::usage);
}

TEST_F(Loops, TellThoseWhoseCommitsWereDropped) {
    std::vector<int> order;
    std::promise<Errc> early;
    std::promise<Errc> late;
    disk_.fail_next(SimFileSystem::Call::sync, Errc::io);
    storage::Ticket ticket;
    loop_->post([&] {
        ticket = submit("1").ticket;
        start(wait_for(loop_.get(), ticket, 1, &order, &early));
    });
    EXPECT_EQ(early.get_future().get(), Errc::no_store);
    loop_->post([&] { start(wait_for(loop_.get(), ticket, 2, &order, &late)); });
    EXPECT_EQ(late.get_future().get(), Errc::no_store);
}

asio::awaitable<void> wait_afterwards(core::Loop* loop, storage::Ticket ticket,
                                      std::promise<Errc>* done) {
    asio::awaitable<Result<void>> begun_late = loop->settled_ticket(ticket);
    (void)co_await loop->settled_ticket(ticket);
    const Result<void> settled = co_await std::move(begun_late);
    done->set_value(settled ? Errc::usage : settled.error().code);
}

TEST_F(Loops, AnswerWhoBeginsToWaitForWhatHasSettledMeanwhile) {
    std::promise<Errc> stored;
    std::promise<Errc> dropped;
    loop_->post([&] { start(wait_afterwards(loop_.get(), submit("1").ticket, &stored)); });
    EXPECT_EQ(stored.get_future().get(), Errc::usage);
    disk_.fail_next(SimFileSystem::Call::sync, Errc::io);
    loop_->post([&] { start(wait_afterwards(loop_.get(), submit("2").ticket, &dropped)); });
    EXPECT_EQ(dropped.get_future().get(), Errc::no_store);
}

asio::awaitable<void> take_turns(core::Loop* loop, std::promise<void>* begun,
                                 std::promise<Errc>* done) {
    core::Turns turns(*loop, std::chrono::hours(1));
    Result<void> in_time = co_await turns.next();
    begun->set_value();
    while (in_time) {
        in_time = co_await turns.next();
    }
    done->set_value(in_time.error().code);
}

TEST_F(Loops, EndWhatTakesTurnsWhenNobodyWaitsForItAnyMore) {
    std::promise<void> begun;
    std::promise<Errc> done;
    loop_->post([&] { start(take_turns(loop_.get(), &begun, &done)); });
    begun.get_future().wait();
    loop_->post([&] { loop_->give_up(); });
    EXPECT_EQ(done.get_future().get(), Errc::timeout);
}

/// Counts how often it was called.
struct Preparation final : core::Meanwhile {
    void prepare() override {
        if (++count == 1) {
            begun.set_value();
        }
    }

    int count = 0;
    std::promise<void> begun;
};

asio::awaitable<void> wait_prepared(core::Loop* loop, storage::Ticket ticket,
                                    Preparation* preparation, std::promise<Errc>* done) {
    const Result<void> settled = co_await loop->settled_ticket(ticket, preparation);
    done->set_value(settled ? Errc::usage : settled.error().code);
}

TEST_F(Loops, HaveThoseWhoWaitPrepareOnceWhileTheDeviceIsBusy) {
    Preparation first;
    Preparation second;
    std::promise<Errc> first_done;
    std::promise<Errc> second_done;
    disk_.hold_syncs();
    loop_->post(
        [&] { start(wait_prepared(loop_.get(), submit("1").ticket, &first, &first_done)); });
    first.begun.get_future().wait();
    disk_.await_held_sync();
    loop_->post(
        [&] { start(wait_prepared(loop_.get(), submit("2").ticket, &second, &second_done)); });
    second.begun.get_future().wait();
    std::future<Errc> stored = first_done.get_future();
    EXPECT_EQ(stored.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    disk_.release_syncs();
    EXPECT_EQ(stored.get(), Errc::usage);
    EXPECT_EQ(second_done.get_future().get(), Errc::usage);
    EXPECT_EQ(first.count, 1);
    EXPECT_EQ(second.count, 1);
}

TEST_F(Loops, FlushWhenTheyRunDry) {
    // Only the loop itself calls flush().
    std::vector<int> order;
    std::promise<Errc> done;
    loop_->post([&] { start(wait_for(loop_.get(), submit("1").ticket, 1, &order, &done)); });
    EXPECT_EQ(done.get_future().get(), Errc::usage);
}

asio::awaitable<void> spin(core::Loop* loop, const std::atomic<bool>* stop,
                           std::promise<void>* ended) {
    while (!stop->load()) {
        co_await loop->yield();
    }
    ended->set_value();
}

TEST_F(Loops, HaveNobodyPrepareWhoseWaitIsOverBeforeTheyRunDry) {
    std::atomic<bool> stop{false};
    std::promise<void> ended;
    Preparation preparation;
    std::promise<Errc> done;
    loop_->post([&] {
        start(spin(loop_.get(), &stop, &ended));
        start(wait_prepared(loop_.get(), submit("1").ticket, &preparation, &done));
    });
    EXPECT_EQ(done.get_future().get(), Errc::usage);
    stop.store(true);
    ended.get_future().wait();
    std::promise<Errc> dry;
    std::vector<int> order;
    loop_->post([&] { start(wait_for(loop_.get(), submit("2").ticket, 1, &order, &dry)); });
    EXPECT_EQ(dry.get_future().get(), Errc::usage);
    EXPECT_EQ(preparation.count, 0);
}

TEST_F(Loops, FlushWhileTheyAreBusy) {
    std::atomic<bool> stop{false};
    std::promise<void> ended;
    std::vector<int> order;
    std::promise<Errc> done;
    loop_->post([&] { start(spin(loop_.get(), &stop, &ended)); });
    loop_->post([&] { start(wait_for(loop_.get(), submit("1").ticket, 1, &order, &done)); });
    EXPECT_EQ(done.get_future().get(), Errc::usage);
    stop = true;
    ended.get_future().get();
}

TEST_F(Loops, RunWhatOtherThreadsPost) {
    constexpr int kThreads = 4;
    constexpr int kEach = 2000;
    std::vector<int> seen(kThreads);
    int out_of_turn = 0;
    int all = 0;
    std::promise<void> done;
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back([&, number] {
            for (int i = 0; i < kEach; ++i) {
                loop_->post([&, number, i] {
                    out_of_turn += seen[static_cast<std::size_t>(number)]++ == i ? 0 : 1;
                    if (++all == kThreads * kEach) {
                        done.set_value();
                    }
                });
                if (i % 100 == 0) {  // lets the loop fall asleep, too
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    done.get_future().get();
    EXPECT_EQ(out_of_turn, 0);
}

TEST_F(Loops, RunWhatIsPostedWhileTheyRunWhatWasPosted) {
    std::promise<void> done;
    loop_->post([&] { loop_->post([&] { loop_->post([&] { done.set_value(); }); }); });
    done.get_future().get();
}

TEST(LoopsThatEnd, DropWhatTheyHaveNotRun) {
    SimFileSystem disk;
    auto store = storage::Store::open(disk, "data", {});
    ASSERT_TRUE(store);
    auto loop = std::make_unique<core::Loop>(**store);
    const auto owned = std::make_shared<int>();
    bool ran = false;
    loop->stop();
    loop->post([owned, &ran] { ran = true; });
    loop->run();
    EXPECT_EQ(owned.use_count(), 2);
    loop.reset();
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_FALSE(ran);
}

TEST(LoopsThatEnd, LetGoOfThoseWhoStillWait) {
    SimFileSystem disk;
    auto store = storage::Store::open(disk, "data", {});
    ASSERT_TRUE(store);
    auto loop = std::make_unique<core::Loop>(**store);
    std::vector<int> order;
    std::promise<Errc> never;
    disk.hold_syncs();
    CommitBuilder commit;
    commit.put("Patient", "1", "text");
    const storage::Submission submission = (*store)->submit(commit.commit());
    core::spawn(*loop, "test", wait_for(loop.get(), submission.ticket, 1, &order, &never));
    std::thread thread([&] { loop->run(); });
    disk.await_held_sync();
    loop->stop();
    thread.join();
    loop.reset();  // leaks nothing, or AddressSanitizer would tell
    EXPECT_TRUE(order.empty());
    disk.release_syncs();
}

asio::awaitable<void> fail() {
    throw std::runtime_error("out of the coroutine");
    co_return;
}

TEST(SpawnDeathTest, AbortsWhenAnExceptionEscapes) {
    EXPECT_DEATH(
        {
            SimFileSystem disk;
            auto store = storage::Store::open(disk, "data", {});
            core::Loop loop(**store);
            core::spawn(loop, "failing", fail());
            loop.run();
        },
        "failing.*out of the coroutine");
}

}  // namespace
}  // namespace annals::test
