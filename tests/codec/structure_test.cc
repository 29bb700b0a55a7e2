// Structural validation: one fault at a time, many at once, and real resources in the folder that ANNALS_TEST_DATA names.

#include "codec/schema/structure.h"

#include "codec/json/document.h"
#include "tests/support/checked_parse.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace annals::schema {
namespace {

// "structure Patient.name" for each fault; empty if there is none.
std::vector<std::string> faults_of(std::string_view text, StructureRules rules = {},
                                   std::string_view prefix = {}) {
    static json::Parser parser;
    for (int round = 0; round < 2; ++round) {  // the second time, it knows the order
        EXPECT_EQ(test::disagreement_with_checked_parse(parser, text), "") << text;
    }
    const auto document = parser.parse(text);
    if (!document) {
        return {document.error().detail};
    }
    const Result<void> built = check_structure(document->root(), rules, prefix);
    if (built) {
        return {};
    }
    std::vector<std::string> faults;
    const auto add = [&](const Error& error) {
        EXPECT_FALSE(error.detail.empty());
        faults.push_back((error.code == Errc::structure  ? "structure "
                          : error.code == Errc::required ? "required "
                          : error.code == Errc::value    ? "value "
                                                         : "? ") +
                         error.expression);
    };
    add(built.error());
    for (const Error& other : built.error().others) {
        add(other);
    }
    return faults;
}

using Faults = std::vector<std::string>;

std::string patient(std::string_view members) {
    return R"({"resourceType":"Patient",)" + std::string(members) + "}";
}

TEST(Structure, TakesWhatR4Defines) {
    EXPECT_EQ(faults_of(R"({"resourceType":"Patient"})"), Faults());
    EXPECT_EQ(
        faults_of(patient(
            R"("id":"a","active":true,"name":[{"family":"b","given":["c","d"]}],"birthDate":"2024-02-29",)"
            R"("deceasedDateTime":"2024-02-29T10:00:00Z","multipleBirthInteger":2,)"
            R"("contact":[{"relationship":[{"coding":[{"system":"http://h","code":"two words"}]}]}],)"
            R"("generalPractitioner":[{"reference":"Practitioner/1"}],)"
            R"("text":{"status":"generated","div":"<div>x\n</div>"})")),
        Faults());
}

TEST(Structure, WantsAnObjectWithAResourceTypeOfR4) {
    EXPECT_EQ(faults_of("[]"), Faults{"structure "});
    EXPECT_EQ(faults_of("1"), Faults{"structure "});
    EXPECT_EQ(faults_of("{}"), Faults{"required resourceType"});
    EXPECT_EQ(faults_of(R"({"resourceType":1})"), Faults{"structure resourceType"});
    EXPECT_EQ(faults_of(R"({"resourceType":"Resource"})"), Faults{"value resourceType"});
    EXPECT_EQ(faults_of(R"({"resourceType":"Pat\u0069ent"})"), Faults());
}

TEST(Structure, WantsEachElementInItsJsonKind) {
    for (const auto& [members, fault] : std::map<std::string, std::string>{
             {R"("active":"true")", "structure Patient.active"},
             {R"("active":1)", "structure Patient.active"},
             {R"("active":null)", "structure Patient.active"},
             {R"("birthDate":2024)", "structure Patient.birthDate"},
             {R"("birthDate":["2024"])", "structure Patient.birthDate"},
             {R"("birthDate":{})", "structure Patient.birthDate"},
             {R"("name":{"family":"a"})", "structure Patient.name"},
             {R"("name":["a"])", "structure Patient.name[0]"},
             {R"("name":[null])", "structure Patient.name[0]"},
             {R"("name":[{"family":["a"]}])", "structure Patient.name[0].family"},
             {R"("name":[{"given":"a"}])", "structure Patient.name[0].given"},
             {R"("name":[{"family":"a"},{"given":["a",1]}])", "structure Patient.name[1].given[1]"},
             {R"("maritalStatus":[{"text":"a"}])", "structure Patient.maritalStatus"},
             {R"("multipleBirthInteger":"2")", "structure Patient.multipleBirthInteger"},
             {R"("meta":"a")", "structure Patient.meta"},
             {R"("id":1)", "structure Patient.id"}}) {
        EXPECT_EQ(faults_of(patient(members)), Faults{fault}) << members;
    }
}

TEST(Structure, WantsNothingEmpty) {
    for (const auto& [members, fault] : std::map<std::string, std::string>{
             {R"("name":[])", "structure Patient.name"},
             {R"("name":[{}])", "structure Patient.name[0]"},
             {R"("name":[{"given":[]}])", "structure Patient.name[0].given"},
             {R"("name":[{"family":""}])", "value Patient.name[0].family"},
             {R"("maritalStatus":{})", "structure Patient.maritalStatus"},
             {R"("gender":"")", "value Patient.gender"},
             {R"("_gender":{})", "structure Patient._gender"},
             {R"("text":{"status":"empty","div":""})", "value Patient.text.div"}}) {
        EXPECT_EQ(faults_of(patient(members)), Faults{fault}) << members;
    }
}

TEST(Structure, WantsPrimitivesInTheirFormat) {
    for (const auto& [members, fault] : std::map<std::string, std::string>{
             {R"("birthDate":"2023-02-29")", "value Patient.birthDate"},
             {R"("deceasedDateTime":"2023-02-28T10:00:00")", "value Patient.deceasedDateTime"},
             {R"("multipleBirthInteger":1.0)", "value Patient.multipleBirthInteger"},
             {R"("multipleBirthInteger":2147483648)", "value Patient.multipleBirthInteger"},
             {R"("gender":" male")", "value Patient.gender"},
             {R"("gender":"ma\u0009le")", "value Patient.gender"},
             {R"("implicitRules":"http://h/a b")", "value Patient.implicitRules"},
             {R"("implicitRules":"http://a-long-host.example.org/and/a/path/a b")",
              "value Patient.implicitRules"},
             {R"("name":[{"family":"a\u0000b"}])", "value Patient.name[0].family"},
             {R"("name":[{"family":"a\bb"}])", "value Patient.name[0].family"},
             {R"("name":[{"family":"a\u001fb"}])", "value Patient.name[0].family"},
             {R"("photo":[{"data":"a"}])", "value Patient.photo[0].data"},
             {R"("photo":[{"size":-1}])", "value Patient.photo[0].size"},
             {R"("contained":[{"resourceType":"Basic","id":"a b","code":{"text":"x"}}])",
              "value Patient.contained[0].id"}}) {
        EXPECT_EQ(faults_of(patient(members)), Faults{fault}) << members;
    }
    EXPECT_EQ(faults_of(patient(R"("gender":"m\u0061le")")), Faults());
    EXPECT_EQ(faults_of(patient(R"("name":[{"family":"a\tb\n\u000d\u0020\u00e9"}])")), Faults());
    EXPECT_EQ(
        faults_of(patient(R"("name":[{"family":")" + std::string((1 << 20) + 1, 'a') + "\"}]")),
        Faults{"value Patient.name[0].family"});
    EXPECT_EQ(faults_of(patient(R"("name":[{"family":")" + std::string(1 << 20, 'a') + "\"}]")),
              Faults());
}

