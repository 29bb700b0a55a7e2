#include "core/representation.h"

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

namespace annals::test {
namespace {

constexpr std::string_view kJson = "application/fhir+json; charset=utf-8";
constexpr std::string_view kXml = "application/fhir+xml; charset=utf-8";

class Representation : public ServiceFixture {
  protected:
    Answer get(std::string_view target, std::string_view accept = {}) {
        return accept.empty() ? send("GET", target)
                              : send("GET", target, {}, {{"Accept", std::string(accept)}});
    }

    // Writes versions of one Patient, each with `bytes` of narrative.
    void put_versions(int count, std::size_t bytes = 0) {
        for (int i = 0; i < count; ++i) {
            const std::string body = fmt::format(
                R"({{"resourceType":"Patient","id":"1","text":{{"status":"generated",)"
                R"("div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">{}</div>"}},"active":true,)"
                R"("name":[{{"family":"F{}"}}],"contact":[{{"gender":"male"}}]}})",
                std::string(bytes, 'x'), i);
            ASSERT_LT(send("PUT", "/Patient/1", body).status, 300);
        }
    }

    static std::string minified(const Answer& answer) {
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        EXPECT_TRUE(document) << answer.body;
        return document ? std::string(document->text()) : "";
    }
};

TEST_F(Representation, IsTheStoredJsonUnlessAskedOtherwise) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer plain = get("/Patient/1");
    EXPECT_EQ(plain.content_type, kJson);
    for (const char* accept : {"*/*", "application/json", "text/html,*/*;q=0.8"}) {
        const Answer answer = get("/Patient/1", accept);
        EXPECT_EQ(answer.body, plain.body) << accept;
        EXPECT_EQ(answer.content_type, kJson);
    }
}

TEST_F(Representation, IsXmlWhenAsked) {
    ASSERT_EQ(put_patient("1", "Chalmers"), 201);
    for (const auto& answer :
         {get("/Patient/1", "application/fhir+xml"), get("/Patient/1?_format=xml"),
          get("/Patient/1?_format=application/fhir+xml", "application/fhir+json"),
          get("/Patient/1/_history/1", "application/fhir+json;q=0.1, application/xml")}) {
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.content_type, kXml);
        EXPECT_EQ(answer.etag, 1U);
        EXPECT_TRUE(answer.has_last_modified);
        EXPECT_TRUE(answer.says("<Patient xmlns=\"http://hl7.org/fhir\">")) << answer.body;
        EXPECT_TRUE(answer.says("<family value=\"Chalmers\"/>"));
    }
}

TEST_F(Representation, OfErrorsIsTheOneAskedFor) {
    for (const char* target : {"/Patient/none", "/Nonsense/1", "/$nonsense", "/Patient/1/_history",
                               "/Patient/none?_pretty=odd"}) {
        const Answer answer = get(target, "application/fhir+xml");
        EXPECT_GE(answer.status, 400) << target;
        EXPECT_EQ(answer.content_type, kXml) << target;
        EXPECT_TRUE(answer.says("<OperationOutcome xmlns=\"http://hl7.org/fhir\">")) << target;
    }
    const Answer posted = send("POST", "/Patient", "{", {{"Accept", "application/fhir+xml"}});
    EXPECT_EQ(posted.status, 400);
    EXPECT_EQ(posted.content_type, kXml);
    const Answer method = send("POST", "/metadata?_format=xml", "{}");
    EXPECT_EQ(method.status, 405);
    EXPECT_EQ(method.content_type, kXml);
    EXPECT_NE(method.allow, "");
}

TEST_F(Representation, IsNotAskedForByParametersWithoutAValue) {
    ASSERT_EQ(put_patient("1"), 201);
    const std::string plain = get("/Patient/1").body;
    for (const char* query : {"?_format=", "?_pretty=", "?_summary=", "?_elements=",
                              "?_format=&_pretty=&_summary=true&_elements="}) {
        for (const char* target : {"/Patient/1", "/Patient", "/Patient/_history", "/metadata"}) {
            const Answer answer = get(std::string(target) + query, "application/fhir+xml");
            EXPECT_EQ(answer.status, 200) << target << query << answer.body;
            EXPECT_EQ(answer.content_type, kXml) << target << query;
        }
    }
    EXPECT_EQ(get("/Patient/1?_pretty=&_elements=").body, plain);
    EXPECT_TRUE(get("/Patient?_elements=").says("'_elements' has no value")) << "a warning";
    EXPECT_EQ(send("GET", "/Patient?_elements=", "", {{"Prefer", "handling=strict"}}).status, 400);
    EXPECT_EQ(get("/Patient?name=%zz&_format=", "application/fhir+xml").content_type, kXml);
}

