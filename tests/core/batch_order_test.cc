#include "tests/core/bundle_fixture.h"
#include "tests/support/sim_file_system.h"

#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
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

/// A batch on a disk whose syncs are held back until release().
class HeldBatch {
  public:
    HeldBatch(TestService& server, test::SimFileSystem& disk,
              const std::vector<std::string>& entries)
        : server_(server), disk_(disk), before_(server.store().last_ticket()) {
        disk.hold_syncs();
        answer_ = std::async(std::launch::async, [&server, bundle = bundle_of("batch", entries)] {
            return server.submit(bundle).body;
        });
        disk.await_held_sync();
    }

    std::uint64_t submitted() const { return server_.store().last_ticket().value - before_.value; }

    /// Expects that `count` of its entries are submitted while the first sync is held back.
    void expect_submitted(std::uint64_t count) const {
        const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (submitted() < count && std::chrono::steady_clock::now() < latest) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_GE(submitted(), count);
    }

    /// Returns the answer.
    std::string release() {
        disk_.release_syncs();
        return answer_.get();
    }

  private:
    TestService& server_;
    test::SimFileSystem& disk_;
    storage::Ticket before_;
    std::future<std::string> answer_;
};

/// The answer to a batch of writes, all of which are expected to be submitted during the first sync, and so to take two at most.
std::string submit_during_sync(TestService& server, test::SimFileSystem& disk,
                               const std::vector<std::string>& entries) {
    const std::uint64_t syncs = server.store().metrics().syncs;
    HeldBatch batch(server, disk, entries);
    batch.expect_submitted(entries.size());
    std::string body = batch.release();
    EXPECT_LE(server.store().metrics().syncs - syncs, 2U);
    return body;
}

TEST(BatchOrder, SharesSyncsBetweenItsEntries) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    submit_during_sync(
        server, disk,
        std::vector<std::string>(1000, entry_of("POST", "Patient", patient_json(""))));
    EXPECT_EQ(server.store().totals().live, 1000U);
}

TEST(BatchOrder, SharesSyncsBetweenWritesOfOneResource) {
    for (const std::string type : {"Patient", "Binary"}) {
        SCOPED_TRACE(type);
        const std::string resource =
            R"({"resourceType":")" + type + R"(","id":"1")" +
            (type == "Binary" ? R"(,"contentType":"application/json","data":"e30="})" : "}");
        test::SimFileSystem disk;
        TestService server({}, disk);
        std::vector<std::string> entries;
        std::string expected;
        for (int i = 0; i < 250; ++i) {
            const std::string version = std::to_string(4 * i + 1);
            entries.push_back(entry_of("PUT", type + "/1", resource));
            entries.push_back(entry_of("PUT", type + "/1", resource, {},
                                       R"("ifMatch":"W/\")" + version + R"(\"")"));
            entries.push_back(entry_of("PUT", type + "/1", resource));
            entries.push_back(entry_of("DELETE", type + "/1"));
            expected += std::string(i == 0 ? "" : " ") + "201 200 200 204";
        }
        const Json bundle(submit_during_sync(server, disk, entries));
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
}

TEST(BatchOrder, HasNoMoreInFlightThanAFewMegabytes) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    HeldBatch batch(
        server, disk,
        std::vector<std::string>(40, entry_of("POST", "Patient", long_patient("", 1'000'000))));
    batch.expect_submitted(16);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(batch.submitted(), 16U);
    batch.release();
    EXPECT_EQ(server.store().totals().live, 40U);
}

TEST(BatchOrder, BeginsNothingOnceItsTimeIsOverWhileEntriesAreInFlight) {
    Config config;
    config.hard_delete = true;  // such a deletion is not submitted at once: it waits for the write
    config.limits.request_timeout = std::chrono::seconds(3);
    test::SimFileSystem disk;
    TestService server(config, disk);
    HeldBatch batch(
        server, disk,
        {entry_of("PUT", "Patient/1", patient_json("1")), entry_of("DELETE", "Patient/1"),
         entry_of("PUT", "Patient/2", patient_json("2"))});
    batch.expect_submitted(1);
    std::this_thread::sleep_for(config.limits.request_timeout);
    const Json bundle(batch.release());
    EXPECT_EQ(bundle.statuses(), "201 503 503");
    EXPECT_EQ(bundle.issue(1, "code"), "timeout");
    EXPECT_EQ(server.get("/Patient/1").status, 200);
}

TEST(BatchOrder, LetsConditionalWritesSeeMoreCreatesThanMayBeInFlight) {
    TestService server;
    std::vector<std::string> entries;
    for (int i = 0; i < 1200; ++i) {
        entries.push_back(entry_of(
            "POST", "Patient",
            patient_json("", R"("identifier":[{"value":")" + std::to_string(i) + R"("}])")));
    }
    const auto known = [](int i) { return "identifier=" + std::to_string(i); };
    for (const int i : {0, 1199}) {
        entries.push_back(entry_of("POST", "Patient", patient_json(""), {},
                                   R"("ifNoneExist":")" + known(i) + '"'));
    }
    entries.push_back(entry_of("PUT", "Patient?" + known(1199), patient_json("")));
    entries.push_back(entry_of("POST", "Patient", patient_json(""), {},
                               R"("ifNoneExist":")" + known(1200) + '"'));
    const Json bundle(server.submit(bundle_of("batch", entries)).body);
    const std::string statuses = bundle.statuses();
    EXPECT_EQ(statuses.substr(statuses.size() - 19), "201 200 200 200 201");
    EXPECT_EQ(server.store().totals().live, 1201U);
}

TEST(BatchOrder, GoesOnFromWhatIsStoredIfWritesInFlightAreDropped) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    std::vector<std::string> entries(1500, entry_of("PUT", "Patient/1", patient_json("1")));
    entries.push_back(entry_of("GET", "Patient/1"));
    HeldBatch batch(server, disk, entries);
    batch.expect_submitted(1000);
    disk.fail_next(test::SimFileSystem::Call::write, Errc::no_store);
    const Json bundle(batch.release());
    std::size_t stored = 0;
    std::size_t dropped = 0;
    for (const json::Value entry : bundle.root()["entry"].elements()) {
        const json::Value response = entry["response"];
        if (response["status"].string().starts_with("503")) {
            EXPECT_EQ(Json::issue(response["outcome"], "code"), "no-store");
            ++dropped;
        } else if (stored + dropped < 1500) {
            ++stored;
            ASSERT_EQ(response["etag"].string(), "W/\"" + std::to_string(stored) + "\"");
        }
    }
    EXPECT_GE(dropped, 1U);
    EXPECT_EQ(bundle.entry(1500)["resource"]["meta"]["versionId"].string(), std::to_string(stored));
    // Until the writer has found that there is space again.
    Received later;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
        later = server.put("/Patient/1", patient_json("1"));
    } while (later.status == 503 && std::chrono::steady_clock::now() < latest);
    EXPECT_EQ(later.etag, VersionNumber{stored + 1});
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
