// JSON Patch on documents: every operation, every way to be wrong, and what no operation may lose.

#include "codec/patch/json_patch.h"

#include "tests/codec/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::patch {
namespace {

Result<std::string> json_patched(std::string_view document, std::string_view patch,
                                 const Limits& limits = {}) {
    const json::Document parsed = parse(document);
    const json::Document operations = parse(patch);
    return apply_json_patch(parsed.root(), operations.root(), limits);
}

std::string json_applied(std::string_view document, std::string_view patch) {
    const Result<std::string> result = json_patched(document, patch);
    return result ? *result : "error: " + result.error().detail;
}

Error json_failed(std::string_view document, std::string_view patch, const Limits& limits = {}) {
    Result<std::string> result = json_patched(document, patch, limits);
    EXPECT_FALSE(result) << patch;
    return result ? Error{} : result.error();
}

TEST(JsonPatch, WithoutOperationsGivesTheDocument) {
    EXPECT_EQ(json_applied(R"({"a":[1, 2],"b":null})", "[]"), R"({"a":[1,2],"b":null})");
}

TEST(JsonPatch, KeepsDigitsEscapesAndOrderOfWhatItLeavesAlone) {
    EXPECT_EQ(
        json_applied(R"({"z":1.00,"A\u00e9":"\u0041\/","a":{"y":1e400,"x":-0.0},"l":[0.10,"\n"]})",
                     R"([{"op":"add","path":"/a/w","value":2.50},
                          {"op":"add","path":"/l/1","value":"\u0042"}])"),
        R"({"z":1.00,"A\u00e9":"\u0041\/","a":{"y":1e400,"x":-0.0,"w":2.50},)"
        R"("l":[0.10,"\u0042","\n"]})");
}

TEST(JsonPatch, AddsMembersAtTheEndAndReplacesThemInPlace) {
    EXPECT_EQ(json_applied(R"({"a":1,"b":2})", R"([{"op":"add","path":"/a","value":3},
                                              {"op":"add","path":"/c","value":4}])"),
              R"({"a":3,"b":2,"c":4})");
}

TEST(JsonPatch, AddsElementsBeforeAnIndexAndAtTheEnd) {
    EXPECT_EQ(json_applied("[1,2]", R"([{"op":"add","path":"/0","value":0},
                                   {"op":"add","path":"/3","value":3},
                                   {"op":"add","path":"/-","value":4}])"),
              "[0,1,2,3,4]");
}

TEST(JsonPatch, ReadsPointersWithTheirEscapes) {
    EXPECT_EQ(json_applied(R"({"a/b":1,"m~n":2,"~1":3,"":4})",
                           R"([{"op":"replace","path":"/a~1b","value":5},
                          {"op":"replace","path":"/m~0n","value":6},
                          {"op":"replace","path":"/~01","value":7},
                          {"op":"replace","path":"/","value":8}])"),
              R"({"a/b":5,"m~n":6,"~1":7,"":8})");
}

TEST(JsonPatch, FindsMembersByTheCharactersOfTheirNames) {
    EXPECT_EQ(json_applied(R"({"\u0061":1})", R"([{"op":"replace","path":"/a","value":2},
                                             {"op":"add","path":"/\u00e9\"","value":3},
                                             {"op":"replace","path":"/\u00e9\"","value":4}])"),
              "{\"\\u0061\":2,\"\u00e9\\\"\":4}");
}

TEST(JsonPatch, MovesAndCopies) {
    EXPECT_EQ(
        json_applied(R"({"a":{"x":[1]},"b":{}})", R"([{"op":"copy","from":"/a/x","path":"/b/y"},
                                                      {"op":"move","from":"/a","path":"/b/z"}])"),
        R"({"b":{"y":[1],"z":{"x":[1]}}})");
}

TEST(JsonPatch, ACopyAndItsOriginalChangeByThemselves) {
    EXPECT_EQ(json_applied(R"({"a":{"x":1}})", R"([{"op":"add","path":"/a/y","value":2},
                                             {"op":"copy","from":"/a","path":"/b"},
                                             {"op":"replace","path":"/a/x","value":3},
                                             {"op":"remove","path":"/b/y"}])"),
              R"({"a":{"x":3,"y":2},"b":{"x":1}})");
}

TEST(JsonPatch, ACopyOfTheDocumentIntoItselfIsACopy) {
    EXPECT_EQ(json_applied(R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"},
                                        {"op":"copy","from":"","path":"/b/c"}])"),
              R"({"a":1,"b":{"a":1,"c":{"a":1,"b":{"a":1}}}})");
}

TEST(JsonPatch, MovesToWhereItStandsWithoutAnEffect) {
    EXPECT_EQ(json_applied(R"({"a":1,"b":2})", R"([{"op":"move","from":"/a","path":"/a"}])"),
              R"({"a":1,"b":2})");
}

