// To which slice of a profile an element belongs, by the discriminators and what the slice says of their paths.

#include "core/validation/terminology.h"
#include "tests/core/validation_fixture.h"

namespace annals::validation {
namespace {

constexpr std::string_view kNoneInA = "error structure Observation\n";

/// A patient's identifiers, sliced by `discriminator`, with the elements of slice a, which is mandatory.
std::string identifiers(std::string_view discriminator, std::string_view inside) {
    return fmt::format(R"json(
        {{"id":"Patient.identifier","path":"Patient.identifier","slicing":{{"rules":"open","discriminator":[{}]}}}},
        {{"id":"Patient.identifier:a","path":"Patient.identifier","sliceName":"a","min":1}},
        {})json",
                       discriminator, inside);
}

std::string patient_with(std::string_view identifier) {
    return fmt::format(R"({{"resourceType":"Patient","identifier":[{}]}})", identifier);
}

std::string kind_extension(std::string_view value, std::string_view url = "http://x.org/kind") {
    return fmt::format(R"({{"url":"{}","valueString":"{}"}})", url, value);
}

std::string extended(std::string_view extensions) {
    return patient_with(fmt::format(R"({{"value":"1","extension":[{}]}})", extensions));
}

/// Slice a of the components, which is mandatory, sliced by `discriminator`.
std::string component_a(std::string_view discriminator, std::string_view inside) {
    return components("open", discriminator,
                      R"({"id":"Observation.component:a","path":"Observation.component",
                          "sliceName":"a","min":1},)" +
                          std::string(inside));
}

TEST(ValidationSlicing, FollowsAnExtensionByTheProfileOfItsSliceOrItsUrl) {
    for (const std::string_view quote : {"'", "\\\""}) {
        const std::string discriminator = fmt::format(
            R"json({{"type":"value","path":"extension({0}http://x.org/kind{0}).value"}})json",
            quote);
        const std::string by_url = identifiers(discriminator, R"(
            {"id":"Patient.identifier:a.extension:kind","path":"Patient.identifier.extension","sliceName":"kind"},
            {"id":"Patient.identifier:a.extension:kind.url","path":"Patient.identifier.extension.url",
                "fixedUri":"http://x.org/kind"},
            {"id":"Patient.identifier:a.extension:kind.value[x]","path":"Patient.identifier.extension.value[x]",
                "fixedString":"a"},
            {"id":"Patient.identifier:a.extension:other","path":"Patient.identifier.extension","sliceName":"other"},
            {"id":"Patient.identifier:a.extension:other.url","path":"Patient.identifier.extension.url",
                "fixedUri":"http://x.org/other"},
            {"id":"Patient.identifier:a.extension:other.value[x]","path":"Patient.identifier.extension.value[x]",
                "fixedString":"z"})");
        EXPECT_EQ(against(extended(kind_extension("a")), by_url), "");
        EXPECT_EQ(against(extended(kind_extension("b")), by_url), "error structure Patient\n");
        EXPECT_EQ(
            against(extended(kind_extension("b") + "," + kind_extension("a", "http://x.org/other")),
                    by_url),
            "error structure Patient\n")
            << "of the extension that is named only";
    }
}

TEST(ValidationSlicing, FollowsAnExtensionIntoItsDefinition) {
    TextSource source;
    std::string definition =
        profile_of("Extension",
                   R"({"id":"Extension.url","path":"Extension.url","fixedUri":"http://x.org/kind"},
           {"id":"Extension.value[x]","path":"Extension.value[x]","fixedString":"a"})",
                   "kind");
    definition.insert(definition.size() - 1,
                      R"(,"context":[{"type":"element","expression":"Element"}])");
    source.add(definition);
    source.add(profile_of(
        "Patient",
        identifiers(
            R"json({"type":"value","path":"extension('http://x.org/kind').value"})json",
            R"({"id":"Patient.identifier:a.extension:kind","path":"Patient.identifier.extension",
                "sliceName":"kind","type":[{"code":"Extension","profile":["http://x.org/kind"]}]})")));
    Options options = by_profile();
    EXPECT_EQ(issues(extended(kind_extension("a")), source, options), "");
    EXPECT_EQ(issues(patient_with(R"({"value":"1"})"), source, options),
              "error structure Patient\n");
}

TEST(ValidationSlicing, TakesOfAChoiceWhatIsOfTheTypeThatThePathNames) {
    const std::string elements = component_a(
        R"json({"type":"value","path":"value.ofType(CodeableConcept).coding.code"})json",
        R"({"id":"Observation.component:a.value[x]","path":"Observation.component.value[x]"},
           {"id":"Observation.component:a.value[x].coding.code",
            "path":"Observation.component.value[x].coding.code","fixedCode":"a"})");
    const auto component = [](std::string_view value) {
        return with_components(fmt::format(R"({{"code":{{"text":"c"}},{}}})", value));
    };
    EXPECT_EQ(against(component(R"("valueCodeableConcept":{"coding":[{"code":"a"}]})"), elements),
              "");
    EXPECT_EQ(against(component(R"("valueCodeableConcept":{"coding":[{"code":"b"}]})"), elements),
              kNoneInA);
    EXPECT_EQ(against(component(R"("valueString":"a")"), elements), kNoneInA);
}

TEST(ValidationSlicing, ComparesWithThatPartOfAPatternOrFixedValueWhichThePathLeadsTo) {
    const auto elements = [](std::string_view codings, std::string_view kind = "pattern") {
        return component_a(
            R"({"type":"value","path":"code.coding.code"})",
            fmt::format(
                R"({{"id":"Observation.component:a.code","path":"Observation.component.code",
                "{}CodeableConcept":{{"coding":[{}]}}}})",
                kind, codings));
    };
    for (const std::string_view kind : {"pattern", "fixed"}) {
        const std::string one = elements(R"({"system":"http://x.org","code":"a"})", kind);
        EXPECT_EQ(against(with_components(kA), one), "") << kind;
        EXPECT_EQ(against(with_components(kB), one), kNoneInA) << kind;
    }
    const std::string two = elements(R"({"code":"a"},{"code":"b"})");
    EXPECT_EQ(against(with_components(kB), two), "") << "which of two it is can't be told";
}

