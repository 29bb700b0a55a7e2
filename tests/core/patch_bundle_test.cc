// PATCH as an entry of a batch or a transaction: what it answers, and that no patch is lost among many.

#include "core/base/base64.h"
#include "tests/core/bundle_fixture.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

/// A PATCH entry with a Binary that holds `operations`.
std::string patch_entry(std::string_view url, std::string_view operations,
                        std::string_view more_of_request = {},
                        std::string_view type = "application/json-patch+json") {
    std::string data;
    append_base64(operations, data);
    return entry_of(
        "PATCH", url,
        fmt::format(R"({{"resourceType":"Binary","contentType":"{}","data":"{}"}})", type, data),
        {}, more_of_request);
}

/// A JSON Patch that adds an identifier.
std::string add_identifier(int value) {
    return fmt::format(R"([{{"op":"add","path":"/identifier/-","value":{{"value":"{}"}}}}])",
                       value);
}

constexpr std::string_view kActivate = R"([{"op":"add","path":"/active","value":true}])";

bool is_active(TestService& server, std::string path) {
    return Json(server.get(std::move(path)).body).root()["active"].raw() == "true";
}

TEST(PatchInABatch, IsAnsweredAsAlone) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"7"}])"));
    const Received answer = server.submit(bundle_of(
        "batch",
        {patch_entry("Patient/1", kActivate), patch_entry("Patient/2", kActivate),
         patch_entry("Patient?identifier=7", "[]"),
         patch_entry("Patient/1", "[]", R"("ifMatch":"W/\"1\"")"),
         patch_entry("Patient/1", R"([{"op":"test","path":"/active","value":false}])"),
         patch_entry("Patient/1", "[]", {}, "text/plain"), entry_of("PATCH", "Patient/1"),
         entry_of("PATCH", "Patient/1",
                  R"({"resourceType":"Binary","contentType":"application/json-patch+json",)"
                  R"("data":"a"})"),
         entry_of("GET", "Patient/1")}));
    const Json bundle(answer.body);
    EXPECT_EQ(bundle.statuses(), "200 404 200 412 422 415 400 400 200");
    EXPECT_TRUE(bundle.entry(0)["resource"]["active"]);
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(bundle.entry(8)["response"]["etag"].string(), "W/\"3\"");
    EXPECT_TRUE(is_active(server, "/Patient/1"));
}

TEST(PatchInABatch, LosesNoneOfMany) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"first"}])"));
    std::vector<std::string> entries;
    for (int i = 0; i < 100; ++i) {
        entries.push_back(patch_entry("Patient/1", add_identifier(i)));
    }
    server.submit(bundle_of("batch", entries));
    EXPECT_EQ(Json(server.get("/Patient/1").body).root()["identifier"].size(), 101U);
}

TEST(PatchInABatch, MayBeParameters) {
    constexpr std::string_view kParameters =
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
        R"({"name":"type","valueCode":"add"},{"name":"path","valueString":"Patient"},)"
        R"({"name":"name","valueString":"active"},{"name":"value","valueBoolean":true}]}]})";
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/2", patient_json("2"));
    const Received batch =
        server.submit(bundle_of("batch", {entry_of("PATCH", "Patient/1", kParameters)}));
    EXPECT_EQ(Json(batch.body).statuses(), "200");
    const Received transaction =
        server.submit(bundle_of("transaction", {entry_of("PATCH", "Patient/2", kParameters)}));
    EXPECT_EQ(Json(transaction.body).statuses(), "200") << transaction.body;
    EXPECT_TRUE(is_active(server, "/Patient/1") && is_active(server, "/Patient/2"));
}

TEST(PatchInABatch, NeedsItsTypeAndItsContent) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    for (const std::string_view binary :
         {R"({"resourceType":"Binary","contentType":"application/json-patch+json"})",
          R"({"resourceType":"Binary","contentType":"application/json-patch+json","data":"A"})",
          R"({"resourceType":"Binary","data":"W10="})"}) {
        const Json bundle(
            server.submit(bundle_of("batch", {entry_of("PATCH", "Patient/1", binary)})).body);
        EXPECT_EQ(bundle.statuses(), "400") << binary;
        EXPECT_EQ(bundle.issue(0, "code"), "value") << binary;
    }
}

