#include "core/search/parameters.h"

#include "codec/json/document.h"
#include "core/search/layout.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace annals::core::search {
namespace {

using test::type_of;

json::Document parse(std::string_view text) {
    json::Parser parser;
    return std::move(*parser.parse(text));
}

const Parameter& standard(std::string_view of, std::string_view code) {
    static const auto set = ParameterSet::standard();
    return *set->find(type_of(of), code);
}

TEST(Parameters, OfATypeIncludeThoseOfResource) {
    const auto set = ParameterSet::standard();
    for (const char* code : {"_id", "_lastUpdated", "_profile", "_tag", "birthdate", "name"}) {
        EXPECT_NE(set->find(type_of("Patient"), code), nullptr) << code;
    }
    EXPECT_NE(set->find(type_of("Patient"), "_text"), nullptr);
    EXPECT_EQ(set->find(type_of("Bundle"), "_text"), nullptr);
    EXPECT_EQ(set->find(type_of("Patient"), "no-such"), nullptr);
    EXPECT_EQ(set->find(type_of("Patient"), "BIRTHDATE"), nullptr);
}

TEST(Parameters, AreOrderedByCodeAndHaveOneOfEach) {
    const auto set = ParameterSet::standard();
    for (std::size_t i = 0; i < kResourceTypeCount; ++i) {
        const auto all = set->of(TypeId{static_cast<std::uint16_t>(i)});
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                                   [](const auto& a, const auto& b) { return a.code <= b.code; }));
        for (const Parameter& parameter : all) {
            EXPECT_EQ(parameter.column, column_of(parameter.code));
        }
    }
}

TEST(Parameters, HaveThePartOfTheExpressionForTheirType) {
    EXPECT_EQ(standard("Observation", "patient").expression,
              "Observation.subject.where(resolve() is Patient)");
    EXPECT_EQ(standard("MedicationRequest", "code").expression,
              "(MedicationRequest.medication as CodeableConcept)");
    EXPECT_EQ(standard("InsurancePlan", "name").expression, "name | alias");
    EXPECT_EQ(standard("Patient", "_tag").expression, "Resource.meta.tag");
    EXPECT_EQ(expression_for("A.where(x = 'a|b') | (Patient.b | Patient.c) | Group.d",
                             schema::find_type("Patient")),
              "A.where(x = 'a|b') | (Patient.b | Patient.c)");
}

// R4 defines these once for many types, with the targets of them all.
TEST(Parameters, LeadToWhatTheirTypeRefersToAlone) {
    const auto targets = [](std::string_view type, std::string_view code) {
        std::set<std::string> names;
        for (const TypeId target : standard(type, code).targets) {
            names.emplace(resource_type_name(target));
        }
        return names;
    };
    using Names = std::set<std::string>;
    EXPECT_EQ(targets("Observation", "patient"), Names{"Patient"});
    EXPECT_EQ(targets("AllergyIntolerance", "patient"), Names{"Patient"});
    EXPECT_EQ(targets("AuditEvent", "patient"), Names{"Patient"});
    EXPECT_EQ(targets("Condition", "subject"), (Names{"Group", "Patient"}));
    EXPECT_EQ(targets("Observation", "encounter"), Names{"Encounter"});
    EXPECT_EQ(targets("DocumentReference", "encounter"), (Names{"Encounter", "EpisodeOfCare"}));
    EXPECT_EQ(targets("MedicationRequest", "medication"), Names{"Medication"});
    EXPECT_GT(targets("Provenance", "target").size(), 100U);
}

TEST(Parameters, CompositesHaveTheirComponents) {
    const Parameter& composite = standard("Observation", "code-value-quantity");
    ASSERT_EQ(composite.components.size(), 2u);
    EXPECT_EQ(composite.components[0].parameter->code, "code");
    EXPECT_EQ(composite.components[1].parameter->code, "value-quantity");
    EXPECT_EQ(composite.components[1].expression, "value.as(Quantity)");
    const auto set = ParameterSet::standard();
    for (std::size_t i = 0; i < kResourceTypeCount; ++i) {
        for (const Parameter& parameter : set->of(TypeId{static_cast<std::uint16_t>(i)})) {
            EXPECT_EQ(parameter.components.empty(),
                      parameter.type != schema::SearchType::composite);
        }
    }
}

TEST(Parameters, WhatOthersFindTogetherKeepsNothingOfItsOwn) {
    const auto set = ParameterSet::standard();
    const TypeId observation = *find_resource_type("Observation");
    const auto parts = [&](std::string_view code) {
        std::vector<std::string> codes;
        for (const Parameter* const part :
             layout_of(set, observation, standard("Observation", code)).parts) {
            codes.push_back(part->code);
        }
        return codes;
    };
    using Codes = std::vector<std::string>;
    EXPECT_EQ(parts("combo-code"), (Codes{"code", "component-code"}));
    EXPECT_EQ(parts("combo-value-quantity"), (Codes{"component-value-quantity", "value-quantity"}));
    EXPECT_EQ(parts("combo-code-value-quantity"),
              (Codes{"code-value-quantity", "component-code-value-quantity"}));
    EXPECT_EQ(parts("code"), Codes());
    EXPECT_EQ(parts("subject"), Codes());
}

