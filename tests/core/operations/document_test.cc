// $document: what belongs to a document, as of which state, and what is refused.

#include "core/access.h"
#include "core/operations/document_references.h"
#include "tests/core/operations/document_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <string>

namespace annals::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DocumentTest : public test::DocumentFixture {
  protected:
    /// Stores a Composition "c" whose content refers to the first version of Patient "p", then to the current one.
    void put_reference_to_both_versions() {
        ASSERT_EQ(put("Practitioner", "a", ""), 201);
        ASSERT_EQ(put("Observation", "o",
                      R"(,"status":"final","code":{"text":"x"},"subject":{"reference":)"
                      R"("Patient/p/_history/1"},"focus":[{"reference":"Patient/p"}])"),
                  201);
        ASSERT_EQ(put_composition("c", R"(,"author":[{"reference":"Practitioner/a"}],
            "section":[{"title":"x","entry":[{"reference":"Observation/o"}]}])"),
                  201);
    }

    /// Stores a Composition "c" with one of each kind of reference, and the targets.
    void put_all() {
        ASSERT_EQ(put("Organization", "ward",
                      R"(,"name":"Ward","partOf":{"reference":"Organization/house"})"),
                  201);
        ASSERT_EQ(put("Organization", "house", R"(,"name":"House")"), 201);
        ASSERT_EQ(
            put("Patient", "p",
                R"(,"name":[{"family":"Smith"}],"managingOrganization":{"reference":"Organization/ward"})"),
            201);
        ASSERT_EQ(put("Practitioner", "author", R"(,"name":[{"family":"A"}])"), 201);
        ASSERT_EQ(put("Practitioner", "attester", R"(,"name":[{"family":"B"}])"), 201);
        ASSERT_EQ(
            put("Encounter", "e",
                R"(,"status":"finished","class":{"system":"http://terminology.hl7.org/CodeSystem/v3-ActCode",
                      "code":"AMB"},"subject":{"reference":"Patient/p"})"),
            201);
        ASSERT_EQ(put("Observation", "o",
                      R"(,"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/p"},
                      "performer":[{"reference":"Practitioner/performer"}])"),
                  201);
        ASSERT_EQ(put("Practitioner", "performer", R"(,"name":[{"family":"P"}])"), 201);
        ASSERT_EQ(put("Condition", "deep", R"(,"subject":{"reference":"Patient/p"})"), 201);
        ASSERT_EQ(put("Patient", "stranger", ""), 201);
        ASSERT_EQ(put_composition("other", R"(,"author":[{"reference":"Practitioner/author"}],
                      "subject":{"reference":"Patient/stranger"})"),
                  201);
        ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/p"},
            "encounter":{"reference":"Encounter/e"},
            "author":[{"reference":"Practitioner/author"},{"display":"Somebody"}],
            "attester":[{"mode":"legal","party":{"reference":"http://test/fhir/Practitioner/attester"}}],
            "custodian":{"reference":"Organization/house"},
            "event":[{"detail":[{"reference":"Encounter/e"}]}],
            "relatesTo":[{"code":"replaces","targetReference":{"reference":"Composition/other"}}],
            "section":[{"title":"One","entry":[{"reference":"Observation/o"}],
                "section":[{"title":"Two","entry":[{"reference":"Condition/deep"},{"reference":"Observation/o"}]}]}])"),
                  201);
    }
};

TEST_F(DocumentTest, HasTheCompositionFirstAndAllThatItRefersToOnce) {
    put_all();
    const test::Answer answer = send("GET", "/Composition/c/$document");
    const Read document = read(answer);
    EXPECT_THAT(
        document.names,
        ElementsAre("Composition/c/1", "Patient/p/1", "Encounter/e/1", "Practitioner/author/1",
                    "Practitioner/attester/1", "Organization/house/1", "Observation/o/1",
                    "Condition/deep/1", "Organization/ward/1", "Practitioner/performer/1"));
    const json::Value root = document.document.root();
    EXPECT_TRUE(root["identifier"]["system"].equals("urn:ietf:rfc:3986"));
    EXPECT_TRUE(root["identifier"]["value"].string().starts_with("urn:uuid:"));
    EXPECT_TRUE(parse_date_time(root["timestamp"].string()));
    EXPECT_FALSE(root["id"]);
    EXPECT_THAT(issues(answer.body), IsEmpty());
    // Each answer is a document of its own.
    EXPECT_FALSE(send("GET", "/Composition/c/$document").says(root["identifier"]["value"].raw()));
}

