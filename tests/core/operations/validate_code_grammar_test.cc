#include "tests/core/operations/terminology_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::core {
namespace {

class CodesByGrammar : public test::TerminologyFixture {
  protected:
    std::string get(std::string_view target) { return said(send("GET", target)); }
};

TEST_F(CodesByGrammar, AreJudgedByIt) {
    const std::string units = "/CodeSystem/$validate-code?url=http://unitsofmeasure.org&code=";
    compose("units", R"("include":[{"system":"http://unitsofmeasure.org"}])");
    const auto coding = [&](std::string_view system, std::string_view code) {
        return said(
            send("POST", "/CodeSystem/$validate-code",
                 fmt::format(R"({{"resourceType":"Parameters","parameter":[{{"name":"coding",
                        "valueCoding":{{"system":"{}","code":"{}"}}}}]}})",
                             system, code)));
    };
    for (const bool is_stored : {false, true}) {
        if (is_stored) {
            put("CodeSystem/ucum",
                R"({"resourceType":"CodeSystem","id":"ucum","url":"http://unitsofmeasure.org",
                "version":"2.1","status":"active","content":"not-present"})");
        }
        EXPECT_EQ(get(units + "mg/dL"), "result=true display=mg/dL") << is_stored;
        EXPECT_EQ(get(units + "mg/dL&display=milligram"), "result=true display=mg/dL");
        EXPECT_EQ(get(units + "mg&system=http://other"), "result=false");
        EXPECT_TRUE(send("GET", units + "mcg")
                        .says("The code system http://unitsofmeasure.org has no code 'mcg'"));
        EXPECT_EQ(coding("http://unitsofmeasure.org", "kg"), "result=true display=kg");
        EXPECT_EQ(said(send("POST", "/CodeSystem/$validate-code",
                            R"({"resourceType":"Parameters","parameter":[
                            {"name":"url","valueUri":"http://unitsofmeasure.org"},
                            {"name":"coding","valueCoding":{"system":"http://unitsofmeasure.org",
                            "version":"9","code":"mg"}}]})")),
                  "result=true display=mg")
            << is_stored;
        EXPECT_EQ(get("/ValueSet/$validate-code?url=http://v/units&code=mg&display=milligram"),
                  "result=true display=mg");
    }
    EXPECT_EQ(coding("urn:ietf:bcp:47", "de-AT"), "result=true display=de-AT");
    EXPECT_EQ(coding("http://s/animals", "dog"), "result=true display=Dog");
    EXPECT_EQ(coding("http://s/animals|1", "dog"), "result=false");
    EXPECT_EQ(coding("urn:ietf:bcp:13", "text/csv"), "result=true display=text/csv");
    EXPECT_TRUE(send("GET", "/CodeSystem/$validate-code?url=urn:ietf:bcp:47&code=german")
                    .says("cannot be determined"));
    EXPECT_EQ(get("/CodeSystem/$validate-code?url=urn:iso:std:iso:4217&code=EUR"),
              "result=true display=Euro");
    EXPECT_TRUE(send("GET", "/CodeSystem/$validate-code?url=urn:iso:std:iso:4217&code=XCG")
                    .says("cannot be determined"));
    EXPECT_EQ(get("/ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/mimetypes"
                  "&system=urn:ietf:bcp:13&code=image/png"),
              "result=true display=image/png");
}

TEST_F(CodesByGrammar, AreThoseOfTheirListWhereItIsComplete) {
    const auto is_refused = [&] {
        return send("POST", "/Basic/$validate", R"({"resourceType":"Basic","code":{"coding":[
                    {"system":"urn:ietf:bcp:13","code":"jpeg"}]}})")
            .says("has no code 'jpeg'");
    };
    const auto list = [&](std::string_view content) {
        put("CodeSystem/mime", fmt::format(R"({{"resourceType":"CodeSystem","id":"mime",
            "url":"urn:ietf:bcp:13","status":"active","content":"{}","concept":[
            {{"code":"{}","display":"Listed"}}]}})",
                                           content, content == "complete" ? "jpeg" : "text/csv"));
    };
    const std::string url = "/CodeSystem/$validate-code?url=urn:ietf:bcp:13&code=jpeg";
    EXPECT_TRUE(is_refused());
    list("fragment");
    EXPECT_TRUE(is_refused());
    EXPECT_EQ(get(url), "result=false");
    list("complete");
    EXPECT_FALSE(is_refused());
    EXPECT_EQ(get(url), "result=true display=Listed");
}

}  // namespace
}  // namespace annals::core
