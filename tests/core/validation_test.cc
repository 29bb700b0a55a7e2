// What full validation finds in resources by R4 itself: bindings, invariants, references, codes.

#include "core/validation/validate.h"
#include "tests/core/validation_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::validation {
namespace {

TEST(Validation, FindsNothingInASoundResource) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","gender":"female","birthDate":"2001-02-03",
        "name":[{"use":"official","family":"Smith","given":["Jane"]}],
        "contact":[{"name":{"text":"Joe"}}]})"),
              "");
}

TEST(Validation, DemandsCodesOfRequiredBindings) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","gender":"femail","name":[{"use":"good"}]})"),
              "error code-invalid Patient.gender\nerror code-invalid Patient.name[0].use\n");
    EXPECT_EQ(issues(R"({"resourceType":"AllergyIntolerance","patient":{"reference":"Patient/1"},
        "verificationStatus":{"coding":[
            {"system":"http://terminology.hl7.org/CodeSystem/allergyintolerance-verification","code":"entered-in-error"}]}})"),
              "");
    EXPECT_EQ(issues(R"({"resourceType":"AllergyIntolerance","patient":{"reference":"Patient/1"},
        "verificationStatus":{"coding":[{"system":"http://x.org","code":"entered-in-error"}]}})"),
              "error invariant AllergyIntolerance\nerror code-invalid "
              "AllergyIntolerance.verificationStatus\n");
}

TEST(Validation, ChecksInvariantsOfTypesAndElements) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","contact":[{"gender":"male"}]})"),
              "error invariant Patient.contact[0]\n");
    EXPECT_EQ(
        issues(R"({"resourceType":"Patient","name":[{"period":{"start":"2002","end":"2001"}}]})"),
        "error invariant Patient.name[0].period\n");
    EXPECT_EQ(issues(R"({"resourceType":"ValueSet","name":"no name","status":"draft"})"),
              "warning invariant ValueSet\n");
    EXPECT_EQ(issues(R"({"resourceType":"Questionnaire","status":"draft","item":[
        {"linkId":"1","type":"boolean"},{"linkId":"2","type":"boolean","enableWhen":[
            {"question":"1","operator":"exists","answerBoolean":true},
            {"question":"1","operator":"=","answerBoolean":true}]}]})"),
              "error invariant Questionnaire.item[1]\n");
}

// R4: "must evaluate to true".
TEST(Validation, TakesAnInvariantWithoutAResultForBroken) {
    const auto definition = [](std::string_view max) {
        return issues(fmt::format(
            R"({{"resourceType":"StructureDefinition","url":"http://x.org/d","status":"draft",
            "kind":"resource","abstract":false,"type":"Patient","derivation":"constraint","name":"D",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","differential":{{
            "element":[{{"id":"Patient","path":"Patient","max":"{}"}}]}}}})",
            max));
    };
    EXPECT_EQ(definition("*"), "");
    EXPECT_EQ(definition("1"), "");
    EXPECT_EQ(definition("zz"),
              "error invariant StructureDefinition.differential.element[0].max\n");

    const auto observation = [](std::string_view value) {
        return issues(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},)" +
                      std::string(value) + "}");
    };
    EXPECT_EQ(observation(R"("effectiveTiming":{"repeat":{"periodUnit":"d","period":1}})"), "");
    EXPECT_EQ(observation(R"("effectiveTiming":{"repeat":{"periodUnit":"d","_period":{"extension":[
                          {"url":"http://x.org/e","valueCode":"unknown"}]}}})"),
              "error invariant Observation.effectiveTiming.repeat\n");
}

TEST(Validation, TakesAnInvariantThatCannotBeDecidedForKept) {
    const auto observation = [](std::string_view value) {
        return issues(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},)" +
                      std::string(value) + "}");
    };
    EXPECT_EQ(observation(R"("effectivePeriod":{"start":"2015","end":"2015-06"})"), "");
    EXPECT_EQ(
        observation(R"("effectivePeriod":{"start":"2015-01-01","end":"2015-01-01T10:00:00Z"})"),
        "");
    EXPECT_EQ(
        observation(R"("effectivePeriod":{"start":"2015-01-01T10:00:00Z","end":"2015-01-02"})"),
        "");
    EXPECT_EQ(observation(R"("effectivePeriod":{"start":"2015-07","end":"2015-06"})"),
              "error invariant Observation.effectivePeriod\n");
    EXPECT_EQ(observation(R"("valueRange":{"low":{"value":1},"high":{"value":2,"unit":"kg"}})"),
              "");
}

