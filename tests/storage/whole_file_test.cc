#include "storage/whole_file.h"

#include "storage/file_system.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using test::SimFileSystem;

TEST(WholeFile, IsReadUpToItsBound) {
    SimFileSystem fs;
    EXPECT_EQ(read_whole(fs, "d/f", 10).error().code, Errc::not_found);
    fs.set_content("d/f", "0123456789");
    EXPECT_EQ(*read_whole(fs, "d/f", 10), "0123456789");
    EXPECT_EQ(read_whole(fs, "d/f", 9).error().code, Errc::corrupt);
    fs.set_content("d/f", "");
    EXPECT_EQ(*read_whole(fs, "d/f", 0), "");
}

/// The power is cut at each call of a replacement: the file is as
/// before or as it should become, and the next replacement works.
TEST(WholeFile, IsReplacedAsAWholeWhereverThePowerIsCut) {
    for (std::uint64_t n = 1;; ++n) {
        SimFileSystem fs;
        ASSERT_TRUE(fs.make_directory("d"));
        ASSERT_TRUE(replace_file(fs, "d/f", "before"));
        fs.power_off_at(n);
        const bool cut = !replace_file(fs, "d/f", "after");
        for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
            const auto left = fs.after_power_cut(seed);
            const std::string text = left->content("d/f");
            EXPECT_TRUE(text == "after" || (cut && text == "before")) << n << ": " << text;
            ASSERT_TRUE(replace_file(*left, "d/f", "next"));
            EXPECT_EQ(left->content("d/f"), "next");
            EXPECT_FALSE(left->exists("d/f.tmp"));
        }
        if (!cut) {
            break;
        }
    }
}

TEST(WholeFile, ThatIsNotReplacedLeavesNoneThatTakesRoom) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("d"));
    ASSERT_TRUE(replace_file(fs, "d/f", "before"));
    using enum SimFileSystem::Call;
    for (const SimFileSystem::Call call : {write, sync, rename}) {
        fs.fail_next(call, Errc::no_store);
        EXPECT_EQ(replace_file(fs, "d/f", "after").error().code, Errc::no_store);
        EXPECT_EQ(fs.content("d/f"), "before");
        EXPECT_FALSE(fs.exists("d/f.tmp"));
    }
}

TEST(WholeFile, IsWrittenOnAfterItsReplacement) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("d"));
    const auto file = replace_and_open(fs, "d/f", "a line\n", false);
    ASSERT_TRUE(file) << file.error().detail;
    ASSERT_TRUE((*file)->write(7, "another\n"));
    EXPECT_EQ(fs.content("d/f"), "a line\nanother\n");
}

TEST(WholeFile, IsInTheWorkingDirectoryIfItsPathHasNoFolder) {
    EXPECT_EQ(directory_of("d/f"), "d");
    EXPECT_EQ(directory_of("f"), ".");
    EXPECT_TRUE(posix_file_system().sync_directory("."));
}

TEST(WholeFile, IsCopiedUpToItsBoundUnlessSomebodyEndsIt) {
    SimFileSystem fs;
    ASSERT_TRUE(fs.make_directory("d"));
    const std::string large = std::string(1 << 20, 'a') + std::string(1 << 20, 'b') + "c";
    fs.set_content("d/from", large);
    ASSERT_TRUE(copy_file(fs, "d/from", "d/all", large.size()));
    EXPECT_TRUE(fs.content("d/all") == large);
    ASSERT_TRUE(copy_file(fs, "d/from", "d/part", 100));
    EXPECT_EQ(fs.content("d/part"), large.substr(0, 100));
    EXPECT_EQ(copy_file(fs, "d/from", "d/more", large.size() + 1).error().code, Errc::corrupt);
    int pieces = 0;
    const auto go_on = [&] {
        return ++pieces == 2 ? Result<void>(Error{Errc::expired, "", ""}) : Result<void>();
    };
    EXPECT_EQ(copy_file(fs, "d/from", "d/ended", large.size(), go_on).error().code, Errc::expired);
    EXPECT_EQ(pieces, 2);
    const auto file = fs.open("d/large", FileSystem::Mode::create);
    ASSERT_TRUE(write_large(**file, large));
    EXPECT_TRUE(fs.content("d/large") == large);
}

}  // namespace
}  // namespace annals::storage