// A wrong byte at each place of codes and ids of every length up to three vectors.
TEST(Structure, FindsTheWrongByteWhereverItStands) {
    for (std::size_t size = 1; size <= 96; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'a');
            text[at] = ' ';
            EXPECT_EQ(faults_of(patient(R"("implicitRules":")" + text + "\"")).size(), 1U);
            text[at] = '_';
            EXPECT_EQ(faults_of(patient(R"("id":")" + text + "\""), {.as_stored = true}).size(),
                      1U);
            text[at] = 'Z';
            EXPECT_EQ(faults_of(patient(R"("implicitRules":")" + text + "\"")), Faults());
            EXPECT_EQ(faults_of(patient(R"("id":")" + text + "\""), {.as_stored = true}).size(),
                      size <= 64 ? 0U : 1U);
        }
    }
}

TEST(Structure, WantsWhatIsRequiredAndEachChoiceOnce) {
    EXPECT_EQ(faults_of(R"({"resourceType":"Observation"})"),
              (Faults{"required Observation.status", "required Observation.code"}));
    EXPECT_EQ(faults_of(R"({"resourceType":"Observation","_status":{"extension":[{"url":"u"}]},)"
                        R"("code":{"text":"a"}})"),
              Faults());
    EXPECT_EQ(faults_of(R"({"resourceType":"MedicationStatement","status":"active",)"
                        R"("subject":{"display":"a"}})"),
              Faults{"required MedicationStatement.medication"});
    EXPECT_EQ(faults_of(patient(R"("deceasedBoolean":true,"deceasedDateTime":"2024")")),
              Faults{"structure Patient.deceasedDateTime"});
    EXPECT_EQ(faults_of(R"({"resourceType":"Observation","status":"final","code":{"text":"a"},)"
                        R"("valueString":"b","valueInteger":1,"valueBoolean":true})"),
              Faults{"structure Observation.valueInteger"});
    EXPECT_EQ(faults_of(patient(R"("_deceasedBoolean":{"id":"a"},"deceasedDateTime":"2024")")),
              Faults{"structure Patient.deceasedDateTime"});
    EXPECT_EQ(faults_of(patient(R"("deceasedBoolean":true,"_deceasedBoolean":{"id":"a"})")),
              Faults());
    EXPECT_EQ(faults_of(patient(R"("_deceasedBoolean":{"id":"a"},"deceasedBoolean":true)")),
              Faults());
    EXPECT_EQ(faults_of(patient(R"("extension":[{"valueString":"a"}])")),
              Faults{"required Patient.extension[0].url"});
}

