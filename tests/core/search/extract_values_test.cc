// The entries for values of each type of search parameter.

#include "core/search/canonical_links.h"
#include "core/search/container.h"
#include "tests/core/search/extract_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(ExtractDate, ReadsWhatNamesNoZoneInThatOfTheParameters) {
    const auto sydney = TimeZone::load("Australia/Sydney").value();
    const auto observed = [&](const char* date) {
        const Found found(R"({"resourceType":"Observation",)" + std::string(date) + "}",
                          ParameterSet::with({}, {}, nullptr, References::as_searched, sydney));
        return found.intervals(column_of("date"));
    };
    EXPECT_THAT(observed(R"("effectiveDateTime":"2019-11-01")"),
                ElementsAre(dates("2019-10-31T13:00:00.000000Z", "2019-11-01T12:59:59.999999Z")));
    EXPECT_THAT(observed(R"("effectiveDateTime":"2019-11-01T09:29:23+11:00")"),
                ElementsAre(dates("2019-10-31T22:29:23Z", "2019-10-31T22:29:23Z")));
    EXPECT_THAT(observed(R"("effectivePeriod":{"start":"2019-10","end":"2019-10-06"})"),
                ElementsAre(dates("2019-09-30T14:00:00.000000Z", "2019-10-06T12:59:59.999999Z")));
    EXPECT_THAT(observed(R"("effectiveTiming":{"event":["2019-07-01"]})"),
                ElementsAre(dates("2019-06-30T14:00:00.000000Z", "2019-07-01T13:59:59.999999Z")));
}

TEST(ExtractString, TakesAllPartsOfAName) {
    const Found found(R"({"resourceType":"Patient","name":[{"text":"Dr Peter Müller",
        "family":"Müller","given":["Peter","James"],"prefix":["Dr"],"suffix":["MD"],"use":"usual"}]})");
    EXPECT_THAT(found.texts(column_of("name")),
                UnorderedElementsAre("dr peter muller", "muller", "peter", "james", "dr", "md"));
    EXPECT_THAT(found.texts(column_of("family")), ElementsAre("muller"));
    EXPECT_THAT(found.texts(column_of("given")), UnorderedElementsAre("peter", "james"));
    EXPECT_TRUE(found.has(exact(column_of("family"), "Müller")));
    EXPECT_FALSE(found.has(exact(column_of("family"), "muller")));
    EXPECT_TRUE(found.is_present("family"));
    EXPECT_FALSE(found.is_present("address"));
}

TEST(ExtractString, TakesAllPartsOfAnAddress) {
    const Found found(
        R"({"resourceType":"Patient","address":[{"text":"a","line":["b","c"],"city":"d",
        "district":"e","state":"f","postalCode":"g","country":"h","use":"home","type":"both"}]})");
    EXPECT_THAT(found.texts(column_of("address")),
                UnorderedElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
    EXPECT_THAT(found.texts(column_of("address-city")), ElementsAre("d"));
    EXPECT_TRUE(found.has(token(column_of("address-use"), "home")));
}

TEST(ExtractString, ResolvesEscapes) {
    const Found found(R"({"resourceType":"Patient","name":[{"family":"M\u00fcl\"ler"}]})");
    EXPECT_THAT(found.texts(column_of("family")), ElementsAre("mul\"ler"));
    EXPECT_TRUE(found.has(exact(column_of("family"), "Mül\"ler")));
}

TEST(ExtractString, TakesMarkdown) {
    const Found found(R"({"resourceType":"ValueSet","description":"Some *Text*"})");
    EXPECT_THAT(found.texts(column_of("description")), ElementsAre("some *text*"));
}

TEST(ExtractToken, OfACodingHasEveryForm) {
    const Found found(R"({"resourceType":"Encounter","class":{"system":"http://s","code":"AMB",
        "display":"Ambulatory Visit"}})");
    const Column column = column_of("class");
    EXPECT_TRUE(found.has(token(column, "AMB")));
    EXPECT_TRUE(found.has(token(column, "http://s", "AMB")));
    EXPECT_TRUE(found.has(token_system(column, "http://s")));
    EXPECT_FALSE(found.has(token(column, "", "AMB")));
    EXPECT_FALSE(found.has(token(column, "amb")));
    EXPECT_THAT(found.texts(beside(column, ":text")), ElementsAre("ambulatory visit"));
}

TEST(ExtractToken, OfACodingWithoutASystemIsFoundByNoSystem) {
    const Found found(R"({"resourceType":"Encounter","class":{"code":"AMB"}})");
    EXPECT_TRUE(found.has(token(column_of("class"), "AMB")));
    EXPECT_TRUE(found.has(token(column_of("class"), "", "AMB")));
}

