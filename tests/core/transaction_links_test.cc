// Links between the resources of a transaction, and what stands instead of them.

#include "tests/core/transaction_fixture.h"
#include "tests/support/files.h"

#include <string>
#include <vector>

namespace annals::core {
namespace {

TEST(Transaction, ResolvesLinksInEitherDirection) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Observation", observation_of("", "urn:uuid:p"),
                          full_url("urn:uuid:o")),
                 entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:p")),
                 entry_of("POST", "Observation", observation_of("", "urn:oid:1.2.3"),
                          full_url("urn:uuid:o2")),
                 entry_of("PUT", "Patient/put", patient_json("put"), full_url("urn:oid:1.2.3"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201 201 201");
    EXPECT_EQ(subject_of(server, name_in(bundle, 0)), name_in(bundle, 1));
    EXPECT_EQ(subject_of(server, name_in(bundle, 2)), "Patient/put");
}

TEST(Transaction, ResolvesFullUrlsOfAnotherServer) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Patient", patient_json("7"),
                          full_url("http://a/fhir/Patient/7")),
                 entry_of("POST", "Observation", observation_of("", "http://a/fhir/Patient/7"),
                          full_url("http://a/fhir/Observation/1")),
                 entry_of("POST", "Observation", observation_of("", "Patient/7"),
                          full_url("http://a/fhir/Observation/2")),
                 entry_of("POST", "Observation", observation_of("", "Patient/7"),
                          full_url("urn:uuid:3"))}))
            .body);
    EXPECT_EQ(subject_of(server, name_in(bundle, 1)), name_in(bundle, 0));
    EXPECT_EQ(subject_of(server, name_in(bundle, 2)), name_in(bundle, 0));
    EXPECT_EQ(subject_of(server, name_in(bundle, 3)), "Patient/7");
}

// http.html#trules: whatever version a client has chosen, the resource gets its own.
TEST(Transaction, ResolvesLinksToVersionsOfWhatItCreates) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Observation",
                          observation_of("", "http://a/fhir/Patient/7/_history/3"),
                          full_url("http://a/fhir/Observation/1")),
                 entry_of("POST", "Observation", observation_of("", "Patient/7/_history/3#x"),
                          full_url("http://a/fhir/Observation/2")),
                 entry_of("POST", "Patient", patient_json("7"),
                          full_url("http://a/fhir/Patient/7")),
                 entry_of("POST", "Observation", observation_of("", "Patient/put/_history/3"),
                          full_url("http://a/fhir/Observation/3")),
                 entry_of("PUT", "Patient/put", patient_json("put"),
                          full_url("http://a/fhir/Patient/put"))}))
            .body);
    ASSERT_EQ(bundle.statuses(), "201 201 201 201 201");
    const std::string first = name_in(bundle, 2) + "/_history/1";
    EXPECT_EQ(subject_of(server, name_in(bundle, 0)), first);
    EXPECT_EQ(subject_of(server, name_in(bundle, 1)), first + "#x");
    EXPECT_EQ(server.get("/" + first).status, 200);
    EXPECT_EQ(subject_of(server, name_in(bundle, 3)), "Patient/put/_history/3")
        << "which may be an earlier version";
}

TEST(Transaction, LeavesLinksThatGoOnBehindAVersion) {
    TestService server;
    const std::string links =
        R"(,"extension":[{"url":"http://x","valueUri":"http://a/fhir/Patient/7/_history/3/x"},)"
        R"({"url":"http://x","valueUri":"http://a/fhir/Patient/7/_history/"},)"
        R"({"url":"http://x","valueUri":"http://a/fhir/Patient/7/_history/?_count=5"}])";
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("POST", "Patient",
                                                       R"({"resourceType":"Patient")" + links + "}",
                                                       full_url("http://a/fhir/Patient/7"))}))
            .body);
    ASSERT_EQ(bundle.statuses(), "201");
    const std::string stored = server.get("/" + name_in(bundle, 0)).body;
    EXPECT_NE(stored.find(links), std::string::npos) << stored;
}

TEST(Transaction, ResolvesLinksHoweverTheyAreEscaped) {
    TestService server;
    const std::string other =
        R"({"resourceType":"Observation","status":"final","code":{"text":"c"},"subject":{"reference":")";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Patient/1", patient_json("1"), full_url("http:\\/\\/a\\/p")),
                 entry_of("POST", "Observation", other + R"(http:\/\/a\/p"}})"),
                 entry_of("POST", "Observation", other + R"(\u0068ttp://a/p"}})")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201 201");
    EXPECT_EQ(subject_of(server, name_in(bundle, 1)), "Patient/1");
    EXPECT_EQ(subject_of(server, name_in(bundle, 2)), "Patient/1");
}