TEST(JsonPatch, MovesWithinAnArrayAfterTakingOut) {
    EXPECT_EQ(json_applied("[1,2,3,4]", R"([{"op":"move","from":"/0","path":"/3"}])"), "[2,3,4,1]");
    EXPECT_EQ(json_failed("[1,2]", R"([{"op":"move","from":"/0","path":"/2"}])").code,
              Errc::invalid);
}

TEST(JsonPatch, ReplacesTheWholeDocument) {
    EXPECT_EQ(json_applied(R"({"a":1})", R"([{"op":"replace","path":"","value":[1.0]},
                                        {"op":"add","path":"/-","value":2}])"),
              "[1.0,2]");
}

TEST(JsonPatch, ChangesValuesThatItBroughtItself) {
    EXPECT_EQ(json_applied("{}", R"([{"op":"add","path":"/a","value":{"b":[1,{"c":2}]}},
                                {"op":"remove","path":"/a/b/0"},
                                {"op":"replace","path":"/a/b/0/c","value":3}])"),
              R"({"a":{"b":[{"c":3}]}})");
}

TEST(JsonPatch, TestsByValue) {
    const auto equal = [](std::string_view document, std::string_view value) {
        return json_patched(
                   std::string(R"({"v":)").append(document).append("}"),
                   std::string(R"([{"op":"test","path":"/v","value":)").append(value).append("}]"))
            .has_value();
    };
    EXPECT_TRUE(equal("1.0", "1"));
    EXPECT_TRUE(equal("100", "1E+2"));
    EXPECT_TRUE(equal("0.00120", "12e-4"));
    EXPECT_TRUE(equal("-0.0", "0e7"));
    EXPECT_TRUE(equal("123456789012345678901234567890.10", "1234567890123456789012345678901e-1"));
    EXPECT_FALSE(equal("123456789012345678901234567890", "123456789012345678901234567891"));
    EXPECT_FALSE(equal("1e1000000000000000000000", "2e1000000000000000000000"));
    EXPECT_FALSE(equal("1e1000000000000000000000", "1e2000000000000000000000"));
    EXPECT_FALSE(equal("1", "-1"));
    EXPECT_FALSE(equal("10", "1"));
    EXPECT_FALSE(equal("1", R"("1")"));
    EXPECT_TRUE(equal(R"("\u00e9\/")", "\"\u00e9/\""));
    EXPECT_FALSE(equal(R"("a")", R"("b")"));
    EXPECT_TRUE(equal(R"({"a":1,"b":[true,null]})", R"({"b":[true,null],"\u0061":1.0})"));
    EXPECT_TRUE(equal(R"("a")", R"("\u0061")"));
    EXPECT_FALSE(equal(R"({"a":1,"b":2})", R"({"a":1,"b":3})"));
    EXPECT_FALSE(equal(R"({"a":1,"b":2})", R"({"a":1})"));
    EXPECT_FALSE(equal(R"({"a":1})", R"({"a":1,"b":2})"));
    EXPECT_FALSE(equal(R"({"a":1,"b":2})", R"({"a":1,"c":2})"));
    EXPECT_TRUE(equal("[1,[2]]", "[1.0,[2e0000000000000000000000]]"));
    EXPECT_FALSE(equal("[1,2]", "[2,1]"));
    EXPECT_FALSE(equal("[1,2]", "[1,2,3]"));
    EXPECT_FALSE(equal("null", "false"));
}

TEST(JsonPatch, TestsWhatEarlierOperationsMade) {
    EXPECT_EQ(json_applied(R"({"a":{"x":1}})",
                           R"([{"op":"add","path":"/a/y","value":[1,{"k":"v"}]},
                          {"op":"add","path":"/a/y/0","value":0},
                          {"op":"test","path":"/a","value":{"y":[0,1,{"k":"v"}],"x":1.0}}])"),
              R"({"a":{"x":1,"y":[0,1,{"k":"v"}]}})");
    const auto tested = [](std::string_view changed, std::string_view path,
                           std::string_view value) {
        std::string patch = "[";
        patch.append(changed).append(R"(,{"op":"test","path":")").append(path);
        patch.append(R"(","value":)").append(value).append("}]");
        const Result<std::string> result = json_patched(R"({"l":[1,2],"o":{"x":1}})", patch);
        return result ? "same"
                      : std::string(result.error().code == Errc::processing ? "other" : "?");
    };
    const std::string_view longer = R"({"op":"add","path":"/l/-","value":3})";
    EXPECT_EQ(tested(longer, "/l", "[1,2,3]"), "same");
    for (const char* other : {"[1,2,4]", "[1,0,3]", "[1,2]", "[1,2,3,4]", R"({"a":1})", "3"}) {
        EXPECT_EQ(tested(longer, "/l", other), "other") << other;
    }
    const std::string_view wider = R"({"op":"add","path":"/o/y","value":"b"})";
    EXPECT_EQ(tested(wider, "/o", R"({"y":"b","x":1})"), "same");
    for (const char* other : {R"({"x":1,"y":"c"})", R"({"x":2,"y":"b"})", R"({"x":1,"z":"b"})",
                              R"({"x":1})", R"([1,"b"])"}) {
        EXPECT_EQ(tested(wider, "/o", other), "other") << other;
    }
}

