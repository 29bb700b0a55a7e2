// is_same: values that mean the same, and values that only look alike.

#include "codec/json/same.h"
#include "tests/codec/parse.h"

#include <gtest/gtest.h>

#include <string_view>

namespace annals::json {
namespace {

using patch::parse;

bool same(std::string_view a, std::string_view b) {
    const Document one = parse(a);
    const Document other = parse(b);
    EXPECT_EQ(is_same(one.root(), other.root()), is_same(other.root(), one.root()));
    return is_same(one.root(), other.root());
}

TEST(JsonSame, DoesNotMindEscapesAndTheOrderOfMembers) {
    EXPECT_TRUE(same(R"({"a":"\u00e4\/","b":[1,{"c":null,"d":true}]})",
                     R"({"b":[1,{"d":true,"\u0063":null}],"a":"ä/"})"));
    EXPECT_TRUE(is_same(Value(), Value()));
}

TEST(JsonSame, TellsApartWhatSaysSomethingElse) {
    EXPECT_FALSE(same(R"({"a":1.0})", R"({"a":1.00})"));
    EXPECT_FALSE(same(R"({"a":[1,2]})", R"({"a":[2,1]})"));
    EXPECT_FALSE(same(R"({"a":[1]})", R"({"a":[1,1]})"));
    EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
    EXPECT_FALSE(same(R"({"a":"1"})", R"({"a":1})"));
    EXPECT_FALSE(same(R"({"a":true})", R"({"a":false})"));
    EXPECT_FALSE(same(R"({"a":null})", R"({"a":{}})"));
    EXPECT_FALSE(same(R"({"a":[]})", R"({"a":{}})"));
    const Document document = parse(R"({"a":""})");
    EXPECT_FALSE(is_same(document.root()["a"], document.root()["b"]));
}

}  // namespace
}  // namespace annals::json