TEST(Parameters, CompositesOfTwoPathsAreAnsweredByTheIndex) {
    const auto set = ParameterSet::standard();
    std::set<std::string> verified;
    for (std::size_t i = 0; i < kResourceTypeCount; ++i) {
        const TypeId type{static_cast<std::uint16_t>(i)};
        for (const Parameter& parameter : set->of(type)) {
            const Layout& layout = layout_of(set, type, parameter);
            if (parameter.type == schema::SearchType::composite && layout.parts.empty() &&
                !layout.composite) {
                verified.insert(std::string(resource_type_name(type)) + "." + parameter.code);
            }
        }
    }
    EXPECT_EQ(verified,
              (std::set<std::string>{"MolecularSequence.chromosome-variant-coordinate",
                                     "MolecularSequence.chromosome-window-coordinate",
                                     "MolecularSequence.referenceseqid-variant-coordinate",
                                     "MolecularSequence.referenceseqid-window-coordinate"}));
}

constexpr std::string_view kEyes =
    R"json({"resourceType":"SearchParameter","id":"eyes","status":"active",
    "url":"http://example.org/eyes","code":"eye-color","base":["Patient"],"type":"token",
    "expression":"Patient.extension.where(url='http://example.org/eyes').value.as(CodeableConcept)"
})json";

TEST(Parameters, DifferByTheZoneOfDatesWithoutOne) {
    const auto in = [](const char* name) {
        return ParameterSet::with({}, {}, nullptr, References::as_searched,
                                  TimeZone::load(name).value());
    };
    const TypeId patient = type_of("Patient");
    const auto standard = ParameterSet::standard();
    EXPECT_EQ(in("UTC")->fingerprint(), standard->fingerprint());
    EXPECT_EQ(in("Asia/Kolkata")->fingerprint(), in("Asia/Calcutta")->fingerprint());
    EXPECT_NE(in("Europe/Berlin")->fingerprint(), standard->fingerprint());
    EXPECT_NE(in("Europe/Berlin")->fingerprint(patient), standard->fingerprint(patient));
    EXPECT_NE(in("Europe/Berlin")->fingerprint(patient), in("Europe/Paris")->fingerprint(patient));
}

TEST(Parameters, AddWhatSearchParameterResourcesSay) {
    const auto document = parse(kEyes);
    std::vector<Error> faults;
    const auto set = ParameterSet::with(std::vector{document.root()}, {}, &faults);
    EXPECT_TRUE(faults.empty());
    const Parameter* const added = set->find(type_of("Patient"), "eye-color");
    ASSERT_NE(added, nullptr);
    EXPECT_FALSE(added->standard);
    EXPECT_TRUE(added->ready);
    EXPECT_EQ(set->find(type_of("Group"), "eye-color"), nullptr);
    EXPECT_NE(set->fingerprint(), ParameterSet::standard()->fingerprint());
    const std::vector<std::string> unready = {"http://example.org/eyes"};
    const auto waiting = ParameterSet::with(std::vector{document.root()}, unready);
    EXPECT_FALSE(waiting->find(type_of("Patient"), "eye-color")->ready);
    EXPECT_EQ(waiting->fingerprint(), set->fingerprint());
}

/// US Core's asserted-date and CARIN's service-start-date, and the FHIRPath for them.
TEST(Parameters, TakeTheNamesOfChoicesInJson) {
    const auto expression = [](const std::string& said, const std::string& type = "Condition") {
        const std::string text =
            R"({"resourceType":"SearchParameter","id":"p","url":"http://p","status":"active",)"
            R"("code":"asserted-date","base":[")" +
            type + R"("],"type":"date","expression":")" + said + R"("})";
        const auto document = parse(text);
        const auto set = ParameterSet::with(std::vector{document.root()});
        const Parameter* const parameter = set->find(type_of(type), "asserted-date");
        return parameter == nullptr ? "" : parameter->expression;
    };
    EXPECT_EQ(expression("Condition.extension.where(url = 'http://a.valueDateTime').valueDateTime"),
              "Condition.extension.where(url = 'http://a.valueDateTime').value.ofType(dateTime)");
    EXPECT_EQ(expression("Condition.extension('a\\\\'b').valueCodeableConcept.coding"),
              "Condition.extension('a\\'b').value.ofType(CodeableConcept).coding");
    EXPECT_EQ(expression("Condition.onsetDateTime | Condition.onsetPeriod.start"),
              "Condition.onset.ofType(dateTime) | Condition.onset.ofType(Period).start");
    EXPECT_EQ(expression("Condition.extension('a').value"), "Condition.extension('a').value");
    EXPECT_EQ(expression("Condition.recordedDate"), "Condition.recordedDate");
    // An element of one type may be an option of another type's choice.
    EXPECT_EQ(expression("Condition.extension('a').valueCode"),
              "Condition.extension('a').value.ofType(code)");
    EXPECT_EQ(expression("Observation.valueQuantity", "Observation"),
              "Observation.value.ofType(Quantity)");
    EXPECT_EQ(expression("Observation.effectivePeriod", "Observation"),
              "Observation.effective.ofType(Period)");
    EXPECT_EQ(expression("Device.property.valueQuantity", "Device"),
              "Device.property.valueQuantity");
    EXPECT_EQ(expression("Condition.extension('a').valueNothing"), "");
    // Also with nothing before it.
    EXPECT_EQ(expression("Condition.extension.where(valueCode='valueCode').url"),
              "Condition.extension.where(value.ofType(code)='valueCode').url");
    EXPECT_EQ(expression("onsetDateTime | Condition.extension.select(valuePeriod).start"),
              "onset.ofType(dateTime) | Condition.extension.select(value.ofType(Period)).start");
}