TEST(ValidationSlicing, IsInASliceOnlyWithAllThatItFixesFurtherIn) {
    const auto code = [](std::string_view inside) {
        return component_a(R"({"type":"value","path":"code"})", inside);
    };
    const std::string both = code(
        R"({"id":"Observation.component:a.code.coding","path":"Observation.component.code.coding"},
           {"id":"Observation.component:a.code.coding.system",
            "path":"Observation.component.code.coding.system","fixedUri":"http://x.org"},
           {"id":"Observation.component:a.code.coding.code",
            "path":"Observation.component.code.coding.code","fixedCode":"a"})");
    EXPECT_EQ(against(with_components(kA), both), "");
    EXPECT_EQ(against(with_components(kB), both), kNoneInA);
    EXPECT_EQ(
        against(with_components(R"({"code":{"coding":[{"system":"http://y.org","code":"a"}]}})"),
                both),
        kNoneInA);
    EXPECT_EQ(against(with_components(R"({"code":{"coding":[{"system":"http://y.org","code":"b"},
                          {"system":"http://x.org","code":"a"}]}})"),
                      both),
              "error value Observation.component[0].code.coding[0].system\n"
              "error value Observation.component[0].code.coding[0].code\n")
        << "in it by its second coding; then the first must fit as well";
    EXPECT_EQ(against(with_components(R"({"code":{"coding":[{"system":"http://x.org","code":"a"},
                          {"system":"http://y.org","code":"b"}]}})"),
                      both),
              "error value Observation.component[0].code.coding[1].system\n"
              "error value Observation.component[0].code.coding[1].code\n")
        << "in it by its first";
    const auto text = [&](int min) {
        return code(fmt::format(
            R"({{"id":"Observation.component:a.code.coding.code",
                "path":"Observation.component.code.coding.code","fixedCode":"a"}},
               {{"id":"Observation.component:a.code.text","path":"Observation.component.code.text",
                "min":{},"fixedString":"A"}})",
            min));
    };
    EXPECT_EQ(against(with_components(kA), text(0)), "");
    EXPECT_EQ(against(with_components(kA), text(1)), kNoneInA) << "what must be there is not";
}

