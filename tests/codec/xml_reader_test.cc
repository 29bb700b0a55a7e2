// FHIR XML to JSON: what each construct becomes, and where errors are reported.

#include "codec/xml/reader.h"
#include "tests/codec/xml_patient.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {
namespace {

// What follows resourceType within the Patient's braces.
std::string json_of(std::string_view inside) {
    const Result<std::string> json = json_from_xml(patient(inside));
    if (!json) {
        return "error: " + json.error().detail;
    }
    constexpr std::string_view kHead = R"({"resourceType":"Patient",)";
    EXPECT_TRUE(json->starts_with(kHead) && json->ends_with('}')) << *json;
    return json->substr(kHead.size(), json->size() - kHead.size() - 1);
}

Error error_of(std::string_view xml) {
    const Result<std::string> json = json_from_xml(xml);
    EXPECT_FALSE(json) << (json ? *json : "");
    return json ? Error{} : json.error();
}

TEST(XmlReader, GivesEveryPrimitiveItsJsonKind) {
    EXPECT_EQ(json_of(R"(<id value="p1"/><active value="true"/><birthDate value="1974-12-25"/>)"),
              R"("id":"p1","active":true,"birthDate":"1974-12-25")");
    EXPECT_EQ(json_of(R"(<multipleBirthInteger value="-2"/>)"), R"("multipleBirthInteger":-2)");
    const Result<std::string> money = json_from_xml(
        R"(<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="1.00E+3"/></valueQuantity></Observation>)");
    ASSERT_TRUE(money);
    EXPECT_EQ(*money, R"({"resourceType":"Observation","valueQuantity":{"value":1.00E+3}})");
}

TEST(XmlReader, MakesArraysOfWhatMayRepeatAndOfNothingElse) {
    EXPECT_EQ(json_of(R"(<name><family value="A"/><given value="B"/></name>)"),
              R"("name":[{"family":"A","given":["B"]}])");
    EXPECT_EQ(
        json_of(
            R"(<name><given value="B"/><given value="C"/></name><name><text value="D"/></name>)"),
        R"("name":[{"given":["B","C"]},{"text":"D"}])");
}

TEST(XmlReader, PutsIdsAndExtensionsOfPrimitivesBesideTheirValues) {
    EXPECT_EQ(
        json_of(
            R"(<birthDate id="b" value="1974"><extension url="u"><valueString value="x"/></extension></birthDate>)"),
        R"("birthDate":"1974","_birthDate":{"id":"b","extension":[{"url":"u","valueString":"x"}]})");
    EXPECT_EQ(json_of(R"(<gender><extension url="u"><valueCode value="x"/></extension></gender>)"),
              R"("_gender":{"extension":[{"url":"u","valueCode":"x"}]})");
    EXPECT_EQ(json_of(R"(<name><given value="A"/><given id="g"/><given value="B"/></name>)"),
              R"("name":[{"given":["A",null,"B"],"_given":[null,{"id":"g"},null]}])");
    EXPECT_EQ(json_of(R"(<name><given id="g"/></name>)"), R"("name":[{"_given":[{"id":"g"}]}])");
}

TEST(XmlReader, KeepsTheOrderOfTheDefinitionsWhateverTheTexts) {
    EXPECT_EQ(
        json_of(
            R"(<gender value="male"/><name><text value="1"/></name><id value="x"/><name><text value="2"/></name>)"),
        R"("id":"x","name":[{"text":"1"},{"text":"2"}],"gender":"male")");
    EXPECT_EQ(
        json_of(
            R"(<extension url="a" id="e"><extension url="b"><valueCode value="c"/></extension></extension>)"),
        R"("extension":[{"id":"e","extension":[{"url":"b","valueCode":"c"}],"url":"a"}])");
}

TEST(XmlReader, ReadsResourcesInsideOfResources) {
    EXPECT_EQ(json_of(R"(<contained><Organization><id value="o"/></Organization></contained>)"),
              R"("contained":[{"resourceType":"Organization","id":"o"}])");
    const Result<std::string> bundle = json_from_xml(
        R"(<Bundle xmlns="http://hl7.org/fhir"><type value="batch"/><entry><resource><Patient/></resource></entry></Bundle>)");
    ASSERT_TRUE(bundle) << bundle.error().detail;
    EXPECT_EQ(
        *bundle,
        R"({"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient"}}]})");
    const Result<std::string> parameters = json_from_xml(
        R"(<Parameters xmlns="http://hl7.org/fhir"><parameter><name value="p"/><resource><Patient><id value="1"/></Patient></resource></parameter></Parameters>)");
    ASSERT_TRUE(parameters) << parameters.error().detail;
    EXPECT_EQ(
        *parameters,
        R"({"resourceType":"Parameters","parameter":[{"name":"p","resource":{"resourceType":"Patient","id":"1"}}]})");
}

TEST(XmlReader, ResolvesReferencesAndKeepsWrittenWhiteSpace) {
    EXPECT_EQ(json_of(R"(<id value="&lt;&amp;&gt;&quot;&apos;\/&#65;&#x1F600;"/>)"),
              "\"id\":\"<&>\\\"'\\\\/A\xf0\x9f\x98\x80\"");
    EXPECT_EQ(json_of("<id value=\" a&#10;&#9;&#13;b  c \"/>"), R"("id":" a\n\t\rb  c ")");
    EXPECT_EQ(json_of("<id value='&#xD7FF;&#xE000;&#xFFFD;&#x10000;&#x10FFFF;'/>"),
              "\"id\":\"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
    // A literal line break in an attribute counts as a blank (XML 1.0 section 3.3.3).
    EXPECT_EQ(json_of("<id value='a\r\nb\tc\"'/>"), R"("id":"a b c\"")");
}

TEST(XmlReader, TakesPrefixesForWhatTheyMean) {
    const Result<std::string> json = json_from_xml(
        "\xef\xbb\xbf<?xml version='1.0' encoding='utf-8' standalone='yes'?>\n<!-- c --><?p i?>\n"
        R"(<f:Patient xmlns:f="http://hl7.org/fhir" xmlns:h="http://www.w3.org/1999/xhtml" )"
        R"(xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b"><!-- - -->)"
        R"(<f:text><f:status value="empty"/><h:div>a<h:br/></h:div></f:text><?x?></f:Patient> <!-- d -->)");
    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(*json, R"({"resourceType":"Patient","text":{"status":"empty",)"
                     R"("div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">a<br/></div>"}})");
}

TEST(XmlReader, LeavesTheNamespaceAsItIsWhereAPrefixIsDeclared) {
    EXPECT_EQ(
        *json_from_xml(patient("<name xmlns:x='http://example.org'><text value='a'/></name>")),
        R"({"resourceType":"Patient","name":[{"text":"a"}]})");
}

TEST(XmlReader, ForgetsWhatAnElementDeclaresBehindIt) {
    for (const std::string_view inside :
         {"<x:id xmlns:x='http://hl7.org/fhir' value='a'/><x:gender value='male'/>",
          "<x:name xmlns:x='http://hl7.org/fhir'><x:text value='a'/></x:name><x:gender "
          "value='male'/>"}) {
        EXPECT_EQ(error_of(patient(inside)).code, Errc::invalid) << inside;
    }
    const Result<std::string> json = json_from_xml(
        patient("<text><div xmlns='http://www.w3.org/1999/xhtml'/><status value='empty'/></text>"));
    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(
        *json,
        R"({"resourceType":"Patient","text":{"status":"empty","div":"<div xmlns='http://www.w3.org/1999/xhtml'/>"}})");
}

TEST(XmlReader, KeepsNarrativesAsTheyStand) {
    const std::string div =
        "<div xmlns=\"http://www.w3.org/1999/xhtml\" class='c'>\n\t<p >a &lt;  b</p\n><!-- c "
        "--><br/></div>";
    const Result<std::string> json =
        json_from_xml(patient("<text><status value=\"generated\"/>" + div + "</text>"));
    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(
        *json,
        R"({"resourceType":"Patient","text":{"status":"generated","div":"<div )"
        R"(xmlns=\"http://www.w3.org/1999/xhtml\" class='c'>\n\t<p >a &lt;  b</p\n><!-- c --><br/></div>"}})");
}

