#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <future>

namespace annals::test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

MATCHER_P2(Traced, status, reference, "") {
    return arg.status == status && arg.reference == reference;
}

// A service on a disk that can hold back syncs or let them fail.
class Durability : public ServiceFixture {
  protected:
    Durability() { restart_on(disk_); }

    std::future<Answer> send_later(std::string method, std::string target, std::string body = {},
                                   Headers headers = {}) {
        return std::async(std::launch::async, [this, method, target, body, headers] {
            return send(method, target, body, headers);
        });
    }

    // Runs `work` while the sync of a write (PUT of Patient `id`) is held back; returns the write's answer.
    template <typename Work>
    Answer during_sync_of(const std::string& id, const Work& work) {
        disk_->hold_syncs();
        auto writing = send_later("PUT", "/Patient/" + id, patient(id, "InFlight"));
        disk_->await_held_sync();
        work();
        disk_->release_syncs();
        return writing.get();
    }

    static bool pending(std::future<Answer>& answer) {
        return answer.wait_for(milliseconds(30)) == std::future_status::timeout;
    }

    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
};

TEST_F(Durability, ShowsNothingBeforeItsSync) {
    ASSERT_EQ(put_patient("old"), 201);
    const Answer written = during_sync_of("1", [&] {
        EXPECT_EQ(send("GET", "/Patient/1").status, 404);
        EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
        EXPECT_EQ(send("GET", "/Patient/old").status, 200);
        EXPECT_TRUE(send("GET", "/_history").says(R"("total":1)"));
    });
    EXPECT_EQ(written.status, 201);
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
}

TEST_F(Durability, DecidesOnWritesInFlightAndAnswersAfterThem) {
    ASSERT_EQ(put_patient("1"), 201);
    std::future<Answer> stale;
    std::future<Answer> fitting;
    const Answer written = during_sync_of("1", [&] {
        stale = send_later("PUT", "/Patient/1", patient("1"), {{"If-Match", "1"}});
        EXPECT_TRUE(pending(stale));
        fitting = send_later("PUT", "/Patient/1", patient("1"), {{"If-Match", "2"}});
        EXPECT_TRUE(pending(fitting));
    });
    EXPECT_EQ(written.etag, 2U);
    const Answer refusal = stale.get();
    EXPECT_EQ(refusal.status, 412);
    EXPECT_TRUE(refusal.says("If-Match: expected version 1, actual version 2"));
    EXPECT_EQ(fitting.get().etag, 3U);
}

TEST_F(Durability, DeletesOnceWhatIsBeingDeleted) {
    ASSERT_EQ(put_patient("1"), 201);
    disk_->hold_syncs();
    auto first = send_later("DELETE", "/Patient/1");
    disk_->await_held_sync();
    auto second = send_later("DELETE", "/Patient/1");
    EXPECT_TRUE(pending(second));
    disk_->release_syncs();
    EXPECT_EQ(first.get().etag, 2U);
    const Answer again = second.get();
    EXPECT_EQ(again.status, 204);
    EXPECT_EQ(again.etag, 2U);
}

TEST_F(Durability, UpdatesOnceTheErasureInItsWayIsDone) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    disk_->hold_syncs();
    auto deletion = send_later("DELETE", "/Patient/1");
    disk_->await_held_sync();
    auto update = send_later("PUT", "/Patient/1", patient("1"));
    EXPECT_TRUE(pending(update));
    disk_->release_syncs();
    EXPECT_EQ(deletion.get().status, 204);
    const Answer created = update.get();
    EXPECT_EQ(created.status, 201);
    EXPECT_EQ(created.etag, 1U);
}

TEST_F(Durability, SaysOfAnErasureWhoseBytesAreStillThereThatItIsDone) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(put_patient("1"), 201);
    disk_->fail_next(SimFileSystem::Call::create, Errc::no_store);  // of the erasure journal
    const Answer told = send("DELETE", "/Patient/1");
    EXPECT_EQ(told.status, 503);
    EXPECT_TRUE(told.says(R"("code":"no-store")"));
    EXPECT_TRUE(told.says("it is erased and can no longer be read"));
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
}

