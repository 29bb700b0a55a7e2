#include "core/search/extract.h"

#include "codec/json/document.h"
#include "core/search/canonical_links.h"
#include "core/search/fold.h"
#include "core/search/layout.h"
#include "core/search/parameter_values.h"
#include "core/search/ranges.h"
#include "core/search/values.h"
#include "storage/index.h"
#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace annals::core::search {
namespace {

using storage::SearchEntries;
using test::type_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kSeed = 7;
constexpr std::string_view kBase = "http://example.org/fhir";
constexpr std::int64_t kNever = INT64_MIN;
constexpr std::int64_t kForever = INT64_MAX;

std::uint64_t key(std::string_view of, std::string_view id) {
    return storage::resource_key(kSeed, type_of(of), id).low;
}

/// A resource and what it can be found by.
class Found {
  public:
    explicit Found(std::string_view text,
                   std::shared_ptr<const ParameterSet> parameters = ParameterSet::standard())
        : extractor_(std::move(parameters), kSeed, std::string(kBase)) {
        auto parsed = parser_.parse(text);
        EXPECT_TRUE(parsed) << text;
        document_ = std::move(*parsed);
        type_ = type_of(document_.root()["resourceType"].string());
        extractor_.extract(type_, document_.root(), entries_);
    }

    bool has(Term term) const {
        return std::binary_search(entries_.terms.begin(), entries_.terms.end(), term);
    }

    bool is_present(std::string_view code) const { return has(present(column_of(code))); }

    std::vector<std::string> texts(Column column) const {
        std::vector<std::string> texts;
        for (const auto& text : entries_.texts) {
            if (text.column == column) {
                texts.emplace_back(entries_.text(text));
            }
        }
        return texts;
    }

    std::vector<std::pair<std::int64_t, std::int64_t>> intervals(Column column) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
        for (const auto& interval : entries_.intervals) {
            if (interval.column == column) {
                intervals.emplace_back(interval.low, interval.high);
            }
        }
        return intervals;
    }

    std::vector<std::uint64_t> links(std::string_view code) const {
        std::vector<std::uint64_t> links;
        for (const auto& link : entries_.links) {
            if (link.column == column_of(code)) {
                links.push_back(link.target);
            }
        }
        return links;
    }

    std::size_t count_terms() const { return entries_.terms.size(); }

    const SearchEntries& entries() const { return entries_; }

    Extractor& extractor() { return extractor_; }

    json::Value resource() const { return document_.root(); }

  private:
    json::Parser parser_;
    json::Document document_;
    TypeId type_;
    Extractor extractor_;
    SearchEntries entries_;
};

std::pair<std::int64_t, std::int64_t> dates(std::string_view first, std::string_view last) {
    return {date_range(first, nullptr)->low, date_range(last, nullptr)->high};
}

std::pair<std::int64_t, std::int64_t> point(double value) {
    return {ordered(value), ordered(value)};
}

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

TEST(Extract, ForARunHasTheSameInAnyOrder) {
    json::Parser parser;
    const auto document =
        parser.parse(R"({"resourceType":"Observation","status":"final","code":{"coding":[
        {"system":"http://loinc.org","code":"8480-6"},{"system":"http://loinc.org","code":"8480-6"}],"text":"B"},
        "subject":{"reference":"Patient/1"},"valueQuantity":{"value":1,"unit":"kg"}})");
    ASSERT_TRUE(document);
    Extractor extractor(ParameterSet::standard(), kSeed, std::string(kBase));
    SearchEntries ordered;
    SearchEntries for_run;
    extractor.extract(type_of("Observation"), document->root(), ordered);
    extractor.extract_for_run(type_of("Observation"), document->root(), for_run);
    std::ranges::sort(for_run.terms);
    const auto repeated = std::ranges::unique(for_run.terms);
    for_run.terms.erase(repeated.begin(), repeated.end());
    EXPECT_EQ(for_run.terms, ordered.terms);
    EXPECT_EQ(for_run.intervals, ordered.intervals);
    EXPECT_EQ(for_run.links, ordered.links);
    EXPECT_EQ(for_run.characters, ordered.characters);
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
    // What finds the same as others together keeps nothing.
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

