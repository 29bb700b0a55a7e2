#include "core/base/start_thread.h"

#include "tests/support/no_threads.h"

#include <gtest/gtest.h>

#include <sys/prctl.h>

#include <array>
#include <string>

namespace annals {
namespace {

TEST(StartThread, DoesItsWorkUnderItsName) {
    std::string name;
    auto thread = start_thread("named", [&] {
        std::array<char, 16> text{};
        ::prctl(PR_GET_NAME, text.data());
        name = text.data();
    });
    ASSERT_TRUE(thread);
    thread->join();
    EXPECT_EQ(name, "named");
}

TEST(StartThread, SaysWhereTheSystemHasNone) {
    {
        const test::NoThreads none;
        const auto thread = start_thread("refused", [] { FAIL(); });
        ASSERT_FALSE(thread);
        EXPECT_EQ(thread.error().code, Errc::overloaded);
        EXPECT_NE(thread.error().detail.find("refused"), std::string::npos);
    }
    EXPECT_TRUE(start_thread("there", [] {}));
}

}  // namespace
}  // namespace annals
