// Searches for texts, tokens, references, URIs, composites and places.

#include "core/target.h"
#include "tests/core/search/corpus.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

TEST(StringQuery, IsByBeginningByPartOrExact) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"eve","name":[{"given":["Eve"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"evelyn","name":[{"given":["Evelyn"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"severine","name":[{"given":["Séverine"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"comma","name":[{"family":"a,b$c|d\\e"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"none"})");
    check(corpus, "Patient",
          {{"given=eve", "eve evelyn"},
           {"given=EVE", "eve evelyn"},
           {"given:contains=eve", "eve evelyn severine"},
           {"given:contains=%C3%A9v%C3%A9", "eve evelyn severine"},
           {"given:exact=Eve", "eve"},
           {"given:exact=eve", ""},
           {"name=evelyn", "evelyn"},
           {"given=eve,sev", "eve evelyn severine"},
           {"given=eve&given=evel", "evelyn"},
           {"family=a%5C,b", "comma"},
           {"family:exact=a%5C,b%5C$c%5C|d%5C%5Ce", "comma"},
           {"family=a,x", "comma"},
           {"name:missing=true", "none"},
           {"given:missing=true", "comma none"},
           {"given:missing=false", "eve evelyn severine"},
           {"given:missing=maybe",
            "invalid: search parameter 'given:missing': true or false is needed"},
           {"given:text=x",
            "not-supported: search parameter 'given:text': the modifier ':text' is not supported"},
           {"given:not=x",
            "not-supported: search parameter 'given:not': the modifier ':not' is not supported"},
           {"given=a%5Cb", "invalid: search parameter 'given': unknown escape"},
           {"given=a,,b",
            "invalid: search parameter 'given': a value is needed before and after every comma"},
           {"given=", "invalid: search parameter 'given' has no value"}});
}

TEST(StringQuery, FindsWhatIsEscaped) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"comma","name":[{"family":"a,b$c|d\\e"}]})");
    const std::string value = escape_value(R"(a,b$c|d\e)");
    EXPECT_EQ(value, R"(a\,b\$c\|d\\e)");
    EXPECT_EQ(corpus.ask("Patient", "family:exact=" + percent_encode(value)), "comma");
}

TEST(StringQuery, RefusesATextOfWhichFoldingLeavesNothing) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"eve","name":[{"given":["Eve"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"blank","name":[{"given":[" "]}]})");
    corpus.add(R"({"resourceType":"Condition","id":"c","code":{"text":"Headache"},
        "subject":{"reference":"Patient/1"}})");
    const auto refused = [](const std::string& name) {
        return "invalid: search parameter '" + name +
               "': a text is needed that consists of more than white space and marks";
    };
    // A blank, a combining accent alone, a zero-width space.
    for (const std::string text : {"%20", "%CC%81", "%E2%80%8B", "eve,%20"}) {
        EXPECT_EQ(corpus.ask("Patient", "given=" + text), refused("given")) << text;
        EXPECT_EQ(corpus.ask("Patient", "given:contains=" + text), refused("given:contains"))
            << text;
        EXPECT_EQ(corpus.ask("Condition", "code:text=" + text), refused("code:text")) << text;
    }
    EXPECT_EQ(corpus.ask("Patient", "given:exact=%20"), "blank");
    EXPECT_EQ(corpus.ask("Patient", "given:text=%20"),
              "not-supported: search parameter 'given:text': the modifier ':text' is not "
              "supported");
}

TEST(TokenQuery, IsByCodeAndSystem) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Condition","id":"icd","code":{"text":"Bad headache",
        "coding":[{"system":"http://i","code":"R51","display":"Headache"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"own","code":{"coding":[{"code":"R51"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"two","code":{"coding":[
        {"system":"http://i","code":"X"},{"system":"http://j","code":"R51"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"none","subject":{"reference":"Patient/1"}})");
    check(
        corpus, "Condition",
        {{"code=R51", "icd own two"},
         {"code=http://i|R51", "icd"},
         {"code=|R51", "own"},
         {"code=http://i|", "icd two"},
         {"code=http://i|X,http://i|R51", "icd two"},
         {"code=X&code=R51", "two"},
         {"code=r51", ""},
         {"code:not=R51", "none"},
         {"code:not=http://i|R51", "own two none"},
         {"code:not=http://i|R51,X", "own none"},
         {"code:text=head", "icd"},
         {"code:text=bad", "icd"},
         {"code:missing=true", "none"},
         {"code=|", "invalid: search parameter 'code': a code or a system is needed"},
         {"code=a|b|c",
          "invalid: search parameter 'code': code, system|code, |code or system| is needed"},
         {"code:exact=R51",
          "not-supported: search parameter 'code:exact': the modifier ':exact' is not supported"},
         {"code:in=http://nowhere",
          "invalid: search parameter 'code:in': the value set 'http://nowhere' is not known here"},
         {"code:below=http://i|R51",
          "invalid: search parameter 'code:below': the code system 'http://i' is not stored here"},
         {"code:below=R51", "invalid: search parameter 'code:below': system|code is needed"}});
}

TEST(TokenQuery, KnowsBooleansCodesIdentifiersAndContacts) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"a","active":true,"gender":"male",
        "identifier":[{"system":"urn:oid:1.2","value":"446053","type":{"coding":[
        {"system":"http://t","code":"MR"}]}}],
        "telecom":[{"system":"email","value":"a@b.org","use":"home"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"b","active":false,"gender":"female",
        "identifier":[{"value":"446053"}],"telecom":[{"system":"phone","value":"555"}]})");
    check(corpus, "Patient",
          {{"active=true", "a"},
           {"active:not=true", "b"},
           {"gender=male", "a"},
           {"gender=male,female", "a b"},
           {"gender:not=male", "b"},
           {"gender=http://hl7.org/fhir/administrative-gender|male", "a"},
           {"gender:in=http://hl7.org/fhir/ValueSet/administrative-gender", "a b"},
           {"gender:not-in=http://hl7.org/fhir/ValueSet/administrative-gender", ""},
           {"identifier=446053", "a b"},
           {"identifier=urn:oid:1.2|446053", "a"},
           {"identifier=|446053", "b"},
           {"identifier:of-type=http://t|MR|446053", "a"},
           {"identifier:of-type=http://t|XX|446053", ""},
           {"identifier:of-type=MR|446053",
            "invalid: search parameter 'identifier:of-type': system|code|value is needed"},
           {"identifier:of-type=http://t||446053",
            "invalid: search parameter 'identifier:of-type': system, code and value must not be "
            "empty"},
           {"identifier:of-type=|MR|446053",
            "invalid: search parameter 'identifier:of-type': system, code and value must not be "
            "empty"},
           {"email=a@b.org", "a"},
           {"phone=555", "b"},
           {"telecom=email|a@b.org", "a"}});
}

TEST(ReferenceQuery, IsByIdTypeUrlAndIdentifier) {
    Corpus corpus;
    const auto add = [&](const char* id, const std::string& subject) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"x"},"subject":)" + subject + "}");
    };
    add("rel", R"({"reference":"Patient/23"})");
    add("abs", R"({"reference":"http://example.org/fhir/Patient/23"})");
    add("ver", R"({"reference":"Patient/23/_history/2"})");
    add("grp", R"({"reference":"Group/23"})");
    add("far", R"({"reference":"http://far.org/fhir/Patient/23"})");
    add("urn", R"({"reference":"urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"})");
    add("idn", R"({"identifier":{"system":"http://acme","value":"2345"}})");
    check(corpus, "Observation",
          {{"subject=23", "rel abs ver grp"},
           {"subject=Patient/23", "rel abs ver"},
           {"subject:Patient=23", "rel abs ver"},
           {"subject:Patient=Patient/23", "rel abs ver"},
           {"subject=http://example.org/fhir/Patient/23", "rel abs ver"},
           {"subject=Patient/23/_history/2", "ver"},
           {"subject=http://example.org/fhir/Patient/23/_history/2", "ver"},
           {"subject=23/_history/2", "ver"},
           {"subject=23/_history/3", ""},
           {"subject:Patient=23/_history/2", "ver"},
           {"subject:Patient=23/_history/3", ""},
           {"subject:Group=23/_history/2", ""},
           {"subject:Patient=Patient/23/_history/2", "ver"},
           {"subject:Patient=Patient/23/_history/3", ""},
           {"subject:Patient=23/_history/",
            "invalid: search parameter 'subject:Patient': an id is needed"},
           {"subject=23/_history/",
            "invalid: search parameter 'subject': an id, Type/id or an absolute URL is needed"},
           {"subject=http://far.org/fhir/Patient/23", "far"},
           {"subject=http://example.org/fhirPatient/23", ""},
           {"subject=urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0", "urn"},
           {"subject=Patient/23,Group/23", "rel abs ver grp"},
           {"patient=23", "rel abs ver"},
           {"subject:identifier=http://acme|2345", "idn"},
           {"subject:identifier=2345", "idn"},
           {"subject:missing=true", ""},
           {"subject:Patient=Group/23",
            "invalid: search parameter 'subject:Patient': an id is needed"},
           {"subject:Encounter=23",
            "invalid: search parameter 'subject:Encounter': it does not lead to Encounter"},
           {"subject:Nothing=23",
            "not-supported: search parameter 'subject:Nothing': the modifier ':Nothing' is not "
            "supported"},
           {"subject=a/b/c",
            "invalid: search parameter 'subject': an id, Type/id or an absolute URL is needed"}});
}

// R4's example: a type is found with and without parameters.
TEST(TokenQuery, FindsMimeTypesWithWhateverParameters) {
    Corpus corpus;
    int count = 0;
    for (const char* type : {"text/xml", "text/xml; charset=UTF-8", "TEXT/XML ;charset=latin1",
                             "text/xml-external", "application/json"}) {
        corpus.add(R"({"resourceType":"DocumentReference","id":"d)" + std::to_string(++count) +
                   R"(","status":"current","content":[{"attachment":{"contentType":")" + type +
                   R"("}}]})");
    }
    corpus.add(R"({"resourceType":"CapabilityStatement","id":"c","status":"active",
        "format":["json","application/fhir+xml; fhirVersion=4.0"]})");
    check(
        corpus, "DocumentReference",
        {{"contenttype=text/xml", "d1"},
         {"contenttype:below=text/xml", "d1 d2 d3"},
         {"contenttype:below=text/xml; charset=utf-8", "d2"},
         {"contenttype:below=text/xml;", "d1 d2 d3"},
         {"contenttype:below=text/xml%20;%20", "d1 d2 d3"},
         {"contenttype:below=text/xml,application/json", "d1 d2 d3 d5"},
         {"contenttype:below=text", ""},
         {"contenttype:above=text/xml",
          "invalid: search parameter 'contenttype:above': system|code is needed"},
         {"type:below=text/xml", "invalid: search parameter 'type:below': system|code is needed"}});
    check(corpus, "CapabilityStatement",
          {{"format:below=application/fhir%2Bxml", "c"}, {"format:below=xml", ""}});
}

TEST(ReferenceQuery, GoesThroughThePartsOfWhatItLeadsTo) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Location","id":"town"})");
    corpus.add(
        R"({"resourceType":"Location","id":"house","partOf":{"reference":"Location/town"}})");
    corpus.add(
        R"({"resourceType":"Location","id":"room","partOf":{"reference":"Location/house"}})");
    corpus.add(R"({"resourceType":"Location","id":"other"})");
    for (const char* place : {"town", "house", "room", "other"}) {
        corpus.add(R"({"resourceType":"Procedure","id":"in-)" + std::string(place) +
                   R"(","status":"completed","subject":{"reference":"Patient/1"},
                   "location":{"reference":"Location/)" +
                   place + R"("}})");
    }
    check(
        corpus, "Procedure",
        {{"location:below=town", "in-town in-house in-room"},
         {"location:below=Location/house", "in-house in-room"},
         {"location:below=http://example.org/fhir/Location/house", "in-house in-room"},
         {"location:below=room", "in-room"},
         {"location:above=room", "in-town in-house in-room"},
         {"location:above=house", "in-town in-house"},
         {"location:above=other", "in-other"},
         {"location:below=Location/town/_history/1",
          "invalid: search parameter 'location:below': an id or Type/id is needed, without a "
          "version"},
         {"location:below=http://elsewhere/fhir/Location/town",
          "invalid: search parameter 'location:below': an id or Type/id is needed, without a "
          "version"},
         {"location:above=room/_history/1",
          "invalid: search parameter 'location:above': an id or Type/id is needed, without a "
          "version"},
         {"location:below=Patient/1",
          "invalid: search parameter 'location:below': the types it refers to have no hierarchy"},
         {"patient:below=1",
          "invalid: search parameter 'patient:below': the types it refers to have no hierarchy"}});
    check(corpus, "Location",
          {{"partof:below=town", "house room"}, {"partof:above=house", "house room"}});
}