TEST(XmlReader, SaysWhichElementAndWhere) {
    Error error =
        error_of(patient("\n <name><given value='a'/><given value='b'/><x value='y'/></name>"));
    EXPECT_EQ(error.code, Errc::structure);
    EXPECT_EQ(error.expression, "Patient.name[0].x");
    EXPECT_EQ(error.detail, "XML at line 2, column 44: there is no such element");

    error = error_of(patient("<contained><Patient><active value='maybe'/></Patient></contained>"));
    EXPECT_EQ(error.code, Errc::value);
    EXPECT_EQ(error.expression, "Patient.contained[0].active");

    error = error_of(patient("<name/><name><given id='a' lang='de'/></name>"));
    EXPECT_EQ(error.code, Errc::structure);
    EXPECT_EQ(error.expression, "Patient.name[1].given[0]");

    error = error_of(patient("<id value='a'></ID>"));
    EXPECT_EQ(error.code, Errc::invalid);
    EXPECT_EQ(error.expression, "");
}

TEST(XmlReader, RefusesWhatFhirDoesNotHave) {
    const auto code = [](std::string_view inside) { return error_of(patient(inside)).code; };
    EXPECT_EQ(code("<gender value='male'/><gender value='female'/>"), Errc::structure);
    EXPECT_EQ(code("<value value='a'/>"), Errc::structure);
    EXPECT_EQ(code("<birthDate value='2020'><value value='a'/></birthDate>"), Errc::structure);
    EXPECT_EQ(code("<deceased value='true'/>"), Errc::structure);
    EXPECT_EQ(code("<name value='a'/>"), Errc::structure);
    EXPECT_EQ(code("<name/>"), Errc::structure);
    EXPECT_EQ(code("<gender/>"), Errc::structure);
    EXPECT_EQ(code("<gender url='a' value='male'/>"), Errc::structure);
    EXPECT_EQ(code("<name url='a'/>"), Errc::structure);
    EXPECT_EQ(code("<name><id value='a'/></name>"), Errc::structure);
    EXPECT_EQ(code("<extension><url value='a'/></extension>"), Errc::structure);
    EXPECT_EQ(code("<contained/>"), Errc::structure);
    EXPECT_EQ(code("<contained><Patient/><Patient/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained><HumanName/></contained>"), Errc::value);
    EXPECT_EQ(code("<contained><Resource/></contained>"), Errc::value);
    EXPECT_EQ(code("<contained id='a'><Patient/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained><Patient id='a'/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained><Patient url='a'/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained><Patient value='a'/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained url='a'><Patient/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained value='a'><Patient/></contained>"), Errc::structure);
    EXPECT_EQ(code("<contained/><contained><Patient/></contained>"), Errc::structure);
    EXPECT_EQ(code("<name value='a'><text value='b'/></name>"), Errc::structure);
    EXPECT_EQ(code("<name url='a'><text value='b'/></name>"), Errc::structure);
    EXPECT_EQ(code("<photo url='a'><title value='b'/></photo>"), Errc::structure);
    EXPECT_EQ(code("<name>text</name>"), Errc::structure);
    EXPECT_EQ(code("<name><![CDATA[text]]></name>"), Errc::structure);
    EXPECT_EQ(code("<x:name xmlns:x='http://example.org'/>"), Errc::structure);
    EXPECT_EQ(code("<name xml:lang='de'/>"), Errc::structure);
    constexpr std::string_view kInstance = "http://www.w3.org/2001/XMLSchema-instance";
    EXPECT_EQ(code("<id xmlns:x='" + std::string(kInstance) + "' x:type='a' value='b'/>"),
              Errc::structure);
    EXPECT_EQ(code("<id xmlns:x='http://example.org' x:schemaLocation='a' value='b'/>"),
              Errc::structure);
    EXPECT_EQ(code("<text><div>a</div></text>"), Errc::structure);
    EXPECT_EQ(code("<gender><div xmlns='http://www.w3.org/1999/xhtml'>a</div></gender>"),
              Errc::structure);
    EXPECT_EQ(error_of("<Patient><active value='true'/></Patient>").code, Errc::structure);
    EXPECT_EQ(error_of("<Patient xmlns='http://hl7.org/fhir/'/>").code, Errc::structure);
    EXPECT_EQ(error_of("<div xmlns='http://www.w3.org/1999/xhtml'/>").code, Errc::structure);
    EXPECT_EQ(error_of("<Person2 xmlns='http://hl7.org/fhir'/>").code, Errc::value);
    EXPECT_EQ(error_of("<HumanName xmlns='http://hl7.org/fhir'/>").code, Errc::value);
    EXPECT_EQ(error_of("<DomainResource xmlns='http://hl7.org/fhir'/>").code, Errc::value);
}