TEST(ValidationSlicing, IsInASliceOnlyWithTheInnerSlicesThatItDemands) {
    const auto elements = [](int min) {
        return component_a(
            R"({"type":"value","path":"code"})",
            fmt::format(
                R"({{"id":"Observation.component:a.code.coding","path":"Observation.component.code.coding",
                "slicing":{{"rules":"open","discriminator":[{{"type":"value","path":"system"}}]}}}},
            {{"id":"Observation.component:a.code.coding:x","path":"Observation.component.code.coding",
                "sliceName":"x","min":{}}},
            {{"id":"Observation.component:a.code.coding:x.system",
                "path":"Observation.component.code.coding.system","fixedUri":"http://x.org"}})",
                min));
    };
    constexpr std::string_view kOther =
        R"({"code":{"coding":[{"system":"http://y.org","code":"a"}]}})";
    EXPECT_EQ(against(with_components(kA), elements(1)), "");
    EXPECT_EQ(against(with_components(kOther), elements(1)), kNoneInA);
    EXPECT_EQ(against(with_components(kOther), elements(0)), "") << "it can't be told";
}

TEST(ValidationSlicing, SlicesByTheValueSetThatMustBeUsed) {
    TextSource source;
    source.add(R"({"resourceType":"ValueSet","url":"http://x.org/home","status":"active","compose":{
        "include":[{"system":"http://hl7.org/fhir/contact-point-use","concept":[{"code":"home"}]}]}})");
    const auto judged = [&](std::string_view strength, std::string_view use) {
        source.add(profile_of("Patient", fmt::format(R"(
            {{"id":"Patient.telecom","path":"Patient.telecom","slicing":{{"rules":"open","discriminator":[
                {{"type":"value","path":"use"}}]}}}},
            {{"id":"Patient.telecom:a","path":"Patient.telecom","sliceName":"a","min":1}},
            {{"id":"Patient.telecom:a.use","path":"Patient.telecom.use","binding":{{"strength":"{}",
                "valueSet":"http://x.org/home"}}}})",
                                                     strength)));
        Options options;
        options.profiles = {"http://x.org/p"};
        return issues(fmt::format(R"({{"resourceType":"Patient","telecom":[{{"system":"phone",
            "value":"1","use":"{}"}}]}})",
                                  use),
                      source, options);
    };
    EXPECT_EQ(judged("required", "home"), "");
    EXPECT_EQ(judged("required", "work"), "error structure Patient\n");
    EXPECT_EQ(judged("extensible", "work"), "") << "it can't be told";
}

TEST(ValidationSlicing, TellsNothingByPathsThatItDoesNotRead) {
    for (const std::string_view path :
         {"code.memberOf('x')", "code.resolve(", "code.coding.where(code = 'a').code"}) {
        const std::string elements =
            component_a(fmt::format(R"json({{"type":"value","path":"{}"}})json", path),
                        R"({"id":"Observation.component:a.code.coding.code",
                "path":"Observation.component.code.coding.code","fixedCode":"a"})");
        EXPECT_EQ(against(with_components(kB), elements), "") << path;
    }
    std::string many;
    for (int i = 0; i < 17; ++i) {
        many += (i == 0 ? "" : ",") + std::string(R"({"type":"value","path":"code.coding.code"})");
    }
    const std::string inside = R"({"id":"Observation.component:a.code.coding.code",
        "path":"Observation.component.code.coding.code","fixedCode":"a"})";
    EXPECT_EQ(against(with_components(kB), component_a(many, inside)), "");
    many.erase(many.find_last_of('{') - 1);
    EXPECT_EQ(against(with_components(kB), component_a(many, inside)), kNoneInA);
}

TEST(ValidationSlicing, IsNotOutOfASliceByWhatTheSliceSaysNothingOf) {
    const std::string inside = R"({"id":"Observation.component:a.code.coding.code",
        "path":"Observation.component.code.coding.code","fixedCode":"a"})";
    const std::string value = R"({"type":"value","path":"code.coding.code"})";
    for (const std::string_view kind : {"value", "exists", "type", "profile"}) {
        for (const std::string_view path :
             {"value", "interpretation.extension('http://x.org/e').value", "$this.resolve()"}) {
            if (kind == "value" && path == "$this.resolve()") {
                continue;  // the slice itself fixes a value
            }
            const std::string other =
                fmt::format(R"json({{"type":"{}","path":"{}"}})json", kind, path);
            const std::string both = component_a(joined({value, other}), inside);
            EXPECT_EQ(against(with_components(kA), both), "") << other;
            EXPECT_EQ(against(with_components(kB), both), kNoneInA) << other;
            EXPECT_EQ(against(with_components(kB), component_a(other, inside)), "") << other;
        }
    }
}