TEST(Structure, PairsPrimitivesWithTheirExtensions) {
    EXPECT_EQ(faults_of(patient(R"("name":[{"given":["a",null],"_given":[null,{"id":"b"}]}])")),
              Faults());
    EXPECT_EQ(faults_of(patient(R"("name":[{"_given":[null,{"id":"b"}],"given":["a",null]}])")),
              Faults());
    EXPECT_EQ(faults_of(patient(R"("name":[{"_given":[{"id":"b"}]}])")), Faults());
    EXPECT_EQ(
        faults_of(patient(R"("_birthDate":{"extension":[{"url":"u","valueTime":"10:00:00"}]})")),
        Faults());
    EXPECT_EQ(faults_of(patient(R"("name":[{"given":["a",null]}])")),
              Faults{"structure Patient.name[0].given[1]"});
    EXPECT_EQ(
        faults_of(patient(R"("name":[{"given":["a",null],"_given":[{"id":"b"},null]}])")),
        (Faults{"structure Patient.name[0].given[1]", "structure Patient.name[0]._given[1]"}));
    EXPECT_EQ(faults_of(patient(R"("name":[{"given":["a"],"_given":{"id":"b"}}])")),
              Faults{"structure Patient.name[0]._given"});
    EXPECT_EQ(faults_of(patient(R"("_birthDate":[{"id":"a"}])")),
              Faults{"structure Patient._birthDate"});
    EXPECT_EQ(faults_of(patient(R"("_birthDate":"a")")), Faults{"structure Patient._birthDate"});
    EXPECT_EQ(faults_of(patient(R"("_birthDate":{"extension":[{"url":1}]})")),
              Faults{"structure Patient._birthDate.extension[0].url"});
    // In XML, these are attributes, which have no extensions.
    const StructureRules strict{.allow_unknown_elements = false};
    EXPECT_EQ(faults_of(patient(R"("name":[{"id":"a","_id":{"id":"b"}}])"), strict),
              Faults{"structure Patient.name[0]._id"});
    EXPECT_EQ(faults_of(patient(R"("extension":[{"url":"u","_url":{"id":"b"},"valueCode":"c"}])"),
                        strict),
              Faults{"structure Patient.extension[0]._url"});
}

TEST(Structure, AcceptsUnknownElementsUnlessItIsToldNotTo) {
    const StructureRules strict{.allow_unknown_elements = false};
    for (const auto& [members, expression] : std::map<std::string, std::string>{
             {R"("odd":{})", "Patient.odd"},
             {R"("_odd":1)", "Patient._odd"},
             {R"("":1)", "Patient."},
             {R"("_":1)", "Patient._"},
             {R"("_name":[{}])", "Patient._name"},
             {R"("value":1)", "Patient.value"},
             {R"("deceased":true)", "Patient.deceased"},
             {R"("name":[{"family":"a","odd":1}])", "Patient.name[0].odd"},
             {R"("name":[{"family":"a","resourceType":"b"}])", "Patient.name[0].resourceType"},
             {R"("_birthDate":{"id":"a","value":"2024"})", "Patient._birthDate.value"},
             {R"("aNameOfMoreThanSixteenBytes":1)", "Patient.aNameOfMoreThanSixteenBytes"},
             {R"("managingOrganisation":1)", "Patient.managingOrganisation"},
             {R"("managingXxxanization":1)", "Patient.managingXxxanization"}}) {
        EXPECT_EQ(faults_of(patient(members)), Faults()) << members;
        EXPECT_EQ(faults_of(patient(members), strict), Faults{"structure " + expression})
            << members;
    }
    EXPECT_EQ(faults_of(patient(R"("birth\u0044ate":"2024")"), strict), Faults());
    EXPECT_EQ(faults_of(patient(R"("birth\u0044ate":"x")")), Faults{"value Patient.birthDate"});
    EXPECT_EQ(faults_of(patient(R"("deceased\u0042oolean":true,"deceasedDateTime":"2024")")),
              Faults{"structure Patient.deceasedDateTime"});
    EXPECT_EQ(faults_of(patient(R"("managingOrganization":{"d\u0069splay":"a"})")), Faults());
    EXPECT_EQ(faults_of(patient(R"("managingOrganization":{"\u0069d":"a"})")),
              Faults{"structure Patient.managingOrganization"});
}

