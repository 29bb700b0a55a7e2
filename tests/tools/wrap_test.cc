#include "tools/commands/wrap.h"

#include <gtest/gtest.h>

namespace annals::tools {
namespace {

TEST(Wrapped, BreaksAtBlanksAndNeverInsideAWord) {
    EXPECT_EQ(wrapped("", 10), "");
    EXPECT_EQ(wrapped("ten, wide.", 10), "ten, wide.");
    EXPECT_EQ(wrapped("one two three four", 9), "one two\nthree\nfour");
    EXPECT_EQ(wrapped("one two three four", 9, "  "), "one two\n  three\n  four");
    EXPECT_EQ(wrapped("immeasurably long", 5), "immeasurably\nlong");
    EXPECT_EQ(wrapped("immeasurable", 5), "immeasurable");
    EXPECT_EQ(wrapped("a b", 1), "a\nb");
}

}  // namespace
}  // namespace annals::tools
