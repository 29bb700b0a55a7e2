// What the hot path allocates.

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "codec/xml/reader.h"
#include "tests/allocations/counted_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace annals::json {
namespace {

using test::allocations;
using test::held_bytes;

template <typename F>
std::size_t allocations_of(F&& work) {
    const std::size_t before = allocations.load();
    work();
    return allocations.load() - before;
}

std::string patient(int names) {
    std::string text =
        R"({"resourceType": "Patient", "id": "example", "meta": {"profile": ["p"],)"
        R"( "versionId": "12", "lastUpdated": "2026-01-02T03:04:05.678Z"}, "name": [)";
    for (int i = 0; i < names; ++i) {
        text += i == 0 ? "" : ", ";
        text += R"({"use": "official", "family": "Chal\u006ders", "given": ["Peter", "James"]})";
    }
    return text + R"(], "generalPractitioner": [{"reference": "Practitioner/1"}]})";
}

TEST(JsonAllocations, AreNoneForTextsOfSimilarSize) {
    Parser parser;
    const std::string texts[] = {patient(20), patient(19), patient(1), patient(20)};
    const auto parse_all = [&] {
        for (const std::string& text : texts) {
            for (const auto parse : {&Parser::parse, &Parser::parse_resource}) {
                Result<Document> document = (parser.*parse)(text);
                ASSERT_TRUE(document);
                parser.recycle(std::move(*document));
            }
        }
    };
    parse_all();
    EXPECT_EQ(allocations_of(parse_all), 0U);
}

TEST(JsonAllocations, AreThreeWithoutRecycling) {
    Parser parser;
    const std::string text = patient(2);
    ASSERT_TRUE(parser.parse(text));
    // Tree, text and nodes: what is not recycled is allocated again.
    EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(parser.parse(text)); }), 3U);
}

TEST(JsonAllocations, AreOneForTheBodyOfAVersion) {
    Parser parser;
    const std::string text = patient(5);
    const Result<Document> document = parser.parse(text);
    ASSERT_TRUE(document);
    EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(read_facts(document->root())); }), 0U);
    const Result<ResourceFacts> facts = read_facts(document->root());
    EXPECT_EQ(allocations_of([&] { BodyPlan plan(*facts, "some-other-id", {}); }), 1U);
}

TEST(JsonAllocations, OfALargeTextAreGivenBack) {
    std::string text = R"({"resourceType":"Patient")";
    for (int i = 0; i < 500'000; ++i) {
        text += ",\"k" + std::to_string(i) + "\":1";
    }
    text += '}';
    Parser parser;
    ASSERT_TRUE(parser.parse("{}"));
    const std::int64_t before = held_bytes.load();
    ASSERT_TRUE(parser.parse(text));
    EXPECT_LT(held_bytes.load(), before + (1 << 20));
}

TEST(XmlAllocations, OfALargeTextAreGivenBack) {
    std::string text = R"(<Patient xmlns="http://hl7.org/fhir">)";
    for (int i = 0; i < 200'000; ++i) {
        text += R"(<name><family value="x"/></name>)";
    }
    text += "</Patient>";
    xml::Reader reader;
    ASSERT_TRUE(reader.read(R"(<Patient xmlns="http://hl7.org/fhir"/>)"));
    const std::int64_t before = held_bytes.load();
    ASSERT_TRUE(reader.read(text));
    EXPECT_LT(held_bytes.load(), before + (1 << 20));
}

TEST(JsonAllocations, AreNoneToLookAround) {
    Parser parser;
    const std::string text = patient(5);
    const Result<Document> document = parser.parse(text);
    ASSERT_TRUE(document);
    std::vector<ReferenceSite> sites;
    sites.reserve(10);
    EXPECT_EQ(allocations_of([&] {
                  find_references(document->root(), sites);
                  EXPECT_TRUE(document->root()["name"].is_array());
              }),
              0U);
}

}  // namespace
}  // namespace annals::json
