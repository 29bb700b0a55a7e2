// $purge: what goes and what stays, and what the receipt says.

#include "core/operations/purge.h"

#include "core/base/digest.h"
#include "core/own_loop.h"
#include "core/target.h"
#include "tests/core/operations/purge_fixture.h"
#include "tests/support/longest_pause.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST_F(PurgeTest, ErasesTheCompartmentAndTellsEveryVersionWithItsHash) {
    put("Practitioner", "doc");
    put("Patient", "p", R"("gender":"male")");
    put("Patient", "p", R"("gender":"female")");
    put("Patient", "other");
    put("Encounter", "e",
        R"("status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/p"},)"
        R"("participant":[{"individual":{"reference":"Practitioner/doc"}}])");
    put("Observation", "o", subject("p"));
    put("Observation", "theirs", subject("other"));
    std::map<std::string, std::string> hashes;
    for (const std::string name : {"Patient/p/_history/1", "Patient/p/_history/2",
                                   "Encounter/e/_history/1", "Observation/o/_history/1"}) {
        hashes[name] = sha256_hex(send("GET", "/" + name).body);
    }
    const std::uint64_t last = store().last_position().value;

    const Receipt foreseen = purge("p", "?dryRun=true");
    EXPECT_TRUE(foreseen.dry_run);
    EXPECT_EQ(foreseen.hashes, hashes);
    EXPECT_EQ(status("Patient/p"), 200);
    EXPECT_EQ(status("Observation/o"), 200);

    const Receipt done = purge("p");
    EXPECT_FALSE(done.dry_run);
    EXPECT_EQ(done.hashes, hashes);
    EXPECT_EQ(done.position, last);
    EXPECT_THAT(done.whole, UnorderedElementsAre("Patient/p", "Encounter/e", "Observation/o"));
    EXPECT_TRUE(done.referrers.empty());
    for (const auto& [name, hash] : hashes) {
        EXPECT_EQ(status(name), 404) << name;
    }
    for (const std::string name : {"Patient/p", "Encounter/e", "Observation/o"}) {
        EXPECT_EQ(status(name), 404) << name;
        EXPECT_EQ(status(name + "/_history"), 404) << name;
    }
    for (const std::string name : {"Practitioner/doc", "Patient/other", "Observation/theirs"}) {
        EXPECT_EQ(status(name), 200) << name;
    }
    EXPECT_TRUE(send("GET", "/Observation?subject=Patient/p").says(R"("total":0)"));
    EXPECT_EQ(send("POST", "/Patient/p/$purge").status, 404);
}

TEST_F(PurgeTest, ErasesWhatWasDeletedToo) {
    put("Patient", "p");
    put("Observation", "o", subject("p"));
    remove("Observation/o");
    put("Condition", "c", R"("subject":{"reference":"Patient/p"})");
    remove("Patient/p");
    const Receipt done = purge("p");
    EXPECT_THAT(done.versions.at("Observation/o"), ElementsAre("1", "2"));
    EXPECT_THAT(done.versions.at("Patient/p"), ElementsAre("1", "2"));
    EXPECT_EQ(done.hashes.at("Patient/p/_history/2"), "");
    EXPECT_EQ(status("Observation/o"), 404);
    EXPECT_EQ(status("Patient/p"), 404);
    EXPECT_EQ(status("Condition/c"), 404);
}

TEST_F(PurgeTest, OfWhatIsAnothersNowTakesTheVersionsThatWereHis) {
    put("Patient", "p");
    put("Patient", "q");
    put("Observation", "o", subject("q"));
    put("Observation", "o", subject("p"));
    put("Observation", "o", subject("q", R"(,"issued":"2020-01-01T00:00:00Z")"));
    put("Observation", "o", subject("p", R"(,"issued":"2021-01-01T00:00:00Z")"));
    put("Observation", "o", subject("q", R"(,"issued":"2022-01-01T00:00:00Z")"));
    const Receipt done = purge("p");
    EXPECT_THAT(done.whole, ElementsAre("Patient/p"));
    EXPECT_THAT(done.versions.at("Observation/o"), ElementsAre("2", "4"));
    EXPECT_EQ(status("Observation/o"), 200);
    EXPECT_EQ(status("Observation/o/_history/1"), 200);
    EXPECT_EQ(status("Observation/o/_history/2"), 404);
    EXPECT_EQ(status("Observation/o/_history/3"), 200);
    EXPECT_EQ(status("Observation/o/_history/4"), 404);
}

