#include "core/operations/parameters_writer.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace annals::core {
namespace {

TEST(ParametersWriter, WritesParametersAndTheirPartsInOrder) {
    ParametersWriter out;
    out.begin_parts("first");
    out.begin_parts("inner");
    out.add_flag("flag", true);
    out.add_number("number", 1);
    out.end_parts();
    out.add_text("text", "valueString", "[");
    out.end_parts();
    out.add("second", "valueInteger", "2");
    EXPECT_EQ(out.resource(),
              R"({"resourceType":"Parameters","parameter":[)"
              R"({"name":"first","part":[{"name":"inner","part":[)"
              R"({"name":"flag","valueBoolean":true},{"name":"number","valueDecimal":1}]},)"
              R"({"name":"text","valueString":"["}]},)"
              R"({"name":"second","valueInteger":2}]})");
}

TEST(ParametersWriter, AppendsAnother) {
    ParametersWriter none;
    ParametersWriter one;
    one.add_flag("flag", true);
    ParametersWriter out;
    out.append(none);
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(out.list(), "[]");
    out.append(one);
    out.append(none);
    EXPECT_EQ(out.list(), one.list());
    EXPECT_EQ(out.size(), one.size());
    out.append(one);
    EXPECT_EQ(out.list(),
              R"([{"name":"flag","valueBoolean":true},{"name":"flag","valueBoolean":true}])");
    EXPECT_EQ(none.resource(), R"({"resourceType":"Parameters"})");
}

TEST(ParametersWriter, CopiesNothingOfALongText) {
    constexpr std::size_t kRoom = 10'000;
    ParametersWriter out;
    out.reserve(kRoom);
    out.add_text("text", "valueString", "some");
    // The memory that was reserved is given away: a copy would be no larger than the text.
    EXPECT_GE(out.resource().capacity(), kRoom);
}

}  // namespace
}  // namespace annals::core
