// Slices by each kind of discriminator: values, patterns, types, existence, profiles.

#include "core/validation/validate.h"
#include "tests/core/validation_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::validation {
namespace {

TEST(Validation, SlicesByValue) {
    const std::string elements =
        components("closed", R"({"type":"value","path":"code.coding.code"})",
                   R"(
        {"id":"Observation.component:a","path":"Observation.component","sliceName":"a","min":1,"max":"1"},
        {"id":"Observation.component:a.code.coding.code","path":"Observation.component.code.coding.code","fixedCode":"a"},
        {"id":"Observation.component:a.value[x]","path":"Observation.component.value[x]","type":[{"code":"integer"}]},
        {"id":"Observation.component:b","path":"Observation.component","sliceName":"b"},
        {"id":"Observation.component:b.code.coding.code","path":"Observation.component.code.coding.code","fixedCode":"b"})");
    EXPECT_EQ(against(with_components(joined({kA, kB})), elements), "");
    EXPECT_EQ(against(with_components(joined({kB, kA})), elements),
              "error structure "
              "Observation.component[1]"
              "\n");  // wrong order
    EXPECT_EQ(against(with_components(kB), elements),
              "error structure "
              "Observation\n");
    EXPECT_EQ(against(with_components(joined({kA, kC})), elements),
              "error structure "
              "Observation.component[1]"
              "\n");  // closed
}

TEST(Validation, SlicesWithinASliceAsTheUnslicedElementSays) {
    // The inner slice may be described at the unsliced element or within the slice.
    const auto elements = [](std::string_view outside, std::string_view inside) {
        return components("open", R"({"type":"value","path":"value"})",
                          fmt::format(R"(
        {{"id":"Observation.component.code.coding","path":"Observation.component.code.coding",
            "slicing":{{"rules":"open","discriminator":[{{"type":"value","path":"system"}}]}}}},
        {}
        {{"id":"Observation.component:a","path":"Observation.component","sliceName":"a"}},
        {{"id":"Observation.component:a.code.coding:x","path":"Observation.component.code.coding",
            "sliceName":"x","min":1}},
        {}
        {{"id":"Observation.component:a.code.coding:x.code","path":"Observation.component.code.coding.code",
            "fixedCode":"a"}},
        {{"id":"Observation.component:a.value[x]","path":"Observation.component.value[x]","fixedInteger":1}})",
                                      outside, inside));
    };
    const std::string by_outside = elements(R"(
        {"id":"Observation.component.code.coding:x","path":"Observation.component.code.coding","sliceName":"x"},
        {"id":"Observation.component.code.coding:x.system","path":"Observation.component.code.coding.system",
            "fixedUri":"http://x.org"},)",
                                            "");
    const std::string by_inside = elements("", R"(
        {"id":"Observation.component:a.code.coding:x.system","path":"Observation.component.code.coding.system",
            "fixedUri":"http://x.org"},)");
    const auto component = [](std::string_view codings, int value) {
        return with_components(
            fmt::format(R"({{"code":{{"coding":[{}]}},"valueInteger":{}}})", codings, value));
    };
    constexpr std::string_view kRight = R"({"system":"http://x.org","code":"a"})";
    constexpr std::string_view kOther = R"({"system":"http://y.org","code":"b"})";
    constexpr std::string_view kWrong = R"({"system":"http://x.org","code":"b"})";
    for (const std::string& profile : {by_outside, by_inside}) {
        EXPECT_EQ(against(component(joined({kOther, kRight}), 1), profile), "");
        EXPECT_EQ(against(component(kOther, 1), profile),
                  "error structure Observation.component[0].code\n");
        EXPECT_EQ(against(component(kWrong, 1), profile),
                  "error value Observation.component[0].code.coding[0].code\n");
        EXPECT_EQ(against(component(kOther, 2), profile), "") << "in no slice";
        EXPECT_EQ(against(component(kWrong, 2), profile), "") << "in no slice";
    }
}