TEST(ExtractToken, OfAConceptHasItsCodingsAndItsText) {
    const Found found(R"({"resourceType":"Observation","code":{"coding":[{"system":"a","code":"1",
        "display":"One"},{"system":"b","code":"2"}],"text":"Number"}})");
    const Column column = column_of("code");
    EXPECT_TRUE(found.has(token(column, "a", "1")));
    EXPECT_TRUE(found.has(token(column, "b", "2")));
    EXPECT_FALSE(found.has(token(column, "a", "2")));
    EXPECT_THAT(found.texts(beside(column, ":text")), UnorderedElementsAre("one", "number"));
    // Parameters that find the same as others together have no entries.
    EXPECT_FALSE(found.has(present(column_of("combo-code"))));
}

TEST(ExtractToken, OfAnIdentifierHasItsType) {
    const Found found(R"({"resourceType":"Patient","identifier":[{"type":{"coding":[{"system":
        "http://t","code":"MR"}],"text":"Medical Record"},"system":"urn:oid:1.2","value":"12345"}]})");
    const Column column = column_of("identifier");
    EXPECT_TRUE(found.has(token(column, "12345")));
    EXPECT_TRUE(found.has(token(column, "urn:oid:1.2", "12345")));
    EXPECT_TRUE(found.has(token_system(column, "urn:oid:1.2")));
    EXPECT_TRUE(found.has(token_of_type(column, "http://t", "MR", "12345")));
    EXPECT_FALSE(found.has(token(column, "MR")));
    EXPECT_THAT(found.texts(beside(column, ":text")), ElementsAre("medical record"));
}

TEST(ExtractToken, OfAnIdentifierWithoutAValueIsItsSystem) {
    const Found found(R"({"resourceType":"Patient","identifier":[{"system":"urn:oid:1.2"}]})");
    EXPECT_TRUE(found.has(token_system(column_of("identifier"), "urn:oid:1.2")));
    EXPECT_FALSE(found.has(token(column_of("identifier"), "urn:oid:1.2", "")));
    EXPECT_TRUE(found.is_present("identifier"));
}

TEST(ExtractToken, OfAContactPointIsItsValue) {
    const Found found(R"({"resourceType":"Patient","telecom":[{"system":"phone","value":"555"},
        {"system":"email","value":"a@b"}]})");
    EXPECT_TRUE(found.has(token(column_of("telecom"), "555")));
    EXPECT_TRUE(found.has(token(column_of("telecom"), "email", "a@b")));
    EXPECT_TRUE(found.has(token(column_of("phone"), "555")));
    EXPECT_FALSE(found.has(token(column_of("phone"), "a@b")));
    EXPECT_TRUE(found.has(token(column_of("email"), "a@b")));
}

TEST(ExtractToken, OfACodeKnowsTheSystemThatItIsBoundTo) {
    const Found found(R"({"resourceType":"Patient","gender":"male","active":true})");
    const Column gender = column_of("gender");
    EXPECT_TRUE(found.has(token(gender, "male")));
    EXPECT_TRUE(found.has(token(gender, "", "male")));
    EXPECT_TRUE(found.has(token(gender, "http://hl7.org/fhir/administrative-gender", "male")));
    EXPECT_TRUE(found.has(token_system(gender, "http://hl7.org/fhir/administrative-gender")));
    EXPECT_TRUE(found.has(token(column_of("active"), "true")));
    EXPECT_FALSE(found.has(token(column_of("active"), "false")));
}

/// Task.intent is bound to codes of two systems.
TEST(ExtractToken, OfACodeKnowsWhichOfSeveralSystemsHasIt) {
    const Column intent = column_of("intent");
    const Found order(R"({"resourceType":"Task","status":"draft","intent":"order"})");
    EXPECT_TRUE(order.has(token(intent, "order")));
    EXPECT_TRUE(order.has(token(intent, "http://hl7.org/fhir/request-intent", "order")));
    const Found unknown(R"({"resourceType":"Task","status":"draft","intent":"unknown"})");
    EXPECT_TRUE(unknown.has(token(intent, "http://hl7.org/fhir/task-intent", "unknown")));
    EXPECT_FALSE(unknown.has(token_system(intent, "http://hl7.org/fhir/request-intent")));
}

TEST(ExtractToken, OfDeceasedIsWhetherItIsSo) {
    const auto dead = [](std::string_view text) {
        return Found(text).has(token(column_of("deceased"), "true"));
    };
    EXPECT_FALSE(dead(R"({"resourceType":"Patient"})"));
    EXPECT_FALSE(dead(R"({"resourceType":"Patient","deceasedBoolean":false})"));
    EXPECT_TRUE(dead(R"({"resourceType":"Patient","deceasedBoolean":true})"));
    EXPECT_TRUE(dead(R"({"resourceType":"Patient","deceasedDateTime":"2020"})"));
    const Found alive(R"({"resourceType":"Patient"})");
    EXPECT_TRUE(alive.has(token(column_of("deceased"), "false")));
    EXPECT_TRUE(alive.is_present("deceased"));
}

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

