// The entries for values of each type of search parameter but reference.

#include "tests/core/search/extract_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