TEST_F(DocumentTest, IsAskedForInEveryWay) {
    put_all();
    const auto parameters = [](std::string_view list) {
        return fmt::format(R"({{"resourceType":"Parameters","parameter":[{}]}})", list);
    };
    const std::vector<std::string> names = read(send("GET", "/Composition/c/$document")).names;
    for (const char* id : {"c", "Composition/c", "http://test/fhir/Composition/c"}) {
        EXPECT_EQ(read(send("GET", fmt::format("/Composition/$document?id={}", id))).names, names);
        EXPECT_EQ(read(send("POST", "/Composition/$document",
                            parameters(fmt::format(R"({{"name":"id","valueUri":"{}"}})", id))))
                      .names,
                  names);
    }
    EXPECT_EQ(read(send("POST", "/Composition/c/$document")).names, names);
    EXPECT_EQ(read(send("POST", "/Composition/c/$document",
                        parameters(R"({"name":"persist","valueBoolean":false})")))
                  .names,
              names);
    const test::Answer xml = send("GET", "/Composition/c/$document?_format=xml");
    EXPECT_TRUE(xml.says(R"(<type value="document"/>)")) << xml.body;
}

TEST_F(DocumentTest, RefusesWhatItCannotUse) {
    put_all();
    const auto status = [&](std::string_view target) { return send("GET", target).status; };
    EXPECT_EQ(status("/Composition/$document"), 400);
    EXPECT_EQ(status("/Composition/$document?id="), 400);
    EXPECT_EQ(status("/Composition/$document?id=c&id=c"), 400);
    EXPECT_EQ(status("/Composition/c/$document?id=c"), 400);
    EXPECT_EQ(status("/Composition/$document?id=http://elsewhere/fhir/Composition/c"), 400);
    EXPECT_EQ(status("/Composition/$document?id=Patient/p"), 400);
    EXPECT_EQ(status("/Composition/$document?id=Composition/c/_history/1"), 400);
    EXPECT_EQ(status("/Composition/$document?id=c%00"), 400);
    EXPECT_EQ(status(fmt::format("/Composition/$document?id={}", std::string(5000, 'x'))), 400);
    EXPECT_EQ(status("/Composition/c/$document?persist=perhaps"), 400);
    EXPECT_EQ(status("/Composition/c/$document?other=1"), 400);
    EXPECT_EQ(status("/Composition/c/$document?graph="), 400);
    EXPECT_EQ(status("/Composition/c/$document?graph=a&graph=b"), 400);
    EXPECT_EQ(status("/Patient/p/$document"), 400);
    EXPECT_EQ(status("/Composition/none/$document"), 404);
    EXPECT_EQ(send("DELETE", "/Composition/c").status, 204);
    EXPECT_EQ(status("/Composition/c/$document"), 410);
    EXPECT_EQ(
        send("POST", "/Composition/other/$document", R"({"resourceType":"Composition"})").status,
        400);
    EXPECT_EQ(send("POST", "/Composition/other/$document", "{").status, 400);
}

TEST_F(DocumentTest, NamesEveryReferenceThatLeadsNowhere) {
    ASSERT_EQ(put("Practitioner", "a", ""), 201);
    ASSERT_EQ(put("Patient", "gone", ""), 201);
    ASSERT_EQ(send("DELETE", "/Patient/gone").status, 204);
    ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/gone"},
        "author":[{"reference":"Practitioner/a"},{"reference":"Practitioner/never"}],
        "custodian":{"reference":"http://elsewhere/fhir/Organization/1"},
        "section":[{"title":"x","entry":[{"reference":"Practitioner/a/_history/7"},
            {"reference":"urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"}]}])"),
              201);
    const test::Answer answer = send("GET", "/Composition/c/$document");
    EXPECT_EQ(answer.status, 422) << answer.body;
    for (const char* place :
         {"Composition.subject", "Composition.author[1]", "Composition.custodian",
          "Composition.section[0].entry[0]", "Composition.section[0].entry[1]"}) {
        EXPECT_THAT(answer.body, HasSubstr(place));
    }
    EXPECT_THAT(answer.body, Not(HasSubstr("Composition.author[0]")));
    EXPECT_THAT(answer.body, HasSubstr("http://elsewhere/fhir/Organization/1 is not available"));
}

