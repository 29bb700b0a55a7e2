// Criteria of conditional interactions: which are accepted, what they find, and that decisions hold at commit.

#include "core/interactions/criteria.h"

#include "tests/core/bundle_fixture.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {
namespace {

using testing::HasSubstr;

TypeId type_of(std::string_view name) {
    return *find_resource_type(name);
}

asio::awaitable<void> find_on(Loop& loop, const Service& service, const Criteria& criteria,
                              std::size_t limit, std::optional<Result<CriteriaMatches>>& found) {
    Result<CriteriaMatches> matches = co_await find_matches(service, loop, criteria, limit);
    found = std::move(matches);
    loop.stop();
}

Result<CriteriaMatches> find_now(const Service& service, const Criteria& criteria,
                                 std::size_t limit = 1) {
    Loop loop(service.store());
    std::optional<Result<CriteriaMatches>> found;
    spawn(loop, "find", find_on(loop, service, criteria, limit, found));
    loop.run();
    return *std::move(found);
}

asio::awaitable<void> read_on(Loop& loop, const Service& service, const Request& request,
                              std::string_view query, std::optional<Result<Criteria>>& read) {
    Result<Criteria> criteria = co_await read_criteria(service, request, type_of("Patient"), query);
    read = std::move(criteria);
    loop.stop();
}

class CriteriaTest : public testing::Test {
  protected:
    Result<Criteria> parse(std::string_view query, std::string_view type = "Patient") {
        Request request;
        request.base_url = kBase;
        return parse_criteria(server_.service(), request, type_of(type), query, nullptr);
    }

    std::set<std::string> found(std::string_view query, std::string_view type = "Patient") {
        const auto criteria = parse(query, type);
        EXPECT_TRUE(criteria.has_value()) << query << ": " << criteria.error().detail;
        const auto matches = find_now(server_.service(), *criteria, 100);
        EXPECT_TRUE(matches.has_value());
        std::set<std::string> ids;
        for (const storage::StoredVersion& match : matches->found) {
            ids.emplace(match.id);
        }
        return ids;
    }

    void put(const std::string& target, const std::string& body) {
        ASSERT_EQ(server_.put(target, body).status, 201) << target;
    }

    /// Sends the request `times` times at once; returns how often each status came back.
    std::map<int, std::size_t> statuses(const Sent& request, std::size_t times) {
        std::map<int, std::size_t> counts;
        for (const Received& answer : server_.send_all(std::vector<Sent>(times, request))) {
            ++counts[answer.status];
        }
        return counts;
    }

    TestService server_;
};

using Counts = std::map<int, std::size_t>;
using Ids = std::set<std::string>;

TEST_F(CriteriaTest, FindByAnySearchParameter) {
    put("/Patient/1",
        R"({"resourceType":"Patient","id":"1","identifier":[{"system":"urn:a","value":"x|y"}],)"
        R"("name":[{"family":"Müller"}],"gender":"female","birthDate":"1970-01-02"})");
    put("/Patient/2", R"({"resourceType":"Patient","id":"2","identifier":[{"value":"p,q"}],)"
                      R"("name":[{"family":"Meyer"}],"gender":"male","birthDate":"1980-01-02"})");
    put("/Observation/o",
        R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"c"},)"
        R"("subject":{"reference":"Patient/1"}})");
    EXPECT_EQ(found(R"(identifier=x\|y)"), Ids{"1"});
    EXPECT_EQ(found(R"(identifier=urn:a|x\|y)"), Ids{"1"});
    EXPECT_EQ(found(R"(identifier=urn:b|x\|y)"), Ids{});
    EXPECT_EQ(found(R"(identifier=|p\,q)"), Ids{"2"});
    EXPECT_EQ(found("family=mull"), Ids{"1"});
    EXPECT_EQ(found("birthdate=gt1975"), Ids{"2"});
    EXPECT_EQ(found("gender=male,female"), (Ids{"1", "2"}));
    EXPECT_EQ(found("gender=female&birthdate=gt1975"), Ids{});
    EXPECT_EQ(found("_id=1,2,3"), (Ids{"1", "2"}));
    EXPECT_EQ(found("patient.family=mull", "Observation"), Ids{"o"});
    EXPECT_EQ(found("_has:Observation:patient:status=final"), Ids{"1"});
    EXPECT_EQ(found(std::string("subject=") + std::string(kBase) + "/Patient/1", "Observation"),
              Ids{"o"});
}

