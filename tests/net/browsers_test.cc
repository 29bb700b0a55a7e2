// What browsers are told: which origins' scripts may call, and how answers may be used and cached.

#include "tests/net/fake_service.h"
#include "tests/support/guarded_server.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

namespace annals::test {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

const std::string kApp = "https://app.example.org";
const GuardedServer::Headers kFromApp{{"Origin", kApp}};

GuardedServer::Headers preflight(const std::string& origin, const std::string& method) {
    return {{"Origin", origin},
            {"Access-Control-Request-Method", method},
            {"Access-Control-Request-Headers", "authorization,if-match"}};
}

TEST(Cors, IsOffUntilOriginsAreConfigured) {
    FakeServer server;
    const HttpResponse answer = exchange(server.port(), "GET", "/fhir/text", "", kFromApp);
    EXPECT_FALSE(answer.header("Access-Control-Allow-Origin"));
    EXPECT_THAT(answer.header("Vary"), Optional(Eq("Accept, Accept-Encoding")));
}

TEST(Cors, EchoesTheOriginsOfTheListAndNoOthers) {
    FakeServer server([](core::Config& config) { config.cors_origins = {"http://b", kApp}; });
    const HttpResponse answer = exchange(server.port(), "GET", "/fhir/text", "", kFromApp);
    EXPECT_THAT(answer.header("Access-Control-Allow-Origin"), Optional(Eq(kApp)));
    EXPECT_THAT(answer.header("Access-Control-Allow-Credentials"), Optional(Eq("true")));
    for (const std::string_view name :
         {"ETag", "Location", "X-Request-Id", "X-Correlation-Id", "Retry-After", "Allow",
          ", Accept,", "Accept-Patch", "Accept-Encoding", "Preference-Applied",
          "Content-Disposition", "X-Security-Context"}) {
        EXPECT_THAT(answer.header("Access-Control-Expose-Headers"), Optional(HasSubstr(name)));
    }
    EXPECT_THAT(answer.header("Vary"), Optional(HasSubstr("Origin")));
    for (const std::string& other :
         {std::string("https://evil.example.org"), kApp + ".evil.org", kApp + ":8443",
          std::string("http://app.example.org"), std::string("null"), std::string()}) {
        const HttpResponse refused =
            exchange(server.port(), "GET", "/fhir/text", "", {{"Origin", other}});
        EXPECT_FALSE(refused.header("Access-Control-Allow-Origin")) << other;
        // A cache must not give this answer to the application.
        EXPECT_THAT(refused.header("Vary"), Optional(HasSubstr("Origin")));
    }
}

TEST(Cors, OfEverybodyBringsNoCredentials) {
    FakeServer server([](core::Config& config) { config.cors_origins = {"*"}; });
    const HttpResponse answer = exchange(server.port(), "GET", "/fhir/text", "", kFromApp);
    EXPECT_THAT(answer.header("Access-Control-Allow-Origin"), Optional(Eq("*")));
    EXPECT_FALSE(answer.header("Access-Control-Allow-Credentials"));
    // Otherwise, a script couldn't use a picture that the page has shown and the browser has cached.
    EXPECT_THAT(exchange(server.port(), "GET", "/fhir/text").header("Access-Control-Allow-Origin"),
                Optional(Eq("*")));
    EXPECT_FALSE(exchange(server.port(), "OPTIONS", "/fhir/text", "",
                          {{"Access-Control-Request-Method", "GET"}})
                     .header("Access-Control-Allow-Methods"));
}

TEST(Cors, IsForTheOpenApiDocumentAsWell) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.cors_origins = {kApp};
    });
    GuardedServer::Headers headers = kFromApp;
    headers.emplace_back("Accept-Encoding", "gzip");
    const HttpResponse answer = server.get("/openapi.json", headers);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.header("Access-Control-Allow-Origin"), Optional(Eq(kApp)));
    EXPECT_THAT(answer.header("Content-Encoding"), Optional(Eq("gzip")));
    EXPECT_THAT(answer.header("Content-Type"), Optional(HasSubstr("application/json")));
    EXPECT_THAT(answer.header("ETag"), Optional(testing::StartsWith("W/")));
    EXPECT_LT(answer.body.size(), 100'000U);
    EXPECT_EQ(server.send("OPTIONS", "/openapi.json", "", preflight(kApp, "GET")).status, 204);
}

