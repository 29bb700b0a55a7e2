#include "codec/json/document.h"
#include "core/outcome.h"
#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>

#include <future>
#include <optional>
#include <set>

namespace annals::test {
namespace {

class Dispatch : public ServiceFixture {};

class Negotiation : public ServiceFixture {};

class Metadata : public ServiceFixture {};

TEST_F(Dispatch, AnswersWhatAPathDoesNotTakeWithWhatItTakes) {
    struct Case {
        std::string method;
        std::string path;
        int status;
        std::string allow;
    };

    for (const auto& [method, path, status, allow] :
         std::vector<Case>{{"POST", "/Patient/1", 405, "GET, HEAD, PUT, PATCH, DELETE"},
                           {"BREW", "/Patient/1", 405, "GET, HEAD, PUT, PATCH, DELETE"},
                           {"PATCH", "/Patient/1/_history/1", 405, "GET, HEAD"},
                           {"GET", "/Patient/_search", 405, "POST"},
                           {"GET", "/_search", 405, "POST"},
                           {"POST", "/Patient/1/Observation", 405, "GET, HEAD"},
                           {"PUT", "/Patient/1/_history/1", 405, "GET, HEAD"},
                           {"POST", "/Patient/1/_history", 405, "GET, HEAD"},
                           {"DELETE", "/_history", 405, "GET, HEAD"},
                           {"POST", "/metadata", 405, "GET, HEAD"},
                           {"PUT", "", 405, "POST, GET, HEAD, OPTIONS"},
                           {"PUT", "/", 405, "POST, GET, HEAD, OPTIONS"}}) {
        const Answer answer = send(method, path);
        EXPECT_EQ(answer.status, status) << method << path;
        EXPECT_EQ(answer.allow, allow) << method << path;
        EXPECT_TRUE(answer.says(R"("code":"not-supported")")) << method << path;
    }
}

TEST_F(Dispatch, MakesTheFirstAttemptAtAWriteOnce) {
    static int attempts = 0;
    core::Interaction row;
    row.awaiting = [](const core::Service&, const core::Request&,
                      const core::Target&) -> asio::awaitable<core::Response> {
        co_return core::Response();
    };
    row.early = [](const core::Service&, const core::Request&,
                   const core::Target&) -> std::optional<core::Response> {
        ++attempts;
        return std::nullopt;
    };
    core::Request request;
    request.method = core::HttpMethod::put;
    request.loop = &loop();
    for (const bool before : {true, false}) {
        attempts = 0;
        core::Route route;
        route.row = &row;
        std::future<core::Response> answer;
        on_loop([&] {
            EXPECT_FALSE(before && core::handle_early(service(), request, route));
            answer = asio::co_spawn(
                loop().context(), core::handle_routed(service(), request, route), asio::use_future);
        });
        EXPECT_EQ(answer.get().status, 200);
        EXPECT_EQ(attempts, 1) << before;
    }
}

TEST_F(Dispatch, AnswersAHistoryThatItDoesNotTakeWithWhatThePathTakes) {
    core::Config config;
    config.allow_history_bundles = false;
    restart(config);
    const Answer answer = send("POST", "/", R"({"resourceType":"Bundle","type":"history"})");
    EXPECT_EQ(answer.status, 405);
    EXPECT_EQ(answer.allow, send("PUT", "/").allow);
    EXPECT_NE(answer.allow.find("POST"), std::string::npos);
}

TEST_F(Dispatch, KnowsNothingOfOtherPaths) {
    for (const std::string path :
         {"/Patent", "/patient/1", "/Patient/1/2", "/Patient/1/_history/1/2", "//Patient",
          "/Patient//1", "/metadata/1", "/_nothing", "/Patient/_nothing", "/Patient/%31",
          "/Patient/1/Nothing/_search", "/Observation/1/Patient", "/Patient/1/Organization", "/$",
          "/Patient/1/_history/", "/Patient//", "/Patient/1/Observation/2",
          "/Patient/1/Observation/_search/2"}) {
        const Answer answer = send("GET", path);
        EXPECT_EQ(answer.status, 404) << path;
        EXPECT_TRUE(answer.says(R"("code":"not-found")")) << path;
    }
}

TEST_F(Dispatch, RefusesUnknownOperations) {
    for (const std::string path :
         {"/$frobnicate", "/Patient/$frobnicate", "/Patient/1/$frobnicate"}) {
        for (const std::string method : {"GET", "POST"}) {
            const Answer answer = send(method, path);
            EXPECT_EQ(answer.status, 400) << path;
            EXPECT_TRUE(answer.says(R"("code":"invalid")")) << path;
            EXPECT_TRUE(answer.says("$frobnicate")) << path;
        }
    }
}

TEST_F(Dispatch, SaysInvalidUtf8BackAsText) {
    const Answer answer = send("GET", "/Pa\xFFtient");
    EXPECT_EQ(answer.status, 404);
    EXPECT_TRUE(answer.says("\xEF\xBF\xBD"));
    EXPECT_FALSE(answer.says("\xFF"));
}

TEST_F(Negotiation, AnswersOnlyWhatItCan) {
    ASSERT_EQ(put_patient("1"), 201);

    struct Case {
        std::string accept;
        int status;
    };

    for (const auto& [accept, status] :
         std::vector<Case>{{"application/fhir+json", 200},
                           {"application/fhir+json;fhirVersion=4.0", 200},
                           {"application/fhir+json; fhirVersion=5.0", 406},
                           {"application/json", 200},
                           {"text/json", 200},
                           {"*/*", 200},
                           {"application/*", 200},
                           {"text/html,application/xhtml+xml,*/*;q=0.8", 200},
                           {"", 200},
                           {"application/fhir+xml", 200},
                           {"application/fhir+xml; fhirVersion=3.0", 406},
                           {"application/fhir+xml, application/fhir+json;q=0.1", 200},
                           {"application/fhir+json;q=0", 406},
                           {"application/fhir+json;q=0.0, image/png", 406},
                           {"image/png", 406},
                           {"text/turtle", 406}}) {
        const Answer answer = send("GET", "/Patient/1", "", {{"Accept", accept}});
        EXPECT_EQ(answer.status, status) << accept;
        if (status == 406) {
            EXPECT_TRUE(answer.says(R"("code":"not-supported")")) << accept;
        }
    }
}

TEST_F(Negotiation, LetsFormatBeatAccept) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string format : {"json", "application/fhir+json", "application/fhir%2Bjson",
                                     "application/json", "text/json"}) {
        EXPECT_EQ(send("GET", "/Patient/1?_format=" + format, "", {{"Accept", "image/png"}}).status,
                  200)
            << format;
    }
    for (const std::string format : {"ttl", "html", "application/pdf"}) {
        EXPECT_EQ(send("GET", "/Patient/1?_format=" + format, "", {{"Accept", "*/*"}}).status, 406)
            << format;
    }
}