TEST(PatchInABatch, MayBeXmlInABinary) {
    constexpr std::string_view kParameters =
        R"(<Parameters xmlns="http://hl7.org/fhir"><parameter><name value="operation"/>)"
        R"(<part><name value="type"/><valueCode value="add"/></part>)"
        R"(<part><name value="path"/><valueString value="Patient"/></part>)"
        R"(<part><name value="name"/><valueString value="active"/></part>)"
        R"(<part><name value="value"/><valueBoolean value="true"/></part>)"
        R"(</parameter></Parameters>)";
    constexpr std::string_view kXml = "application/fhir+xml";
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/2", patient_json("2"));
    const Received batch =
        server.submit(bundle_of("batch", {patch_entry("Patient/1", kParameters, {}, kXml),
                                          patch_entry("Patient/1", "<Parameters", {}, kXml)}));
    EXPECT_EQ(Json(batch.body).statuses(), "200 400");
    const Received transaction =
        server.submit(bundle_of("transaction", {patch_entry("Patient/2", kParameters, {}, kXml)}));
    EXPECT_EQ(Json(transaction.body).statuses(), "200") << transaction.body;
    EXPECT_TRUE(is_active(server, "/Patient/1") && is_active(server, "/Patient/2"));
}

/// A patch that compares a patient's names with one another, which takes
/// milliseconds. With `negation` ".not()", its path leads nowhere.
std::string slow_patch(std::string_view negation) {
    const std::string path = fmt::format(
        "Patient.active.where(%resource.name.given.all($this in %resource.name.given){})",
        negation);
    return fmt::format(
        R"({{"resourceType":"Parameters","parameter":[{{"name":"operation","part":[)"
        R"({{"name":"type","valueCode":"replace"}},{{"name":"path","valueString":"{}"}},)"
        R"({{"name":"value","valueBoolean":false}}]}}]}})",
        path);
}

TEST(PatchInABundle, LetsOthersHaveTheirTurnsBetweenTheEntries) {
    std::string names = R"("active":true,"name":[{"given":["a")";
    for (int i = 0; i < 300; ++i) {
        names += fmt::format(R"(,"{}")", i);
    }
    names += "]}]";
    TestService server;
    std::vector<std::string> batch;
    std::vector<std::string> transaction;
    for (int i = 0; i < 15; ++i) {
        const std::string id = std::to_string(i);
        server.put("/Patient/" + id, patient_json(id, names));
        batch.push_back(entry_of("PATCH", "Patient/" + id, slow_patch(".not()")));
        transaction.push_back(entry_of("PATCH", "Patient/" + id, slow_patch("")));
    }
    transaction.push_back(entry_of("PATCH", "Patient/absent", slow_patch("")));
    // Neither Bundle waits for the device.
    const std::vector<std::pair<std::string, int>> cases{
        {bundle_of("batch", batch), 200}, {bundle_of("transaction", transaction), 400}};
    for (const auto& [bundle, status] : cases) {
        const std::vector<Received> answers =
            server.send_all({{HttpMethod::post, "", {}, bundle}, {HttpMethod::get, "/Patient/1"}});
        EXPECT_EQ(answers[0].status, status) << answers[0].body.substr(0, 500);
        EXPECT_EQ(answers[1].status, 200);
        EXPECT_LT(answers[1].place, answers[0].place);
    }
}

TEST(PatchInATransaction, IsPartOfItsCommit) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Received answer = server.submit(bundle_of(
        "transaction",
        {patch_entry("Patient/1",
                     R"([{"op":"add","path":"/managingOrganization","value":)"
                     R"({"reference":"urn:uuid:o"}}])",
                     R"("ifMatch":"W/\"1\"")"),
         entry_of("PUT", "Organization/o", R"({"resourceType":"Organization","id":"o","name":"O"})",
                  R"("fullUrl":"urn:uuid:o")")}));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const Json bundle(answer.body);
    EXPECT_EQ(bundle.statuses(), "200 201");
    const json::Value patched = bundle.entry(0)["resource"];
    EXPECT_EQ(patched["managingOrganization"]["reference"].string(), "Organization/o");
    EXPECT_EQ(patched["meta"]["versionId"].string(), "2");
    EXPECT_EQ(bundle.entry(0)["response"]["lastModified"].string(),
              bundle.entry(1)["response"]["lastModified"].string());
}