// Hard deletes, and the same request sent again before the bytes are gone.
class RepeatedErasure : public Durability {
  protected:
    RepeatedErasure() {
        config_.hard_delete = true;
        config_.delete_absent = 204;
        begin_anew();
    }

    void begin_anew() {
        disk_ = std::make_shared<SimFileSystem>();
        restart_on(disk_, config_);
        for (const char* id : {"1", "2", "3", "4"}) {
            EXPECT_EQ(put_patient(id), 201);
        }
        EXPECT_EQ(put_patient("2"), 200);
    }

    struct Erasure {
        const char* method;
        const char* target;
        std::string body;
    };

    static std::string bundle(std::string_view type, std::string_view entries) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type,
                           entries);
    }

    static inline const std::string kDeletion3 =
        R"({"request":{"method":"DELETE","url":"Patient/3"}})";

    // Each finds nothing more to erase when it is sent again.
    static std::vector<Erasure> erasures() {
        return {{"DELETE", "/Patient/1", ""},
                {"DELETE", "/Patient?_id=1", ""},
                {"DELETE", "/Patient/2/_history", ""},
                {"POST", "/Patient/2/$purge-history", ""},
                {"POST", "/", bundle("transaction", kDeletion3)},
                {"POST", "/",
                 bundle("transaction", R"({"request":{"method":"DELETE","url":"Patient?_id=3"}})")},
                {"POST", "/",
                 bundle("history", R"({"fullUrl":"http://a/fhir/Patient/4",)"
                                   R"("request":{"method":"DELETE","url":"Patient/4"},)"
                                   R"("response":{"status":"204","etag":"W/\"2\""}})")}};
    }

    Answer send_erasure(const Erasure& erasure) {
        return send(erasure.method, erasure.target, erasure.body);
    }

    // Each says why its bytes are left; a transaction's other entries are done, so its own is not refused.
    void expect_all(int status, std::string_view code) {
        for (const Erasure& erasure : erasures()) {
            const Answer told = send_erasure(erasure);
            const bool in_transaction = erasure.body.find("transaction") != std::string::npos;
            EXPECT_EQ(told.status, in_transaction ? 200 : status)
                << erasure.target << ' ' << erasure.body;
            EXPECT_EQ(told.says(R"("response":{"status":"202 Accepted","outcome":)"),
                      in_transaction);
            EXPECT_TRUE(told.says(fmt::format(R"("severity":"{}","code":"{}")",
                                              in_transaction ? "warning" : "error", code)))
                << told.body;
        }
    }

    void expect_all_done() {
        for (const Erasure& erasure : erasures()) {
            EXPECT_EQ(send_erasure(erasure).status,
                      erasure.method == std::string_view("POST") ? 200 : 204)
                << erasure.target << ' ' << erasure.body;
        }
    }

    // Waits until the erasure is retried.
    void await_retry() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (send("DELETE", "/Patient/1").status == 503 &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(milliseconds(5));
        }
    }

    void await_status(int status, const char* target) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (send("GET", target).status != status &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        EXPECT_EQ(send("GET", target).status, status) << target;
    }

    core::Config config_;
};

TEST_F(RepeatedErasure, IsNotDoneWhileItsBytesAreOnAFullDisk) {
    disk_->set_space(0);
    expect_all(503, "no-store");
    expect_all(503, "no-store");
    // Nor when what could not remove them is another process.
    restart(config_);
    expect_all(503, "no-store");
    disk_->set_space({});
    await_retry();
    expect_all_done();
}

TEST_F(RepeatedErasure, IsNotAbsentWhileItsBytesAreOnAFullDisk) {
    config_.delete_absent = 404;
    begin_anew();
    disk_->set_space(0);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 503);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 503);
    disk_->set_space({});
    await_retry();
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 404);
}