TEST(ExtractReference, ToWhatIsContainedIsLookedForWithinBounds) {
    // Thirty thousand references to as many contained resources took minutes under a sanitizer.
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
    EXPECT_FALSE(is_patient_found(kContainedLooksMax / 2000));
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
    EXPECT_THAT(
        observed(R"("effectiveTiming":{"event":["2020","2022"],
        "repeat":{"boundsPeriod":{"start":"2023","end":"2024"}}})"),
        UnorderedElementsAre(dates("2020", "2020"), dates("2022", "2022"), dates("2023", "2024")));
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

TEST(ExtractMeta, IsFoundInEveryResource) {
    const Found found(
        R"({"resourceType":"Basic","id":"1","meta":{"lastUpdated":"2020-01-01T00:00:00Z",
        "source":"urn:x","tag":[{"system":"s","code":"t"}],"security":[{"code":"R"}]}})");
    EXPECT_TRUE(found.has(token(column_of("_tag"), "s", "t")));
    EXPECT_TRUE(found.has(token(column_of("_security"), "R")));
    EXPECT_TRUE(found.has(exact(column_of("_source"), "urn:x")));
    EXPECT_FALSE(found.is_present("_id"));
    EXPECT_FALSE(found.is_present("_lastUpdated"));
}

TEST(ExtractNear, IsLatitudeAndLongitude) {
    const Found found(
        R"({"resourceType":"Location","position":{"longitude":-83.69,"latitude":42.26}})");
    EXPECT_THAT(found.intervals(beside(column_of("near"), ":lat")), ElementsAre(point(42.26)));
    EXPECT_THAT(found.intervals(beside(column_of("near"), ":lon")), ElementsAre(point(-83.69)));
}

TEST(ExtractOne, GivesThatParameterAlone) {
    Found found(R"({"resourceType":"Patient","id":"p","gender":"male","birthDate":"1974"})");
    SearchEntries entries;
    const auto standard = ParameterSet::standard();
    found.extractor().extract(*standard->find(type_of("Patient"), "birthdate"), type_of("Patient"),
                              found.resource(), entries);
    EXPECT_EQ(entries.intervals.size(), 1u);
    EXPECT_THAT(entries.terms, ElementsAre(present(column_of("birthdate"))));
    found.extractor().extract(*standard->find(type_of("Patient"), "_id"), type_of("Patient"),
                              found.resource(), entries);
    EXPECT_THAT(entries.terms, ::testing::Contains(token(column_of("_id"), "p")));
}

TEST(ExtractComposite, KeepsTheValuesOfAnElementTogether) {
    Found found(R"({"resourceType":"Observation","code":{"coding":[{"code":"panel"}]},
        "valueQuantity":{"value":1},"component":[
        {"code":{"coding":[{"code":"systolic"}]},"valueQuantity":{"value":107}},
        {"code":{"coding":[{"code":"diastolic"}]},"valueQuantity":{"value":60}}]})");
    const auto& parameter =
        *ParameterSet::standard()->find(type_of("Observation"), "combo-code-value-quantity");
    const auto elements = found.extractor().extract_composite(parameter, found.resource());
    ASSERT_EQ(elements.size(), 3u);
    const Column code = column_of("combo-code");
    const Column value = beside(column_of("combo-value-quantity"), "=\x1F\x1F");
    const auto is = [&](std::size_t element, std::string_view wanted, double number) {
        ASSERT_EQ(elements[element].size(), 2u);
        EXPECT_THAT(elements[element][0].terms, ::testing::Contains(token(code, wanted)));
        ASSERT_EQ(elements[element][1].intervals.size(), 1u);
        EXPECT_EQ(elements[element][1].intervals[0],
                  (SearchEntries::Interval{value, ordered(number), ordered(number)}));
    };
    is(0, "panel", 1);
    is(1, "systolic", 107);
    is(2, "diastolic", 60);
}