TEST(Transaction, KeepsThePartOfAResourceThatALinkNames) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Patient/1", patient_json("1"), full_url("urn:uuid:1")),
                 entry_of("PUT", "Observation/1", observation_of("1", "urn:uuid:1#a/b"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201");
    const std::string stored = server.get("/Observation/1").body;
    EXPECT_EQ(Json(stored).root()["subject"]["reference"].string(), "Patient/1#a/b");
    EXPECT_EQ(server.put("/Observation/1", stored).status, 200);
}

TEST(Transaction, EscapesThePartOfAResourceThatALinkNames) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Patient/1", patient_json("1"), full_url("urn:uuid:1")),
                 entry_of("PUT", "Observation/1", observation_of("1", R"(urn:uuid:1#\"\\ä)"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201");
    const std::string stored = server.get("/Observation/1").body;
    EXPECT_EQ(Json(stored).root()["subject"]["reference"].raw(), R"("Patient/1#\"\\ä")");
}

TEST(Transaction, ResolvesLinksInUrisAndNarrativesButNotInCanonicals) {
    TestService server;
    const std::string body =
        R"({"resourceType":"Patient","id":"1","text":{"status":"generated",)"
        R"("div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><a href=\"urn:uuid:2\">it</a>urn:uuid:2</div>"},)"
        R"("extension":[{"url":"http://x","valueUri":"urn:uuid:2"},)"
        R"({"url":"http://x","valueCanonical":"urn:uuid:2"}]})";
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", body),
                                              entry_of("PUT", "Patient/2", patient_json("2"),
                                                       full_url("urn:uuid:2"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201");
    const std::string stored = server.get("/Patient/1").body;
    EXPECT_NE(stored.find(R"(<a href=\"Patient/2\">it</a>urn:uuid:2</div>)"), std::string::npos);
    EXPECT_NE(stored.find(R"("valueUri":"Patient/2")"), std::string::npos);
    EXPECT_NE(stored.find(R"("valueCanonical":"urn:uuid:2")"), std::string::npos);
}

// A resource with "Patient/2" there could not be sent again.
TEST(Transaction, LeavesWhatCanNotHoldALinkAsItIs) {
    TestService server;
    const std::string uuid = "urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7";
    const std::string body =
        R"({"resourceType":"Patient","id":"1","extension":[{"url":"http://x","valueUuid":")" +
        uuid + R"("},{"url":"http://x","valueOid":"urn:oid:1.2.3"}]})";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Patient/1", body),
                 entry_of("PUT", "Patient/2", patient_json("2"), full_url(uuid)),
                 entry_of("PUT", "Patient/3", patient_json("3"), full_url("urn:oid:1.2.3"))}))
            .body);
    ASSERT_EQ(bundle.statuses(), "201 201 201");
    const std::string stored = server.get("/Patient/1").body;
    EXPECT_NE(stored.find(R"("valueUuid":")" + uuid), std::string::npos) << stored;
    EXPECT_EQ(server.put("/Patient/1", stored).status, 200);
}

TEST(Transaction, LeavesTheEntriesOfABundleThatItStoresAlone) {
    TestService server;
    const std::string document =
        R"({"resourceType":"Bundle","type":"document","identifier":{"system":"urn:x","value":"1",)"
        R"("assigner":{"reference":"urn:uuid:p"}},"entry":[)"
        R"({"fullUrl":"urn:uuid:o","resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"urn:uuid:p"}}},)"
        R"({"fullUrl":"http://a/Observation/1","resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"Patient/7"},"performer":[{"reference":"Patient?identifier=none"}]}},)"
        R"({"fullUrl":"urn:uuid:p","resource":{"resourceType":"Patient"}}]})";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:p")),
                 entry_of("POST", "Patient", patient_json("7"), full_url("http://a/Patient/7")),
                 entry_of("POST", "Bundle", document, full_url("http://a/Bundle/1"))}))
            .body);
    ASSERT_EQ(bundle.statuses(), "201 201 201");
    const std::string stored = server.get("/" + name_in(bundle, 2)).body;
    const std::string entries = document.substr(document.find(R"("entry":)"));
    EXPECT_TRUE(stored.ends_with(entries)) << stored;
    EXPECT_NE(stored.find(R"("assigner":{"reference":")" + name_in(bundle, 0)), std::string::npos)
        << stored;
}

TEST(Transaction, KeepsEverythingButLinksByteForByte) {
    TestService server;
    const std::string body =
        R"({"resourceType":"Observation","id":"1","status":"final","code":{"text":"c"},"valueQuantity":{"value":1.00},)"
        R"("unknown":{"x":[1e3,"\u00e9"]},"subject":{"reference":"urn:uuid:p","display":"d"}})";
    server.submit(bundle_of(
        "transaction", {entry_of("PUT", "Observation/1", body),
                        entry_of("PUT", "Patient/p", patient_json("p"), full_url("urn:uuid:p"))}));
    const std::string stored = server.get("/Observation/1").body;
    EXPECT_NE(
        stored.find(
            R"("valueQuantity":{"value":1.00},"unknown":{"x":[1e3,"\u00e9"]},"subject":{"reference":"Patient/p","display":"d"}})"),
        std::string::npos)
        << stored;
}