TEST_F(PurgeTest, TakesAllOfWhatCameToBeHis) {
    put("Patient", "p");
    put("Patient", "q");
    put("Observation", "o", subject("q"));
    put("Observation", "o", subject("p"));
    EXPECT_THAT(purge("p").versions.at("Observation/o"), ElementsAre("1", "2"));
    EXPECT_EQ(status("Observation/o"), 404);
}

TEST_F(PurgeTest, KeepsWhatIsOthersToo) {
    put("Patient", "p");
    put("Patient", "q", R"("link":[{"other":{"reference":"Patient/p"},"type":"seealso"}])");
    put("Observation", "of-q", subject("q", R"(,"performer":[{"reference":"Patient/p"}])"));
    put("Observation", "of-p", subject("p", R"(,"performer":[{"reference":"Patient/q"}])"));
    const std::string both =
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/p"}},)"
        R"({"entity":{"reference":"Patient/q"}}])";
    put("Group", "g", both);
    const Receipt foreseen = purge("p", "?dryRun=true&includeShared=true");
    EXPECT_THAT(foreseen.whole, UnorderedElementsAre("Patient/p", "Observation/of-p",
                                                     "Observation/of-q", "Group/g"));
    const Receipt done = purge("p");
    EXPECT_THAT(done.whole, UnorderedElementsAre("Patient/p", "Observation/of-p"));
    EXPECT_THAT(done.shared, UnorderedElementsAre("Patient/q", "Observation/of-q", "Group/g"));
    EXPECT_EQ(done.referrers.at("Group/g"), "Patient/p");
    EXPECT_EQ(status("Group/g"), 200);
    EXPECT_EQ(status("Patient/q"), 200);
    EXPECT_EQ(status("Observation/of-q"), 200);
    EXPECT_EQ(status("Observation/of-p"), 404);
}

TEST_F(PurgeTest, TakesWhatIsNobodyElsesThoughOthersThanPatientsAreNamedBeside) {
    put("Patient", "p");
    put("Practitioner", "doc");
    put("Group", "g",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Practitioner/doc"}},)"
        R"({"entity":{"reference":"Patient/p"}}])");
    EXPECT_THAT(purge("p").whole, UnorderedElementsAre("Patient/p", "Group/g"));
    EXPECT_EQ(status("Practitioner/doc"), 200);
}

TEST_F(PurgeTest, KeepsWhatWasOthersTooAndIsNotHisAnyMore) {
    put("Patient", "p");
    put("Patient", "q", R"("link":[{"other":{"reference":"Patient/p"},"type":"seealso"}])");
    put("Patient", "q");
    put("Observation", "o", subject("q", R"(,"performer":[{"reference":"Patient/p"}])"));
    put("Observation", "o", subject("q"));
    EXPECT_THAT(purge("p", "?dryRun=true").versions,
                ElementsAre(testing::Pair("Patient/p", ElementsAre("1"))));
    EXPECT_THAT(purge("p", "?includeShared=true").versions,
                ElementsAre(testing::Pair("Observation/o", ElementsAre("1")),
                            testing::Pair("Patient/p", ElementsAre("1"))));
    EXPECT_EQ(status("Patient/q/_history/1"), 200) << "other Patients never go";
    EXPECT_EQ(status("Observation/o"), 200);
}

TEST_F(PurgeTest, OfWhatIsOthersTooTakesTheVersionsThatWereHisAlone) {
    put("Patient", "p");
    put("Patient", "q");
    put("Observation", "o", subject("p"));
    put("Observation", "o", subject("q", R"(,"performer":[{"reference":"Patient/p"}])"));
    put("Observation", "deleted", subject("p"));
    put("Observation", "deleted", subject("q", R"(,"performer":[{"reference":"Patient/p"}])"));
    ASSERT_EQ(send("DELETE", "/Observation/deleted").status, 204);
    const Receipt done = purge("p");
    EXPECT_THAT(done.whole, ElementsAre("Patient/p"));
    EXPECT_THAT(done.shared, ElementsAre("Observation/o"));
    EXPECT_THAT(done.versions.at("Observation/o"), ElementsAre("1"));
    EXPECT_THAT(done.versions.at("Observation/deleted"), ElementsAre("1"));
    EXPECT_EQ(status("Observation/o"), 200);
    EXPECT_EQ(status("Observation/o/_history/1"), 404);
    EXPECT_EQ(status("Observation/o/_history/2"), 200);
    EXPECT_EQ(status("Observation/deleted/_history/1"), 404);
    EXPECT_EQ(status("Observation/deleted/_history/2"), 200);
}

