#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

class Delete : public ServiceFixture {
  protected:
    void use(bool hard_delete, std::uint64_t delete_absent = 404) {
        core::Config config;
        config.hard_delete = hard_delete;
        config.delete_absent = delete_absent;
        restart(config);
    }
};

class ConditionalDelete : public Delete {};

class HistoryDeletion : public Delete {};

TEST_F(Delete, MakesADeletionVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer answer = send("DELETE", "/Patient/1");
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_EQ(send("GET", "/Patient/1").status, 410);
    EXPECT_EQ(send("GET", "/Patient/1/_history/1").status, 200);
    EXPECT_TRUE(send("GET", "/Patient/1/_history").says(R"("method":"DELETE")"));
}

TEST_F(Delete, ThatCannotEraseIsNotSaidToHaveFoundNothing) {
    ASSERT_EQ(put_patient("1"), 201);
    use(true);
    // If somebody removes these files while they are in use, bytes can't be erased.
    ASSERT_GT(std::filesystem::remove_all(data() + "/search"), 0U);
    const Answer answer = send("DELETE", "/Patient/1");
    EXPECT_EQ(answer.status, 500) << answer.body;
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
}

TEST_F(Delete, RepeatedMakesNoNewVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    const Answer again = send("DELETE", "/Patient/1");
    EXPECT_EQ(again.status, 204);
    EXPECT_EQ(again.etag, 2U);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-Match", R"(W/"1")"}}).status, 204);
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(Delete, AnswersWhatNeverWasAsConfigured) {
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 404);
    use(false, 204);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-Match", R"(W/"1")"}}).status, 404);
}

TEST_F(Delete, AnswersAnOutcomeIfPreferred) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer answer = send("DELETE", "/Patient/1", "", {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("1 resource deleted: Patient/1 version 2"));
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"Prefer", "return=OperationOutcome"}}).status,
              200);
}

TEST_F(Delete, HonoursIfMatch) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    const Answer stale = send("DELETE", "/Patient/1", "", {{"If-Match", R"(W/"1")"}});
    EXPECT_EQ(stale.status, 412);
    EXPECT_TRUE(stale.says("If-Match: expected version 1, actual version 2"));
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-Match", "nonsense"}}).status, 400);
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-Match", R"(W/"2")"}}).status, 204);
}

TEST_F(Delete, HonoursIfNoneMatchAndIfUnmodifiedSince) {
    const std::vector<std::pair<std::string, std::string>> since = {
        {"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"}};
    EXPECT_EQ(send("DELETE", "/Patient/1", "", since).status, 404);
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string condition : {"*", R"(W/"1")"}) {
        EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-None-Match", condition}}).status, 412);
    }
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-None-Match", "W/1"}}).status, 400);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", since).status, 412);
    EXPECT_EQ(send("DELETE", "/Patient?_id=1", "", {{"If-None-Match", "*"}}).status, 412);
    EXPECT_EQ(send("DELETE", "/Patient?_id=1", "", since).status, 412);
    EXPECT_EQ(store().totals().versions, 1U);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-None-Match", R"(W/"2")"}}).status, 204);
    // A deleted resource has nothing that could have been modified.
    EXPECT_EQ(send("DELETE", "/Patient/1", "", since).status, 204);
    use(true);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", since).status, 412);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-None-Match", "*"}}).status, 204);
}

TEST_F(Delete, TakesNoBody) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(send("DELETE", "/Patient/1", "{}").status, 400);
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
}

TEST_F(Delete, RemovesEverythingIfHard) {
    use(true);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    const Answer answer = send("DELETE", "/Patient/1", "", {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("Patient/1 with all 2 versions"));
    ASSERT_EQ(put_patient("2"), 201);
    EXPECT_TRUE(send("DELETE", "/Patient/2", "", {{"Prefer", "return=OperationOutcome"}})
                    .says("Patient/2 with its only version"));
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1/_history/1").status, 404);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 404);
    EXPECT_EQ(store().totals().versions, 0U);
    const Answer again = send("PUT", "/Patient/1", patient("1"));
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.etag, 1U);
    EXPECT_EQ(send("PUT", "/Patient/1", patient("1")).etag, 2U);
}

TEST_F(Delete, RemovesADeletedResourceIfHard) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    use(true);
    EXPECT_EQ(send("DELETE", "/Patient/1", "", {{"If-Match", R"(W/"1")"}}).status, 412);
    EXPECT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
}

