// FHIR JSON to XML.

#include "codec/json/document.h"
#include "codec/xml/reader.h"
#include "codec/xml/writer.h"
#include "tests/support/xml_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::xml {
namespace {

constexpr std::string_view kDeclaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";

std::string xml_of(std::string_view json, bool pretty = false) {
    json::Parser parser;
    const Result<json::Document> document = parser.parse(json);
    EXPECT_TRUE(document) << json;
    return test::xml_from_json(document->root(), pretty);
}

// The content of a Patient with these members.
std::string inside_of_patient(std::string_view members) {
    const std::string xml =
        xml_of(std::string(R"({"resourceType":"Patient",)").append(members) + "}");
    const std::string head = std::string(kDeclaration) + R"(<Patient xmlns="http://hl7.org/fhir">)";
    EXPECT_TRUE(xml.starts_with(head) && xml.ends_with("</Patient>")) << xml;
    return xml.substr(head.size(), xml.size() - head.size() - 10);
}

TEST(XmlWriter, WritesElementsInTheOrderOfTheDefinitions) {
    EXPECT_EQ(
        inside_of_patient(
            R"("gender":"male","name":[{"given":["A","B"],"family":"C"}],"id":"p","active":true)"),
        R"(<id value="p"/><active value="true"/><name><family value="C"/><given value="A"/><given value="B"/></name><gender value="male"/>)");
}

TEST(XmlWriter, WritesNumbersWithTheirDigits) {
    EXPECT_EQ(
        xml_of(R"({"resourceType":"Observation","valueQuantity":{"value":1.00}})"),
        std::string(kDeclaration) +
            R"(<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="1.00"/></valueQuantity></Observation>)");
}

TEST(XmlWriter, WritesIdsAndUrlsAsAttributes) {
    EXPECT_EQ(inside_of_patient(
                  R"("extension":[{"url":"u","valueString":"x","id":"e"}],"name":[{"id":"n"}])"),
              R"(<extension id="e" url="u"><valueString value="x"/></extension><name id="n"/>)");
}

TEST(XmlWriter, WritesWhatStandsBesideAPrimitive) {
    EXPECT_EQ(
        inside_of_patient(
            R"("_birthDate":{"id":"b","extension":[{"url":"u"}]},"gender":"male","birthDate":"1974")"),
        R"(<gender value="male"/><birthDate id="b" value="1974"><extension url="u"/></birthDate>)");
    EXPECT_EQ(
        inside_of_patient(R"("name":[{"given":["A",null],"_given":[null,{"id":"g"},{"id":"h"}]}])"),
        R"(<name><given value="A"/><given id="g"/><given id="h"/></name>)");
}

TEST(XmlWriter, WritesAPrimitiveThatHasNothingButWhatStandsBesideIt) {
    EXPECT_EQ(inside_of_patient(R"("_birthDate":{"extension":[{"url":"u","valueCode":"c"}]})"),
              R"(<birthDate><extension url="u"><valueCode value="c"/></extension></birthDate>)");
    EXPECT_EQ(inside_of_patient(
                  R"("name":[{"_given":[{"id":"g"}]},{"given":["A"],"_given":[null,{"id":"h"}]}])"),
              R"(<name><given id="g"/></name><name><given value="A"/><given id="h"/></name>)");
}

TEST(XmlWriter, ResolvesEscapesInEachNameAndAttribute) {
    EXPECT_EQ(inside_of_patient(
                  R"("\u0069d":"\u0061","gend\u0065r":"m\u0061le","birthDate":"\u0032020")"),
              R"(<id value="a"/><gender value="male"/><birthDate value="2020"/>)");
}

TEST(XmlWriter, WritesResourcesInsideOfResources) {
    EXPECT_EQ(
        inside_of_patient(
            R"("contained":[{"id":"o","resourceType":"Organization"},{"resourceType":"Basic"}])"),
        R"(<contained><Organization><id value="o"/></Organization></contained><contained><Basic/></contained>)");
}

TEST(XmlWriter, GivesEachElementALineWhereThatIsAskedFor) {
    EXPECT_EQ(
        xml_of(R"({"resourceType":"Patient","id":"p","name":[{"given":["A","B"],"text":"A B"}],
                         "contained":[{"resourceType":"Organization","id":"o"}]})",
               true),
        R"(<?xml version="1.0" encoding="UTF-8"?>
<Patient xmlns="http://hl7.org/fhir">
  <id value="p"/>
  <contained>
    <Organization>
      <id value="o"/>
    </Organization>
  </contained>
  <name>
    <text value="A B"/>
    <given value="A"/>
    <given value="B"/>
  </name>
</Patient>
)");
}

