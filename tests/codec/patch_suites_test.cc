// Patches from elsewhere: the JSON Patch test suite, below the folder that ANNALS_TEST_DATA names.

#include "codec/patch/json_patch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace annals::patch {
namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::filesystem::path data_file(const char* name) {
    const char* data = std::getenv("ANNALS_TEST_DATA");
    return data == nullptr ? std::filesystem::path() : std::filesystem::path(data) / name;
}

// The elements of a JSON array as texts, each for itself: some are no JSON that Parser takes.
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
        const std::filesystem::path path = data_file(name);
        if (path.empty() || !std::filesystem::exists(path)) {
            GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no " << name;
        }
        for (const std::string& text : split_array(slurp(path))) {
            ++records;
            json::Parser parser;
            const auto record = parser.parse(text);
            if (!record) {
                // A repeated member is refused before it is a patch.
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

}  // namespace
}  // namespace annals::patch
