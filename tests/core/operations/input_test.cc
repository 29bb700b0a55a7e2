// What operations are given, from well-formed to hostile.

#include "core/operations/input.h"

#include <gmock/gmock.h>

namespace annals::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Request request_of(std::string_view query, std::string_view body = {}) {
    Request request;
    request.method = body.empty() ? HttpMethod::get : HttpMethod::post;
    request.query = query;
    request.body = body;
    return request;
}

Result<OperationInput> read(std::string_view query, std::string_view body = {}) {
    return OperationInput::read(request_of(query, body));
}

Errc refusal(std::string_view query, std::string_view body = {}) {
    const Result<OperationInput> input = read(query, body);
    return input ? Errc::usage : input.error().code;
}

std::string parameters(std::string_view list) {
    return R"({"resourceType":"Parameters","parameter":[)" + std::string(list) + "]}";
}

TEST(OperationInput, ReadsTheQueryAndThenTheBody) {
    const auto input =
        read("type=Patient&x=a%20b", parameters(R"({"name":"type","valueCode":"Group"},
        {"name":"n","valueInteger":7},{"name":"d","valueDecimal":1.50},{"name":"b","valueBoolean":true},
        {"name":"esc","valueString":"a\u00e9\"b"})"));
    ASSERT_TRUE(input);
    EXPECT_THAT(*input->texts("type"), ElementsAre("Patient", "Group"));
    EXPECT_EQ(**input->text("x"), "a b");
    EXPECT_EQ(**input->number("n"), 7u);
    EXPECT_EQ(**input->text("d"), "1.50");
    EXPECT_TRUE(**input->boolean("b"));
    EXPECT_EQ(**input->text("esc"), "a\u00e9\"b");
    EXPECT_FALSE(*input->text("none"));
    EXPECT_THAT(*input->texts("none"), IsEmpty());
    EXPECT_THAT(*input->names(), ElementsAre("b", "d", "esc", "n", "type", "x"));
    EXPECT_TRUE(input->has("n"));
    EXPECT_FALSE(input->has("none"));
    EXPECT_FALSE(input->bare_resource());
}

TEST(OperationInput, GivesResourcesComplexValuesAndParts) {
    auto read_one =
        read("", parameters(R"({"name":"r","resource":{"resourceType":"Patient","id":"a"}},
        {"name":"c","valueCoding":{"system":"s","code":"x"}},
        {"name":"p","part":[{"name":"q","valueUri":"u"},{"name":"n","valueInteger":3}]},
        {"name":"p","part":[{"name":"q","valueUri":"v"}]})"));
    ASSERT_TRUE(read_one);
    const OperationInput input = *std::move(read_one);
    EXPECT_TRUE(input.resource("r")["id"].equals("a"));
    EXPECT_FALSE(input.resource("c"));
    EXPECT_TRUE(input.value("c")["code"].equals("x"));
    EXPECT_FALSE(input.value("r"));
    const std::vector<json::Value> parts = *input.parts("p");
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(text_of(part_of(parts[0], "q")), "u");
    EXPECT_EQ(text_of(part_of(parts[0], "n")), "3");
    EXPECT_FALSE(part_of(parts[1], "n"));
    const json::Value coded = input.parts("c")->front();
    EXPECT_FALSE(text_of(coded));
    EXPECT_TRUE(value_of(coded).is_object());
}

TEST(OperationInput, TakesABareResource) {
    const auto input = read("x=1", R"({"resourceType":"Patient","id":"a"})");
    ASSERT_TRUE(input);
    EXPECT_TRUE(input->bare_resource()["id"].equals("a"));
    EXPECT_EQ(**input->text("x"), "1");
    const auto none = read("", R"({"resourceType":"Parameters"})");
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->bare_resource());
}

TEST(OperationInput, OfAnyResourceTakesParametersOfOtherNamesForIt) {
    const std::string own = parameters(R"({"name":"mode","valueCode":"create"})");
    const std::string other =
        parameters(R"({"name":"mode","valueCode":"create"},{"name":"other"})");
    const auto call = OperationInput::read_any(request_of("", own), {"mode"});
    ASSERT_TRUE(call);
    EXPECT_FALSE(call->bare_resource());
    EXPECT_EQ(**call->text("mode"), "create");
    const auto bare = OperationInput::read_any(request_of("", other), {"mode"});
    ASSERT_TRUE(bare);
    EXPECT_TRUE(bare->bare_resource());
    EXPECT_FALSE(bare->has("mode"));
    const auto nothing =
        OperationInput::read_any(request_of("", R"({"resourceType":"Parameters"})"), {"mode"});
    ASSERT_TRUE(nothing);
    EXPECT_FALSE(nothing->bare_resource());
}

TEST(OperationInput, ReadsInstantsOfEveryPrecision) {
    const auto input = read("day=2026-01-02&at=2026-01-02T03:04:05.678%2B01:00&bad=yesterday");
    ASSERT_TRUE(input);
    EXPECT_EQ(format_instant(**input->instant("day")), "2026-01-02T00:00:00.000Z");
    EXPECT_EQ(format_instant(**input->instant("at")), "2026-01-02T02:04:05.678Z");
    EXPECT_EQ(input->instant("bad").error().code, Errc::invalid);
    EXPECT_FALSE(*input->instant("none"));
}

TEST(OperationInput, RefusesWhatIsGivenTwiceOrOfAnotherType) {
    const auto input = read("a=1&a=2&b=maybe&n=-1&m=99999999999999999999&e=1e3&p=x",
                            parameters(R"({"name":"c","valueCoding":{"code":"x"}},
                                          {"name":"p","valueCoding":{"code":"x"}})"));
    ASSERT_TRUE(input);
    EXPECT_EQ(input->parts("p").error().code, Errc::invalid) << "also in the query";
    EXPECT_EQ(input->text("a").error().code, Errc::invalid);
    EXPECT_EQ(input->text("c").error().code, Errc::invalid);
    EXPECT_EQ(input->boolean("b").error().code, Errc::invalid);
    EXPECT_EQ(input->number("n").error().code, Errc::invalid);
    EXPECT_EQ(input->number("m").error().code, Errc::invalid);
    EXPECT_EQ(input->number("e").error().code, Errc::invalid);
    EXPECT_EQ(input->once({"b", "a"}).error().code, Errc::invalid);
    EXPECT_TRUE(input->once({"b", "c", "none"}));
}

TEST(OperationInput, NamesTheParameterThatIsUnknown) {
    const auto input =
        read("type=Patient&_format=json&_pretty=", parameters(R"({"name":"odd","valueCode":"x"})"));
    ASSERT_TRUE(input);
    EXPECT_TRUE(input->only({"type", "odd"}));
    const Result<void> refused = input->only({"type"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
    EXPECT_THAT(refused.error().detail, HasSubstr("'odd'"));
    EXPECT_FALSE(input->only({"odd"}));
}

TEST(OperationInput, RefusesMalformedQueriesAndBodies) {
    for (const std::string_view query : {"a=%zz", "a=%ff", "a=", "a"}) {
        EXPECT_EQ(refusal(query), Errc::invalid) << query;
    }
    for (
        const std::string_view body :
        {"{",
         "[]",
         "null",
         "7",
         "{}",
         R"({"resourceType":7})",
         R"({"resourceType":"Parameters","parameter":{}})",
         R"({"resourceType":"Parameters","parameter":[7]})",
         R"({"resourceType":"Parameters","parameter":[{}]})",
         R"({"resourceType":"Parameters","parameter":[{"valueCode":"x"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":7,"valueCode":"x"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"","valueCode":"x"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","_valueCode":{}}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","valueCode":""}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","valueCode":null}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","valueCode":["x"]}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","part":[]}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","resource":"x"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","valueCode":"x","valueUri":"y"}]})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","valueCode":"x","part":[{}]}]})"}) {
        EXPECT_EQ(refusal("", body), Errc::invalid) << body;
    }
    const std::string deep(2000, '[');
    EXPECT_EQ(refusal("", deep), Errc::invalid);
}

TEST(OperationInput, BoundsTheNumberOfParameters) {
    const std::string one = R"({"name":"n","valueInteger":7})";
    std::string list = one;
    for (std::size_t i = 1; i < kParametersMax; ++i) {
        list += "," + one;
    }
    EXPECT_TRUE(read("", parameters(list)));
    EXPECT_EQ(refusal("", parameters(list + "," + one)), Errc::too_costly);
}

TEST(OperationInput, RefusesBodiesOfOtherMediaTypes) {
    Request request = request_of("", R"({"resourceType":"Parameters"})");
    request.headers.push_back({"Content-Type", "text/csv"});
    const Result<OperationInput> input = OperationInput::read(request);
    ASSERT_FALSE(input);
    EXPECT_EQ(input.error().code, Errc::unsupported_media);
}

}  // namespace
}  // namespace annals::core
