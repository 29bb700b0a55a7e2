#include "core/interactions/update.h"

#include "core/target.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <future>
#include <set>

namespace annals::test {
namespace {

class Update : public ServiceFixture {};

class ConditionalUpdate : public ServiceFixture {};

TEST_F(Update, CreatesWhatWasAbsent) {
    const Answer answer = send("PUT", "/Patient/1", patient("1"));
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.etag, 1U);
    EXPECT_EQ(answer.location, "http://test/fhir/Patient/1/_history/1");
    EXPECT_EQ(answer.content_location, "");
    EXPECT_TRUE(answer.says(R"("versionId":"1")"));
}

TEST_F(Update, GivesALiveResourceItsNextVersion) {
    ASSERT_EQ(put_patient("1", "Old"), 201);
    const Answer answer = send("PUT", "/Patient/1", patient("1", "New"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_EQ(answer.location, "");
    EXPECT_EQ(answer.content_location, "/fhir/Patient/1/_history/2");
    EXPECT_TRUE(answer.says("New"));
    EXPECT_EQ(send("GET", "/Patient/1").body, answer.body);
}

TEST_F(Update, RefusesToCreateIfUpdateCreateIsOff) {
    core::Config config;
    config.update_create = false;
    restart(config);
    const Answer answer = send("PUT", "/Patient/1", patient("1"));
    EXPECT_EQ(answer.status, 404);
    EXPECT_TRUE(answer.says(R"("code":"not-found")"));
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(Update, BringsADeletedResourceBackWithTheNextVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    core::Config config;
    config.update_create = false;
    restart(config);
    const Answer answer = send("PUT", "/Patient/1", patient("1", "Back"));
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.etag, 3U);
    EXPECT_EQ(answer.location, "http://test/fhir/Patient/1/_history/3");
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
}

TEST_F(Update, RemovesWhatTheNewBodyLeavesOut) {
    ASSERT_EQ(
        send("PUT", "/Patient/1",
             R"({"resourceType":"Patient","id":"1","meta":{"tag":[{"code":"x"}]},"active":true})")
            .status,
        201);
    const Answer answer = send("PUT", "/Patient/1", R"({"resourceType":"Patient","id":"1"})");
    EXPECT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.says("tag"));
    EXPECT_FALSE(answer.says("active"));
}

TEST_F(Update, ComparesIfMatchWithTheCurrentVersion) {
    struct Case {
        std::string condition;
        int status;
        std::string said;
    };

    int number = 0;
    for (const auto& [condition, status, said] : std::vector<Case>{
             {R"(W/"2")", 200, ""},
             {R"("2")", 200, ""},
             {"2", 200, ""},
             {"*", 200, ""},
             {R"(W/"1", W/"2")", 200, ""},
             {R"(1,2)", 200, ""},
             {R"(W/"1")", 412, "If-Match: expected version 1, actual version 2"},
             {R"(W/"3", "1")", 412, "If-Match: expected version 3 or 1, actual version 2"},
             {R"(W/"abc")", 412, "If-Match: expected version abc, actual version 2"},
             {R"(W/2)", 400, "If-Match"},
             {R"(W/"2)", 400, "If-Match"},
             {R"(abc)", 400, "If-Match"},
             {R"(W/"2" W/"1")", 400, "If-Match"},
             {R"(,)", 400, "If-Match"},
             {"", 400, "If-Match"},
             // RFC 9110 section 5.6.1.2: empty elements of a list are ignored.
             {R"(W/"2",)", 200, ""},
             {R"(, W/"1", ,W/"2")", 200, ""}}) {
        const std::string id = std::to_string(++number);
        ASSERT_EQ(put_patient(id), 201);
        ASSERT_EQ(put_patient(id), 200);
        const Answer answer = send("PUT", "/Patient/" + id, patient(id), {{"If-Match", condition}});
        EXPECT_EQ(answer.status, status) << condition << answer.body;
        EXPECT_TRUE(answer.says(said)) << condition << answer.body;
        if (status == 412) {
            EXPECT_TRUE(answer.says(R"("code":"conflict")"));
        }
        EXPECT_EQ(send("GET", "/Patient/" + id).etag, status == 200 ? 3U : 2U) << condition;
    }
}

TEST_F(Update, NeedNotWaitBeforeItsCommitIfItsConditionsAreMet) {
    ASSERT_EQ(put_patient("1"), 201);
    const std::string body = patient("1", "New");
    const auto early = [&](std::string_view condition, std::string_view body) {
        core::Request request;
        request.method = core::HttpMethod::put;
        request.path = "/Patient/1";
        request.headers = {{"If-Match", condition}};
        request.body = body;
        request.base_url = kBaseUrl;
        request.loop = &loop();
        std::optional<core::Response> answer;
        on_loop([&] {
            const Result<core::Target> target = core::parse_target(request.path);
            answer = core::update_early(service(), request, *target);
        });
        return answer;
    };
    const auto is_early = [&](std::string_view condition) {
        const std::optional<core::Response> answer = early(condition, body);
        return answer && answer->status == 200 && answer->unsettled.value != 0;
    };
    EXPECT_FALSE(is_early(R"(W/"2")"));
    EXPECT_FALSE(early(R"(W/"2")", "no JSON")) << "the body need not be read for that";
    EXPECT_TRUE(early(R"(W/"1")", "no JSON"));
    EXPECT_TRUE(is_early(R"(W/"1")"));
    EXPECT_TRUE(is_early(R"(W/"2")"));  // which may not be durable yet
    EXPECT_EQ(put_patient("1", "Newer", {{"If-Match", R"(W/"3")"}}), 200);
}

TEST_F(Update, AndEveryOtherWriteRefuseAnIfMatchThatCannotBeRead) {
    ASSERT_EQ(put_patient("1"), 201);
    const std::pair<std::string_view, std::string_view> writes[] = {{"PUT", "/Patient/1"},
                                                                    {"PUT", "/Patient?_id=1"},
                                                                    {"DELETE", "/Patient/1"},
                                                                    {"DELETE", "/Patient?_id=1"},
                                                                    {"POST", "/Patient"}};
    for (const auto& [method, target] : writes) {
        const std::string body = method == "DELETE" ? std::string() : patient("1");
        const Answer answer = send(method, target, body, {{"If-Match", "abc"}});
        EXPECT_EQ(answer.status, 400) << method << target;
        EXPECT_TRUE(answer.says("If-Match")) << answer.body;
    }
    EXPECT_EQ(send("GET", "/Patient/1").etag, 1U);
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Update, ComparesIfMatchWithTheDeletion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    const Answer stale = send("PUT", "/Patient/1", patient("1"), {{"If-Match", R"(W/"1")"}});
    EXPECT_EQ(stale.status, 412);
    EXPECT_TRUE(stale.says("expected version 1, actual version 2"));
    EXPECT_EQ(put_patient("1", "Back", {{"If-Match", R"(W/"2")"}}), 201);
}

TEST_F(Update, FailsIfMatchOnAnAbsentResource) {
    for (const std::string condition : {R"(W/"1")", "*"}) {
        const Answer answer = send("PUT", "/Patient/1", patient("1"), {{"If-Match", condition}});
        EXPECT_EQ(answer.status, 412);
        EXPECT_TRUE(answer.says(R"("code":"conflict")"));
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(Update, ComparesIfUnmodifiedSinceWithTheNewestVersion) {
    const std::string past = "Mon, 01 Jan 2001 00:00:00 GMT";
    // There is no version that could have been modified.
    EXPECT_EQ(put_patient("1", "A", {{"If-Unmodified-Since", past}}), 201);
    const Answer stale = send("PUT", "/Patient/1", patient("1"), {{"If-Unmodified-Since", past}});
    EXPECT_EQ(stale.status, 412);
    EXPECT_TRUE(stale.says(R"("code":"conflict")"));
    EXPECT_TRUE(stale.says("If-Unmodified-Since: version 1 of Patient/1 is of "));

    const std::string its_own = format_http_date(send("GET", "/Patient/1").last_modified);
    EXPECT_EQ(put_patient("1", "B", {{"If-Unmodified-Since", its_own}}), 200);
    EXPECT_EQ(put_patient("1", "C", {{"If-Unmodified-Since", "yesterday"}}), 200);
    EXPECT_EQ(put_patient("1", "D", {{"If-Unmodified-Since", past}, {"If-Match", "3"}}), 200);

    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(put_patient("1", "E", {{"If-Unmodified-Since", past}}), 412);
    EXPECT_EQ(put_patient("1", "E", {{"If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"}}),
              201);
}

TEST_F(Update, LetsOneOfManyThatOnlyCreateWin) {
    std::vector<std::future<int>> answers;
    for (int i = 0; i < 32; ++i) {
        answers.push_back(std::async(std::launch::async, [this, i] {
            return put_patient("1", fmt::format("W{}", i), {{"If-None-Match", "*"}});
        }));
    }
    int won = 0;
    for (auto& answer : answers) {
        const int status = answer.get();
        EXPECT_TRUE(status == 201 || status == 412) << status;
        won += status == 201 ? 1 : 0;
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(Update, CreatesOnlyWithIfNoneMatchOfEverything) {
    EXPECT_EQ(put_patient("1", "A", {{"If-None-Match", "*"}}), 201);
    EXPECT_EQ(put_patient("1", "B", {{"If-None-Match", "*"}}), 412);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(put_patient("1", "C", {{"If-None-Match", "*"}}), 201);
}

TEST_F(Update, RefusesABodyThatIsNotWhatTheUrlNames) {
    struct Case {
        std::string body;
        std::string code;
    };

    for (const auto& [body, code] :
         std::vector<Case>{{patient(""), "required"},
                           {patient("2"), "invalid"},
                           {R"({"resourceType":"Observation","id":"1"})", "invalid"},
                           {"", "invalid"},
                           {"nonsense", "invalid"}}) {
        const Answer answer = send("PUT", "/Patient/1", body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_TRUE(answer.says(fmt::format(R"("code":"{}")", code))) << body << answer.body;
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(Update, RefusesAnIdOutsideOfThePattern) {
    for (const std::string id : {"a_b", "_ab", "_"}) {
        EXPECT_EQ(send("PUT", "/Patient/" + id, patient(id)).status, 400) << id;
        EXPECT_EQ(send("GET", "/Patient/" + id).status, 404) << id;
    }
    EXPECT_EQ(send("PUT", "/Patient/" + std::string(65, 'a'), patient("a")).status, 400);
    EXPECT_EQ(send("PUT", "/Patient/_history/a", patient("a")).status, 404);
}

TEST_F(Update, AnswersAsPreferred) {
    ASSERT_EQ(put_patient("1"), 201);
    const Answer minimal = send("PUT", "/Patient/1", patient("1"), {{"Prefer", "return=minimal"}});
    EXPECT_EQ(minimal.status, 200);
    EXPECT_EQ(minimal.body, "");
    EXPECT_EQ(minimal.etag, 2U);
    const Answer outcome =
        send("PUT", "/Patient/1", patient("1"), {{"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(outcome.status, 200);
    EXPECT_TRUE(outcome.says("Patient/1 updated as version 3"));
}

TEST_F(Update, LetsOneOfManyEqualIfMatchWritersWin) {
    ASSERT_EQ(put_patient("1"), 201);
    std::vector<std::future<int>> answers;
    for (int i = 0; i < 32; ++i) {
        answers.push_back(std::async(std::launch::async, [this, i] {
            return put_patient("1", fmt::format("W{}", i), {{"If-Match", R"(W/"1")"}});
        }));
    }
    int won = 0;
    for (auto& answer : answers) {
        const int status = answer.get();
        EXPECT_TRUE(status == 200 || status == 412) << status;
        won += status == 200 ? 1 : 0;
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(send("GET", "/Patient/1").etag, 2U);
}

TEST_F(Update, LosesNoneOfManyWritesToOneResource) {
    std::vector<std::future<std::uint64_t>> answers;
    for (int i = 0; i < 64; ++i) {
        answers.push_back(std::async(
            std::launch::async, [this] { return send("PUT", "/Patient/1", patient("1")).etag; }));
    }
    std::set<std::uint64_t> versions;
    for (auto& answer : answers) {
        versions.insert(answer.get());
    }
    EXPECT_EQ(versions.size(), 64U);
    EXPECT_EQ(*versions.begin(), 1U);
    EXPECT_EQ(*versions.rbegin(), 64U);
}

TEST_F(ConditionalUpdate, UpdatesTheOneMatch) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    for (const std::string id : {"", "1"}) {
        const Answer answer =
            send("PUT", "/Patient?identifier=mrn|7", patient_with(id, {{"mrn", "7"}}));
        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_TRUE(answer.says(R"("id":"1")"));
    }
    EXPECT_EQ(send("GET", "/Patient/1").etag, 3U);
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", patient_with("2", {{"mrn", "7"}})).status, 400);
}

TEST_F(ConditionalUpdate, HonoursIfMatch) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"mrn", "7"}})).status, 201);
    const std::string body = patient_with("", {{"mrn", "7"}});
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", body, {{"If-Match", "2"}}).status, 412);
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", body, {{"If-Match", "1"}}).status, 200);
    EXPECT_EQ(send("PUT", "/Patient?identifier=8", body, {{"If-Match", "1"}}).status, 412);
}

TEST_F(ConditionalUpdate, HonoursIfNoneMatchAndIfUnmodifiedSince) {
    const std::string body = patient_with("", {{"mrn", "7"}});
    const std::vector<std::pair<std::string, std::string>> since = {
        {"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"}};
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", body, {{"If-None-Match", "*"}}).status, 201);
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", body, {{"If-None-Match", "*"}}).status, 412);
    EXPECT_EQ(send("PUT", "/Patient?identifier=7", body, since).status, 412);
    EXPECT_EQ(send("PUT", "/Patient?identifier=8", body, since).status, 201);
}

TEST_F(ConditionalUpdate, CreatesWithoutAMatch) {
    const Answer fresh = send("PUT", "/Patient?identifier=7", patient_with("", {{"mrn", "7"}}));
    EXPECT_EQ(fresh.status, 201);
    EXPECT_EQ(fresh.etag, 1U);
    const Answer named = send("PUT", "/Patient?identifier=8", patient_with("8", {{"mrn", "8"}}));
    EXPECT_EQ(named.status, 201);
    EXPECT_EQ(named.location, "http://test/fhir/Patient/8/_history/1");
    EXPECT_EQ(send("PUT", "/Patient?identifier=9", patient_with("8", {{"mrn", "9"}})).status, 409);
    const Answer no_id = send("PUT", "/Patient?identifier=9", patient_with("a b", {{"mrn", "9"}}));
    EXPECT_EQ(no_id.status, 400);
    EXPECT_TRUE(no_id.says(R"("code":"value")")) << no_id.body;
    EXPECT_EQ(store().totals().resources, 2U);

    core::Config config;
    config.update_create = false;
    restart(config);
    EXPECT_EQ(send("PUT", "/Patient?identifier=9", patient_with("9", {{"mrn", "9"}})).status, 404);
    EXPECT_EQ(send("PUT", "/Patient?identifier=9", patient_with("", {{"mrn", "9"}})).status, 201);
}

TEST_F(ConditionalUpdate, RefusesSeveralMatchesAndBadCriteria) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"a", "7"}})).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/2", patient_with("2", {{"b", "7"}})).status, 201);
    const Answer several = send("PUT", "/Patient?identifier=7", patient(""));
    EXPECT_EQ(several.status, 412);
    EXPECT_TRUE(several.says(R"("code":"multiple-matches")"));
    for (const std::string query : {"", "?", "?nothing=x", "?identifier="}) {
        EXPECT_EQ(send("PUT", "/Patient" + query, patient("")).status, 400) << query;
    }
    EXPECT_EQ(store().totals().versions, 2U);
}

}  // namespace
}  // namespace annals::test
