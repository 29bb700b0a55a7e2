// The audit of a server: each access has its line.

#include "net/audit.h"

#include "codec/json/document.h"
#include "tests/net/fake_service.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

namespace annals::test {
namespace {

using net::AuditLog;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// A server whose audit log can be read.
class AuditedServer {
  public:
    AuditedServer()
        : key_("ES256"), server_([this](core::Config& config, GuardedServer& self) {
              with_tokens(jwk_set({key_.jwk()}))(config, self);
              config.audit.file = self.file("audit.ndjson");
              config.conditional_delete = "multiple";
          }) {}

    HttpResponse send(const std::string& method, const std::string& target,
                      const std::string& body = {}, const std::string& prefer = "respond-sync",
                      const std::string& type = "application/fhir+json") {
        GuardedServer::Headers headers{{"Authorization", "Bearer " + key_.sign(kClaims)},
                                       {"Prefer", prefer},
                                       {"X-Request-Id", fmt::format("r{}", ++sent_)}};
        if (!type.empty()) {
            headers.emplace_back("Content-Type", type);
        }
        return server_.send(method, target, body, headers);
    }

    GuardedServer& server() { return server_; }

    std::string token() const { return key_.sign(kClaims); }

    /// The line of the last request.
    std::string line() { return line_of(fmt::format("r{}", sent_)); }

    /// The line of the request with this X-Request-Id.
    std::string line_of(const std::string& request_id) {
        const std::string id = fmt::format(R"("valueString":"{}")", request_id);
        std::string found;
        becomes_true([&] {
            for (const std::string& line : lines_of(server_.file("audit.ndjson"))) {
                if (line.find(id) != std::string::npos) {
                    found = line;
                }
            }
            return !found.empty();
        });
        json::Parser parser;
        EXPECT_TRUE(parser.parse(found)) << found;
        return found;
    }

  private:
    SigningKey key_;
    int sent_ = 0;
    GuardedServer server_;
};

TEST(Audit, SaysWhoDidWhatToWhichVersion) {
    AuditedServer server;
    const std::string patient =
        R"({"resourceType":"Patient","id":"p","name":[{"family":"Geheim"}]})";
    ASSERT_EQ(server.send("PUT", "/Patient/p", patient).status, 201);
    std::string line = server.line();
    for (const std::string_view part :
         {R"("resourceType":"AuditEvent")", R"("code":"update")", R"("action":"U")",
          R"("outcome":"0")", R"("outcomeDesc":"201")", R"("who":{"identifier":{"value":"lab"}})",
          R"("address":"127.0.0.1")", R"("reference":"Patient/p/_history/1")"}) {
        EXPECT_THAT(line, HasSubstr(part));
    }
    EXPECT_THAT(line, Not(HasSubstr("Geheim")));

    ASSERT_EQ(server.send("GET", "/Patient/p").status, 200);
    line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("code":"read")"));
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/p/_history/1")"));

    ASSERT_EQ(server
                  .send("POST", "/Patient/p/$meta-add",
                        R"({"resourceType":"Parameters","parameter":[)"
                        R"({"name":"meta","valueMeta":{"tag":[{"code":"t"}]}}]})")
                  .status,
              200);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/p/_history/2")"));
    // A version that exists, one that never did, and something that can't be one.
    ASSERT_EQ(server.send("GET", "/Patient/p/_history/1").status, 200);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/p/_history/1")"));
    ASSERT_EQ(server.send("GET", "/Patient/p/_history/7").status, 404);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/p/_history/7")"));
    ASSERT_EQ(server.send("GET", "/Patient/p/_history/a_b").status, 404);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/p")"));
    ASSERT_EQ(server.send("GET", "/Patient/p/$everything").status, 200);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/p")"));

    ASSERT_EQ(server.send("GET", "/Patient/none").status, 404);
    line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("outcome":"4")"));
    EXPECT_THAT(line, HasSubstr(R"("outcomeDesc":"404")"));
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/none")"));

    ASSERT_EQ(server.send("DELETE", "/Patient/p").status, 204);
    line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("action":"D")"));
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/p/_history/3")"));
}