TEST(ReferenceQuery, GoesThroughTenLevelsOfParts) {
    Corpus corpus;
    for (int level = 0; level <= 11; ++level) {
        const std::string id = std::to_string(level);
        corpus.add(R"({"resourceType":"Location","id":")" + id + '"' +
                   (level == 0 ? "}"
                               : R"(,"partOf":{"reference":"Location/)" +
                                     std::to_string(level - 1) + R"("}})"));
        corpus.add(R"({"resourceType":"Procedure","id":"in-)" + id +
                   R"(","status":"completed","subject":{"reference":"Patient/1"},
                   "location":{"reference":"Location/)" +
                   id + R"("}})");
    }
    check(corpus, "Procedure",
          {{"location:below=0", "in-0 in-1 in-2 in-3 in-4 in-5 in-6 in-7 in-8 in-9 in-10"},
           {"location:above=11", "in-1 in-2 in-3 in-4 in-5 in-6 in-7 in-8 in-9 in-10 in-11"}});
}

TEST(UriQuery, IsExactOrAboveOrBelow) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* url) {
        corpus.add(R"({"resourceType":"ValueSet","id":")" + std::string(id) +
                   R"(","status":"draft","url":")" + url + "\"}");
    };
    add("root", "http://acme.org/fhir");
    add("scheme", "http:");
    add("folder", "http://acme.org/fhir/ValueSet/");
    add("a", "http://acme.org/fhir/ValueSet/123");
    add("b", "http://acme.org/fhir/ValueSet/123/_history/5");
    add("urn", "urn:oid:1.2.3.4.5");
    check(corpus, "ValueSet",
          {{"url=http://acme.org/fhir/ValueSet/123", "a"},
           {"url=http://ACME.org/fhir/ValueSet/123", ""},
           {"url:below=http://acme.org/fhir/", "folder a b"},
           {"url:below=http://acme.org/fhir", "root folder a b"},
           {"url:above=http://acme.org/fhir/ValueSet/123/_history/5", "root folder a b"},
           {"url=urn:oid:1.2.3.4.5", "urn"},
           {"url:below=urn:oid:1.2",
            "invalid: search parameter 'url:below': a URN has nothing above or below it"},
           {"url:contains=x",
            "not-supported: search parameter 'url:contains': the modifier ':contains' is not "
            "supported"}});
}

