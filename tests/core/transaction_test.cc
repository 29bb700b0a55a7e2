#include "core/interactions/transaction.h"

#include "codec/schema/structure.h"
#include "tests/core/transaction_fixture.h"
#include "tests/support/sim_file_system.h"

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::core {
namespace {

TEST(Transaction, AppliesAllEntriesAtOneInstant) {
    TestService server;
    server.put("/Patient/old", patient_json("old"));
    const Received answer = server.submit(bundle_of(
        "transaction",
        {entry_of("GET", "Patient/new"), entry_of("PUT", "Patient/new", patient_json("new")),
         entry_of("POST", "Patient", patient_json("ignored"), full_url("urn:uuid:1")),
         entry_of("DELETE", "Patient/old")}));
    EXPECT_EQ(answer.status, 200);
    const Json bundle(answer.body);
    EXPECT_TRUE(bundle.root()["type"].equals("transaction-response"));
    EXPECT_EQ(bundle.statuses(), "200 201 201 204");
    EXPECT_TRUE(bundle.entry(0)["resource"]["id"].equals("new"));
    EXPECT_TRUE(bundle.entry(2)["fullUrl"].equals("urn:uuid:1"));
    const std::string instant = bundle.entry(1)["response"]["lastModified"].string();
    EXPECT_EQ(instant.size(), kInstantChars);
    EXPECT_EQ(bundle.entry(2)["response"]["lastModified"].string(), instant);
    EXPECT_EQ(bundle.entry(3)["response"]["lastModified"].string(), instant);
    EXPECT_EQ(bundle.entry(3)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(server.get("/Patient/old").status, 410);
    EXPECT_NE(name_in(bundle, 2), "Patient/ignored");
}

TEST(Transaction, IsNotAppliedWhenItsTimeIsOver) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(0);
    TestService server(config);
    const Received answer =
        server.submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1"))}));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(server.get("/Patient/1").status, 404);
}

TEST(Transaction, NamesTheEntryWhoseIfMatchFailsAndAppliesNothing) {
    TestService server;
    server.put("/Patient/9", patient_json("9"));
    const Received answer = server.submit(
        bundle_of("transaction",
                  {entry_of("POST", "Patient", patient_json("")), entry_of("DELETE", "Patient/9"),
                   entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"2\"")")}));
    expect_failure(answer, "conflict", "Bundle.entry[2] PUT Patient/1: 412 If-Match");
    const Json outcome(answer.body);
    EXPECT_NE(answer.body.find(R"("expression":["Bundle.entry[2]"])"), std::string::npos);
    EXPECT_NE(answer.body.find("transaction rolled back"), std::string::npos);
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, HonoursIfMatch) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string bundle =
        bundle_of("transaction",
                  {entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"1\"")")});
    EXPECT_EQ(Json(server.submit(bundle).body).statuses(), "200");
    expect_failure(server.submit(bundle), "conflict", "expected version 1, actual version 2");
}

TEST(Transaction, HonoursIfNoneMatch) {
    TestService server;
    const auto one = [&](const std::string& method, const std::string& body) {
        return server.submit(bundle_of(
            "transaction", {entry_of(method, "Patient/1", body, {}, R"("ifNoneMatch":"*")")}));
    };
    EXPECT_EQ(Json(one("PUT", patient_json("1")).body).statuses(), "201");
    expect_failure(one("PUT", patient_json("1")), "conflict", "Patient/1 exists as version 1");
    expect_failure(one("DELETE", ""), "conflict", "Patient/1 exists as version 1");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, FailsWithTheStatusOfTheFaultInside) {
    Config config;
    config.update_create = false;
    TestService server(config);
    const std::string good = entry_of("POST", "Patient", patient_json(""));
    const std::vector<std::tuple<std::string, std::string, std::string>> cases{
        {entry_of("PUT", "Patient/1", patient_json("1")), "not-found",
         "Bundle.entry[1] PUT Patient/1: 404 "},
        {entry_of("DELETE", "Patient/1"), "not-found", "Bundle.entry[1] DELETE Patient/1: 404 "},
        {entry_of("GET", "Patient/1"), "not-found", "Bundle.entry[1] GET Patient/1: 404 "},
        {entry_of("GET", "Nothing/1"), "not-found", ": 404 "},
        {entry_of("DELETE", "Patient/a_b"), "not-found", ": 404 "},
        {entry_of("PUT", "Patient/1", patient_json("2")), "invalid", ": 400 "},
        {entry_of("PUT", "Patient/1", patient_json("")), "required", ": 400 "},
        {entry_of("PUT", "Patient/a_b", patient_json("a_b")), "value", ": 400 "},
        {entry_of("PUT", "Patient", patient_json("")), "invalid", ": 400 "},
        {entry_of("DELETE", "Patient"), "invalid", ": 400 "},
        {entry_of("POST", "Patient/1", patient_json("1")), "not-supported", ": 405 "},
        {entry_of("POST", "", bundle_of("batch", {})), "not-supported",
         ": 405 POST / is not supported in a transaction"},
        {entry_of("GET", "Patient/" + std::string(300, 'x')), "not-found",
         "Bundle.entry[1] GET Patient/" + std::string(192, 'x') + "...: 404 "},
        {entry_of("POST", "Patient/$validate", patient_json("")), "not-supported", ": 405 "},
        {entry_of("GET", "Patient/$export"), "not-supported",
         ": 405 GET Patient/$export is not supported in a transaction"},
        {entry_of("PATCH", "Patient/1", patient_json("1")), "invalid", ": 400 "},
        {entry_of("POST", "Patient"), "required", ": 400 "},
        {entry_of("POST", "Patient", observation_of("", "Patient/1")), "invalid", ": 400 "},
        {entry_of("POST", "Patient", R"({"resourceType":"Patient","meta":1})"), "structure",
         ": 400 "},
        {entry_of("POST", "Patient", patient_json(""), {}, R"("ifNoneExist":"")"), "invalid",
         ": 400 "},
        {entry_of("POST", "Patient", patient_json(""), R"("fullUrl":1)"), "structure", ": 400 "},
        {"{}", "required", "Bundle.entry[1]: 400 "},
        {"7", "structure", "Bundle.entry[1]: 400 "},
    };
    for (const auto& [entry, code, diagnostics] : cases) {
        SCOPED_TRACE(entry);
        expect_failure(server.submit(bundle_of("transaction", {good, entry})), code, diagnostics);
    }
    EXPECT_EQ(server.store().totals().versions, 0U);
}

TEST(Transaction, RefusesToWriteOneResourceTwice) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const std::string put = entry_of("PUT", "Patient/1", patient_json("1"));
    for (const std::string& other : {put, entry_of("DELETE", "Patient/1"),
                                     entry_of("PUT", "Patient?identifier=x", patient_json(""))}) {
        expect_failure(server.submit(bundle_of("transaction", {other, put})), "invalid",
                       "Patient/1 is written by Bundle.entry[0] already");
    }
    expect_failure(
        server.submit(bundle_of(
            "transaction",
            {entry_of("PUT", "Patient/2", patient_json("2", R"("identifier":[{"value":"z"}])")),
             entry_of("PUT", "Patient?identifier=z&_lastUpdated=gt2000", patient_json(""))})),
        "invalid", "Patient/2 is written by Bundle.entry[0] already");
    // Also if criteria match nothing and the body has the id.
    expect_failure(server.submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1"),
                                                           entry_of("PUT", "Patient?identifier=y",
                                                                    patient_json("1"))})),
                   "invalid", "Patient/1 is written by Bundle.entry[0] already");
    expect_failure(server.submit(bundle_of(
                       "transaction",
                       {entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:1")),
                        entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:1"))})),
                   "invalid", "Bundle.entry[1]");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, DeletesForGoodWhereThatIsConfigured) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1"),
                                              entry_of("PUT", "Patient/2", patient_json("2"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "204 201");
    EXPECT_EQ(server.get("/Patient/1").status, 404);
}

// Others have their turns while many entries are answered.
TEST(Transaction, TellsWhatItWroteAlsoWhereOthersEraseItMeanwhile) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    std::vector<std::string> entries;
    for (int i = 0; i < 4000; ++i) {
        const std::string id = std::to_string(i);
        entries.push_back(entry_of("PUT", "Patient/" + id, patient_json(id)));
    }
    // Until it is there.
    std::thread eraser([&] {
        while (server.send({HttpMethod::delete_, "/Patient/3999"}).status != 204) {
        }
    });
    const Received answer = server.submit(bundle_of("transaction", entries));
    eraser.join();
    ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 1000);
    const Json bundle(answer.body);
    const json::Value told = bundle.entry(3999)["resource"];
    EXPECT_EQ(told["id"].string(), "3999");
    EXPECT_EQ(told["meta"]["versionId"].string(), "1");
    EXPECT_EQ(told["meta"]["lastUpdated"].string(),
              bundle.entry(3999)["response"]["lastModified"].string());
}

TEST(Transaction, DeletesWhatNeverWasWhereThatIsNoFailure) {
    const std::string absent = entry_of("DELETE", "Patient/none");
    const std::string meant = entry_of("DELETE", "Patient/none", {}, {}, R"("ifMatch":"W/\"1\"")");
    for (const std::uint64_t delete_absent : {204U, 404U}) {
        Config config;
        config.delete_absent = delete_absent;
        TestService server(config);
        const Received answer = server.submit(
            bundle_of("transaction", {absent, entry_of("PUT", "Patient/1", patient_json("1"))}));
        if (delete_absent == 204) {
            EXPECT_EQ(Json(answer.body).statuses(), "204 201");
        } else {
            expect_failure(answer, "not-found", "Patient/none does not exist");
        }
        expect_failure(server.submit(bundle_of("transaction", {meant})), "not-found",
                       "Patient/none does not exist");
    }
}

TEST(Transaction, DeletesWhatIsDeletedWithoutANewVersion) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.send({HttpMethod::delete_, "/Patient/1"});
    const Json bundle(
        server.submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1")})).body);
    EXPECT_EQ(bundle.statuses(), "204");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    // Whatever version If-Match names, as outside of a transaction.
    const std::string meant = entry_of("DELETE", "Patient/1", {}, {}, R"("ifMatch":"W/\"1\"")");
    EXPECT_EQ(Json(server.submit(bundle_of("transaction", {meant})).body).statuses(), "204");
    EXPECT_EQ(server.store().totals().versions, 2U);
}

TEST(Transaction, BringsADeletedResourceBack) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.send({HttpMethod::delete_, "/Patient/1"});
    const Json bundle(
        server.submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"3\"");
}