TEST_F(Negotiation, WritesNothingThatItCannotAnswer) {
    EXPECT_EQ(send("POST", "/Patient", patient(""), {{"Accept", "application/pdf"}}).status, 406);
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(Metadata, ListsWhatTheTableDispatches) {
    const Answer answer = send("GET", "/metadata");
    EXPECT_EQ(answer.status, 200);
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    ASSERT_TRUE(document.has_value()) << answer.body;
    const json::Value statement = document->root();
    EXPECT_TRUE(statement["resourceType"].equals("CapabilityStatement"));
    EXPECT_TRUE(statement["fhirVersion"].equals("4.0.1"));
    EXPECT_EQ(statement["patchFormat"].raw(),
              R"(["application/json-patch+json","application/fhir+json",)"
              R"("application/fhir+xml"])");
    EXPECT_TRUE(statement["implementation"]["url"].equals(kBaseUrl));
    json::Value rest;
    for (const json::Value element : statement["rest"].elements()) {
        rest = element;
    }
    EXPECT_EQ(rest["resource"].size(), kResourceTypeCount - 1);
    for (const json::Value resource : rest["resource"].elements()) {
        std::set<std::string> codes;
        for (const json::Value interaction : resource["interaction"].elements()) {
            codes.insert(interaction["code"].string());
        }
        EXPECT_EQ(codes,
                  (std::set<std::string>{"read", "vread", "update", "patch", "delete", "create",
                                         "history-instance", "history-type", "search-type"}));
        // At least those of Resource.
        EXPECT_GE(resource["searchParam"].size(), 6U);
        for (const json::Value parameter : resource["searchParam"].elements()) {
            EXPECT_TRUE(parameter["definition"].string().starts_with("http://hl7.org/"));
        }
        EXPECT_GE(resource["searchInclude"].size(), 1U);
        EXPECT_EQ(resource["updateCreate"].raw(), "true");
        EXPECT_TRUE(resource["versioning"].equals("versioned"));
    }
    std::set<std::string> codes;
    for (const json::Value interaction : rest["interaction"].elements()) {
        codes.insert(interaction["code"].string());
    }
    EXPECT_EQ(codes,
              (std::set<std::string>{"transaction", "batch", "history-system", "search-system"}));
    EXPECT_EQ(rest["compartment"].size(), 5U);
    EXPECT_TRUE(answer.says(R"("Observation:patient")"));
    EXPECT_EQ(send("OPTIONS", "/").body, answer.body);
}

TEST_F(Metadata, HasAnEtagThatChangesWithTheConfiguration) {
    const Answer answer = send("GET", "/metadata");
    ASSERT_NE(answer.etag, 0U);
    EXPECT_EQ(send("GET", "/metadata").etag, answer.etag);
    const Answer again =
        send("GET", "/metadata", "", {{"If-None-Match", fmt::format("W/\"{}\"", answer.etag)}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");

    core::Config config;
    config.update_create = false;
    restart(config);
    const Answer other = send("GET", "/metadata");
    EXPECT_NE(other.etag, answer.etag);
    EXPECT_TRUE(other.says(R"("updateCreate":false)"));
}

TEST(InteractionTable, HasOneHandlerARowAndNoRowTwice) {
    std::set<std::pair<core::Level, core::HttpMethod>> seen;
    for (const core::Interaction& row : core::interactions()) {
        EXPECT_NE(row.plain == nullptr, row.awaiting == nullptr) << row.page;
        EXPECT_TRUE(seen.emplace(row.level, row.method).second) << row.page;
        EXPECT_FALSE(row.page.empty());
    }
}

TEST(Outcome, GivesEveryCodeAStatusAndAnIssueCode) {
    for (int code = 0; code <= static_cast<int>(Errc::usage); ++code) {
        const core::ErrorMeaning meaning = core::meaning_of(static_cast<Errc>(code));
        EXPECT_GE(meaning.status, 400);
        EXPECT_FALSE(meaning.issue_code.empty());
        EXPECT_FALSE(meaning.text.empty());
        EXPECT_TRUE(core::status_text(meaning.status).starts_with(std::to_string(meaning.status)));
    }
    EXPECT_EQ(core::status_text(201), "201 Created");
    EXPECT_EQ(core::reason_phrase(410), "Gone");
}

core::Response told(const core::Request& request, core::Response response) {
    core::tell_failure(request, response);
    return response;
}

TEST(Outcome, KeepsTheServersOwnFaultsToItself) {
    core::Request request;
    request.request_id = "r-7";
    const core::Response response =
        told(request, Error{Errc::io, "/srv/annals/000001.seg: errno 5", ""});
    EXPECT_EQ(response.status, 500);
    const std::string body = response.body.str();
    EXPECT_EQ(body.find("/srv"), std::string::npos);
    EXPECT_NE(body.find("Internal server error (request r-7)"), std::string::npos);
    ASSERT_TRUE(response.failure.has_value());
    EXPECT_EQ(response.failure->detail.find("/srv"), std::string::npos);

    const core::Response full = told(request, Error{Errc::no_store, "/dev/sda", ""});
    EXPECT_EQ(full.status, 503);
    EXPECT_NE(full.body.str().find(R"("code":"no-store")"), std::string::npos);
    EXPECT_EQ(full.headers.at(0).first, "Retry-After");
}

TEST(Outcome, SaysWhenToAskAgainUnlessThatIsSaidAlready) {
    const std::vector<std::pair<std::string, std::string>> second{{"Retry-After", "1"}};
    for (const Errc code : {Errc::overloaded, Errc::timeout, Errc::no_store, Errc::throttled,
                            Errc::request_timeout}) {
        EXPECT_EQ(told({}, Error{code, "", ""}).headers, second) << static_cast<int>(code);
    }
    EXPECT_TRUE(told({}, Error{Errc::conflict, "", ""}).headers.empty());

    core::Response later = Error{Errc::throttled, "", ""};
    later.headers.emplace_back("Retry-After", "10");
    const auto ten = later.headers;
    EXPECT_EQ(told({}, std::move(later)).headers, ten);
}

TEST(Outcome, IsToldOnceAndLeavesOtherStatusesAlone) {
    const core::Request request;
    core::Response response = Error{Errc::insufficient_scope, "it takes system/Patient.r", ""};
    EXPECT_EQ(response.status, 403);
    EXPECT_TRUE(response.body.empty());
    response.status = 400;  // of a transaction that failed by this entry
    response = told(request, told(request, std::move(response)));
    EXPECT_EQ(response.status, 400);
    EXPECT_TRUE(response.headers.empty());
    EXPECT_TRUE(response.body.str().find("system/Patient.r") != std::string::npos);

    EXPECT_TRUE(told(request, core::Response()).body.empty());
}

TEST(Outcome, NamesThePlace) {
    core::Request request;
    const core::Response response =
        told(request, Error{Errc::value, "not a \"date\"", "Patient.birthDate"});
    EXPECT_EQ(response.body.str(),
              R"({"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"value",)"
              R"("diagnostics":"not a \"date\"","expression":["Patient.birthDate"]}]})");
}

