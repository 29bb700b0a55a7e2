#include "core/base/base64.h"
#include "core/definitions.h"
#include "core/terminology/code_system.h"
#include "core/terminology/filter.h"
#include "core/terminology/membership.h"
#include "tests/core/operations/terminology_fixture.h"
#include "tests/support/archives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::core {
namespace {

using test::Answer;

/// What Parameters say, each parameter that is a primitive as "name=value"; else the status and the issue's code.
std::string said(const Answer& answer) {
    json::Parser parser;
    const auto body = parser.parse(answer.body);
    if (!body || answer.status != 200) {
        return test::TerminologyFixture::codes_of(answer);
    }
    std::string out;
    for (const json::Value parameter : body->root()["parameter"].elements()) {
        for (const auto [key, value] : parameter.members()) {
            if (key.raw_string().starts_with("value") && !parameter["name"].equals("message")) {
                out += (out.empty() ? "" : " ") + parameter["name"].string() + "=" +
                       (value.is_string() ? value.string() : std::string(value.raw()));
            }
        }
    }
    return out;
}

class Codes : public test::TerminologyFixture {
  protected:
    std::string get(std::string_view target) { return said(send("GET", target)); }
};

TEST_F(Codes, AreTheSameInAnyCaseWhereTheirSystemSaysSo) {
    put("CodeSystem/loose",
        R"({"resourceType":"CodeSystem","id":"loose","url":"http://s/loose","status":"active",
        "content":"complete","caseSensitive":false,
        "concept":[{"code":"Red"},{"code":"blue"},{"code":"GREEN"}]})");
    compose("listed", R"("include":[{"system":"http://s/loose",
        "concept":[{"code":"red"},{"code":"BLUE"}]}])");
    const std::string url = "/ValueSet/$validate-code?url=http://v/listed&system=http://s/loose";
    for (const char* code : {"red", "Red", "RED", "rED", "blue", "BLUE", "Blue"}) {
        EXPECT_TRUE(get(url + "&code=" + code).starts_with("result=true")) << code;
    }
    EXPECT_EQ(get(url + "&code=GREEN"), "result=false");
    EXPECT_EQ(get(url + "&code=green"), "result=false");
    compose("left", R"("include":[{"system":"http://s/loose"}],
        "exclude":[{"system":"http://s/loose","concept":[{"code":"red"},{"code":"BLUE"}]}])");
    EXPECT_EQ(codes("url=http://v/left"), "GREEN");
    compose("strict", R"("include":[{"system":"http://s/animals","concept":[{"code":"dog"}]}])");
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/strict&system=http://s/animals&code=DOG"),
              "result=false");
}

TEST_F(Codes, ThatAreInByOnePartNeedNoPartThatCanNotBeRead) {
    filter("odd", "legs", "regex", "(");
    compose("parts", R"("include":[{"valueSet":["http://v/odd"]},
        {"system":"http://s/animals","concept":[{"code":"rock"}]}])");
    const std::string url = "/ValueSet/$validate-code?url=http://v/parts";
    EXPECT_EQ(get(url + "&system=http://s/animals&code=rock"), "result=true display=Rock");
    EXPECT_EQ(get(url + "&code=rock"), "result=true display=Rock");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog"), "result=false") << "can't be told";
}

TEST_F(Codes, AreValidatedAgainstAValueSet) {
    filter("isa", "concept", "is-a", "dog");
    const std::string url = "/ValueSet/$validate-code?url=http://v/isa";
    EXPECT_EQ(get(url + "&system=http://s/animals&code=poodle"),
              "result=true display=Caniche Élégant");
    EXPECT_EQ(get(url + "&code=puppy"), "result=true display=Puppy") << "of whatever system";
    EXPECT_EQ(get(url + "&code=puppy&inferSystem=true"), "result=true display=Puppy");
    EXPECT_EQ(get(url + "&code=puppy&inferSystem=maybe"), "400 invalid");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=rock"), "result=false");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=none"), "result=false");
    EXPECT_EQ(get(url + "&system=http://other&code=dog"), "result=false");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&display=DOG"),
              "result=true display=Dog");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&display=Hund"),
              "result=true display=Dog");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&display=Cat"),
              "result=false display=Dog");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&display=%20"),
              "result=false display=Dog")
        << "the value set calls it nothing";
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&displayLanguage=de"),
              "result=true display=Hund");
    EXPECT_EQ(get(url + "&system=http://s/animals&code=dog&displayLanguage=es"),
              "result=true display=Dog")
        << "there is none in Spanish";
    EXPECT_EQ(get("/ValueSet/isa/$validate-code?code=dog"), "result=true display=Dog");
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/none&code=dog"), "404 not-found");
    EXPECT_EQ(get("/ValueSet/$validate-code?code=dog"), "400 required");
    EXPECT_EQ(get(url), "400 required");
    EXPECT_EQ(get(url + "&code="), "400 invalid");
    EXPECT_EQ(said(send("POST", "/ValueSet/isa/$validate-code",
                        R"({"resourceType":"Parameters","parameter":[{"name":"codeableConcept",
                        "valueCodeableConcept":{"coding":[{"system":"http://other","code":"x"},
                        {"system":"http://s/animals","code":"dog"}]}}]})")),
              "result=true display=Dog");
    EXPECT_EQ(said(send("POST", "/ValueSet/isa/$validate-code",
                        R"({"resourceType":"Parameters","parameter":[{"name":"coding",
                        "valueCoding":{"system":"http://s/animals","code":"bird"}}]})")),
              "result=false");
}

