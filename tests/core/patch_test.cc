// PATCH by JSON Patch: what it answers, what it may not touch, and that no patch is lost among many.

#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <future>
#include <set>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";

/// A JSON Patch that adds the identifier "n7.", which is part of no other.
std::string add_identifier(int number) {
    return fmt::format(R"([{{"op":"add","path":"/identifier/-","value":{{"value":"n{}."}}}}])",
                       number);
}

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

    /// Parameters with one operation that replaces what `path` leads to with a string.
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
    const Answer two = patch("/Patient/1", R"([{"op":"add","path":"/gender","value":1},
                                               {"op":"add","path":"/active","value":"x"}])");
    EXPECT_EQ(two.status, 422);
    EXPECT_TRUE(two.says("Patient.gender") && two.says("Patient.active"));
    EXPECT_FALSE(two.says(R"("code":"structure")"));
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Patch, MakesNothingLargerThanABodyMayBe) {
    core::Config config;
    config.limits.max_body = 1000;
    restart(config);
    ASSERT_EQ(put_patient("1", std::string(600, 'x')), 201);
    const Answer answer =
        patch("/Patient/1", R"([{"op":"copy","from":"/name/0","path":"/name/1"}])");
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(answer.says("too large")) << answer.body;
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
        answers.push_back(std::async(std::launch::async,
                                     [&, i] { return patch("/Patient/1", add_identifier(i)); }));
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
            return send_on(its, "PATCH", "/Patient/1", add_identifier(i),
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
            return patch("/Patient?identifier=mrn%7C7", add_identifier(i));
        }));
    }
    for (std::future<Answer>& answer : answers) {
        EXPECT_EQ(answer.get().status, 200);
    }
    EXPECT_EQ(send("GET", "/Patient/1").etag, 41U);
}

}  // namespace
}  // namespace annals::test
