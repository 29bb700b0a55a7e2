// HL7's R4 examples in both formats, in the folder that ANNALS_TEST_DATA names.
// pugixml gives the second opinion: our XML and theirs are compared as its trees.

#include "codec/json/document.h"
#include "codec/xml/reader.h"
#include "codec/xml/writer.h"
#include "tests/support/files.h"
#include "tests/support/xml_text.h"

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace annals::xml {
namespace {

/// The text without the byte-order mark that some of HL7's files begin with.
std::string text_of(const std::filesystem::path& path) {
    std::string text = test::read_whole_file(path);
    return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

// XHTML as pugixml writes it, with one kind of quotes, and with references only where necessary.
std::string canonical_narrative(const std::string& div) {
    pugi::xml_document document;
    EXPECT_TRUE(document.load_buffer(div.data(), div.size(), pugi::parse_full)) << div;
    std::ostringstream out;
    document.save(out, "", pugi::format_raw | pugi::format_no_declaration);
    return out.str();
}

// The value with the members of all objects sorted, so that equal values are equal texts.
std::string sorted(json::Value value) {
    std::string out;
    if (value.is_object()) {
        std::vector<std::string> members;
        for (const auto [key, member] : value.members()) {
            members.push_back(std::string(key.raw()) + ":" +
                              (key.raw_string() == "div" ? canonical_narrative(member.string())
                                                         : sorted(member)));
        }
        std::sort(members.begin(), members.end());
        for (const std::string& member : members) {
            out += (out.empty() ? "{" : ",") + member;
        }
        return out + "}";
    }
    if (value.is_array()) {
        for (const json::Value element : value.elements()) {
            out += (out.empty() ? "[" : ",") + sorted(element);
        }
        return out + "]";
    }
    return value.is_string() ? json::quoted(value.string()) : std::string(value.raw());
}

// Empty if the elements are equal, in any order of attributes; otherwise where they differ.
std::string difference(pugi::xml_node a, pugi::xml_node b, const std::string& path) {
    if (std::strcmp(a.name(), b.name()) != 0 || std::strcmp(a.value(), b.value()) != 0 ||
        a.type() != b.type()) {
        return path + ": " + a.name() + " '" + a.value() + "' and " + b.name() + " '" + b.value() +
               "'";
    }
    const std::string here = path + "/" + a.name();
    const auto count = [](auto range) { return std::distance(range.begin(), range.end()); };
    if (count(a.attributes()) != count(b.attributes())) {
        return here + ": other attributes";
    }
    for (const pugi::xml_attribute attribute : a.attributes()) {
        if (std::strcmp(attribute.value(), b.attribute(attribute.name()).value()) != 0) {
            return here + "/@" + attribute.name() + ": '" + attribute.value() + "' and '" +
                   b.attribute(attribute.name()).value() + "'";
        }
    }
    pugi::xml_node x = a.first_child();
    pugi::xml_node y = b.first_child();
    for (; x && y; x = x.next_sibling(), y = y.next_sibling()) {
        if (std::string found = difference(x, y, here); !found.empty()) {
            return found;
        }
    }
    return x || y ? here + ": other children" : "";
}

TEST(XmlSuites, OfficialExamplesGoThroughXmlUnchanged) {
    const auto files = test::test_data_files("r4-official-dev", ".json");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    json::Parser parser;
    Writer writer;
    Reader reader;
    std::size_t identical = 0;
    for (const auto& path : files) {
        const std::string text = text_of(path);
        const Result<json::Document> document = parser.parse(text);
        ASSERT_TRUE(document) << path;
        std::string xml;
        writer.write(xml, document->root());
        const Result<std::string> again = reader.read(xml);
        ASSERT_TRUE(again) << path << ' ' << again.error().detail << ' '
                           << again.error().expression;
        const Result<json::Document> parsed = parser.parse(*again);
        ASSERT_TRUE(parsed) << path;
        EXPECT_TRUE(sorted(parsed->root()) == sorted(document->root())) << path;
        identical += parsed->text() == document->text() ? 1 : 0;
    }
    // Most have their members in the order of the definitions.
    RecordProperty("files", static_cast<int>(files.size()));
    RecordProperty("identical", static_cast<int>(identical));
    EXPECT_GT(identical, files.size() / 2);
}

TEST(XmlSuites, OfficialPairsMeanTheSame) {
    const auto files = test::test_data_files("r4-official-dev/r4-pairs/xml", ".xml");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    // The example's own two formats differ in the white space of a narrative.
    const std::set<std::string> differ_themselves = {"Bundle-externals"};
    json::Parser parser;
    Writer writer;
    Reader reader;
    for (const auto& path : files) {
        const std::string name = path.stem();
        const std::string xml_text = text_of(path);
        const std::string json_text =
            text_of(path.parent_path().parent_path() / "json" / (name + ".json"));
        const Result<json::Document> theirs = parser.parse(json_text);
        ASSERT_TRUE(theirs) << name;

        const Result<std::string> read = reader.read(xml_text);
        ASSERT_TRUE(read) << name << ' ' << read.error().detail << ' ' << read.error().expression;
        const Result<json::Document> ours = parser.parse(*read);
        ASSERT_TRUE(ours) << name;

        std::string written;
        writer.write(written, theirs->root());
        pugi::xml_document a;
        pugi::xml_document b;
        constexpr unsigned kOptions = pugi::parse_default;
        ASSERT_TRUE(a.load_buffer(written.data(), written.size(), kOptions)) << name;
        ASSERT_TRUE(b.load_buffer(xml_text.data(), xml_text.size(), kOptions)) << name;
        if (!differ_themselves.contains(name)) {
            EXPECT_TRUE(sorted(ours->root()) == sorted(theirs->root())) << name;
            EXPECT_EQ(difference(a.document_element(), b.document_element(), ""), "") << name;
        }
    }
}

TEST(XmlSuites, SyntheasBundlesMeanTheSame) {
    const auto files = test::test_data_files("synthea-2022/xml", ".xml");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2022";
    }
    json::Parser parser;
    for (const auto& path : files) {
        const Result<std::string> read = json_from_xml(text_of(path));
        ASSERT_TRUE(read) << path << ' ' << read.error().detail << ' ' << read.error().expression;
        const Result<json::Document> ours = parser.parse(*read);
        ASSERT_TRUE(ours) << path;
        const Result<std::string> again = json_from_xml(test::xml_from_json(ours->root()));
        ASSERT_TRUE(again) << path;
        EXPECT_EQ(*again, *read) << path;
    }
}

}  // namespace
}  // namespace annals::xml