TEST_F(Codes, OfAConceptMayHaveNoMoreThanADisplay) {
    constexpr std::string_view kOther =
        R"({"resourceType":"Parameters","parameter":[{"name":"codeableConcept",
        "valueCodeableConcept":{"coding":[{"system":"http://other","display":"Hound"})";
    const std::string only = std::string(kOther) + "]}}]}";
    const std::string both =
        std::string(kOther) + R"(,{"system":"http://s/animals","code":"dog"}]}}]})";
    EXPECT_EQ(said(send("POST", "/ValueSet/all/$validate-code", both)), "result=true display=Dog");
    EXPECT_EQ(said(send("POST", "/ValueSet/all/$validate-code", only)), "400 required");
}

TEST_F(Codes, OfAConceptAreAHundredAtMost) {
    const auto with = [&](int count) {
        std::string codings;
        for (int i = 1; i < count; ++i) {
            codings += R"({"system":"http://other","code":"x"},)";
        }
        return send("POST", "/ValueSet/all/$validate-code",
                    R"({"resourceType":"Parameters","parameter":[{"name":"codeableConcept",)"
                    R"("valueCodeableConcept":{"coding":[)" +
                        codings + R"({"system":"http://s/animals","code":"dog"}]}}]})");
    };
    EXPECT_EQ(said(with(100)), "result=true display=Dog");
    const Answer refused = with(101);
    EXPECT_EQ(said(refused), "400 invalid");
    EXPECT_TRUE(refused.says("more than 100 codings")) << "and not that there is none";
}

TEST_F(Codes, AreCalledWhatTheValueSetCallsThem) {
    compose("named", R"("include":[{"system":"http://snomed.info/sct","concept":[
        {"code":"1","display":"Male","designation":[{"language":"de","value":"Mann"}]}]},
        {"system":"http://s/animals","concept":[{"code":"rock",
         "designation":[{"language":"de","value":"Stein"}]}]}])");
    compose("outer", R"("include":[{"valueSet":["http://v/named"]}])");
    for (const std::string id : {"named", "outer"}) {
        const std::string url = "/ValueSet/" + id + "/$validate-code?system=";
        EXPECT_EQ(get(url + "http://snomed.info/sct&code=1&display=Mann"),
                  "result=true display=Male");
        EXPECT_EQ(get(url + "http://snomed.info/sct&code=1&displayLanguage=de"),
                  "result=true display=Mann");
        EXPECT_EQ(get(url + "http://snomed.info/sct&code=1&display=Frau"),
                  "result=false display=Male");
        EXPECT_EQ(get(url + "http://s/animals&code=rock&display=Stein"),
                  "result=true display=Rock");
        EXPECT_EQ(get(url + "http://s/animals&code=rock&display=Rock&displayLanguage=de"),
                  "result=true display=Stein");
    }
}

TEST_F(Codes, AreCalledWhatTheyAreInTheVersionThatTheValueSetNames) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals","version":"2",
        "status":"active","content":"complete","concept":[{"code":"dog","display":"Hound"}]})");
    compose("pinned", R"("include":[{"system":"http://s/animals","version":"1"}])");
    compose("outer", R"("include":[{"valueSet":["http://v/pinned"]}])");
    for (const std::string id : {"pinned", "outer"}) {
        const std::string url = "/ValueSet/" + id + "/$validate-code?system=http://s/animals&code=";
        EXPECT_EQ(get(url + "dog&display=Dog"), "result=true display=Dog");
        EXPECT_EQ(get(url + "dog&display=Hound"), "result=false display=Dog");
        EXPECT_EQ(get(url + "animal"), "result=false display=Animal") << "abstract in version 1";
    }
    EXPECT_EQ(get("/ValueSet/all/$validate-code?system=http://s/animals&code=dog&display=Hound"),
              "result=true display=Hound");
    compose("elsewhere", R"("include":[{"system":"http://s/animals","version":"3",
        "concept":[{"code":"dog"}]}])");
    EXPECT_EQ(get("/ValueSet/elsewhere/$validate-code?system=http://s/animals&code=dog"),
              "result=true display=Hound")
        << "of a version that isn't here";
}

TEST_F(Codes, AreCalledWhatTheyAreInTheVersionThatTheyAreInBy) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals","version":"2",
        "status":"active","content":"complete","concept":[{"code":"dodo","display":"Raphus"}]})");
    compose("either", R"("inactive":false,"include":[{"system":"http://s/animals","version":"1"},
        {"system":"http://s/animals","version":"2"}])");
    compose("outer", R"("include":[{"valueSet":["http://v/either"]}])");
    for (const std::string id : {"either", "outer"}) {
        const std::string url = "/ValueSet/" + id + "/$validate-code?system=http://s/animals&code=";
        EXPECT_EQ(get(url + "dodo&display=Raphus"), "result=true display=Raphus")
            << "inactive in version 1";
        EXPECT_EQ(get(url + "dog"), "result=true display=Dog");
    }
}

TEST_F(Codes, OfAnOlderVersionAreWhatABindingAsksForWhereTheySayTheirVersion) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals","version":"2",
        "status":"active","content":"complete","concept":[{"code":"unicorn"}]})");
    put("StructureDefinition/pet",
        R"({"resourceType":"StructureDefinition","id":"pet","url":"http://p/pet","name":"Pet","status":"active",
        "kind":"resource","abstract":false,"type":"Basic","derivation":"constraint",
        "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Basic","differential":{"element":[
        {"id":"Basic.code","path":"Basic.code","binding":{"strength":"required","valueSet":"http://v/all"}}]}})");
    const auto is_sound = [&](std::string_view version, std::string_view code) {
        return send("POST", "/Basic/$validate?profile=http://p/pet",
                    fmt::format(R"({{"resourceType":"Basic","code":{{"coding":[
                        {{"system":"http://s/animals"{},"code":"{}"}}]}}}})",
                                version, code))
            .says("No issues detected");
    };
    EXPECT_TRUE(is_sound(R"(,"version":"1")", "dog"));
    EXPECT_TRUE(is_sound(R"(,"version":"2")", "unicorn"));
    EXPECT_TRUE(is_sound("", "unicorn"));
    EXPECT_FALSE(is_sound(R"(,"version":"2")", "dog"));
    EXPECT_FALSE(is_sound("", "dog"));
    EXPECT_FALSE(is_sound(R"(,"version":"3")", "dog")) << "it isn't here";
}

