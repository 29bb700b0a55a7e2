// $purge: what goes and what stays, what the receipt says, and that nothing is left over or half done.

#include "codec/json/document.h"
#include "core/base/digest.h"
#include "storage/verify.h"
#include "tests/support/files.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using test::SimFileSystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// What a receipt says.
struct Receipt {
    bool dry_run = false;
    std::uint64_t position = 0;
    std::map<std::string, std::vector<std::string>> versions;  ///< by resource
    std::set<std::string> whole;
    std::map<std::string, std::string> hashes;     ///< by versioned reference
    std::map<std::string, std::string> referrers;  ///< what each refers to
    std::set<std::string> shared;                  ///< of these
};

std::string part(json::Value parameter, std::string_view name, std::string_view value) {
    for (const json::Value one : parameter["part"].elements()) {
        if (one["name"].equals(name)) {
            return one[value].string();
        }
    }
    return {};
}

bool flag(json::Value parameter, std::string_view name) {
    for (const json::Value one : parameter["part"].elements()) {
        if (one["name"].equals(name)) {
            return one["valueBoolean"].raw() == "true";
        }
    }
    return false;
}

std::uint64_t count(json::Value parameter) {
    for (const json::Value one : parameter["part"].elements()) {
        if (one["name"].equals("count")) {
            return std::stoull(std::string(one["valueInteger"].raw()));
        }
    }
    return 0;
}

Receipt read_receipt(const Answer& answer) {
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    Receipt receipt;
    std::map<std::string, std::uint64_t> told;     // the numbers that it states
    std::map<std::string, std::uint64_t> counted;  // and what it lists
    for (const json::Value parameter : document->root()["parameter"].elements()) {
        const json::Value name = parameter["name"];
        if (parameter["valueInteger"]) {
            told[name.string()] = std::stoull(std::string(parameter["valueInteger"].raw()));
        }
        counted[name.string() + "s"] += parameter["part"] ? 1 : 0;
        if (name.equals("dryRun")) {
            receipt.dry_run = parameter["valueBoolean"].raw() == "true";
        } else if (name.equals("position")) {
            receipt.position = std::stoull(std::string(parameter["valueDecimal"].raw()));
        } else if (name.equals("resource")) {
            const std::string resource = part(parameter, "reference", "valueString");
            for (const json::Value one : parameter["part"].elements()) {
                if (one["name"].equals("version")) {
                    const std::string number = part(one, "versionId", "valueString");
                    receipt.versions[resource].push_back(number);
                    receipt.hashes[resource + "/_history/" + number] =
                        part(one, "sha256", "valueString");
                    EXPECT_EQ(flag(one, "deletion"), part(one, "sha256", "valueString").empty());
                    ++counted["versions"];
                }
            }
            EXPECT_EQ(count(parameter), receipt.versions[resource].size()) << resource;
            if (flag(parameter, "whole")) {
                receipt.whole.insert(resource);
            }
        } else if (name.equals("referrer")) {
            const std::string resource = part(parameter, "reference", "valueString");
            receipt.referrers[resource] = part(parameter, "refersTo", "valueString");
            if (flag(parameter, "shared")) {
                receipt.shared.insert(resource);
            }
        }
    }
    for (const std::string name : {"resources", "versions", "referrers"}) {
        EXPECT_EQ(told[name], counted[name]) << name;
    }
    return receipt;
}

std::string subject(std::string_view patient, std::string_view rest = {}) {
    return fmt::format(
        R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/{}"}}{})",
        patient, rest);
}

class PurgeTest : public test::ServiceFixture {
  protected:
    void put(std::string_view type, std::string_view id, std::string_view rest = {}) {
        const std::string body = fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})", type, id,
                                             rest.empty() ? "" : ",", rest);
        const Answer answer = send("PUT", fmt::format("/{}/{}", type, id), body);
        ASSERT_TRUE(answer.status == 200 || answer.status == 201) << body << answer.body;
    }

    void remove(const std::string& name) {
        ASSERT_EQ(send("DELETE", "/" + name).status, 204) << name;
    }

    int status(const std::string& path) { return send("GET", "/" + path).status; }

    Receipt purge(const std::string& id, const std::string& query = {}) {
        return read_receipt(send("POST", "/Patient/" + id + "/$purge" + query));
    }
};

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
    put("List", "away",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/p1"}}])");
    put("List", "deleted",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/p"}}])");
    remove("List/deleted");
    const Receipt done = purge("p");
    EXPECT_THAT(done.referrers, UnorderedElementsAre(testing::Pair("List/l", "Observation/o"),
                                                     testing::Pair("List/escaped", "Patient/p")));
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

