#include "tools/commands/replicate_state.h"

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

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

    ReplicateState longer = kState;
    longer.target.append(100'000, 'x');
    ASSERT_TRUE(write_state(path, longer));
    EXPECT_EQ(*read_state(path, kState.from, kState.to), longer);
}

TEST(ReplicateStateFile, IsRefusedForAnotherPairOfServers) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    ASSERT_TRUE(write_state(path, kState));
    const auto back = read_state(path, kState.from, "http://c/fhir");
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, Errc::usage);
    EXPECT_FALSE(read_state(path, "http://c/fhir", kState.to));
}

TEST(ReplicateStateFile, IsReadWithLinesThatAreNotKnownAndWithoutItsLastLineFeed) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    ASSERT_TRUE(write_state(path, kState));
    test::write_whole_file(path,
                           test::read_whole_file(path) + "toward x\nfromage x\nto\nafternoon");
    const auto back = read_state(path, kState.from, kState.to);
    ASSERT_TRUE(back) << back.error().detail;
    EXPECT_EQ(*back, kState);
}

TEST(ReplicateStateFile, HasAPlaceWhereItCanBeWrittenWhateverAnEarlierAttemptLeft) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    test::write_whole_file(path + ".tmp", "half of it");
    EXPECT_TRUE(check_state_place(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
    EXPECT_FALSE(std::filesystem::exists(path)) << "nothing has been read yet";
    EXPECT_FALSE(check_state_place(directory / "nowhere/state"));
}

TEST(ReplicateStateFile, IsOneProcessesAtATime) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    for (int i = 0; i < 2; ++i) {
        const auto first = lock_state(path);
        ASSERT_TRUE(first) << first.error().detail;
        EXPECT_FALSE(std::filesystem::exists(path));
        const auto second = lock_state(path);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().detail, path + ": in use by another process");
        EXPECT_TRUE(lock_state(directory / "other"));
    }
    EXPECT_FALSE(lock_state(directory / "nowhere/state"));
}

TEST(ReplicateStateFile, IsRefusedWhenItIsSomethingElse) {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "state";
    test::write_whole_file(path, "{}\n");
    EXPECT_FALSE(read_state(path, kState.from, kState.to));
    // Perhaps written by a later Annals.
    ASSERT_TRUE(write_state(path, kState));
    std::string text = test::read_whole_file(path);
    text[text.find('1')] = '2';
    test::write_whole_file(path, text);
    const auto later = read_state(path, kState.from, kState.to);
    ASSERT_FALSE(later);
    EXPECT_NE(later.error().detail.find("is not a state file"), std::string::npos);
}

TEST(Cursor, IsTakenOutOfATarget) {
    EXPECT_EQ(cursor_of("/fhir/_history?_count=5&_cursor=a%3Db"), "a=b");
    EXPECT_EQ(cursor_of("/fhir/_history?_count=5"), "");
    EXPECT_EQ(cursor_of("/fhir/_history"), "");
    EXPECT_EQ(cursor_of("_cursor=a"), "");
}

}  // namespace
}  // namespace annals::tools
