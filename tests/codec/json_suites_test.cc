// External texts: Nicolas Seriot's JSONTestSuite, HL7's R4 examples
// and Synthea's patients, in the folder that ANNALS_TEST_DATA names.

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "codec/xml/narrative_links.h"
#include "tests/support/checked_parse.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace annals::json {
namespace {

// Removes white space, by a state machine of two states.
std::string minified(std::string_view text) {
    std::string out;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
            continue;
        }
        out += c;
        if (c == '"') {
            inside = !inside;
        } else if (inside && c == '\\') {
            out += text[++i];
        }
    }
    return out;
}

TEST(JsonTestSuite, IsAnsweredAsItSays) {
    const auto files = test::test_data_files("JSONTestSuite/test_parsing");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no JSONTestSuite";
    }
    // FHIR has no use for a repeated key; RFC 8259 leaves it open.
    const std::set<std::string> refused_all_the_same = {"y_object_duplicated_key.json",
                                                        "y_object_duplicated_key_and_value.json"};
    Parser parser;
    for (const auto& path : files) {
        const std::string name = path.filename();
        // Of what the suite leaves open, numbers of any size are kept as text; lone
        // surrogates, invalid UTF-8, byte-order marks and 500 levels are refused.
        const bool expected = name.starts_with("i_number_") ||
                              (name.starts_with("y_") && !refused_all_the_same.contains(name));
        const std::string text = test::read_whole_file(path);
        EXPECT_EQ(parser.parse(text).has_value(), expected) << name;
        EXPECT_EQ(test::disagreement_with_checked_parse(parser, text), "") << name;
    }
}

class RealFiles : public testing::TestWithParam<const char*> {};

TEST_P(RealFiles, AreKeptByteForByteButWhiteSpace) {
    const auto files = test::test_data_files(GetParam());
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no " << GetParam();
    }
    Parser parser;
    for (const auto& path : files) {
        std::string text = test::read_whole_file(path);
        if (text.starts_with("\xef\xbb\xbf")) {
            text.erase(0, 3);
        }
        Result<Document> document = parser.parse(text);
        ASSERT_TRUE(document) << path << ": " << document.error().detail;
        EXPECT_EQ(document->text(), minified(text)) << path;
        Result<Document> again = parser.parse(document->text());
        ASSERT_TRUE(again) << path;
        EXPECT_EQ(again->text(), document->text()) << path;
        ASSERT_EQ(again->nodes().size(), document->nodes().size()) << path;
        for (std::size_t i = 0; i < again->nodes().size(); ++i) {
            ASSERT_EQ(again->nodes()[i].begin, document->nodes()[i].begin) << path;
            ASSERT_EQ(again->nodes()[i].end, document->nodes()[i].end) << path;
            ASSERT_EQ(again->nodes()[i].next, document->nodes()[i].next) << path;
        }
        if (document->root()["resourceType"]) {
            EXPECT_TRUE(read_facts(document->root())) << path;
            std::vector<ReferenceSite> sites;
            find_references(document->root(), sites);
            for (const ReferenceSite& site : sites) {
                if (site.kind == ReferenceSite::Kind::narrative) {
                    EXPECT_FALSE(xml::rewrite_narrative(
                        site.value.raw_string(), [](std::string_view) { return std::nullopt; }));
                }
            }
        }
        parser.recycle(std::move(*again));
        parser.recycle(std::move(*document));
    }
}

INSTANTIATE_TEST_SUITE_P(TestData, RealFiles,
                         testing::Values("r4-official-dev", "synthea-2022", "synthea-2019-dev",
                                         "r4-definitions"));

}  // namespace
}  // namespace annals::json