TEST(ValidationSlicing, TellsByTypeAlsoWhereTheSliceSaysNothingOfIt) {
    const std::string elements = component_a(
        R"({"type":"type","path":"code"})",
        R"({"id":"Observation.component:a.code","path":"Observation.component.code","min":1})");
    EXPECT_EQ(against(with_components(kA), elements), "");
}

TEST(ValidationSlicing, OfWhatIsNotHereCannotTellWhatItHas) {
    const auto elements = [](std::string_view discriminator) {
        return fmt::format(R"json(
            {{"id":"Observation.hasMember","path":"Observation.hasMember","slicing":{{"rules":"closed",
                "discriminator":[{}]}}}},
            {{"id":"Observation.hasMember:m","path":"Observation.hasMember","sliceName":"m","min":1,"type":[
                {{"code":"Reference","targetProfile":["http://x.org/valued"]}}]}})json",
                           discriminator);
    };
    TextSource source;
    source.add(profile_of("Observation",
                          R"({"id":"Observation.value[x]","path":"Observation.value[x]",
        "min":1},{"id":"Observation.status","path":"Observation.status","fixedCode":"final"})",
                          "valued"));
    Options options = by_profile();
    const auto judged = [&](std::string_view discriminator, std::string_view reference,
                            std::string_view contained) {
        source.add(profile_of("Observation", elements(discriminator)));
        return issues(
            fmt::format(R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},
            "hasMember":[{{"reference":"{}"}}],"contained":[{{"resourceType":"Observation","id":"o",
                "code":{{"text":"x"}},{}}}],"derivedFrom":[{{"reference":"#o"}}]}})",
                        reference, contained),
            source, options);
    };
    constexpr std::string_view kNone =
        "error structure Observation.hasMember[0]\nerror structure Observation\n";
    constexpr std::string_view kExists = R"json({"type":"exists","path":"resolve().value"})json";
    EXPECT_EQ(judged(kExists, "#o", R"("status":"final","valueString":"x")"), "");
    EXPECT_EQ(judged(kExists, "#o", R"("status":"final")"), kNone);
    EXPECT_EQ(judged(kExists, "Observation/1", R"("status":"final")"), "");
    constexpr std::string_view kValue = R"json({"type":"value","path":"resolve().status"})json";
    EXPECT_EQ(judged(kValue, "#o", R"("status":"final","valueString":"x")"), "");
    EXPECT_EQ(judged(kValue, "#o", R"("status":"amended")"), kNone);
    EXPECT_EQ(judged(kValue, "Observation/1", R"("status":"amended")"), "");
}

TEST(ValidationSlicing, TakesOfTwoTypesWithTheSameElementTheOneThatThePathNames) {
    constexpr std::string_view kElements =
        R"json({"id":"Patient.extension","path":"Patient.extension","slicing":{"rules":"open","discriminator":[
            {"type":"value","path":"value.ofType(Coding).code"}]}},
        {"id":"Patient.extension:e","path":"Patient.extension","sliceName":"e","min":1},
        {"id":"Patient.extension:e.value[x]","path":"Patient.extension.value[x]"},
        {"id":"Patient.extension:e.value[x].code","path":"Patient.extension.value[x].code",
            "fixedCode":"a"})json";
    const auto patient = [](std::string_view value) {
        return fmt::format(
            R"({{"resourceType":"Patient","extension":[{{"url":"http://x.org/e",{}}}]}})", value);
    };
    EXPECT_EQ(against(patient(R"("valueCoding":{"code":"a"})"), kElements), "");
    EXPECT_EQ(against(patient(R"("valueQuantity":{"value":1,"system":"http://unitsofmeasure.org",
                                  "code":"a"})"),
                      kElements),
              "error structure Patient\n");
}

