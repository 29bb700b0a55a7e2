#include "core/definitions.h"
#include "tests/core/operations/terminology_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::core {
namespace {

using test::Answer;

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

    // If only the expansion says so.
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
    EXPECT_TRUE(answer.says("cannot be determined")) << answer.body;
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

TEST_F(Codes, OfAConceptAreValidWhereOneIsWhicheverOfThem) {
    const auto asked = [&](std::string_view codings) {
        return send(
            "POST", "/ValueSet/all/$validate-code",
            fmt::format(R"({{"resourceType":"Parameters","parameter":[{{"name":"codeableConcept",
                    "valueCodeableConcept":{{"coding":[{}]}}}}]}})",
                        codings));
    };
    constexpr std::string_view kDog = R"({"system":"http://s/animals","code":"dog"})";
    constexpr std::string_view kCat = R"({"system":"http://s/animals","code":"cat"})";
    constexpr std::string_view kCow = R"({"system":"http://s/animals","code":"cow"})";
    const Answer first = asked(fmt::format("{},{}", kDog, kCat));
    EXPECT_EQ(said(first), "result=true display=Dog");
    EXPECT_FALSE(first.says("message"));
    const Answer second = asked(fmt::format("{},{}", kCat, kDog));
    EXPECT_EQ(said(second), "result=true display=Dog");
    EXPECT_FALSE(second.says("message"));
    const Answer none = asked(fmt::format("{},{}", kCat, kCow));
    EXPECT_EQ(said(none), "result=false");
    EXPECT_TRUE(
        none.says("The code 'cat' of http://s/animals is not in the value set http://v/all"))
        << none.body;
    EXPECT_EQ(said(asked(R"({"system":"http://s/animals","code":"dog","display":"Cat"})")),
              "result=false display=Dog");
    EXPECT_EQ(said(asked(R"({"code":"dog"})")), "result=true display=Dog") << "of any system";
    EXPECT_EQ(said(send("POST", "/ValueSet/all/$validate-code",
                        R"({"resourceType":"Parameters","parameter":[{"name":"coding",
                        "valueCoding":{"system":"http://s/animals","display":"Dog"}}]})")),
              "400 required");
}

TEST_F(Codes, AreCalledWhatTheListsOfTheirSystemCallThem) {
    compose("twice", R"("include":[{"system":"http://snomed.info/sct","concept":[
        {"code":"1","display":"One of SNOMED CT"},{"code":"2"}]},
        {"system":"http://s/animals","concept":[{"code":"dog"},{"code":"rock","display":"Stone"}]},
        {"system":"http://x/y","concept":[{"code":"1","display":"One of Y"}]}])");
    compose("names", R"("include":[{"system":"http://s/animals",
        "concept":[{"code":"dog","display":"Hound"}]}])");
    compose("bare", R"("include":[{"system":"http://s/animals","concept":[{"code":"bird"}]}])");
    compose("outer", R"("include":[{"valueSet":["http://v/bare"]},{"valueSet":["http://v/twice"]},
        {"valueSet":["http://v/names"]}])");
    for (const std::string id : {"twice", "outer"}) {
        const std::string url = "/ValueSet/" + id + "/$validate-code?code=";
        EXPECT_EQ(get(url + "1&system=http://snomed.info/sct"),
                  "result=true display=One of SNOMED CT");
        EXPECT_EQ(get(url + "1&system=http://x/y"), "result=true display=One of Y");
        EXPECT_EQ(get(url + "1&system=http://x/y&display=One%20of%20Y"),
                  "result=true display=One of Y");
        EXPECT_EQ(get(url + "2&system=http://snomed.info/sct&display=Two"), "result=true")
            << "nothing is known that it is called";
        EXPECT_EQ(get(url + "rock&system=http://s/animals"), "result=true display=Stone");
        EXPECT_EQ(get(url + "rock&system=http://s/animals&display=Rock"),
                  "result=true display=Stone");
    }
    EXPECT_EQ(get("/ValueSet/twice/$validate-code?code=dog&system=http://s/animals"),
              "result=true display=Dog");
    EXPECT_EQ(get("/ValueSet/outer/$validate-code?code=dog&system=http://s/animals"),
              "result=true display=Hound")
        << "by the list that names it";
    const Answer other =
        send("GET", "/ValueSet/names/$validate-code?code=dog&system=http://s/animals&display=Cat");
    EXPECT_TRUE(
        other.says("The display of the code 'dog' of http://s/animals is not 'Cat' but 'Hound'"))
        << other.body;
    EXPECT_TRUE(send("GET", "/ValueSet/all/$validate-code?code=animal&system=http://s/animals")
                    .says("The code 'animal' of http://s/animals is abstract"));
}

TEST_F(Codes, AreCalledWhatAnExpansionCallsThemBySystemAndWithout) {
    put("ValueSet/came", R"({"resourceType":"ValueSet","id":"came","url":"http://v/came",
        "status":"active","expansion":{"timestamp":"2024-01-01","contains":[
        {"system":"http://x/a","code":"1","display":"A"},
        {"system":"http://x/b","code":"1","display":"B"},{"code":"2","display":"Two"}]}})");
    const std::string url = "/ValueSet/came/$validate-code?code=";
    EXPECT_EQ(get(url + "1&system=http://x/a"), "result=true display=A");
    EXPECT_EQ(get(url + "1&system=http://x/b"), "result=true display=B");
    EXPECT_EQ(get(url + "2"), "result=true display=Two");
    EXPECT_EQ(get(url + "2&display=Three"), "result=false display=Two");
    EXPECT_TRUE(send("GET", url + "3").says("The code '3' is not in the value set"));
}

TEST_F(Codes, OfACodeSystemAreThoseOfTheOneThatIsNamed) {
    EXPECT_EQ(get("/CodeSystem/$validate-code?url=http://s/animals&system=http://other&code=dog"),
              "result=false");
    EXPECT_EQ(
        get("/CodeSystem/$validate-code?url=http://s/animals&system=http://s/animals&code=dog"),
        "result=true display=Dog");
    EXPECT_EQ(get("/CodeSystem/$validate-code?system=http://s/animals&version=1&code=dog"),
              "result=true display=Dog");
    EXPECT_EQ(get("/CodeSystem/$validate-code?system=http://s/animals&version=2&code=dog"),
              "404 not-found");
    EXPECT_EQ(said(send("POST", "/CodeSystem/$validate-code",
                        R"({"resourceType":"Parameters","parameter":[{"name":"coding",
                        "valueCoding":{"system":"http://s/animals","code":"dog"}}]})")),
              "result=true display=Dog");
    put("CodeSystem/part", R"({"resourceType":"CodeSystem","id":"part","url":"http://s/part",
        "status":"active","content":"fragment","concept":[{"code":"x"}]})");
    EXPECT_TRUE(send("GET", "/CodeSystem/part/$validate-code?code=y").says("cannot be determined"));
    EXPECT_TRUE(send("GET", "/CodeSystem/animals/$validate-code?code=y")
                    .says("The code system http://s/animals has no code 'y'"));
}

}  // namespace
}  // namespace annals::core