TEST_F(CriteriaTest, FindLiveResourcesByTheirNewestVersion) {
    const auto with_x = [](std::string_view id) {
        return patient_json(id, R"("identifier":[{"value":"x"}])");
    };
    put("/Patient/1", with_x("1"));
    put("/Patient/2", with_x("2"));
    put("/Patient/3", with_x("3"));
    EXPECT_EQ(server_.put("/Patient/2", patient_json("2")).status, 200);
    EXPECT_EQ(server_.send({HttpMethod::delete_, "/Patient/3"}).status, 204);
    EXPECT_EQ(found("identifier=x"), Ids{"1"});
    EXPECT_EQ(found("_id=1,2,3,4"), (Ids{"1", "2"}));
}

TEST_F(CriteriaTest, NameTheParameterThatTheyDoNotTake) {
    for (const std::string_view query : {"nonsense=x", "family:nonsense=x", "birthdate=yesterday",
                                         "_count=1&family=x", "_sort=family&family=x"}) {
        const auto criteria = parse(query);
        ASSERT_FALSE(criteria.has_value()) << query;
        EXPECT_THAT(criteria.error().detail, HasSubstr(query.substr(0, query.find_first_of("=:"))))
            << query;
    }
}

TEST_F(CriteriaTest, RefuseWhatWouldMatchEverything) {
    for (const std::string_view query :
         {"", "&", "_format=json", "identifier=", "identifier=x,", "_id=", "_id=a_b"}) {
        EXPECT_FALSE(parse(query).has_value()) << query;
    }
    EXPECT_TRUE(parse("_format=json&_id=1&_pretty=true").has_value());
}

TEST_F(CriteriaTest, AreReadFromIfNoneExistInEveryForm) {
    put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x?y"}])"));
    for (const std::string_view text :
         {"identifier=x?y", "?identifier=x?y", "Patient?identifier=x?y",
          "http://a/fhir/Patient?identifier=x?y", "Patient/?identifier=x?y"}) {
        const auto query = query_of_if_none_exist(type_of("Patient"), text);
        ASSERT_TRUE(query.has_value()) << text;
        const auto criteria = parse(*query);
        ASSERT_TRUE(criteria.has_value()) << text;
        EXPECT_EQ(find_now(server_.service(), *criteria)->found.size(), 1U) << text;
    }
    EXPECT_FALSE(query_of_if_none_exist(type_of("Patient"), "Group?identifier=x").has_value());
}

TEST(Criteria, KnowsAConditionalReference) {
    EXPECT_TRUE(is_conditional_reference("Patient?identifier=x"));
    EXPECT_FALSE(is_conditional_reference("Patient/1"));
    EXPECT_FALSE(is_conditional_reference("urn:uuid:1?x"));
    EXPECT_FALSE(is_conditional_reference("Nothing?identifier=x"));
}

TEST_F(CriteriaTest, LetExactlyOneOfManyConditionalCreatesCreate) {
    // By a term; by something without a term, so that every Patient is watched; and by both.
    for (const std::string_view criteria :
         {"identifier=urn:a|x", "birthdate=1970-01-02", "family=sauer&gender=male"}) {
        const Sent create{
            HttpMethod::post,
            "/Patient",
            {},
            R"({"resourceType":"Patient","identifier":[{"system":"urn:a","value":"x"}],)"
            R"("birthDate":"1970-01-02","gender":"male","name":[{"family":"Sauer"}]})",
            {{"If-None-Exist", std::string(criteria)}}};
        TestService fresh;
        std::map<int, std::size_t> counts;
        for (const Received& answer : fresh.send_all(std::vector<Sent>(64, create))) {
            ++counts[answer.status];
        }
        EXPECT_EQ(counts, (Counts{{200, 63}, {201, 1}})) << criteria;
        EXPECT_EQ(fresh.store().totals(type_of("Patient")).live, 1U) << criteria;
    }
}

TEST_F(CriteriaTest, ThatFollowChainsWatchWhatTheyLookAt) {
    put("/Patient/1", patient_json("1", R"("name":[{"family":"Sauer"}])"));
    const Sent create{HttpMethod::post,
                      "/Observation",
                      {},
                      R"({"resourceType":"Observation","status":"final","code":{"text":"c"},)"
                      R"("subject":{"reference":"Patient/1"}})",
                      {{"If-None-Exist", "patient.family=sauer"}}};
    EXPECT_EQ(statuses(create, 32), (Counts{{200, 31}, {201, 1}}));
    const auto criteria = parse("patient.family=sauer", "Observation");
    EXPECT_EQ(find_now(server_.service(), *criteria)->guards.size(), 2U);
}