TEST(XmlReader, TakesAnElementWithNothingButAnAttribute) {
    EXPECT_EQ(*json_from_xml(patient("<extension url='a'/><name id='b'/>")),
              R"({"resourceType":"Patient","extension":[{"url":"a"}],"name":[{"id":"b"}]})");
}

TEST(XmlReader, RefusesNumbersAndBooleansThatAreNone) {
    for (const char* text :
         {"", " 1", "1 ", "+1", "01", ".5", "1.", "1e", "0x1", "NaN", "1,0", "--1"}) {
        const Error error =
            error_of(patient(std::string("<multipleBirthInteger value='") + text + "'/>"));
        EXPECT_EQ(error.code, Errc::value) << text;
        EXPECT_EQ(error.expression, "Patient.multipleBirthInteger") << text;
    }
    for (const char* text : {"", "True", "1", "yes", "true "}) {
        EXPECT_EQ(error_of(patient(std::string("<active value='") + text + "'/>")).code,
                  Errc::value)
            << text;
    }
}

TEST(XmlReader, TellsAllValuesThatAreWrong) {
    const Error error = error_of(
        patient("<active value='maybe'/><name><given value=''/></name><birthDate value='never'/>"
                "<multipleBirthInteger value='many'/>"));
    EXPECT_EQ(error.code, Errc::value);
    EXPECT_EQ(error.expression, "Patient.active");
    std::vector<std::string> others;
    for (const Error& other : error.others) {
        EXPECT_EQ(other.code, Errc::value) << other.detail;
        others.push_back(other.expression);
    }
    EXPECT_EQ(others, (std::vector<std::string>{"Patient.multipleBirthInteger",
                                                "Patient.name[0].given[0]", "Patient.birthDate"}));

    // A fault other than a wrong value ends the list.
    const Error last = error_of(patient("<active value='maybe'/><name value='a'/>"));
    EXPECT_EQ(last.expression, "Patient.active");
    ASSERT_EQ(last.others.size(), 1U);
    EXPECT_EQ(last.others.front().expression, "Patient.name[0]");
    EXPECT_EQ(last.others.front().code, Errc::structure);

    std::string many;
    for (int i = 0; i < 200; ++i) {
        many += "<contained><Patient><active value='maybe'/></Patient></contained>";
    }
    EXPECT_EQ(error_of(patient(many)).others.size(), 99U);
}