TEST(Audit, TellsNamesOfParametersAndNotWhatTheyAskFor) {
    AuditedServer server;
    ASSERT_EQ(server.send("GET", "/Patient?family=Geheim&birthdate=gt1970").status, 200);
    const std::string line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("code":"search-type")"));
    EXPECT_THAT(line, HasSubstr(R"({"type":"parameter","valueString":"family"})"));
    EXPECT_THAT(line, HasSubstr(R"({"type":"parameter","valueString":"birthdate"})"));
    EXPECT_THAT(line, Not(HasSubstr("Geheim")));
    EXPECT_THAT(line, Not(HasSubstr("1970")));
}

TEST(Audit, TellsNothingOfWhatIsSentInPlaceOfAForm) {
    AuditedServer server;
    const std::string form = "application/x-www-form-urlencoded";
    ASSERT_EQ(server.send("POST", "/Patient/_search", "family=Geheim", "respond-sync", form).status,
              200);
    EXPECT_THAT(server.line(), HasSubstr(R"({"type":"parameter","valueString":"family"})"));
    server.send("POST", "/Patient/_search", "family=Geheim", "respond-sync", "");
    EXPECT_THAT(server.line(), HasSubstr(R"({"type":"parameter","valueString":"family"})"));
    EXPECT_THAT(server.line(), Not(HasSubstr("Geheim")));

    const std::string resource = R"({"resourceType":"Patient","name":[{"family":"Geheim"}]})";
    ASSERT_EQ(server.send("POST", "/Patient/_search", resource).status, 415);
    EXPECT_THAT(server.line(), Not(HasSubstr("Geheim")));
    ASSERT_EQ(
        server.send("POST", "/Patient/_search", "Geheim", "respond-sync", "text/plain").status,
        415);
    EXPECT_THAT(server.line(), Not(HasSubstr("Geheim")));
    // The Content-Type that curl -d sends with everything.
    server.send("POST", "/Patient/_search", resource, "respond-sync", form);
    EXPECT_THAT(server.line(), Not(HasSubstr("Geheim")));
}

TEST(Audit, HasEveryEntryOfABundleAndEveryResourceThatCriteriaDelete) {
    AuditedServer server;
    for (const std::string_view type : {"batch", "transaction"}) {
        ASSERT_EQ(
            server
                .send(
                    "POST", "/",
                    fmt::format(
                        R"({{"resourceType":"Bundle","type":"{}","entry":[)"
                        R"({{"resource":{{"resourceType":"Patient","id":"1","active":true}},"request":{{"method":"PUT","url":"Patient/1"}}}},)"
                        R"({{"resource":{{"resourceType":"Patient","id":"2","active":true}},"request":{{"method":"PUT","url":"Patient/2"}}}},)"
                        R"({{"request":{{"method":"GET","url":"Patient?family=Geheim"}}}}]}})",
                        type))
                .status,
            200);
        const std::string line = server.line();
        EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/1/_history/)")) << type;
        EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/2/_history/)")) << type;
        EXPECT_THAT(line, HasSubstr(R"("what":{"type":"Patient"},"name":"GET")")) << type;
        EXPECT_THAT(line, Not(HasSubstr("Geheim"))) << type;
    }
    ASSERT_EQ(
        server
            .send(
                "POST", "/",
                R"({"resourceType":"Bundle","type":"history","entry":[)"
                R"({"resource":{"resourceType":"Patient","id":"3","meta":{"versionId":"7"}},"request":{"method":"PUT","url":"Patient/3"}}]})")
            .status,
        200);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/3/_history/7")"));
    ASSERT_EQ(server.send("DELETE", "/Patient?active=true").status, 204);
    const std::string line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/1")"));
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/2")"));
}

TEST(Audit, HasWhatCriteriaDeleteInsideOfABundle) {
    AuditedServer server;
    for (const std::string_view type : {"batch", "transaction"}) {
        ASSERT_LT(server.send("PUT", "/Patient/1", R"({"resourceType":"Patient","id":"1"})").status,
                  300);
        ASSERT_EQ(
            server
                .send("POST", "/",
                      fmt::format(
                          R"({{"resourceType":"Bundle","type":"{}","entry":[)"
                          R"({{"request":{{"method":"DELETE","url":"Patient?_id=1"}}}},)"
                          R"({{"request":{{"method":"DELETE","url":"Patient?_id=none"}}}}]}})",
                          type))
                .status,
            200);
        const std::string line = server.line();
        EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/1"},"name":"DELETE")")) << type;
        EXPECT_THAT(line, Not(HasSubstr("none"))) << type;
    }
}