TEST(Cors, IsForFhirAlone) {
    FakeServer server([](core::Config& config) { config.cors_origins = {"*"}; });
    for (const std::string path : {"/metrics", "/healthz"}) {
        EXPECT_FALSE(exchange(server.port(), "GET", path, "", kFromApp)
                         .header("Access-Control-Allow-Origin"));
    }
    // Also on a connection that has just answered a FHIR request.
    Connection connection(server.port());
    ASSERT_TRUE(
        connection.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\n\r\n"
                        "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_TRUE(connection.receive()->header("Access-Control-Allow-Origin"));
    EXPECT_FALSE(connection.receive()->header("Access-Control-Allow-Origin"));
}

TEST(Cors, AnswersPreflightsWithoutCredentialsByWhatThePathTakes) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.cors_origins = {kApp};
    });
    const HttpResponse answer = server.send("OPTIONS", "/Patient/1", {}, preflight(kApp, "PUT"));
    EXPECT_EQ(answer.status, 204);
    EXPECT_THAT(answer.header("Access-Control-Allow-Origin"), Optional(Eq(kApp)));
    EXPECT_THAT(answer.header("Access-Control-Allow-Methods"),
                Optional(Eq("GET, HEAD, PUT, PATCH, DELETE")));
    EXPECT_THAT(answer.header("Access-Control-Allow-Headers"),
                Optional(testing::AllOf(HasSubstr("Authorization"), HasSubstr("If-Match"),
                                        HasSubstr("Content-Type"), HasSubstr("Prefer"),
                                        HasSubstr("X-Security-Context"))));
    EXPECT_TRUE(answer.header("Access-Control-Max-Age"));
    EXPECT_THAT(answer.header("Vary"), Optional(HasSubstr("Access-Control-Request-Method")));
    EXPECT_THAT(server.send("OPTIONS", "/Patient/1/_history/1", {}, preflight(kApp, "GET"))
                    .header("Access-Control-Allow-Methods"),
                Optional(Not(HasSubstr("PUT"))));
    EXPECT_THAT(server.send("OPTIONS", "/", {}, preflight(kApp, "OPTIONS"))
                    .header("Access-Control-Allow-Methods"),
                Optional(Eq("POST, GET, HEAD, OPTIONS")));
    // If the path leads nowhere, the request itself will find out.
    const HttpResponse nowhere =
        server.send("OPTIONS", "/No/Such/Path/At/All", {}, preflight(kApp, "GET"));
    EXPECT_EQ(nowhere.status, 204);
    EXPECT_THAT(nowhere.header("Access-Control-Allow-Methods"),
                Optional(Eq("GET, HEAD, POST, PUT, PATCH, DELETE")));
    // Other origins and other requests get no further than without CORS.
    EXPECT_EQ(server.send("OPTIONS", "/Patient/1", {}, preflight("http://b", "PUT")).status, 401);
    EXPECT_EQ(server.send("OPTIONS", "/Patient/1", {}, kFromApp).status, 401);
    EXPECT_EQ(server.send("GET", "/Patient/1", {}, preflight(kApp, "PUT")).status, 401);
}

TEST(Cors, AllowsHeadersThatAreOfNoUseToIt) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.cors_origins = {kApp};
    });
    const auto allowed = [&server](const std::string& asked) {
        return server
            .send("OPTIONS", "/Patient/1", {},
                  {{"Origin", kApp},
                   {"Access-Control-Request-Method", "GET"},
                   {"Access-Control-Request-Headers", asked}})
            .header("Access-Control-Allow-Headers");
    };
    EXPECT_THAT(allowed("cache-control,x-requested-with"),
                Optional(testing::AllOf(testing::StartsWith("Accept, Authorization, "),
                                        testing::EndsWith(", cache-control,x-requested-with"))));
    EXPECT_THAT(allowed(""), Optional(testing::EndsWith(", X-Security-Context")));
}

