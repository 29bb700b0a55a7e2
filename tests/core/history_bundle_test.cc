#include "core/interactions/history_bundle.h"

#include "tests/core/history_bundle_fixture.h"
#include "tests/support/sim_file_system.h"

#include <chrono>
#include <thread>

namespace annals::core {
namespace {

TEST(HistoryBundle, KeepsIdsNumbersInstantsAndBytes) {
    TestService server;
    const std::string body = version_body("a.B-1", 3, "2020-01-02T03:04:05.6+02:00", R"("x":1.00)");
    const Json bundle =
        post_history(server, {entry_of("PUT", "Patient/a.B-1", body, R"("fullUrl":"urn:x")")});
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_TRUE(bundle.entry(0)["fullUrl"].equals("urn:x"));
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"3\"");
    EXPECT_EQ(bundle.entry(0)["response"]["lastModified"].string(), "2020-01-02T01:04:05.600Z");
    EXPECT_EQ(bundle.entry(0)["response"]["location"].string(),
              "http://test/fhir/Patient/a.B-1/_history/3");
    EXPECT_EQ(server.get("/Patient/a.B-1").body, body);
    EXPECT_EQ(server.get("/Patient/a.B-1/_history/2").status, 404);
}

TEST(HistoryBundle, TakesWhateverWasStoredElsewhereHoweverDeepItIs) {
    TestService source;
    ASSERT_EQ(source.put("/Patient/a", deep_patient("a", kJsonDepthMax)).status, 201);
    ASSERT_EQ(source.put("/Patient/b", deep_patient("b", kJsonDepthMax + 1)).status, 400);
    TestService target;
    EXPECT_EQ(target.submit(source.get("/_history").body).status, 200);
    EXPECT_EQ(target.get("/Patient/a").body, source.get("/Patient/a").body);

    // An entry that is too deep is refused alone.
    const Json answer =
        post_history(target, {entry_of("PUT", "Patient/b", deep_patient("b", kJsonDepthMax + 1)),
                              entry_of("PUT", "Patient/c", deep_patient("c", kJsonDepthMax))});
    EXPECT_EQ(answer.statuses(), "400 201");
    EXPECT_EQ(answer.issue(0, "diagnostics"), "The resource is nested deeper than 64 levels");

    // The deepest can be read in other representations, too.
    for (const char* query : {"_pretty=true", "_elements=active"}) {
        const Received told = target.send({HttpMethod::get, "/_history", query});
        EXPECT_EQ(told.status, 200);
        EXPECT_EQ(Json(told.body).entry(0)["resource"]["id"].string(), "c") << query;
    }
}

TEST(HistoryBundle, OfOneEntryMayBeLargerThanOtherRequests) {
    TestService server;
    const std::string small = version_entry("1", 1);
    const auto status_of = [&](std::string body) {
        Sent sent{HttpMethod::post, "", {}, std::move(body)};
        sent.oversized = true;
        return server.send(sent).status;
    };
    const auto status = [&](std::string_view type, const std::vector<std::string>& entries) {
        return status_of(bundle_of(type, entries));
    };
    EXPECT_EQ(status("history", {small}), 200);
    EXPECT_EQ(status("history", {small, small}), 413);
    EXPECT_EQ(status("batch", {entry_of("PUT", "Patient/2", patient_json("2"))}), 200);
    EXPECT_EQ(status("transaction", {entry_of("PUT", "Patient/3", patient_json("3"))}), 413);
    EXPECT_EQ(status("collection", {small}), 413);
    EXPECT_EQ(status_of(patient_json("4")), 413) << "nor anything else";
    EXPECT_EQ(status_of(R"({"resourceType":"Patient","type":"batch","entry":[{}]})"), 413);
    EXPECT_EQ(status_of(R"({"resourceType":"Bundle","type":"batch","entry":{"a":1}})"), 413);
    EXPECT_EQ(status_of("[1]"), 413);
    EXPECT_EQ(status_of("{"), 413);
}

TEST(HistoryBundle, StoresNoParameters) {
    TestService server;
    const Json bundle = post_history(
        server, {R"({"resource":{"resourceType":"Parameters","id":"x"}})", version_entry("1", 1)});
    EXPECT_EQ(bundle.statuses(), "400 201");
    EXPECT_EQ(server.get("/Parameters/x").status, 404);
}

TEST(HistoryBundle, AppliesEntriesInTheirOrder) {
    TestService server;
    const Json bundle =
        post_history(server, {version_entry("1", 1), version_entry("1", 2), deletion_entry("1", 3),
                              version_entry("1", 5), version_entry("1", 4)});
    EXPECT_EQ(bundle.statuses(), "201 200 204 201 200");
    EXPECT_EQ(bundle.issue(4, "severity"), "information");
    EXPECT_EQ(bundle.issue(4, "code"), "informational");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{5});
    EXPECT_EQ(server.get("/Patient/1/_history/3").status, 410);
    EXPECT_EQ(server.get("/Patient/1/_history/4").status, 404);
}