TEST_F(PurgeTest, TakesAPatientOfWhomNothingButADeletionIsKnown) {
    const std::string deleted =
        R"({"resourceType":"Bundle","type":"history","entry":[{"request":{"method":"DELETE","url":"Patient/p"},)"
        R"("response":{"status":"410","etag":"W/\"3\""}}]})";
    ASSERT_EQ(send("POST", "/", deleted).status, 200);
    ASSERT_EQ(status("Patient/p"), 410);
    const Receipt done = purge("p");
    EXPECT_THAT(done.whole, ElementsAre("Patient/p"));
    EXPECT_THAT(done.versions.at("Patient/p"), ElementsAre("3"));
    EXPECT_EQ(status("Patient/p"), 404);
}

TEST_F(PurgeTest, TakesMoreVersionsOfAResourceThanAreLookedUpAtATime) {
    constexpr std::size_t kVersions = 1001;
    put("Patient", "p");
    for (std::size_t i = 0; i < kVersions; ++i) {
        put("Observation", "o", subject("p"));
    }
    EXPECT_EQ(purge("p").versions.at("Observation/o").size(), kVersions);
    EXPECT_EQ(status("Observation/o/_history"), 404);
}

TEST_F(PurgeTest, TellsOfNobodyWhoRefersToWhatGoesInPart) {
    put("Patient", "p");
    put("Patient", "q");
    put("Observation", "o", subject("p"));
    put("Observation", "o", subject("q"));
    put("List", "l",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Observation/o"}}])");
    const Receipt done = purge("p");
    EXPECT_THAT(done.versions.at("Observation/o"), ElementsAre("1"));
    EXPECT_TRUE(done.referrers.empty());
}

TEST_F(PurgeTest, TellsWhoRefersToWhatGoes) {
    put("Patient", "p");
    put("Patient", "p1");
    put("Observation", "o", subject("p"));
    put("List", "l",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Observation/o"}}])");
    put("List", "escaped",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient\/p"}}])");
    put("List", "part",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/p#x"}}])");
    put("List", "away",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/p1"}}])");
    put("List", "deleted",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/p"}}])");
    remove("List/deleted");
    put("DocumentReference", "link",  // escaped, too, and no reference
        R"("status":"current","description":"\u0061","content":[{"attachment":{"url":"Patient/p"}}])");
    const Receipt done = purge("p");
    EXPECT_THAT(done.referrers, UnorderedElementsAre(testing::Pair("List/l", "Observation/o"),
                                                     testing::Pair("List/escaped", "Patient/p"),
                                                     testing::Pair("List/part", "Patient/p")));
    EXPECT_TRUE(done.shared.empty());
    EXPECT_TRUE(send("GET", "/List/l").says(R"("reference":"Observation/o")"));
}

TEST_F(PurgeTest, FindsReferencesHoweverTheyAreWritten) {
    put("Patient", "p-1");
    put("Patient", "p-12");
    const auto written = [&](std::string_view id, std::string_view reference) {
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"{}"}})",
                        reference));
    };
    written("slash", R"(Patient\/p-1)");
    written("number", R"(Patient/p-\u0031)");
    written("versioned", "Patient/p-1/_history/1");
    written("absolute", std::string(kBaseUrl) + "/Patient/p-1");
    written("longer", "Patient/p-12");
    written("elsewhere", "http://elsewhere/fhir/Patient/p-1");
    EXPECT_THAT(purge("p-1").whole,
                UnorderedElementsAre("Patient/p-1", "Observation/slash", "Observation/number",
                                     "Observation/versioned", "Observation/absolute"));
}

TEST_F(PurgeTest, LetsNothingComeBackThroughAnOlderHistoryBundle) {
    put("Patient", "p");
    put("Patient", "p", R"("gender":"male")");
    put("Observation", "o", subject("p"));
    const std::string history = send("GET", "/Patient/p/_history?_sort=_position").body;
    const std::string of_observation = send("GET", "/Observation/o/_history").body;
    (void)purge("p");
    EXPECT_EQ(send("POST", "/", history).status, 200);
    EXPECT_EQ(send("POST", "/", of_observation).status, 200);
    EXPECT_EQ(status("Patient/p"), 404);
    EXPECT_EQ(status("Observation/o"), 404);
    const std::string later =
        R"({"resourceType":"Bundle","type":"history","entry":[{"resource":{"resourceType":)"
        R"("Patient","id":"p","meta":{"versionId":"3"}},"request":{"method":"PUT","url":"Patient/p"}}]})";
    EXPECT_EQ(send("POST", "/", later).status, 200);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 3U);
}

