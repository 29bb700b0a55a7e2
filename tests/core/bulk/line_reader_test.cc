#include "core/bulk/line_reader.h"

#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

std::vector<std::string> lines(const std::string& text, std::uint64_t offset, std::size_t max) {
    test::SimFileSystem files;
    files.set_content("f", text);
    LineReader reader(*files.open("f", storage::FileSystem::Mode::read), offset, max);
    std::vector<std::string> found;
    std::string_view line;
    while (*reader.next(line)) {
        found.push_back(reader.too_long() ? "..." : std::string(line));
    }
    EXPECT_EQ(reader.offset(), text.size());
    return found;
}

TEST(LineReader, GivesLinesWhateverTheirEnds) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(lines("a\nb\r\n\nc", 0, 100), (Lines{"a", "b", "", "c"}));
    EXPECT_EQ(lines("a\nb\n", 2, 100), Lines{"b"});
    EXPECT_EQ(lines("", 0, 100), Lines{});
    EXPECT_EQ(lines("aaaa\nbbb\r\ncccc\nddd", 0, 3), (Lines{"...", "bbb", "...", "ddd"}));
    const std::string large(3 << 20, 'x');
    EXPECT_EQ(lines("a\n" + large + "\nb\n", 0, 4 << 20), (Lines{"a", large, "b"}));
    EXPECT_EQ(lines("a\n" + large + "\nb\n", 0, 1000), (Lines{"a", "...", "b"}));
    EXPECT_EQ(lines("a\n" + large, 0, 1000), (Lines{"a", "..."}));
}

}  // namespace
}  // namespace annals::core