TEST(ExtractComposite, IsFoundByTheCodesOfAnElementWithItsValues) {
    Found found(R"({"resourceType":"Observation","code":{"text":"x"},"component":[
        {"code":{"coding":[{"system":"s","code":"a"},{"code":"b\\"}]},
         "valueQuantity":{"value":107,"unit":"u"}},
        {"code":{"coding":[{"system":"s","code":"c"}]},
         "valueCodeableConcept":{"coding":[{"system":"t","code":"v"}]}}]})");
    const Column quantity = column_of("component-code-value-quantity");
    EXPECT_TRUE(found.has(present(quantity)));
    EXPECT_THAT(found.texts(beside(quantity, ":units")),
                UnorderedElementsAre("a\x1Fs\x1F\x1F\x1Fu", "b\\\x1F\x1F\x1F\x1Fu"));
    const Column concept_column = column_of("component-code-value-concept");
    const Term value = token(concept_column, "t", "v");
    EXPECT_TRUE(found.has(paired(token(concept_column, "c"), value)));
    EXPECT_TRUE(found.has(paired(token(concept_column, "s", "c"), value)));
    EXPECT_FALSE(found.has(paired(token(concept_column, "a"), value)));
    EXPECT_FALSE(found.has(present(column_of("code-value-quantity"))));
}

TEST(ExtractComposite, KeepsSoManyValuesOfAnElement) {
    std::string codings;
    for (std::size_t i = 0; i < 3 * kPairedMax; ++i) {
        codings += std::string(i == 0 ? "" : ",") + "{\"code\":\"c" + std::to_string(i) + "\"}";
    }
    Found found(R"({"resourceType":"Observation","component":[{"code":{"coding":[)" + codings +
                R"(]},"valueCodeableConcept":{"coding":[{"code":"c0"}]}}]})");
    const Column column = column_of("component-code-value-concept");
    EXPECT_TRUE(found.has(paired(token(column, "c0"), token(column, "c0"))));
    EXPECT_TRUE(found.has(
        paired(token(column, "c" + std::to_string(kPairedMax - 1)), token(column, "c0"))));
    EXPECT_FALSE(
        found.has(paired(token(column, "c" + std::to_string(kPairedMax)), token(column, "c0"))));
}

TEST(ExtractComposite, ReachesOutOfTheElement) {
    Found found(R"({"resourceType":"MolecularSequence","referenceSeq":{"chromosome":{"coding":
        [{"code":"1"}]}},"variant":[{"start":5,"end":6}]})");
    const auto& parameter = *ParameterSet::standard()->find(type_of("MolecularSequence"),
                                                            "chromosome-variant-coordinate");
    const auto elements = found.extractor().extract_composite(parameter, found.resource());
    ASSERT_EQ(elements.size(), 1u);
    ASSERT_EQ(elements[0].size(), 3u);
    EXPECT_THAT(elements[0][0].terms, ::testing::Contains(token(column_of("chromosome"), "1")));
    EXPECT_EQ(elements[0][1].intervals.size(), 1u);
}

TEST(ExtractComposite, FindsDatesOfEitherType) {
    Found found(
        R"({"resourceType":"Observation","code":{"text":"x"},"valueDateTime":"2020-01-01"})");
    const auto& parameter =
        *ParameterSet::standard()->find(type_of("Observation"), "code-value-date");
    const auto elements = found.extractor().extract_composite(parameter, found.resource());
    ASSERT_EQ(elements.size(), 1u);
    EXPECT_EQ(elements[0][1].intervals.size(), 1u);
}