TEST(HistoryBundle, KeepsADeletionOfWhatIsAbsentSoThatNothingOlderComesBack) {
    TestService server;
    const Json bundle = post_history(
        server, {deletion_entry("1", 3), version_entry("1", 2), version_entry("1", 3)});
    EXPECT_EQ(bundle.statuses(), "204 200 200");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"3\"");
    EXPECT_EQ(server.get("/Patient/1").status, 410);
    EXPECT_EQ(server.get("/Patient/1/_history/3").status, 410);
    EXPECT_EQ(server.get("/Patient/1/_history/2").status, 404);
}

TEST(HistoryBundle, DoesNotUndoALocalDeletionByOlderVersions) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.send({HttpMethod::delete_, "/Patient/1"});
    EXPECT_EQ(post_history(server, {version_entry("1", 2)}).statuses(), "200");
    EXPECT_EQ(server.get("/Patient/1").status, 410);
    EXPECT_EQ(post_history(server, {version_entry("1", 3)}).statuses(), "201");
}

TEST(HistoryBundle, IgnoresADeletionThatIsOlderThanALiveResource) {
    TestService server;
    post_history(server, {version_entry("1", 5)});
    const Json bundle = post_history(server, {deletion_entry("1", 4)});
    EXPECT_EQ(bundle.statuses(), "200");
    EXPECT_EQ(bundle.issue(0, "severity"), "information");
    EXPECT_EQ(server.get("/Patient/1").status, 200);
}

TEST(HistoryBundle, LeavesAResourceAtTheLastNumberThatOnlyTakesNoMoreVersions) {
    TestService server;
    const std::string max = std::to_string(kVersionNumberMax);
    post_history(server,
                 {R"({"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":")" + max +
                  R"("}}})"});
    const auto refused = [&](const Received& answer, int status) {
        EXPECT_EQ(answer.status, status) << answer.body;
        const Json outcome(answer.body);
        EXPECT_EQ(outcome.issue("code"), "conflict");
        EXPECT_NE(outcome.issue("diagnostics").find(max), std::string::npos) << answer.body;
    };
    refused(server.put("/Patient/1", patient_json("1")), 409);
    refused(server.send({HttpMethod::delete_, "/Patient/1"}), 409);
    refused(server.send({HttpMethod::patch,
                         "/Patient/1",
                         {},
                         R"([{"op":"add","path":"/active","value":true}])",
                         {{"Content-Type", "application/json-patch+json"}}}),
            409);
    const Received transaction = server.submit(bundle_of(
        "transaction", {entry_of("POST", "Patient", patient_json("")), entry_of("GET", "Patient/1"),
                        entry_of("PUT", "Patient/1", patient_json("1"))}));
    refused(transaction, 400);
    EXPECT_NE(transaction.body.find("Bundle.entry[2] PUT Patient/1: 409"), std::string::npos)
        << transaction.body;
    EXPECT_EQ(server.get("/Patient/1").status, 200);
}

TEST(HistoryBundle, StoresNothingOfAMalformedBody) {
    TestService server;
    std::string body = bundle_of("history", {version_entry("1", 1), version_entry("2", 1)});
    body.pop_back();
    EXPECT_EQ(server.submit(body).status, 400);
    EXPECT_EQ(server.store().totals().versions, 0U);
}

TEST(HistoryBundle, MayNameItsTypeAfterItsEntries) {
    TestService server;
    const Received answer = server.submit(R"({"entry":[)" + version_entry("1", 1) +
                                          R"(],"type":"history","resourceType":"Bundle"})");
    EXPECT_EQ(Json(answer.body).statuses(), "201");
}

TEST(HistoryBundle, ErasesForGoodWhereThatIsConfigured) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    const Json bundle = post_history(
        server, {version_entry("1", 1), deletion_entry("1", 3), version_entry("1", 2),
                 deletion_entry("2", 5), version_entry("2", 4), version_entry("1", 4)});
    EXPECT_EQ(bundle.statuses(), "201 204 200 204 200 201");
    EXPECT_NE(bundle.entry(4)["response"].raw().find("This version is not stored"),
              std::string_view::npos);
    EXPECT_EQ(server.get("/Patient/2").status, 404);
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{4});
    EXPECT_EQ(server.get("/Patient/1/_history/1").status, 404);
}

