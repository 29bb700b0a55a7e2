// What profiles say of values, types and references, and the types that profiles are for.

#include "tests/core/validation_fixture.h"

namespace annals::validation {
namespace {

std::string observation_with(std::string_view members) {
    return fmt::format(
        R"({{"resourceType":"Observation","status":"final","code":{{"text":"t"}},{}}})", members);
}

TEST(ValidationLimits, AreComparedWithDatesAndTimesAsFarAsBothSayThem) {
    constexpr std::string_view kDays =
        R"({"id":"Patient.birthDate","path":"Patient.birthDate","minValueDate":"1900-01-01",
            "maxValueDate":"2000-12-31"})";
    const auto born = [&](std::string_view day) {
        return against(fmt::format(R"({{"resourceType":"Patient","birthDate":"{}"}})", day), kDays);
    };
    constexpr std::string_view kWrongDay = "error value Patient.birthDate\n";
    for (const std::string_view day : {"1900-01-01", "1950", "1950-06", "2000-12-31"}) {
        EXPECT_EQ(born(day), "") << day;
    }
    for (const std::string_view day : {"1900", "2000", "2000-12"}) {
        EXPECT_EQ(born(day), "") << day << " may be within";
    }
    for (const std::string_view day : {"1899", "1899-12-31", "2001", "2001-01-01"}) {
        EXPECT_EQ(born(day), kWrongDay) << day;
    }

    constexpr std::string_view kSince =
        R"({"id":"Observation.effective[x]","path":"Observation.effective[x]",
            "minValueDateTime":"2020-01-01T00:00:00Z"})";
    EXPECT_EQ(
        against(observation_with(R"("effectiveDateTime":"2020-01-01T01:30:00+01:00")"), kSince),
        "");
    EXPECT_EQ(
        against(observation_with(R"("effectiveDateTime":"2020-01-01T00:30:00+01:00")"), kSince),
        "error value Observation.effectiveDateTime\n");

    constexpr std::string_view kHours =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]","minValueTime":"08:00:00",
            "maxValueTime":"17:00:00"})";
    const auto at = [&](std::string_view time) {
        return against(observation_with(fmt::format(R"("valueTime":"{}")", time)), kHours);
    };
    EXPECT_EQ(at("08:00:00"), "");
    EXPECT_EQ(at("17:00:00"), "");
    EXPECT_EQ(at("07:59:59"), "error value Observation.valueTime\n");
    EXPECT_EQ(at("17:00:01"), "error value Observation.valueTime\n");
}

TEST(ValidationLimits, SayNothingOfQuantitiesThatAreBoundsThemselves) {
    constexpr std::string_view kAtLeast =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]","minValueQuantity":{"value":5}})";
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":4})"), kAtLeast),
              "error value Observation.valueQuantity\n");
    EXPECT_EQ(
        against(observation_with(R"("valueQuantity":{"value":4,"comparator":">"})"), kAtLeast), "");
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"unit":"g"})"), kAtLeast), "");
}

TEST(ValidationFixed, IsAllOfAValueAndNothingElse) {
    constexpr std::string_view kElements =
        R"({"id":"Observation.code","path":"Observation.code","fixedCodeableConcept":
                {"coding":[{"system":"http://x.org","code":"a"},{"system":"http://y.org","code":"b"}],
                 "text":"t"}})";
    const auto coded = [&](std::string_view code) {
        return against(
            fmt::format(R"({{"resourceType":"Observation","status":"final","code":{}}})", code),
            kElements);
    };
    constexpr std::string_view kOther = "error value Observation.code\n";
    EXPECT_EQ(coded(R"({"text":"t","coding":[{"code":"a","system":"http://x.org"},
                        {"system":"http://y.org","code":"b"}]})"),
              "");
    for (
        const std::string_view code :
        {R"({"coding":[{"system":"http://x.org","code":"a"},{"system":"http://y.org","code":"b"}]})",
         R"({"coding":[{"system":"http://x.org","code":"a"}],"text":"t"})",
         R"({"coding":[{"system":"http://y.org","code":"b"},{"system":"http://x.org","code":"a"}],"text":"t"})",
         R"({"coding":[{"system":"http://x.org","code":"a"},{"system":"http://y.org","code":"c"}],"text":"t"})",
         R"({"coding":[{"system":"http://x.org","code":"a"},{"system":"http://y.org","code":"b",
              "version":"1"}],"text":"t"})"}) {
        EXPECT_EQ(coded(code), kOther) << code;
    }
    constexpr std::string_view kAmount =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]",
            "fixedQuantity":{"value":1.0,"unit":"g"}})";
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"unit":"g","value":1.00})"), kAmount),
              "");
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"unit":"g","value":1.01})"), kAmount),
              "error value Observation.valueQuantity\n");
}

