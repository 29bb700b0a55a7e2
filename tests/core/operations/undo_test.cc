// $undo: when it is refused, and when nothing or little is left to take back.

#include "tests/support/longest_pause.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

class UndoTest : public test::ServiceFixture {
  protected:
    int put_observation(std::string_view id, std::string_view subject) {
        return send("PUT", fmt::format("/Observation/{}", id),
                    fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final",)"
                                R"("code":{{"text":"x"}},"subject":{{"reference":"{}"}}}})",
                                id, subject),
                    {{"Content-Type", "application/fhir+json"}})
            .status;
    }
};

TEST_F(UndoTest, IsRefusedWhereWhatItWouldLeaveBreaksARule) {
    Config config;
    config.integrity_on_delete = true;
    restart(config);
    ASSERT_EQ(put_patient("a"), 201);
    ASSERT_EQ(put_patient("b"), 201);
    ASSERT_EQ(put_observation("o", "Patient/a"), 201);
    EXPECT_EQ(send("POST", "/$undo?from=1&to=2&dryRun=true").status, 409);
    const test::Answer refused = send("POST", "/$undo?from=1&to=2");
    EXPECT_EQ(refused.status, 409);
    EXPECT_TRUE(refused.says(R"("code":"conflict")")) << refused.body;
    EXPECT_TRUE(refused.says(R"("diagnostics":"Patient/a is referred to by Observation/o")"))
        << refused.body;
    EXPECT_FALSE(refused.says("expression")) << refused.body;
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Patient/b").status, 200);
    EXPECT_EQ(store().last_position(), Position{3});
    EXPECT_EQ(send("POST", "/$undo?from=1&to=3").status, 200);
    EXPECT_EQ(store().totals().live, 0U);
}

TEST_F(UndoTest, SaysAheadThatWhatItWouldLeaveRefersToNothing) {
    Config config;
    config.integrity_on_write = true;
    restart(config);
    ASSERT_EQ(put_patient("a"), 201);
    ASSERT_EQ(put_observation("o", "Patient/a"), 201);
    ASSERT_EQ(put_observation("p", "Patient/a/_history/1"), 201);
    ASSERT_EQ(send("DELETE", "/Observation/o").status, 204);
    ASSERT_EQ(send("DELETE", "/Observation/p").status, 204);
    EXPECT_EQ(send("POST", "/$undo?from=4&dryRun=true").status, 200);
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    for (const std::string_view dry_run : {"&dryRun=true", ""}) {
        for (const int position : {4, 5}) {
            const test::Answer refused =
                send("POST", fmt::format("/$undo?position={}{}", position, dry_run));
            EXPECT_EQ(refused.status, 409) << position << dry_run;
            EXPECT_TRUE(refused.says(
                fmt::format(R"("diagnostics":"Observation/{}: the resource refers to Patient/a)",
                            position == 4 ? "o" : "p")))
                << refused.body;
        }
    }
    EXPECT_EQ(store().last_position(), Position{6});
    // Together with the patient, both come back.
    EXPECT_EQ(send("POST", "/$undo?from=4&dryRun=true").status, 200);
    EXPECT_EQ(store().last_position(), Position{6});
    EXPECT_EQ(send("POST", "/$undo?from=4").status, 200);
    EXPECT_EQ(store().totals().live, 3U);
}