TEST(Transaction, RequiresWhatItRefersToWhereThatIsConfigured) {
    Config config;
    config.integrity_on_write = true;
    TestService server(config);
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("PUT", "Patient/2", patient_json("2")),
                            entry_of("POST", "Observation", observation_of("", "Patient/1"))})),
        "conflict", "Bundle.entry[1] POST Observation: 409 ");
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("POST", "Observation", observation_of("", "/Patient/1"))})),
        "conflict", "Bundle.entry[0] POST Observation: 409 ");
    EXPECT_EQ(server
                  .submit(bundle_of(
                      "transaction",
                      {entry_of("PUT", "Patient/1", patient_json("1")),
                       entry_of("POST", "Observation", observation_of("", "Patient/1")),
                       entry_of("POST", "Observation", observation_of("", "urn:uuid:2")),
                       entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:2"))}))
                  .status,
              200);
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("DELETE", "Patient/1"),
                            entry_of("POST", "Observation", observation_of("", "Patient/1"))})),
        "conflict", "Bundle.entry[1] POST Observation: 409 ");
}

TEST(Transaction, RequiresTheVersionsThatItRefersToWhereThatIsConfigured) {
    Config config;
    config.integrity_on_write = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/9", patient_json("9"));
    const auto refer = [&](std::string_view reference) {
        return server.submit(bundle_of(
            "transaction", {entry_of("POST", "Observation", observation_of("", reference)),
                            entry_of("PUT", "Patient/1", patient_json("1"))}));
    };
    for (const std::string_view reference : {"Patient/9/_history/2", "Patient/1/_history/3"}) {
        const Received refused = refer(reference);
        expect_failure(refused, "conflict", "Bundle.entry[0] POST Observation: 409 ");
        EXPECT_NE(refused.body.find(reference), std::string::npos) << refused.body;
    }
    EXPECT_EQ(refer("Patient/9/_history/1").status, 200);
    EXPECT_EQ(refer("Patient/1/_history/1").status, 200) << "what it was before";
    EXPECT_EQ(refer("Patient/1/_history/4").status, 200) << "what the transaction makes of it";
}