std::shared_ptr<const ParameterSet> with_parameter(std::string_view search_type,
                                                   std::string_view expression) {
    json::Parser parser;
    const auto document = parser.parse(
        R"({"resourceType":"SearchParameter","id":"x","status":"active","url":"http://x","code":"x",
        "base":["Patient"],"type":")" +
        std::string(search_type) + R"(","expression":")" + std::string(expression) + "\"}");
    std::vector<Error> faults;
    auto set = ParameterSet::with(std::vector{document->root()}, {}, &faults);
    EXPECT_TRUE(faults.empty()) << faults[0].detail;
    return set;
}

TEST(ExtractAdded, FollowsExtensions) {
    constexpr std::string_view kPatient =
        R"({"resourceType":"Patient","extension":[{"url":"u","valueCode":"blue"},
        {"url":"v","valueCode":"red"}]})";
    for (const char* expression :
         {"Patient.extension('u').value", "Patient.extension.where(url='u').value",
          "Patient.extension.where(url = 'u' and true).value.as(code)"}) {
        const Found found(kPatient, with_parameter("token", expression));
        EXPECT_TRUE(found.has(token(column_of("x"), "blue"))) << expression;
        EXPECT_FALSE(found.has(token(column_of("x"), "red"))) << expression;
    }
}

// In JSON a choice has another name than in FHIRPath, and what repeats is an array.
TEST(ExtractAdded, ComparesAChoiceAndWhatRepeats) {
    constexpr std::string_view kPatient =
        R"({"resourceType":"Patient","extension":[{"url":"u","valueCode":"blue"},
        {"url":"v","valueCode":"red"}],"name":[{"family":"C","given":["Peter"]},
        {"family":"D","given":["Peter","James"]}]})";
    const Column x = column_of("x");
    const Found of_choice(kPatient,
                          with_parameter("token", "Patient.extension.where(value = 'blue').value"));
    EXPECT_TRUE(of_choice.has(token(x, "blue")));
    EXPECT_FALSE(of_choice.has(token(x, "red")));
    EXPECT_THAT(
        Found(kPatient, with_parameter("string", "Patient.name.where(given = 'Peter').family"))
            .texts(x),
        ElementsAre("c"));
}

// An element of type Resource is of whichever type its resource says: ISiK and IPS ask for
// Bundle.entry.resource.ofType(Composition).
TEST(ExtractAdded, FollowsResourcesOfAType) {
    constexpr std::string_view kPatient =
        R"({"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"Hospital"},
        {"resourceType":"Practitioner","id":"p","name":[{"text":"Doctor"}]}]})";
    for (const char* expression : {"Patient.contained.ofType(Organization).name",
                                   "Patient.contained[0].as(Organization).name",
                                   "(Patient.contained[0] as Organization).name",
                                   "Patient.contained.where($this is Organization).name"}) {
        EXPECT_THAT(Found(kPatient, with_parameter("string", expression)).texts(column_of("x")),
                    ElementsAre("hospital"))
            << expression;
    }
}

TEST(ExtractAdded, TakesComputedValues) {
    constexpr std::string_view kPatient = R"({"resourceType":"Patient","birthDate":"1974-12-25",
        "name":[{"given":["Peter","James"],"family":"C"}],"multipleBirthInteger":3})";
    const Column x = column_of("x");
    EXPECT_TRUE(Found(kPatient, with_parameter("token", "Patient.name.given.count() > 1"))
                    .has(token(x, "true")));
    EXPECT_THAT(Found(kPatient, with_parameter(
                                    "string", "Patient.name.select(family & ', ' & given.first())"))
                    .texts(x),
                ElementsAre("c, peter"));
    EXPECT_THAT(
        Found(kPatient, with_parameter("number", "Patient.name.given.count()")).intervals(x),
        ElementsAre(point(2)));
    EXPECT_THAT(
        Found(kPatient, with_parameter("number", "Patient.multipleBirth.as(integer)")).intervals(x),
        ElementsAre(point(3)));
    EXPECT_THAT(Found(kPatient, with_parameter("date", "Patient.birthDate.first()")).intervals(x),
                ElementsAre(dates("1974-12-25", "1974-12-25")));
    EXPECT_THAT(Found(kPatient, with_parameter("token", "Patient.gender.first()")).texts(x),
                IsEmpty());
}