TEST(ValidationSlicing, LeavesOpenWhatOneDiscriminatorCannotTellThoughAnotherCan) {
    const auto elements = [](std::string_view first, std::string_view second) {
        return fmt::format(R"json(
            {{"id":"Observation.hasMember","path":"Observation.hasMember","slicing":{{"rules":"closed",
                "discriminator":[{},{}]}}}},
            {{"id":"Observation.hasMember:m","path":"Observation.hasMember","sliceName":"m","max":"0","type":[
                {{"code":"Reference","targetProfile":["http://x.org/valued"]}}]}},
            {{"id":"Observation.hasMember:m.display","path":"Observation.hasMember.display",
                "fixedString":"x"}})json",
                           first, second);
    };
    constexpr std::string_view kProfile = R"json({"type":"profile","path":"resolve()"})json";
    constexpr std::string_view kValue = R"({"type":"value","path":"display"})";
    TextSource source;
    source.add(profile_of("Observation",
                          R"({"id":"Observation.value[x]","path":"Observation.value[x]","min":1})",
                          "valued"));
    Options options = by_profile();
    for (const auto& [first, second] : {std::pair(kProfile, kValue), std::pair(kValue, kProfile)}) {
        source.add(profile_of("Observation", elements(first, second)));
        const auto judged = [&](std::string_view display) {
            return issues(
                fmt::format(
                    R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},
                "hasMember":[{{"reference":"Observation/1","display":"{}"}}]}})",
                    display),
                source, options);
        };
        EXPECT_EQ(judged("x"), "");
        EXPECT_EQ(judged("y"), "error structure Observation.hasMember[0]\n");
    }
}

TEST(ValidationSlicing, SlicesChoicesByTypeAndExtensionsByUrlWithoutADiscriminator) {
    const auto value = [](std::string_view name) {
        return fmt::format(R"(
            {{"id":"Observation.value[x]","path":"Observation.value[x]","slicing":{{"rules":"open"}}}},
            {{"id":"Observation.value[x]:{0}","path":"Observation.value[x]","sliceName":"{0}","min":1,
                "type":[{{"code":"Quantity"}}]}})",
                           name);
    };
    for (const std::string_view name : {"valueQuantity", "q"}) {
        EXPECT_EQ(against(R"({"resourceType":"Observation","status":"final","code":{"text":"x"},
                              "valueQuantity":{"value":1}})",
                          value(name)),
                  "");
        EXPECT_EQ(against(R"({"resourceType":"Observation","status":"final","code":{"text":"x"},
                              "valueString":"1"})",
                          value(name)),
                  kNoneInA);
    }
    const auto extension = [](std::string_view slicing, std::string_view by) {
        return fmt::format(R"(
            {{"id":"Patient.extension","path":"Patient.extension","slicing":{{"rules":"open"{}}}}},
            {{"id":"Patient.extension:e","path":"Patient.extension","sliceName":"e","min":1{})",
                           slicing, by);
    };
    constexpr std::string_view kByUrl =
        R"(},{"id":"Patient.extension:e.url","path":"Patient.extension.url","fixedUri":"http://x.org/e"})";
    constexpr std::string_view kByProfile =
        R"(,"type":[{"code":"Extension","profile":["http://x.org/e|1"]}]})";
    constexpr std::string_view kByNothing = "}";
    constexpr std::string_view kUrl = R"(,"discriminator":[{"type":"value","path":"url"}])";
    const auto patient = [](std::string_view url) {
        return fmt::format(
            R"({{"resourceType":"Patient","extension":[{{"url":"{}","valueString":"x"}}]}})", url);
    };
    for (const std::string_view slicing : {std::string_view(), kUrl}) {
        EXPECT_EQ(against(patient("http://x.org/e"), extension(slicing, kByUrl)), "") << slicing;
        EXPECT_EQ(against(patient("http://x.org/f"), extension(slicing, kByUrl)),
                  "error structure Patient\n")
            << slicing;
        EXPECT_EQ(against(patient("http://x.org/f"), extension(slicing, kByProfile)),
                  "error structure Patient\n")
            << slicing;
        EXPECT_EQ(against(patient("http://x.org/f"), extension(slicing, kByNothing)), "")
            << slicing;
    }
}

TEST(ValidationSlicing, DemandsAnOrderOnlyWhereItIsSaid) {
    const auto elements = [](std::string_view rules, bool ordered) {
        return fmt::format(R"(
            {{"id":"Observation.component","path":"Observation.component","slicing":{{"rules":"{}",
                "ordered":{},"discriminator":[{{"type":"value","path":"code.coding.code"}}]}}}},
            {{"id":"Observation.component:a","path":"Observation.component","sliceName":"a"}},
            {{"id":"Observation.component:a.code.coding.code","path":"Observation.component.code.coding.code",
                "fixedCode":"a"}},
            {{"id":"Observation.component:b","path":"Observation.component","sliceName":"b"}},
            {{"id":"Observation.component:b.code.coding.code","path":"Observation.component.code.coding.code",
                "fixedCode":"b"}})",
                           rules, ordered);
    };
    const std::string b_a = with_components(joined({kB, kA}));
    EXPECT_EQ(against(b_a, elements("open", false)), "");
    EXPECT_EQ(against(b_a, elements("open", true)), "error structure Observation.component[1]\n");
    constexpr std::string_view kD = R"({"code":{"coding":[{"code":"d"}]}})";
    const std::string a_d = with_components(joined({kA, kD}));
    const std::string d_a = with_components(joined({kD, kA, kB}));
    EXPECT_EQ(against(a_d, elements("openAtEnd", false)), "");
    EXPECT_EQ(against(b_a, elements("openAtEnd", false)), "");
    EXPECT_EQ(
        against(d_a, elements("openAtEnd", false)),
        "error structure Observation.component[1]\nerror structure Observation.component[2]\n");
    EXPECT_EQ(against(d_a, elements("open", false)), "");
}

