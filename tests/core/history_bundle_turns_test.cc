// How long a history bundle keeps others waiting.

#include "core/interactions/history_bundle.h"
#include "core/own_loop.h"
#include "tests/core/history_bundle_fixture.h"

#include <asio/awaitable.hpp>

namespace annals::core {
namespace {

asio::awaitable<void> count_turns(Loop& loop, const bool& over, int& turns) {
    while (!over) {
        co_await loop.yield();
        ++turns;
    }
}

asio::awaitable<Response> answer_counting(const Service& service, const Request& request,
                                          int& turns) {
    bool over = false;
    spawn(*request.loop, "turns", count_turns(*request.loop, over, turns));
    Response response = co_await handle(service, request);
    over = true;
    co_await request.loop->yield();
    co_return response;
}

TEST(HistoryBundle, ComparesLargeEntriesInTurns) {
    TestService server;
    std::string photos;
    for (int i = 0; i < 10'000; ++i) {
        photos += R"({"title":"title"},)";
    }
    photos += R"({"title":"title"}])";
    std::vector<std::string> entries;
    std::vector<std::string> others;
    for (int i = 0; i < 100; ++i) {
        const std::string id = std::to_string(i);
        entries.push_back(version_entry(id, 1, R"("active":true,"photo":[)" + photos));
        others.push_back(version_entry(id, 1, R"("photo":[)" + photos + R"(,"active":true)"));
    }
    post_history(server, entries);
    const std::string bundle = bundle_of("history", others);
    Request request;
    request.method = HttpMethod::post;
    request.body = bundle;
    request.base_url = kBase;
    OwnLoop loop(server.store());
    int turns = 0;
    const Result<Response> answer =
        loop.run("test", request, answer_counting(server.service(), request, turns));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_GT(turns, 4) << "as many as take 10 ms each, or 128 entries";
}

}  // namespace
}  // namespace annals::core
