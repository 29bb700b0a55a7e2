// PATCH by JSON Patch: what it answers, what it may not touch, and that no patch is lost among many.

#include "core/base/base64.h"
#include "tests/core/bundle_fixture.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <future>
#include <set>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";

class Patch : public ServiceFixture {
  protected:
    Answer patch(std::string_view target, std::string_view operations, Headers headers = {}) {
        headers.emplace_back("Content-Type", kJsonPatch);
        return send("PATCH", target, operations, headers);
    }
};

class ConditionalPatch : public Patch {};

class FhirpathPatch : public Patch {
  protected:
    Answer patch(std::string_view target, std::string_view parameters, Headers headers = {}) {
        headers.emplace_back("Content-Type", "application/fhir+json");
        return send("PATCH", target, parameters, headers);
    }

    /// Parameters with one operation that replaces what `path` leads to by a string.
    static std::string replace(std::string_view path, std::string_view value) {
        return fmt::format(R"({{"resourceType":"Parameters","parameter":[{{"name":"operation",)"
                           R"("part":[{{"name":"type","valueCode":"replace"}},)"
                           R"({{"name":"path","valueString":"{}"}},)"
                           R"({{"name":"value","valueString":"{}"}}]}}]}})",
                           path, value);
    }
};

TEST_F(Patch, GivesALiveResourceItsNextVersion) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer answer =
        patch("/Patient/1", R"([{"op":"replace","path":"/name/0/family","value":"New"}])");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_EQ(answer.location, "");
    EXPECT_EQ(answer.content_location, "/fhir/Patient/1/_history/2");
    EXPECT_TRUE(answer.says(R"("versionId":"2")"));
    EXPECT_TRUE(answer.says("New"));
    EXPECT_EQ(send("GET", "/Patient/1").body, answer.body);
    EXPECT_TRUE(send("GET", "/Patient/1/_history/1").says("Old"));
}

TEST_F(Patch, KeepsDigitsBytesAndOrder) {
    ASSERT_EQ(send("PUT", "/Observation/1",
                   R"({"id":"1","resourceType":"Observation","meta":{"tag":[{"code":"a"}]},)"
                   R"("status":"final","code":{"text":"\u00e9\/"},)"
                   R"("valueQuantity":{"value":1.00,"unit":"kg"}})")
                  .status,
              201);
    const Answer answer = patch("/Observation/1", R"([{"op":"add","path":"/bodySite","value":{}},
                                     {"op":"add","path":"/bodySite/text","value":"\u0061"}])");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body.starts_with(R"({"id":"1","resourceType":"Observation","meta":{)"));
    EXPECT_TRUE(answer.body.ends_with(
        R"("status":"final","code":{"text":"\u00e9\/"},"valueQuantity":{"value":1.00,"unit":"kg"},)"
        R"("bodySite":{"text":"\u0061"}})"));
}

TEST_F(Patch, WithoutOperationsMakesAVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(patch("/Patient/1", "[]").etag, 2U);
}

TEST_F(Patch, IsAnsweredAsPreferred) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer minimal = patch("/Patient/1", "[]", {{"Prefer", "return=minimal"}});
    EXPECT_EQ(minimal.status, 200);
    EXPECT_EQ(minimal.body, "");
    EXPECT_EQ(minimal.etag, 2U);
    EXPECT_TRUE(patch("/Patient/1", "[]", {{"Prefer", "return=OperationOutcome"}})
                    .says("Patient/1 updated as version 3"));
}

TEST_F(Patch, AppliesAllOperationsOrNone) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer answer =
        patch("/Patient/1", R"([{"op":"replace","path":"/name/0/family","value":"New"},
                                {"op":"remove","path":"/gender"}])");
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(answer.says(R"("code":"invalid")"));
    EXPECT_TRUE(answer.says("operation 1 (remove /gender)"));
    EXPECT_TRUE(answer.says(R"("expression":["Patient.gender"])"));
    const Answer read = send("GET", "/Patient/1");
    EXPECT_EQ(read.etag, 1U);
    EXPECT_TRUE(read.says("Old"));
}

TEST_F(Patch, AnswersAFailedTestWith422) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer answer =
        patch("/Patient/1", R"([{"op":"test","path":"/name/0/family","value":"Other"}])");
    EXPECT_EQ(answer.status, 422);
    EXPECT_TRUE(answer.says(R"("code":"processing")"));
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Patch, RefusesWhatIsNoPatch) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(patch("/Patient/1", "").status, 400);
    EXPECT_EQ(patch("/Patient/1", "[").status, 400);
    EXPECT_EQ(patch("/Patient/1", "{}").status, 400);
    EXPECT_EQ(patch("/Patient/1", R"([{"op":"add","op":"add","path":"/a","value":1}])").status,
              400);
}