TEST(CompositeQuery, HoldsOfOneElement) {
    Corpus corpus;
    const auto component = [](const char* code, const char* value) {
        return std::string(R"({"code":{"coding":[{"system":"http://loinc.org","code":")") + code +
               R"("}]},"valueQuantity":{"value":)" + value +
               R"(,"system":"http://unitsofmeasure.org","code":"mm[Hg]"}})";
    };
    const auto add = [&](const char* id, const std::string& components) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"coding":[{"system":"http://loinc.org",
                   "code":"85354-9"}]},"component":[)" +
                   components + "]}");
    };
    add("normal", component("8480-6", "120") + "," + component("8462-4", "80"));
    add("swapped", component("8480-6", "80") + "," + component("8462-4", "120"));
    corpus.add(R"({"resourceType":"Observation","id":"plain","status":"final","code":{"coding":[
        {"system":"http://loinc.org","code":"8480-6"}]},
        "valueQuantity":{"value":125,"system":"http://unitsofmeasure.org","code":"mm[Hg]"}})");
    const std::string other = component("150", "200");
    add("mixed", std::string(other).replace(other.find("http://loinc.org"), 16, "http://other") +
                     "," + component("8867-4", "50"));
    check(corpus, "Observation",
          {{"component-code-value-quantity=8480-6$gt100", "normal"},
           {"component-code-value-quantity=http://loinc.org|$gt100", "normal swapped"},
           {"component-code-value-quantity=http://other|$gt100", "mixed"},
           {"component-code-value-quantity=http://other|$lt100", ""},
           {"component-code-value-quantity=http://elsewhere|8480-6$gt100", ""},
           {"component-code-value-quantity:not=8480-6$gt100",
            "not-supported: search parameter 'component-code-value-quantity:not': the modifier "
            "':not' is not supported"},
           {"component-code-value-quantity=http://loinc.org|8480-6$lt100", "swapped"},
           {"component-code-value-quantity=8462-4$120||mm[Hg]", "swapped"},
           {"combo-code-value-quantity=8480-6$gt100", "normal plain"},
           {"code-value-quantity=8480-6$gt100", "plain"},
           {"code-value-quantity=8480-6$gt100,85354-9$gt1", "plain"},
           {"combo-code-value-quantity=8462-4$gt100,8480-6$gt121", "swapped plain"},
           {"code-value-quantity:missing=false", "plain"},
           {"code-value-quantity=8480-6",
            "invalid: search parameter 'code-value-quantity': 2 values with '$' between them are "
            "needed"},
           {"code-value-quantity=8480-6$",
            "invalid: search parameter 'code-value-quantity': a value is needed before and after "
            "every '$'"},
           {"code-value-quantity=8480-6$abc",
            "invalid: search parameter 'code-value-quantity': number, number|system|code or "
            "number||code is needed"}});
}