TEST(Cors, LetsRefusalsBeRead) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.cors_origins = {kApp};
    });
    const HttpResponse unknown = server.get("/Patient/1", kFromApp);
    EXPECT_EQ(unknown.status, 401);
    EXPECT_TRUE(unknown.header("Access-Control-Allow-Origin"));
    const HttpResponse fault =
        server.send("PUT", "/Patient/1", "x", {{"Origin", kApp}, {"Content-Encoding", "nonsense"}});
    EXPECT_EQ(fault.status, 415);
    EXPECT_THAT(fault.header("Access-Control-Allow-Origin"), Optional(Eq(kApp)));
}

// The status of a write that a page can send without a preflight. `from`: headers set by the browser.
int status_of_write(GuardedServer& server, const GuardedServer::Headers& from,
                    const std::string& type = {}, const std::string& target = "/Patient") {
    GuardedServer::Headers headers = from;
    if (!type.empty()) {
        headers.emplace_back("Content-Type", type);
    }
    return server.send("POST", target, R"({"resourceType":"Patient"})", headers).status;
}

TEST(Pages, OfOtherOriginsWriteNothing) {
    GuardedServer server([](core::Config& config, GuardedServer&) {
        config.cors_origins = {kApp};
        config.base_url = "https://fhir.example.org/r4/fhir";
    });
    const GuardedServer::Headers evil{{"Origin", "https://evil.example.org"}};
    EXPECT_EQ(status_of_write(server, evil), 403);
    EXPECT_EQ(status_of_write(server, {{"Origin", "null"}}), 403);
    for (const std::string type : {"text/plain;charset=UTF-8", "multipart/form-data; boundary=x",
                                   "application/x-www-form-urlencoded"}) {
        EXPECT_EQ(status_of_write(server, evil, type, "/Binary"), 403) << type;
    }
    EXPECT_EQ(server.send("POST", "/Patient/1/$purge", {}, evil).status, 403);
    EXPECT_EQ(server.send("POST", "/", {}, evil).status, 403);
    EXPECT_THAT(server.get("/_history").body, HasSubstr(R"("total":0)"));

    // Other types need a preflight first, and reading is up to the browser.
    EXPECT_EQ(status_of_write(server, evil, "application/fhir+json"), 201);
    EXPECT_EQ(server
                  .send("POST", "/Patient/_search", "_count=1",
                        {{"Origin", "https://evil.example.org"},
                         {"Content-Type", "application/x-www-form-urlencoded"}})
                  .status,
              200);
    // Configured origins, the server's own, and clients that are no browsers.
    EXPECT_EQ(status_of_write(server, kFromApp), 201);
    EXPECT_EQ(status_of_write(server, {{"Origin", "https://fhir.example.org"}}), 201);
    EXPECT_EQ(
        status_of_write(server, {{"Origin", "http://127.0.0.1:" + std::to_string(server.port())}}),
        201);
    EXPECT_EQ(status_of_write(server, {{"Origin", "https://proxied.example.org"},
                                       {"Sec-Fetch-Site", "same-origin"}}),
              201);
    EXPECT_EQ(status_of_write(server, {}), 201);
    EXPECT_EQ(status_of_write(server, {{"Origin", "https://fhir.example.or"}}), 403);
}

