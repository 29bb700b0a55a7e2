// The entries for references and canonicals, and for the names by which they find a resource.

#include "core/search/canonical_links.h"
#include "core/search/container.h"
#include "tests/core/search/extract_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace annals::core::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(ExtractReference, LinksToWhatIsStoredHere) {
    const Found relative(R"({"resourceType":"Observation","subject":{"reference":"Patient/1"}})");
    EXPECT_THAT(relative.links("subject"), ElementsAre(key("Patient", "1")));
    EXPECT_THAT(relative.links("patient"), ElementsAre(key("Patient", "1")));
    EXPECT_TRUE(relative.has(reference(column_of("subject"), key("Patient", "1"))));
    EXPECT_FALSE(relative.has(exact(column_of("subject"), "Patient/1")));
    const Found absolute(R"({"resourceType":"Observation",
        "subject":{"reference":"http://example.org/fhir/Group/g"}})");
    EXPECT_THAT(absolute.links("subject"), ElementsAre(key("Group", "g")));
    EXPECT_THAT(absolute.links("patient"), IsEmpty());
    EXPECT_FALSE(absolute.is_present("patient"));
}

TEST(ExtractReference, OfAVersionIsFoundWithAndWithoutIt) {
    const Found found(R"({"resourceType":"Observation",
        "subject":{"reference":"http://example.org/fhir/Patient/1/_history/3"}})");
    EXPECT_TRUE(found.has(reference(column_of("subject"), key("Patient", "1"))));
    EXPECT_TRUE(found.has(exact(column_of("subject"), "Patient/1/_history/3")));
}

TEST(ExtractReference, ElsewhereIsFoundByItsText) {
    const Found found(R"({"resourceType":"Observation","subject":{"reference":
        "http://other.org/Patient/1/_history/2"},"performer":[{"reference":"urn:uuid:5"}],
        "encounter":{"reference":"#inside"},"contained":[{"resourceType":"Encounter","id":"inside"}]})");
    EXPECT_TRUE(found.has(exact(column_of("subject"), "http://other.org/Patient/1")));
    EXPECT_TRUE(found.has(exact(column_of("patient"), "http://other.org/Patient/1/_history/2")));
    EXPECT_TRUE(found.has(exact(column_of("performer"), "urn:uuid:5")));
    EXPECT_TRUE(found.is_present("encounter"));
    EXPECT_FALSE(found.has(exact(column_of("encounter"), "#inside")));
    EXPECT_THAT(found.entries().links, IsEmpty());
}

TEST(ExtractReference, IsElsewhereWhereTheBaseIsTheBeginningOfAnotherName) {
    const Found found(R"({"resourceType":"Observation",
        "subject":{"reference":"http://example.org/fhirxPatient/1"}})");
    EXPECT_THAT(found.links("subject"), IsEmpty());
    EXPECT_TRUE(found.has(exact(column_of("subject"), "http://example.org/fhirxPatient/1")));
}

TEST(ExtractReference, ToWhatIsContainedCountsByItsType) {
    const Found found(R"({"resourceType":"Observation","subject":{"reference":"#p"},
        "contained":[{"resourceType":"Patient","id":"p"}]})");
    EXPECT_TRUE(found.is_present("patient"));
    for (const char* code : {"subject", "patient"}) {
        EXPECT_TRUE(found.has(inner_reference(column_of(code))));
        EXPECT_TRUE(found.has(inner_reference(column_of(code), "p")));
        EXPECT_FALSE(found.has(inner_reference(column_of(code), "q")));
    }
    EXPECT_FALSE(found.has(inner_reference(column_of("performer"))));
}

TEST(ExtractReference, ToWhatContainsItCountsByTheTypeOfThat) {
    json::Parser parser;
    const auto patient = parser.parse(R"({"resourceType":"Patient","id":"1","contained":[
        {"resourceType":"Observation","id":"o","subject":{"reference":"#"}}]})");
    ASSERT_TRUE(patient);
    const json::Value inner = *patient->root()["contained"].elements().begin();
    Extractor extractor(ParameterSet::standard(), kSeed, std::string(kBase));
    storage::SearchEntries entries;
    Container container(patient->root());
    extractor.extract(test::type_of("Observation"), inner, entries, &container);
    const auto has = [&](Term term) { return std::ranges::binary_search(entries.terms, term); };
    EXPECT_TRUE(has(inner_reference(column_of("subject"))));
    EXPECT_TRUE(has(inner_reference(column_of("patient"))));
}