TEST(JsonPatch, AFailedTestIsAnErrorOfItsOwn) {
    const Error differs = json_failed(R"({"resourceType":"Patient","name":[{"family":"A"}]})",
                                      R"([{"op":"test","path":"/name/0/family","value":"B"}])");
    EXPECT_EQ(differs.code, Errc::processing);
    EXPECT_EQ(differs.detail, "operation 0 (test /name/0/family): the value differs");
    EXPECT_EQ(differs.expression, "Patient.name[0].family");
    EXPECT_EQ(json_failed("{}", R"([{"op":"test","path":"/a","value":1}])").code, Errc::processing);
    EXPECT_EQ(json_failed("[1]", R"([{"op":"test","path":"/1","value":1}])").code,
              Errc::processing);
    EXPECT_EQ(json_failed("[1]", R"([{"op":"test","path":"/00","value":1}])").code, Errc::invalid);
    // An index may be of any size.
    EXPECT_EQ(
        json_failed("[1]", R"([{"op":"test","path":"/18446744073709551616","value":1}])").code,
        Errc::processing);
    EXPECT_EQ(json_failed("[1]", R"([{"op":"add","path":"/18446744073709551616","value":1}])").code,
              Errc::invalid);
}

TEST(JsonPatch, RefusesWhatIsNoOperation) {
    const std::string_view document = R"({"a":[1],"s":"x"})";
    for (const std::string_view patch : {
             R"([1])",
             R"([{"path":"/a"}])",
             R"([{"op":1,"path":"/a"}])",
             R"([{"op":"spam","path":"/a"}])",
             R"([{"op":"Add","path":"/b","value":1}])",
             R"([{"op":"add","value":1}])",
             R"([{"op":"add","path":null,"value":1}])",
             R"([{"op":"add","path":"b","value":1}])",
             R"([{"op":"add","path":"/b"}])",
             R"([{"op":"replace","path":"/a"}])",
             R"([{"op":"test","path":"/a"}])",
             R"([{"op":"move","path":"/b"}])",
             R"([{"op":"copy","path":"/b","from":1}])",
             R"([{"op":"copy","path":"/b","from":"a"}])",
             R"([{"op":"add","path":"/b~2","value":1}])",
             R"([{"op":"add","path":"/b~","value":1}])",
             R"([{"op":"remove","path":""}])",
             R"([{"op":"remove","path":"/b"}])",
             R"([{"op":"remove","path":"/a/1"}])",
             R"([{"op":"remove","path":"/a/-"}])",
             R"([{"op":"remove","path":"/a/01"}])",
             R"([{"op":"replace","path":"/a/1e0","value":1}])",
             R"([{"op":"replace","path":"/a/-","value":1}])",
             R"([{"op":"replace","path":"/b","value":1}])",
             R"([{"op":"add","path":"/a/2","value":1}])",
             R"([{"op":"add","path":"/a/-1","value":1}])",
             R"([{"op":"add","path":"/a/99999999999999999999","value":1}])",
             R"([{"op":"add","path":"/s/0","value":1}])",
             R"([{"op":"add","path":"/b/c","value":1}])",
             R"([{"op":"move","from":"/a","path":"/a/0"}])",
             R"([{"op":"move","from":"/b","path":"/c"}])",
             R"([{"op":"copy","from":"/b","path":"/c"}])",
         }) {
        EXPECT_EQ(json_failed(document, patch).code, Errc::invalid) << patch;
    }
    EXPECT_EQ(json_failed(document, R"({"op":"add"})").code, Errc::invalid);
}

TEST(JsonPatch, NamesTheOperationAtFault) {
    const Error error = json_failed(R"({"resourceType":"Patient"})",
                                    R"([{"op":"add","path":"/active","value":true},
                                   {"op":"remove","path":"/name/0/given/1"}])");
    EXPECT_EQ(error.detail, "operation 1 (remove /name/0/given/1): there is nothing at 'path'");
    EXPECT_EQ(error.expression, "Patient.name[0].given[1]");
}