std::string bundle(std::string_view entries) {
    return R"(<Bundle xmlns="http://hl7.org/fhir"><type value="batch"/>)" + std::string(entries) +
           "</Bundle>";
}

std::string entry(std::string_view resource, std::string_view more = "") {
    return "<entry>" + std::string(more) + "<resource>" + std::string(resource) +
           R"(</resource><request><method value="PUT"/><url value="Patient/1"/></request></entry>)";
}

TEST(XmlReader, TellsOfEachEntryThatCannotBeReadAndGoesOnBehindIt) {
    constexpr std::string_view kGood = R"(<Patient><id value="1"/></Patient>)";

    struct Case {
        std::string entry;
        Errc code;
        std::string_view expression;
        std::string_view in_detail;
    };

    const Case cases[] = {
        {entry("<Patient><wrong/></Patient>"), Errc::structure, "Bundle.entry[1].resource.wrong",
         "no such element"},
        {entry("<Nothing/>"), Errc::value, "Bundle.entry[1].resource", "resource type"},
        {entry(R"(<Patient><name><given/></name></Patient>)"), Errc::structure,
         "Bundle.entry[1].resource.name[0].given[0]", ""},
        {entry(R"(<Patient><active value="1"/></Patient>)"), Errc::value,
         "Bundle.entry[1].resource.active", "true or false"},
        {entry("<Patient>text</Patient>"), Errc::structure, "Bundle.entry[1].resource",
         "line 2, column 27"},
        {entry("<Patient><![CDATA[text]]></Patient>"), Errc::structure, "Bundle.entry[1].resource",
         ""},
        {entry(R"(<Patient><active value="true" at="x"/></Patient>)"), Errc::structure,
         "Bundle.entry[1].resource.active", "attribute"},
        {entry(R"(<x xmlns="http://other"><y z="1">t</y></x>)"), Errc::structure,
         "Bundle.entry[1].resource", "namespace"},
        {entry(
             R"(<Patient><text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><script a="1"><p/></script>t</div></text></Patient>)"),
         Errc::value, "Bundle.entry[1].resource.text.div", "txt-1"},
        {entry(kGood, "<wrong/>"), Errc::structure, "Bundle.entry[1].wrong", ""},
    };
    Reader reader;
    for (const Case& with : cases) {
        const std::string xml = bundle(entry(kGood) + "\n" + with.entry + "\n" + entry(kGood));
        EXPECT_FALSE(json_from_xml(xml)) << with.entry;
        std::vector<UnreadableEntry> unreadable;
        const Result<std::string> json = reader.read_entries(xml, unreadable);
        ASSERT_TRUE(json) << with.entry << json.error().detail;
        ASSERT_EQ(unreadable.size(), 1U) << with.entry;
        EXPECT_EQ(unreadable[0].index, 1U);
        EXPECT_EQ(unreadable[0].error.code, with.code) << with.entry;
        EXPECT_EQ(unreadable[0].error.expression, with.expression);
        EXPECT_NE(unreadable[0].error.detail.find("line 2,"), std::string::npos);
        EXPECT_NE(unreadable[0].error.detail.find(with.in_detail), std::string::npos)
            << unreadable[0].error.detail;
        constexpr std::string_view kWhole =
            R"({"resource":{"resourceType":"Patient","id":"1"},"request":{"method":"PUT","url":"Patient/1"}})";
        EXPECT_EQ(*json, R"({"resourceType":"Bundle","type":"batch","entry":[)" +
                             std::string(kWhole) +
                             R"(,{"request":{"method":"PUT","url":"Patient/1"}},)" +
                             std::string(kWhole) + "]}")
            << with.entry;
    }
}

TEST(XmlReader, TellsOfEveryEntryThatCannotBeRead) {
    const std::string with_text = entry("<Patient>text</Patient>");
    Reader reader;
    std::vector<UnreadableEntry> unreadable;
    ASSERT_TRUE(reader.read_entries(bundle(with_text + entry("<Patient/>") + entry("<Nothing/>") +
                                           with_text + entry("<Patient/>")),
                                    unreadable));
    std::string told;
    for (const UnreadableEntry& one : unreadable) {
        told += std::to_string(one.index) + " " + one.error.expression + "\n";
    }
    EXPECT_EQ(told,
              "0 Bundle.entry[0].resource\n2 Bundle.entry[2].resource\n"
              "3 Bundle.entry[3].resource\n");
}

TEST(XmlReader, TellsOfAnEmptyEntryWithAnAttributeAndOfNothingBehindIt) {
    Reader reader;
    std::vector<UnreadableEntry> unreadable;
    const std::string empty = R"(<entry at="x"/>)";
    ASSERT_TRUE(reader.read_entries(bundle(empty + entry("<Patient/>")), unreadable));
    ASSERT_EQ(unreadable.size(), 1U);
    EXPECT_NE(unreadable[0].error.detail.find("an attribute that FHIR does not have"),
              std::string::npos)
        << unreadable[0].error.detail;
    EXPECT_FALSE(reader.read_entries(bundle(empty + R"(<total value="1" at="x"/>)"), unreadable));
}

TEST(XmlReader, KeepsWhatNamesAnEntryThatCannotBeReadAsFarAsItCan) {
    const auto json_of_entry = [](std::string_view inside) {
        Reader reader;
        std::vector<UnreadableEntry> unreadable;
        const auto json =
            reader.read_entries(bundle("<entry>" + std::string(inside) + "</entry>"), unreadable);
        EXPECT_EQ(unreadable.size(), 1U) << inside;
        return json ? *json : json.error().detail;
    };
    constexpr std::string_view kHead = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    EXPECT_EQ(json_of_entry(R"(<fullUrl value="urn:x"/><wrong/>)"),
              std::string(kHead) + R"({"fullUrl":"urn:x"}]})");
    EXPECT_EQ(json_of_entry(R"(<fullUrl/><request><method value="GET"/></request>)"),
              std::string(kHead) + R"({"request":{"method":"GET"}}]})");
    EXPECT_EQ(json_of_entry(R"(<fullUrl value="u"/><request><wrong/></request>)"),
              std::string(kHead) + R"({"fullUrl":"u"}]})");
    EXPECT_EQ(
        json_of_entry(
            R"(<fullUrl><extension><wrong/></extension></fullUrl><request><method value="GET"/></request>)"),
        std::string(kHead) + R"({"request":{"method":"GET"}}]})");
    EXPECT_EQ(json_of_entry(""), std::string(kHead) + "{}]}");
}

TEST(XmlReader, RefusesABundleAsAWholeForWhatIsNotInItsEntries) {
    const auto refused = [](std::string_view xml) {
        Reader reader;
        std::vector<UnreadableEntry> unreadable;
        const auto json = reader.read_entries(xml, unreadable);
        return json ? "taken: " + *json : json.error().expression;
    };
    const std::string bad = entry("<Patient><wrong/></Patient>");
    EXPECT_EQ(refused(bundle(bad + "<wrong/>")), "Bundle.wrong");
    EXPECT_EQ(refused(bundle(bad + R"(<total value="x"/>)")), "Bundle.total");
    EXPECT_EQ(refused(bundle(bad + "text" + bad)).substr(0, 15), "Bundle.entry[0]");
    EXPECT_EQ(refused(bundle(R"(<x:entry xmlns:x="http://other"/>)")), "Bundle.entry[0]");
    EXPECT_EQ(refused(bundle(bad + "<entry><resource></entry>")), "");
    EXPECT_EQ(refused(bundle(entry("<Patient><!-- -- --></Patient>"))), "");
    EXPECT_EQ(refused(R"(<List xmlns="http://hl7.org/fhir"><entry>text</entry></List>)"),
              "List.entry[0]");
    std::string many;
    for (std::size_t i = 0; i <= kUnreadableEntriesMax; ++i) {
        many += "<entry/>";
    }
    EXPECT_EQ(refused(bundle(many)), "Bundle.entry[50000]");
}

TEST(XmlReader, AnswersTheSameWhenItIsUsedAgain) {
    Reader reader;
    const std::string good = patient("<name><given value='a'/></name>");
    const Result<std::string> first = reader.read(good);
    ASSERT_TRUE(first);
    EXPECT_FALSE(reader.read(patient("<name><given value='a'/><nothing/></name>")));
    EXPECT_FALSE(reader.read("<Patient xmlns='http://hl7.org/fhir'><name>"));
    EXPECT_FALSE(reader.read("<Patient><active value='true'/></Patient>"));
    const Result<std::string> again = reader.read(good);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *first);
}

}  // namespace
}  // namespace annals::xml