TEST(ValidationProfiles, AreForTheirOwnTypeAlone) {
    TextSource source;
    source.add(
        profile_of("Group", R"({"id":"Group.name","path":"Group.name","max":"1"})", "group"));
    EXPECT_EQ(
        issues(R"({"resourceType":"Patient","meta":{"profile":["http://x.org/group"]}})", source),
        "error structure Patient\n");
    source.add(profile_of("Patient", R"({"id":"Patient.name","path":"Patient.name","min":1})",
                          "odd", "http://x.org/group"));
    EXPECT_EQ(
        issues(R"({"resourceType":"Patient","meta":{"profile":["http://x.org/odd"]}})", source),
        "warning structure Patient\n")
        << "derived from what is of another type: nothing can be said";
}

TEST(ValidationProfiles, FollowWhatTheyAreDerivedFromWhenThatChanges) {
    TextSource source;
    const auto base = [&](std::string_view name) {
        source.add(profile_of(
            "Patient", fmt::format(R"({{"id":"Patient.{0}","path":"Patient.{0}","min":1}})", name),
            "base"));
    };
    source.add(profile_of("Patient", R"({"id":"Patient.photo","path":"Patient.photo","max":"0"})",
                          "p", "http://x.org/base"));
    Options options = by_profile();
    constexpr std::string_view kPatient = R"({"resourceType":"Patient","gender":"male"})";
    base("gender");
    EXPECT_EQ(issues(kPatient, source, options), "");
    base("birthDate");
    EXPECT_EQ(issues(kPatient, source, options), "error structure Patient\n");
    base("gender");
    EXPECT_EQ(issues(kPatient, source, options), "");
}

TEST(ValidationProfiles, SayWhatMayBeReferredTo) {
    TextSource source;
    source.add(
        profile_of("Patient", R"({"id":"Patient.name","path":"Patient.name","min":1})", "named"));
    const auto judged = [&](std::string_view targets, std::string_view subject) {
        source.add(profile_of("Observation", fmt::format(R"({{"id":"Observation.subject",
            "path":"Observation.subject","type":[{{"code":"Reference","targetProfile":[{}]}}]}})",
                                                         targets)));
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(
            fmt::format(R"({{"resourceType":"Observation","status":"final","code":{{"text":"t"}},
            "contained":[{{"resourceType":"Patient","id":"n","name":[{{"text":"N"}}]}},
                         {{"resourceType":"Patient","id":"m"}}],
            "extension":[{{"url":"http://x.org/e","valueReference":{{"reference":"#n"}}}},
                         {{"url":"http://x.org/e","valueReference":{{"reference":"#m"}}}}],"subject":{}}})",
                        subject),
            source, options);
    };
    constexpr std::string_view kPatient = R"("http://hl7.org/fhir/StructureDefinition/Patient")";
    constexpr std::string_view kNamed = R"("http://x.org/named")";
    constexpr std::string_view kUnknown = R"("http://x.org/unknown")";
    const std::string either =
        joined({R"("http://hl7.org/fhir/StructureDefinition/Group")", kNamed});
    constexpr std::string_view kWrong = "error structure Observation.subject\n";
    constexpr std::string_view kGroup = R"({"reference":"Group/1"})";
    constexpr std::string_view kAway = R"({"reference":"Patient/1"})";
    EXPECT_EQ(judged(kPatient, kAway), "");
    EXPECT_EQ(judged(kPatient, kGroup), kWrong);
    EXPECT_EQ(judged(kPatient, R"({"type":"Group","identifier":{"value":"1"}})"), kWrong);
    EXPECT_EQ(judged(kPatient, R"({"type":"Patient","identifier":{"value":"1"}})"), "");
    EXPECT_EQ(judged(kPatient, R"({"display":"somebody"})"), "");
    EXPECT_EQ(judged(kNamed, R"({"reference":"#n"})"), "");
    EXPECT_EQ(judged(kNamed, R"({"reference":"#m"})"), kWrong);
    EXPECT_EQ(judged(kNamed, kAway), "") << "what isn't here";
    EXPECT_EQ(judged(kNamed, kGroup), kWrong);
    EXPECT_EQ(judged(either, kGroup), "");
    EXPECT_EQ(judged(either, R"({"reference":"#n"})"), "");
    EXPECT_EQ(judged(either, R"({"reference":"#m"})"), kWrong);
    EXPECT_EQ(judged(either, R"({"reference":"Device/1"})"), kWrong);
    EXPECT_EQ(judged(kUnknown, kGroup), "") << "it can't be told";
    EXPECT_EQ(judged(kPatient, R"({"reference":"Group/1#p"})"), "") << "what another contains";
}

TEST(ValidationProfiles, OfATypeAreMetByOneOfThem) {
    TextSource source;
    const auto of_system = [&](std::string_view name) {
        source.add(profile_of("Identifier",
                              fmt::format(R"({{"id":"Identifier.system","path":"Identifier.system",
            "fixedUri":"http://x.org/{}"}})",
                                          name),
                              name));
    };
    of_system("one");
    of_system("two");
    const auto judged = [&](std::string_view profiles, std::string_view system) {
        source.add(profile_of(
            "Patient", fmt::format(R"({{"id":"Patient.identifier","path":"Patient.identifier",
            "type":[{{"code":"Identifier","profile":[{}]}}]}})",
                                   profiles)));
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(
            fmt::format(
                R"({{"resourceType":"Patient","identifier":[{{"system":"http://x.org/{}"}}]}})",
                system),
            source, options);
    };
    constexpr std::string_view kOne = R"("http://x.org/one")";
    const std::string both = joined({kOne, R"("http://x.org/two")"});
    EXPECT_EQ(judged(kOne, "one"), "");
    EXPECT_EQ(judged(kOne, "two"), "error value Patient.identifier[0].system\n");
    EXPECT_EQ(judged(both, "one"), "");
    EXPECT_EQ(judged(both, "two"), "");
    EXPECT_EQ(judged(both, "three"), "error structure Patient.identifier[0]\n");
    EXPECT_EQ(judged(joined({kOne, R"("http://x.org/unknown")"}), "two"), "") << "it can't be told";
}

TEST(ValidationProfiles, SpeakOfAChoiceByTheNameThatItHasWithItsType) {
    constexpr std::string_view kElements =
        R"({"id":"Observation.valueQuantity","path":"Observation.valueQuantity","min":1},
           {"id":"Observation.valueQuantity.unit","path":"Observation.valueQuantity.unit","fixedString":"g"})";
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":1,"unit":"g"})"), kElements),
              "");
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":1,"unit":"kg"})"), kElements),
              "error value Observation.valueQuantity.unit\n");
    EXPECT_EQ(against(observation_with(R"("valueString":"g")"), kElements),
              "error structure Observation\n");
}

TEST(ValidationProfiles, NameElementsThatTheirTypesHave) {
    const auto judged = [](std::string_view elements) {
        return issues(profile_of("Observation", elements));
    };
    const auto part = [](std::string_view name) {
        return fmt::format(R"({{"id":"Observation.value[x]","path":"Observation.value[x]",
                "type":[{{"code":"Quantity"}}]}},
            {{"id":"Observation.value[x].{0}","path":"Observation.value[x].{0}","max":"0"}})",
                           name);
    };
    constexpr std::string_view kWrong = "error value StructureDefinition\n";
    EXPECT_EQ(judged(part("code")), "");
    EXPECT_EQ(judged(part("coding")), kWrong);
    EXPECT_EQ(judged(R"({"id":"Observation.name","path":"Observation.name","max":"0"})"), kWrong);
    EXPECT_EQ(
        judged(R"({"id":"Observation.value[x].any","path":"Observation.value[x].any","max":"0"})"),
        "")
        << "of which type isn't said";
    std::string deep = "Observation.component";
    for (int i = 0; i < 100; ++i) {
        deep += ".none";
    }
    EXPECT_EQ(judged(fmt::format(R"({{"id":"{0}","path":"{0}","max":"0"}})", deep)), "")
        << "deeper than anything is nested: a path of a megabyte took 200 MB";
}

TEST(ValidationProfiles, OfSimpleQuantitiesAllowNoComparator) {
    constexpr std::string_view kSimple =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity",
            "profile":["http://hl7.org/fhir/StructureDefinition/SimpleQuantity"]}]})";
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":1})"), kSimple), "");
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":1,"comparator":"<"})"), kSimple),
              "error invariant Observation.valueQuantity\n");
    constexpr std::string_view kAny =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity",
            "profile":["http://hl7.org/fhir/StructureDefinition/Quantity"]}]})";
    EXPECT_EQ(against(observation_with(R"("valueQuantity":{"value":1,"comparator":"<"})"), kAny),
              "");
    EXPECT_EQ(issues(R"({"resourceType":"MedicationRequest","status":"active","intent":"order",
        "medicationCodeableConcept":{"text":"x"},"subject":{"reference":"Patient/1"},
        "dispenseRequest":{"quantity":{"value":1,"comparator":"<"}}})"),
              "error invariant MedicationRequest.dispenseRequest.quantity\n")
        << "as where R4 itself asks for one";
}

