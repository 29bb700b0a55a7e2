#include "tools/commands/replicate_state.h"

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace annals::tools {
namespace {

const ReplicateState kState = {"http://a/fhir", "http://b/fhir", "/fhir/_history?_cursor=x%3D", 7};

TEST(ReplicateStateFile, ComesBackAsItWasWritten) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    EXPECT_FALSE(*read_state(path, kState.from, kState.to));
    ASSERT_TRUE(write_state(path, kState));
    ASSERT_TRUE(write_state(path, kState));
    const auto back = read_state(path, kState.from, kState.to);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, kState);
}

TEST(ReplicateStateFile, IsRefusedForAnotherPairOfServers) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    ASSERT_TRUE(write_state(path, kState));
    const auto back = read_state(path, kState.from, "http://c/fhir");
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, Errc::usage);
}

TEST(ReplicateStateFile, IsRefusedWhenItIsSomethingElse) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    test::write_whole_file(path, "{}\n");
    EXPECT_FALSE(read_state(path, kState.from, kState.to));
}

TEST(Cursor, IsTakenOutOfATarget) {
    EXPECT_EQ(cursor_of("/fhir/_history?_count=5&_cursor=a%3Db"), "a=b");
    EXPECT_EQ(cursor_of("/fhir/_history?_count=5"), "");
    EXPECT_EQ(cursor_of("/fhir/_history"), "");
}

}  // namespace
}  // namespace annals::tools