TEST(ValidationSlicing, DemandsTheOrderOfTheFurthestSliceSoFar) {
    const std::string elements =
        components("open", R"({"type":"pattern","path":"code"})", listed(3, [](int i) {
                       return fmt::format(R"(
        {{"id":"Observation.component:s{0}","path":"Observation.component","sliceName":"s{0}"}},
        {{"id":"Observation.component:s{0}.code","path":"Observation.component.code",
            "patternCodeableConcept":{{"coding":[{{"code":"{0}"}}]}}}})",
                                          i);
                   }));
    const auto found = [&](std::string_view codes) {
        return against(with_components(listed(
                           static_cast<int>(codes.size()),
                           [&](int i) {
                               return fmt::format(R"({{"code":{{"coding":[{{"code":"{}"}}]}}}})",
                                                  codes[static_cast<std::size_t>(i)]);
                           })),
                       elements);
    };
    EXPECT_EQ(found("0012"), "");
    EXPECT_EQ(
        found("201"),
        "error structure Observation.component[1]\nerror structure Observation.component[2]\n");
}

TEST(ValidationSnomed, KnowsIdentifiersByTheirLengthAndCheckDigit) {
    EXPECT_TRUE(is_snomed_code("123451"));
    EXPECT_TRUE(is_snomed_code("123456789012345679"));
    EXPECT_FALSE(is_snomed_code("123450"));
    EXPECT_FALSE(is_snomed_code("12340")) << "too short";
    EXPECT_FALSE(is_snomed_code("1234567890123456781")) << "too long";
    EXPECT_FALSE(is_snomed_code("012345679")) << "a zero in front";
    EXPECT_FALSE(is_snomed_code(""));
    for (const std::string_view expression :
         {"=== 1", "<<< 1", "(1)", "1:2", "1+2", "1 |x|", "1|x|", "1{2=3}"}) {
        EXPECT_TRUE(is_snomed_code(expression)) << expression;
    }
    for (const std::string_view other : {"x", "==1", "<<1", "1/2", "1;2", "12345190", "/1", ":1"}) {
        EXPECT_FALSE(is_snomed_code(other)) << other;
    }
}

TEST(ValidationSlicing, TellsByExistenceOnlyWhereASliceHasToHaveItOrMustNot) {
    const auto elements = [](std::string_view said) {
        return fmt::format(
            R"({{"id":"Patient.name","path":"Patient.name","slicing":{{"rules":"closed","discriminator":[
                {{"type":"exists","path":"period"}}]}}}},
            {{"id":"Patient.name:s","path":"Patient.name","sliceName":"s"}},
            {{"id":"Patient.name:s.period","path":"Patient.name.period"{}}})",
            said);
    };
    constexpr std::string_view kWith =
        R"({"resourceType":"Patient","name":[{"text":"x","period":{"start":"2024"}}]})";
    constexpr std::string_view kWithout = R"({"resourceType":"Patient","name":[{"text":"x"}]})";
    constexpr std::string_view kNotIn = "error structure Patient.name[0]\n";
    EXPECT_EQ(against(kWith, elements(R"(,"min":1)")), "");
    EXPECT_EQ(against(kWithout, elements(R"(,"min":1)")), kNotIn);
    EXPECT_EQ(against(kWith, elements(R"(,"max":"0")")), kNotIn);
    EXPECT_EQ(against(kWithout, elements(R"(,"max":"0")")), "");
    EXPECT_EQ(against(kWith, elements(R"(,"min":0,"max":"1")")), "");
    EXPECT_EQ(against(kWithout, elements(R"(,"short":"when")")), "")
        << "that it is named says nothing of whether it is there";
}

}  // namespace
}  // namespace annals::validation
