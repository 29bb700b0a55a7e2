// The official validator's cases for R4, and the official examples, in the folder that ANNALS_TEST_DATA names.

#include "codec/xml/reader.h"
#include "core/validation/validate.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace annals::validation {
namespace {

/// R4's own profiles, extensions, value sets and code systems.
class PublishedSource final : public Source {
  public:
    explicit PublishedSource(const std::filesystem::path& folder) {
        for (const char* name : {"profiles-others.json", "extension-definitions.json",
                                 "valuesets.json", "v3-codesystems.json", "v2-tables.json"}) {
            json::Parser parser;
            const Result<json::Document> bundle =
                parser.parse(test::read_whole_file(folder / name));
            EXPECT_TRUE(bundle) << name;
            for (const json::Value entry : bundle->root()["entry"].elements()) {
                add(entry["resource"].raw());
            }
        }
        // What the official run asks a terminology server for: the only code of CVX in the cases.
        add(R"({"resourceType":"CodeSystem","url":"http://hl7.org/fhir/sid/cvx","status":"active",
            "content":"fragment","concept":[
            {"code":"207","display":"COVID-19, mRNA, LNP-S, PF, 100 mcg/0.5mL dose or 50 mcg/0.25mL dose"}]})");
    }

    Result<Definition> find(std::string_view type, std::string_view url,
                            std::string_view) const override {
        const auto found = known_.find(std::string(type) + " " + std::string(url));
        return found == known_.end() ? nullptr : found->second;
    }

  private:
    void add(std::string_view text) {
        json::Parser parser;
        Result<json::Document> document = parser.parse(text);
        ASSERT_TRUE(document);
        const json::Value root = document->root();
        std::string key = root["resourceType"].string() + " " + root["url"].string();
        known_.emplace(std::move(key),
                       std::make_shared<const json::Document>(*std::move(document)));
    }

    std::map<std::string, Definition> known_;
};

struct Verdict {
    bool valid = false;
    std::string first_error;
};

Verdict judge(const std::filesystem::path& path, const Source& source, const Options& options) {
    std::string text = test::read_whole_file(path);
    if (path.extension() == ".xml") {
        Result<std::string> converted = xml::json_from_xml(text);
        if (!converted) {
            return {false, converted.error().detail};
        }
        text = *std::move(converted);
    }
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text);
    if (!document) {
        return {false, document.error().detail};
    }
    const Report report = validate(document->root(), source, options);
    for (const core::Issue& issue : report.issues) {
        if (issue.severity == "error") {
            return {report.valid, issue.expression + ": " + issue.diagnostics};
        }
    }
    return {report.valid, ""};
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, '\t');) {
        fields.push_back(field);
    }
    return fields;
}

TEST(ValidationSuite, AgreesWithTheOfficialVerdicts) {
    const std::filesystem::path folder = test::test_data("validation-r4");
    const std::filesystem::path definitions = test::test_data("r4-definitions");
    if (folder.empty() || definitions.empty()) {
        GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no validation-r4 and r4-definitions";
    }
    // Where Annals' verdict differs, and why.
    const std::map<std::string, std::string> differing = {
        {"json-comments-1-yes", "the case allows comments in JSON, which RFC 8259 and FHIR do not"},
        {"cs-narrative-status-pub", "asks for rules of HL7's own publishing"},
        {"parameters-reference-bad",
         "a reference to what isn't there: where references must resolve is a setting of the "
         "store"},
    };
    const PublishedSource source(definitions);
    const Options options = strict_options(source);
    Options without_markup = options;
    without_markup.refuse_markup = true;

    std::ifstream index(folder / "INDEX.tsv");
    std::string line;
    std::getline(index, line);
    std::size_t cases = 0;
    std::size_t agreed = 0;
    while (std::getline(index, line)) {
        const std::vector<std::string> fields = fields_of(line);
        ASSERT_GE(fields.size(), 4U) << line;
        const bool expected = fields[3] == "0";
        // The only case of a run with a setting of its own: HTML in markdown is an error.
        const bool is_without_markup = fields[0] == "bad-markdown-no-html";
        const Verdict verdict = judge(folder / "files" / fields[1], source,
                                      is_without_markup ? without_markup : options);
        ++cases;
        agreed += verdict.valid == expected ? 1 : 0;
        const auto known = differing.find(fields[0]);
        if (verdict.valid == expected) {
            EXPECT_TRUE(known == differing.end()) << fields[0] << " agrees now";
            continue;
        }
        EXPECT_TRUE(known != differing.end())
            << fields[0] << " (" << fields[1] << ") is expected to be "
            << (expected ? "valid" : "invalid") << "; " << verdict.first_error;
        if (known != differing.end()) {
            std::printf("differs: %s: %s\n", fields[0].c_str(), known->second.c_str());
        }
    }
    std::printf("%zu of %zu verdicts agree\n", agreed, cases);
    EXPECT_GE(agreed * 100, cases * 95);
}

// The faults in the standard's own examples. Each was looked at; if their number changes, there is a false alarm, or a
// check is new or lost.
TEST(ValidationSuite, FindsTheFaultsInOfficialExamples) {
    const auto examples = test::test_data_files("r4-official-dev");
    const std::filesystem::path definitions = test::test_data("r4-definitions");
    if (examples.empty() || definitions.empty()) {
        GTEST_SKIP() << "skipped: ANNALS_TEST_DATA has no r4-official-dev and r4-definitions";
    }
    const PublishedSource source(definitions);
    std::size_t relative_canonicals = 0;
    std::vector<std::string> others;
    for (const auto& example : examples) {
        const Verdict verdict = judge(example, source, {});
        if (verdict.valid) {
            continue;
        }
        if (verdict.first_error.find("canonical URL must be absolute") != std::string::npos) {
            ++relative_canonicals;
        } else {
            others.push_back(example.filename().string() + ": " + verdict.first_error);
        }
    }
    std::printf("%zu examples; %zu with relative canonical URLs, %zu with other faults\n",
                examples.size(), relative_canonicals, others.size());
    for (const std::string& other : others) {
        std::printf("  %s\n", other.c_str());
    }
    EXPECT_EQ(relative_canonicals, 78U);
    EXPECT_EQ(others.size(), 93U);
}

}  // namespace
}  // namespace annals::validation
