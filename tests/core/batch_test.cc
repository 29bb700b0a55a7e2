#include "core/interactions/bundle_entry.h"
#include "tests/core/bundle_fixture.h"
#include "tests/support/longest_pause.h"
#include "tests/support/sim_file_system.h"

#include <string>
#include <vector>

namespace annals::core {
namespace {

TEST(Batch, AnswersEveryEntryByItselfAndInOrder) {
    TestService server;
    const Received answer = server.submit(bundle_of(
        "batch",
        {entry_of("POST", "Patient", patient_json("ignored"), R"("fullUrl":"urn:uuid:1")"),
         entry_of("GET", "Patient/absent"), entry_of("PUT", "Patient/2", patient_json("2")),
         entry_of("PUT", "Patient/3", patient_json("4")), entry_of("GET", "metadata"),
         entry_of("DELETE", "Patient/2"), entry_of("GET", "Patient/2")}));
    EXPECT_EQ(answer.status, 200);
    const Json bundle(answer.body);
    EXPECT_TRUE(bundle.root()["type"].equals("batch-response"));
    EXPECT_EQ(bundle.statuses(), "201 404 201 400 200 204 410");
    EXPECT_EQ(bundle.entry(0)["response"]["status"].string(), "201 Created");
    EXPECT_TRUE(bundle.entry(0)["fullUrl"].equals("urn:uuid:1"));
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"1\"");
    const std::string location = bundle.entry(0)["response"]["location"].string();
    EXPECT_TRUE(location.starts_with("http://test/fhir/Patient/") &&
                location.ends_with("/_history/1"))
        << location;
    EXPECT_FALSE(bundle.entry(0)["response"]["lastModified"].string().empty());
    EXPECT_TRUE(bundle.entry(0)["resource"]["resourceType"].equals("Patient"));
    EXPECT_EQ(bundle.issue(1, "code"), "not-found");
    EXPECT_FALSE(bundle.entry(1)["resource"]);
    EXPECT_TRUE(bundle.entry(4)["resource"]["resourceType"].equals("CapabilityStatement"));
}

TEST(Batch, GivesAVersionedLocationForAnUpdate) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server.submit(bundle_of("batch", {entry_of("PUT", "Patient/1", patient_json("1"))})).body);
    EXPECT_EQ(bundle.statuses(), "200");
    EXPECT_EQ(bundle.entry(0)["response"]["location"].string(),
              "http://test/fhir/Patient/1/_history/2");
}

TEST(Batch, GivesTheLocationOfWhatIsUnderWayAsItIs) {
    const Json entry(entry_of("POST", "$reindex"));
    ResponseBundle answer("batch-response", kBase, false);
    Response begun;
    begun.status = 202;
    begun.content_location = std::string(kBase) + "/$reindex";
    answer.add(entry.root(), HttpMethod::post, std::move(begun), false);
    const Json bundle(answer.finish().body.str());
    EXPECT_EQ(bundle.entry(0)["response"]["location"].string(), "http://test/fhir/$reindex");
}

TEST(Batch, GoesOnAfterEntriesThatAreNone) {
    TestService server;
    const Received answer = server.submit(bundle_of(
        "batch",
        {"1", "null", "{}", R"({"request":1})", R"({"request":{}})",
         R"({"request":{"method":"GET"}})", R"({"request":{"method":1,"url":"Patient/1"}})",
         entry_of("get", "Patient/1"), entry_of("GET", "http://elsewhere/fhir/Patient/1"),
         entry_of("GET", "%%%"), entry_of("POST", "Patient"), entry_of("POST", "Patient", "[1]"),
         entry_of("POST", "", bundle_of("batch", {})), entry_of("POST", "/", patient_json("")),
         entry_of("GET", "Patient/1", {}, {}, R"("ifModifiedSince":"yesterday")"),
         entry_of("POST", "Patient", patient_json("1"))}));
    EXPECT_EQ(answer.status, 200);
    const Json bundle(answer.body);
    EXPECT_EQ(bundle.statuses(), "400 400 400 400 400 400 400 400 400 404 400 400 400 400 400 201");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Batch, TakesUrlsBelowItsOwnBase) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(server
                          .submit(bundle_of("batch", {entry_of("GET", "http://test/fhir/Patient/1"),
                                                      entry_of("GET", "/Patient/1"),
                                                      entry_of("HEAD", "Patient/1")}))
                          .body);
    EXPECT_EQ(bundle.statuses(), "200 200 200");
    EXPECT_FALSE(bundle.entry(2)["resource"]);
}