TEST_F(DocumentTest, BearsWithWhatIsMissingFurtherOff) {
    ASSERT_EQ(put("Practitioner", "a", ""), 201);
    ASSERT_EQ(put("Patient", "p", R"(,"managingOrganization":{"reference":"Organization/gone"})"),
              201);
    ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/p"},
        "author":[{"reference":"Practitioner/a"}])"),
              201);
    EXPECT_THAT(read(send("GET", "/Composition/c/$document")).names,
                ElementsAre("Composition/c/1", "Patient/p/1", "Practitioner/a/1"));
}

TEST_F(DocumentTest, GoesRoundNoCircleTwice) {
    ASSERT_EQ(put("Practitioner", "a", ""), 201);
    ASSERT_EQ(
        put("Patient", "x", R"(,"link":[{"other":{"reference":"Patient/y"},"type":"seealso"}])"),
        201);
    ASSERT_EQ(
        put("Patient", "y", R"(,"link":[{"other":{"reference":"Patient/x"},"type":"seealso"}])"),
        201);
    ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/x"},
        "author":[{"reference":"Practitioner/a"}],
        "section":[{"title":"itself","entry":[{"reference":"Composition/c"}]}])"),
              201);
    EXPECT_THAT(read(send("GET", "/Composition/c/$document")).names,
                ElementsAre("Composition/c/1", "Patient/x/1", "Practitioner/a/1", "Patient/y/1"));
}

TEST_F(DocumentTest, TakesTheVersionThatAReferenceNames) {
    ASSERT_EQ(put("Practitioner", "a", ""), 201);
    ASSERT_EQ(put_patient("p", "Old"), 201);
    ASSERT_EQ(put_patient("p", "New"), 200);
    ASSERT_EQ(put("Observation", "o",
                  R"(,"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/p"})"),
              201);
    ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/p"},
        "author":[{"reference":"Practitioner/a"}],
        "section":[{"title":"x","entry":[{"reference":"Patient/p/_history/1"},{"reference":"Observation/o"}]}])"),
              201);
    const test::Answer answer = send("GET", "/Composition/c/$document");
    EXPECT_THAT(read(answer).names, ElementsAre("Composition/c/1", "Patient/p/1",
                                                "Practitioner/a/1", "Observation/o/1"));
    EXPECT_THAT(issues(answer.body), IsEmpty());
}

TEST_F(DocumentTest, TakesTheVersionThatAReferenceInItsContentNamesOnce) {
    ASSERT_EQ(put("Organization", "other", R"(,"name":"only the newest refers to it")"), 201);
    ASSERT_EQ(put_patient("p", "Old"), 201);
    ASSERT_EQ(put("Patient", "p", R"(,"managingOrganization":{"reference":"Organization/other"})"),
              200);
    put_reference_to_both_versions();
    EXPECT_THAT(
        read(send("GET", "/Composition/c/$document")).names,
        ElementsAre("Composition/c/1", "Practitioner/a/1", "Observation/o/1", "Patient/p/1"));
}

TEST_F(DocumentTest, TakesTheFirstVersionThatTheCallerMayRead) {
    ASSERT_EQ(put("Patient", "p", R"(,"gender":"male")"), 201);
    ASSERT_EQ(put("Patient", "p", R"(,"gender":"female")"), 200);
    put_reference_to_both_versions();
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal some("s",
                         "system/Composition.r system/Practitioner.r system/Observation.r "
                         "system/Patient.r?gender=female");
    send_as(&some);
    EXPECT_THAT(
        read(send("GET", "/Composition/c/$document")).names,
        ElementsAre("Composition/c/1", "Practitioner/a/1", "Observation/o/1", "Patient/p/2"));
    send_as(nullptr);
}

TEST_F(DocumentTest, IsOfOneState) {
    put_all();
    const std::uint64_t then =
        send("PUT", "/Basic/mark", R"({"resourceType":"Basic","id":"mark","code":{"text":"x"}})")
            .position;
    ASSERT_NE(then, 0U);
    const std::vector<std::string> names = read(send("GET", "/Composition/c/$document")).names;
    ASSERT_EQ(put_patient("p", "Changed"), 200);
    ASSERT_EQ(send("DELETE", "/Observation/o").status, 204);
    EXPECT_EQ(send("GET", "/Composition/c/$document").status, 422);
    EXPECT_EQ(read(send("GET", fmt::format("/Composition/c/$document?_asOf={}", then))).names,
              names);
    EXPECT_EQ(send("GET", "/Composition/c/$document?_asOf=0").status, 404);
    EXPECT_EQ(send("GET", "/Composition/c/$document?_asOf=x").status, 400);
}