// bdl-8, lib-0 and ras-2: R4's expressions are empty if the element is absent.
TEST(Validation, AppliesInvariantsOnTheValueOfAnElementOnlyIfItIsPresent) {
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"batch-response","entry":[
        {"response":{"status":"200"}}]})"),
              "");
    const auto library = [](std::string_view name) {
        return issues(R"({"resourceType":"Library","status":"draft","type":{"text":"t"})" +
                      std::string(name) + "}");
    };
    EXPECT_EQ(library(""), "");
    EXPECT_EQ(library(R"(,"name":"L")"), "");
    EXPECT_EQ(library(R"(,"name":"1")"), "warning invariant Library\n");
    const auto assessment = [](std::string_view prediction) {
        return issues(
            R"({"resourceType":"RiskAssessment","status":"final","subject":{"reference":"Patient/1"},
            "prediction":[)" +
            std::string(prediction) + "]}");
    };
    EXPECT_EQ(assessment(R"({"outcome":{"text":"x"}})"), "");
    EXPECT_EQ(assessment(R"({"probabilityDecimal":100})"), "");
    EXPECT_EQ(assessment(R"({"probabilityDecimal":101})"),
              "error invariant RiskAssessment.prediction[0]\n");
}

TEST(Validation, ChecksExtensionsAndNarratives) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","extension":[{"url":"http://x.org/e"}]})"),
              "error invariant Patient.extension[0]\n");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","_birthDate":{"extension":[{"url":"e","valueString":"x"}]}})"),
        "error invalid Patient._birthDate.extension[0]\n");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","text":{"status":"generated",
        "div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><script>1</script></div>"}})"),
              "error invariant Patient.text.div\n");
    // An XML parser given this text alone would not take it for XHTML's div.
    EXPECT_EQ(issues(R"({"resourceType":"Patient","text":{"status":"generated",
        "div":"<div>x</div>"}})"),
              "error invariant Patient.text.div\n");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","text":{"status":"generated",
        "div":"<h:div xmlns:h=\"http://www.w3.org/1999/xhtml\">x</h:div>"}})"),
              "");
}

TEST(Validation, ChecksReferencesByTargetAndForm) {
    const auto observation = [](std::string_view subject) {
        return issues(
            R"({"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":)" +
            std::string(subject) + "}");
    };
    EXPECT_EQ(observation(R"({"reference":"Patient/1"})"), "");
    EXPECT_EQ(observation(R"({"reference":"http://x.org/fhir/Patient/1/_history/2"})"), "");
    EXPECT_EQ(observation(R"({"reference":"urn:uuid:0e3ee7bd-0e52-4a2b-9a2c-3b6c1d2f9a10"})"), "");
    EXPECT_EQ(observation(R"({"reference":"Patient?identifier=1"})"), "");
    EXPECT_EQ(observation(R"({"reference":"Practitioner/1"})"),
              "error structure Observation.subject\n");
    EXPECT_EQ(observation(R"({"reference":"Patient/1","type":"Group"})"),
              "error structure Observation.subject\n");
    EXPECT_EQ(observation(R"({"reference":"#p"})"), "error invariant Observation.subject\n");
}

TEST(Validation, ChecksThatContainedResourcesAreReferredTo) {
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"O"}],
        "managingOrganization":{"reference":"#o"}})"),
        "");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"O"}]})"),
        "error invariant Patient.contained[0]\n");
}

TEST(Validation, ReadsTextsWithEscapesAsTheyAreMeant) {
    // As escaped by encoders that protect HTML.
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","contained":[{"resourceType":"Binary","id":"b","contentType":"image/png"},
        {"resourceType":"Organization","id":"o","name":"O"},{"resourceType":"Binary","id":"c","contentType":"image/png"}],
        "managingOrganization":{"reference":"\u0023o"},"text":{"status":"generated","div":
        "<div xmlns=\u0022http://www.w3.org/1999/xhtml\u0022><img alt='x' src='#c'/><img alt='x' src=\u0022#b\u0022/></div>"}})"),
        "");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"text":"\u003cscript\u003ex"}],)"
                     R"("photo":[{"contentType":"image/png","data":"\u002B\u002B\/A","size":3}]})"),
              "error value Patient.name[0].text\n");
}