TEST(Batch, SaysWhyAHeadFailed) {
    TestService server;
    const Json bundle(server.submit(bundle_of("batch", {entry_of("HEAD", "Patient/absent")})).body);
    EXPECT_EQ(bundle.statuses(), "404");
    EXPECT_EQ(bundle.issue(0, "code"), "not-found");
}

TEST(Batch, RepeatsTheFullUrlsOfWrites) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "batch",
                {R"({"fullUrl":"urn:uuid:a","resource":{"resourceType":"Patient"},)"
                 R"("request":{"method":"POST","url":"Patient"}})",
                 R"({"fullUrl":"urn:uuid:b","request":{"method":"GET","url":"Patient"}})"}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200");
    EXPECT_EQ(bundle.entry(0)["fullUrl"].string(), "urn:uuid:a");
    EXPECT_FALSE(bundle.entry(1)["fullUrl"]);
}

TEST(Batch, NamesEveryFaultByItsPlaceInTheBundle) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of("batch",
                              {entry_of("GET", "Patient"),
                               entry_of("POST", "Patient",
                                        R"({"resourceType":"Patient","gender":1,"active":"x"})")}))
            .body);
    std::vector<std::string> places;
    for (const json::Value issue : bundle.entry(1)["response"]["outcome"]["issue"].elements()) {
        places.emplace_back(issue["expression"].raw());
    }
    EXPECT_EQ(places, (std::vector<std::string>{R"(["Bundle.entry[1].resource.gender"])",
                                                R"(["Bundle.entry[1].resource.active"])"}));
}

TEST(Batch, HonoursTheConditionsOfItsEntries) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const Json bundle(
        server
            .submit(bundle_of(
                "batch",
                {entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"7\"")"),
                 entry_of("GET", "Patient/1", {}, {}, R"("ifNoneMatch":"W/\"1\"")"),
                 entry_of("GET", "Patient/1", {}, {},
                          R"("ifModifiedSince":"2999-01-01T00:00:00Z")"),
                 entry_of("POST", "Patient", patient_json(""), {},
                          R"("ifNoneExist":"identifier=x")"),
                 entry_of("POST", "Patient", patient_json(""), {}, R"("ifNoneExist":"")"),
                 entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifNoneMatch":"*")"),
                 entry_of("DELETE", "Patient/1", {}, {}, R"("ifNoneMatch":"W/\"1\"")"),
                 entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"1\"")")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "412 304 304 200 400 412 412 200");
}

TEST(Batch, LeavesTheResourcesOutWhenTheClientPrefersLittle) {
    TestService server;
    Sent sent{HttpMethod::post,
              "",
              {},
              bundle_of("batch", {entry_of("POST", "Patient", patient_json(""))}),
              {{"Prefer", "return=minimal"}}};
    Json bundle(server.send(sent).body);
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_FALSE(bundle.entry(0)["resource"]);
    sent.headers = {{"Prefer", "return=OperationOutcome"}};
    bundle = Json(server.send(sent).body);
    EXPECT_FALSE(bundle.entry(0)["resource"]);
    EXPECT_TRUE(bundle.entry(0)["response"]["outcome"]["resourceType"].equals("OperationOutcome"));
}