TEST(Validation, SlicesByPattern) {
    const std::string elements = components("open", R"({"type":"pattern","path":"code"})",
                                            R"(
        {"id":"Observation.component:a","path":"Observation.component","sliceName":"a","min":1},
        {"id":"Observation.component:a.code","path":"Observation.component.code",
            "patternCodeableConcept":{"coding":[{"code":"a"}]}},
        {"id":"Observation.component:a.value[x]","path":"Observation.component.value[x]","min":1,"type":[{"code":"string"}]})");
    EXPECT_EQ(against(with_components(joined({kC, kB})), elements),
              "error structure "
              "Observation\n");
    EXPECT_EQ(against(with_components(kA), elements),
              "error structure "
              "Observation.component[0]"
              ".valueInteger\n");
}

TEST(Validation, DemandsFurtherInOfWhatASlicesPatternTells) {
    const std::string_view identifiers = R"(
        {"id":"Patient.identifier","path":"Patient.identifier","slicing":{"rules":"open","discriminator":[
            {"type":"pattern","path":"$this"}]}},
        {"id":"Patient.identifier:a","path":"Patient.identifier","sliceName":"a",
            "patternIdentifier":{"use":"official"}},
        {"id":"Patient.identifier:a.system","path":"Patient.identifier.system","min":1,
            "patternUri":"http://x.org/a"})";
    const auto patient = [&](std::string_view use, std::string_view system) {
        return against(fmt::format(R"({{"resourceType":"Patient","identifier":[
            {{"use":"{}","system":"{}","value":"1"}}]}})",
                                   use, system),
                       identifiers);
    };
    EXPECT_EQ(patient("official", "http://x.org/a"), "");
    EXPECT_EQ(patient("usual", "http://x.org/b"), "");
    EXPECT_EQ(patient("official", "http://x.org/b"), "error value Patient.identifier[0].system\n");
}

TEST(Validation, SlicesASliceByItsOwnDiscriminators) {
    const std::string_view telecom = R"(
        {"id":"Patient.telecom","path":"Patient.telecom","slicing":{"rules":"open","discriminator":[
            {"type":"value","path":"system"}]}},
        {"id":"Patient.telecom:phone","path":"Patient.telecom","sliceName":"phone","slicing":{"rules":"open",
            "discriminator":[{"type":"value","path":"use"}]}},
        {"id":"Patient.telecom:phone.system","path":"Patient.telecom.system","fixedCode":"phone"},
        {"id":"Patient.telecom:phone/home","path":"Patient.telecom","sliceName":"phone/home","min":1,"max":"1"},
        {"id":"Patient.telecom:phone/home.system","path":"Patient.telecom.system","fixedCode":"phone"},
        {"id":"Patient.telecom:phone/home.use","path":"Patient.telecom.use","fixedCode":"home"},
        {"id":"Patient.telecom:phone/home.value","path":"Patient.telecom.value","maxLength":3})";
    const auto patient = [&](std::string_view rest) {
        return against(
            R"({"resourceType":"Patient","telecom":[{"system":"phone","use":"home","value":"1"},)" +
                std::string(rest) + "]}",
            telecom);
    };
    EXPECT_EQ(patient(R"({"system":"phone","use":"work","value":"1234"})"), "");
    EXPECT_EQ(patient(R"({"system":"email","use":"home","value":"1234"})"), "");
    EXPECT_EQ(patient(R"({"system":"phone","use":"home","value":"1"})"),
              "error structure Patient\n");
    EXPECT_EQ(against(R"({"resourceType":"Patient","telecom":[{"system":"phone","use":"work"}]})",
                      telecom),
              "error structure Patient\n");
}