TEST_F(DocumentTest, IsStoredWhereThatIsAskedFor) {
    put_all();
    const test::Answer answer = send("POST", "/Composition/c/$document?persist=true");
    EXPECT_THAT(read(answer).names, Contains("Patient/p/1"));
    EXPECT_EQ(answer.etag, 1U);
    ASSERT_TRUE(answer.location.starts_with("http://test/fhir/Bundle/")) << answer.location;
    const std::string path = answer.location.substr(kBaseUrl.size());
    const test::Answer stored = send("GET", path.substr(0, path.find("/_history")));
    EXPECT_EQ(stored.body, answer.body);
    json::Parser parser;
    const auto document = parser.parse(stored.body);
    EXPECT_EQ(document->root()["identifier"]["value"].string(),
              "urn:uuid:" + document->root()["id"].string());
    EXPECT_THAT(issues(stored.body), IsEmpty());
    EXPECT_TRUE(send("GET", "/Bundle?type=document").says(R"("total":1)"));
    // The stored document stays as it was.
    ASSERT_EQ(put_patient("p", "Changed"), 200);
    EXPECT_EQ(send("GET", path).body, answer.body);

    for (const char* method : {"GET", "HEAD"}) {
        EXPECT_EQ(send(method, "/Composition/c/$document?persist=true").status, 405) << method;
    }
    EXPECT_TRUE(send("GET", "/Bundle?type=document").says(R"("total":1)"));
    EXPECT_THAT(read(send("POST", "/Composition/c/$document?persist=true")).names,
                Contains("Patient/p/2"));
    EXPECT_TRUE(send("GET", "/Bundle?type=document").says(R"("total":2)"));
    const test::Answer batch =
        send("POST", "/",
             R"({"resourceType":"Bundle","type":"batch","entry":[)"
             R"({"request":{"method":"GET","url":"Composition/c/$document"}},)"
             R"({"request":{"method":"POST","url":"Composition/c/$document?persist=true"}}]})");
    EXPECT_TRUE(batch.says(R"("type":"document")")) << batch.body;
    EXPECT_TRUE(batch.says("400 Bad Request")) << batch.body;
    EXPECT_TRUE(send("GET", "/Bundle?type=document").says(R"("total":2)"));
}

TEST_F(DocumentTest, IsStoredOnlyIfItIsValidWhereThatIsDemanded) {
    put_all();
    Config config;
    config.validation = "full";
    restart(config);
    EXPECT_EQ(send("POST", "/Composition/c/$document?persist=true").status, 200);
}

TEST_F(DocumentTest, IsBounded) {
    put_all();
    Config config;
    config.limits.max_body = 1000;
    restart(config);
    const test::Answer answer = send("GET", "/Composition/c/$document");
    EXPECT_EQ(answer.status, 422);
    EXPECT_TRUE(answer.says("too-costly")) << answer.body;
    EXPECT_TRUE(answer.says("larger than 1000 bytes")) << answer.body;
}

TEST_F(DocumentTest, IsSentWholeThoughItIsErasedMeanwhile) {
    Config config;
    config.hard_delete = true;
    restart(config);
    constexpr int kAuthors = 100;  // more than one slice has
    std::string authors;
    for (int i = 0; i < kAuthors; ++i) {
        ASSERT_EQ(put("Practitioner", fmt::format("a{}", i), ""), 201);
        authors += fmt::format(R"({}{{"reference":"Practitioner/a{}"}})", i == 0 ? "" : ",", i);
    }
    ASSERT_EQ(put_composition("c", fmt::format(R"(,"author":[{}])", authors)), 201);
    const std::string before = send("GET", "/Composition/c/$document").body;

    Request request;
    request.path = "/Composition/c/$document";
    request.base_url = kBaseUrl;
    request.loop = &loop();
    std::future<Response> answer;
    on_loop([&] {
        answer = asio::co_spawn(loop().context(), handle(service(), request), asio::use_future);
    });
    Response response = answer.get();
    std::string text = response.body.str();
    ASSERT_NE(response.more, nullptr);
    for (int i = 0; i < kAuthors; ++i) {
        ASSERT_EQ(send("DELETE", fmt::format("/Practitioner/a{}", i)).status, 204);
    }
    for (bool more = true; more;) {
        Body slice;
        more = response.more->next(slice);
        text += slice.str();
    }
    constexpr std::string_view kEntries = R"("entry":[)";
    EXPECT_EQ(text.substr(text.find(kEntries)), before.substr(before.find(kEntries)));
}