TEST_F(RepeatedErasure, ByPurgeIsNotAbsentWhileItsBytesAreOnAFullDisk) {
    config_.audit.file = "audit";
    begin_anew();
    disk_->set_space(0);
    const Answer first = send("POST", "/Patient/1/$purge");
    EXPECT_EQ(first.status, 503);
    EXPECT_THAT(first.entries, ElementsAre(Traced(202, "Patient/1")));
    const Answer again = send("POST", "/Patient/1/$purge");
    EXPECT_EQ(again.status, 503);
    EXPECT_TRUE(again.says(R"("code":"no-store")"));
    EXPECT_TRUE(again.entries.empty());
    EXPECT_EQ(send("POST", "/Patient/never/$purge").status, 404);
    disk_->set_space({});
    await_retry();
    EXPECT_EQ(send("POST", "/Patient/1/$purge").status, 404);
}

TEST_F(RepeatedErasure, HoldsUpNoDeletionOfWhatNeverWas) {
    disk_->set_space(0);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 503);
    EXPECT_EQ(send("DELETE", "/Patient/never").status, 204);
    const Answer answer =
        send("POST", "/",
             bundle("transaction", R"({"request":{"method":"DELETE","url":"Patient/never"}})"));
    EXPECT_EQ(answer.status, 200);
}

TEST_F(RepeatedErasure, IsNotDoneAfterAFailureUntilTheStoreIsOpenedAgain) {
    for (const Errc why : {Errc::io, Errc::corrupt, Errc::not_found}) {
        begin_anew();
        disk_->fail_next(SimFileSystem::Call::create, why);  // of the erasure journal
        EXPECT_EQ(send("DELETE", "/Patient/1").status, 500);
        expect_all(500, "exception");
        restart(config_);
        expect_all_done();
    }
}

TEST_F(RepeatedErasure, IsDoneOnceTheFirstIs) {
    disk_->hold_syncs("/erase/");
    std::vector<std::future<Answer>> first;
    for (const Erasure& erasure : erasures()) {
        first.push_back(send_later(erasure.method, erasure.target, erasure.body));
    }
    disk_->await_held_sync();
    for (const char* erased : {"/Patient/1", "/Patient/2/_history/1", "/Patient/3", "/Patient/4"}) {
        await_status(404, erased);
    }
    // From here on there is nothing left to erase: these wait for others' erasures.
    std::vector<std::future<Answer>> again;
    for (const Erasure& erasure : erasures()) {
        again.push_back(send_later(erasure.method, erasure.target, erasure.body));
    }
    for (std::future<Answer>& one : again) {
        EXPECT_TRUE(pending(one));
    }
    disk_->release_syncs();
    for (std::future<Answer>& one : first) {
        EXPECT_LT(one.get().status, 300);
    }
    for (std::future<Answer>& one : again) {
        EXPECT_LT(one.get().status, 300);
    }
}

TEST_F(RepeatedErasure, FailsLikeTheFirstThatItWaitsFor) {
    disk_->hold_syncs("/erase/");
    auto first = send_later("DELETE", "/Patient/1");
    disk_->await_held_sync();
    auto again = send_later("DELETE", "/Patient/1");
    EXPECT_TRUE(pending(again));
    disk_->fail_next(SimFileSystem::Call::sync, Errc::io);
    disk_->release_syncs();
    EXPECT_EQ(first.get().status, 500);
    EXPECT_EQ(again.get().status, 500);
}