TEST(Validation, DemandsASliceWhereAllElementsAreInOthers) {
    const std::string elements = components("open", R"({"type":"pattern","path":"code"})",
                                            R"(
        {"id":"Observation.component:a","path":"Observation.component","sliceName":"a","min":1},
        {"id":"Observation.component:a.code","path":"Observation.component.code",
            "patternCodeableConcept":{"coding":[{"code":"a"}]}},
        {"id":"Observation.component:b","path":"Observation.component","sliceName":"b","min":1},
        {"id":"Observation.component:b.code","path":"Observation.component.code",
            "patternCodeableConcept":{"coding":[{"code":"b"}]}},
        {"id":"Observation.component:x","path":"Observation.component","sliceName":"x","min":1})");
    EXPECT_EQ(against(with_components(joined({kA, kB})), elements), "")
        << "of x it can't be told what is in it";
    EXPECT_EQ(against(with_components(kA), elements), "error structure Observation\n");
    EXPECT_EQ(against(with_components(joined({kA, kA})), elements),
              "error structure Observation\n");
    EXPECT_EQ(against(with_components(kB), elements), "error structure Observation\n");
    constexpr std::string_view kBoth = R"({"code":{"coding":[{"code":"a"},{"code":"b"}]}})";
    EXPECT_EQ(against(with_components(kBoth), elements), "");
}

TEST(Validation, TellsSlicesApartWhoseNamesBeginAlike) {
    const std::string elements = components("open", R"({"type":"pattern","path":"code"})", R"(
        {"id":"Observation.component:b","path":"Observation.component","sliceName":"b"},
        {"id":"Observation.component:b.code","path":"Observation.component.code",
            "patternCodeableConcept":{"coding":[{"code":"b"}]}},
        {"id":"Observation.component:ba","path":"Observation.component","sliceName":"ba","min":1},
        {"id":"Observation.component:ba.code","path":"Observation.component.code",
            "patternCodeableConcept":{"coding":[{"code":"a"}]}})");
    EXPECT_EQ(against(with_components(kA), elements), "");
    EXPECT_EQ(against(with_components(kB), elements), "error structure Observation\n");
}

TEST(Validation, SlicesByTypeAndExistence) {
    const std::string by_type = components("open", R"({"type":"type","path":"value"})",
                                           R"(
        {"id":"Observation.component:n","path":"Observation.component","sliceName":"n","min":1},
        {"id":"Observation.component:n.value[x]","path":"Observation.component.value[x]","type":[{"code":"integer"}]})");
    EXPECT_EQ(against(with_components(kA), by_type), "");
    EXPECT_EQ(against(with_components(kB), by_type),
              "error structure "
              "Observation\n");
    const std::string by_existence =
        components("open", R"({"type":"exists","path":"dataAbsentReason"})",
                   R"(
        {"id":"Observation.component:no","path":"Observation.component","sliceName":"no","max":"0"},
        {"id":"Observation.component:no.dataAbsentReason","path":"Observation.component.dataAbsentReason","min":1})");
    EXPECT_EQ(against(with_components(kA), by_existence), "");
    EXPECT_EQ(against(with_components(joined({kA, kC})), by_existence),
              "error structure "
              "Observation\n");
}