TEST(CompositeQuery, TakesNoCodeForAnotherAndAText) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* coding) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","valueString":"value","code":{"coding":[)" + coding +
                   "]}}");
    };
    // The characters that separate the parts of a composite's entries.
    add("code", R"({"code":"a\u001eb"})");
    add("part", R"({"code":"a\u001fs\u001fb"})");
    add("system", R"({"system":"s\u001fb","code":"a"})");
    check(corpus, "Observation",
          {{"code-value-string=a$b", ""},
           {"code-value-string=s|a$b", ""},
           {"code-value-string=|a$b", ""}});
}

TEST(CompositeQuery, TakesComponentsOfAnyType) {
    Corpus corpus;
    const auto add = [&](const char* id, const std::string& value) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"coding":[{"system":"http://l","code":"c"}]},)" +
                   value + "}");
    };
    add("text", R"("valueString":"Red and round")");
    add("concept", R"("valueCodeableConcept":{"coding":[{"system":"http://v","code":"red"}]})");
    add("date", R"("valueDateTime":"2020-05-01")");
    corpus.add(R"({"resourceType":"DocumentReference","id":"doc","status":"current","content":[],
        "relatesTo":[{"code":"replaces","target":{"reference":"DocumentReference/a"}},
                     {"code":"appends","target":{"reference":"DocumentReference/b"}}]})");
    corpus.add(
        R"({"resourceType":"Group","id":"grp","type":"person","actual":false,"characteristic":[
        {"code":{"coding":[{"code":"gender"}]},"valueCodeableConcept":{"coding":[{"code":"mixed"}]},
         "exclude":false},
        {"code":{"coding":[{"code":"owner"}]},"valueCodeableConcept":{"coding":[{"code":"john"}]},
         "exclude":false}]})");
    corpus.add(R"({"resourceType":"DiagnosticReport","id":"report","status":"final",
        "code":{"text":"x"},"result":[{"reference":"Observation/text"}]})");
    check(corpus, "Observation",
          {{"code-value-string=http://l|c$red", "text"},
           {"code-value-string=c$red", "text"},
           {"code-value-string=http://m|c$red", ""},
           {"code-value-concept=c$http://v|red", "concept"},
           {"code-value-date=c$2020-05", "date"},
           {"code-value-date=c$gt2020-05", ""},
           {"combo-code-value-concept=c$red", "concept"}});
    check(corpus, "DocumentReference",
          {{"relationship=DocumentReference/a$replaces", "doc"},
           {"relationship=DocumentReference/a$appends", ""},
           {"relationship=b$appends", "doc"}});
    check(corpus, "Group",
          {{"characteristic-value=gender$mixed", "grp"},
           {"characteristic-value=gender$john", ""},
           {"characteristic-value=gender$john,owner$john", "grp"}});
    check(corpus, "DiagnosticReport", {{"result.code-value-string=http://l|c$red", "report"}});
}

