// What profiles say of elements: how many, which values and types, and by which rules.

#include "core/validation/validate.h"
#include "tests/core/validation_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::validation {
namespace {

TEST(Validation, CountsElementsOfProfiles) {
    constexpr std::string_view kElements =
        R"({"id":"Patient.name","path":"Patient.name","min":1,"max":"1"},
           {"id":"Patient.name.family","path":"Patient.name.family","min":1},
           {"id":"Patient.animal","path":"Patient.photo","max":"0"})";
    EXPECT_EQ(against(R"({"resourceType":"Patient","name":[{"family":"S"}]})", kElements), "");
    EXPECT_EQ(against(R"({"resourceType":"Patient","name":[{"_family":{"extension":[
        {"url":"http://x.org/e","valueString":"x"}]}}]})",
                      kElements),
              "");
    EXPECT_EQ(against(R"({"resourceType":"Patient"})", kElements), "error structure Patient\n");
    EXPECT_EQ(
        against(R"({"resourceType":"Patient","name":[{"family":"S"},{"text":"T"}]})", kElements),
        "error structure Patient\nerror structure Patient.name[1]\n");
    EXPECT_EQ(
        against(R"({"resourceType":"Patient","name":[{"family":"S"}],"photo":[{"title":"x"}]})",
                kElements),
        "error structure Patient\n");
}

TEST(Validation, ComparesFixedValuesAndPatterns) {
    constexpr std::string_view kElements =
        R"({"id":"Observation.status","path":"Observation.status","fixedCode":"final"},
           {"id":"Observation.code","path":"Observation.code","patternCodeableConcept":
                {"coding":[{"system":"http://x.org","code":"a"}]}},
           {"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity"}]},
           {"id":"Observation.value[x].value","path":"Observation.value[x].value",
                "minValueDecimal":1,"maxValueDecimal":2.50})";
    const auto observation = [&](std::string_view status, std::string_view code,
                                 std::string_view value) {
        return against(R"({"resourceType":"Observation","status":")" + std::string(status) +
                           R"(","code":{"text":"t","coding":[{"system":"http://y.org","code":"y"},
            {"system":"http://x.org","code":")" +
                           std::string(code) + R"("}]},)" + std::string(value) + "}",
                       kElements);
    };
    EXPECT_EQ(observation("final", "a", R"("valueQuantity":{"value":2.5})"), "");
    EXPECT_EQ(observation("amended", "b", R"("valueQuantity":{"value":2.51})"),
              "error value Observation.status\nerror value Observation.code\n"
              "error value Observation.valueQuantity.value\n");
    EXPECT_EQ(observation("final", "a", R"("valueString":"x")"),
              "error structure Observation.valueString\n");
}

TEST(Validation, AsksTerminologyForRulesOfProfiles) {
    const auto broken = [](std::string_view rule, std::string_view code) {
        TextSource source;
        source.add(
            R"({"resourceType":"ValueSet","url":"http://x.org/vs","status":"draft","compose":{
            "include":[{"system":"http://x.org/cs","concept":[{"code":"a"}]}]}})");
        source.add(
            R"({"resourceType":"CodeSystem","url":"http://x.org/cs","status":"draft","content":"complete",
            "concept":[{"code":"a"},{"code":"b"}]})");
        source.add(profile_of("Observation",
                              R"({"id":"Observation","path":"Observation","constraint":[
            {"key":"x-1","severity":"error","human":"h","expression":")" +
                                  std::string(rule) + R"("}]})"));
        Options options;
        options.profiles = {"http://x.org/p"};
        const std::string found = issues(
            R"({"resourceType":"Observation","status":"final","code":{"text":"t"},"method":{"coding":[
            {"system":"http://x.org/cs","code":")" +
                std::string(code) + R"("}]}})",
            source, options);
        EXPECT_TRUE(found.empty() || found == "error invariant Observation\n") << found;
        return !found.empty();
    };
    for (const char* rule :
         {"method.memberOf('http://x.org/vs')", "method.coding.memberOf('http://x.org/vs')",
          "method.coding.code.memberOf('http://x.org/vs')",
          "(method.coding.code & '').memberOf('http://x.org/vs')"}) {
        EXPECT_FALSE(broken(rule, "a")) << rule;
        EXPECT_TRUE(broken(rule, "b")) << rule;
    }
    EXPECT_FALSE(broken("method.memberOf('http://x.org/none')", "b")) << "it can't be told";
}

