#include "codec/json/substitution.h"

#include <gtest/gtest.h>

namespace annals::json {
namespace {

TEST(Substitution, MakesStringsReadAsOthersUntilItIsUndone) {
    Parser parser;
    const Document document =
        *parser.parse(R"({"a": "urn:uuid:1", "b": ["x", "urn:uuid:2"], "c": "\u0041"})");
    const Value root = document.root();
    const std::string before(document.text());
    const Value element = *++root["b"].elements().begin();
    {
        Substitution substitution;
        EXPECT_TRUE(substitution.replace(root["a"], R"("Patient/one-that-is-longer-than-it-was")"));
        EXPECT_TRUE(substitution.replace(element, R"("a\"b")"));
        EXPECT_TRUE(substitution.replace(root["c"], R"("plain")"));
        EXPECT_EQ(root["a"].raw_string(), "Patient/one-that-is-longer-than-it-was");
        EXPECT_EQ(root["a"].raw(), R"("Patient/one-that-is-longer-than-it-was")");
        EXPECT_EQ(element.string(), "a\"b");
        EXPECT_TRUE(root["c"].equals("plain"));
        EXPECT_EQ((*root["b"].elements().begin()).string(), "x");
    }
    EXPECT_EQ(root["a"].string(), "urn:uuid:1");
    EXPECT_EQ(element.string(), "urn:uuid:2");
    EXPECT_EQ(root["c"].string(), "A");
    EXPECT_EQ(document.text(), before);
}

TEST(Substitution, RefusesWhatThereIsNoRoomFor) {
    Parser parser;
    const Document document = *parser.parse(R"(["x","y"])");
    const Value first = *document.root().elements().begin();
    Substitution substitution;
    EXPECT_FALSE(substitution.replace(first, '"' + std::string(1 << 20, 'a') + '"'));
    EXPECT_EQ(first.string(), "x");
    int fit = 0;
    const std::string text = '"' + std::string(100, 'a') + '"';
    while (fit < 1000 && substitution.replace(first, text)) {
        ++fit;
    }
    EXPECT_GE(fit, 5);
    EXPECT_LT(fit, 1000);
    substitution.undo();
    EXPECT_EQ(first.string(), "x");
    EXPECT_EQ(document.text(), R"(["x","y"])");
}

}  // namespace
}  // namespace annals::json