TEST_F(Codes, WithoutASystemAreThoseOfAnyOneSystem) {
    put("CodeSystem/pets", R"({"resourceType":"CodeSystem","id":"pets","url":"http://s/pets",
        "status":"active","content":"complete","concept":[{"code":"dog","display":"Pet dog"}]})");
    compose("pets", R"("include":[{"system":"http://s/pets"}])");
    compose("left", R"("include":[{"system":"http://s/animals"},{"system":"http://s/pets"}],
        "exclude":[{"system":"http://s/animals","concept":[{"code":"dog"}]}])");
    EXPECT_EQ(get("/ValueSet/left/$validate-code?code=dog"), "result=true display=Pet dog")
        << "only the other system's is excluded";
    EXPECT_EQ(get("/ValueSet/left/$validate-code?code=rock"), "result=true display=Rock");
    compose("neither", R"("include":[{"system":"http://s/animals","valueSet":["http://v/pets"]}])");
    EXPECT_EQ(get("/ValueSet/neither/$validate-code?code=dog"), "result=false")
        << "it is another system's in either";
}

TEST_F(Codes, ThatAreInactiveAreNotInAValueSetWithoutSuch) {
    compose("living", R"("inactive":false,"include":[{"system":"http://s/animals"}])");
    compose("outer", R"("inactive":false,"include":[{"valueSet":["http://v/all"]}])");
    for (const std::string id : {"living", "outer"}) {
        const std::string url = "/ValueSet/" + id + "/$validate-code?system=http://s/animals&code=";
        EXPECT_EQ(get(url + "dodo"), "result=false");
        EXPECT_EQ(get(url + "dog"), "result=true display=Dog");
    }
    EXPECT_EQ(codes("url=http://v/outer").find("dodo"), std::string::npos);
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals","version":"2",
        "status":"active","content":"complete","concept":[{"code":"dodo","display":"Dodo"}]})");
    const std::string dodo = "/ValueSet/living/$validate-code?system=http://s/animals&code=dodo";
    EXPECT_EQ(get(dodo), "result=true display=Dodo");
    EXPECT_EQ(get(dodo + "&systemVersion=1"), "result=false") << "inactive in that version";
}

TEST_F(Codes, AreGivenInOneWay) {
    filter("isa", "concept", "is-a", "dog");
    const auto ask = [&](std::string_view operation, const std::string& parameters) {
        return codes_of(send("POST", operation,
                             R"({"resourceType":"Parameters","parameter":[)" + parameters + "]}"));
    };
    const auto coding = [](std::string_view name, std::string_view code) {
        return R"({"name":")" + std::string(name) +
               R"(","valueCoding":{"system":"http://s/animals","code":")" + std::string(code) +
               R"("}})";
    };
    const std::string code =
        R"({"name":"code","valueCode":"rock"},{"name":"system","valueUri":"http://s/animals"},)";
    const std::string whole =
        R"(,{"name":"codeableConcept","valueCodeableConcept":{"coding":[{"code":"dog"}]}})";
    constexpr std::string_view kValidate = "/ValueSet/isa/$validate-code";
    EXPECT_EQ(ask(kValidate, code + coding("coding", "dog")), "400 invalid");
    EXPECT_EQ(ask(kValidate, coding("coding", "dog") + "," + coding("coding", "rock")),
              "400 invalid");
    EXPECT_EQ(ask(kValidate, coding("coding", "rock") + whole), "400 invalid");
    EXPECT_EQ(ask("/CodeSystem/$lookup", code + coding("coding", "dog")), "400 invalid");
    EXPECT_EQ(
        ask("/CodeSystem/$subsumes",
            R"({"name":"codeA","valueCode":"dog"},{"name":"system","valueUri":"http://s/animals"},)" +
                coding("codingA", "rock") + "," + coding("codingB", "dog")),
        "400 invalid");
    EXPECT_EQ(ask("/ConceptMap/$translate", code + coding("coding", "dog")), "400 invalid");
}

TEST_F(Codes, ThatAreAbstractAreValidOnlyWhereThatIsAskedFor) {
    const std::string url =
        "/ValueSet/$validate-code?url=http://v/all&system=http://s/animals&code=animal";
    EXPECT_EQ(get(url), "result=false display=Animal");
    EXPECT_EQ(get(url + "&abstract=true"), "result=true display=Animal");

    // Where nothing but the expansion says so.
    put("ValueSet/made", R"({"resourceType":"ValueSet","id":"made","url":"http://v/made",
        "status":"active","expansion":{"timestamp":"2024-01-01","contains":[
        {"system":"http://s/none","code":"group","display":"Group","abstract":true,"contains":[
        {"system":"http://s/none","code":"one","display":"One"}]}]}})");
    compose("outer", R"("include":[{"valueSet":["http://v/made"]}])");
    for (const std::string name : {"made", "outer"}) {
        const std::string of = "/ValueSet/$validate-code?url=http://v/" + name;
        EXPECT_EQ(get(of + "&system=http://s/none&code=group"), "result=false") << name;
        for (const std::string system : {"&system=http://s/none", ""}) {
            EXPECT_EQ(get(of + system + "&code=group&abstract=true"), "result=true display=Group")
                << name << system;
            EXPECT_EQ(get(of + system + "&code=one&abstract=true"), "result=true display=One")
                << name << system;
        }
    }
}

