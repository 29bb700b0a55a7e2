#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>

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

TEST(Number, IsAllOfTheText) {
    EXPECT_EQ(parse_number("0"), 0U);
    EXPECT_EQ(parse_number("18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_number("fF", 16), 255U);
    for (const std::string_view text :
         {"", "-1", "+1", " 1", "1 ", "1.0", "x", "18446744073709551616"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
    EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
    EXPECT_FALSE(parse_number<std::uint16_t>("65536"));
}

}  // namespace
}  // namespace annals
