// The resource, version and instant of an entry in a history bundle, and which entries are refused.

#include "core/interactions/history_bundle_entry.h"

#include "tests/core/history_bundle_fixture.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

TEST(HistoryBundleEntry, TakesEitherMarkOfADeletion) {
    TestService server;
    post_history(server, {version_entry("1", 1), version_entry("2", 1), version_entry("3", 1)});
    const Json bundle = post_history(
        server,
        {R"({"request":{"method":"DELETE","url":"Patient/1"}})",
         R"({"fullUrl":"http://a/fhir/Patient/2","response":{"status":"410"}})",
         R"({"resource":)" + version_body("3", 2) +
             R"(,"request":{"method":"PUT","url":"Patient/3"},"response":{"status":"410 Gone"}})",
         R"({"request":{"method":"DELETE","url":"Patient/1"}})",
         R"({"request":{"method":"DELETE","url":"Patient/absent"}})"});
    EXPECT_EQ(bundle.statuses(), "204 204 204 204 204");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(server.get("/Patient/1").status, 410);
    EXPECT_EQ(server.get("/Patient/2").status, 410);
    EXPECT_EQ(server.get("/Patient/3").status, 410);
    EXPECT_EQ(server.get("/Patient/absent").status, 404);
    EXPECT_EQ(server.store().totals().versions, 6U);
}

TEST(HistoryBundleEntry, RefusesADeletionThatNamesTwoResources) {
    TestService server;
    post_history(server, {version_entry("1", 1), version_entry("2", 1), version_entry("3", 1)});
    const std::string gone = R"("response":{"status":"410 Gone"})";
    const Json bundle = post_history(
        server, {entry_of("DELETE", "Patient/1", version_body("2", 2)),
                 entry_of("DELETE", "Patient/1", R"({"resourceType":"Observation"})"),
                 entry_of("DELETE", "Patient/1", {}, R"("fullUrl":"http://a/fhir/Patient/2")"),
                 R"({"fullUrl":"http://a/fhir/Patient/3/_history/2","resource":)" +
                     version_body("1", 2) + "," + gone + "}",
                 entry_of("DELETE", "Patient/3", R"({"resourceType":"Patient"})",
                          R"("fullUrl":"urn:uuid:2")")});
    EXPECT_EQ(bundle.statuses(), "400 400 400 400 204");
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(bundle.issue(i, "code"), "invalid");
    }
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{1});
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{1});
    EXPECT_EQ(server.get("/Patient/3").status, 410);
}

TEST(HistoryBundleEntry, TakesNoCriteriaForTheResourceInThem) {
    TestService server;
    post_history(server, {version_entry("1", 1), version_entry("2", 1)});
    const std::string criteria = "Observation?subject=http://a/fhir/Patient/1";
    const Json bundle = post_history(
        server, {entry_of("DELETE", criteria),
                 entry_of("DELETE", criteria, {}, R"("fullUrl":"http://a/fhir/Patient/2")"),
                 entry_of("PUT", criteria, R"({"resourceType":"Patient"})")});
    EXPECT_EQ(bundle.statuses(), "400 204 400");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{1});
    EXPECT_EQ(server.get("/Patient/2").status, 410);
}

