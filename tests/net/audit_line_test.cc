// The line of one request and its answer: what it calls each interaction, and what it refers to.

#include "codec/json/document.h"
#include "core/access.h"
#include "net/audit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::net {
namespace {

using core::HttpMethod;
using testing::HasSubstr;
using testing::Not;

std::string line_of(const core::Request& request, const core::Response& response = {},
                    const AccessOrigin& origin = {}) {
    std::string line;
    audit_line(line, request, response, origin, Instant{1'700'000'000'000'000});
    json::Parser parser;
    EXPECT_TRUE(parser.parse(line)) << line;
    return line;
}

core::Request request_of(HttpMethod method, std::string_view path) {
    core::Request request;
    request.method = method;
    request.path = path;
    request.request_id = "r";
    return request;
}

/// The line of an answer with this location.
std::string line_with_location(std::string_view location, HttpMethod method = HttpMethod::post,
                               std::string_view path = "/Patient") {
    core::Response response;
    response.status = 201;
    response.location = location;
    return line_of(request_of(method, path), response);
}

std::string reference(std::string_view to) {
    return fmt::format(R"({{"what":{{"reference":"{}"}}}})", to);
}

TEST(AuditLine, CallsEachInteractionByItsNameAndAction) {
    struct Case {
        HttpMethod method;
        const char* path;
        const char* interaction;
        char action;
    };
    using enum HttpMethod;
    for (const Case& one : std::vector<Case>{
             {get, "", "search-system", 'R'},
             {post, "/", "transaction", 'E'},
             {get, "/metadata", "capabilities", 'R'},
             {get, "/openapi.json", "operation", 'R'},
             {get, "/_history", "history-system", 'R'},
             {post, "/_search", "search-system", 'R'},
             {get, "/_changes", "operation", 'R'},
             {get, "/$stats", "operation", 'E'},
             {get, "/Patient", "search-type", 'R'},
             {head, "/Patient", "search-type", 'R'},
             {post, "/Patient", "create", 'C'},
             {put, "/Patient", "update", 'U'},
             {patch, "/Patient", "patch", 'U'},
             {delete_, "/Patient", "delete", 'D'},
             {get, "/Patient/_history", "history-type", 'R'},
             {post, "/Patient/_search", "search-type", 'R'},
             {post, "/Patient/$validate", "operation", 'E'},
             {get, "/Patient/1", "read", 'R'},
             {head, "/Patient/1", "read", 'R'},
             {put, "/Patient/1", "update", 'U'},
             {patch, "/Patient/1", "patch", 'U'},
             {delete_, "/Patient/1", "delete", 'D'},
             {options, "/Patient/1", "operation", 'R'},
             {get, "/Patient/1/_history", "history-instance", 'R'},
             {head, "/Patient/1/_history", "history-instance", 'R'},
             {delete_, "/Patient/1/_history", "delete", 'D'},
             {get, "/Patient/1/_history/2", "vread", 'R'},
             {delete_, "/Patient/1/_history/2", "delete", 'D'},
             {get, "/Patient/1/$everything", "operation", 'E'},
             {post, "/Patient/1/_history/2/$meta-add", "operation", 'E'},
             {get, "/Patient/1/Observation", "search-type", 'R'},
             {post, "/Patient/1/Observation/_search", "search-type", 'R'},
             {get, "/_jobs/1", "operation", 'R'},
             {delete_, "/_jobs/1", "operation", 'D'},
             {get, "/_jobs/1/Patient-1.ndjson", "operation", 'R'},
         }) {
        EXPECT_THAT(
            line_of(request_of(one.method, one.path)),
            HasSubstr(fmt::format(R"("code":"{}"}}],"action":"{}")", one.interaction, one.action)))
            << one.path << ' ' << core::method_name(one.method);
    }
    EXPECT_THAT(line_of(request_of(get, "/no/such/path")), Not(HasSubstr("action")));
    const std::string login = line_of(request_of(post, "/auth/token"));
    EXPECT_THAT(login, HasSubstr(R"("display":"Login"}],"action":"E")"));
}

TEST(AuditLine, TellsTheFaultsOfClientsFromItsOwn) {
    for (const auto& [status, outcome] : std::vector<std::pair<int, char>>{
             {200, '0'}, {304, '0'}, {399, '0'}, {400, '4'}, {499, '4'}, {500, '8'}, {507, '8'}}) {
        core::Response response;
        response.status = status;
        EXPECT_THAT(
            line_of(request_of(HttpMethod::get, "/Patient/1"), response),
            HasSubstr(fmt::format(R"("outcome":"{}","outcomeDesc":"{}")", outcome, status)));
    }
}

TEST(AuditLine, NamesWhoAskedWithoutWhatNoStringMayHave) {
    core::Request request = request_of(HttpMethod::get, "/Patient/1");
    const core::Principal odd(
        "\x01l\x1f"
        "a\nb \"7\"\xc3\xa4\x7f",
        "system/*.r");
    request.principal = &odd;
    EXPECT_THAT(line_of(request), HasSubstr(R"("agent":[{"who":{"identifier":{"value":"lab \"7\")"
                                            "\xc3\xa4\x7f\"}},\"requestor\":true}]"));
    const core::Principal none("\n", "");
    request.principal = &none;
    EXPECT_THAT(line_of(request), HasSubstr(R"("agent":[{"requestor":true}])"));
    EXPECT_THAT(line_of(request, {}, {.address = "::1", .job = ""}),
                HasSubstr(R"([{"requestor":true,"network":{"address":"::1","type":"2"}}])"));
}

TEST(AuditLine, RefersToWhatTheAnswerSaysThatItMade) {
    const std::string made = reference("Patient/1/_history/2");
    EXPECT_THAT(line_with_location("http://a/fhir/Patient/1/_history/2"), HasSubstr(made));
    // base_url may contain the same itself.
    EXPECT_THAT(line_with_location("http://a/fhir/b/fhir/Patient/1/_history/2"), HasSubstr(made));
    core::Response response;
    response.content_location = "/fhir/Patient/1/_history/2";
    EXPECT_THAT(line_of(request_of(HttpMethod::post, "/Patient"), response), HasSubstr(made));
    // If it is neither a resource nor a job, the line refers to what was asked for.
    EXPECT_THAT(line_with_location("http://a/fhir/$backup?to=b", HttpMethod::put, "/Patient/1"),
                HasSubstr(reference("Patient/1")));
    EXPECT_THAT(line_with_location("http://a/fhir/$backup?to=b"),
                HasSubstr(R"("entity":[{"what":{"type":"Patient"}},)"));
}

TEST(AuditLine, NamesJobsAndRefersToNone) {
    for (const char* jobs : {"_jobs/", "_export-status/"}) {
        core::Response response;
        response.content_location = fmt::format("http://a/fhir/{}7", jobs);
        const std::string begun =
            line_of(request_of(HttpMethod::get, "/Patient/1/$export"), response);
        EXPECT_THAT(begun, HasSubstr(R"({"type":"job","valueString":"7"})"));
        EXPECT_THAT(begun, Not(HasSubstr("\"reference\"")));
        const std::string path = fmt::format("/{}8", jobs);
        const std::string asked = line_of(request_of(HttpMethod::get, path));
        EXPECT_THAT(asked, HasSubstr(R"({"type":"job","valueString":"8"})"));
        EXPECT_THAT(asked, Not(HasSubstr("\"what\"")));
    }
    EXPECT_THAT(line_of(request_of(HttpMethod::get, "/_jobs/8/Patient-1.ndjson")),
                HasSubstr(R"({"type":"job","valueString":"8"})"));
    EXPECT_THAT(
        line_of(request_of(HttpMethod::post, ""), {}, {.address = "", .job = "9"}),
        HasSubstr(R"({"type":"X-Request-Id","valueString":"r"},{"type":"job","valueString":"9"})"));
}

TEST(AuditLine, HasTheVersionThatWasReadWhereOneResourceWas) {
    core::Response response;
    response.etag = VersionNumber{7};
    const auto line = [&](const char* path) {
        return line_of(request_of(HttpMethod::get, path), response);
    };
    EXPECT_THAT(line("/Patient/1"), HasSubstr(reference("Patient/1/_history/7")));
    EXPECT_THAT(line("/Patient/1/$meta"), HasSubstr(reference("Patient/1/_history/7")));
    EXPECT_THAT(line("/Patient/1/_history/3"), HasSubstr(reference("Patient/1/_history/3")));
    EXPECT_THAT(line("/Patient/1/_history/$"), HasSubstr(reference("Patient/1")));
    EXPECT_THAT(line("/Patient/1/_history"), HasSubstr(reference("Patient/1")));
    EXPECT_THAT(line("/Patient/1/Observation"), HasSubstr(reference("Patient/1")));
}

TEST(AuditLine, RefersToOtherServersAsFarAsEntriesNameAResourceThere) {
    for (const auto& [asked, expected] : std::vector<std::pair<std::string, std::string>>{
             {"Patient/1", R"("what":{"reference":"Patient/1"},)"},
             {"http://a.example/fhir/Patient/1",
              R"("what":{"reference":"http://a.example/fhir/Patient/1"},)"},
             {"https://a.example/fhir/Patient/1",
              R"("what":{"reference":"https://a.example/fhir/Patient/1"},)"},
             {"urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
              R"("what":{"reference":"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"},)"},
             {"Patient/1/_history/$", R"("what":{"reference":"Patient/1"},)"},
             {"Patient", R"("what":{"type":"Patient"},)"},
             {"Patient/a:b", R"("what":{"type":"Patient"},)"},
             {"ftp://a.example/Patient/1", ""},
             {"Nobody/1", ""},
             {"Nobody", ""},
             {"/", ""},
             {"#a", ""},
             {"metadata", ""},
             {"$stats", ""},
             {"http://<x>/Patient/1", ""},
             {"", ""}}) {
        core::Response response;
        response.entries.push_back({HttpMethod::put, 412, asked});
        const std::string line = line_of(request_of(HttpMethod::post, ""), response);
        EXPECT_THAT(line, HasSubstr(fmt::format(
                              R"("entity":[{{{}"name":"PUT","description":"412"}},)", expected)))
            << asked;
    }
}

TEST(AuditLine, TellsNamesOfParametersThatMayBeTold) {
    std::string query =
        "a=1&&=2&b&c%20d=3&<e>=4&h i=4&\x7f=4&~=4&" + std::string(101, 'f') + "=5&g";
    core::Request request = request_of(HttpMethod::post, "/Patient/$validate");
    request.query = query;
    const auto detail = [](std::string_view type, std::string_view text) {
        return fmt::format(R"({{"type":"{}","valueString":"{}"}})", type, text);
    };
    EXPECT_THAT(
        line_of(request),
        HasSubstr(fmt::format("{},{},{},{},{},{},{},{}]", detail("X-Request-Id", "r"),
                              detail("operation", "$validate"), detail("parameter", "a"),
                              detail("parameter", "b"), detail("parameter", "c%20d"),
                              detail("parameter", "~"), detail("parameter", std::string(100, 'f')),
                              detail("parameter", "g"))));
    // A form's names are in its body; nothing is taken from other bodies.
    core::Request form = request_of(HttpMethod::post, "/Patient/_search");
    form.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    form.body = "family=Geheim";
    EXPECT_THAT(line_of(form), HasSubstr(detail("parameter", "family") + "]"));
    form.headers = {{"Content-Type", "text/plain"}};
    EXPECT_THAT(line_of(form), Not(HasSubstr("family")));
    form.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    form.path = "/Patient";
    EXPECT_THAT(line_of(form), Not(HasSubstr("family")));
    request.path = "/Patient/$<e>";
    EXPECT_THAT(line_of(request), Not(HasSubstr("operation\",\"valueString")));
    // No more than anybody would read.
    query.clear();
    for (int i = 1; i <= 65; ++i) {
        query += fmt::format("n{}&", i);
    }
    request.query = query;
    EXPECT_THAT(line_of(request), HasSubstr(detail("parameter", "n64") + "]"));
}

}  // namespace
}  // namespace annals::net
