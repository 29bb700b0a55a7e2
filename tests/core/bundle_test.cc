#include "core/interactions/bundle.h"

#include "tests/core/bundle_fixture.h"

namespace annals::core {
namespace {

TEST(Bundle, IsRefusedAsAWholeWhenItIsNoBundleToSubmit) {
    TestService server;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "invalid"},
        {"[]", "structure"},
        {"{}", "required"},
        {R"({"resourceType":"Patient"})", "invalid"},
        {R"({"resourceType":"Bundle"})", "required"},
        {R"({"resourceType":"Bundle","type":1})", "structure"},
        {R"({"resourceType":"Bundle","type":"transactions"})", "value"},
        {R"({"resourceType":"Bundle","type":"batch","entry":{}})", "structure"},
        {bundle_of("collection", {}), "invalid"},
        {bundle_of("searchset", {}), "invalid"},
        {bundle_of("document", {}), "invalid"},
        {bundle_of("message", {}), "invalid"},
        {R"({"resourceType":"Bundle","type":"batch","entry":[)", "invalid"},
        {R"({"resourceType":"Bundle","type":"batch","type":"batch"})", "invalid"},
        {bundle_of("batch", {entry_of("POST", "Patient", std::string(200, '['))}), "invalid"},
    };
    for (const auto& [body, code] : cases) {
        const Received answer = server.submit(body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_EQ(Json(answer.body).issue("code"), code) << body;
    }
}

TEST(Bundle, MayBeEmpty) {
    TestService server;
    for (const std::string type : {"batch", "transaction", "history"}) {
        const Received answer = server.submit(bundle_of(type, {}));
        EXPECT_EQ(answer.status, 200);
        const Json bundle(answer.body);
        EXPECT_EQ(bundle.root()["entry"].size(), 0U);
        EXPECT_EQ(bundle.root()["type"].string(),
                  type == "transaction" ? "transaction-response" : "batch-response");
    }
}

TEST(Bundle, IsRefusedBeyondTheLimitOfEntries) {
    Config config;
    config.limits.max_bundle_entries = 50'000;
    TestService server(config);
    for (const std::string_view type : {"batch", "transaction", "history"}) {
        const Received answer = server.submit(
            bundle_of(type, std::vector<std::string>(50'001, entry_of("GET", "Patient/1"))));
        EXPECT_EQ(answer.status, 413);
        EXPECT_EQ(Json(answer.body).issue("code"), "too-costly");
    }
}

TEST(Bundle, OfTypeHistoryIsRefusedWhereItIsSwitchedOff) {
    Config by_body;
    by_body.allow_history_bundles = false;
    Config by_interaction;
    by_interaction.interactions.system_history_bundle = false;
    for (const Config& config : {by_body, by_interaction}) {
        TestService server(config);
        const Received answer = server.submit(bundle_of("history", {}));
        EXPECT_EQ(answer.status, 405);
        EXPECT_EQ(Json(answer.body).issue("code"), "not-supported");
        EXPECT_EQ(server.submit(bundle_of("batch", {})).status, 200);
    }
}

/// A Bundle in XML with PUTs of three Patients, the second of which can't be read.
std::string xml_bundle(std::string_view type, std::string_view wrong = "<wrong/>") {
    const auto put = [](std::string_view id, std::string_view more) {
        return R"(<entry><fullUrl value="http://a/Patient/)" + std::string(id) +
               R"("/><resource><Patient><id value=")" + std::string(id) + R"("/>)" +
               std::string(more) +
               R"(</Patient></resource><request><method value="PUT"/><url value="Patient/)" +
               std::string(id) + R"("/></request></entry>)";
    };
    return R"(<Bundle xmlns="http://hl7.org/fhir"><type value=")" + std::string(type) + R"("/>)" +
           put("a", "") + put("b", wrong) + put("c", "") + "</Bundle>";
}

Received submit_xml(TestService& server, std::string body) {
    return server.send(
        {HttpMethod::post, "", {}, std::move(body), {{"Content-Type", "application/fhir+xml"}}});
}

TEST(Bundle, InXmlHasItsUnreadableEntriesFailAlone) {
    for (const std::string_view type : {"batch", "history"}) {
        for (const std::string_view wrong :
             {"<wrong/>", R"(<active value="x"/>)", R"(<contained><Nothing/></contained>)", "text",
              R"(<active value="true" x="1"/>)"}) {
            TestService server;
            const Received answer = submit_xml(server, xml_bundle(type, wrong));
            EXPECT_EQ(answer.status, 200) << answer.body;
            const Json bundle(answer.body);
            EXPECT_EQ(bundle.statuses(), "201 400 201") << type << wrong;
            EXPECT_EQ(bundle.entry(1)["fullUrl"].string(), "http://a/Patient/b");
            EXPECT_EQ(bundle.issue(1, "severity"), "error");
            EXPECT_NE(bundle.issue(1, "diagnostics").find("XML at line 1, column "),
                      std::string::npos);
            EXPECT_EQ(server.get("/Patient/b").status, 404);
            EXPECT_EQ(server.get("/Patient/c").status, 200);
        }
    }
}

TEST(Bundle, InXmlFailsAsAWholeWhereItIsATransactionOrMalformed) {
    TestService server;
    const Received transaction = submit_xml(server, xml_bundle("transaction"));
    EXPECT_EQ(transaction.status, 400);
    const Json outcome(transaction.body);
    EXPECT_EQ(outcome.issue("code"), "structure");
    EXPECT_TRUE(outcome.issue("diagnostics").starts_with("Bundle.entry[1] PUT Patient/b: 400 XML"))
        << transaction.body;
    EXPECT_NE(transaction.body.find(R"("expression":["Bundle.entry[1].resource.wrong"])"),
              std::string::npos)
        << transaction.body;
    EXPECT_EQ(submit_xml(server, xml_bundle("batch", "<!-- -- -->")).status, 400);
    EXPECT_EQ(submit_xml(server, xml_bundle("batch", "</wrong>")).status, 400);
    EXPECT_EQ(server.store().totals().versions, 0U);
}

TEST(Bundle, InXmlIsStoredOnlyIfAllOfItCanBeRead) {
    TestService server;
    const auto status = [&](std::string_view wrong) {
        return server
            .send({HttpMethod::post,
                   "/Bundle",
                   {},
                   xml_bundle("batch", wrong),
                   {{"Content-Type", "application/fhir+xml"}}})
            .status;
    };
    EXPECT_EQ(status("<wrong/>"), 400);
    EXPECT_EQ(status(""), 201);
}

TEST(Bundle, IsRefusedInAnotherMediaType) {
    TestService server;
    EXPECT_EQ(server
                  .send({HttpMethod::post,
                         "",
                         {},
                         bundle_of("batch", {}),
                         {{"Content-Type", "text/plain"}}})
                  .status,
              415);
}

}  // namespace
}  // namespace annals::core