TEST(HistoryBundleEntry, TakesWhatItStoresForTheResourceThatItSays) {
    TestService server;
    const Json bundle =
        post_history(server, {entry_of("PUT", "Patient/2", version_body("1", 1),
                                       R"("fullUrl":"http://a/fhir/Patient/2/_history/1")")});
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_EQ(server.get("/Patient/1").status, 200);
    EXPECT_EQ(server.get("/Patient/2").status, 404);
}

TEST(HistoryBundleEntry, StoresNoRemarkOfTheServerThatWasAsked) {
    TestService server;
    const Json bundle = post_history(
        server,
        {R"({"resource":{"resourceType":"OperationOutcome","id":"r","issue":[{"severity":"warning","code":"not-supported"}]},"search":{"mode":"outcome"}})",
         R"({"search":{"mode":"match"},"resource":)" + version_body("1", 1) + "}"});
    EXPECT_EQ(bundle.statuses(), "400 201");
    EXPECT_EQ(bundle.issue(0, "code"), "invalid");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(HistoryBundleEntry, SaysThatAVersionIsBeyondTheLastNumber) {
    TestService server;
    const std::string unnumbered = R"({"resource":{"resourceType":"Patient","id":"1"}})";
    const std::string deletion = R"({"request":{"method":"DELETE","url":"Patient/1"}})";
    const auto numbered = [](std::string_view digits) {
        return R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":")" +
               std::string(digits) + R"("}}})";
    };
    const Json bundle =
        post_history(server, {numbered("4294967296"), numbered("99999999999999999999999"),
                              numbered("4294967295"), unnumbered, deletion, numbered("4294967295"),
                              version_entry("2", 1)});
    EXPECT_EQ(bundle.statuses(), "400 400 201 400 400 200 201");
    for (const std::size_t refused : {0U, 1U, 3U, 4U}) {
        EXPECT_EQ(bundle.issue(refused, "code"), "value");
        EXPECT_NE(bundle.issue(refused, "diagnostics").find("4294967295"), std::string::npos);
    }
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{0xffff'ffff});
}

TEST(HistoryBundleEntry, FindsTheVersionWhereverItStands) {
    TestService server;
    const std::string bare = R"("resource":{"resourceType":"Patient","id":")";
    const Json bundle = post_history(
        server,
        {"{" + bare +
             R"(1"},"response":{"status":"200","etag":"W/\"7\"","lastModified":"2020-01-02T03:04:05Z"}})",
         "{" + bare + R"(2"},"fullUrl":"http://a/fhir/Patient/2/_history/8"})",
         "{" + bare +
             R"(3"},"response":{"status":"200","location":"http://a/fhir/Patient/3/_history/9"}})",
         "{" + bare + R"(4"}})", "{" + bare + R"(4"}})"});
    EXPECT_EQ(bundle.statuses(), "201 201 201 201 200");
    EXPECT_EQ(
        server.get("/Patient/1").body,
        R"({"resourceType":"Patient","id":"1","meta":{"versionId":"7","lastUpdated":"2020-01-02T03:04:05Z"}})");
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{8});
    EXPECT_EQ(server.get("/Patient/3").etag, VersionNumber{9});
    EXPECT_EQ(server.get("/Patient/4").etag, VersionNumber{2});
}

TEST(HistoryBundleEntry, IdentifiesAResourceWithoutAnIdByItsUrls) {
    TestService server;
    const std::string bare = R"("resource":{"resourceType":"Patient"})";
    const Json bundle = post_history(
        server,
        {"{" + bare + R"(,"request":{"method":"PUT","url":"Patient\/1"}})",
         "{" + bare +
             R"(,"fullUrl":"http://a/fhir/Patient/2/_history/1","request":{"method":"POST","url":"Patient"}})",
         "{" + bare + R"(,"request":{"method":"PUT","url":"Observation/3"}})"});
    EXPECT_EQ(bundle.statuses(), "201 201 400");
    EXPECT_EQ(Json(server.get("/Patient/1").body).root()["id"].string(), "1");
    EXPECT_EQ(server.get("/Patient/2").status, 200);
}