TEST_F(ConditionalDelete, DeletesTheOneMatch) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    EXPECT_EQ(send("DELETE", "/Patient?identifier=8").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
    EXPECT_EQ(send("DELETE", "/Patient/?identifier=7", "", {{"If-Match", "2"}}).status, 412);
    const Answer answer =
        send("DELETE", "/Patient/?identifier=7", "", {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("1 resource deleted: Patient/1 version 2"));
    EXPECT_EQ(send("GET", "/Patient/1").status, 410);
    EXPECT_EQ(send("DELETE", "/Patient?identifier=7").status, 204);
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(ConditionalDelete, RefusesSeveralMatchesAndBadCriteria) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"a", "7"}})).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/2", patient_with("2", {{"b", "7"}})).status, 201);
    const Answer several = send("DELETE", "/Patient?identifier=7");
    EXPECT_EQ(several.status, 412);
    EXPECT_TRUE(several.says(R"("code":"multiple-matches")"));
    EXPECT_TRUE(several.says("2"));
    for (const std::string query : {"", "?", "?nothing=x", "?identifier=", "?_count=1"}) {
        const Answer answer =
            send("DELETE", "/Patient" + query, "", {{"Prefer", "handling=lenient"}});
        EXPECT_EQ(answer.status, 400) << query;
        EXPECT_TRUE(answer.says(R"("code":"invalid")")) << query;
    }
    EXPECT_EQ(send("DELETE", "/Patient?identifier=9", "{}").status, 400);
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(ConditionalDelete, DeletesSeveralAtOnceUpToAMaximumWhereThatIsAllowed) {
    for (const bool hard_delete : {false, true}) {
        core::Config config;
        config.conditional_delete = "multiple";
        config.conditional_delete_max = 3;
        config.hard_delete = hard_delete;
        restart(config);
        for (const std::string id : {"1", "2", "3", "4"}) {
            ASSERT_EQ(put_patient(id), 201);
        }
        const Answer too_many = send("DELETE", "/Patient?family=chalmers");
        EXPECT_EQ(too_many.status, 412);
        EXPECT_TRUE(too_many.says(R"("code":"multiple-matches")"));
        EXPECT_EQ(store().totals().live, 4U);
        // If-Match is about a single version.
        EXPECT_EQ(send("DELETE", "/Patient?_id=1,2", "", {{"If-Match", "*"}}).status, 412);

        const Answer deleted =
            send("DELETE", "/Patient?_id=1,2,4", "", {{"Prefer", "return=OperationOutcome"}});
        EXPECT_EQ(deleted.status, 200);
        EXPECT_TRUE(deleted.says("3 resources deleted"));
        EXPECT_EQ(store().totals().live, 1U);
        EXPECT_EQ(send("GET", "/Patient/1").status, hard_delete ? 404 : 410);
        EXPECT_EQ(send("DELETE", "/Patient?family=chalmers").status, 204);
        EXPECT_EQ(store().totals().live, 0U);
    }
}

TEST_F(ConditionalDelete, WaitsForNothingThatItHasReadItself) {
    restart_on(std::make_shared<SimFileSystem>());  // a real device may take as long
    use(true);
    // An erasure waits a quarter of a second for readers. The fastest try counts, since a machine may be slow.
    auto quickest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(put_patient("1"), 201);
        const auto begin = std::chrono::steady_clock::now();
        ASSERT_EQ(send("DELETE", "/Patient?_id=1").status, 204);
        quickest = std::min(quickest, std::chrono::steady_clock::now() - begin);
    }
    EXPECT_LT(quickest, std::chrono::milliseconds(250));
}

TEST_F(HistoryDeletion, IsNotAllowedUnlessHardDeleteIsOn) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string path : {"/Patient/1/_history", "/Patient/1/_history/1"}) {
        const Answer answer = send("DELETE", path);
        EXPECT_EQ(answer.status, 405) << path;
        EXPECT_TRUE(answer.says(R"("code":"not-supported")")) << path;
        EXPECT_EQ(answer.allow, "GET, HEAD") << path;
    }
}

TEST_F(HistoryDeletion, RemovesNothingIfItIsAskedForWithCriteria) {
    use(true);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    for (const std::string path :
         {"/Patient/1/_history?_at=2020", "/Patient/1/_history/1?_id=2", "/Patient/1?_id=2"}) {
        EXPECT_EQ(send("DELETE", path).status, 400) << path;
    }
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(HistoryDeletion, RemovesOneVersion) {
    use(true);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    ASSERT_EQ(put_patient("1"), 200);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/2").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1/_history/2").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1/_history/1").status, 200);
    EXPECT_EQ(send("GET", "/Patient/1").etag, 3U);
    EXPECT_TRUE(send("GET", "/Patient/1/_history").says(R"("total":2)"));

    EXPECT_EQ(send("DELETE", "/Patient/1/_history/2").status, 404);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/9").status, 404);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/x").status, 404);
    EXPECT_EQ(send("DELETE", "/Patient/2/_history/1").status, 404);
    const Answer current = send("DELETE", "/Patient/1/_history/3");
    EXPECT_EQ(current.status, 409);
    EXPECT_TRUE(current.says(R"("code":"business-rule")"));
    EXPECT_EQ(put_patient("1"), 200);
    EXPECT_EQ(send("GET", "/Patient/1").etag, 4U);
}

