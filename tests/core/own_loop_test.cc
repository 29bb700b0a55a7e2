#include "core/own_loop.h"

#include "tests/support/no_descriptors.h"
#include "tests/support/sim_file_system.h"

#include <asio/awaitable.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace annals::core {
namespace {

class OwnLoopTest : public testing::Test {
  protected:
    OwnLoopTest() {
        auto store = storage::Store::open(disk_, "data", {});
        ANNALS_CHECK(store.has_value());
        store_ = *std::move(store);
    }

    test::SimFileSystem disk_;
    std::unique_ptr<storage::Store> store_;
    Request request_;
};

asio::awaitable<Response> answer_after_a_turn(const Request& request, int status) {
    co_await request.loop->yield();
    Response response;
    response.status = status;
    co_return response;
}

asio::awaitable<Response> answer_late(const Request& request) {
    co_await request.loop->pause(std::chrono::hours(1));
    co_return Response();
}

TEST_F(OwnLoopTest, RunsOneAnswerAfterAnother) {
    OwnLoop own(*store_);
    for (const int status : {200, 404, 503}) {
        const auto response = own.run("test", request_, answer_after_a_turn(request_, status));
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, status);
        EXPECT_EQ(request_.loop, nullptr);
    }
}

TEST_F(OwnLoopTest, GivesUpWhenItIsToStop) {
    OwnLoop own(*store_);
    const auto given_up = own.run("test", request_, answer_late(request_), [] { return true; });
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, Errc::timeout);
    const auto response =
        own.run("test", request_, answer_after_a_turn(request_, 200), [] { return false; });
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
}

TEST_F(OwnLoopTest, SaysThatThereAreNoDescriptorsAndLeavesNoneOpen) {
    OwnLoop own(*store_);
    const int next = test::next_descriptor();
    unsigned left = 0;
    for (bool made = false; !made; ++left) {
        ASSERT_LT(left, 10U);
        const test::NoDescriptors few(left);
        const auto response = own.run("test", request_, answer_after_a_turn(request_, 200));
        made = response.has_value();
        if (!made) {
            EXPECT_EQ(response.error().code, Errc::overloaded);
            EXPECT_EQ(test::next_descriptor(), left == 0 ? -1 : next);
        }
    }
    EXPECT_GT(left, 1U);
}

}  // namespace
}  // namespace annals::core