TEST(Batch, AnswersReadsAndOperationsWithTheirResultsWhateverIsPreferred) {
    TestService server;
    server.put("/OperationOutcome/o", R"({"resourceType":"OperationOutcome","id":"o","issue":[)"
                                      R"({"severity":"information","code":"informational"}]})");
    const Sent sent{HttpMethod::post,
                    "",
                    {},
                    bundle_of("batch", {entry_of("GET", "OperationOutcome/o"),
                                        entry_of("POST", "Patient/$validate", patient_json("1"))}),
                    {{"Prefer", "return=OperationOutcome"}}};
    const Json bundle(server.send(sent).body);
    EXPECT_EQ(bundle.statuses(), "200 200");
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(bundle.entry(i)["resource"]["resourceType"].equals("OperationOutcome")) << i;
    }
}

TEST(Batch, TakesUrlsBelowItsBaseAsItTakesRelativeOnes) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string base(kBase);
    const Json bundle(
        server
            .submit(
                bundle_of("batch", {entry_of("GET", base + "?_type=Patient&_id=1"),
                                    entry_of("GET", "?_type=Patient&_id=1"),
                                    entry_of("GET", base + "/Patient/1"), entry_of("GET", base),
                                    entry_of("GET", "/"), entry_of("GET", base + "2/Patient/1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200 200 200 200 400");
    EXPECT_TRUE(bundle.entry(0)["resource"]["entry"]);
    EXPECT_EQ(bundle.entry(3)["resource"]["type"].string(), "searchset");
}

TEST(Batch, LeavesLinksBetweenItsEntriesAlone) {
    TestService server;
    const std::string observation =
        R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"c"},"subject":{"reference":"urn:uuid:1"}})";
    server.submit(bundle_of(
        "batch", {entry_of("POST", "Patient", patient_json(""), R"("fullUrl":"urn:uuid:1")"),
                  entry_of("PUT", "Observation/o", observation)}));
    EXPECT_NE(server.get("/Observation/o").body.find("\"urn:uuid:1\""), std::string::npos);
}