TEST(Validation, ComparesQuantitiesWithLimitsInTheirUnits) {
    const auto weight = [](std::string_view limit, std::string_view value) {
        const std::string elements =
            R"({"id":"Observation.value[x]","path":"Observation.value[x]","minValueQuantity":)" +
            std::string(limit) + "}";
        return against(
            R"({"resourceType":"Observation","status":"final","code":{"text":"t"},"valueQuantity":)" +
                std::string(value) + "}",
            elements);
    };
    constexpr std::string_view kKilo =
        R"({"value":1,"unit":"kilo","system":"http://unitsofmeasure.org","code":"kg"})";
    constexpr std::string_view kTooSmall = "error value Observation.valueQuantity\n";
    const auto ucum = [](std::string_view value, std::string_view code) {
        return R"({"value":)" + std::string(value) +
               R"(,"system":"http://unitsofmeasure.org","code":")" + std::string(code) + R"("})";
    };
    EXPECT_EQ(weight(kKilo, ucum("1.0", "kg")), "");
    EXPECT_EQ(weight(kKilo, ucum("0.9", "kg")), kTooSmall);
    EXPECT_EQ(weight(kKilo, ucum("999.9", "g")), kTooSmall);
    EXPECT_EQ(weight(kKilo, ucum("1000", "g")), "");
    EXPECT_EQ(weight(kKilo, ucum("0.01", "t")), "");
    EXPECT_EQ(weight(kKilo, ucum("0.9", "m")), "") << "it can't be told";
    EXPECT_EQ(weight(kKilo, R"({"value":0.9,"unit":"kg"})"), "") << "nor can it here";
    EXPECT_EQ(weight(kKilo, R"({"value":0.9,"system":"http://x.org","code":"kg"})"), "");
    EXPECT_EQ(weight(R"({"value":1})", ucum("0.9", "g")), kTooSmall);
    EXPECT_EQ(weight(R"({"value":1,"unit":"stone"})", R"({"value":0.9,"unit":"stone"})"),
              kTooSmall);
    EXPECT_EQ(weight(R"({"value":1,"unit":"stone"})", R"({"value":0.9,"unit":"feet"})"), "");
}

TEST(Validation, ChecksLengthsBindingsAndRulesOfProfiles) {
    TextSource source;
    source.add(profile_of("Patient", R"--(
        {"id":"Patient","path":"Patient","constraint":[{"key":"x-1","severity":"error","human":"An id or a name",
            "expression":"identifier.exists() or name.exists()"}]},
        {"id":"Patient.name.family","path":"Patient.name.family","maxLength":3},
        {"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":
            {"strength":"required","valueSet":"http://x.org/vs|1"}})--"));
    source.add(
        R"({"resourceType":"ValueSet","url":"http://x.org/vs","version":"1","status":"draft","compose":{
        "include":[{"system":"http://x.org/cs"}],"exclude":[{"system":"http://x.org/cs","concept":[{"code":"b"}]}]}})");
    source.add(
        R"({"resourceType":"CodeSystem","url":"http://x.org/cs","status":"draft","content":"complete",
        "concept":[{"code":"a","concept":[{"code":"a1"}]},{"code":"b"}]})");
    Options options = by_profile();
    const auto patient = [&](std::string_view code, std::string_view name) {
        return issues(
            R"({"resourceType":"Patient","maritalStatus":{"coding":[{"system":"http://x.org/cs","code":")" +
                std::string(code) + R"("}]})" + std::string(name) + "}",
            source, options);
    };
    EXPECT_EQ(patient("a1", R"(,"name":[{"family":"äöü"}])"), "");
    EXPECT_EQ(patient("b", R"(,"name":[{"family":"abcd"}])"),
              "error too-long "
              "Patient.name[0]."
              "family\nerror code-invalid "
              "Patient.maritalStatus\n");
    EXPECT_EQ(patient("c", ""),
              "error code-invalid "
              "Patient.maritalStatus."
              "coding[0]\nerror invariant "
              "Patient\n"
              "error code-invalid "
              "Patient.maritalStatus\n");
}

