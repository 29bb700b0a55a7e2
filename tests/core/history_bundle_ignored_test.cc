// The entries of a history bundle that are ignored: what they are compared with.

#include "core/interactions/history_bundle_ignored.h"

#include "tests/core/history_bundle_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

TEST(HistoryBundle, IgnoresWhatIsThereAlready) {
    TestService server;
    const std::vector<std::string> entries{version_entry("1", 1), version_entry("1", 2),
                                           deletion_entry("2", 2)};
    post_history(server, entries);
    const Json again = post_history(server, entries);
    EXPECT_EQ(again.statuses(), "200 200 204");
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again.issue(i, "severity"), "information");
        EXPECT_EQ(again.issue(i, "code"), "informational");
    }
    EXPECT_EQ(server.store().totals().versions, 3U);
}

TEST(HistoryBundle, SaysOfWhatItIgnoresWhetherItIsStored) {
    TestService server;
    post_history(server, {version_entry("1", 2), version_entry("1", 5), version_entry("2", 2),
                          deletion_entry("2", 5)});
    const Json bundle = post_history(
        server, {version_entry("1", 1), version_entry("1", 2), deletion_entry("1", 4),
                 version_entry("2", 2), deletion_entry("2", 4), deletion_entry("2", 5)});
    EXPECT_EQ(bundle.statuses(), "200 200 200 200 204 204");
    for (std::size_t i = 0; i < 6; ++i) {
        const bool missing = i == 0 || i == 2 || i == 4;
        EXPECT_EQ(bundle.issue(i, "code"), "informational") << i;
        const json::Value issues = bundle.entry(i)["response"]["outcome"]["issue"];
        ASSERT_EQ(issues.size(), missing ? 2U : 1U) << i;
        EXPECT_EQ(issues.raw().find("not-found") != std::string_view::npos, missing) << i;
    }
}

TEST(HistoryBundle, LetsOthersRunWhileItComparesWhatItIgnores) {
    TestService server;
    std::vector<std::string> entries;
    for (int i = 0; i < 100; ++i) {
        entries.push_back(version_entry(std::to_string(i), 1));
    }
    post_history(server, entries);
    const std::vector<Received> answers =
        server.send_all({{HttpMethod::post, "", {}, bundle_of("history", entries)},
                         {HttpMethod::get, "/Patient/1"}});
    EXPECT_EQ(answers[0].status, 200);
    EXPECT_LT(answers[1].place, answers[0].place);
}

TEST(HistoryBundle, WarnsWhenTheSameVersionHasOtherContent) {
    TestService server;
    post_history(server, {version_entry("1", 1), version_entry("1", 2), deletion_entry("2", 1)});
    const Json bundle = post_history(
        server,
        {version_entry("1", 1, R"("active":true)"), version_entry("1", 2, R"("active":true)"),
         deletion_entry("1", 2), version_entry("2", 1),
         entry_of("PUT", "Patient/1", version_body("1", 2, "2020-01-02T03:04:05.679Z"))});
    EXPECT_EQ(bundle.statuses(), "200 200 200 200 200");
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(bundle.issue(i, "severity"), "warning") << i;
        EXPECT_EQ(bundle.issue(i, "code"), "conflict") << i;
    }
    EXPECT_EQ(server.store().totals().versions, 3U);
}

TEST(HistoryBundle, KnowsTheSameContentHoweverItIsWritten) {
    TestService server;
    const auto patient = [](std::string_view resource) {
        return std::vector<std::string>{fmt::format(R"({{"resource":{}}})", resource)};
    };
    post_history(server, patient(R"({"resourceType":"Patient","id":"1","meta":{"versionId":"1",)"
                                 R"("lastUpdated":"2020-01-01T00:00:00.000Z"},)"
                                 R"("name":[{"family":"M\u00fcller\/x","text":"t"}],"x":1.0})"));
    const Json same = post_history(
        server, patient(R"({"x":1.0,"name":[{"text":"t","family":"Müller/x"}],"meta":{)"
                        R"("lastUpdated":"2020-01-01T01:00:00.000+01:00","versionId":"1"},)"
                        R"("id":"1","resourceType":"Patient"})"));
    EXPECT_EQ(same.statuses(), "200");
    EXPECT_EQ(same.issue(0, "code"), "informational");
    for (const std::string_view other :
         {R"("name":[{"family":"Muller/x","text":"t"}],"x":1.0)",
          R"("name":[{"family":"Müller/x","text":"t"}],"x":1.00)",
          R"("name":[{"family":"Müller/x","text":"t"}],"x":1.0,"active":true)",
          R"("name":[{"family":"Müller/x","text":"t"},{"text":"t"}],"x":1.0)"}) {
        const Json differs = post_history(
            server,
            patient(fmt::format(R"({{"resourceType":"Patient","id":"1","meta":{{"versionId":"1",)"
                                R"("lastUpdated":"2020-01-01T00:00:00.000Z"}},{}}})",
                                other)));
        EXPECT_EQ(differs.issue(0, "code"), "conflict") << other;
    }
}