// ---- the files ----

/// A patient with members of several types, in several versions, all
/// of which contain `marker`, among others in the same segments.
class PurgedFiles : public PurgeTest {
  protected:
    void fill(const std::string& marker) {
        const std::string text(500, 't');
        put("Patient", "q", fmt::format(R"("name":[{{"family":"kept","text":"{}"}}])", text));
        for (int round = 0; round < 2; ++round) {
            put("Patient", "p",
                fmt::format(R"("name":[{{"family":"{}","text":"{}{}"}}])", marker, text, round));
            for (int i = 0; i < 6; ++i) {
                put("Observation", fmt::format("o{}", i),
                    subject("p", fmt::format(R"(,"valueString":"{} {} {}")", marker, text, round)));
            }
            put("Observation", fmt::format("kept{}", round), subject("q"));
        }
        put("Observation", "moved", subject("p", fmt::format(R"(,"valueString":"{}")", marker)));
        put("Observation", "moved", subject("q"));
        put("DocumentReference", "d",
            fmt::format(R"("status":"current","subject":{{"reference":"Patient/p"}},)"
                        R"("content":[{{"attachment":{{"title":"{}"}}}}])",
                        marker));
        remove("DocumentReference/d");
    }

    static constexpr std::size_t kGone = 8;  ///< resources that are erased as a whole
};

TEST_F(PurgedFiles, HaveNothingOfItOnceItIsAnswered) {
    const std::string marker = "unmistakable";
    fill(marker);
    restart(Config());  // writes the search index
    const auto files_with_it = [&] {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(data())) {
            if (entry.is_regular_file() &&
                test::read_whole_file(entry.path()).find(marker) != std::string::npos) {
                found.push_back(entry.path());
            }
        }
        return found;
    };
    EXPECT_GE(files_with_it().size(), 2U);
    EXPECT_EQ(purge("p").whole.size(), kGone);
    EXPECT_THAT(files_with_it(), ElementsAre());
    restart(Config());
    EXPECT_THAT(files_with_it(), ElementsAre());
    EXPECT_EQ(status("Observation/kept0"), 200);
    EXPECT_EQ(status("Observation/moved"), 200);
    EXPECT_EQ(status("Observation/moved/_history/1"), 404);
}

TEST_F(PurgedFiles, AreAllOfItOrNothingAfterAPowerCut) {
    const std::string marker = "unmistakable";
    storage::StoreOptions options;
    options.segment_bytes = 4 << 10;
    options.prepare_segments = false;
    bool answered = false;
    for (std::uint64_t n = 1; !answered && !HasFailure(); ++n) {
        SCOPED_TRACE(n);
        const auto disk = std::make_shared<SimFileSystem>();
        store_options_ = options;
        restart_on(disk);
        fill(marker);
        disk->power_off_at(n);
        answered = send("POST", "/Patient/p/$purge").status == 200;
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            SCOPED_TRACE(seed);
            const auto after = disk->after_power_cut(seed);
            const auto report = storage::verify(*after, data());
            ASSERT_TRUE(report) << report.error().detail;
            EXPECT_TRUE(report->damages.empty()) << report->damages.front().reason;
            auto opened = storage::Store::open(*after, data(), options);
            ASSERT_TRUE(opened) << opened.error().detail;
            const storage::Store& store = **opened;
            const auto there = [&](std::string_view type, std::string_view id) {
                return store.current(*find_resource_type(type), id).has_value();
            };
            const bool kept = there("Patient", "p");
            EXPECT_FALSE(kept && answered);
            for (int i = 0; i < 6; ++i) {
                EXPECT_EQ(there("Observation", fmt::format("o{}", i)), kept) << i;
            }
            EXPECT_EQ(there("DocumentReference", "d"), kept);
            EXPECT_EQ(store.version(*find_resource_type("Observation"), "moved", {1}).has_value(),
                      kept);
            EXPECT_TRUE(there("Observation", "moved"));
            EXPECT_TRUE(there("Observation", "kept0"));
            for (const std::string& path : after->paths()) {
                EXPECT_TRUE(kept || after->content(path).find(marker) == std::string::npos) << path;
            }
        }
    }
    EXPECT_TRUE(answered);
}

TEST_F(PurgeTest, WaitsForNothingThatItHasReadItself) {
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