TEST(RequestIds, AreEchoedWithFaultsOfHttp) {
    FakeServer server;
    const HttpResponse fault = exchange(server.port(), "PUT", "/fhir/text", "x",
                                        {{"X-Request-Id", "mine-7"}, {"Content-Encoding", "x"}});
    EXPECT_EQ(fault.status, 415);
    EXPECT_THAT(fault.header("X-Request-Id"), Optional(Eq("mine-7")));
    // Never that of an earlier request on the connection.
    Connection connection(server.port());
    ASSERT_TRUE(
        connection.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\nX-Request-Id: first\r\n\r\n"));
    EXPECT_THAT(connection.receive()->header("X-Request-Id"), Optional(Eq("first")));
    ASSERT_TRUE(connection.send("nonsense\r\n\r\n"));
    const auto refused = connection.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 400);
    EXPECT_THAT(refused->header("X-Request-Id"), Optional(Not(Eq("first"))));
}

TEST(SecurityHeaders, AreWithEveryAnswer) {
    FakeServer server;
    for (const std::string path : {"/fhir/text", "/fhir/nothing", "/healthz", "/elsewhere"}) {
        const HttpResponse answer = exchange(server.port(), "GET", path);
        EXPECT_THAT(answer.header("X-Content-Type-Options"), Optional(Eq("nosniff"))) << path;
        EXPECT_THAT(answer.header("Referrer-Policy"), Optional(Eq("no-referrer"))) << path;
        EXPECT_FALSE(answer.header("Strict-Transport-Security")) << path;
    }
}

std::string cache_control(GuardedServer& server, const std::string& target,
                          const GuardedServer::Headers& headers = {}) {
    return server.get(target, headers).header("Cache-Control").value_or("");
}

TEST(Caching, IsPrivateWhereCredentialsAreNeeded) {
    const SigningKey key("ES256");
    const GuardedServer::Headers token{{"Authorization", "Bearer " + key.sign(kClaims)}};
    const std::string patient = R"({"resourceType":"Patient","id":"1"})";
    const std::string version = "/Patient/1/_history/1";

    GuardedServer open([](core::Config&, GuardedServer&) {});
    ASSERT_EQ(open.send("PUT", "/Patient/1", patient).status, 201);
    EXPECT_EQ(cache_control(open, version), "public, max-age=31536000, immutable");
    // Otherwise, browsers and proxies would show overwritten and deleted resources for days.
    for (const char* path : {"/Patient/1", "/Patient", "/Patient/1/$meta", "/Patient/2"}) {
        EXPECT_EQ(cache_control(open, path), "no-cache") << path;
    }
    EXPECT_FALSE(open.send("PUT", "/Patient/1", patient).header("Cache-Control"));

    GuardedServer guarded(with_tokens(jwk_set({key.jwk()})));
    ASSERT_EQ(guarded.send("PUT", "/Patient/1", patient, token).status, 201);
    EXPECT_EQ(cache_control(guarded, version, token), "private, max-age=31536000, immutable");
    // The next user of the browser has other credentials, or none.
    EXPECT_THAT(guarded.get(version, token).header("Vary"),
                Optional(Eq("Authorization, X-API-Key")));
    EXPECT_THAT(open.get(version).header("Vary"), Optional(Eq("Accept, Accept-Encoding")));
    for (const char* path : {"/Patient/1", "/Patient", "/Patient/_history", "/_history"}) {
        EXPECT_EQ(cache_control(guarded, path, token), "private, no-cache") << path;
    }
    EXPECT_EQ(cache_control(guarded, "/metadata"), "no-cache");
    EXPECT_EQ(cache_control(guarded, "/Patient/1"), "private, no-cache");
    // Refused before the body, or the whole head, is read.
    EXPECT_EQ(guarded.send("PUT", "/Patient/1", patient).header("Cache-Control").value_or(""),
              "private, no-cache");
    EXPECT_EQ(cache_control(guarded, "/Patient?x=" + std::string(9000, 'y')), "private, no-cache");

    GuardedServer read_by_all([&](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({key.jwk()}))(config, self);
        config.auth.public_access = {"read"};
    });
    ASSERT_EQ(read_by_all.send("PUT", "/Patient/1", patient, token).status, 201);
    EXPECT_EQ(cache_control(read_by_all, version), "public, max-age=31536000, immutable");
}

}  // namespace
}  // namespace annals::test