TEST(XmlWriter, EscapesWhatXmlMustHaveEscaped) {
    EXPECT_EQ(inside_of_patient(R"("id":"<&>\"'\\\/\n\r\t\u0041\u00e9\ud83d\ude00")"),
              "<id value=\"&lt;&amp;&gt;&quot;'\\/&#10;&#13;&#9;A\xc3\xa9\xf0\x9f\x98\x80\"/>");
    EXPECT_EQ(
        inside_of_patient("\"id\":\"a\\u0000\\u001f\\uFFFE\xef\xbf\xbf\xef\xbf\xbd\xef\xbc\x81\""),
        "<id "
        "value=\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbc\x81\"/>");
}

TEST(XmlWriter, CopiesNarratives) {
    EXPECT_EQ(
        inside_of_patient(
            R"("text":{"div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">\n <p class='a'>x &amp; y</p></div>","status":"generated"})"),
        "<text><status value=\"generated\"/><div xmlns=\"http://www.w3.org/1999/xhtml\">\n <p "
        "class='a'>x &amp; y</p></div></text>");
    EXPECT_EQ(inside_of_patient(R"("text":{"div":"<div>a</div>"})"),
              R"(<text><div xmlns="http://www.w3.org/1999/xhtml">a</div></text>)");
}

TEST(XmlWriter, ShowsWhatIsNoNarrativeAsText) {
    const std::string head = R"(<text><div xmlns="http://www.w3.org/1999/xhtml">)";
    EXPECT_EQ(inside_of_patient(R"("text":{"div":"<div><p>a</div>"})"),
              head + "&lt;div&gt;&lt;p&gt;a&lt;/div&gt;</div></text>");
    EXPECT_EQ(inside_of_patient(R"("text":{"div":"<div><script>a</script></div>"})"),
              head + "&lt;div&gt;&lt;script&gt;a&lt;/script&gt;&lt;/div&gt;</div></text>");
    EXPECT_EQ(inside_of_patient(R"("text":{"div":"</div></text><id value='x'/><text>"})"),
              head + "&lt;/div&gt;&lt;/text&gt;&lt;id value='x'/&gt;&lt;text&gt;</div></text>");
}

TEST(XmlWriter, LeavesOutWhatXmlHasNoPlaceFor) {
    EXPECT_EQ(
        inside_of_patient(
            R"("unknown":1,"_unknown":{"id":"a"},"deceased":true,"value":2,"id":"a","nested":{"a":[{}]})"),
        R"(<id value="a"/>)");
    EXPECT_EQ(
        inside_of_patient(
            R"("id":"a","name":"b","gender":null,"_gender":{},"birthDate":{"a":1},"_birthDate":{"value":"c"})"),
        R"(<id value="a"/>)");
    EXPECT_EQ(inside_of_patient(R"("name":[{"id":"a","_id":{"id":"b"},"text":"c"}])"),
              R"(<name id="a"><text value="c"/></name>)");
    EXPECT_EQ(
        inside_of_patient(R"("contained":[{"resourceType":"Nothing"},{"id":"a"},1,null],"id":"a")"),
        R"(<id value="a"/>)");
}