TEST(Validation, SlicesByProfileOfWhatIsReferredTo) {
    TextSource source;
    source.add(profile_of("Bundle", R"(
        {"id":"Bundle.entry","path":"Bundle.entry","slicing":{"rules":"open","discriminator":[
            {"type":"profile","path":"resource"}]}},
        {"id":"Bundle.entry:p","path":"Bundle.entry","sliceName":"p","min":1,"max":"1"},
        {"id":"Bundle.entry:p.resource","path":"Bundle.entry.resource","type":[
            {"code":"Patient","profile":["http://x.org/named"]}]})"));
    source.add(
        profile_of("Patient", R"({"id":"Patient.name","path":"Patient.name","min":1})", "named"));
    Options options = by_profile();
    const auto bundle = [&](std::string_view name) {
        return issues(
            R"({"resourceType":"Bundle","type":"collection","entry":[
            {"fullUrl":"http://x.org/Patient/1","resource":{"resourceType":"Patient","id":"1")" +
                std::string(name) + "}}]}",
            source, options);
    };
    EXPECT_EQ(bundle(R"(,"name":[{"text":"x"}])"), "");
    EXPECT_EQ(bundle(""),
              "error structure "
              "Bundle\n");
}

TEST(Validation, SlicesByProfilesThatLookAtOtherEntriesOrContainedResources) {
    // A profile that demands a reference to something that conforms to another profile.
    const auto demanding = [](std::string_view type, std::string_view element,
                              std::string_view name, std::string_view target) {
        constexpr std::string_view kElements =
            R"json({{"id":"{0}","path":"{0}","slicing":{{"rules":"open","discriminator":[
                {{"type":"profile","path":"resolve()"}}]}}}},
            {{"id":"{0}:s","path":"{0}","sliceName":"s","min":1,"type":[
                {{"code":"Reference","targetProfile":["http://x.org/{1}"]}}]}})json";
        return profile_of(type, fmt::format(kElements, fmt::format("{}.{}", type, element), target),
                          name);
    };
    TextSource source;
    source.add(profile_of("Bundle", R"(
        {"id":"Bundle.entry","path":"Bundle.entry","slicing":{"rules":"open","discriminator":[
            {"type":"type","path":"resource"},{"type":"profile","path":"resource"}]}},
        {"id":"Bundle.entry:o","path":"Bundle.entry","sliceName":"o","min":1},
        {"id":"Bundle.entry:o.resource","path":"Bundle.entry.resource","type":[
            {"code":"Observation","profile":["http://x.org/observed"]}]})"));
    source.add(demanding("Observation", "focus", "observed", "cared"));
    source.add(demanding("Patient", "generalPractitioner", "cared", "known"));
    source.add(profile_of("Practitioner",
                          R"({"id":"Practitioner.name","path":"Practitioner.name","min":1})",
                          "known"));
    Options options = by_profile();
    const auto bundle = [&](std::string_view practitioner) {
        return issues(
            R"({"resourceType":"Bundle","type":"collection","entry":[
            {"fullUrl":"urn:uuid:0e3ee7bd-0e52-4a2b-9a2c-3b6c1d2f9a10","resource":{"resourceType":"Observation",
                "status":"final","code":{"text":"x"},
                "focus":[{"reference":"urn:uuid:0e3ee7bd-0e52-4a2b-9a2c-3b6c1d2f9a11"}]}},
            {"fullUrl":"urn:uuid:0e3ee7bd-0e52-4a2b-9a2c-3b6c1d2f9a11","resource":{"resourceType":"Patient",
                "generalPractitioner":[{"reference":"#d"}],
                "contained":[{"resourceType":"Practitioner","id":"d")" +
                std::string(practitioner) + "}]}}]}",
            source, options);
    };
    EXPECT_EQ(bundle(R"(,"name":[{"text":"x"}])"), "");
    EXPECT_EQ(bundle(""), "error structure Bundle\n");
}

TEST(Validation, LeavesOpenInWhichSliceIsWhatIsNotHere) {
    const auto against_slice = [](std::string_view kind, std::string_view target,
                                  std::string_view reference) {
        TextSource source;
        source.add(profile_of("Observation", fmt::format(
                                                 R"json(
            {{"id":"Observation.hasMember","path":"Observation.hasMember","slicing":{{"rules":"closed",
                "discriminator":[{{"type":"{}","path":"resolve()"}}]}}}},
            {{"id":"Observation.hasMember:m","path":"Observation.hasMember","sliceName":"m","min":1,"type":[
                {{"code":"Reference","targetProfile":["{}"]}}]}})json",
                                                 kind, target)));
        source.add(profile_of(
            "Observation", R"({"id":"Observation.value[x]","path":"Observation.value[x]","min":1})",
            "valued"));
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(
            fmt::format(R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},
            "hasMember":[{{"reference":"{}"}}],"contained":[
                {{"resourceType":"Observation","id":"o","status":"final","code":{{"text":"x"}}}}],
            "derivedFrom":[{{"reference":"#o"}}]}})",
                        reference),
            source, options);
    };
    constexpr std::string_view kMissed =
        "error structure Observation.hasMember[0]\nerror structure Observation\n";
    const std::string_view valued = "http://x.org/valued";
    const std::string_view unknown = "http://x.org/unknown";
    const std::string_view own = "http://hl7.org/fhir/StructureDefinition/Observation";
    const std::string_view somewhere = "urn:uuid:0e3ee7bd-0e52-4a2b-9a2c-3b6c1d2f9a10";
    for (const std::string_view kind : {"profile", "type"}) {
        EXPECT_EQ(against_slice(kind, valued, "Observation/1"), "") << kind;
        EXPECT_EQ(against_slice(kind, unknown, "Observation/1"), "") << kind;
        EXPECT_EQ(against_slice(kind, own, "Observation/1"), "") << kind;
        EXPECT_EQ(against_slice(kind, valued, somewhere), "") << kind;
        EXPECT_EQ(against_slice(kind, unknown, "#o"), "") << kind;
        EXPECT_EQ(against_slice(kind, own, "#o"), "") << kind;
        EXPECT_EQ(against_slice(kind, valued, "QuestionnaireResponse/1"), kMissed) << kind;
        EXPECT_EQ(against_slice(kind, own, "QuestionnaireResponse/1"), kMissed) << kind;
    }
    EXPECT_EQ(against_slice("profile", valued, "#o"), kMissed);
}