TEST(ExtractReference, ToWhatIsContainedIsFoundHoweverOften) {
    // Thirty thousand references to as many contained resources used to take minutes under a sanitizer.
    std::string contained;
    for (std::size_t i = 0; i < 2000; ++i) {
        contained += fmt::format(R"({{"resourceType":"Practitioner","id":"p{}"}},)", i);
    }
    const auto is_patient_found = [&](std::size_t performers) {
        std::string text = R"({"resourceType":"Observation","performer":[)";
        for (std::size_t i = 0; i < performers; ++i) {
            text += R"({"reference":"#p1999"},)";
        }
        text += R"({"reference":"#p0"}],"subject":{"reference":"#patient"},"contained":[)";
        text += contained + R"({"resourceType":"Patient","id":"patient"}]})";
        const Found observation(text);
        EXPECT_TRUE(observation.is_present("subject"));
        return observation.is_present("patient");
    };
    EXPECT_TRUE(is_patient_found(10));
    EXPECT_TRUE(is_patient_found(5'000));
}

TEST(ExtractReference, ToTheFirstOfSeveralWithOneIdCounts) {
    const Found found(R"({"resourceType":"Observation","subject":{"reference":"#p"},"contained":[
        {"id":7},{"resourceType":"Patient","id":"\u0070"},{"resourceType":"Group","id":"p"}]})");
    EXPECT_TRUE(found.is_present("patient"));
}

TEST(ExtractReference, OfWhatIsContainedIsResolvedInAListThatIsMadeOnce) {
    // It used to be made for each contained resource.
    const auto time = [](std::string_view reference) {
        std::string text = R"({"resourceType":"Patient","contained":[)";
        for (int i = 0; i < 10'000; ++i) {
            text += fmt::format(
                R"({}{{"resourceType":"Patient","id":"p{}","link":[{{"other":{{"reference":"{}"}}}}]}})",
                i == 0 ? "" : ",", i, reference);
        }
        json::Parser parser;
        const auto patient = parser.parse(text + "]}");
        EXPECT_TRUE(patient);
        Extractor extractor(ParameterSet::standard(), kSeed, std::string(kBase));
        storage::SearchEntries entries;
        extractor.extract(test::type_of("Patient"), patient->root(), entries);
        Container container(patient->root());
        const std::clock_t begin = std::clock();
        for (const json::Value contained : container.contained().elements()) {
            extractor.extract(test::type_of("Patient"), contained, entries, &container);
        }
        return std::clock() - begin;
    };
    const std::clock_t usual = time("Patient/p9999");
    EXPECT_LT(time("#p9999"), 30 * usual);
}