TEST_F(PurgeTest, IsRefusedWhereOthersHoldWhatWouldGo) {
    Config config;
    config.integrity_on_delete = true;
    restart(config);
    put("Patient", "p");
    put("Observation", "o", subject("p"));
    put("List", "l",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Observation/o"}}])");
    const Answer refused = send("POST", "/Patient/p/$purge");
    EXPECT_EQ(refused.status, 409);
    EXPECT_TRUE(refused.says("List/l")) << refused.body;
    EXPECT_EQ(status("Observation/o"), 200);
    remove("List/l");
    EXPECT_THAT(purge("p").whole, UnorderedElementsAre("Patient/p", "Observation/o"));
}

TEST_F(PurgeTest, IsNotRefusedForReferencesToWhatStaysOrWasDeletedBefore) {
    put("Patient", "p");
    put("Patient", "q");
    put("Observation", "moved", subject("p"));
    put("Observation", "moved", subject("q"));
    put("Observation", "deleted", subject("p"));
    put("List", "l",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Observation/moved"}},)"
        R"({"item":{"reference":"Observation/deleted"}}])");
    remove("Observation/deleted");
    Config config;
    config.integrity_on_delete = true;
    restart(config);
    EXPECT_THAT(purge("p").whole, UnorderedElementsAre("Patient/p", "Observation/deleted"));
}

TEST_F(PurgeTest, TakesWhatIsWrittenWhileItLooks) {
    for (int i = 0; i < 300; ++i) {
        put("Observation", fmt::format("before-{}", i), subject("p"));
    }
    put("Patient", "p");
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        Loop loop(store());
        std::thread runs([&] { loop.run(); });
        // Not forever: writers faster than the purge would keep it from ending.
        for (int i = 0; !stop && i < 300; ++i) {
            const std::string id = fmt::format("during-{}", i);
            const std::string body =
                fmt::format(R"({{"resourceType":"Observation","id":"{}",{}}})", id, subject("p"));
            EXPECT_EQ(send_on(loop, "PUT", "/Observation/" + id, body).status, 201);
        }
        loop.stop();
        runs.join();
    });
    const Receipt done = purge("p");
    stop = true;
    writer.join();
    EXPECT_GE(done.whole.size(), 301U);
    // No Observation up to the purge's position is left.
    const TypeId observation = *find_resource_type("Observation");
    for (std::uint64_t at = 1; at <= done.position; ++at) {
        const auto info = store().at(Position{at});
        EXPECT_FALSE(info && info->type == observation) << at;
    }
}

TEST_F(PurgeTest, IsHeldToConditionsAsADeletionIs) {
    put("Patient", "p");
    put("Patient", "p");
    put("Observation", "o", subject("p"));
    const auto asked = [&](std::string_view name, std::string_view value, bool dry_run = false) {
        return send("POST", fmt::format("/Patient/p/$purge{}", dry_run ? "?dryRun=true" : ""), "",
                    {{std::string(name), std::string(value)}});
    };
    const Answer refused = asked("If-Match", "W/\"1\"");
    EXPECT_EQ(refused.status, 412);
    EXPECT_TRUE(refused.says("expected version 1, actual version 2")) << refused.body;
    EXPECT_EQ(asked("If-Match", "W/\"1\"", true).status, 412);
    EXPECT_EQ(asked("If-None-Match", "*").status, 412);
    EXPECT_EQ(asked("If-Unmodified-Since", "Wed, 01 Jan 2020 00:00:00 GMT").status, 412);
    EXPECT_EQ(asked("If-Match", "two").status, 400);
    EXPECT_EQ(status("Patient/p"), 200);
    EXPECT_EQ(status("Observation/o"), 200);
    EXPECT_EQ(asked("If-Match", "W/\"2\"").status, 200);
    EXPECT_EQ(status("Patient/p"), 404);
    EXPECT_EQ(status("Observation/o"), 404);
}

TEST_F(PurgeTest, RefusesWhatItDoesNotKnow) {
    put("Patient", "p");
    EXPECT_EQ(send("POST", "/Patient/p/$purge?force=true").status, 400);
    EXPECT_EQ(send("POST", "/Patient/p/$purge?dryRun=perhaps").status, 400);
    EXPECT_EQ(send("POST", "/Patient/p/$purge", R"({"resourceType":"Patient"})").status, 400);
    EXPECT_EQ(send("GET", "/Patient/p/$purge").status, 405);
    EXPECT_EQ(send("POST", "/Patient/none/$purge").status, 404);
    EXPECT_EQ(send("POST", "/Observation/p/$purge").status, 400);
    EXPECT_EQ(status("Patient/p"), 200);
}