TEST(Validation, ChecksBundles) {
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"collection","entry":[
        {"fullUrl":"Patient/1","resource":{"resourceType":"Patient","id":"1"}},
        {"fullUrl":"http://x.org/Patient/2","resource":{"resourceType":"Patient","id":"3"}}]})"),
              "error invalid Bundle.entry[0].fullUrl\nerror invalid Bundle.entry[1].fullUrl\n");
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"collection","entry":[
        {"fullUrl":"http://x.org/Patient/1","resource":{"resourceType":"Patient","id":"1"}},
        {"fullUrl":"http://x.org/Patient/1","resource":{"resourceType":"Patient","id":"1"}}]})"),
              "error invariant Bundle\n");
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"searchset","link":[
        {"relation":"self","url":"http://x.org"},{"relation":"self","url":"http://x.org"}]})"),
              "error invalid Bundle.link[1]\n");
}

std::string document(std::string_view subject) {
    return R"({"resourceType":"Bundle","type":"document","timestamp":"2020-01-01T00:00:00Z",
        "identifier":{"system":"http://x.org","value":"1"},"entry":[
        {"fullUrl":"http://x.org/Composition/1","resource":{"resourceType":"Composition","id":"1","status":"final",
            "type":{"text":"t"},"date":"2020","title":"t","author":[{"reference":"Patient/1"}],"subject":{"reference":")" +
           std::string(subject) + R"("}}},
        {"fullUrl":"http://x.org/Patient/1","resource":{"resourceType":"Patient","id":"1"}}]})";
}

TEST(Validation, FindsWhatADocumentRefersToInIt) {
    EXPECT_EQ(issues(document("Patient/1")), "");
    EXPECT_EQ(issues(document("http://x.org/Patient/1")), "");
    EXPECT_EQ(issues(document("Patient/2")), "error invalid Bundle.entry[0].resource.subject\n");
}

TEST(Validation, RefusesDisplaysThatAreNoneOfTheCodesNamesWhereItIsStrict) {
    TextSource source;
    source.add(R"({"resourceType":"CodeSystem","url":"http://x.org/cs","status":"active",
        "content":"complete","concept":[{"code":"m","display":"Married"}]})");
    const auto judged = [&](std::string_view display, const Options& options) {
        return issues(R"({"resourceType":"Basic","code":{"coding":[
            {"system":"http://x.org/cs","code":"m","display":")" +
                          std::string(display) + R"("}]}})",
                      source, options);
    };
    EXPECT_EQ(judged("Married", strict_options(source)), "");
    EXPECT_EQ(judged(" MÁRRIED", strict_options(source)), "") << "as $validate-code compares";
    EXPECT_EQ(judged("Single", {}), "warning invalid Basic.code.coding[0]\n");
    EXPECT_EQ(judged("Single", strict_options(source)), "error invalid Basic.code.coding[0]\n");
}

TEST(Validation, OnlyWarnsOfUnknownCodesWhereThatIsAsked) {
    Options options;
    options.refuse_unknown_codes = false;
    EXPECT_EQ(issues(R"({"resourceType":"Observation","status":"final","code":{"coding":[
        {"system":"http://snomed.info/sct","code":"1"}]}})",
                     EmptySource(), options),
              "warning code-invalid Observation.code.coding[0]\n");
}

TEST(Validation, KnowsSnomedCodesByTheirCheckDigit) {
    const auto observation = [](std::string_view code) {
        return issues(
            R"({"resourceType":"Observation","status":"final","code":{"coding":[
            {"system":"http://snomed.info/sct","code":")" +
            std::string(code) + R"("}]}})");
    };
    EXPECT_EQ(observation("276885007"), "");
    EXPECT_EQ(observation("71388002:260686004="
                          "129304002"),
              "");
    EXPECT_EQ(observation("276885008"),
              "error code-invalid "
              "Observation.code.coding["
              "0]\n");
    EXPECT_EQ(observation("276885007x"),
              "error code-invalid "
              "Observation.code.coding["
              "0]\n");
    EXPECT_EQ(observation("1"),
              "error code-invalid "
              "Observation.code.coding["
              "0]\n");
}

