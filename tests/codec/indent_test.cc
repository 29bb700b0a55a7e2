#include "codec/json/indent.h"

#include "codec/json/document.h"

#include <gtest/gtest.h>

namespace annals::json {
namespace {

std::string indented(std::string_view text, std::size_t portion) {
    Indenter indenter;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += portion) {
        indenter.add(text.substr(i, portion), out);
    }
    return out;
}

TEST(Indenter, BreaksLinesAndIndentsByTwo) {
    EXPECT_EQ(indented(R"({"a":1.00,"b":[{"c":"x"},2],"d":{}})", 100),
              "{\n  \"a\": 1.00,\n  \"b\": [\n    {\n      \"c\": \"x\"\n    },\n    2\n  ],\n"
              "  \"d\": {}\n}");
}

TEST(Indenter, KeepsEmptyPairsTogether) {
    EXPECT_EQ(indented("[]", 100), "[]");
    EXPECT_EQ(indented("[[],{}]", 100), "[\n  [],\n  {}\n]");
}

TEST(Indenter, LeavesStringsAlone) {
    constexpr std::string_view kText = R"({"a":"{[,:]} \" \\","b\\":"\u00e9"})";
    EXPECT_EQ(indented(kText, 100),
              "{\n  \"a\": \"{[,:]} \\\" \\\\\",\n  \"b\\\\\": \"\\u00e9\"\n}");
}

TEST(Indenter, TakesPortionsThatEndAnywhere) {
    constexpr std::string_view kText =
        R"({"resourceType":"Patient","name":[{"family":"a\"b\\","given":[]}],"active":true})";
    const std::string whole = indented(kText, kText.size());
    for (std::size_t portion = 1; portion < 20; ++portion) {
        EXPECT_EQ(indented(kText, portion), whole) << portion;
    }
}

TEST(Indenter, ChangesNothingButWhiteSpace) {
    constexpr std::string_view kText =
        R"({"v":[1.0,-2e5,null,true,"a b\n",{"x":[{"y":[[1]]}]}],"w":"\\\" "})";
    Parser parser;
    const auto parsed = parser.parse(indented(kText, 3));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->text(), kText);
}

}  // namespace
}  // namespace annals::json