// Resolved, the links of the second take more room than the bundle's parse left.
TEST(Transaction, IsFoundByWhatItsLinksWereResolvedTo) {
    for (const std::size_t links : {1U, 400U}) {
        TestService server;
        const std::string id(64, 'p');
        std::string group =
            R"({"resourceType":"Group","id":"1","type":"person","actual":true,"member":[)";
        for (std::size_t i = 0; i < links; ++i) {
            group += i == 0 ? "" : ",";
            group += R"({"entity":{"reference":"urn:oid:1.2"}})";
        }
        group += "]}";
        const Json bundle(
            server
                .submit(bundle_of("transaction", {entry_of("PUT", "Group/1", group),
                                                  entry_of("PUT", "Patient/" + id, patient_json(id),
                                                           full_url("urn:oid:1.2"))}))
                .body);
        EXPECT_EQ(bundle.statuses(), "201 201");
        const auto total = [&](const std::string& member) {
            const Received answer = server.send({HttpMethod::get, "/Group", "member=" + member});
            return std::string(Json(answer.body).root()["total"].raw());
        };
        EXPECT_EQ(total("Patient/" + id), "1");
        EXPECT_EQ(total("urn:oid:1.2"), "0");
    }
}

TEST(Transaction, ResolvesLinksInReferencesOfCriteria) {
    TestService server;
    const std::string patient =
        entry_of("POST", "Patient", patient_json("", R"("identifier":[{"value":"urn:uuid:p"}])"),
                 full_url("urn:uuid:p"), R"("ifNoneExist":"identifier=urn:uuid:p")");
    const std::string observation = observation_of("", "urn:uuid:p");
    const std::string bundle = bundle_of(
        "transaction",
        {patient,
         entry_of("POST", "Observation", observation, {},
                  R"("ifNoneExist":"subject=urn%3Auuid%3Ap&status=final")"),
         entry_of("PUT", "Observation?subject=urn:uuid:p", observation),
         entry_of(
             "PUT", "DiagnosticReport/1",
             R"({"resourceType":"DiagnosticReport","id":"1","status":"final",)"
             R"("code":{"text":"c"},"result":[{"reference":"Observation?subject=urn:uuid:p"}]})")});
    // One resource is not written twice.
    const std::string without_put =
        bundle_of("transaction",
                  {patient, entry_of("POST", "Observation", observation, {},
                                     R"("ifNoneExist":"subject=urn%3Auuid%3Ap&status=final")")});
    const Json first(server.submit(without_put).body);
    ASSERT_EQ(first.statuses(), "201 201");
    const Json again(server.submit(without_put).body);
    EXPECT_EQ(again.statuses(), "200 200") << "what is there is found";
    EXPECT_EQ(name_in(again, 0), name_in(first, 0));
    EXPECT_EQ(name_in(again, 1), name_in(first, 1));
    const Json all(server.submit(bundle).body);
    EXPECT_EQ(all.statuses(), "200 200 200 201") << all.root().raw();
    EXPECT_EQ(name_in(all, 2), name_in(first, 1));
    const std::string report = server.get("/DiagnosticReport/1").body;
    EXPECT_NE(report.find(R"("reference":")" + name_in(first, 1) + '"'), std::string::npos)
        << report;
}

/// Checks that no reference of `resource` is left unresolved and that each relative one names a live resource.
void check_references(TestService& server, json::Value resource, std::size_t& checked) {
    std::vector<json::ReferenceSite> sites;
    json::find_references(resource, sites);
    for (const json::ReferenceSite& site : sites) {
        const std::string text = site.value.string();
        if (site.kind != json::ReferenceSite::Kind::reference || text.starts_with('#')) {
            continue;
        }
        ASSERT_FALSE(text.starts_with("urn:")) << text;
        const std::size_t slash = text.find('/');
        const auto type = find_resource_type(text.substr(0, slash));
        ASSERT_TRUE(type.has_value()) << text;
        ASSERT_TRUE(server.store().current(*type, text.substr(slash + 1)).has_value()) << text;
        ++checked;
    }
}

TEST(Transaction, StoresSyntheaPatientsWithEveryReferenceResolved) {
    const auto files = test::test_data_files("synthea-2019-dev/SYNTHEA");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2019-dev";
    }
    TestService server;
    std::size_t bundles = 0;
    std::size_t entries = 0;
    for (const auto& file : files) {
        const std::string text = test::read_whole_file(file);
        const Received answer = server.submit(text);
        ASSERT_EQ(answer.status, 200) << file << answer.body.substr(0, 1000);
        entries += Json(text).root()["entry"].size();
        if (++bundles == 20) {
            break;
        }
    }
    EXPECT_EQ(server.store().totals().live, entries);

    std::size_t checked = 0;
    json::Parser parser;
    for (std::uint64_t position = 1; position <= entries; ++position) {
        const auto info = server.store().at(Position{position});
        ASSERT_TRUE(info.has_value());
        const auto stored = server.store().load(*info);
        ASSERT_TRUE(stored.has_value());
        auto document = parser.parse(stored->body);
        ASSERT_TRUE(document.has_value());
        check_references(server, document->root(), checked);
        if (HasFatalFailure()) {
            return;
        }
    }
    EXPECT_GT(checked, entries);
}

}  // namespace
}  // namespace annals::core