TEST_F(RepeatedErasure, InATransactionFailsNoneOfItsOtherEntries) {
    const std::string all =
        bundle("transaction", R"({"resource":{"resourceType":"Patient"},)"
                              R"("request":{"method":"POST","url":"Patient"}},)" +
                                  kDeletion3 +
                                  R"(,{"request":{"method":"DELETE","url":"Patient/never"}})");
    const std::string outcome = R"({"response":{"status":"202 Accepted","outcome":{)"
                                R"("resourceType":"OperationOutcome","issue":[{)"
                                R"("severity":"warning","code":"exception","diagnostics":")";
    const std::string untouched = R"({"response":{"status":"204 No Content"}})";
    disk_->fail_next(SimFileSystem::Call::create, Errc::io);
    const Answer first = send("POST", "/", all);
    EXPECT_EQ(first.status, 200);
    EXPECT_TRUE(first.says(R"("status":"201 Created")")) << first.body;
    EXPECT_TRUE(first.says(outcome + "it is erased")) << first.body;
    EXPECT_TRUE(first.says(untouched)) << first.body;
    EXPECT_EQ(send("GET", "/Patient/3").status, 404);

    const Answer again = send("POST", "/", all, {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(again.status, 200);
    EXPECT_TRUE(again.says(R"("status":"201 Created")")) << again.body;
    EXPECT_TRUE(again.says(outcome + "nothing of it can be read")) << again.body;
    EXPECT_TRUE(again.says("Patient/never does not exist")) << again.body;

    restart(config_);
    const Answer done = send("POST", "/", all);
    EXPECT_EQ(done.status, 200);
    EXPECT_FALSE(done.says("202 Accepted")) << done.body;
}

TEST_F(RepeatedErasure, ByUndoIsNotDoneWhileItsBytesAreOnAFullDisk) {
    config_.audit.file = "audit";
    begin_anew();
    const std::string none = R"({"name":"count","valueInteger":0})";
    disk_->set_space(0);
    EXPECT_EQ(put_patient("new", "New", {{"X-Request-Id", "load-7"}}), 201);
    EXPECT_EQ(put_patient("1"), 200);
    const std::uint64_t last = store().last_position().value;
    const std::string undo = fmt::format("/$undo?from={}", last - 1);
    const Answer first = send("POST", undo);
    EXPECT_EQ(first.status, 503);
    EXPECT_TRUE(first.says("it is erased and can no longer be read")) << first.body;
    EXPECT_EQ(send("GET", "/Patient/new").status, 404);
    // It is applied, which its entries say.
    EXPECT_THAT(first.entries,
                ElementsAre(Traced(202, "Patient/new"), Traced(200, "Patient/1/_history/3")));

    const std::string of_erased = fmt::format("/$undo?position={}", last - 1);
    const std::string of_request = "/$undo?requestId=load-7";
    for (const std::string& repeated : {of_erased, of_request, undo}) {
        const Answer again = send("POST", repeated);
        EXPECT_EQ(again.status, 503) << repeated;
        EXPECT_TRUE(again.says("bytes of what was erased before")) << again.body;
    }
    // What was not erased is reverted once more by the last.
    EXPECT_EQ(send("GET", "/Patient/1").etag, 4U);

    restart(config_);
    EXPECT_EQ(send("POST", of_erased).status, 503);
    EXPECT_EQ(send("POST", of_request).status, 503);
    EXPECT_TRUE(send("POST", of_erased + "&dryRun=true").says(none));
    const std::string of_last = fmt::format("/$undo?position={}", store().last_position().value);
    EXPECT_EQ(send("POST", of_last).status, 200) << "nothing there was erased";
    disk_->set_space({});
    await_retry();
    EXPECT_TRUE(send("POST", of_erased).says(none));
    EXPECT_EQ(send("POST", of_request).status, 404);
}

TEST_F(RepeatedErasure, ByUndoOfARequestIsNotAbsentThoughItsIdIsGoneAlready) {
    bool gone = false;
    for (std::uint64_t passed = 1; passed <= 3; ++passed) {
        begin_anew();
        EXPECT_EQ(put_patient("new", "New", {{"X-Request-Id", "load-7"}}), 201);
        const Position last = store().last_position();
        disk_->fail_next(SimFileSystem::Call::sync, Errc::io, 1, passed);
        const int status = send("POST", "/$undo?requestId=load-7").status;
        gone = gone || (status == 500 && store().request_of(last).empty());
        EXPECT_EQ(send("POST", "/$undo?requestId=load-7").status, status == 200 ? 404 : 500);
        EXPECT_EQ(send("POST", fmt::format("/$undo?position={}", last.value)).status, status);
        restart(config_);
        EXPECT_EQ(send("POST", "/$undo?requestId=load-7").status, 404);
    }
    EXPECT_TRUE(gone);
}

TEST_F(Durability, CreatesNothingTwiceWhileTheFirstIsInFlight) {
    const std::string body = patient_with("", {{"mrn", "7"}});
    const ServiceFixture::Headers headers = {{"If-None-Exist", "identifier=mrn|7"}};
    disk_->hold_syncs();
    auto first = send_later("POST", "/Patient", body, headers);
    disk_->await_held_sync();
    auto second = send_later("POST", "/Patient", body, headers);
    EXPECT_TRUE(pending(second));
    disk_->release_syncs();
    const Answer created = first.get();
    EXPECT_EQ(created.status, 201);
    const Answer found = second.get();
    EXPECT_EQ(found.status, 200);
    EXPECT_EQ(found.location, created.location);
}

TEST_F(Durability, TakesNoWritesAfterAFailedSyncAndReadsOn) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    std::future<Answer> waiting;
    const Answer lost = during_sync_of("1", [&] {
        waiting = send_later("PUT", "/Patient/1", patient("1"), {{"If-Match", "1"}});
        EXPECT_TRUE(pending(waiting));
        disk_->fail_next(SimFileSystem::Call::sync, Errc::io);
    });
    EXPECT_EQ(lost.status, 503);
    EXPECT_TRUE(lost.says(R"("code":"no-store")"));
    EXPECT_EQ(waiting.get().status, 503);
    const Answer refused = send("POST", "/Patient", patient(""));
    EXPECT_EQ(refused.status, 503);
    EXPECT_TRUE(refused.says(R"("code":"no-store")"));
    const Answer read = send("GET", "/Patient/1");
    EXPECT_EQ(read.etag, 1U);
    EXPECT_TRUE(read.says("Old"));
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 503);
}