TEST_F(Codes, OfSystemsThatAreNotHereAreNotSaidToBeValid) {
    compose("sct", R"("include":[{"system":"http://snomed.info/sct"}])");
    const Answer answer = send(
        "GET", "/ValueSet/$validate-code?url=http://v/sct&system=http://snomed.info/sct&code=1");
    EXPECT_EQ(said(answer), "result=false");
    EXPECT_TRUE(answer.says("can't be told")) << answer.body;
    compose("listed", R"("include":[{"system":"http://snomed.info/sct","concept":[
        {"code":"73211009","display":"Diabetes mellitus"}]}])");
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/listed&code=73211009"),
              "result=true display=Diabetes mellitus");
}

TEST_F(Codes, ThatAreListedMustBeInASystemThatIsWhollyHere) {
    compose("some", R"("include":[{"system":"http://s/animals","concept":[{"code":"dog"},
        {"code":"unicorn"}]}])");
    const std::string url = "/ValueSet/$validate-code?url=http://v/some&system=http://s/animals";
    EXPECT_EQ(get(url + "&code=dog"), "result=true display=Dog");
    EXPECT_EQ(get(url + "&code=unicorn"), "result=false");
}

TEST_F(Codes, OfVersionsThatAreNotHereAreNotSaidToBeValid) {
    EXPECT_EQ(get("/CodeSystem/animals/$validate-code?code=dog&version=1"),
              "result=true display=Dog");
    EXPECT_EQ(get("/CodeSystem/animals/$validate-code?code=dog&version=2"), "result=false");
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/all&system=http://s/animals"
                  "&code=dog&systemVersion=1"),
              "result=true display=Dog");
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/all&system=http://s/animals"
                  "&code=dog&systemVersion=2"),
              "result=false");
}

TEST_F(Codes, AreValidatedAgainstACodeSystem) {
    const std::string url = "/CodeSystem/$validate-code?url=http://s/animals";
    EXPECT_EQ(get(url + "&code=dog"), "result=true display=Dog");
    EXPECT_EQ(get(url + "&code=DOG"), "result=false");
    EXPECT_EQ(get("/CodeSystem/animals/$validate-code?code=dog"), "result=true display=Dog");
    EXPECT_EQ(get("/CodeSystem/$validate-code?url=http://none&code=dog"), "404 not-found");
    EXPECT_EQ(said(send("POST", "/CodeSystem/$validate-code",
                        R"({"resourceType":"Parameters","parameter":[{"name":"coding",
                        "valueCoding":{"system":"http://none","code":"dog"}}]})")),
              "result=false");
    EXPECT_EQ(
        get("/CodeSystem/$validate-code?url=http://hl7.org/fhir/administrative-gender&code=male"),
        "result=true display=Male");
}

TEST_F(Codes, AreNotThoseOfASupplement) {
    put("CodeSystem/more", R"({"resourceType":"CodeSystem","id":"more","url":"http://s/more",
        "status":"active","content":"supplement","supplements":"http://s/animals","concept":[
        {"code":"dog","designation":[{"language":"es","value":"Perro"}]},{"code":"unicorn"}]})");
    EXPECT_EQ(get("/CodeSystem/$validate-code?url=http://s/more&code=unicorn"), "result=false");
    EXPECT_EQ(get("/CodeSystem/more/$validate-code?code=dog"), "result=false");
    EXPECT_EQ(get("/CodeSystem/$lookup?system=http://s/more&code=dog"), "422 not-supported");
    EXPECT_EQ(get("/CodeSystem/$subsumes?system=http://s/more&codeA=dog&codeB=dog"),
              "422 not-supported");
    EXPECT_EQ(get("/CodeSystem/$validate-code?url=http://s/animals&code=unicorn"), "result=false");
    compose("more", R"("include":[{"system":"http://s/more","filter":[
        {"property":"concept","op":"is-a","value":"dog"}]}])");
    EXPECT_EQ(codes("url=http://v/more"), "422 not-supported");
    EXPECT_EQ(send("GET", "/Observation?code:in=http://v/more").status, 400);
}

TEST_F(Codes, AreLookedUp) {
    const Answer dog = send("GET", "/CodeSystem/$lookup?system=http://s/animals&code=dog");
    EXPECT_EQ(said(dog), "name=Animals version=1 display=Dog");
    EXPECT_TRUE(dog.says(R"({"name":"designation","part":[{"name":"language","valueCode":"de"},)"
                         R"({"name":"value","valueString":"Hund"}]})"))
        << dog.body;
    EXPECT_TRUE(dog.says(
        R"({"name":"property","part":[{"name":"code","valueCode":"parent"},{"name":"value","valueCode":"animal"}]})"));
    EXPECT_TRUE(
        dog.says(R"([{"name":"code","valueCode":"child"},{"name":"value","valueCode":"puppy"}])"));
    EXPECT_TRUE(
        dog.says(R"([{"name":"code","valueCode":"legs"},{"name":"value","valueInteger":4}])"));
    const Answer legs =
        send("GET", "/CodeSystem/$lookup?system=http://s/animals&code=dog&property=legs");
    EXPECT_TRUE(legs.says("legs"));
    EXPECT_FALSE(legs.says("parent") || legs.says("designation")) << legs.body;
    const std::string names = "/CodeSystem/$lookup?system=http://s/animals&code=dog&property=";
    const Answer german = send("GET", names + "lang.de");
    EXPECT_TRUE(german.says("Hund")) << german.body;
    EXPECT_FALSE(german.says("Chien") || german.says("legs")) << german.body;
    EXPECT_TRUE(send("GET", names + "legs&property=lang.fr").says("Chien")) << "fr-CH is French";
    EXPECT_TRUE(send("GET", names + "designation").says("Chien"));
    for (const std::string named : {"displayLanguage", "language"}) {  // the second is HAPI's word
        const Answer hund = send("GET", names + "legs&" + named + "=de");
        EXPECT_TRUE(hund.says(R"({"name":"display","valueString":"Hund"})")) << hund.body;
    }
    EXPECT_TRUE(send("GET", "/CodeSystem/$lookup?system=http://s/animals&code=poodle")
                    .says("A dog with curls"));
    EXPECT_EQ(get("/CodeSystem/$lookup?system=http://s/animals&code=cat"), "404 not-found");
    EXPECT_EQ(get("/CodeSystem/$lookup?system=http://none&code=cat"), "404 not-found");
    EXPECT_EQ(get("/CodeSystem/$lookup?system=http://snomed.info/sct&code=1"), "422 not-supported");
    EXPECT_EQ(get("/CodeSystem/$lookup?code=cat"), "400 required");
    EXPECT_EQ(get("/CodeSystem/$lookup?system=http://s/animals&code=dog&version=2"),
              "404 not-found");
}