TEST(Validation, KnowsCodesOfUcumByTheirUnitsAndGrammar) {
    const auto quantity = [](std::string_view code) {
        return issues(
            R"({"resourceType":"Observation","status":"final","code":{"text":"t"},"valueQuantity":
            {"value":1,"system":"http://unitsofmeasure.org","code":")" +
            std::string(code) + R"("}})");
    };
    for (const char* code : {"mg/dL",
                             "mm[Hg]",
                             "10*3/uL",
                             "10^3/uL",
                             "/min",
                             "/[HPF]",
                             "1",
                             "%",
                             "{score}",
                             "{beats}/min",
                             "kg.m/s2",
                             "kg/(m.s2){x}",
                             "U/(10.g){feces}",
                             "mL/min/{1.73_m2}",
                             "Cel",
                             "m-1",
                             "keV",
                             "[in_i'H2O]",
                             "B[10.nV]",
                             "[m/s2/Hz^(1/2)]",
                             "[acr_us]",
                             "m99.m99",
                             "yu"}) {
        EXPECT_EQ(quantity(code), "") << code;
    }
    for (const char* code : {"mmHg", "MG/DL", "bpm", "x10E3/uL", "mg / dL", "mg//dL", "mg/", "mg)",
                             "(mg", "mg{x", "mcg", "k[acr_us]", "km[acr_us]", "[nosuch]"}) {
        EXPECT_EQ(quantity(code), "error code-invalid Observation.valueQuantity\n") << code;
    }
    EXPECT_EQ(issues(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},
        "valueQuantity":{"value":1,"system":"http://units.org","code":"mmHg"}})"),
              "");
    EXPECT_EQ(issues(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},
        "valueCodeableConcept":{"coding":[{"system":"http://unitsofmeasure.org","code":"mmHg"}]}})"),
              "error code-invalid Observation.valueCodeableConcept.coding[0]\n");
}

TEST(Validation, TellsBesideFaultsOfTheStructureWhatElseIsWrong) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","birthDate":"2000-02-30","gender":"x",
        "contact":[{"gender":"male"}]})"),
              "error value Patient.birthDate\nerror code-invalid Patient.gender\n"
              "error invariant Patient.contact[0]\n");
    EXPECT_EQ(against(R"({"resourceType":"Observation","code":{"text":"x"}})",
                      R"({"id":"Observation.subject","path":"Observation.subject","min":1})"),
              "error required Observation.status\nerror structure Observation\n");
    Options options;
    options.refuse_unknown_elements = true;
    EXPECT_EQ(issues(R"({"resourceType":"Patient","odd":{"a":[1]},"gender":"x"})", EmptySource(),
                     options),
              "error structure Patient.odd\nerror code-invalid Patient.gender\n");
    // Further checks rely on arrays being arrays.
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":{"family":"x"},"gender":"x"})"),
              "error structure Patient.name\n");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Patient","contained":[{"resourceType":"HumanName","id":"a","given":1}],"gender":"x"})"),
        "error value Patient.contained[0].resourceType\n");
}

TEST(Validation, KnowsCodesOfQuantitiesAndConceptMapsBySystemsThatAreHere) {
    TextSource source;
    source.add(R"({"resourceType":"CodeSystem","url":"http://x.org/units","status":"active",
        "content":"complete","concept":[{"code":"drop"}]})");
    const auto quantity = [&](std::string_view code) {
        return issues(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},
            "valueQuantity":{"value":1,"system":"http://x.org/units","code":")" +
                          std::string(code) + R"("}})",
                      source);
    };
    EXPECT_EQ(quantity("drop"), "");
    EXPECT_EQ(quantity("drip"), "error code-invalid Observation.valueQuantity\n");
    EXPECT_EQ(issues(R"({"resourceType":"ConceptMap","status":"draft","group":[
        {"source":"http://x.org/units","target":"http://x.org/units","element":[
        {"code":"drop","target":[{"code":"drop","equivalence":"equivalent"}]},
        {"code":"drip","target":[{"code":"drap","equivalence":"equivalent"}]}],
        "unmapped":{"mode":"fixed","code":"drup"}},
        {"source":"http://x.org/others","element":[{"code":"drip"}]}]})",
                     source),
              "error code-invalid ConceptMap.group[0].element[1].code\n"
              "error code-invalid ConceptMap.group[0].element[1].target[0].code\n"
              "error code-invalid ConceptMap.group[0].unmapped.code\n");
}

TEST(Validation, ComparesAnAttachmentsHashWithItsData) {
    const auto photo = [](std::string_view hash) {
        return issues(
            R"({"resourceType":"Patient","photo":[{"contentType":"text/plain","data":"YWJj","hash":")" +
            std::string(hash) + R"("}]})");
    };
    EXPECT_EQ(photo("qZk+NkcGgWq6PiVxeFDCbJzQ2J0="), "");
    EXPECT_EQ(photo("AAAANkcGgWq6PiVxeFDCbJzQ2J0="), "warning value Patient.photo[0]\n");
}

TEST(Validation, ComparesAnAttachmentsSizeWithItsData) {
    const auto photo = [](std::string_view size) {
        return issues(
            R"({"resourceType":"Patient","photo":[{"contentType":"text/plain","data":"YWJj\nZA==","size":)" +
            std::string(size) + "}]}");
    };
    EXPECT_EQ(photo("4"), "");
    EXPECT_EQ(photo("6"), "error value Patient.photo[0]\n");
}

}  // namespace
}  // namespace annals::validation