TEST(JsonPatch, BoundsOperations) {
    std::string patch = "[";
    for (std::size_t i = 0; i < kPatchOperationsMax; ++i) {
        patch += R"({"op":"add","path":"/-","value":0},)";
    }
    patch.back() = ']';
    EXPECT_TRUE(json_patched("[]", patch));
    patch.back() = ',';
    patch += R"({"op":"add","path":"/-","value":0}])";
    EXPECT_EQ(json_failed("[]", patch).code, Errc::invalid);
}

TEST(JsonPatch, BoundsTheResult) {
    // Each copy doubles the size: 2^100 bytes without a bound.
    std::string patch = R"([{"op":"add","path":"/a","value":["0123456789"]})";
    for (int i = 0; i < 100; ++i) {
        patch +=
            R"(,{"op":"copy","from":"/a","path":"/b"},{"op":"move","from":"/b","path":"/a/-"})";
    }
    patch += "]";
    const Error error = json_failed("{}", patch, {.bytes_max = 1 << 20});
    EXPECT_NE(error.detail.find("too large"), std::string::npos) << error.detail;

    std::string wide = R"([{"op":"add","path":"/a","value":["0123456789"]})";
    for (int i = 0; i < 100; ++i) {
        wide += R"(,{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/b","path":"/c"},)"
                R"({"op":"add","path":"/a","value":{}},{"op":"move","from":"/b","path":"/a/x"},)"
                R"({"op":"move","from":"/c","path":"/a/y"})";
    }
    wide += "]";
    EXPECT_NE(json_failed("{}", wide, {.bytes_max = 1 << 16}).detail.find("too large"),
              std::string::npos);

    const std::string long_value = '"' + std::string(1000, 'x') + '"';
    for (const std::string_view operation :
         {R"({"op":"add","path":"/a/-")", R"({"op":"replace","path":"/a/0")"}) {
        const std::string alone = fmt::format(R"([{},"value":{}}}])", operation, long_value);
        EXPECT_NE(json_failed(R"({"a":[0]})", alone, {.bytes_max = 900}).detail.find("too large"),
                  std::string::npos)
            << operation;
    }
}

TEST(JsonPatch, CountsWhatItTakesAwayAgain) {
    std::string patch = "[";
    for (int i = 0; i < 400; ++i) {
        patch += R"({"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/b"},)";
    }
    patch.back() = ']';
    const std::string document = R"({"a":")" + std::string(1000, 'x') + R"("})";
    const json::Document parsed = parse(document);
    const json::Document operations = parse(patch);
    const auto result = apply_json_patch(parsed.root(), operations.root(), {.bytes_max = 3000});
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_EQ(*result, document);
}

TEST(JsonPatch, BoundsItsWork) {
    std::string patch = "[";
    for (int i = 0; i < 100; ++i) {
        patch += R"({"op":"add","path":"/0","value":0},)";
    }
    patch.back() = ']';
    std::string document = "[";
    for (int i = 0; i < 1000; ++i) {
        document += "0,";
    }
    document.back() = ']';
    EXPECT_NE(json_failed(document, patch, {.steps_max = 10'000}).detail.find("too many steps"),
              std::string::npos);
}

TEST(JsonPatch, BoundsNesting) {
    std::string patch = R"([{"op":"add","path":"/x","value":)" + std::string(40, '[') +
                        std::string(40, ']') + R"(},{"op":"copy","from":"/x","path":"/x/0/0"}])";
    EXPECT_TRUE(json_patched("{}", patch));
    std::string deeper(patch);
    deeper.replace(
        deeper.find("/x/0/0"), 6, "/x" + [] {
            std::string zeros;
            for (int i = 0; i < 30; ++i) {
                zeros += "/0";
            }
            return zeros;
        }());
    EXPECT_NE(json_failed("{}", deeper).detail.find("nested deeper"), std::string::npos);
}

TEST(JsonPatch, BoundsTheNestingOfWhatItCopiesAndReplaces) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    const auto copied = [&](std::size_t levels) {
        const std::string document = fmt::format(R"({{"x":{},"y":[]}})", nested(levels));
        return json_patched(document, R"([{"op":"add","path":"/x/-","value":0},
                                          {"op":"copy","from":"/x","path":"/y/0"}])")
            .has_value();
    };
    EXPECT_TRUE(copied(kJsonDepthMax - 2));
    EXPECT_FALSE(copied(kJsonDepthMax - 1));
    const auto replaced = [&](std::size_t levels) {
        return json_patched(R"({"x":[[0]]})",
                            fmt::format(R"([{{"op":"replace","path":"/x/0/0","value":{}}}])",
                                        nested(levels)))
            .has_value();
    };
    EXPECT_TRUE(replaced(kJsonDepthMax - 3));
    EXPECT_FALSE(replaced(kJsonDepthMax - 2));
}

}  // namespace
}  // namespace annals::patch