TEST(ExtractAdded, KnowsTheSystemOfAComputedCode) {
    EXPECT_TRUE(
        Found(R"({"resourceType":"Patient","gender":"male"})",
              with_parameter("token", "Patient.gender.first()"))
            .has(token(column_of("x"), "http://hl7.org/fhir/administrative-gender", "male")));
}

TEST(Extract, GivesEveryTermOnceAndInOrder) {
    const Found found(R"({"resourceType":"Patient","name":[{"family":"A"},{"family":"A"}],
        "address":[{"city":"A"}],"contact":[{"name":{"family":"A"}}]})");
    const auto& terms = found.entries().terms;
    EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end()));
    EXPECT_EQ(std::adjacent_find(terms.begin(), terms.end()), terms.end());
    EXPECT_THAT(found.texts(column_of("family")), ElementsAre("a"));
}

TEST(Extract, PassesOverWhatHasTheWrongShape) {
    const Found found(
        R"({"resourceType":"Observation","status":7,"code":"x","subject":["Patient/1"],
        "effectiveDateTime":"yesterday","effectivePeriod":{"start":"never"},"category":[null,{"coding":[null,3,[]]}],
        "valueQuantity":{"value":"1"},"component":{"code":[{"coding":{"code":"y"}}]},"issued":false})");
    EXPECT_TRUE(found.has(token(column_of("status"), "7")));
    EXPECT_TRUE(found.has(token(column_of("component-code"), "y")));
    EXPECT_THAT(found.entries().intervals, IsEmpty());
    EXPECT_THAT(found.entries().links, IsEmpty());
}

TEST(Extract, IsBounded) {
    std::string text = R"({"resourceType":"Patient","identifier":[)";
    for (std::size_t i = 0; i < kTermsMax / 2; ++i) {
        text += (i == 0 ? "{\"value\":\"" : ",{\"value\":\"") + std::to_string(i) + "\"}";
    }
    text += R"(],"name":[)";
    for (int i = 0; i < 2000; ++i) {
        text += (i == 0 ? "" : ",") + std::string("{\"family\":\"") + std::to_string(i) +
                std::string(2000, 'x') + "\"}";
    }
    text += "]}";
    const Found found(text);
    EXPECT_LE(found.count_terms(), kTermsMax);
    EXPECT_LE(found.entries().characters.size(), kTextBytesMax);
    for (const auto& family : found.texts(column_of("family"))) {
        EXPECT_EQ(family.size(), kFoldedCharsMax);
    }
}

TEST(Extract, FindsEachOfManyMembersOfAGroup) {
    std::string text = R"({"resourceType":"Group","type":"person","actual":true,"member":[)";
    for (int i = 0; i < 50'000; ++i) {
        text +=
            fmt::format(R"({}{{"entity":{{"reference":"Patient/p{}"}}}})", i == 0 ? "" : ",", i);
    }
    text += "]}";
    const Found found(text);
    EXPECT_EQ(found.entries().links.size(), 50'000U);
    EXPECT_LT(found.count_terms(), kTermsMax);
}

TEST(Extract, IsBoundedAlikeForSortingAndIncluding) {
    Parameter parameter;
    parameter.expression = "Patient.name.where(%resource.name.where(family = 'x').exists())";
    json::Parser parser;
    for (const int names : {100, 400}) {
        std::string text = R"({"resourceType":"Patient","name":[{"family":"x"})";
        for (int i = 1; i < names; ++i) {
            text += R"(,{"family":"x"})";
        }
        text += "]}";
        const auto parsed = parser.parse(text);
        ASSERT_TRUE(parsed);
        int found = 0;
        for_each_parameter_value(parameter, parsed->root(), [&](json::Value) { ++found; });
        EXPECT_EQ(found, names == 100 ? 100 : 0);  // the square of them in steps, some times over
    }
}

}  // namespace
}  // namespace annals::core::search