TEST(ValidationProfiles, ReachIntoElementsThatRepeatThoseAroundThem) {
    constexpr std::string_view kRanges =
        R"({"id":"Observation.component.referenceRange.low","path":"Observation.component.referenceRange.low",
            "min":1})";
    const auto ranged = [&](std::string_view range) {
        return against(
            observation_with(fmt::format(
                R"("component":[{{"code":{{"text":"c"}},"referenceRange":[{}]}}])", range)),
            kRanges);
    };
    EXPECT_EQ(ranged(R"({"low":{"value":1}})"), "");
    EXPECT_EQ(ranged(R"({"high":{"value":1}})"),
              "error structure Observation.component[0].referenceRange[0]\n");
    constexpr std::string_view kItems =
        R"({"id":"Questionnaire.item.item.prefix","path":"Questionnaire.item.item.prefix","min":1})";
    const auto nested = [&](std::string_view prefix) {
        return against(fmt::format(R"({{"resourceType":"Questionnaire","status":"draft","item":[
            {{"linkId":"a","type":"group","item":[{{"linkId":"b","type":"string"{}}}]}}]}})",
                                   prefix),
                       kItems);
    };
    EXPECT_EQ(nested(R"(,"prefix":"1")"), "");
    EXPECT_EQ(nested(""), "error structure Questionnaire.item[0].item[0]\n");
}