// A name must not be taken for the previous one with the same beginning and end.
TEST(Structure, TellsLongNamesApartThatBeginAndEndAlike) {
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(faults_of(patient(R"("managingOrganization":{"display":"a"})"),
                            {.allow_unknown_elements = false}),
                  Faults());
        EXPECT_EQ(faults_of(patient(R"("managingXxxanization":{"display":"a"})"),
                            {.allow_unknown_elements = false}),
                  Faults{"structure Patient.managingXxxanization"});
    }
}

TEST(Structure, LeavesAloneWhatTheServerGives) {
    const std::string text = patient(R"("id":"a b","meta":{"versionId":"","lastUpdated":"now"})");
    EXPECT_EQ(faults_of(text), Faults());
    EXPECT_EQ(faults_of(text, {.as_stored = true}),
              (Faults{"value Patient.id", "value Patient.meta.versionId",
                      "value Patient.meta.lastUpdated"}));
    EXPECT_EQ(faults_of(patient(R"("meta":{"versionId":1})")),
              Faults{"structure Patient.meta.versionId"});
    EXPECT_EQ(faults_of(patient(R"("meta":{"source":"a b"})")),
              Faults{"value Patient.meta.source"});
    EXPECT_EQ(
        faults_of(patient(
            R"("contained":[{"resourceType":"Patient","id":"a","meta":{"versionId":"b c"}}])")),
        Faults{"value Patient.contained[0].meta.versionId"});
}

TEST(Structure, KnowsWhatMayBeContained) {
    EXPECT_EQ(faults_of(patient(R"("contained":[{"resourceType":"Patient","id":"a"}])")), Faults());
    EXPECT_EQ(faults_of(patient(R"("contained":[{"resourceType":"Patient"}])")),
              Faults{"required Patient.contained[0].id"});
    EXPECT_EQ(faults_of(patient(R"("contained":[{"id":"a"}])")),
              Faults{"required Patient.contained[0].resourceType"});
    EXPECT_EQ(faults_of(patient(R"("contained":[{"resourceType":"Foo","id":"a"}])")),
              Faults{"value Patient.contained[0].resourceType"});
    EXPECT_EQ(
        faults_of(patient(
            R"("contained":[{"resourceType":"Patient","id":"a","contained":[{"resourceType":"Patient","id":"b"}]}])")),
        Faults{"structure Patient.contained[0].contained"});
    EXPECT_EQ(faults_of(patient(R"("contained":{"resourceType":"Patient","id":"a"})")),
              Faults{"structure Patient.contained"});
}

TEST(Structure, GoesIntoBundlesAndParameters) {
    EXPECT_EQ(
        faults_of(
            R"({"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient"}},)"
            R"({"resource":{"resourceType":"Patient","birthDate":"x","contained":[{"resourceType":"Patient","id":"a","active":1}]}}]})"),
        (Faults{"value Bundle.entry[1].resource.birthDate",
                "structure Bundle.entry[1].resource.contained[0].active"}));
    EXPECT_EQ(
        faults_of(
            R"({"resourceType":"Parameters","parameter":[{"name":"a","part":[{"name":"b",)"
            R"("resource":{"resourceType":"Patient","active":1}}]},{"name":"c","valueString":"d","valueCode":"e"}]})"),
        (Faults{"structure Parameters.parameter[0].part[0].resource.active",
                "structure Parameters.parameter[1].valueCode"}));
    EXPECT_EQ(
        faults_of(R"({"resourceType":"Bundle","type":"collection","entry":[{"resource":{}}]})"),
        Faults{"structure Bundle.entry[0].resource"});
}

