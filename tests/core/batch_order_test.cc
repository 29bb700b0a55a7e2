#include "tests/core/bundle_fixture.h"

#include <string>
#include <vector>

namespace annals::core {
namespace {

TEST(BatchOrder, LetsAnEntrySeeWhatEarlierOnesDid) {
    TestService server;
    std::vector<std::string> entries;
    for (int i = 0; i < 300; ++i) {
        entries.push_back(entry_of("PUT", "Patient/1", patient_json("1")));
        entries.push_back(entry_of("GET", "Patient/1"));
    }
    const Json bundle(server.submit(bundle_of("batch", entries)).body);
    for (std::size_t i = 0; i < 600; ++i) {
        ASSERT_EQ(bundle.entry(i)["response"]["etag"].string(),
                  "W/\"" + std::to_string(i / 2 + 1) + "\"");
    }
}

TEST(BatchOrder, LetsConditionalCreatesSeeEarlierCreates) {
    TestService server;
    const std::string body = patient_json("", R"("identifier":[{"value":"x"}])");
    const Json bundle(
        server
            .submit(bundle_of(
                "batch",
                {entry_of("POST", "Patient", body),
                 entry_of("POST", "Patient", body, {}, R"("ifNoneExist":"identifier=x")"),
                 entry_of("PUT", "Patient?identifier=x", patient_json("", R"("active":true)")),
                 entry_of("POST", "Patient", body, {}, R"("ifNoneExist":"identifier=x")")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200 200 201");
}

TEST(BatchOrder, LetsConditionalWritesAndUpdatesSeeEachOther) {
    const std::string known = patient_json("1", R"("identifier":[{"value":"x"}])");
    const std::string by_search = "Patient?identifier=x";
    const auto created = [&] {
        return entry_of("POST", "Patient", patient_json(""), {}, R"("ifNoneExist":"identifier=x")");
    };
    {
        TestService server;
        const Json bundle(
            server
                .submit(bundle_of("batch",
                                  {entry_of("PUT", "Patient/1", known), created(),
                                   entry_of("PUT", "Patient/1", patient_json("1")), created()}))
                .body);
        EXPECT_EQ(bundle.statuses(), "201 200 200 201");
    }
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "batch",
                {entry_of("PUT", "Patient/1", known), entry_of("PUT", by_search, known),
                 entry_of("PUT", "Patient/1", known), entry_of("PUT", by_search, patient_json("1")),
                 entry_of("GET", "Patient/1"), entry_of("DELETE", "Patient/1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200 200 200 200 204");
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(bundle.entry(i)["response"]["etag"].string(),
                  "W/\"" + std::to_string(i < 4 ? i + 1 : 4) + "\"");
    }
    EXPECT_EQ(server.store().totals().live, 0U);
}

TEST(BatchOrder, LetsADeletionSeeThatWhatReferredIsGone) {
    Config config;
    config.integrity_on_delete = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    server.put("/Observation/o",
               R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},)"
               R"("subject":{"reference":"Patient/1"}})");
    const Json bundle(server
                          .submit(bundle_of("batch", {entry_of("DELETE", "Patient/1"),
                                                      entry_of("DELETE", "Observation/o"),
                                                      entry_of("DELETE", "Patient/1")}))
                          .body);
    EXPECT_EQ(bundle.statuses(), "409 204 204");
}

TEST(BatchOrder, LetsConditionalPatchesSeeEarlierCreates) {
    const std::string patch =
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
        R"({"name":"type","valueCode":"delete"},{"name":"path","valueString":"Patient.name"}]}]})";
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "batch",
                {entry_of("POST", "Patient", patient_json("", R"("identifier":[{"value":"x"}])")),
                 entry_of("PATCH", "Patient?identifier=x", patch)}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200");
}

TEST(BatchOrder, SharesSyncsBetweenItsEntries) {
    TestService server;
    std::vector<std::string> entries(1000, entry_of("POST", "Patient", patient_json("")));
    const auto before = server.store().metrics().syncs;
    const Json bundle(server.submit(bundle_of("batch", entries)).body);
    EXPECT_EQ(server.store().totals().live, 1000U);
    EXPECT_LT(server.store().metrics().syncs - before, 200U);
}

TEST(BatchOrder, SharesSyncsBetweenWritesOfOneResource) {
    TestService server;
    std::vector<std::string> entries;
    std::string expected;
    for (int i = 0; i < 250; ++i) {
        const std::string version = std::to_string(4 * i + 1);
        entries.push_back(entry_of("PUT", "Patient/1", patient_json("1")));
        entries.push_back(entry_of("PUT", "Patient/1", patient_json("1"), {},
                                   R"("ifMatch":"W/\")" + version + R"(\"")"));
        entries.push_back(entry_of("PUT", "Patient/1", patient_json("1")));
        entries.push_back(entry_of("DELETE", "Patient/1"));
        expected += std::string(i == 0 ? "" : " ") + "201 200 200 204";
    }
    const auto before = server.store().metrics().syncs;
    const Json bundle(server.submit(bundle_of("batch", entries)).body);
    EXPECT_LT(server.store().metrics().syncs - before, 500U);
    EXPECT_EQ(bundle.statuses(), expected);
    std::size_t version = 0;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        ++version;
        ASSERT_EQ(entry["response"]["etag"].string(), "W/\"" + std::to_string(version) + "\"");
        if (version % 4 != 0) {
            ASSERT_EQ(entry["resource"]["meta"]["versionId"].string(), std::to_string(version));
        }
    }
}

TEST(BatchOrder, LetsPatchesAndReadsSeeTheWritesThatAreStillInFlight) {
    const std::string patch =
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
        R"({"name":"type","valueCode":"delete"},{"name":"path","valueString":"Patient.name"}]}]})";
    TestService server;
    // More than may be in flight.
    std::vector<std::string> entries(
        700, entry_of("PUT", "Patient/1", patient_json("1", R"("name":[{"text":"x"}])")));
    entries.push_back(entry_of("PATCH", "Patient/1", patch));
    entries.push_back(entry_of("GET", "Patient/1"));
    entries.push_back(entry_of("PUT", "Patient/1", patient_json("1")));
    entries.push_back(
        entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"701\"")"));
    entries.push_back(entry_of("DELETE", "Patient/1"));
    entries.push_back(entry_of("GET", "Patient/1"));
    const Json bundle(server.submit(bundle_of("batch", entries)).body);
    EXPECT_EQ(bundle.entry(699)["response"]["etag"].string(), "W/\"700\"");
    EXPECT_EQ(bundle.entry(700)["response"]["etag"].string(), "W/\"701\"");
    EXPECT_EQ(bundle.entry(701)["resource"]["meta"]["versionId"].string(), "701");
    EXPECT_FALSE(bundle.entry(701)["resource"]["name"]);
    EXPECT_EQ(bundle.entry(702)["response"]["etag"].string(), "W/\"702\"");
    EXPECT_EQ(bundle.status(703), "412");
    EXPECT_EQ(bundle.entry(704)["response"]["etag"].string(), "W/\"703\"");
    EXPECT_EQ(bundle.status(705), "410");
}

}  // namespace
}  // namespace annals::core