TEST_F(Durability, PromisesNothingOfWhatAFailedSyncMayHaveLeftBehind) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    ASSERT_EQ(send("PUT", "/Patient/2", patient_with("2", {{"mrn", "2"}})).status, 201);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 204);
    disk_->fail_next(SimFileSystem::Call::sync, Errc::io);
    EXPECT_EQ(put_patient("1"), 503);
    // When the store is opened again, Patient 1 may be live, and Patient 2 may be gone.
    for (const std::string target : {"/Patient/1", "/Patient?_id=1"}) {
        const Answer refused = send("DELETE", target);
        EXPECT_EQ(refused.status, 503) << target;
        EXPECT_TRUE(refused.says(R"("code":"no-store")")) << target;
    }
    EXPECT_EQ(send("POST", "/Patient", patient(""), {{"If-None-Exist", "identifier=mrn|2"}}).status,
              503);
    const std::string nothing = R"({"resourceType":"Parameters","parameter":[{"name":"meta",)"
                                R"("valueMeta":{"tag":[{"system":"s","code":"none"}]}}]})";
    EXPECT_EQ(send("POST", "/Patient/2/$meta-delete", nothing).status, 503);
    EXPECT_EQ(send("GET", "/Patient/1").status, 410);
    EXPECT_EQ(send("DELETE", "/Patient/never").status, 404);
}

TEST_F(Durability, WritesAgainWhenAFullDiskHasSpace) {
    ASSERT_EQ(put_patient("1"), 201);
    std::uint64_t used = 0;
    for (const std::string& path : disk_->paths()) {
        used += disk_->content(path).size();
    }
    disk_->set_space(used);
    int status = 201;
    for (int i = 0; i < 100'000 && status == 201; ++i) {
        status = send("PUT", fmt::format("/Patient/n{}", i),
                      patient(fmt::format("n{}", i), std::string(1 << 20, 'x')))
                     .status;
    }
    EXPECT_EQ(status, 503);
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
    EXPECT_TRUE(send("POST", "/Patient", patient("")).says(R"("code":"no-store")"));
    disk_->set_space({});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
        status = put_patient("2");
    } while (status == 503 && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(status, 201);
}

}  // namespace
}  // namespace annals::test