TEST_F(Codes, SubsumeOneAnother) {
    const std::string url = "/CodeSystem/$subsumes?system=http://s/animals";
    EXPECT_EQ(get(url + "&codeA=dog&codeB=dog"), "outcome=equivalent");
    EXPECT_EQ(get(url + "&codeA=animal&codeB=puppy"), "outcome=subsumes");
    EXPECT_EQ(get(url + "&codeA=puppy&codeB=animal"), "outcome=subsumed-by");
    EXPECT_EQ(get(url + "&codeA=puppy&codeB=poodle"), "outcome=not-subsumed");
    EXPECT_EQ(get(url + "&codeA=puppy&codeB=none"), "404 not-found");
    EXPECT_EQ(get(url + "&codeA=puppy"), "400 required");
    EXPECT_EQ(get("/CodeSystem/$subsumes?codeA=a&codeB=b"), "400 required");
    EXPECT_EQ(get("/CodeSystem/animals/$subsumes?codeA=animal&codeB=dog"), "outcome=subsumes");
    EXPECT_EQ(said(send("POST", "/CodeSystem/$subsumes",
                        R"({"resourceType":"Parameters","parameter":[
                        {"name":"codingA","valueCoding":{"system":"http://s/animals","code":"dog"}},
                        {"name":"codingB","valueCoding":{"system":"http://s/animals","code":"animal"}}]})")),
              "outcome=subsumed-by");
}

TEST_F(Codes, OfAnEarlierVersionAreNotKept) {
    const Definitions& definitions = service().definitions();
    const std::weak_ptr<const json::Document> before =
        definitions.find("CodeSystem", "http://s/animals", "", nullptr);
    EXPECT_FALSE(before.expired()) << "the next who asks gets the same";
    put("CodeSystem/animals", R"({"resourceType":"CodeSystem","id":"animals",
        "url":"http://s/animals","status":"active","content":"not-present"})");
    EXPECT_NE(definitions.find("CodeSystem", "http://s/animals", "", nullptr), nullptr);
    EXPECT_TRUE(before.expired());
}

/// Two chains of 500 codes, c0 and d0 above them; each code of one stands below two of them with `crossed`.
std::string chains(bool crossed) {
    std::string concepts;
    for (int i = 0; i < 500; ++i) {
        for (const char name : {'c', 'd'}) {
            concepts += fmt::format(R"({}{{"code":"{}{}","property":[)",
                                    concepts.empty() ? "" : ",", name, i);
            for (const char above : {'c', 'd'}) {
                if (i > 0 && (crossed || above == name)) {
                    concepts += fmt::format(R"({}{{"code":"parent","valueCode":"{}{}"}})",
                                            concepts.ends_with('[') ? "" : ",", above, i - 1);
                }
            }
            concepts += concepts.ends_with('[') ? R"({"code":"top","valueBoolean":true}]})" : "]}";
        }
    }
    return R"({"resourceType":"CodeSystem","id":"chains","url":"http://s/chains","status":"active",
        "content":"complete","concept":[)" +
           concepts + "]}";
}

TEST_F(Codes, CostAsMuchAsStandsAboveThem) {
    json::Parser parser;
    for (const bool crossed : {false, true}) {
        auto document = parser.parse(chains(crossed));
        ASSERT_TRUE(document);
        terminology::Effort much(1'000'000);
        const auto system = terminology::CodeSystem::make(
            std::make_shared<const json::Document>(*std::move(document)), much);
        ASSERT_TRUE(system);
        const auto top = (*system)->find("c0");
        const auto bottom = (*system)->find("c499");
        ASSERT_TRUE(top && bottom);
        const auto below = (*system)->is_below(*bottom, *top, much);
        ASSERT_TRUE(below);
        EXPECT_TRUE(*below);
        terminology::Effort little(400);
        EXPECT_FALSE((*system)->is_below(*bottom, *top, little));
        EXPECT_TRUE(little.exhausted());
        terminology::Effort as_little(400);
        EXPECT_FALSE((*system)->reached(*top, false, as_little));
    }
}