TEST_F(DocumentTest, ShowsNobodyWhatHeMayNotRead) {
    put_all();
    Config config;
    config.auth.mode = "jwt";
    config.auth.public_access = {};
    restart(config);
    EXPECT_EQ(send("GET", "/Composition/c/$document").status, 401);
    const Principal reader("r", "system/*.r");
    send_as(&reader);
    EXPECT_EQ(read(send("GET", "/Composition/c/$document")).names.size(), 10U);
    EXPECT_EQ(send("POST", "/Composition/c/$document?persist=true").status, 403);
    const Principal keeper("k", "system/*.r system/Bundle.c");
    send_as(&keeper);
    EXPECT_EQ(send("POST", "/Composition/c/$document?persist=true").status, 200);
    const Principal of_documents("d", "system/*.r system/Bundle.c?type=document");
    send_as(&of_documents);
    EXPECT_EQ(send("POST", "/Composition/c/$document?persist=true").status, 200);
    const Principal of_collections("c", "system/*.r system/Bundle.c?type=collection");
    send_as(&of_collections);
    EXPECT_EQ(send("POST", "/Composition/c/$document?persist=true").status, 403);
    // If something is missing that a document must have, it is refused; the rest is left out.
    const Principal some("s",
                         "system/Composition.r system/Patient.r system/Encounter.r "
                         "system/Practitioner.r system/Observation.r system/Condition.r");
    send_as(&some);
    const test::Answer refused = send("GET", "/Composition/c/$document");
    EXPECT_EQ(refused.status, 403);
    EXPECT_TRUE(refused.says("system/Organization.r")) << refused.body;
    send_as(&reader);
    restart(Config());
    ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/p"},
        "author":[{"reference":"Practitioner/author"}])"),
              200);
    restart(config);
    send_as(&some);
    EXPECT_THAT(read(send("GET", "/Composition/c/$document")).names,
                ElementsAre("Composition/c/2", "Patient/p/1", "Practitioner/author/1"));
    send_as(nullptr);
}

TEST(DocumentReferences, AreThoseThatR4Names) {
    json::Parser parser;
    const auto document = parser.parse(R"({"resourceType":"Composition",
        "subject":{"reference":"1"},"encounter":{"reference":"2"},"author":[{"reference":"3"},{"reference":""},{}],
        "attester":[{"party":{"reference":"4"}},{}],"custodian":{"reference":"#contained"},
        "event":[{"detail":[{"reference":"5"}]}],"relatesTo":[{"targetReference":{"reference":"no"}}],
        "extension":[{"valueReference":{"reference":"no"}}],
        "section":[{"author":[{"reference":"6"}],"focus":{"reference":"7"},"entry":[{"reference":"8"}],
            "section":[{"entry":[{"reference":"9"}]}]},{"entry":[{"reference":"10"}]}]})");
    std::vector<std::string> texts;
    std::vector<std::string> places;
    for (const DocumentReference& reference : document_references(document->root())) {
        texts.push_back(reference.text);
        places.push_back(reference.expression);
    }
    EXPECT_THAT(texts, ElementsAre("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"));
    EXPECT_EQ(places.front(), "Composition.subject");
    EXPECT_EQ(places[2], "Composition.author[0]");
    EXPECT_EQ(places[3], "Composition.attester[0].party");
    EXPECT_EQ(places[4], "Composition.event[0].detail[0]");
    EXPECT_EQ(places[8], "Composition.section[0].section[0].entry[0]");
    // Values of the wrong kind are no references.
    const auto odd = parser.parse(
        R"({"resourceType":"Composition","subject":[1,"x",[null]],"section":{"entry":5},"event":"x"})");
    EXPECT_THAT(document_references(odd->root()), IsEmpty());
}

TEST(DocumentReferences, TakeTimeByTheirNumber) {
    // Each one's place used to be searched for from the beginning: 48,000 took half a minute.
    const auto time = [](int count) {
        std::string sections;
        for (int i = 0; i < count; ++i) {
            sections += i == 0 ? "" : ",";
            sections += R"({"entry":[{"reference":"Patient/1"}]})";
        }
        json::Parser parser;
        const auto document =
            parser.parse(R"({"resourceType":"Composition","section":[)" + sections + "]}");
        const std::clock_t begin = std::clock();
        EXPECT_EQ(document_references(document->root()).size(), static_cast<std::size_t>(count));
        return std::clock() - begin;
    };
    const std::clock_t few = std::min(time(4'000), time(4'000));
    EXPECT_LT(time(40'000), 30 * few);
}

}  // namespace
}  // namespace annals::core