TEST(Validation, SlicesElementsByPathWhereIdsDoNot) {
    constexpr std::string_view kElements = R"(
        {"path":"Observation"},
        {"path":"Observation.component","slicing":{"rules":"open","discriminator":[{"type":"value","path":"code"}]}},
        {"path":"Observation.component","sliceName":"a","min":1},
        {"path":"Observation.component.code"},
        {"path":"Observation.component.code.coding.code","fixedCode":"a"},
        {"path":"Observation.valueQuantity","max":"0"})";
    EXPECT_EQ(against(with_components(kA), kElements), "");
    EXPECT_EQ(against(with_components(kB), kElements),
              "error structure "
              "Observation\n");
}

TEST(Validation, SlicesByAnExtensionWhoseProfileIsNamedWithItsVersion) {
    TextSource source;
    std::string definition = profile_of("Extension",
                                        R"(
        {"id":"Extension.url","path":"Extension.url","fixedUri":"http://x.org/e"})",
                                        "e");
    definition.insert(definition.size() - 1, R"(,"version":"1")");
    source.add(definition);
    source.add(profile_of("Patient", R"(
        {"id":"Patient.telecom","path":"Patient.telecom","slicing":{"rules":"open",
            "discriminator":[{"type":"value","path":"extension('http://x.org/e').value"}]}},
        {"id":"Patient.telecom:a","path":"Patient.telecom","sliceName":"a","max":"1"},
        {"id":"Patient.telecom:a.extension:e","path":"Patient.telecom.extension","sliceName":"e","min":1,
            "type":[{"code":"Extension","profile":["http://x.org/e|1"]}]},
        {"id":"Patient.telecom:a.extension:e.value[x]","path":"Patient.telecom.extension.value[x]","fixedCode":"a"})"));
    const auto telecoms = [&](std::string_view second) {
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(fmt::format(R"({{"resourceType":"Patient","telecom":[
                {{"system":"phone","value":"1","extension":[{{"url":"http://x.org/e","valueCode":"a"}}]}},
                {{"system":"phone","value":"2","extension":[{{"url":"http://x.org/e","valueCode":"{}"}}]}}]}})",
                                  second),
                      source, options);
    };
    EXPECT_EQ(telecoms("b"), "");
    EXPECT_EQ(telecoms("a"), "error structure Patient\n");
}

}  // namespace
}  // namespace annals::validation
