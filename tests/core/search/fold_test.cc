#include "core/search/fold.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

TEST(Fold, TakesCaseAway) {
    EXPECT_EQ(fold("Peter CHALMERS"), "peter chalmers");
    EXPECT_EQ(fold("ÉCOLE"), "ecole");
    EXPECT_EQ(fold("ΑΘΗΝΑΣ"), fold("αθηνας"));
}

TEST(Fold, TakesAccentsAwayComposedAndDecomposed) {
    EXPECT_EQ(fold("Müller"), "muller");
    EXPECT_EQ(fold("Mu\u0308ller"), "muller");
    EXPECT_EQ(fold("Nguyễn"), "nguyen");
    EXPECT_EQ(fold("İstanbul"), "istanbul");
}

TEST(Fold, WritesOutLettersThatDoNotDecompose) {
    EXPECT_EQ(fold("Søren Æbelø"), "soren aebelo");
    EXPECT_EQ(fold("Straße"), "strasse");
    EXPECT_EQ(fold("Łódź"), "lodz");
    EXPECT_EQ(fold("ﬁnger ½"), "finger 1⁄2");
}

TEST(Fold, CollapsesWhiteSpace) {
    EXPECT_EQ(fold("  a \t\r\n b\u00a0\u3000c  "), "a b c");
    EXPECT_EQ(fold("a\u1680b\u2028c\u2029\u0085d\u2028"), "a b c d");
    EXPECT_EQ(fold(" \n "), "");
    EXPECT_EQ(fold(""), "");
}

TEST(Fold, KeepsPunctuationAndOtherScripts) {
    EXPECT_EQ(fold("O'Brien-Smith, Jr."), "o'brien-smith, jr.");
    EXPECT_EQ(fold("山田 太郎"), "山田 太郎");
    EXPECT_EQ(fold("ｱｲｳ"), fold("アイウ"));
}

TEST(Fold, CutsAfterAThousandCharacters) {
    EXPECT_EQ(fold(std::string(5000, 'A')), std::string(1000, 'a'));
    std::string wide;
    for (int i = 0; i < 1500; ++i) {
        wide += "山";
    }
    EXPECT_EQ(fold(wide).size(), 3000u);
}

TEST(Fold, DoesTheSameToALongTextWhateverStandsInIt) {
    for (const std::size_t size : {15U, 16U, 17U, 31U, 32U, 33U, 40U}) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int value = 0; value < 0x80; ++value) {
                std::string text =
                    std::string("A plain Text of WORDS, with Blanks between").substr(0, size);
                text[at] = static_cast<char>(value);
                // After a letter outside of ASCII, characters are folded one by one.
                ASSERT_EQ("e " + fold(text), fold("\u00e9 " + text)) << text;
            }
        }
    }
}

TEST(Fold, PassesOverWhatIsNoUtf8) {
    EXPECT_EQ(fold("a\xff\xc3z"), "az");
}

}  // namespace
}  // namespace annals::core::search
