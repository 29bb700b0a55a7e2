// The entries of a whole resource: their order, their bounds, composites, and parameters of one's own.

#include "core/search/fold.h"
#include "core/search/layout.h"
#include "core/search/parameter_values.h"
#include "tests/core/search/extract_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {
namespace {

using storage::SearchEntries;
using test::type_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST(ThreadExtractor, OfTheArgumentsUsedLastStays) {
    const auto parameters = ParameterSet::standard();
    const Extractor& first = thread_extractor(parameters, kSeed, "");
    EXPECT_EQ(first.parameters(), parameters);
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(&thread_extractor(parameters, kSeed, fmt::format("http://host{}", i)), &first);
        EXPECT_EQ(&thread_extractor(parameters, kSeed, ""), &first);
    }
    EXPECT_NE(&thread_extractor(parameters, kSeed + 1, ""), &first);
}

TEST(ThreadExtractor, OfWritesStaysWhateverHostsQueriesName) {
    const auto parameters = ParameterSet::standard();
    const Extractor* const of_writes = &thread_extractor(parameters, kSeed, "");
    const auto for_host = [&](int i) {
        return &thread_extractor(parameters, kSeed, fmt::format("http://host{}", i));
    };
    for (int i = 0; i < 10; ++i) {
        for_host(i);
    }
    EXPECT_EQ(&thread_extractor(parameters, kSeed, ""), of_writes);
    // Nor is anything kept for parameters that have been replaced.
    for (int i = 0; i < 3; ++i) {
        thread_extractor(ParameterSet::with({}), kSeed, "");
    }
    for_host(0);
    const Extractor* const kept = for_host(1);
    for_host(2);
    EXPECT_EQ(for_host(1), kept);
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
                                                   std::string_view expression,
                                                   std::string_view base = "Patient") {
    json::Parser parser;
    const auto document = parser.parse(
        R"({"resourceType":"SearchParameter","id":"x","status":"active","url":"http://x","code":"x",
        "base":[")" +
        std::string(base) + R"("],"type":")" + std::string(search_type) + R"(","expression":")" +
        std::string(expression) + "\"}");
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

TEST(ExtractAdded, CountsWhatIsIndexedOverAllThatThePathLeadsTo) {
    constexpr std::string_view kPatient =
        R"({"resourceType":"Patient","name":[{"given":["Ann","Bea"]},{"given":["Cid","Dan"]}]})";
    const Column x = column_of("x");
    EXPECT_THAT(Found(kPatient, with_parameter("string", "Patient.name.given[0]")).texts(x),
                ElementsAre("ann"));
    EXPECT_THAT(Found(kPatient, with_parameter("string", "Patient.name[1].given[1]")).texts(x),
                ElementsAre("dan"));
}

TEST(ExtractAdded, TellsWhetherOneThingIsThereAndAnotherIsNotFalse) {
    const auto parameters = with_parameter(
        "token", "Practitioner.name.exists() and Practitioner.active != false", "Practitioner");
    const auto says = [&](std::string_view members, std::string_view value) {
        const Found found(R"({"resourceType":"Practitioner")" + std::string(members) + "}",
                          parameters);
        return found.has(token(column_of("x"), value));
    };
    EXPECT_TRUE(says(R"(,"name":[{"text":"a"}],"active":true)", "true"));
    EXPECT_TRUE(says(R"(,"name":[{"text":"a"}],"active":false)", "false"));
    EXPECT_FALSE(says(R"(,"name":[{"text":"a"}],"active":false)", "true"));
    EXPECT_TRUE(says(R"(,"active":true)", "false"));
}

// In JSON, a choice has another name than in FHIRPath, and repeating elements are arrays.
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

// An element of type Resource has the type that its resource says.
// ISiK and IPS ask for Bundle.entry.resource.ofType(Composition).
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

// R4's own parameters of these types are all over other elements.
TEST(ExtractAdded, TakesTextsAndNumbersFromElementsOfOtherTypes) {
    const Column x = column_of("x");
    const auto found = [](std::string_view members, std::string_view type,
                          std::string_view expression) {
        return Found(R"({"resourceType":"Observation",)" + std::string(members) + "}",
                     with_parameter(type, expression, "Observation"));
    };
    constexpr std::string_view kCode =
        R"("code":{"coding":[{"code":"a","display":"Éne"},{"code":"b","display":"Two"}],"text":"Some"})";
    EXPECT_THAT(found(kCode, "string", "Observation.code").texts(x),
                UnorderedElementsAre("ene", "two", "some"));
    EXPECT_THAT(found(kCode, "string", "Observation.code.coding").texts(x),
                UnorderedElementsAre("ene", "two"));

    constexpr std::string_view kQuantity = R"("valueQuantity":{"value":1.5,"unit":"a"})";
    const char* const quantity = "Observation.value.as(Quantity)";
    EXPECT_THAT(found(kQuantity, "number", quantity).intervals(x), ElementsAre(point(1.5)));
    EXPECT_THAT(found(R"("valueQuantity":{"unit":"a"})", "number", quantity).intervals(x),
                IsEmpty());

    // A number is a quantity without a unit, computed or not.
    constexpr std::string_view kInteger = R"("valueInteger":7)";
    for (const char* expression : {"Observation.value.as(integer)", "Observation.value + 0"}) {
        const Found number = found(kInteger, "quantity", expression);
        EXPECT_THAT(number.texts(beside(x, ":units")), ElementsAre("\x1F\x1F")) << expression;
        EXPECT_THAT(number.intervals(beside(x, "=\x1F\x1F")), ElementsAre(point(7))) << expression;
        EXPECT_TRUE(number.is_present("x")) << expression;
    }
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
        ExpressionBudget budget;
        for_each_parameter_value(parameter, parsed->root(), budget, [&](json::Value) { ++found; });
        EXPECT_EQ(found, names == 100 ? 100 : 0);  // the square of them in steps, some times over
    }
}

}  // namespace
}  // namespace annals::core::search
