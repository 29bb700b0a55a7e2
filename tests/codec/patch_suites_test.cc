// External patches: the JSON Patch test suite and HL7's FHIRPath Patch tests, in the folder that ANNALS_TEST_DATA names.

#include "codec/patch/fhirpath_patch.h"
#include "codec/patch/json_patch.h"
#include "codec/xml/reader.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace annals::patch {
namespace {

// The elements of a JSON array as texts, one by one: some are not JSON that Parser accepts.
std::vector<std::string> split_array(std::string_view text) {
    std::vector<std::string> elements;
    std::size_t begin = 0;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            i += c == '\\' ? 1 : 0;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            begin = ++depth == 2 ? i : begin;
        } else if (c == '}' || c == ']') {
            if (--depth == 1) {
                elements.emplace_back(text.substr(begin, i + 1 - begin));
            }
        }
    }
    return elements;
}

bool equal(std::string_view a, std::string_view b) {
    json::Parser parser;
    const auto one = parser.parse(a);
    const auto test =
        parser.parse(std::string(R"([{"op":"test","path":"","value":)").append(b).append("}]"));
    return one && test && apply_json_patch(one->root(), test->root()).has_value();
}

TEST(JsonPatchSuite, PassesWhole) {
    std::size_t records = 0;
    for (const char* name :
         {"json-patch/json-patch-tests/tests.json", "json-patch/json-patch-tests/spec_tests.json",
          "json-patch/json-patch-fhir/json-patch-given.json"}) {
        const std::filesystem::path path = test::test_data(name);
        if (path.empty()) {
            GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no " << name;
        }
        for (const std::string& text : split_array(test::read_whole_file(path))) {
            ++records;
            json::Parser parser;
            const auto record = parser.parse(text);
            if (!record) {
                // A repeated member is refused by the parser already.
                EXPECT_NE(text.find("\"error\""), std::string::npos) << text;
                continue;
            }
            const auto result = apply_json_patch(record->root()["doc"], record->root()["patch"]);
            if (record->root()["error"]) {
                EXPECT_FALSE(result) << text;
                continue;
            }
            ASSERT_TRUE(result) << text << "\n" << result.error().detail;
            if (const json::Value expected = record->root()["expected"]) {
                EXPECT_TRUE(equal(*result, expected.raw())) << text << "\n" << *result;
            }
        }
    }
    EXPECT_EQ(records, 124U);
}

/// One FHIRPath Patch test, all in JSON.
struct PatchTest {
    std::string name;
    std::string input;
    std::string diff;
    std::string output;  // empty: it must fail
};

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
        text.replace(at, what.size(), by);
        at += by.size();
    }
}

void run(const PatchTest& test) {
    json::Parser parser;
    const auto input = parser.parse(test.input);
    const auto diff = parser.parse(test.diff);
    ASSERT_TRUE(input && diff) << test.name;
    const auto result = apply_fhirpath_patch(input->root(), diff->root());
    EXPECT_EQ(result.has_value(), !test.output.empty())
        << test.name << (result ? "" : ": " + result.error().detail);
    if (!result || test.output.empty()) {
        return;
    }
    std::string texts[] = {*result, test.output};
    for (std::string& text : texts) {
        // Narratives may be written in either way.
        replace_all(text, "\\r\\n", "\\n");
        replace_all(text, "&quot;", "\\\"");
    }
    EXPECT_TRUE(equal(texts[0], texts[1])) << test.name << "\n" << texts[0] << "\n" << texts[1];
}

TEST(FhirpathPatchSuite, PassesWholeInJson) {
    const std::filesystem::path path = test::test_data("fhirpath-patch/fhir-patch-tests.r4.json");
    if (path.empty()) {
        GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no " << path;
    }
    json::Parser parser;
    const auto tests = parser.parse(test::read_whole_file(path));
    ASSERT_TRUE(tests);
    EXPECT_EQ(tests->root().size(), 33U);
    for (const json::Value test : tests->root().elements()) {
        const json::Value output = test["output"];
        run({test["name"].string(), std::string(test["input"].raw()),
             std::string(test["diff"].raw()),
             output.is_object() ? std::string(output.raw()) : std::string()});
    }
}

TEST(FhirpathPatchSuite, PassesWholeInXml) {
    const std::filesystem::path path = test::test_data("fhirpath-patch/fhir-patch-tests.xml");
    if (path.empty()) {
        GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no " << path;
    }
    const std::string all = test::read_whole_file(path);
    // The JSON for the content of <name> in `test`; empty if there is none.
    const auto json_of = [&](std::string_view test, std::string_view name) -> std::string {
        const std::string opening = "<" + std::string(name) + ">";
        const std::size_t begin = test.find(opening);
        const std::size_t end = test.find("</" + std::string(name) + ">");
        if (begin == std::string_view::npos || end == std::string_view::npos) {
            return {};
        }
        std::string_view inner = test.substr(begin + opening.size(), end - begin - opening.size());
        inner.remove_prefix(inner.find('<'));
        inner = inner.substr(0, inner.rfind('>') + 1);
        const auto json = xml::json_from_xml(inner);
        EXPECT_TRUE(json) << json.error().detail << inner;
        return json ? *json : std::string();
    };
    std::size_t count = 0;
    for (std::size_t begin = all.find("<case "); begin != std::string::npos;
         begin = all.find("<case ", begin + 1)) {
        const std::string_view test =
            std::string_view(all).substr(begin, all.find("</case>", begin) - begin);
        const std::size_t name = test.find('"') + 1;
        run({std::string(test.substr(name, test.find('"', name) - name)), json_of(test, "input"),
             json_of(test, "diff"), json_of(test, "output")});
        ++count;
    }
    EXPECT_EQ(count, 33U);
}

}  // namespace
}  // namespace annals::patch