TEST_F(Patch, LeavesWhatTheServerDecidesAlone) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string_view operation : {
             R"({"op":"replace","path":"/id","value":"2"})",
             R"({"op":"remove","path":"/id"})",
             R"({"op":"replace","path":"/resourceType","value":"Person"})",
             R"({"op":"remove","path":"/resourceType"})",
             R"({"op":"replace","path":"/meta/versionId","value":"9"})",
             R"({"op":"remove","path":"/meta/versionId"})",
             R"({"op":"remove","path":"/meta/lastUpdated"})",
             R"({"op":"replace","path":"/meta/lastUpdated","value":"2020-01-01T00:00:00Z"})",
             R"({"op":"replace","path":"","value":[]})",
             R"({"op":"replace","path":"","value":{"resourceType":"Patient","id":"2"}})",
         }) {
        const Answer answer = patch("/Patient/1", fmt::format("[{}]", operation));
        EXPECT_EQ(answer.status, 400) << operation;
        EXPECT_TRUE(answer.says(R"("code":"invalid")")) << operation;
    }
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Patch, MayReplaceMetaAsAWhole) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer answer =
        patch("/Patient/1", R"([{"op":"replace","path":"/meta","value":{"tag":[{"code":"a"}]}}])");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("versionId":"2")"));
    EXPECT_TRUE(answer.says(R"("tag":[{"code":"a"}])"));
    EXPECT_EQ(patch("/Patient/1", R"([{"op":"remove","path":"/meta"}])").etag, 3U);
}

TEST_F(Patch, AnswersAResultThatCannotBeStoredWith422) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer answer = patch("/Patient/1", R"([{"op":"add","path":"/meta","value":"text"}])");
    EXPECT_EQ(answer.status, 422);
    EXPECT_TRUE(answer.says(R"("code":"business-rule")"));
    EXPECT_TRUE(answer.says(R"("expression":["Patient.meta"])"));
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Patch, OfWhatIsNotThereAnswers404Or410) {
    EXPECT_EQ(patch("/Patient/1", "[]").status, 404);
    EXPECT_EQ(patch("/Patient/1", "[]", {{"If-Match", "1"}}).status, 404);
    EXPECT_EQ(patch("/Patient/a_b", "[]").status, 404);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    const Answer deleted = patch("/Patient/1", "[]");
    EXPECT_EQ(deleted.status, 410);
    EXPECT_EQ(deleted.etag, 2U);
}

TEST_F(Patch, HonoursIfMatch) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer stale = patch("/Patient/1", "[]", {{"If-Match", "W/\"7\""}});
    EXPECT_EQ(stale.status, 412);
    EXPECT_TRUE(stale.says("If-Match: expected version 7, actual version 1"));
    EXPECT_EQ(patch("/Patient/1", "[]", {{"If-Match", "W/\"1\""}}).etag, 2U);
    EXPECT_EQ(patch("/Patient/1", "[]", {{"If-Match", "*"}}).etag, 3U);
    EXPECT_EQ(patch("/Patient/1", "[]", {{"If-Match", "W/3"}}).status, 400);
}

TEST_F(Patch, HonoursIfNoneMatchAndIfUnmodifiedSince) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string target : {"/Patient/1", "/Patient?_id=1"}) {
        EXPECT_EQ(patch(target, "[]", {{"If-None-Match", "*"}}).status, 412);
        EXPECT_EQ(patch(target, "[]", {{"If-None-Match", "W/\"1\""}}).status, 412);
        EXPECT_EQ(
            patch(target, "[]", {{"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"}}).status,
            412);
    }
    EXPECT_EQ(store().totals().versions, 1U);
    EXPECT_EQ(patch("/Patient/1", "[]", {{"If-None-Match", "W/\"7\""}}).etag, 2U);
    EXPECT_EQ(
        patch("/Patient/1", "[]", {{"If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"}}).etag,
        3U);
}