TEST(HistoryBundleEntry, RefusesEntriesThatCannotBeUsedAndGoesOn) {
    TestService server;
    const std::vector<std::string> entries{
        "1",
        "{}",
        R"({"resource":1})",
        R"({"resource":{}})",
        R"({"resource":{"resourceType":"Nothing","id":"1"}})",
        R"({"resource":{"resourceType":"Patient"}})",
        R"({"resource":{"resourceType":"Patient","id":"a_b"}})",
        R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"x"}}})",
        R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"0"}}})",
        R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"01"}}})",
        R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"4294967296"}}})",
        R"({"resource":{"resourceType":"Patient","id":"1","meta":{"lastUpdated":"yesterday"}}})",
        R"({"resource":{"resourceType":"Patient","id":"1"},"response":{"etag":"W/\"uuid\""}})",
        R"({"resource":{"resourceType":"Patient","id":"1"},"response":{"lastModified":"x"}})",
        R"({"resource":{"resourceType":"Patient","id":"1"},"response":1})",
        R"({"request":{"method":"DELETE","url":"Patient"}})",
        version_entry("1", 1)};
    const Json bundle = post_history(server, entries);
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
        EXPECT_EQ(bundle.status(i), "400") << entries[i];
        EXPECT_EQ(bundle.issue(i, "severity"), "error");
        EXPECT_FALSE(bundle.issue(i, "diagnostics").empty());
    }
    EXPECT_EQ(bundle.status(entries.size() - 1), "201");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(HistoryBundleEntry, SaysOfWhatTypeNothingIsNamed) {
    TestService server;
    const Json bundle = post_history(
        server,
        {R"({"resource":{"resourceType":"Binary"},"request":{"method":"PATCH","url":"Patient/1"}})",
         R"({"request":{"method":"DELETE","url":"Nothing/1"}})"});
    EXPECT_EQ(bundle.issue(0, "diagnostics"),
              "neither resource.id nor request.url nor fullUrl names a Binary");
    EXPECT_EQ(bundle.issue(1, "diagnostics"),
              "neither resource.id nor request.url nor fullUrl names a resource");
}

TEST(HistoryBundleEntry, TakesEscapesInWhatIdentifiesAVersion) {
    TestService server;
    const Json bundle = post_history(
        server,
        {R"({"resource":{"resourceType":"Patient","id":"\u0061","meta":{"versionId":"\u0031","lastUpdated":"2020-01-01T00:00:00\u002B02:00"}}})"});
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_EQ(bundle.entry(0)["response"]["lastModified"].string(), "2019-12-31T22:00:00.000Z");
    EXPECT_EQ(server.get("/Patient/a/_history/1").body,
              version_body("a", 1, "2020-01-01T00:00:00+02:00"));
}

TEST(HistoryBundleEntry, KeepsTheInstantOfADeletionThatItsResourceHas) {
    TestService server;
    post_history(server, {version_entry("3", 1)});
    const Json bundle = post_history(
        server,
        {entry_of("DELETE", "Patient/1", version_body("1", 5)),
         R"({"resource":)" + version_body("2", 5) +
             R"(,"request":{"method":"DELETE","url":"Patient/2"},"response":{"status":"410","lastModified":"2021-01-01T00:00:00Z"}})",
         // Without a version number, it is the deleted version.
         entry_of(
             "DELETE", "Patient/3",
             fmt::format(R"({{"resourceType":"Patient","id":"3","meta":{{"lastUpdated":"{}"}}}})",
                         kInstant))});
    EXPECT_EQ(bundle.statuses(), "204 204 204");
    EXPECT_NE(bundle.entry(2)["response"]["lastModified"].string(), kInstant);
    EXPECT_EQ(bundle.entry(0)["response"]["lastModified"].string(), kInstant);
    EXPECT_EQ(bundle.entry(1)["response"]["lastModified"].string(), "2021-01-01T00:00:00.000Z");
}

TEST(HistoryBundleEntry, IsNoResourceThatHasARequest) {
    const auto is_entry = [](std::string_view text) {
        json::Parser parser;
        const auto document = parser.parse(text);
        return document && is_history_entry(document->root());
    };
    EXPECT_TRUE(is_entry(R"({"request":{"method":"DELETE","url":"Patient/1"}})"));
    EXPECT_FALSE(is_entry(R"({"resourceType":"ClaimResponse","request":{"display":"a"}})"));
}

TEST(ResourceUrl, IsReadFromItsEnd) {
    const auto named = parse_resource_url("http://a/b/fhir/Patient/1/_history/2");
    ASSERT_TRUE(named.has_value());
    EXPECT_EQ(resource_type_name(named->type), "Patient");
    EXPECT_EQ(named->id, "1");
    EXPECT_EQ(named->version, "2");
    EXPECT_TRUE(parse_resource_url("Patient/1").has_value());
    for (const std::string_view url :
         {"", "/", "Patient", "Patient/", "Nothing/1", "Patient/_history/1", "urn:uuid:1",
          "Observation?subject=http://a/fhir/Patient/1"}) {
        EXPECT_FALSE(parse_resource_url(url).has_value()) << url;
    }
}

}  // namespace
}  // namespace annals::core