TEST_F(HistoryDeletion, KeepsTheCurrentVersionOfALiveResource) {
    use(true);
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    ASSERT_EQ(put_patient("1"), 200);
    const Answer answer =
        send("DELETE", "/Patient/1/_history", "", {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("2 versions removed: Patient/1"));
    EXPECT_EQ(send("GET", "/Patient/1").etag, 3U);
    EXPECT_TRUE(send("GET", "/Patient/1/_history").says(R"("total":1)"));
    EXPECT_EQ(send("DELETE", "/Patient/1/_history").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/2/_history").status, 404);
}

TEST_F(HistoryDeletion, OfTheDeletionLeavesTheResourceDeletedForCopiesToo) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    use(true);
    const Headers if_match{{"If-Match", R"(W/"3")"}};
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/3", {}, if_match).status, 204);
    EXPECT_EQ(send("GET", "/Patient/1/_history/3").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1").status, 410);
    EXPECT_EQ(send("GET", "/Patient/1/_history/2").status, 200);
    const Answer history = send("GET", "/_history?_sort=_position");
    EXPECT_TRUE(history.says(R"("total":3)"));
    EXPECT_TRUE(history.says("/Patient/1/_history/4"));
    EXPECT_TRUE(history.says(R"("method":"DELETE")"));

    // If no other version is left, the deletion can be erased, too.
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/1").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/2").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1").status, 410);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/4").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(HistoryDeletion, LeavesNoOtherVersionInThePlaceOfTheRemovedOne) {
    use(true);
    std::vector<std::string> instants;
    for (int version = 1; version <= 3; ++version) {
        put_patient("1");
        instants.push_back(format_instant(send("GET", "/Patient/1").last_modified));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_EQ(send("DELETE", "/Patient/1/_history/2").status, 204);
    for (const std::string level : {"/Patient/1", "/Patient", ""}) {
        const std::string at = level + "/_history?_at=";
        EXPECT_TRUE(send("GET", at + instants[0]).says("/Patient/1/_history/1")) << level;
        EXPECT_TRUE(send("GET", at + instants[1]).says(R"("total":0)")) << level;
        EXPECT_TRUE(send("GET", at + instants[2]).says("/Patient/1/_history/3")) << level;
    }
    EXPECT_EQ(send("GET", "/Patient/1?_asOf=1").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/1?_asOf=2").status, 404);
    EXPECT_TRUE(send("GET", "/Patient?_asOf=1").says(R"("total":1)"));
    EXPECT_TRUE(send("GET", "/Patient?_asOf=2").says(R"("total":0)"));
}

TEST_F(HistoryDeletion, AsAnOperationTellsHowManyVersionsWent) {
    const std::string path = "/Patient/1/$purge-history";
    const auto count = [&] {
        const Answer answer = send("POST", path);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    };
    const auto told = [](int number) {
        return R"({"resourceType":"Parameters","parameter":[{"name":"count","valueInteger":)" +
               std::to_string(number) + "}]}";
    };
    use(true);
    EXPECT_EQ(send("POST", path).status, 404);
    for (const int status : {201, 200, 200}) {
        ASSERT_EQ(put_patient("1"), status);
    }
    EXPECT_EQ(send("POST", path, "", {{"If-Match", R"(W/"2")"}}).status, 412);
    EXPECT_EQ(send("POST", path, "", {{"If-Match", "x"}}).status, 400);
    EXPECT_EQ(send("POST", path + "?limit=1").status, 400);
    EXPECT_EQ(
        send("POST", path,
             R"({"resourceType":"Parameters","parameter":[{"name":"limit","valueInteger":1}]})")
            .status,
        400);
    EXPECT_EQ(send("POST", path, R"({"resourceType":"Patient"})").status, 400);
    EXPECT_TRUE(send("GET", "/Patient/1/_history").says(R"("total":3)"));

    EXPECT_EQ(count(), told(2));
    EXPECT_EQ(send("GET", "/Patient/1").etag, 3U);
    EXPECT_TRUE(send("GET", "/Patient/1/_history").says(R"("total":1)"));
    EXPECT_EQ(count(), told(0));

    use(false);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    use(true);
    EXPECT_EQ(count(), told(2));
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
    EXPECT_EQ(send("POST", path).status, 404);
}

TEST_F(HistoryDeletion, AsAnOperationIsTheOneThatHardDeleteSwitchesOn) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const bool hard_delete : {false, true}) {
        use(hard_delete);
        for (const char* method : {"GET", "POST"}) {
            const Answer answer = send(method, "/Patient/1/$purge-history");
            const bool taken = hard_delete && method == std::string_view("POST");
            EXPECT_EQ(answer.status, taken ? 200 : 405) << method;
            EXPECT_EQ(answer.allow, hard_delete && !taken ? "POST" : "") << method;
        }
        EXPECT_EQ(send("GET", "/metadata").says(R"({"name":"purge-history")"), hard_delete);
        EXPECT_EQ(send("GET", "/openapi.json").says(R"("/{type}/{id}/$purge-history")"),
                  hard_delete);
    }
}

TEST_F(HistoryDeletion, RemovesAllOfADeletedResource) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    use(true);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1").status, 404);
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history").status, 404);
}

TEST_F(HistoryDeletion, OfTheLastVersionLeavesNothingWhateverElseIsStored) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("2"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    use(true);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/1").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/1/_history/2").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1/_history").status, 404);
    EXPECT_EQ(send("GET", "/Patient/2").status, 200);
}

}  // namespace
}  // namespace annals::test
