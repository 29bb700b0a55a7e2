#include "core/base/text.h"

#include <gtest/gtest.h>

namespace annals {
namespace {

TEST(Text, IsTheSameButForTheCaseOfAsciiLetters) {
    EXPECT_EQ(ascii_lower("AZ[az\xc3\x84"), "az[az\xc3\x84");
    EXPECT_TRUE(equal_ignoring_case("Content-TYPE", "content-type"));
    EXPECT_FALSE(equal_ignoring_case("@", "`"));
    EXPECT_FALSE(equal_ignoring_case("a", "ab"));
}

TEST(Text, IsTrimmedAtBothEnds) {
    EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
    EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Text, IsATokenByItsCharacters) {
    EXPECT_TRUE(is_token("X-Z_9!"));
    for (const std::string_view text : {"", "a b", "a:b", "a/b", "\xc3\xa4", "[", "@"}) {
        EXPECT_FALSE(is_token(text)) << text;
    }
}

}  // namespace
}  // namespace annals