TEST_F(Patch, SaysWhatItTakes) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const ServiceFixture::Headers& headers :
         {Headers{}, Headers{{"Content-Type", "text/plain"}},
          Headers{{"Content-Type", "application/x-www-form-urlencoded"}},
          Headers{{"Content-Type", "application/fhir+json; fhirVersion=3.0"}},
          Headers{{"Content-Type", "application/json-patch+json; charset=latin1"}}}) {
        const Answer answer = send("PATCH", "/Patient/1", "[]", headers);
        EXPECT_EQ(answer.status, 415);
        ASSERT_EQ(answer.headers.size(), 1U);
        EXPECT_EQ(answer.headers[0].first, "Accept-Patch");
    }
    EXPECT_EQ(send("PATCH", "/Patient/1", "[]",
                   {{"Content-Type", "Application/JSON-Patch+JSON; charset=utf-8"}})
                  .status,
              200);
}

TEST_F(Patch, ShowsItsVersionsInHistory) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(patch("/Patient/1", "[]").status, 200);
    const Answer history = send("GET", "/Patient/1/_history");
    EXPECT_TRUE(history.says(R"("total":2)"));
    EXPECT_TRUE(history.says(R"("request":{"method":"PUT","url":"Patient/1"})"));
}

TEST_F(Patch, RefusesReferencesToNothingWhereTheyAreChecked) {
    core::Config config;
    config.integrity_on_write = true;
    restart(config);
    ASSERT_EQ(put_patient("1"), 201);
    const auto managed_by = [&](std::string_view reference) {
        return patch("/Patient/1", fmt::format(R"([{{"op":"add","path":"/managingOrganization",)"
                                               R"("value":{{"reference":"{}"}}}}])",
                                               reference))
            .status;
    };
    EXPECT_EQ(managed_by("Organization/1"), 409);
    EXPECT_EQ(managed_by("Patient/1"), 200);
}

TEST_F(Patch, LosesNoneOfManyAtOnce) {
    constexpr int kClients = 150;
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < kClients; ++i) {
        answers.push_back(std::async(std::launch::async, [&, i] {
            return patch("/Patient/1",
                         fmt::format(R"([{{"op":"add","path":"/identifier/-","value":)"
                                     R"({{"value":"n{}."}}}}])",
                                     i));
        }));
    }
    std::set<std::uint64_t> versions;
    for (std::future<Answer>& answer : answers) {
        const Answer got = answer.get();
        EXPECT_EQ(got.status, 200) << got.body;
        versions.insert(got.etag);
    }
    EXPECT_EQ(versions.size(), std::size_t{kClients});
    const Answer read = send("GET", "/Patient/1");
    EXPECT_EQ(read.etag, 1U + kClients);
    for (int i = 0; i < kClients; ++i) {
        EXPECT_TRUE(read.says(fmt::format(R"("n{}.")", i)));
    }
}

TEST_F(Patch, LosesNoneOfManyOnSeveralLoops) {
    constexpr int kClients = 150;
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    core::Loop second(store());
    core::Loop third(store());
    std::thread of_second([&] { second.run(); });
    std::thread of_third([&] { third.run(); });
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < kClients; ++i) {
        core::Loop& its = i % 3 == 0 ? loop() : i % 3 == 1 ? second : third;
        answers.push_back(std::async(std::launch::async, [&, i] {
            return send_on(its, "PATCH", "/Patient/1",
                           fmt::format(R"([{{"op":"add","path":"/identifier/-","value":)"
                                       R"({{"value":"n{}."}}}}])",
                                       i),
                           {{"Content-Type", std::string(kJsonPatch)}});
        }));
    }
    for (std::future<Answer>& answer : answers) {
        const Answer got = answer.get();
        EXPECT_EQ(got.status, 200) << got.body;
    }
    const Answer read = send("GET", "/Patient/1");
    EXPECT_EQ(read.etag, 1U + kClients);
    for (int i = 0; i < kClients; ++i) {
        EXPECT_TRUE(read.says(fmt::format(R"("n{}.")", i)));
    }
    second.stop();
    third.stop();
    of_second.join();
    of_third.join();
}