TEST(ParseTarget, NamesEveryLevel) {
    using core::Level;

    struct Case {
        std::string path;
        Level level;
    };

    for (const auto& [path, level] :
         std::vector<Case>{{"", Level::root},
                           {"/", Level::root},
                           {"/metadata", Level::metadata},
                           {"/openapi.json", Level::openapi},
                           {"/_history", Level::system_history},
                           {"/_search", Level::system_search},
                           {"/$export", Level::system_operation},
                           {"/Patient", Level::type},
                           {"/Patient/", Level::type},
                           {"/Patient/_history", Level::type_history},
                           {"/Patient/_search", Level::type_search},
                           {"/Patient/$validate", Level::type_operation},
                           {"/Patient/a-B.9", Level::instance},
                           {"/Patient/1/_history", Level::instance_history},
                           {"/Patient/1/_history/2", Level::version},
                           {"/Patient/1/_history/2/", Level::version},
                           {"/Patient/1/$meta", Level::instance_operation},
                           {"/Patient/1/_history/2/$meta", Level::version_operation},
                           {"/_jobs/1", Level::job},
                           {"/_export-status/1", Level::job},
                           {"/_jobs/1/Patient-1.ndjson", Level::job_file},
                           {"/Patient/1/Observation", Level::compartment},
                           {"/Patient/1/*", Level::compartment},
                           {"/Patient/1/Observation/_search", Level::compartment_search},
                           {"/Patient/1/_search", Level::compartment_search}}) {
        const auto target = core::parse_target(path);
        ASSERT_TRUE(target.has_value()) << path;
        EXPECT_EQ(static_cast<int>(target->level), static_cast<int>(level)) << path;
    }
}

TEST(ParseQuery, DecodesAndRefusesBrokenEscapes) {
    const auto query = core::parse_query("a=1%2C2&b=x+y&&=z&c&d=e=f&a=%C3%A4&g=+%2B+%2541+");
    ASSERT_TRUE(query.has_value());
    EXPECT_EQ(*query, (core::Parameters{{"a", "1,2"},
                                        {"b", "x y"},
                                        {"", "z"},
                                        {"c", ""},
                                        {"d", "e=f"},
                                        {"a", "\xC3\xA4"},
                                        {"g", " + %41 "}}));
    for (const std::string text : {"a=%", "a=%2", "a=%zz", "a=%+1", "a=%FF", "a=%00", "%C3=1"}) {
        EXPECT_FALSE(core::parse_query(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace annals::test