TEST(NearQuery, IsTheDistanceOnTheGlobe) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* latitude, const char* longitude) {
        corpus.add(R"({"resourceType":"Location","id":")" + std::string(id) +
                   R"(","position":{"latitude":)" + latitude + R"(,"longitude":)" + longitude +
                   "}}");
    };
    add("here", "42.25", "-83.69");
    add("near", "42.30", "-83.70");    // about 5.6 km
    add("corner", "42.33", "-83.58");  // in the box of 11 km, but 12.7 km away
    add("far", "43.5", "-83.69");
    add("east", "0", "179.99");
    add("west", "0", "-179.99");
    add("pole", "89.99", "10");
    corpus.add(R"({"resourceType":"Location","id":"nowhere"})");
    const char* const no_distance =
        "invalid: search parameter 'near': the distance is a number of km, m, cm, mm, [mi_i], "
        "[mi_us], [nmi_i], [yd_i] or [ft_i]";
    check(corpus, "Location",
          {{"near=42.25|-83.69|11|km", "here near"},
           {"near=42.25|-83.69|11", "here near"},
           {"near=42.25|-83.69|13|km", "here near corner"},
           {"near=42.25|-83.69|5000|m", "here"},
           {"near=42.25|-83.69|4|[mi_us]", "here near"},
           {"near=42.25|-83.69", "here near corner"},
           {"near=0|180|3|km", "east west"},
           {"near=0|-180|3|km", "east west"},
           {"near=89.99|-170|3|km", "pole"},
           {"near=42.25|-83.69|1|km,0|180|3|km", "here east west"},
           {"near:missing=true", "nowhere"},
           {"near=91|0",
            "invalid: search parameter 'near': a latitude must be from -90 to 90, a longitude from "
            "-180 to 180"},
           {"near=1",
            "invalid: search parameter 'near': latitude|longitude|distance|units is needed"},
           {"near=1|1|2|parsec", no_distance},
           {"near=1|1|x|km", no_distance},
           {"near=1|1|-2|km", no_distance}});
}

}  // namespace
}  // namespace annals::core::search