TEST(Transaction, TellsTheFaultsOfManyEntriesUpToALimit) {
    TestService server;
    const auto told = [&](std::size_t count) {
        const Json outcome(
            server
                .submit(bundle_of(
                    "transaction",
                    std::vector(count,
                                entry_of("POST", "Patient",
                                         R"({"resourceType":"Patient","meta":1,"active":"x"})"))))
                .body);
        return outcome.root()["issue"].size();
    };
    EXPECT_EQ(told(3), 6U);
    EXPECT_EQ(told(70), schema::kFaultsMax);
}

TEST(Transaction, LetsExactlyOneOfManyWithOneConditionCreate) {
    TestService server;
    const Sent sent{
        HttpMethod::post,
        "",
        {},
        bundle_of("transaction",
                  {entry_of("POST", "Patient", patient_json("", R"("identifier":[{"value":"x"}])"),
                            full_url("urn:uuid:p"), R"("ifNoneExist":"identifier=x")"),
                   entry_of("POST", "Observation", observation_of("", "urn:uuid:p"))})};
    const auto answers = server.send_all(std::vector<Sent>(32, sent));
    std::size_t created = 0;
    for (const Received& answer : answers) {
        EXPECT_EQ(answer.status, 200);
        created += Json(answer.body).status(0) == "201" ? 1 : 0;
    }
    EXPECT_EQ(created, 1U);
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).live, 1U);
    EXPECT_EQ(server.store().totals(*find_resource_type("Observation")).live, 32U);
}

TEST(Transaction, CountsEachOfManyOverlappingUpdatesOnce) {
    TestService server;
    const Sent sent{HttpMethod::post,
                    "",
                    {},
                    bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1")),
                                              entry_of("PUT", "Patient/2", patient_json("2"))})};
    for (const Received& answer : server.send_all(std::vector<Sent>(64, sent))) {
        EXPECT_EQ(answer.status, 200);
    }
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{64});
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{64});
}

TEST(Transaction, AnswersNoStoreWhenItsCommitCannotBeStored) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    disk.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    const Received answer =
        server.submit(bundle_of("transaction", {entry_of("POST", "Patient", patient_json(""))}));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(Json(answer.body).issue("code"), "no-store");
    EXPECT_EQ(server.store().totals().versions, 0U);
}

}  // namespace
}  // namespace annals::core