TEST_F(UndoTest, SaysAheadWhetherTheVersionIsThereThatItWouldReferTo) {
    ASSERT_EQ(put_patient("a"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    ASSERT_EQ(put_patient("a"), 201);
    const std::pair<std::string_view, int> versions[] = {{"1", 200}, {"2", 409}, {"9", 409}};
    for (const auto& [version, status] : versions) {
        ASSERT_EQ(put_observation("o", fmt::format("Patient/a/_history/{}", version)), 201);
        ASSERT_EQ(send("DELETE", "/Observation/o").status, 204);
        Config config;
        config.integrity_on_write = true;
        restart(config);
        const std::string undo = fmt::format("/$undo?position={}", store().last_position().value);
        EXPECT_EQ(send("POST", undo + "&dryRun=true").status, status) << version;
        EXPECT_EQ(send("POST", undo).status, status) << version;
        restart({});
        send("DELETE", "/Observation/o");
    }
    // The version that it makes itself.
    ASSERT_EQ(put_observation("p", "Patient/a/_history/5"), 201);
    const std::uint64_t last = store().last_position().value;
    ASSERT_EQ(send("DELETE", "/Observation/p").status, 204);
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    Config config;
    config.integrity_on_write = true;
    restart(config);
    const std::string undo = fmt::format("/$undo?from={}", last + 1);
    EXPECT_EQ(send("POST", undo + "&dryRun=true").status, 200);
    EXPECT_EQ(send("POST", undo).status, 200);
}

TEST_F(UndoTest, SaysOfEachResourceWhatIsWrongWithWhatItWas) {
    const auto born = [&](std::string_view id, std::string_view when) {
        return send("PUT", fmt::format("/Patient/{}", id),
                    fmt::format(R"({{"resourceType":"Patient","id":"{}","birthDate":"{}"}})", id,
                                when),
                    {{"Content-Type", "application/fhir+json"}})
            .status;
    };
    Config config;
    config.validation = "off";
    restart(config);
    ASSERT_EQ(born("a", "long ago"), 201);
    ASSERT_EQ(born("b", "yesterday"), 201);
    restart(Config());
    ASSERT_EQ(born("a", "1970"), 200);
    ASSERT_EQ(born("b", "1980"), 200);
    const test::Answer refused = send("POST", "/$undo?from=3");
    EXPECT_EQ(refused.status, 409);
    for (const char* said : {R"("diagnostics":"Patient/a: )", R"("diagnostics":"Patient/b: )",
                             R"("expression":["Patient.birthDate"])"}) {
        EXPECT_TRUE(refused.says(said)) << refused.body;
    }
    EXPECT_FALSE(refused.says("Bundle")) << refused.body;
    EXPECT_EQ(store().last_position(), Position{4});
}

TEST_F(UndoTest, LeavesAloneWhatCameAndWent) {
    ASSERT_EQ(put_patient("a"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    const test::Answer answer = send("POST", "/$undo?from=1&to=2");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"({"name":"count","valueInteger":0})")) << answer.body;
    EXPECT_EQ(store().last_position(), Position{2});
}

TEST_F(UndoTest, IsRefusedWhereWhatItWouldGoBackToIsErased) {
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(put_patient("a"), 201);
    ASSERT_EQ(put_patient("a", "Two"), 200);
    ASSERT_EQ(send("POST", "/Patient/a/$purge-history").status, 200);
    const test::Answer refused = send("POST", "/$undo?position=2");
    EXPECT_EQ(refused.status, 409);
    EXPECT_TRUE(refused.says("What Patient/a was before version 2 is no longer stored"))
        << refused.body;
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(UndoTest, GoesBackToAVersionWhoseOwnPastIsErased) {
    Config config;
    config.hard_delete = true;
    restart(config);
    put_patient("a", "First");
    put_patient("a", "Second");
    put_patient("a", "Third");
    ASSERT_EQ(send("DELETE", "/Patient/a/_history/1").status, 204);
    EXPECT_EQ(send("POST", "/$undo?position=3").status, 200);
    const test::Answer now = send("GET", "/Patient/a");
    EXPECT_EQ(now.etag, 4U);
    EXPECT_TRUE(now.says("Second")) << now.body;
}

TEST_F(UndoTest, TakesBackNoMoreAtOnceThanARequestMayHave) {
    Config config;
    config.limits.max_body = 20'000;
    restart(config);
    const std::string name(8'000, 'x');
    for (const std::string_view id : {"a", "b", "c"}) {
        ASSERT_EQ(put_patient(id, name), 201);
    }
    for (const std::string_view id : {"a", "b", "c"}) {
        ASSERT_EQ(put_patient(id, "short"), 200);
    }
    EXPECT_EQ(send("POST", "/$undo?from=4&to=6&dryRun=true").status, 413);
    const test::Answer refused = send("POST", "/$undo?from=4&to=6");
    EXPECT_EQ(refused.status, 413);
    EXPECT_TRUE(refused.says("too-costly")) << refused.body;
    EXPECT_EQ(store().last_position(), Position{6});
    EXPECT_EQ(send("POST", "/$undo?from=4&to=5").status, 200);
}

TEST_F(UndoTest, IsOnlySaidWhereNothingIsWritten) {
    ASSERT_EQ(put_patient("a"), 201);
    Config config;
    config.read_only = true;
    restart(config);
    EXPECT_EQ(send("POST", "/$undo?position=1").status, 503);
    EXPECT_EQ(send("POST", "/$undo?position=1&dryRun=true").status, 200);
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(UndoTest, TellsOfVeryManyResourcesInTurns) {
    constexpr int kMany = 10'000;
    std::string entries;
    for (int i = 0; i < kMany; ++i) {
        entries += i == 0 ? "" : ",";
        entries += R"({"resource":{"resourceType":"Basic","code":{"text":"x"}},)"
                   R"("request":{"method":"POST","url":"Basic"}})";
    }
    ASSERT_EQ(
        send("POST", "/", R"({"resourceType":"Bundle","type":"batch","entry":[)" + entries + "]}")
            .status,
        200);
    Config config;
    config.read_only = true;  // nothing is tried
    restart(config);
    Request request;
    request.method = HttpMethod::post;
    request.path = "/$undo";
    request.query = "from=1&dryRun=true";
    request.base_url = kBaseUrl;
    test::expect_turns(service(), request, 200);
}

}  // namespace
}  // namespace annals::core