// Each write would concern the other criteria if these watched the whole type.
TEST_F(CriteriaTest, AreNotMadeVoidByWritesThatDoNotConcernThem) {
    for (const bool by_name : {false, true}) {
        std::vector<Sent> creates;
        for (int i = 0; i < 200; ++i) {
            const std::string date = std::to_string(1800 + i);
            const std::string name = "n" + date + "x";
            creates.push_back(
                {HttpMethod::post,
                 "/Patient",
                 {},
                 patient_json(
                     "", R"("birthDate":")" + date + R"(","name":[{"family":")" + name + R"("}])"),
                 {{"If-None-Exist", by_name ? "family=" + name : "birthdate=" + date}}});
        }
        TestService fresh;
        for (const int status : {201, 200}) {
            for (const Received& answer : fresh.send_all(creates)) {
                ASSERT_EQ(answer.status, status);
            }
        }
        EXPECT_EQ(fresh.store().totals(type_of("Patient")).live, 200U);
    }
}

TEST_F(CriteriaTest, AreReadAndSoughtWithinOneTime) {
    const std::string text(50'000, 'x');
    for (int i = 0; i < 200; ++i) {
        put(fmt::format("/Patient/{}", i),
            fmt::format(R"({{"resourceType":"Patient","id":"{}","name":[{{"text":"{}"}}]}})", i,
                        text));
    }
    Loop loop(server_.store());
    Request request;
    request.base_url = kBase;
    request.loop = &loop;
    std::optional<Result<Criteria>> read;
    const auto before = std::chrono::steady_clock::now();
    spawn(loop, "read", read_on(loop, server_.service(), request, "_content=y", read));
    loop.run();
    const auto time = server_.service().config().limits.request_timeout;
    ASSERT_TRUE(read->has_value());
    Criteria criteria = **std::move(read);
    EXPECT_GE(criteria.end, before + time);
    EXPECT_LE(criteria.end, std::chrono::steady_clock::now() + time);
    EXPECT_TRUE(find_now(server_.service(), criteria)) << "in many turns";
    criteria.end = std::chrono::steady_clock::now();
    const auto late = find_now(server_.service(), criteria);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::timeout);
}

TEST(Criteria, ThatFollowChainsWatchHardDeletesOfWhatTheyLookAt) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    server.put("/Practitioner/1",
               R"({"resourceType":"Practitioner","id":"1","identifier":[{"value":"x"}]})");
    server.put("/PractitionerRole/1", R"({"resourceType":"PractitionerRole","id":"1",)"
                                      R"("practitioner":{"reference":"Practitioner/1"}})");
    Request request;
    request.base_url = kBase;
    const auto criteria = parse_criteria(server.service(), request, type_of("PractitionerRole"),
                                         "practitioner.identifier=x", nullptr);
    ASSERT_TRUE(criteria);
    const auto submit = [&](const CriteriaMatches& matches) {
        storage::VersionWrite write;
        const BodyPiece body{BodyPiece::Kind::text, "{}"};
        write.type = type_of("Basic");
        write.id = "1";
        write.body = std::span(&body, 1);
        storage::Commit commit;
        commit.writes = std::span(&write, 1);
        commit.guards = matches.guards;
        return server.store().submit(commit).status;
    };
    const auto before = find_now(server.service(), *criteria);
    ASSERT_EQ(before->found.size(), 1U);
    EXPECT_EQ(server.send({HttpMethod::delete_, "/Practitioner/1"}).status, 204);
    EXPECT_EQ(submit(*before), storage::Submission::Status::busy);
    const auto after = find_now(server.service(), *criteria);
    EXPECT_EQ(after->found.size(), 0U);
    EXPECT_EQ(submit(*after), storage::Submission::Status::accepted);
}

TEST_F(CriteriaTest, OfAnUpdateHoldForTheVersionThatIsReplaced) {
    put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const Sent update{HttpMethod::put,
                      "/Patient",
                      "identifier=x",
                      patient_json("", R"("identifier":[{"value":"x"}])"),
                      {}};
    const Counts counts = statuses(update, 32);
    EXPECT_EQ(counts, (Counts{{200, 32}}));
    EXPECT_EQ(server_.store().totals(type_of("Patient")).live, 1U);
    EXPECT_EQ(server_.store().current(type_of("Patient"), "1")->version.value, 33U);
}

TEST_F(CriteriaTest, OfUpdatesWithAnIdAreNotMissedByWhatTheyCreateThemselves) {
    const std::string body = patient_json("1", R"("identifier":[{"value":"x"}])");
    const Sent update{HttpMethod::put, "/Patient", "identifier=x", body, {}};
    EXPECT_EQ(statuses(update, 32), (Counts{{200, 31}, {201, 1}}));
    EXPECT_EQ(server_.store().current(type_of("Patient"), "1")->version.value, 32U);
}

