#include "tools/commands/destination.h"

#include "tests/support/hook_receiver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace annals::tools {
namespace {

TEST(ServerDestination, SaysThatNothingCanBeStoredOnceItHasWaited) {
    constexpr std::string_view kOutcome =
        R"({"resourceType":"OperationOutcome","issue":[{"code":"no-store"}]})";
    const test::HookReceiver full([&](const auto&, std::size_t before, const auto&) {
        // The second time it asks for more patience than there is.
        return fmt::format("HTTP/1.1 503 -\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n{}",
                           kOutcome.size(), before == 0 ? "" : "Retry-After: 3600\r\n", kOutcome);
    });
    Patience patience;
    patience.longest_wait = std::chrono::hours(1);
    const auto destination = connect_to_server(*parse_server_url(full.url()), patience);
    const auto reply = destination->submit("{}", true);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::no_store);
    EXPECT_EQ(reply.error().detail, "503 no-store");
    EXPECT_EQ(full.received().size(), 2U);
}

}  // namespace
}  // namespace annals::tools