TEST(XmlWriter, IsWellFormedWhateverTheJsonIs) {
    for (const char* members :
         {R"("name":"a")", R"("name":{"family":"a"})", R"("name":[[[1]]])", R"("gender":{"a":1})",
          R"("gender":["a",{"id":"b"},null])", R"("id":null,"_id":7)", R"("_gender":[{"id":"a"}])",
          R"("text":{"div":1})", R"("text":{"div":["<div/>"]})", R"("contained":{})",
          R"("extension":[{"url":{}}])", R"("extension":[{"url":null,"id":[1]}])",
          R"("active":"<true>")", R"("birthDate":true)"}) {
        const std::string xml =
            xml_of(std::string(R"({"resourceType":"Patient",)").append(members) + "}");
        ElementParser parser;
        EXPECT_TRUE(parser.parse(xml)) << members << '\n' << xml;
    }
    EXPECT_EQ(xml_of("[]"), kDeclaration);
    EXPECT_EQ(xml_of(R"({"resourceType":"Nothing"})"), kDeclaration);
    EXPECT_EQ(xml_of(R"({"resourceType":"HumanName","text":"a"})"), kDeclaration);
    EXPECT_EQ(xml_of(R"({"resourceType":"Patient"})"),
              std::string(kDeclaration) + R"(<Patient xmlns="http://hl7.org/fhir"/>)");
}

TEST(XmlWriter, IndentsByTwoBlanksWhenAsked) {
    EXPECT_EQ(
        xml_of(
            R"({"resourceType":"Patient","text":{"status":"empty","div":"<div>a</div>"},"name":[{"family":"A"}],"contact":[{"id":"c"}]})",
            true),
        R"(<?xml version="1.0" encoding="UTF-8"?>
<Patient xmlns="http://hl7.org/fhir">
  <text>
    <status value="empty"/>
    <div xmlns="http://www.w3.org/1999/xhtml">a</div>
  </text>
  <name>
    <family value="A"/>
  </name>
  <contact id="c"/>
</Patient>
)");
}

TEST(XmlWriter, WritesABundleInParts) {
    constexpr std::string_view kBundle =
        R"({"resourceType":"Bundle","signature":{"who":{"display":"s"}},"type":"history","total":2,)"
        R"("entry":[{"fullUrl":"a","resource":{"resourceType":"Patient","id":"1"}},{"fullUrl":"b"}]})";
    json::Parser parser;
    const Result<json::Document> document = parser.parse(kBundle);
    ASSERT_TRUE(document);
    for (const bool pretty : {false, true}) {
        Writer writer(pretty);
        std::string out;
        writer.write_head(out, document->root());
        for (const json::Value entry : document->root()["entry"].elements()) {
            writer.write_entry(out, entry);
        }
        writer.write_tail(out, document->root());
        EXPECT_EQ(out, test::xml_from_json(document->root(), pretty));
    }
}

TEST(XmlWriter, WritesWhatTheReaderReadsBack) {
    for (
        const char* json :
        {R"({"resourceType":"Patient","id":"a","contained":[{"resourceType":"Basic","id":"b"}],"active":false,"name":[{"family":"\n\t\r \" \\ é","given":["A",null],"_given":[null,{"id":"g"}]}]})",
         R"({"resourceType":"Observation","status":"final","code":{"text":"c"},"valueQuantity":{"value":-0.10e-7}})",
         R"({"resourceType":"Parameters","parameter":[{"name":"a","part":[{"name":"b","valueInteger":3}]}]})"}) {
        json::Parser parser;
        const Result<json::Document> document = parser.parse(json);
        ASSERT_TRUE(document);
        for (const bool pretty : {false, true}) {
            const Result<std::string> again =
                json_from_xml(test::xml_from_json(document->root(), pretty));
            ASSERT_TRUE(again) << again.error().detail;
            EXPECT_EQ(*again, document->text());
        }
    }
}

}  // namespace
}  // namespace annals::xml