TEST_F(Representation, OfAMalformedQueryIsTheOneAskedForAllTheSame) {
    for (const auto& answer :
         {get("/Patient?name=%zz", "application/fhir+xml"),
          get("/Patient?name=%zz&_format=xml", "application/fhir+json"),
          get("/Patient?_format=application%2Ffhir%2Bxml&name=%zz", "application/fhir+json")}) {
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.content_type, kXml);
    }
    EXPECT_EQ(get("/Patient?name=%zz&_format=json", "application/fhir+xml").content_type, kJson);
}

TEST_F(Representation, ThatCannotBeMetIsRefusedInJson) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const auto& answer : {get("/Patient/1", "application/pdf"), get("/Patient/1?_format=ttl"),
                               get("/Patient/1", "application/fhir+json; fhirVersion=3.0")}) {
        EXPECT_EQ(answer.status, 406);
        EXPECT_EQ(answer.content_type, kJson);
        EXPECT_TRUE(answer.says("not-supported"));
    }
}

TEST_F(Representation, RepeatsTheVersionOnlyWhenAsked) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer plain = get("/Patient/1");
    const Answer json = get("/Patient/1", "application/fhir+json; fhirVersion=4.0");
    EXPECT_EQ(json.content_type, "application/fhir+json; fhirVersion=4.0; charset=utf-8");
    EXPECT_EQ(json.body, plain.body);
    EXPECT_EQ(get("/Patient/1", "application/fhir+xml; fhirVersion=4.0.1").content_type,
              "application/fhir+xml; fhirVersion=4.0; charset=utf-8");
}

TEST_F(Representation, TakesXmlBodies) {
    const std::string body =
        "<Patient xmlns=\"http://hl7.org/fhir\"><id value=\"x\"/><name><family value=\"&#233;\"/>"
        "</name></Patient>";
    const Headers xml{{"Content-Type", "application/fhir+xml; charset=utf-8"}};
    const Answer put = send("PUT", "/Patient/x", body, xml);
    EXPECT_EQ(put.status, 201) << put.body;
    EXPECT_EQ(put.content_type, kJson);
    EXPECT_TRUE(get("/Patient/x").says("\"family\":\"\xc3\xa9\""));
    EXPECT_EQ(send("POST", "/Patient", body, xml).status, 201);
    EXPECT_EQ(send("POST", "/Patient", "<Patient", xml).status, 400);
    EXPECT_EQ(send("POST", "/Patient", body, {{"Content-Type", "application/pdf"}}).status, 415);
    EXPECT_EQ(
        send("POST", "/Patient", body, {{"Content-Type", "application/fhir+xml; fhirVersion=5.0"}})
            .status,
        415);
}

TEST_F(Representation, TakesJsonBehindAByteOrderMark) {
    const std::string mark = "\xEF\xBB\xBF";
    const Headers json{{"Content-Type", "application/fhir+json"}};
    EXPECT_EQ(send("PUT", "/Patient/1", mark + patient("1"), json).status, 201);
    EXPECT_EQ(send("POST", "/Patient", mark + patient("")).status, 201);
    EXPECT_EQ(send("POST", "/", mark + R"({"resourceType":"Bundle","type":"batch"})", json).status,
              200);
    EXPECT_EQ(
        send("PATCH", "/Patient/1", mark + "[]", {{"Content-Type", "application/json-patch+json"}})
            .status,
        200);
    EXPECT_EQ(send("PUT", "/Patient/1", mark + mark + patient("1"), json).status, 400);
    EXPECT_EQ(send("PUT", "/Patient/1", mark, json).status, 400);
    core::Request request;
    request.method = core::HttpMethod::put;
    request.body = "{}";
    EXPECT_TRUE(core::is_json_or_none(request));
    request.body = mark;
    EXPECT_FALSE(core::is_json_or_none(request));
    // In a Binary, it is content like any other.
    ASSERT_EQ(send("PUT", "/Binary/1", mark + "a", {{"Content-Type", "text/plain"}}).status, 201);
    EXPECT_EQ(get("/Binary/1", "text/plain").body, mark + "a");
}