class LongPurgeTest : public PurgeTest {
  protected:
    static constexpr int kMany = 10'000;

    /// Sends a Bundle with `entry(i)` for each of kMany.
    template <typename Entry>
    void send_many(std::string_view type, Entry entry) {
        std::string entries;
        for (int i = 0; i < kMany; ++i) {
            entries += (i == 0 ? "" : ",") + entry(i);
        }
        const std::string bundle =
            fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type, entries);
        ASSERT_EQ(send("POST", "/", bundle).status, 200);
    }

    void expect_turns() {
        Request request;
        request.method = HttpMethod::post;
        request.path = "/Patient/p/$purge";
        request.query = "dryRun=true";
        request.base_url = kBaseUrl;
        test::expect_turns(service(), request, 200);
    }
};

TEST_F(LongPurgeTest, TellsOfVeryManyVersionsOfOneResourceInTurns) {
    send_many("history", [](int i) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"p","meta":{{"versionId":"{}",)"
            R"("lastUpdated":"2020-01-01T00:00:00Z"}}}},"request":{{"method":"PUT","url":"Patient/p"}}}})",
            i + 1);
    });
    expect_turns();
}

TEST_F(LongPurgeTest, TellsInTurnsWhatStaysBecauseItIsOthersToo) {
    put("Patient", "p");
    put("Patient", "q");
    send_many("batch", [](int i) {
        const std::string id = fmt::format("a{:05}", kMany - i);
        return fmt::format(
            R"({{"resource":{{"resourceType":"Appointment","id":"{0}","status":"booked","participant":[)"
            R"({{"actor":{{"reference":"Patient/p"}},"status":"accepted"}},)"
            R"({{"actor":{{"reference":"Patient/q"}},"status":"accepted"}}]}},)"
            R"("request":{{"method":"PUT","url":"Appointment/{0}"}}}})",
            id);
    });
    expect_turns();
}

TEST_F(PurgeTest, RefusesMoreVersionsThanItErasesAtOnce) {
    constexpr std::size_t kMost = 8;
    // What a $purge that may erase kMost versions says instead of a receipt.
    const auto refusal = [&](std::string_view query) -> std::string {
        Request request;
        request.method = HttpMethod::post;
        request.path = "/Patient/p/$purge";
        request.query = query;
        request.base_url = kBaseUrl;
        const Target target = *parse_target(request.path);
        OwnLoop loop(store());
        const Result<Response> answer =
            loop.run("purge", request, purge_up_to(service(), request, target, kMost));
        EXPECT_EQ(answer->status, answer->failure ? 413 : 200);
        return answer->failure ? answer->failure->detail : "";
    };
    put("Patient", "p");
    for (const char* id : {"a", "b", "c", "d"}) {
        put("Observation", id, subject("p"));
    }
    for (const char* id : {"a", "b", "c"}) {
        remove("Observation/" + std::string(id));
    }
    EXPECT_EQ(refusal("dryRun=true"), "");
    remove("Observation/d");
    EXPECT_EQ(refusal("dryRun=true"), "More than 8 versions would be erased");
    for (const char* id : {"e", "f", "g"}) {
        put("Observation", id, subject("p"));
    }
    EXPECT_EQ(refusal("dryRun=true"), "More than 8 versions would be erased");
    put("Observation", "h", subject("p"));
    EXPECT_EQ(refusal("dryRun=true"), "More than 8 versions refer to Patient/p");
    EXPECT_EQ(refusal(""), "More than 8 versions refer to Patient/p");
    EXPECT_EQ(status("Patient/p"), 200);
}

TEST_F(PurgeTest, WaitsForNothingThatItHasReadItself) {
    restart_on(std::make_shared<test::SimFileSystem>());  // a real device may take as long
    // An erasure waits a quarter of a second for readers. The fastest try counts, since a machine may be slow.
    auto quickest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        put("Patient", "p");
        put("Observation", "o", subject("p"));
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(purge("p").whole.size(), 2U);
        quickest = std::min(quickest, std::chrono::steady_clock::now() - begin);
    }
    EXPECT_LT(quickest, std::chrono::milliseconds(250));
}

}  // namespace
}  // namespace annals::core