TEST_F(Codes, CostAsMuchAsTheTextsThatAreCompared) {
    json::Parser parser;
    auto document = parser.parse(R"({"resourceType":"CodeSystem","url":"http://s/long",
        "content":"complete","concept":[{"code":"a","display":")" +
                                 std::string(6'400, 'x') + R"("}]})");
    auto text = parser.parse(R"({"property":"display","op":"regex","value":"x*"})");
    ASSERT_TRUE(document && text);
    terminology::Effort enough(1'000);
    const auto system = terminology::CodeSystem::make(
        std::make_shared<const json::Document>(*std::move(document)), enough);
    const auto filter = terminology::Filter::read(text->root());
    ASSERT_TRUE(system && filter);
    const auto passes = filter->passes(**system, 0, enough);
    ASSERT_TRUE(passes);
    EXPECT_TRUE(*passes);
    terminology::Effort little(50);
    EXPECT_FALSE(filter->passes(**system, 0, little));
    EXPECT_TRUE(little.exhausted());
}

TEST_F(Codes, OfValueSetsInsideOfOthersCostEachOfThemOnce) {
    compose("nested0", R"("include":[{"system":"http://s/animals"}])");
    for (int i = 1; i < 16; ++i) {
        compose(fmt::format("nested{}", i),
                fmt::format(R"("inactive":false,"include":[{{"valueSet":["http://v/nested{}"]}}],)"
                            R"("exclude":[{{"system":"http://s/animals",)"
                            R"("concept":[{{"code":"rock"}}]}}])",
                            i - 1));
    }
    terminology::Effort effort(20'000);
    terminology::Session session(service().definitions(), effort);
    for (const auto& [code, expected] : {std::pair("dog", terminology::Member::yes),
                                         {"rock", terminology::Member::no},
                                         {"dodo", terminology::Member::no}}) {
        const auto in = terminology::member_of(session, std::string_view("http://v/nested15"),
                                               {"http://s/animals", code});
        ASSERT_TRUE(in) << in.error().detail;
        EXPECT_EQ(*in, expected) << code;
    }
}

// As many do in one value set, of each of the hundred thousand concepts of LOINC.
TEST_F(Codes, CostNoMoreThanWhatAFilterLooksAt) {
    std::string properties;
    for (int i = 0; i < 12; ++i) {
        properties += fmt::format(R"({}{{"code":"p{}","valueString":"{}"}})", i == 0 ? "" : ",", i,
                                  std::string(60, 'x'));
    }
    json::Parser parser;
    auto document = parser.parse(R"({"resourceType":"CodeSystem","url":"http://s/wide",
        "content":"complete","concept":[{"code":"a","property":[)" +
                                 properties + "]}]}");
    auto text = parser.parse(R"({"property":"p11","op":"=","value":"y"})");
    ASSERT_TRUE(document && text);
    terminology::Effort enough(1'000);
    const auto system = terminology::CodeSystem::make(
        std::make_shared<const json::Document>(*std::move(document)), enough);
    const auto filter = terminology::Filter::read(text->root());
    ASSERT_TRUE(system && filter);
    terminology::Effort a_step_for_each(15);
    const auto passes = filter->passes(**system, 0, a_step_for_each);
    ASSERT_TRUE(passes);
    EXPECT_FALSE(*passes);
}

TEST_F(Codes, AreNotJudgedByAnInstanceOfAnotherVersionThanTheOneNamed) {
    const std::string within = "/ValueSet/all/$validate-code?code=dog";
    EXPECT_EQ(get(within + "&valueSetVersion=1&url=http://v/all"), "result=true display=Dog");
    EXPECT_EQ(get(within + "&url=http://v/all%7C1"), "result=true display=Dog");
    EXPECT_EQ(get(within + "&valueSetVersion=2"), "400 invalid");
    EXPECT_EQ(get(within + "&url=http://v/all%7C2"), "400 invalid");
    EXPECT_EQ(get(within + "&url=http://v/other"), "400 invalid");

    const std::string known = "/CodeSystem/animals/$validate-code?code=dog";
    EXPECT_EQ(get(known + "&version=1&url=http://s/animals"), "result=true display=Dog");
    EXPECT_EQ(get(known + "&version=2"), "result=false");
    EXPECT_EQ(get(known + "&url=http://s/animals%7C2"), "400 invalid");
    put("CodeSystem/plain",
        R"({"resourceType":"CodeSystem","id":"plain","url":"http://s/plain","status":"active",
        "content":"complete","concept":[{"code":"a"},{"code":"b"}]})");
    EXPECT_EQ(get("/CodeSystem/plain/$validate-code?code=a"), "result=true");
    EXPECT_EQ(get("/CodeSystem/plain/$validate-code?code=a&version=1"), "result=false");

    const std::string above = "/CodeSystem/animals/$subsumes?codeA=animal&codeB=dog";
    EXPECT_EQ(get(above + "&system=http://s/animals&version=1"), "outcome=subsumes");
    EXPECT_EQ(get(above + "&system=http://s/animals&version=2"), "400 invalid");
    EXPECT_EQ(get("/CodeSystem/plain/$subsumes?codeA=a&codeB=b&version=1"), "400 invalid");
    const auto codings = [&](std::string_view a, std::string_view b) {
        return said(send("POST", "/CodeSystem/$subsumes",
                         fmt::format(
                             R"({{"resourceType":"Parameters","parameter":[
                {{"name":"codingA","valueCoding":{{"system":"http://s/animals","version":"{}","code":"dog"}}}},
                {{"name":"codingB","valueCoding":{{"system":"http://s/animals","version":"{}","code":"animal"}}}}]}})",
                             a, b)));
    };
    EXPECT_EQ(codings("1", "1"), "outcome=subsumed-by");
    EXPECT_EQ(codings("1", "2"), "400 invalid");
    EXPECT_EQ(codings("2", "2"), "404 not-found");
}

class Translate : public test::TerminologyFixture {
  protected:
    Translate() {
        put("ConceptMap/map",
            R"({"resourceType":"ConceptMap","id":"map","url":"http://m/map","status":"active",
            "sourceUri":"http://v/a","targetUri":"http://v/b","group":[
            {"source":"http://s/a","target":"http://s/b","element":[
              {"code":"1","target":[{"code":"x","display":"X","equivalence":"wider"},
                 {"code":"y","equivalence":"equal","dependsOn":[{"property":"http://p","system":"http://s/d","value":"d"}],
                  "product":[{"property":"http://q","system":"http://s/e","value":"e"}]}]},
              {"code":"2","target":[{"equivalence":"unmatched"}]}],
             "unmapped":{"mode":"fixed","code":"other","display":"Other"}},
            {"source":"http://s/a","target":"http://s/c","element":[
              {"code":"1","target":[{"code":"z","equivalence":"narrower"}]}]}]})");
    }

    /// result, and of each match: equivalence system|code.
    std::string matches(const Answer& answer) {
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        if (!body || answer.status != 200) {
            return codes_of(answer);
        }
        std::string out;
        for (const json::Value parameter : body->root()["parameter"].elements()) {
            if (parameter["name"].equals("result")) {
                out += parameter["valueBoolean"].raw();
            }
            for (const json::Value part : parameter["part"].elements()) {
                if (part["name"].equals("equivalence")) {
                    out += " " + part["valueCode"].string();
                } else if (part["name"].equals("concept")) {
                    out += " " + part["valueCoding"]["system"].string() + "|" +
                           part["valueCoding"]["code"].string();
                }
            }
        }
        return out;
    }

    std::string get(std::string_view query) {
        return matches(send("GET", "/ConceptMap/" + std::string(query)));
    }
};

TEST_F(Translate, FollowsTheGroupsOfAMap) {
    const std::string url = "$translate?url=http://m/map&system=http://s/a";
    EXPECT_EQ(get(url + "&code=1"), "true wider http://s/b|x narrower http://s/c|z");
    EXPECT_EQ(get(url + "&code=1&targetsystem=http://s/c"), "true narrower http://s/c|z");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=1&targetsystem=http://s/b"),
              "true wider http://s/b|x");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&url=http://m/map"), "false unmatched");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&url=http://m/other"), "400 invalid");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&conceptMapVersion=2"), "400 invalid");
    EXPECT_EQ(get(url + "&code=2"), "false unmatched");
    EXPECT_EQ(get(url + "&code=3"), "true inexact http://s/b|other");
    EXPECT_EQ(get(url + "&code=1&target=http://v/none"), "false");
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/none&code=1"), "false");
    EXPECT_EQ(get("$translate?url=http://m/none&code=1"), "404 not-found");
    EXPECT_EQ(get("$translate?code=1"), "400 required");
    EXPECT_EQ(get(url), "400 required");
    EXPECT_TRUE(send("GET", "/ConceptMap/" + url + "&code=1")
                    .says(R"({"name":"source","valueUri":"http://m/map"})"));
}

TEST_F(Translate, GoesBackwards) {
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/b&code=x&reverse=true"),
              "true narrower http://s/a|1");
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/b&code=none&reverse=true"), "false");
}

TEST_F(Translate, WithoutAMapTriesAllThatAreOfTheSystemAndTheSets) {
    put("ConceptMap/other",
        R"({"resourceType":"ConceptMap","id":"other","url":"http://m/other","status":"active",
        "sourceCanonical":"http://v/c|2","targetCanonical":"http://v/d","group":[
        {"source":"http://s/a","target":"http://s/d","element":[
          {"code":"1","target":[{"code":"d1","equivalence":"equal"}]}],
         "unmapped":{"mode":"other-map","url":"http://m/map"}}]})");
    put("ConceptMap/anywhere",
        R"({"resourceType":"ConceptMap","id":"anywhere","url":"http://m/anywhere","status":"active","group":[
        {"target":"http://s/b","element":[{"code":"1","target":[{"code":"no","equivalence":"equal"}]}]}]})");
    const std::string one = "$translate?system=http://s/a&code=1";
    EXPECT_EQ(get(one), "true wider http://s/b|x narrower http://s/c|z equal http://s/d|d1");
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&target=http://v/b"), "true wider http://s/b|x narrower http://s/c|z");
    EXPECT_EQ(get(one + "&source=http://v/c"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&source=http://v/c%7C2"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&source=http://v/c%7C3"), "false");
    EXPECT_EQ(get(one + "&target=http://v/none"), "false");
    EXPECT_EQ(get("$translate?system=http://s/d&code=d1&reverse=true"), "true equal http://s/a|1");
    EXPECT_EQ(get("$translate?system=http://s/none&code=1"), "false");
    // A map that another one leads to is used once.
    EXPECT_EQ(get("$translate?system=http://s/a&code=3"), "true inexact http://s/b|other");
    const Answer answer = send("GET", "/ConceptMap/" + one + "&targetsystem=http://s/d");
    EXPECT_TRUE(answer.says(R"({"name":"source","valueUri":"http://m/other"})")) << answer.body;
    // What is stored under a url hides the package's; a newer one, an older one; what is deleted is none.
    put("ConceptMap/newer",
        R"({"resourceType":"ConceptMap","id":"newer","url":"http://m/other","status":"active","group":[
        {"source":"http://s/a","target":"http://s/d","element":[
          {"code":"1","target":[{"code":"d2","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "true equal http://s/d|d2");
    ASSERT_EQ(send("DELETE", "/ConceptMap/newer").status, 204);
    ASSERT_EQ(send("DELETE", "/ConceptMap/other").status, 204);
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "false");
    for (const std::string_view query :
         {"$translate", "$translate?system=http://s/a", "$translate?code=1&targetsystem=http://s/b",
          "$translate?code=1&source=http://v/a"}) {
        EXPECT_EQ(get(query), "400 required") << query;
    }
}

TEST_F(Translate, WithoutAMapTriesThoseOfPackages) {
    std::string archive;
    append_base64(
        test::make_package(
            "p", "1.0.0",
            {R"({"resourceType":"ConceptMap","id":"m","url":"http://p/m","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"1","target":[{"code":"q1","equivalence":"equal"}]}]}]})"}),
        archive);
    ASSERT_EQ(
        send(
            "POST", "/$install-package",
            R"({"resourceType":"Parameters","parameter":[{"name":"package","valueBase64Binary":")" +
                archive + R"("}]})")
            .status,
        200);
    EXPECT_EQ(get("$translate?system=http://s/p&code=1"), "true equal http://s/q|q1");
    put("ConceptMap/own",
        R"({"resourceType":"ConceptMap","id":"own","url":"http://p/m","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"1","target":[{"code":"own","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get("$translate?system=http://s/p&code=1"), "true equal http://s/q|own");
}

TEST_F(Translate, FollowsAGroupToTheVersionOfAMapThatItNames) {
    const auto map = [&](const std::string& id, std::string_view version, std::string_view group) {
        put("ConceptMap/" + id,
            fmt::format(
                R"({{"resourceType":"ConceptMap","id":"{}","url":"http://m/{}","version":"{}",
            "status":"active","group":[{{"source":"http://s/p","target":"http://s/q",{}}}]}})",
                id, id.substr(0, id.find('-')), version, group));
    };
    map("other-1", "1",
        R"("element":[{"code":"1","target":[{"code":"x","equivalence":"equal"}]}])");
    map("other-2", "2",
        R"("element":[{"code":"1","target":[{"code":"y","equivalence":"equal"}]}])");
    map("first", "1", R"("element":[{"code":"2"}],
        "unmapped":{"mode":"other-map","url":"http://m/other|1"})");
    EXPECT_EQ(get("$translate?url=http://m/first&system=http://s/p&code=1"),
              "true equal http://s/q|x");
}

TEST_F(Translate, LeadsOnToAnotherMapOnlyForTheCodeThatIsNotMapped) {
    put("ConceptMap/leads",
        R"({"resourceType":"ConceptMap","id":"leads","url":"http://m/leads","status":"active","group":[
        {"source":"http://s/a","target":"http://s/b","element":[
          {"code":"1","target":[{"code":"own","equivalence":"equal"}]}],
         "unmapped":{"mode":"other-map","url":"http://m/led"}},
        {"source":"http://s/a","target":"http://s/c","element":[
          {"code":"2","target":[{"code":"own","equivalence":"equal"}]}]}]})");
    put("ConceptMap/led",
        R"({"resourceType":"ConceptMap","id":"led","url":"http://m/led","status":"active","group":[
        {"source":"http://s/a","target":"http://s/b","element":[
          {"code":"1","target":[{"code":"led1","equivalence":"equal"}]},
          {"code":"2","target":[{"code":"led2","equivalence":"equal"}]},
          {"code":"3","target":[{"code":"led3","equivalence":"equal"}]}]}]})");
    const Answer answer = send("POST", "/ConceptMap/leads/$translate",
                               R"({"resourceType":"Parameters","parameter":[
        {"name":"codeableConcept","valueCodeableConcept":{"coding":[
          {"system":"http://s/a","code":"1"},{"system":"http://s/a","code":"2"},
          {"system":"http://s/a","code":"3"}]}}]})");
    EXPECT_EQ(matches(answer),
              "true equal http://s/b|own equal http://s/b|led2 "
              "equal http://s/c|own equal http://s/b|led3");
    const auto told_by = [&](std::string_view code, std::string_view map) {
        return answer.says(
            fmt::format(R"("code":"{}"}}}},{{"name":"source","valueUri":"{}"}})", code, map));
    };
    EXPECT_TRUE(told_by("led2", "http://m/led")) << answer.body;
    EXPECT_FALSE(told_by("own", "http://m/led")) << "what follows in the first map is its own";
}