TEST(Audit, HasWhatATransactionAskedForThatFailed) {
    AuditedServer server;
    ASSERT_EQ(
        server
            .send(
                "POST", "/",
                R"({"resourceType":"Bundle","type":"transaction","entry":[)"
                R"({"resource":{"resourceType":"Patient","id":"1"},"request":{"method":"PUT","url":"Patient/1"}},)"
                R"({"resource":{"resourceType":"Basic","code":{"text":"a"}},"request":{"method":"POST"}},)"
                R"({"request":{"method":"GET","url":"Patient/none"}}]})")
            .status,
        400);
    const std::string line = server.line();
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/1"},"name":"PUT","description":"400")"));
    EXPECT_THAT(line, HasSubstr(R"("type":"Basic"},"name":"POST","description":"400")"));
    EXPECT_THAT(line, HasSubstr(R"("reference":"Patient/none"},"name":"GET","description":"400")"));
}

TEST(Audit, HasWhatWasTakenBack) {
    AuditedServer server;
    const std::string patient = R"({"resourceType":"Patient","id":"1"})";
    ASSERT_EQ(server.send("PUT", "/Patient/1", patient).status, 201);
    ASSERT_EQ(server.send("PUT", "/Patient/1", patient).status, 200);
    ASSERT_EQ(server.send("POST", "/$undo?from=2&dryRun=true").status, 200);
    EXPECT_THAT(server.line(), Not(HasSubstr("Patient/1")));
    ASSERT_EQ(server.send("POST", "/$undo?from=2").status, 200);
    EXPECT_THAT(server.line(), HasSubstr(R"("reference":"Patient/1/_history/3"},"name":"PUT")"));
}

TEST(Audit, HasWhatBecameOfABundleThatWasAnsweredLater) {
    AuditedServer server;
    const HttpResponse begun = server.send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[)"
        R"({"resource":{"resourceType":"Patient","id":"1","active":true},"request":{"method":"PUT","url":"Patient/1"}}]})",
        "respond-async");
    ASSERT_EQ(begun.status, 202);
    // In any order; the kick-off's line names the job, too.
    std::string kick_off;
    std::string done;
    EXPECT_TRUE(becomes_true([&] {
        for (const std::string& line : lines_of(server.server().file("audit.ndjson"))) {
            if (line.find(R"("type":"job")") != std::string::npos) {
                (line.find("network") == std::string::npos ? done : kick_off) = line;
            }
        }
        return !kick_off.empty() && !done.empty();
    }));
    EXPECT_THAT(kick_off,
                HasSubstr(R"("reference":"Patient/1"},"name":"PUT","description":"202")"));
    EXPECT_THAT(
        done, HasSubstr(R"("reference":"Patient/1/_history/1"},"name":"PUT","description":"201")"));
    EXPECT_THAT(done, HasSubstr(R"("who":{"identifier":{"value":"lab"}})"));
    EXPECT_THAT(done, HasSubstr(R"("valueString":"r1")"));
}

TEST(Audit, HasThoseWhoAreRefusedAsWell) {
    AuditedServer server;
    const HttpResponse refused = server.server().get("/Patient/1", {{"X-Request-Id", "stranger"}});
    ASSERT_EQ(refused.status, 401);
    const std::string found = server.line_of("stranger");
    EXPECT_THAT(found, HasSubstr(R"("outcomeDesc":"401")"));
    EXPECT_THAT(found, Not(HasSubstr(R"("who")")));
}

TEST(Audit, HasWhatTheReaderRefuses) {
    AuditedServer server;
    const HttpResponse refused = server.server().send(
        "POST", "/Patient", "{}", {{"X-Request-Id", "odd"}, {"Content-Encoding", "br"}});
    ASSERT_EQ(refused.status, 415);
    const std::string found = server.line_of("odd");
    EXPECT_THAT(found, HasSubstr(R"("outcomeDesc":"415")"));
    EXPECT_THAT(found, HasSubstr(R"("what":{"type":"Patient"})"));
    EXPECT_THAT(found, Not(HasSubstr(R"("who")")));
}

