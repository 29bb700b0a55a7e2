#include "tools/commands/destination.h"

#include "tests/support/http_endpoint.h"

#include <gtest/gtest.h>

#include <chrono>

namespace annals::tools {
namespace {

TEST(ServerDestination, SaysThatNothingCanBeStoredOnceItHasWaited) {
    const test::HttpEndpoint full([](const std::string&) {
        return test::HttpEndpoint::Answer{
            503, R"({"resourceType":"OperationOutcome","issue":[{"code":"no-store"}]})"};
    });
    Patience patience;
    patience.give_up_after = std::chrono::milliseconds(250);
    const auto destination = connect_to_server(*parse_server_url(full.url()), patience);
    const auto reply = destination->submit("{}", true);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::no_store);
    EXPECT_EQ(reply.error().detail, "503 no-store");
    EXPECT_GT(full.requests(), 1);
}

}  // namespace
}  // namespace annals::tools
