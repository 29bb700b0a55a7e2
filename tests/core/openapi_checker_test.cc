// The checker of OpenAPI documents, on which the tests of the document rely.

#include "tests/core/openapi_checker.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string_view>

namespace annals::core {
namespace {

using testing::HasSubstr;

TEST(OpenApiChecker, FindsFaults) {
    const auto faults = [](std::string_view paths, std::string_view components) {
        json::Parser parser;
        const auto parsed = parser.parse(
            fmt::format(R"({{"openapi":"3.1.0","info":{{"title":"t","version":"1"}},"security":[],)"
                        R"("paths":{},"components":{}}})",
                        paths, components));
        return OpenApiChecker(parsed->root()).run();
    };
    const std::string_view response = R"("responses":{"200":{"description":"d"}})";
    const auto path = [&](std::string_view name, std::string_view operation) {
        return fmt::format(R"({{"{}":{{"get":{{"operationId":"a",{}{}}}}}}})", name, operation,
                           response);
    };
    EXPECT_EQ(faults(path("/a", ""), "{}"), "");
    EXPECT_THAT(faults(path("/{id}", ""), "{}"), HasSubstr("path parameters"));
    EXPECT_THAT(faults(path("/a", R"("parameters":[{"$ref":"#/components/parameters/x"}],)"), "{}"),
                HasSubstr("leads nowhere"));
    EXPECT_THAT(faults("{}", R"({"schemas":{"a":{"type":"array"}}})"), HasSubstr("without items"));
    EXPECT_THAT(faults(path("/a", R"("security":[{"x":[]}],)"), "{}"), HasSubstr("no scheme"));
    EXPECT_THAT(faults(R"({"/a":{"get":{"operationId":"a"}}})", "{}"), HasSubstr("get /a"));
    EXPECT_THAT(faults(fmt::format(R"({{"/a":{{"get":{{"operationId":"a",{0}}},)"
                                   R"("put":{{"operationId":"a",{0}}}}}}})",
                                   response),
                       "{}"),
                HasSubstr("operationId"));
}

}  // namespace
}  // namespace annals::core