TEST(ExtractDate, OfEveryTypeIsAnInterval) {
    const Found date(R"({"resourceType":"Patient","birthDate":"1974-12"})");
    EXPECT_THAT(date.intervals(column_of("birthdate")), ElementsAre(dates("1974-12", "1974-12")));
    const auto observed = [](std::string_view element) {
        return Found(R"({"resourceType":"Observation",)" + std::string(element) + "}")
            .intervals(column_of("date"));
    };
    EXPECT_THAT(observed(R"("effectiveDateTime":"2020-02-03T04:05:06+02:00")"),
                ElementsAre(dates("2020-02-03T02:05:06Z", "2020-02-03T02:05:06Z")));
    EXPECT_THAT(observed(R"("effectiveInstant":"2020-02-03T04:05:06.789Z")"),
                ElementsAre(dates("2020-02-03T04:05:06.789Z", "2020-02-03T04:05:06.789Z")));
    EXPECT_THAT(observed(R"("effectivePeriod":{"start":"2020","end":"2021-02"})"),
                ElementsAre(dates("2020", "2021-02")));
    EXPECT_THAT(observed(R"("effectivePeriod":{"start":"2020"})"),
                ElementsAre(std::pair(date_range("2020", nullptr)->low, kForever)));
    EXPECT_THAT(observed(R"("effectivePeriod":{"end":"2020"})"),
                ElementsAre(std::pair(kNever, date_range("2020", nullptr)->high)));
    EXPECT_THAT(observed(R"("effectivePeriod":{"start":"2021","end":"2020"})"), IsEmpty());
    EXPECT_THAT(observed(R"("effectiveTiming":{"event":["2020","2022"],
        "repeat":{"boundsPeriod":{"start":"2023","end":"2024"}}})"),
                ElementsAre(dates("2020", "2024")));
    EXPECT_THAT(observed(R"("effectiveTiming":{"event":["2022","2020","2021"]})"),
                ElementsAre(dates("2020", "2022")));
    EXPECT_THAT(observed(R"("effectiveTiming":{"event":["2020"],
        "repeat":{"boundsPeriod":{"start":"2021"}}})"),
                ElementsAre(std::pair(date_range("2020", nullptr)->low, kForever)));
    EXPECT_THAT(observed(R"("effectiveTiming":{"event":["2020"],
        "repeat":{"boundsPeriod":{"start":"2022","end":"2021"}}})"),
                ElementsAre(dates("2020", "2020")));
    EXPECT_THAT(observed(R"("effectiveTiming":{"code":{"text":"daily"}})"), IsEmpty());
}

TEST(ExtractNumber, IsAPoint) {
    const Found decimal(
        R"({"resourceType":"RiskAssessment","prediction":[{"probabilityDecimal":0.020}]})");
    EXPECT_THAT(decimal.intervals(column_of("probability")), ElementsAre(point(0.02)));
    const Found range(R"({"resourceType":"RiskAssessment","prediction":[{"probabilityRange":
        {"low":{"value":0.1},"high":{"value":0.2}}},{"probabilityRange":{"low":{"value":3}}}]})");
    EXPECT_THAT(range.intervals(column_of("probability")),
                UnorderedElementsAre(std::pair(ordered(0.1), ordered(0.2)),
                                     std::pair(ordered(3), kForever)));
}

std::vector<std::pair<std::int64_t, std::int64_t>> quantities(std::string_view element,
                                                              std::string_view unit) {
    const Found found(R"({"resourceType":"Observation",)" + std::string(element) + "}");
    const Column column = column_of("value-quantity");
    EXPECT_THAT(found.texts(beside(column, ":units")), ElementsAre(std::string(unit)));
    return found.intervals(beside(column, "=" + std::string(unit)));
}

TEST(ExtractQuantity, IsAnIntervalInItsUnit) {
    constexpr std::string_view kUnit = "http://unitsofmeasure.org\x1Fmm[Hg]\x1FmmHg";
    const auto compared = [&](const std::string& comparator) {
        return quantities(
            R"("valueQuantity":{"value":107,)" +
                (comparator.empty() ? "" : R"("comparator":")" + comparator + "\",") +
                R"("unit":"mmHg","system":"http://unitsofmeasure.org","code":"mm[Hg]"})",
            kUnit);
    };
    EXPECT_THAT(compared(""), ElementsAre(point(107)));
    EXPECT_THAT(compared("<"), ElementsAre(std::pair(kNever, ordered(107) - 1)));
    EXPECT_THAT(compared("<="), ElementsAre(std::pair(kNever, ordered(107))));
    EXPECT_THAT(compared(">"), ElementsAre(std::pair(ordered(107) + 1, kForever)));
    EXPECT_THAT(compared(">="), ElementsAre(std::pair(ordered(107), kForever)));
    EXPECT_THAT(quantities(R"("valueQuantity":{"value":-1.5})", "\x1F\x1F"),
                ElementsAre(point(-1.5)));
}