TEST_F(CriteriaTest, OfTransactionsAreNotMissedByWhatTheyCreateThemselves) {
    const std::string body = patient_json("1", R"("identifier":[{"value":"x"}])");
    const Sent transaction{
        HttpMethod::post,
        "",
        {},
        bundle_of("transaction", {entry_of("PUT", "Patient?identifier=x", body)})};
    EXPECT_EQ(statuses(transaction, 32), (Counts{{200, 32}}));
    EXPECT_EQ(server_.store().current(type_of("Patient"), "1")->version.value, 32U);
}

class CriteriaByHttp : public test::ServiceFixture {};

TEST_F(CriteriaByHttp, AreRefusedWhereTheResourceIsNamedOrCreated) {
    ASSERT_EQ(put_patient("a"), 201);
    const Headers patch{{"Content-Type", "application/json-patch+json"}};
    const std::string body = R"({"resourceType":"Patient","id":"a"})";
    for (const std::string_view query : {"active=false", "_id=b", "_pretty=true&active=false", "=x",
                                         "_count=1", "%5Fid=a", "_format:x=json"}) {
        const std::string_view name =
            query.starts_with("_pretty") ? "active" : query.substr(0, query.find('='));
        for (const auto& answer : {send("DELETE", fmt::format("/Patient/a?{}", query)),
                                   send("PUT", fmt::format("/Patient/a?{}", query), body),
                                   send("PATCH", fmt::format("/Patient/a?{}", query), "[]", patch),
                                   send("POST", fmt::format("/Patient?{}", query), body)}) {
            EXPECT_EQ(answer.status, 400) << query;
            EXPECT_TRUE(answer.says(R"("invalid")")) << answer.body;
            EXPECT_TRUE(answer.says(name == "%5Fid" ? "_id" : name)) << answer.body;
        }
    }
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_TRUE(send("GET", "/Patient?_summary=count").says(R"("total":1)"));
    EXPECT_EQ(send("PUT", "/Patient/a?_format=json&_pretty=true&_summary=true", body).status, 200);
    EXPECT_EQ(send("POST", "/Patient?_elements=id&", body).status, 201);
}

TEST_F(CriteriaByHttp, AreRefusedInBundlesAsWell) {
    ASSERT_EQ(put_patient("a"), 201);
    for (const auto& [method, url] : {std::pair("DELETE", "Patient/a?active=false"),
                                      {"PUT", "Patient/a?active=false"},
                                      {"POST", "Patient?identifier=x"}}) {
        const std::string entries = fmt::format(
            R"("entry":[{{"resource":{{"resourceType":"Patient","id":"a"}},"request":{{"method":"{}","url":"{}"}}}}]}})",
            method, url);
        const test::Answer batch =
            send("POST", "/", R"({"resourceType":"Bundle","type":"batch",)" + entries);
        EXPECT_TRUE(batch.says(R"("status":"400 Bad Request")")) << batch.body;
        const test::Answer transaction =
            send("POST", "/", R"({"resourceType":"Bundle","type":"transaction",)" + entries);
        EXPECT_EQ(transaction.status, 400) << url;
        EXPECT_TRUE(transaction.says("does not support the parameter")) << transaction.body;
    }
    EXPECT_EQ(send("GET", "/Patient/a").etag, 1U);
    EXPECT_TRUE(send("GET", "/Patient?_summary=count").says(R"("total":1)"));
}

TEST_F(CriteriaByHttp, AParameterWithoutANameIsUnknown) {
    ASSERT_EQ(put_patient("a"), 201);
    const test::Answer found = send("GET", "/Patient?=x&&_id=a&");
    EXPECT_EQ(found.status, 200);
    EXPECT_TRUE(found.says(R"("mode":"outcome")")) << found.body;
    EXPECT_TRUE(found.says(R"("total":1)"));
    EXPECT_EQ(send("GET", "/Patient?=x", {}, {{"Prefer", "handling=strict"}}).status, 400);
    EXPECT_EQ(send("GET", "/Patient?=", {}, {{"Prefer", "handling=strict"}}).status, 400);
    for (const std::string_view query : {"=x&_id=a", "_id=a&=", "_id=a&=x"}) {
        EXPECT_EQ(send("DELETE", fmt::format("/Patient?{}", query)).status, 400) << query;
    }
    EXPECT_EQ(send("GET", "/Patient/_history?=x").status, 400);
    EXPECT_EQ(send("GET", "/Patient/a/$meta?=x").status, 400);
    EXPECT_EQ(send("GET", "/_changes?wait=0&=x").status, 400);
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

}  // namespace
}  // namespace annals::core