TEST(PatchInATransaction, FindsItsResourceByCriteria) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"7"}])"));
    EXPECT_EQ(
        server.submit(bundle_of("transaction", {patch_entry("Patient?identifier=7", kActivate)}))
            .status,
        200);
    EXPECT_TRUE(is_active(server, "/Patient/1"));
    // Later criteria see the patched resource.
    const Received answer = server.submit(bundle_of(
        "transaction",
        {patch_entry("Patient/1", R"([{"op":"replace","path":"/identifier/0/value","value":"8"}])"),
         entry_of("POST", "Observation",
                  R"({"resourceType":"Observation","status":"final","code":{"text":"x"},)"
                  R"("subject":{"reference":"Patient?identifier=8"}})")}));
    EXPECT_EQ(answer.status, 200) << answer.body;
}

TEST(PatchInATransaction, FailsTheWhole) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/gone", patient_json("gone"));
    server.send({HttpMethod::delete_, "/Patient/gone"});

    struct Case {
        std::vector<std::string> entries;
        std::string_view code;
        std::string_view diagnostics;
    };

    const std::vector<Case> cases = {
        {{patch_entry("Patient/2", kActivate)}, "not-found", "entry[1] PATCH Patient/2: 404"},
        {{patch_entry("Patient/gone", kActivate)}, "deleted", ": 410"},
        {{patch_entry("Patient?identifier=9", kActivate)}, "not-found", ": 404"},
        {{patch_entry("Patient/1", "[]", R"("ifMatch":"W/\"5\"")")}, "conflict", ": 412"},
        {{patch_entry("Patient/1", "[]", R"("ifNoneMatch":"*")")}, "conflict", ": 412"},
        {{patch_entry("Patient/1", R"([{"op":"test","path":"/active","value":true}])")},
         "processing",
         ": 422"},
        {{patch_entry("Patient/1", R"([{"op":"add","path":"/meta","value":1}])")},
         "business-rule",
         ": 422"},
        {{patch_entry("Patient/1", R"([{"op":"remove","path":"/id"}])")}, "invalid", ": 400"},
        {{patch_entry("Patient/1", "[]"), patch_entry("Patient/1", "[]")},
         "invalid",
         "written by Bundle.entry[1] already"},
        {{entry_of("PUT", "Patient/1", patient_json("1")), patch_entry("Patient/1", "[]")},
         "invalid",
         "written by Bundle.entry[1] already"},
        {{entry_of("DELETE", "Patient/1"), patch_entry("Patient/1", "[]")},
         "invalid",
         "written by Bundle.entry[1] already"},
    };
    for (const Case& one : cases) {
        std::vector<std::string> entries = {entry_of("PUT", "Patient/new", patient_json("new"))};
        entries.insert(entries.end(), one.entries.begin(), one.entries.end());
        const Received answer = server.submit(bundle_of("transaction", entries));
        EXPECT_EQ(answer.status, 400);
        const Json outcome(answer.body);
        EXPECT_EQ(outcome.issue("code"), one.code) << answer.body;
        EXPECT_NE(outcome.issue("diagnostics").find(one.diagnostics), std::string::npos)
            << answer.body;
        EXPECT_EQ(server.get("/Patient/new").status, 404);
    }
}

TEST(PatchInATransaction, LosesNoneOfManyAtOnce) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"first"}])"));
    std::vector<Sent> all;
    for (int i = 0; i < 40; ++i) {
        all.push_back({HttpMethod::post,
                       "",
                       {},
                       bundle_of("transaction", {patch_entry("Patient/1", add_identifier(i))})});
    }
    for (const Received& answer : server.send_all(all)) {
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    EXPECT_EQ(Json(server.get("/Patient/1").body).root()["identifier"].size(), 41U);
}

}  // namespace
}  // namespace annals::core