TEST_F(Patch, OfManyWithOneIfMatchOneWins) {
    ASSERT_EQ(put_patient("1"), 201);
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < 20; ++i) {
        answers.push_back(std::async(
            std::launch::async, [&] { return patch("/Patient/1", "[]", {{"If-Match", "1"}}); }));
    }
    int done = 0;
    for (std::future<Answer>& answer : answers) {
        const int status = answer.get().status;
        EXPECT_TRUE(status == 200 || status == 412) << status;
        done += status == 200 ? 1 : 0;
    }
    EXPECT_EQ(done, 1);
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(FhirpathPatch, GivesALiveResourceItsNextVersion) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer answer = patch("/Patient/1", replace("Patient.name[0].family", "New"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_EQ(answer.content_location, "/fhir/Patient/1/_history/2");
    EXPECT_TRUE(answer.says("New"));
    EXPECT_EQ(patch("/Patient/1", R"({"resourceType":"Parameters"})").etag, 3U);
    EXPECT_EQ(send("PATCH", "/Patient/1", R"({"resourceType":"Parameters"})",
                   {{"Content-Type", "application/json"}})
                  .etag,
              4U);
}

TEST_F(FhirpathPatch, SaysWhatIsWrong) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer nowhere = patch("/Patient/1", replace("Patient.gender", "male"));
    EXPECT_EQ(nowhere.status, 400);
    EXPECT_TRUE(nowhere.says(R"("code":"invalid")"));
    EXPECT_TRUE(nowhere.says("operation 0 (replace Patient.gender)"));
    EXPECT_TRUE(nowhere.says(R"("expression":["Patient.gender"])"));
    EXPECT_EQ(patch("/Patient/1", replace("Patient.name[", "x")).status, 400);
    EXPECT_EQ(patch("/Patient/1", replace("Patient.id", "2")).status, 400);
    EXPECT_EQ(patch("/Patient/1", replace("Patient.meta.versionId", "2")).status, 400);
    EXPECT_EQ(patch("/Patient/1", patient("1")).status, 400);
    EXPECT_EQ(patch("/Patient/1", "[]").status, 400);
    EXPECT_EQ(patch("/Patient/2", replace("Patient.gender", "male")).status, 404);
    EXPECT_EQ(patch("/Patient/1", replace("Patient.gender", "male"), {{"If-Match", "7"}}).status,
              412);
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(ConditionalPatch, PatchesTheOneMatch) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    const Answer answer =
        patch("/Patient?identifier=mrn%7C7", R"([{"op":"add","path":"/active","value":true}])");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_location, "/fhir/Patient/1/_history/2");
    EXPECT_EQ(patch("/Patient?_id=1", "[]").etag, 3U);
    EXPECT_EQ(patch("/Patient?_id=1", "[]", {{"If-Match", "2"}}).status, 412);
}

TEST_F(ConditionalPatch, NeedsExactlyOneMatch) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/2", patient_with("2", {{"mrn", "7"}})).status, 201);
    EXPECT_EQ(patch("/Patient?identifier=mrn%7C8", "[]").status, 404);
    const Answer several = patch("/Patient?identifier=mrn%7C7", "[]");
    EXPECT_EQ(several.status, 412);
    EXPECT_TRUE(several.says(R"("code":"multiple-matches")"));
    EXPECT_EQ(patch("/Patient", "[]").status, 400);
    EXPECT_EQ(patch("/Patient?nothing=x", "[]").status, 400);
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(ConditionalPatch, LosesNoneOfManyAtOnce) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    std::vector<std::future<Answer>> answers;
    for (int i = 0; i < 40; ++i) {
        answers.push_back(std::async(std::launch::async, [&, i] {
            return patch("/Patient?identifier=mrn%7C7",
                         fmt::format(R"([{{"op":"add","path":"/identifier/-","value":)"
                                     R"({{"value":"n{}."}}}}])",
                                     i));
        }));
    }
    for (std::future<Answer>& answer : answers) {
        EXPECT_EQ(answer.get().status, 200);
    }
    EXPECT_EQ(send("GET", "/Patient/1").etag, 41U);
}

}  // namespace
}  // namespace annals::test

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
        entries.push_back(patch_entry("Patient/1", fmt::format(R"([{{"op":"add","path":)"
                                                               R"("/identifier/-","value":)"
                                                               R"({{"value":"{}"}}}}])",
                                                               i)));
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

/// Compares a patient's names with one another, which takes milliseconds. `negation`: ".not()", so that it leads nowhere.
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
    // Neither waits for the device.
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
    // Later criteria see what it made.
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
                       bundle_of("transaction",
                                 {patch_entry("Patient/1", fmt::format(R"([{{"op":"add","path":)"
                                                                       R"("/identifier/-","value":)"
                                                                       R"({{"value":"{}"}}}}])",
                                                                       i))})});
    }
    for (const Received& answer : server.send_all(all)) {
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    EXPECT_EQ(Json(server.get("/Patient/1").body).root()["identifier"].size(), 41U);
}

}  // namespace
}  // namespace annals::core