TEST(ExtractReference, ToWhatIsInsideIsLookedForAmongTheMembersOnce) {
    // It used to be looked for again for each reference.
    std::string members;
    for (int i = 0; i < 40'000; ++i) {
        members += fmt::format(R"(,"x{}":"a")", i);
    }
    const auto time = [&](std::string_view id, std::string_view format) {
        std::string links;
        for (int i = 0; i < 8'000; ++i) {
            links += fmt::format(R"({}{{"other":{{"reference":"#{}"}}}})", i == 0 ? "" : ",", id);
        }
        json::Parser parser;
        const auto patient =
            parser.parse(fmt::format(fmt::runtime(format), fmt::arg("x", members),
                                     fmt::arg("link", fmt::format(R"(,"link":[{}])", links))));
        EXPECT_TRUE(patient);
        Extractor extractor(ParameterSet::standard(), kSeed, std::string(kBase));
        storage::SearchEntries entries;
        extractor.extract(test::type_of("Patient"), patient->root(), entries);
        const std::clock_t begin = std::clock();
        extractor.extract(test::type_of("Patient"), patient->root(), entries);
        const std::clock_t end = std::clock();
        EXPECT_TRUE(std::ranges::binary_search(
            entries.terms, inner_reference(column_of("link"), std::string(id))));
        return end - begin;
    };
    const std::clock_t usual = time(
        "a",
        R"({{"resourceType":"Patient","contained":[{{"resourceType":"Patient","id":"a"}}]{link}{x}}})");
    for (
        const std::string_view format :
        {R"({{"resourceType":"Patient"{x}{link},"contained":[{{"resourceType":"Patient","id":"a"}}]}})",
         R"({{"resourceType":"Patient"{link},"contained":[{{"resourceType":"Patient"{x},"id":"a"}}]}})",
         R"({{"contained":[{{"id":"a"{x},"resourceType":"Patient"}}]{link},"resourceType":"Patient"}})"}) {
        EXPECT_LT(time("a", format), 50 * usual) << format.substr(0, 60);
    }
    EXPECT_LT(time("", R"({{"id":"a"{x}{link},"resourceType":"Patient"}})"), 50 * usual);
}

TEST(ExtractReference, IsFoundByItsIdentifierAndTheTypeThatItStates) {
    const Found found(R"({"resourceType":"Observation","subject":{"type":"Patient",
        "identifier":{"system":"s","value":"v"}}})");
    EXPECT_TRUE(found.has(token(beside(column_of("subject"), ":identifier"), "s", "v")));
    EXPECT_TRUE(found.has(token(beside(column_of("patient"), ":identifier"), "v")));
    EXPECT_TRUE(found.is_present("patient"));
}

TEST(ExtractReference, OfACanonicalIsFoundWithAndWithoutItsVersion) {
    const Found found(R"({"resourceType":"QuestionnaireResponse","questionnaire":"http://q|2.0"})");
    EXPECT_TRUE(found.has(exact(column_of("questionnaire"), "http://q|2.0")));
    EXPECT_TRUE(found.has(exact(column_of("questionnaire"), "http://q")));
    const Found local(
        R"({"resourceType":"QuestionnaireResponse","questionnaire":"http://example.org/fhir/Questionnaire/q"})");
    EXPECT_THAT(local.links("questionnaire"), ElementsAre(key("Questionnaire", "q")));
}

TEST(ExtractReference, OfACanonicalIsALinkToWhatItNames) {
    const Found found(R"({"resourceType":"QuestionnaireResponse","questionnaire":"http://q|2.0"})");
    const std::uint64_t name = canonical_key(kSeed, "http://q|2.0");
    EXPECT_THAT(found.links("questionnaire"), ElementsAre(name));
    EXPECT_TRUE(found.has(reference(column_of("questionnaire"), name)));
    const Found contained(R"({"resourceType":"QuestionnaireResponse","questionnaire":"#q"})");
    EXPECT_THAT(contained.entries().links, IsEmpty());
}

TEST(ExtractNames, AreTheUrlWithAndWithoutTheVersion) {
    const Found found(R"({"resourceType":"Questionnaire","url":"http://q","version":"2.0"})");
    const std::uint64_t url = canonical_key(kSeed, "http://q");
    const std::uint64_t with_version = canonical_key(kSeed, "http://q|2.0");
    EXPECT_THAT(names_in(found.entries()), UnorderedElementsAre(url, with_version));
    EXPECT_TRUE(found.has(identity(url)));
    EXPECT_TRUE(found.has(identity(with_version)));
    const Found unversioned(R"({"resourceType":"Questionnaire","url":"http://q"})");
    EXPECT_THAT(names_in(unversioned.entries()), ElementsAre(url));
    EXPECT_EQ(canonical_key(kSeed, "http://q|"), url);
    EXPECT_THAT(names_in(Found(R"({"resourceType":"Patient","url":"http://q"})").entries()),
                IsEmpty());
}

TEST(ExtractReference, OfADocumentIsItsComposition) {
    const Found found(R"({"resourceType":"Bundle","type":"document","entry":[{"resource":
        {"resourceType":"Composition","id":"c"}},{"resource":{"resourceType":"Patient","id":"p"}}]})");
    EXPECT_THAT(found.links("composition"), ElementsAre(key("Composition", "c")));
}

}  // namespace
}  // namespace annals::core::search