TEST(ValidationProfiles, SliceTextsAndIdentifiersByThemselves) {
    constexpr std::string_view kGiven =
        R"({"id":"Patient.name.given","path":"Patient.name.given","slicing":{"rules":"closed","discriminator":[
            {"type":"value","path":"$this"}]}},
        {"id":"Patient.name.given:a","path":"Patient.name.given","sliceName":"a","min":1,"max":"1",
            "fixedString":"A"},
        {"id":"Patient.name.given:b","path":"Patient.name.given","sliceName":"b","fixedString":"B"})";
    const auto named = [&](std::string_view given) {
        return against(
            fmt::format(R"({{"resourceType":"Patient","name":[{{"given":[{}]}}]}})", given),
            kGiven);
    };
    EXPECT_EQ(named(R"("A","B","B")"), "");
    EXPECT_EQ(named(R"("B")"), "error structure Patient.name[0]\n");
    EXPECT_EQ(named(R"("A","A")"), "error structure Patient.name[0]\n");
    EXPECT_EQ(named(R"("A","C")"), "error structure Patient.name[0].given[1]\n");
    constexpr std::string_view kIdentified =
        R"({"id":"Patient.identifier","path":"Patient.identifier","slicing":{"rules":"open","discriminator":[
            {"type":"pattern","path":"$this"}]}},
        {"id":"Patient.identifier:mr","path":"Patient.identifier","sliceName":"mr","min":1,
            "patternIdentifier":{"system":"http://x.org"}},
        {"id":"Patient.identifier:mr.value","path":"Patient.identifier.value","min":1})";
    const auto identified = [&](std::string_view identifier) {
        return against(fmt::format(R"({{"resourceType":"Patient","identifier":[{}]}})", identifier),
                       kIdentified);
    };
    EXPECT_EQ(identified(R"({"system":"http://x.org","value":"1"})"), "");
    EXPECT_EQ(identified(R"({"system":"http://y.org","value":"1"})"), "error structure Patient\n");
    EXPECT_EQ(identified(R"({"system":"http://x.org"})"),
              "error structure Patient.identifier[0]\n");
}

TEST(ValidationProfiles, OfResourcesInGeneralAreForEachOfThem) {
    TextSource source;
    source.add(profile_of("DomainResource",
                          R"({"id":"DomainResource.text","path":"DomainResource.text","min":1})",
                          "p"));
    Options options = by_profile();
    EXPECT_EQ(issues(R"({"resourceType":"Patient","gender":"male"})", source, options),
              "error structure Patient\n");
}

TEST(ValidationProfiles, OfMoneyQuantitiesAskForACurrency) {
    constexpr std::string_view kMoney =
        R"({"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity",
            "profile":["http://hl7.org/fhir/StructureDefinition/MoneyQuantity"]}]})";
    const auto judged = [&](std::string_view quantity) {
        return against(observation_with(fmt::format(R"("valueQuantity":{{{}}})", quantity)),
                       kMoney);
    };
    constexpr std::string_view kBroken = "error invariant Observation.valueQuantity\n";
    EXPECT_EQ(judged(R"("value":1,"system":"urn:iso:std:iso:4217","code":"EUR")"), "");
    EXPECT_EQ(judged(R"("unit":"EUR")"), "") << "there is no value";
    EXPECT_EQ(judged(R"("value":1,"unit":"EUR")"), kBroken);
    EXPECT_EQ(judged(R"("value":1,"system":"http://unitsofmeasure.org","code":"kg")"), kBroken);
    EXPECT_EQ(judged(R"("value":1,"comparator":"<","system":"urn:iso:std:iso:4217","code":"EUR")"),
              "");
}

TEST(ValidationProfiles, BoundTheCodesBeyondABindingByItsMaxValueSet) {
    TextSource source;
    const auto value_set = [&](std::string_view name, std::string_view codes) {
        source.add(fmt::format(
            R"({{"resourceType":"ValueSet","url":"http://x.org/{}","status":"active",
            "compose":{{"include":[{{"system":"http://x.org/s","concept":[{}]}}]}}}})",
            name, codes));
    };
    value_set("some", R"({"code":"a"})");
    value_set("all", R"({"code":"a"},{"code":"b"})");
    Options options = by_profile();
    const auto judged = [&](std::string_view strength, std::string_view max,
                            std::string_view concept_value) {
        source.add(profile_of(
            "Observation",
            fmt::format(
                R"({{"id":"Observation.method","path":"Observation.method","binding":{{"extension":[
                {{"url":"http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet",{}}}],
                "strength":"{}","valueSet":"http://x.org/some"}}}})",
                max, strength)));
        return issues(fmt::format(R"({{"resourceType":"Observation","status":"final",
            "code":{{"text":"x"}},"method":{}}})",
                                  concept_value),
                      source, options);
    };
    const auto coded = [](std::string_view code) {
        return fmt::format(R"({{"coding":[{{"system":"http://x.org/s","code":"{}"}}]}})", code);
    };
    constexpr std::string_view kAll = R"("valueCanonical":"http://x.org/all")";
    constexpr std::string_view kText = R"({"text":"x"})";
    const std::string error = "error code-invalid Observation.method\n";
    const std::string warning = "warning code-invalid Observation.method\n";
    EXPECT_EQ(judged("extensible", kAll, coded("a")), "");
    EXPECT_EQ(judged("extensible", kAll, coded("b")), warning);
    EXPECT_EQ(judged("extensible", kAll, coded("c")), warning + error);
    EXPECT_EQ(judged("extensible", kAll, kText), error);
    EXPECT_EQ(judged("preferred", kAll, coded("b")), "");
    EXPECT_EQ(judged("preferred", kAll, coded("c")), error);
    EXPECT_EQ(judged("preferred", R"("valueUri":"http://x.org/all")", coded("c")), error);
    EXPECT_EQ(judged("preferred", kAll, kText), "") << "which a preferred binding leaves to words";
    EXPECT_EQ(judged("preferred", R"("valueCanonical":"http://x.org/none")", coded("c")), "")
        << "it isn't here";
}

}  // namespace
}  // namespace annals::validation