TEST(Structure, KnowsWhatAReferenceIs) {
    const auto with = [](std::string_view reference) {
        return faults_of(patient(R"("managingOrganization":)" + std::string(reference)));
    };
    for (const char* text :
         {"Organization/1", "Organization/1/_history/2", "http://h/Organization/1", "urn:uuid:x",
          "urn:oid:1.2", "#", "#a", "Organization?identifier=a|b", "Organization?name=a b",
          "organization/1", "HTTP://h/1"}) {
        EXPECT_EQ(with(std::string(R"({"reference":")") + text + "\"}"), Faults()) << text;
    }
    for (const char* text :
         {"Organization", "Organization/", "Organization/a b", "Organization/1/_history/",
          "Organization/1/2", "Organisation/1", "Foo?a=b", " Organization/1", "a b", "# a"}) {
        EXPECT_EQ(with(std::string(R"({"reference":")") + text + "\"}"),
                  Faults{"value Patient.managingOrganization.reference"})
            << text;
    }
    for (const char* text :
         {R"({"display":"a"})", R"({"identifier":{"value":"a"}})", R"({"type":"Organization"})",
          R"({"extension":[{"url":"u"}]})", R"({"_display":{"id":"a"}})"}) {
        EXPECT_EQ(with(text), Faults()) << text;
    }
    EXPECT_EQ(with(R"({"id":"a"})"), Faults{"structure Patient.managingOrganization"});
    EXPECT_EQ(with(R"({"uri":"a"})"), Faults{"structure Patient.managingOrganization"});
}

TEST(Structure, TellsAllFaultsUpToABound) {
    EXPECT_EQ(faults_of(patient(
                  R"("active":1,"birthDate":"x","name":[{"given":["",1]},{}],"gender":[])")),
              (Faults{"structure Patient.active", "value Patient.birthDate",
                      "value Patient.name[0].given[0]", "structure Patient.name[0].given[1]",
                      "structure Patient.name[1]", "structure Patient.gender"}));
    std::string names;
    for (int i = 0; i < 500; ++i) {
        names += i == 0 ? "{}" : ",{}";
    }
    EXPECT_EQ(faults_of(patient(R"("name":[)" + names + "]")).size(), kFaultsMax);
}

TEST(Structure, BeginsExpressionsWithAPrefix) {
    EXPECT_EQ(faults_of(patient(R"("name":[{}])"), {}, "Bundle.entry[3].resource"),
              Faults{"structure Bundle.entry[3].resource.name[0]"});
    EXPECT_EQ(faults_of("{}", {}, "Bundle.entry[3].resource"),
              Faults{"required Bundle.entry[3].resource.resourceType"});
}

class StructureOfRealResources : public ::testing::TestWithParam<const char*> {};

TEST_P(StructureOfRealResources, IsFoundValid) {
    const std::vector<std::filesystem::path> files = test::test_data_files(GetParam());
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no " << GetParam();
    }
    // The faults of the examples themselves.
    const std::map<std::string, std::size_t> faulty = {
        {"Questionnaire-qs1.json", 32},  // items of type display without the required linkId
        {"SearchParameter-codesystem-extensions-CodeSystem-end.json", 1},  // no base
    };
    for (const auto& path : files) {
        const Faults faults = faults_of(test::read_whole_file(path),
                                        {.allow_unknown_elements = false, .as_stored = true});
        const auto known = faulty.find(path.filename().string());
        EXPECT_EQ(faults.size(), known == faulty.end() ? 0 : known->second)
            << path << (faults.empty() ? "" : ": " + faults.front());
    }
}

INSTANTIATE_TEST_SUITE_P(Data, StructureOfRealResources,
                         ::testing::Values("r4-official-dev", "synthea-2019-dev", "synthea-2022"));

TEST(PrimitiveSuite, AgreesOnReferences) {
    const std::filesystem::path top = test::test_data("primitive-validation");
    if (top.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no primitive-validation";
    }
    for (const bool valid : {true, false}) {
        std::ifstream file(top / (valid ? "reference.valid.ndjson" : "reference.invalid.ndjson"));
        for (std::string line; std::getline(file, line);) {
            EXPECT_EQ(faults_of(patient(R"("managingOrganization":)" + line)).empty(), valid)
                << line;
        }
    }
}

}  // namespace
}  // namespace annals::schema