TEST(Validation, TellsOfRulesAsSeverelyAsTheirProfilesSay) {
    const auto judged = [](std::string_view severity) {
        return against(
            R"({"resourceType":"Patient","gender":"male"})",
            fmt::format(R"({{"id":"Patient","path":"Patient","constraint":[{{"key":"x-1",)"
                        R"("severity":"{}","human":"h","expression":"name.count() > 0"}}]}})",
                        severity));
    };
    EXPECT_EQ(judged("error"), "error invariant Patient\n");
    EXPECT_EQ(judged("warning"), "warning invariant Patient\n");
}

TEST(Validation, DemandsThatRulesOfProfilesYieldTrue) {
    const auto is_kept = [](std::string_view rule) {
        const std::string found = against(
            R"({"resourceType":"Patient","gender":"male","birthDate":"1974",
                "managingOrganization":{"display":"x"}})",
            fmt::format(R"({{"id":"Patient","path":"Patient","constraint":[{{"key":"x-1",)"
                        R"("severity":"error","human":"h","expression":"{}"}}]}})",
                        rule));
        EXPECT_TRUE(found.empty() || found == "error invariant Patient\n") << found;
        return found.empty();
    };
    EXPECT_TRUE(is_kept("gender"));
    for (const char* rule : {"{}", "name.family = 'x'", "name.family.startsWith('x').not()",
                             "maritalStatus.memberOf('http://x.org/none')", "repeat(contact).name",
                             "maritalStatus.text.length() < 9 and true"}) {
        EXPECT_FALSE(is_kept(rule)) << rule;
    }
    for (const char* rule :
         {"birthDate > @1974-05-01", "managingOrganization.resolve() is Organization",
          "multipleBirth.exists() or gender.memberOf('http://x.org/none')"}) {
        EXPECT_TRUE(is_kept(rule)) << rule << " can't be told";
    }
}

TEST(Validation, ReplacesARuleOfTheBaseProfileByTheOneWithItsKey) {
    const auto rule = [](std::string_view expression) {
        return fmt::format(R"({{"id":"Patient","path":"Patient","constraint":[{{"key":"x-1",
            "severity":"error","human":"h","expression":"{}"}}]}})",
                           expression);
    };
    TextSource source;
    source.add(profile_of("Patient", rule("name.exists()"), "base"));
    source.add(profile_of("Patient", rule("gender.exists()"), "p", "http://x.org/base"));
    EXPECT_EQ(issues(R"({"resourceType":"Patient","gender":"male"})", source, by_profile()), "");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"text":"x"}]})", source, by_profile()),
              "error invariant Patient\n");
}

TEST(Validation, EvaluatesRulesOfProfilesInTheResourceThatTheyAreAbout) {
    constexpr std::string_view kRule =
        R"("constraint":[{"key":"x-1","severity":"error","human":"h","expression":")";
    EXPECT_EQ(
        against(
            R"({"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"http://x.org/Patient/p",
                    "resource":{"resourceType":"Patient","id":"p","gender":"male"}}]})",
            fmt::format(R"({{"id":"Bundle.entry.resource","path":"Bundle.entry.resource",)"
                        R"({}%resource is Patient"}}]}})",
                        kRule)),
        "");
    TextSource source;
    source.add(profile_of("Organization",
                          fmt::format(R"({{"id":"Organization","path":"Organization",)"
                                      R"({}%resource.id = 'o' and %rootResource.id = 'p'"}}]}})",
                                      kRule)));
    EXPECT_EQ(
        issues(R"({"resourceType":"Patient","id":"p","managingOrganization":{"reference":"#o"},
                         "contained":[{"resourceType":"Organization","id":"o","name":"x",
                                       "meta":{"profile":["http://x.org/p"]}}]})",
               source),
        "");
}