TEST(Parameters, TakeThemInComponentsAsWell) {
    const auto component = [](const std::string& base, const std::string& said) {
        const std::string of =
            R"(","code":"it","base":["Observation"],"type":"composite","expression":")" + base +
            R"(","component":[{"definition":"http://hl7.org/fhir/SearchParameter/clinical-code|4.0.1",)"
            R"("expression":"code"},{"definition":)"
            R"("http://hl7.org/fhir/SearchParameter/Observation-value-quantity","expression":")";
        const std::string text =
            R"({"resourceType":"SearchParameter","id":"p","url":"http://p","status":"active)" + of +
            said + "\"}]}";
        const auto document = parse(text);
        const auto set = ParameterSet::with(std::vector{document.root()});
        const Parameter* const parameter = set->find(type_of("Observation"), "it");
        return parameter == nullptr ? "" : parameter->components.at(1).expression;
    };
    EXPECT_EQ(component("Observation", "valueQuantity"), "value.ofType(Quantity)");
    EXPECT_EQ(component("Observation.component", "valueQuantity"), "value.ofType(Quantity)");
    EXPECT_EQ(component("Observation | Observation.component", "value as Quantity"),
              "value as Quantity");
    EXPECT_EQ(component("Observation", "Observation.value.as(Quantity)"),
              "Observation.value.as(Quantity)");
    EXPECT_EQ(component("Observation", "valueNothing"), "valueNothing");
}

TEST(Parameters, LeaveOutWhatIsNotActive) {
    std::string draft(kEyes);
    draft.replace(draft.find("active"), 6, "draft!");
    const auto document = parse(draft);
    EXPECT_EQ(ParameterSet::with(std::vector{document.root()})->fingerprint(),
              ParameterSet::standard()->fingerprint());
}

TEST(Parameters, OfR4ThatAreStoredAgainChangeNothing) {
    const auto document =
        parse(R"({"resourceType":"SearchParameter","id":"p","status":"active","code":"birthdate",)"
              R"("url":"http://hl7.org/fhir/SearchParameter/individual-birthdate","type":"date",)"
              R"("base":["Patient"],"expression":"Patient.birthDate"})");
    std::vector<Error> faults;
    const auto set = ParameterSet::with(std::vector{document.root()}, {}, &faults);
    EXPECT_TRUE(faults.empty()) << faults.front().detail;
    EXPECT_EQ(set->fingerprint(), ParameterSet::standard()->fingerprint());
}

TEST(Parameters, SayWhatIsWrongOfThoseThatCannotBeUsed) {
    const auto with = [](std::string_view from, std::string_view to) {
        std::string text(kEyes);
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    const std::vector<std::string> texts = {
        with("Patient.extension.where(url='http://example.org/eyes')", "Patient.(("),
        with("Patient.extension.where(url='http://example.org/eyes').value.as(CodeableConcept)",
             "Patient.noSuchElement"),
        with("\"Patient\"", "\"Nobody\""),
        with("\"token\"", "\"special\""),
        with("\"token\"", "\"composite\""),
        with("eye-color", "eye:color"),
        with("eye-color", "eye\\\"color"),
        with("eye-color", "_count"),
        with("eye-color", std::string(65, 'e')),
        with("eye-color", "birthdate"),
        with("\"Patient\"", "\"Group\""),
        with("\"url\":\"http://example.org/eyes\",", ""),
    };
    for (const std::string& text : texts) {
        const auto document = parse(text);
        std::vector<Error> faults;
        const auto set = ParameterSet::with(std::vector{document.root()}, {}, &faults);
        ASSERT_EQ(faults.size(), 1u) << text;
        EXPECT_EQ(faults[0].expression, "SearchParameter/eyes");
        EXPECT_FALSE(faults[0].detail.empty());
        EXPECT_EQ(set->fingerprint(), ParameterSet::standard()->fingerprint()) << text;
    }
}

}  // namespace
}  // namespace annals::core::search