TEST(HistoryBundle, SeesADuplicateInsideOfTheBundle) {
    TestService server;
    const Json bundle = post_history(server, {version_entry("1", 1), version_entry("1", 1),
                                              version_entry("1", 1, R"("active":true)")});
    EXPECT_EQ(bundle.statuses(), "201 200 200");
    EXPECT_EQ(bundle.issue(1, "severity"), "information");
    EXPECT_EQ(bundle.issue(2, "severity"), "warning");
}

TEST(HistoryBundle, JudgesAnEntryByWhatItMetWhateverALaterOneErases) {
    Config config;
    config.hard_delete = true;
    const auto expect_erased = [](const Json& duplicate, std::size_t at, const Json& deletion,
                                  std::size_t last) {
        EXPECT_EQ(duplicate.status(at), "200");
        EXPECT_EQ(duplicate.issue(at, "severity"), "warning");
        EXPECT_EQ(duplicate.issue(at, "code"), "conflict");
        EXPECT_EQ(deletion.status(last), "204");
        EXPECT_FALSE(deletion.entry(last)["response"]["outcome"]);
        EXPECT_EQ(deletion.entry(last)["response"]["etag"].string(), "W/\"6\"");
    };
    TestService server(config);
    const auto entries = [](std::string_view id) {
        return std::vector<std::string>{
            version_entry(id, 5), version_entry(id, 5, R"("active":true)"), deletion_entry(id, 6)};
    };
    const Json together = post_history(server, entries("1"));
    EXPECT_EQ(together.status(0), "201");
    expect_erased(together, 1, together, 2);
    EXPECT_EQ(server.get("/Patient/1").status, 404);

    post_history(server, {entries("2")[0]});
    const Json duplicate = post_history(server, {entries("2")[1]});
    const Json deletion = post_history(server, {entries("2")[2]});
    expect_erased(duplicate, 0, deletion, 0);
    EXPECT_EQ(server.get("/Patient/2").status, 404);

    // Sent again, the entries meet nothing that they could differ from.
    const Json again = post_history(server, entries("1"));
    EXPECT_EQ(again.statuses(), "200 200 204");
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again.issue(i, "code"), "informational") << i;
    }
}

TEST(HistoryBundle, JudgesAnEntryByWhatItMetWhateverALaterOneIsNumbered) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    post_history(server, {version_entry("1", 1), deletion_entry("1", 4)});
    ASSERT_EQ(server.put("/Patient/1", patient_json("1")).etag, VersionNumber{1});
    // The deletion becomes version 2, which had been erased.
    const Json bundle =
        post_history(server, {version_entry("1", 2), entry_of("DELETE", "Patient/1")});
    EXPECT_EQ(bundle.statuses(), "200 204");
    EXPECT_EQ(bundle.issue(0, "code"), "informational");
    EXPECT_NE(bundle.entry(0)["response"].raw().find("This version is not stored"),
              std::string_view::npos);
    EXPECT_EQ(server.service().divergences(), 0U);
}

/// Stores Patient/1 as version 5, and its deletion as version 6, which leaves version 5.
void store_and_delete(TestService& server) {
    post_history(server, {version_entry("1", 5)});
    test::CommitBuilder deletion;
    deletion.remove("Patient", "1");
    ASSERT_TRUE(server.store().wait(server.store().submit(deletion.commit()).ticket));
}

TEST(HistoryBundle, JudgesAnEntryBeforeADeletionThatIsThereAlreadyErases) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    store_and_delete(server);
    const Json bundle =
        post_history(server, {version_entry("1", 5, R"("active":true)"), deletion_entry("1", 6)});
    EXPECT_EQ(bundle.statuses(), "200 204");
    EXPECT_EQ(bundle.issue(0, "code"), "conflict");
    EXPECT_EQ(server.get("/Patient/1/_history/5").status, 404);
}

TEST(HistoryBundle, ErasesNothingForADeletionThatIsNotTheNewest) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    store_and_delete(server);
    EXPECT_EQ(post_history(server, {deletion_entry("1", 3)}).statuses(), "204");
    EXPECT_EQ(server.get("/Patient/1/_history/5").status, 200);
    EXPECT_EQ(post_history(server, {deletion_entry("1", 6)}).statuses(), "204");
    EXPECT_EQ(server.get("/Patient/1/_history/5").status, 404);
}

TEST(HistoryBundle, ComparesWhatItIgnoredOnBothSidesOfAnErasure) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    const Json bundle =
        post_history(server, {version_entry("1", 1), version_entry("1", 1), version_entry("2", 1),
                              version_entry("3", 1), version_entry("3", 1, R"("active":true)"),
                              deletion_entry("2", 2), version_entry("1", 1, R"("active":true)"),
                              version_entry("3", 1)});
    EXPECT_EQ(bundle.statuses(), "201 200 201 201 200 204 200 200");
    EXPECT_EQ(bundle.issue(1, "code"), "informational");
    EXPECT_EQ(bundle.issue(4, "code"), "conflict");
    EXPECT_EQ(bundle.issue(6, "code"), "conflict");
    EXPECT_EQ(bundle.issue(7, "code"), "informational");
}

}  // namespace
}  // namespace annals::core