TEST(Validation, DemandsElementsOfAChoiceOnlyWhereItsTypeHasThem) {
    constexpr std::string_view kCoded =
        R"({"id":"Observation.value[x].coding","path":"Observation.value[x].coding","min":1})";
    const auto observation = [](std::string_view value) {
        return fmt::format(
            R"({{"resourceType":"Observation","status":"final","code":{{"text":"t"}},{}}})", value);
    };
    EXPECT_EQ(against(observation(R"("valueQuantity":{"value":1})"), kCoded), "");
    EXPECT_EQ(against(observation(R"("valueCodeableConcept":{"text":"x"})"), kCoded),
              "error structure Observation.valueCodeableConcept\n");
}

TEST(Validation, TakesFhirpathsTypesForThoseOfPrimitives) {
    EXPECT_EQ(against(R"({"resourceType":"Patient","id":"p"})",
                      R"({"id":"Patient.id","path":"Patient.id",
                          "type":[{"code":"http://hl7.org/fhirpath/System.String"}]})"),
              "");
}

TEST(Validation, KnowsWhatABackboneElementHas) {
    EXPECT_EQ(issues(profile_of("Observation", R"(
                  {"id":"Observation.component","path":"Observation.component","type":[{"code":"BackboneElement"}]},
                  {"id":"Observation.component.code","path":"Observation.component.code","min":1})")),
              "");
}

TEST(Validation, TakesBindingsOfProfilesByTheirStrength) {
    const auto judged = [](std::string_view strength) {
        TextSource source;
        source.add(
            profile_of("Basic", fmt::format(R"({{"id":"Basic.code","path":"Basic.code","binding":
                {{"strength":"{}","valueSet":"http://x.org/vs"}}}})",
                                            strength)));
        source.add(
            R"({"resourceType":"ValueSet","url":"http://x.org/vs","status":"draft","compose":{
            "include":[{"system":"http://x.org/cs"}]}})");
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(R"({"resourceType":"Basic","code":{"coding":[
            {"system":"http://x.org/other","code":"a"}]}})",
                      source, options);
    };
    EXPECT_EQ(judged("required"), "error code-invalid Basic.code\n");
    EXPECT_EQ(judged("extensible"), "warning code-invalid Basic.code\n");
    EXPECT_EQ(judged("preferred"), "");
    EXPECT_EQ(judged("example"), "");
}