TEST(Batch, SaysNoStoreInTheEntriesThatCouldNotBeStored) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    server.put("/Patient/1", patient_json("1"));
    disk.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    const Json bundle(
        server
            .submit(bundle_of("batch", {entry_of("POST", "Patient", patient_json("")),
                                        entry_of("PUT", "Patient/1", patient_json("1")),
                                        entry_of("PUT", "Patient/1", patient_json("1")),
                                        entry_of("GET", "Patient/1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "503 503 503 200");
    EXPECT_EQ(bundle.issue(0, "code"), "no-store");
    EXPECT_EQ(bundle.issue(2, "code"), "no-store");
    EXPECT_EQ(bundle.entry(3)["resource"]["meta"]["versionId"].string(), "1");
}

TEST(Batch, AnswersNoMoreThanThereIsRoomFor) {
    TestService server(with_little_room());
    for (const std::string id : {"1", "2", "3"}) {
        server.put("/Patient/" + id, long_patient(id, 10'000));
    }
    std::vector<std::string> entries(7, entry_of("GET", "Patient/1"));
    entries.push_back(entry_of("PUT", "Patient/2", long_patient("2", 10'000)));
    entries.push_back(entry_of("POST", "Patient", patient_json("")));
    entries.push_back(entry_of("DELETE", "Patient/3"));
    entries.push_back(entry_of("GET", "Patient/absent"));
    entries.push_back(entry_of("HEAD", "Patient/1"));
    entries.push_back(entry_of("PUT", "Patient/2", patient_json("other")));
    const Received answer = server.submit(bundle_of("batch", entries));
    EXPECT_EQ(answer.status, 200);
    EXPECT_LT(answer.body.size(), 80U << 10);
    const Json bundle(answer.body);
    EXPECT_EQ(bundle.statuses(), "200 200 200 200 200 200 422 200 201 204 422 200 400");
    EXPECT_TRUE(bundle.entry(5)["resource"]["id"].equals("1"));
    EXPECT_FALSE(bundle.entry(6)["resource"]);
    EXPECT_EQ(bundle.issue(6, "code"), "too-costly");
    EXPECT_FALSE(bundle.entry(7)["resource"]);
    EXPECT_EQ(bundle.entry(7)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_FALSE(bundle.entry(7)["response"]["outcome"]);
    EXPECT_FALSE(bundle.entry(8)["resource"]);
    EXPECT_TRUE(bundle.entry(8)["response"]["location"]);
    EXPECT_TRUE(bundle.entry(12)["response"]["outcome"]["resourceType"].equals("OperationOutcome"));
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{2});
    EXPECT_EQ(server.get("/Patient/3").status, 410);
}

TEST(Batch, PassesOverNoBodyOfASearch) {
    constexpr std::string_view kParameters =
        R"({"resourceType":"Parameters","parameter":[{"name":"_id","valueId":"2"}]})";
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(bundle_of("batch", {entry_of("POST", "Patient/_search", kParameters),
                                        entry_of("POST", "Patient/_search?_id=1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "415 200");
    EXPECT_EQ(bundle.entry(1)["resource"]["entry"].size(), 1U);
}

TEST(Batch, AnswersWithWhatEntriesAfterThoseErase) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(
                bundle_of("batch", {entry_of("GET", "Patient/1"), entry_of("GET", "Patient?_id=1"),
                                    entry_of("PUT", "Patient/1", patient_json("1")),
                                    entry_of("DELETE", "Patient/1"), entry_of("GET", "Patient/1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200 200 204 404");
    EXPECT_EQ(bundle.entry(0)["resource"]["id"].string(), "1");
    EXPECT_EQ(bundle.entry(1)["resource"]["entry"].size(), 1U);
    EXPECT_EQ(bundle.entry(2)["resource"]["meta"]["versionId"].string(), "2");
}

TEST(Batch, AnswersWithWhatAPurgeAfterThatErases) {
    for (const char* purge : {"Patient/1/$purge", "Patient/1/%24purge"}) {
        TestService server;
        server.put("/Patient/1", patient_json("1"));
        const Json bundle(
            server
                .submit(bundle_of("batch", {entry_of("GET", "Patient/1"), entry_of("POST", purge),
                                            entry_of("GET", "Patient/1")}))
                .body);
        EXPECT_EQ(bundle.statuses(), "200 200 404") << purge;
        EXPECT_EQ(bundle.entry(0)["resource"]["id"].string(), "1") << purge;
    }
}

TEST(Batch, AnswersWithWhatSomebodyElsePurgesMeanwhile) {
    test::SimFileSystem disk;
    TestService server(Config{}, disk);
    server.put("/Patient/1", patient_json("1"));
    // Each read waits for the write before it, and all together wait for longer than an erasure waits for readers.
    disk.set_sync_ms(20);
    std::vector<std::string> entries{entry_of("GET", "Patient/1")};
    for (int i = 0; i < 40; ++i) {
        entries.push_back(entry_of("PUT", "Patient/2", patient_json("2")));
        entries.push_back(entry_of("GET", "Patient/2"));
    }
    const auto answers = server.send_all({{HttpMethod::post, "", {}, bundle_of("batch", entries)},
                                          {HttpMethod::post, "/Patient/1/$purge"}});
    EXPECT_EQ(answers[1].status, 200) << answers[1].body;
    EXPECT_EQ(Json(answers[0].body).entry(0)["resource"]["id"].string(), "1");
}

TEST(Batch, DrawsLongAnswersAsFarAsThereIsRoom) {
    const std::vector<std::string> patients(
        120, entry_of("POST", "Patient", long_patient("", 500)));  // two slices
    const std::string searches =
        bundle_of("batch", {entry_of("GET", "Patient?_count=120"),
                            entry_of("POST", "Patient/_search?_count=120"),
                            entry_of("HEAD", "Patient?_count=120"), entry_of("GET", "Patient")});
    TestService server;
    server.submit(bundle_of("batch", patients));
    const Json whole(server.submit(searches).body);
    EXPECT_EQ(whole.statuses(), "200 200 200 200");
    EXPECT_EQ(whole.entry(0)["resource"]["entry"].size(), 120U);
    EXPECT_EQ(whole.entry(1)["resource"]["entry"].size(), 120U);
    EXPECT_FALSE(whole.entry(2)["resource"]);

    TestService small(with_little_room());
    small.submit(bundle_of("batch", patients));
    const Received answer = small.submit(searches);
    EXPECT_LT(answer.body.size(), 8U << 10);
    const Json cut(answer.body);
    EXPECT_EQ(cut.statuses(), "422 422 200 422");
    EXPECT_EQ(cut.issue(0, "code"), "too-costly");
}

TEST(Batch, LetsOthersHaveTheirTurnsBetweenItsReads) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.submit(bundle_of(
        "batch", std::vector<std::string>(500, entry_of("POST", "Patient", patient_json("")))));
    const std::vector<std::string> searches(100, entry_of("GET", "Patient?_count=500"));
    const std::vector<Received> answers =
        server.send_all({{HttpMethod::post, "", {}, bundle_of("batch", searches)},
                         {HttpMethod::get, "/Patient/1"}});
    EXPECT_EQ(answers[0].status, 200);
    EXPECT_EQ(answers[1].status, 200);
    EXPECT_LT(answers[1].place, answers[0].place);
}

TEST(Batch, PutsItsAnswerTogetherInTurns) {
    TestService server;
    const std::string name = R"("name":[{"text":")" + std::string(1'000'000, 'x') + R"("}])";
    ASSERT_EQ(server.put("/Patient/1", patient_json("1", name)).status, 201);
    const std::string bundle =
        bundle_of("batch", std::vector<std::string>(120, entry_of("GET", "Patient/1")));
    Request request;
    request.method = HttpMethod::post;
    request.body = bundle;
    request.base_url = kBase;
    const test::Watched watched = test::handle_watched_repeatedly(server.service(), request);
    ASSERT_TRUE(watched.response);
    EXPECT_GT(watched.response->body.size(), 120U * 1'000'000);
    test::expect_turns_of(kTurn, watched);
}

TEST(Batch, BeginsNothingWhenItsTimeIsOver) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(0);
    TestService server(config);
    const Json bundle(
        server
            .submit(bundle_of("batch", {entry_of("PUT", "Patient/1", patient_json("1")),
                                        entry_of("GET", "metadata")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "503 503");
    EXPECT_EQ(bundle.issue(0, "code"), "timeout");
    EXPECT_EQ(server.get("/Patient/1").status, 404);
}

TEST(Batch, ResolvesEscapesInPathsAsHttpDoes) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(server
                          .submit(bundle_of("batch", {entry_of("GET", "Patient/1/%24meta"),
                                                      entry_of("GET", "Patient/%31/%5Fhistory"),
                                                      entry_of("GET", "Patient%2F1")}))
                          .body);
    EXPECT_EQ(bundle.statuses(), "200 200 404");
}

TEST(Batch, TakesIfModifiedSinceToItsFractionOfASecond) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string updated =
        Json(server.get("/Patient/1").body).root()["meta"]["lastUpdated"].string();
    const Instant written = *parse_instant(updated);
    const auto since = [&](std::int64_t ms) {
        return entry_of("GET", "Patient/1", {}, {},
                        R"("ifModifiedSince":")" + format_instant({written.us + ms * 1000}) + '"');
    };
    const Json bundle(server.submit(bundle_of("batch", {since(-1), since(0), since(1)})).body);
    EXPECT_EQ(bundle.statuses(), "200 304 304");
}

}  // namespace
}  // namespace annals::core