TEST(Audit, OfWhatTheReaderRefusesDoesNotNameWhoAskedBeforeOnTheSameConnection) {
    AuditedServer server;
    Connection connection(server.server().port());
    ASSERT_TRUE(connection.send(
        "GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.token() +
        "\r\n\r\nPOST /fhir/Patient HTTP/1.1\r\nHost: a\r\nX-Request-Id: odd\r\n"
        "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"));
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 404);
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 415);
    EXPECT_THAT(server.line_of("odd"), Not(HasSubstr(R"("who")")));
}

TEST(Audit, HasWhoIsRefusedBeforeHisBodyHasCome) {
    AuditedServer server;
    Connection connection(server.server().port());
    ASSERT_TRUE(connection.send(
        "GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.token() +
        "\r\n\r\nPUT /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: odd\r\n"
        "Content-Length: 99\r\n\r\n"));
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 404);
    const auto refused = connection.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 401);
    EXPECT_EQ(refused->header("X-Request-Id"), "odd");
    const std::string line = server.line_of("odd");
    EXPECT_THAT(line, HasSubstr(R"("outcomeDesc":"401")"));
    EXPECT_THAT(line, Not(HasSubstr(R"("who")")));
}

std::size_t lines_waiting(std::uint16_t port) {
    const std::string page = exchange(port, "GET", "/metrics").body;
    const std::string name = "\nannals_audit_lines_waiting ";
    return std::stoull(page.substr(page.find(name) + name.size()));
}

TEST(Audit, GivesThePlaceOfALineBackToWhoWaitsForItWhenAClientBreaksOff) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_keys("api_key", "{}")(config, self);
        write_whole_file(self.file("keys.toml"), key_entry("a", "one", R"(["system/*.cruds"])"));
        config.audit.file = "/dev/full";
        config.limits.body_timeout = std::chrono::minutes(10);  // however slow the machine
        config.threads = 1;
    });
    const std::string key = "Host: a\r\nX-API-Key: one\r\n";
    std::optional<Connection> breaks_off(server.port());
    ASSERT_TRUE(
        breaks_off->send("PUT /fhir/Patient/1 HTTP/1.1\r\n" + key +
                         "Content-Type: application/fhir+json\r\nContent-Length: 99\r\n\r\n{"));
    ASSERT_TRUE(becomes_true([&] { return lines_waiting(server.port()) == 1; }));
    // All other places are taken, and no line is ever written.
    const std::string request = "GET /fhir/Patient/1 HTTP/1.1\r\n" + key + "\r\n";
    Connection others(server.port());
    std::string requests;
    std::size_t sent = 0;
    for (std::size_t taken = 1; taken < AuditLog::kLinesMax; ++taken, ++sent) {
        requests += request;
        if (sent % 100 == 99) {
            ASSERT_TRUE(others.send(std::exchange(requests, {})));
            for (int i = 0; i < 100; ++i) {
                ASSERT_TRUE(others.receive());
            }
        }
    }
    ASSERT_TRUE(others.send(requests));
    ASSERT_TRUE(becomes_true([&] { return lines_waiting(server.port()) == AuditLog::kLinesMax; }));
    Connection waits(server.port());
    ASSERT_TRUE(waits.send(request));
    // The one thread has had its turn with that request once it has answered another.
    EXPECT_EQ(exchange(server.port(), "GET", "/metrics").status, 200);
    EXPECT_FALSE(waits.has_come());
    breaks_off.reset();
    EXPECT_EQ(waits.receive().value_or(HttpResponse{}).status, 404);
}

TEST(Audit, ThatTakesNoMoreMakesTheServerNotReady) {
    FakeServer server([](core::Config& config) {
        config.audit.file = "/dev/full";
        config.audit.when_full = "refuse";
    });
    EXPECT_EQ(exchange(server.port(), "GET", "/readyz").status, 200);
    Connection connection(server.port());
    int status = 0;
    for (std::size_t i = 0; i <= AuditLog::kLinesMax && status != 503; ++i) {
        ASSERT_TRUE(connection.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n"));
        const auto response = connection.receive();
        ASSERT_TRUE(response);
        status = response->status;
    }
    EXPECT_EQ(status, 503);
    const HttpResponse ready = exchange(server.port(), "GET", "/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_THAT(ready.body, HasSubstr("audit log"));
    EXPECT_EQ(exchange(server.port(), "GET", "/healthz").status, 200);
}

}  // namespace
}  // namespace annals::test