TEST(ExtractQuantity, OfSampledDataSpansItsValues) {
    EXPECT_THAT(
        quantities(R"("valueSampledData":{"origin":{"value":10,"unit":"V"},"period":1,"factor":2,
        "dimensions":1,"lowerLimit":-7,"data":"1 E 3 -2 L"})",
                   "\x1F\x1FV"),
        ElementsAre(std::pair(ordered(-4), ordered(16))));
}

TEST(ExtractQuantity, OfMoneyIsInItsCurrency) {
    const Found found(R"({"resourceType":"Invoice","totalGross":{"value":12.5,"currency":"EUR"}})");
    const Column column = column_of("totalgross");
    const std::string unit =
        "urn:iso:std:iso:4217\x1F"
        "EUR\x1F"
        "EUR";
    EXPECT_THAT(found.texts(beside(column, ":units")), ElementsAre(unit));
    EXPECT_THAT(found.intervals(beside(column, "=" + unit)), ElementsAre(point(12.5)));
}

TEST(ExtractQuantity, OfARangeHasBothEnds) {
    const Found found(R"({"resourceType":"ValueSet","useContext":[{"valueRange":{"low":{"value":1,
        "unit":"a"},"high":{"value":2,"unit":"a"}}},{"valueRange":{"low":{"value":3,"unit":"d"},
        "high":{"value":4,"unit":"mo"}}}]})");
    const Column column = column_of("context-quantity");
    EXPECT_THAT(found.intervals(beside(column,
                                       "=\x1F\x1F"
                                       "a")),
                ElementsAre(std::pair(ordered(1), ordered(2))));
    EXPECT_THAT(found.intervals(beside(column,
                                       "=\x1F\x1F"
                                       "d")),
                ElementsAre(std::pair(ordered(3), kForever)));
    EXPECT_THAT(found.intervals(beside(column, "=\x1F\x1Fmo")),
                ElementsAre(std::pair(kNever, ordered(4))));
}

TEST(ExtractQuantity, OfARangeWithOneEndIsOpenAtTheOther) {
    const auto range = [](std::string_view ends) {
        return Found(R"({"resourceType":"ValueSet","useContext":[{"valueRange":{)" +
                     std::string(ends) + "}}]}")
            .intervals(beside(column_of("context-quantity"),
                              "=\x1F\x1F"
                              "a"));
    };
    EXPECT_THAT(range(R"("low":{"value":1,"unit":"a"})"),
                ElementsAre(std::pair(ordered(1), kForever)));
    EXPECT_THAT(range(R"("high":{"value":2,"unit":"a"})"),
                ElementsAre(std::pair(kNever, ordered(2))));
    EXPECT_THAT(range(R"("low":{"unit":"a"},"high":{"unit":"a"})"), ElementsAre());
}

TEST(ExtractQuantity, TellsTwoUnitsApartThatAreOfOneLength) {
    const Found found(R"({"resourceType":"ValueSet","useContext":[{"valueRange":{"low":{"value":5,
        "unit":"wk"},"high":{"value":2,"unit":"mo"}}}]})");
    const Column column = column_of("context-quantity");
    EXPECT_THAT(found.intervals(beside(column, "=\x1F\x1Fwk")),
                ElementsAre(std::pair(ordered(5), kForever)));
    EXPECT_THAT(found.intervals(beside(column, "=\x1F\x1Fmo")),
                ElementsAre(std::pair(kNever, ordered(2))));
}

TEST(ExtractUri, IsExactAndATextAsItStands) {
    const Found found(
        R"({"resourceType":"ValueSet","url":"http://Example.org/VS","meta":{"profile":["http://p|1"]}})");
    EXPECT_TRUE(found.has(exact(column_of("url"), "http://Example.org/VS")));
    EXPECT_THAT(found.texts(column_of("url")), ElementsAre("http://Example.org/VS"));
    EXPECT_TRUE(found.has(exact(column_of("_profile"), "http://p|1")));
    EXPECT_TRUE(found.has(exact(column_of("_profile"), "http://p")));
}

TEST(ExtractNear, IsLatitudeAndLongitude) {
    const Found found(
        R"({"resourceType":"Location","position":{"longitude":-83.69,"latitude":42.26}})");
    EXPECT_THAT(found.intervals(beside(column_of("near"), ":lat")), ElementsAre(point(42.26)));
    EXPECT_THAT(found.intervals(beside(column_of("near"), ":lon")), ElementsAre(point(-83.69)));
}

}  // namespace
}  // namespace annals::core::search