TEST(Validation, TakesOfAChoiceTheTypesThatAreNamed) {
    const std::string_view quantity =
        R"({"id":"Extension.value[x]","path":"Extension.value[x]","type":[{"code":"Quantity"}]})";
    TextSource source;
    std::string definition = profile_of("Extension", quantity, "e");
    definition.insert(definition.size() - 1,
                      R"(,"context":[{"type":"element","expression":"Element"}])");
    source.add(definition);
    const auto patient = [&](std::string_view value) {
        return issues(R"({"resourceType":"Patient","extension":[{"url":"http://x.org/e",)" +
                          std::string(value) + "}]}",
                      source);
    };
    EXPECT_EQ(patient(R"("valueQuantity":{"value":1})"), "");
    EXPECT_EQ(patient(R"("valueAge":{"value":1,"system":"http://unitsofmeasure.org","code":"a"})"),
              "error structure Patient.extension[0].valueAge\n");
}

TEST(Validation, FollowsReferencesOfRulesAsFarAsTheyLeadHere) {
    TextSource source;
    source.add(
        profile_of("Observation", R"json({"id":"Observation","path":"Observation","constraint":[
        {"key":"r-1","severity":"error","human":"","expression":"subject.resolve().exists()"},
        {"key":"r-2","severity":"error","human":"","expression":"subject.resolve() is Patient"},
        {"key":"r-3","severity":"error","human":"","expression":"subject.resolve().name.exists()"}]})json"));
    const auto observation = [](std::string_view subject) {
        return fmt::format(
            R"({{"resourceType":"Observation","id":"o","meta":{{"profile":["http://x.org/p"]}},)"
            R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"{}"}}}})",
            subject);
    };
    const auto bundle = [&](std::string_view subject, std::string_view name) {
        return issues(fmt::format(
                          R"({{"resourceType":"Bundle","type":"collection","entry":[
            {{"fullUrl":"http://x.org/Observation/o","resource":{}}},
            {{"fullUrl":"http://x.org/Patient/1","resource":{{"resourceType":"Patient","id":"1"{}}}}}]}})",
                          observation(subject), name),
                      source);
    };
    for (const std::string_view subject : {"Patient/1", "http://x.org/Patient/1"}) {
        EXPECT_EQ(bundle(subject, R"(,"name":[{"text":"x"}])"), "");
        EXPECT_EQ(bundle(subject, ""), "error invariant Bundle.entry[0].resource\n");
    }
    // A reference that leads elsewhere may lead to somebody with a name.
    EXPECT_EQ(issues(observation("Patient/2"), source), "");
}

TEST(Validation, TakesInWhatAProfileIsDerivedFrom) {
    TextSource source;
    source.add(profile_of("Patient",
                          R"({"id":"Patient.name","path":"Patient.name","min":1},
        {"id":"Patient.identifier","path":"Patient.identifier","slicing":{"rules":"open","discriminator":[
            {"type":"value","path":"system"}]}},
        {"id":"Patient.identifier:x","path":"Patient.identifier","sliceName":"x"},
        {"id":"Patient.identifier:x.system","path":"Patient.identifier.system","fixedUri":"http://x.org"})",
                          "base"));
    source.add(profile_of("Patient",
                          R"({"id":"Patient.birthDate","path":"Patient.birthDate","min":1},
        {"id":"Patient.identifier:x","path":"Patient.identifier","sliceName":"x","min":1})",
                          "p", "http://x.org/base"));
    Options options = by_profile();
    EXPECT_EQ(issues(
                  R"({"resourceType":"Patient","name":[{"text":"x"}],"birthDate":"2000",
        "identifier":[{"system":"http://x.org","value":"1"}]})",
                  source, options),
              "");
    EXPECT_EQ(
        issues(R"({"resourceType":"Patient","identifier":[{"system":"http://y.org","value":"1"}]})",
               source, options),
        "error structure "
        "Patient\nerror "
        "structure "
        "Patient\nerror "
        "structure Patient\n");
}

TEST(Validation, SaysWhichProfilesItDoesNotKnow) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","meta":{"profile":["http://x.org/unknown"]}})"),
              "warning not-found "
              "Patient\n");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","meta":{"profile":["http://hl7.org/fhir/StructureDefinition/Patient"]}})"),
        "");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","meta":{"profile":["http://hl7.org/fhir/StructureDefinition/Group"]}})"),
        "error structure "
        "Patient\n");
}

TEST(Validation, SaysEachTimeWhyItDoesNotCheckAgainstAProfile) {
    TextSource source;
    source.add(profile_of("Nonsense", ""));
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Bundle","type":"collection","entry":[
        {"fullUrl":"urn:uuid:11111111-1111-4111-8111-111111111111",
         "resource":{"resourceType":"Patient","meta":{"profile":["http://x.org/p"]}}},
        {"fullUrl":"urn:uuid:22222222-2222-4222-8222-222222222222",
         "resource":{"resourceType":"Patient","meta":{"profile":["http://x.org/p"]}}}]})",
            source),
        "warning structure Bundle.entry[0].resource\nwarning structure Bundle.entry[1].resource\n");
}

}  // namespace
}  // namespace annals::validation