TEST_F(Translate, LooksAtWhatATargetDependsOn) {
    const Answer answer = send("POST", "/ConceptMap/map/$translate",
                               R"({"resourceType":"Parameters","parameter":[
        {"name":"coding","valueCoding":{"system":"http://s/a","code":"1"}},
        {"name":"targetsystem","valueUri":"http://s/b"},
        {"name":"dependency","part":[{"name":"element","valueUri":"http://p"},
          {"name":"concept","valueCodeableConcept":{"coding":[{"system":"http://s/d","code":"d"}]}}]}]})");
    EXPECT_EQ(matches(answer), "true wider http://s/b|x equal http://s/b|y");
    EXPECT_TRUE(
        answer.says(R"({"name":"product","part":[{"name":"element","valueUri":"http://q"},)"
                    R"({"name":"concept","valueCoding":{"system":"http://s/e","code":"e"}}]})"))
        << answer.body;

    // A map that is sent is not validated.
    const Answer bare = send("POST", "/ConceptMap/$translate",
                             R"({"resourceType":"Parameters","parameter":[
        {"name":"conceptMap","resource":{"resourceType":"ConceptMap","status":"active","group":[
          {"source":"http://s/a","target":"http://s/b","element":[{"code":"1","target":[
            {"code":"x","equivalence":"equal","product":[{"value":"e"}]}]}]}]}},
        {"name":"coding","valueCoding":{"system":"http://s/a","code":"1"}}]})");
    EXPECT_EQ(matches(bare), "true equal http://s/b|x") << bare.body;
}

}  // namespace
}  // namespace annals::core