TEST(HistoryBundle, SharesSyncsBetweenItsEntries) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    disk.set_sync_ms(50);  // longer than the loop's turns, also on a busy machine
    std::vector<std::string> entries;
    for (int i = 0; i < 5000; ++i) {
        entries.push_back(version_entry(std::to_string(i), 1));
    }
    const auto before = server.store().metrics().syncs;
    post_history(server, entries);
    EXPECT_EQ(server.store().totals().live, 5000U);
    EXPECT_LT(server.store().metrics().syncs - before, 100U);
}

TEST(HistoryBundle, AnswersNoStoreAsAWholeWhenTheStoreStopsTakingWrites) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    disk.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    const Received answer =
        server.submit(bundle_of("history", {version_entry("1", 1), version_entry("2", 1)}));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(Json(answer.body).issue("code"), "no-store");
    EXPECT_EQ(server.store().totals().versions, 0U);
}

TEST(HistoryBundle, LosesNoVersionWhenTheDeviceFillsUpAndTheBundleComesAgain) {
    test::SimFileSystem disk;
    std::uint64_t space = 600 << 10;
    disk.set_space(space);
    storage::StoreOptions options;
    options.segment_bytes = 256 << 10;
    TestService server({}, disk, options);
    const std::string filler = R"("x":")" + std::string(1000, 'x') + '"';
    std::vector<std::string> entries;
    for (int version = 1; version <= 10; ++version) {
        for (int id = 0; id < 200; ++id) {
            entries.push_back(version_entry(std::to_string(id), version, filler));
        }
    }
    const std::string bundle = bundle_of("history", entries);
    std::size_t refused = 0;
    Received answer = server.submit(bundle);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (answer.status == 503 && std::chrono::steady_clock::now() < patience) {
        ++refused;
        space += 700 << 10;
        disk.set_space(space);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        answer = server.submit(bundle);
    }
    EXPECT_EQ(answer.status, 200);
    EXPECT_GT(refused, 0U);
    EXPECT_EQ(server.store().totals().versions, entries.size());
    EXPECT_EQ(server.get("/Patient/199/_history/10").status, 200);
}

/// All pages of system history, oldest first, as one text; each page is posted to `other` if there is one.
std::string history_of(TestService& server, std::size_t count, TestService* other) {
    std::string all;
    std::string cursor;
    while (true) {
        std::string query = "_sort=_position&_count=" + std::to_string(count) + cursor;
        const Received page = server.send({HttpMethod::get, "/_history", query});
        EXPECT_EQ(page.status, 200);
        const Json bundle(page.body);
        for (const json::Value entry : bundle.root()["entry"].elements()) {
            all += entry.raw();
            all += '\n';
        }
        if (other != nullptr) {
            EXPECT_EQ(other->submit(page.body).status, 200);
        }
        cursor.clear();
        for (const json::Value link : bundle.root()["link"].elements()) {
            if (link["relation"].equals("next")) {
                const std::string url = link["url"].string();
                const std::size_t at = url.find("_cursor=");
                cursor = "&" + url.substr(at, url.find('&', at) - at);
            }
        }
        if (cursor.empty()) {
            return all;
        }
    }
}

TEST(HistoryBundle, ReproducesAnotherServerFromItsHistory) {
    TestService source;
    TestService copy;
    for (int round = 0; round < 5; ++round) {
        for (int id = 0; id < 20; ++id) {
            const std::string path = "/Patient/" + std::to_string(id);
            if ((id + round) % 4 == 3) {
                source.send({HttpMethod::delete_, path});
            } else {
                source.put(path, patient_json(std::to_string(id),
                                              R"("identifier":[{"value":"1.00 é"}],"x":1.00)"));
            }
        }
    }
    const std::string original = history_of(source, 7, &copy);
    EXPECT_EQ(history_of(copy, 1000, nullptr), original);

    // Sending it again changes nothing.
    history_of(source, 50, &copy);
    EXPECT_EQ(history_of(copy, 1000, nullptr), original);
}

TEST(HistoryBundle, BringsNothingBackThatHasNoNumberAndWasErased) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    server.put("/Patient/1", R"({"resourceType":"Patient","id":"1"})");
    ASSERT_EQ(server.send({HttpMethod::delete_, "/Patient/1"}).status, 204);
    const std::string unnumbered = R"({"resource":{"resourceType":"Patient","id":"1"}})";
    EXPECT_EQ(post_history(server, {unnumbered}).statuses(), "200");
    EXPECT_EQ(server.get("/Patient/1").status, 404);
    const std::string other = R"({"resource":{"resourceType":"Patient","id":"2"}})";
    EXPECT_EQ(post_history(server, {other, other}).statuses(), "201 200");
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{2});
}

}  // namespace
}  // namespace annals::core