TEST_F(Representation, TakesXmlBundles) {
    const Answer answer = send(
        "POST", "/",
        "<Bundle xmlns=\"http://hl7.org/fhir\"><type value=\"transaction\"/><entry><resource>"
        "<Patient><active value=\"true\"/></Patient></resource><request><method value=\"PUT\"/>"
        "<url value=\"Patient?identifier=1\"/></request></entry></Bundle>",
        {{"Content-Type", "application/fhir+xml"}, {"Accept", "application/fhir+xml"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.says("<type value=\"transaction-response\"/>")) << answer.body;
    EXPECT_TRUE(answer.says("<status value=\"201 Created\"/>"));
    EXPECT_TRUE(answer.says("<resource><Patient><id value="));
}

TEST_F(Representation, TakesXmlPatches) {
    put_versions(1);
    const Answer answer = send(
        "PATCH", "/Patient/1",
        "<Parameters xmlns=\"http://hl7.org/fhir\"><parameter><name value=\"operation\"/><part>"
        "<name value=\"type\"/><valueCode value=\"replace\"/></part><part><name value=\"path\"/>"
        "<valueString value=\"Patient.active\"/></part><part><name value=\"value\"/>"
        "<valueBoolean value=\"false\"/></part></parameter></Parameters>",
        {{"Content-Type", "application/fhir+xml"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.says("\"active\":false"));
}

TEST_F(Representation, IsIndentedWhenAsked) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer plain = get("/Patient/1");
    const Answer pretty = get("/Patient/1?_pretty=true");
    EXPECT_TRUE(pretty.body.starts_with("{\n  \"resourceType\": \"Patient\",\n  \"id\": \"1\",\n"));
    EXPECT_EQ(minified(pretty), plain.body);
    EXPECT_EQ(get("/Patient/1?_pretty=false").body, plain.body);
    for (const char* target : {"/metadata", "/Patient/1/_history", "/_history", "/Patient/2"}) {
        const Answer answer = get(std::string(target) + "?_pretty=true");
        EXPECT_TRUE(answer.body.starts_with("{\n  \"resourceType\": \"")) << target;
        if (std::string_view(target).find("history") == std::string_view::npos) {
            EXPECT_EQ(minified(answer), get(target).body) << target;
        }
    }
    EXPECT_TRUE(send("PUT", "/Patient/3?_pretty=true", patient("3")).body.starts_with("{\n"));
    EXPECT_TRUE(get("/Patient/1?_pretty=true&_format=xml").says("\n  <id value=\"1\"/>\n"));
    EXPECT_EQ(get("/Patient/1?_pretty=1").status, 400);
}

TEST_F(Representation, IsASummaryWhenAsked) {
    put_versions(1);
    const Answer summary = get("/Patient/1?_summary=true");
    EXPECT_EQ(summary.status, 200);
    EXPECT_TRUE(summary.says("\"code\":\"SUBSETTED\""));
    EXPECT_TRUE(summary.says("\"family\":\"F0\""));
    EXPECT_FALSE(summary.says("contact"));
    EXPECT_FALSE(summary.says("<div"));
    EXPECT_EQ(summary.etag, 1U);
    const Answer text = get("/Patient/1?_summary=text");
    EXPECT_TRUE(text.says("<div"));
    EXPECT_FALSE(text.says("family"));
    const Answer data = get("/Patient/1?_summary=data");
    EXPECT_FALSE(data.says("<div"));
    EXPECT_TRUE(data.says("contact"));
    EXPECT_EQ(get("/Patient/1?_summary=false").body, get("/Patient/1").body);
    const Answer elements = get("/Patient/1?_elements=contact");
    EXPECT_TRUE(elements.says("contact"));
    EXPECT_FALSE(elements.says("family"));
    EXPECT_TRUE(elements.says("SUBSETTED"));
    EXPECT_FALSE(get("/metadata?_elements=kind").says("interaction"));
}

TEST_F(Representation, RefusesWordsThatItDoesNotKnow) {
    put_versions(1);
    for (const char* query :
         {"_summary=yes", "_summary=true&_summary=text", "_summary=true&_elements=name",
          "_elements=a.b", "_summary=count", "_pretty=yes", "_summary=%zz"}) {
        EXPECT_EQ(get(std::string("/Patient/1?") + query).status, 400) << query;
    }
}

TEST_F(Representation, OfABundleIsThatOfItsResources) {
    put_versions(3);
    const Answer history = get("/Patient/1/_history?_elements=contact");
    EXPECT_TRUE(history.says("\"total\":3"));
    EXPECT_TRUE(history.says("\"contact\""));
    EXPECT_TRUE(history.says("SUBSETTED"));
    EXPECT_TRUE(history.says("\"etag\":\"W/\\\"3\\\"\""));
    EXPECT_FALSE(history.says("family"));
    const Answer xml = get("/_history?_format=xml&_summary=true");
    EXPECT_TRUE(xml.says("<total value=\"3\"/>"));
    EXPECT_TRUE(xml.says("<family value=\"F2\"/>"));
    EXPECT_FALSE(xml.says("contact"));
    EXPECT_TRUE(xml.body.ends_with("</entry></Bundle>")) << xml.body.substr(xml.body.size() - 99);
    const Answer count = get("/Patient/_history?_summary=count");
    EXPECT_TRUE(count.says("\"total\":3"));
    EXPECT_FALSE(count.says("\"entry\""));
    const Answer none = get("/Patient/_history?_summary=count&_format=xml");
    EXPECT_TRUE(none.says("<total value=\"3\"/>"));
    EXPECT_TRUE(none.body.ends_with("</Bundle>"));
}

TEST_F(Representation, OfIncludedResourcesIsWholeWhateverElementsAreAskedFor) {
    send("PUT", "/Organization/o", R"({"resourceType":"Organization","id":"o","name":"Acme"})");
    send("PUT", "/Patient/1",
         R"({"resourceType":"Patient","id":"1","gender":"male",)"
         R"("managingOrganization":{"reference":"Organization/o"}})");
    const Answer page =
        get("/Patient?_include=Patient:organization&_elements=managingOrganization");
    EXPECT_FALSE(page.says("male"));
    EXPECT_TRUE(page.says("Acme"));
}

TEST_F(Representation, IsKeptByLinks) {
    put_versions(3);
    const Answer history =
        get("/Patient/1/_history?_count=1&_summary=true&_format=xml&_pretty=false");
    EXPECT_TRUE(history.says("_count=1&amp;_summary=true&amp;_format=xml&amp;_pretty=false"))
        << history.body;
}

TEST_F(Representation, OfALargeBundleComesInSlices) {
    put_versions(40, 50'000);
    const Answer plain = get("/Patient/1/_history?_count=40");
    const Answer pretty = get("/Patient/1/_history?_count=40&_pretty=true");
    EXPECT_GE(pretty.slices, 4U);
    std::string expected = plain.body;
    // The links repeat what was asked for.
    const std::size_t link = expected.find("_count=40");
    expected.insert(link + 9, "&_pretty=true");
    EXPECT_EQ(minified(pretty), expected);
    const Answer data = get("/Patient/1/_history?_count=40&_summary=data");
    EXPECT_LT(data.body.size(), 40'000U);
    EXPECT_TRUE(data.says("F39"));
    const Answer xml = get("/Patient/1/_history?_count=40&_format=xml");
    EXPECT_GE(xml.slices, 4U);
    EXPECT_TRUE(xml.body.ends_with("</entry></Bundle>"));
    std::size_t entries = 0;
    for (std::size_t at = 0; (at = xml.body.find("<fullUrl ", at)) != std::string::npos; ++at) {
        ++entries;
    }
    EXPECT_EQ(entries, 40U);
}

TEST_F(Representation, IsStillConditional) {
    put_versions(1);
    for (const char* query : {"_format=xml", "_pretty=true", "_summary=true", "_elements=name"}) {
        const Answer answer =
            send("GET", std::string("/Patient/1?") + query, {}, {{"If-None-Match", "W/\"1\""}});
        EXPECT_EQ(answer.status, 304) << query;
        EXPECT_EQ(answer.body, "");
        EXPECT_EQ(answer.etag, 1U);
    }
}

TEST_F(Representation, IsAnsweredInFullWhereABrowserMayKeepAnother) {
    put_versions(1);
    const auto status = [this](const std::string& path, Headers others) {
        const auto tag = send("GET", path).etag;
        others.emplace_back("If-None-Match", "W/\"" + std::to_string(tag) + '"');
        return send("GET", path, {}, others).status;
    };
    for (const std::string path : {"/Patient/1", "/Patient/1/_history/1", "/metadata"}) {
        EXPECT_EQ(status(path, {{"Sec-Fetch-Mode", "cors"}}), 200) << path;
        // A browser with this representation in its cache sends the date, too.
        EXPECT_EQ(status(path, {{"Sec-Fetch-Mode", "cors"},
                                {"If-Modified-Since", "Thu, 01 Jan 2015 00:00:00 GMT"}}),
                  304)
            << path;
        // A page that sends a tag of its own, and clients that are no browsers.
        EXPECT_EQ(status(path, {{"Sec-Fetch-Mode", "cors"}, {"Cache-Control", "no-cache"}}), 304)
            << path;
        EXPECT_EQ(status(path, {}), 304) << path;
    }
}

TEST_F(Representation, OfAStoredBundleLeavesItsEntriesAlone) {
    ASSERT_EQ(send("PUT", "/Bundle/b",
                   R"({"resourceType":"Bundle","id":"b","type":"collection","entry":[{"resource":)"
                   R"({"resourceType":"Patient","contact":[{"gender":"male"}]}}]})")
                  .status,
              201);
    const Answer summary = get("/Bundle/b?_summary=true");
    EXPECT_TRUE(summary.says("contact")) << summary.body;
    EXPECT_TRUE(summary.says("SUBSETTED"));
    EXPECT_FALSE(get("/Bundle/b?_elements=type").says("contact"));
}

TEST_F(Representation, InsideOfABatchIsJsonAndMayBeASummary) {
    put_versions(1);
    const Answer batch =
        send("POST", "/",
             R"({"resourceType":"Bundle","type":"batch","entry":[)"
             R"({"request":{"method":"GET","url":"Patient/1?_format=xml&_pretty=true"}},)"
             R"({"request":{"method":"GET","url":"Patient/1?_elements=contact"}},)"
             R"({"request":{"method":"GET","url":"Patient/1?_summary=odd"}}]})");
    EXPECT_EQ(batch.status, 200);
    EXPECT_EQ(minified(batch), batch.body);
    EXPECT_TRUE(batch.says("\"resource\":" + get("/Patient/1").body));
    EXPECT_TRUE(batch.says("SUBSETTED"));
    EXPECT_TRUE(batch.says("400 Bad Request"));
}

TEST_F(Representation, ThatIsAPartMayNotReplaceTheWhole) {
    put_versions(1);
    const std::string part = get("/Patient/1?_elements=name").body;
    const Answer put = send("PUT", "/Patient/1", part);
    EXPECT_EQ(put.status, 422);
    EXPECT_TRUE(put.says("business-rule"));
    EXPECT_TRUE(put.says("Patient.meta.tag"));
    EXPECT_EQ(send("PUT", "/Patient?identifier=x", part).status, 422);
    EXPECT_EQ(send("POST", "/",
                   fmt::format(R"({{"resourceType":"Bundle","type":"transaction",)"
                               R"("entry":[{{"resource":{},"request":)"
                               R"({{"method":"PUT","url":"Patient/1"}}}}]}})",
                               part))
                  .status,
              400);
    EXPECT_EQ(get("/Patient/1").etag, 1U);
    EXPECT_EQ(send("POST", "/Patient", part).status, 201);
}

}  // namespace
}  // namespace annals::test
