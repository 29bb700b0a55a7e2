// Tokens issued by the server itself, over a socket: to whom, for what, and what is refused.

#include "net/auth/token_endpoint.h"

#include "core/base/base64.h"
#include "net/coding.h"
#include "tests/net/token_requests.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TokenEndpoint, GivesTokensThatTheServerItselfTakes) {
    for (const char* algorithm : {"RS384", "ES384", "ES256", "PS256", "EdDSA"}) {
        SCOPED_TRACE(algorithm);
        const SigningKey key(algorithm);
        GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
        const HttpResponse answer = post(server, form(key.sign(claims("lab", "1"))));
        ASSERT_EQ(answer.status, 200) << answer.body;
        EXPECT_THAT(*answer.header("Content-Type"), HasSubstr("application/json"));
        EXPECT_EQ(answer.header("Cache-Control"), "no-store");
        EXPECT_EQ(answer.header("Pragma"), "no-cache");
        EXPECT_THAT(answer.body, HasSubstr(R"("token_type":"bearer","expires_in":300)"));
        EXPECT_EQ(member(answer, "scope"), "system/Patient.rs");
        const std::string token = member(answer, "access_token");
        EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 404);
        EXPECT_EQ(server.get_with_token("/Observation/1", token).status, 403);
        EXPECT_EQ(server.get_with_token("/Patient/1", token + "x").status, 401);
    }
}

TEST(TokenEndpoint, GivesWhatIsAskedForAsFarAsItIsAllowed) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    int jti = 0;
    const auto granted = [&](const std::string& scope) {
        return member(post(server, form(key.sign(claims("lab", std::to_string(++jti))), scope)),
                      "scope");
    };
    EXPECT_EQ(granted("system%2F*.cruds"), "system/Patient.rs system/Observation.cruds");
    EXPECT_EQ(granted("system/*.read+openid"), "system/Patient.rs system/Observation.rs");
    EXPECT_EQ(granted("system/Patient.cruds"), "system/Patient.rs");
    for (const char* scope : {"", "openid", "system/Encounter.rs", "user/Patient.rs",
                              "patient/*.rs", "system/Patient.d", "*"}) {
        expect_refused(post(server, form(key.sign(claims("lab", std::to_string(++jti))), scope)),
                       "invalid_scope");
    }
}

TEST(TokenEndpoint, TakesAnAssertionOnce) {
    const SigningKey key("ES256");
    const SigningKey other("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key)) +
                                      client_entry("ward", inline_keys(other))));
    const std::string assertion = key.sign(claims("lab", "same"));
    EXPECT_EQ(post(server, form(assertion)).status, 200);
    expect_refused(post(server, form(assertion)), "invalid_client", "used before");
    // Nor another one with the same jti, unless it is another client's.
    expect_refused(post(server, form(key.sign(claims("lab", "same", 200)))), "invalid_client",
                   "used before");
    EXPECT_EQ(post(server, form(other.sign(claims("ward", "same")))).status, 200);
    // An assertion that got no token is used up, too.
    const std::string wasted = key.sign(claims("lab", "wasted"));
    expect_refused(post(server, form(wasted, "openid")), "invalid_scope");
    expect_refused(post(server, form(wasted)), "invalid_client", "used before");
}

TEST(TokenEndpoint, TakesNoAssertionAgainThatTheServerBeforeItTook) {
    const SigningKey key("ES256");
    const TemporaryDirectory data;
    const std::string before = key.sign(claims("lab", "before"));
    for (const int status : {200, 400}) {
        GuardedServer server([&](core::Config& config, GuardedServer& self) {
            with_clients(client_entry("lab", inline_keys(key)))(config, self);
            config.data = data / "data";
        });
        EXPECT_EQ(post(server, form(before)).status, status);
        EXPECT_EQ(post(server, form(key.sign(claims("lab", std::to_string(status))))).status, 200);
    }
}

TEST(TokenEndpoint, GivesNothingForAnAssertionThatItCannotWriteDown) {
    const SigningKey key("ES256");
    const TemporaryDirectory folder;
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("/data"));
    core::Config config;
    config.base_url = kBase;
    config.data = "/data";
    config.auth.mode = "jwt";
    config.auth.token_endpoint.clients_file = folder / "clients.toml";
    write_whole_file(config.auth.token_endpoint.clients_file,
                     client_entry("lab", inline_keys(key)));
    const auto endpoint = net::auth::TokenEndpoint::open(config, files, now());
    ASSERT_TRUE(endpoint) << endpoint.error().detail;
    const std::string body = form(key.sign(claims("lab", "1")));
    core::Request request;
    request.method = core::HttpMethod::post;
    request.headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
    request.body = body;
    net::auth::Settled later;
    std::string client;
    files.fail_next(SimFileSystem::Call::write, Errc::no_store);
    const auto refused = (*endpoint)->answer(request, "a", now(), &later, client);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503);
    EXPECT_THAT(refused->body.str(), HasSubstr(R"("error":"temporarily_unavailable")"));
    EXPECT_THAT(refused->headers, testing::Contains(testing::Pair("Retry-After", "30")));
    EXPECT_EQ(client, "");
    const auto given = (*endpoint)->answer(request, "a", now(), &later, client);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->status, 200);
    EXPECT_EQ(client, "lab");
}

TEST(TokenEndpoint, ThatMayNotWriteTakesNoAssertionFromBeforeItBegan) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_clients(client_entry("lab", inline_keys(key)))(config, self);
        config.read_only = true;
    });
    expect_refused(post(server, form(key.sign(claims("lab", "1")))), "invalid_client",
                   "may have been used before");
    EXPECT_FALSE(std::filesystem::exists(server.file("data/assertions")));
}

TEST(TokenEndpoint, HoldsAssertionsToWhatTheyMustSay) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const auto refuses = [&](const std::string& text, const std::string& why) {
        SCOPED_TRACE(text);
        expect_refused(post(server, form(key.sign(text))), "invalid_client", why);
    };
    refuses(claims("lab", "a", 240, kBase), "a different audience");
    refuses(claims("lab", "a", 240, "http://127.0.0.1/fhir/auth/token"), "a different audience");
    refuses(claims("lab", "a", 600), "five minutes");
    refuses(claims("lab", "a", -600), "expired");
    refuses(claims("lab", ""), "jti");
    refuses(claims("lab", std::string(513, 'j')), "jti");
    refuses(fmt::format(R"({{"iss":"lab","aud":"{}","exp":{},"jti":"1"}})", kTokenUrl,
                        seconds_from_now(200)),
            "sub");
    refuses(fmt::format(R"({{"iss":"lab","sub":"ward","aud":"{}","exp":{},"jti":"1"}})", kTokenUrl,
                        seconds_from_now(200)),
            "sub");
    refuses(fmt::format(R"({{"iss":"lab","sub":"lab","aud":"{}","jti":"1"}})", kTokenUrl), "exp");
    refuses(fmt::format(R"({{"iss":"lab","sub":"lab","aud":"{}","exp":{},"nbf":{},"jti":"1"}})",
                        kTokenUrl, seconds_from_now(200), seconds_from_now(150)),
            "not valid yet");
    refuses(R"({"iss":"lab"})", "exp");
    // None of these has used up a jti.
    EXPECT_EQ(post(server, form(key.sign(claims("lab", "1")))).status, 200);
}

TEST(TokenEndpoint, TakesNoForgedAssertions) {
    const SigningKey key("RS384");
    const SigningKey stranger("RS384");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const std::string good = claims("lab", "1");
    const std::string unsigned_token = base64url(R"({"alg":"none"})") + '.' + base64url(good) + '.';
    const std::string signed_well = key.sign(good);
    const std::size_t dot = signed_well.find('.');
    for (const std::string& assertion :
         {unsigned_token, sign_hs256(jwk_set({key.jwk()}), good), sign_hs256(key.jwk(), good),
          stranger.sign(good), key.sign(claims("ward", "1")),
          key.sign(R"({"alg":"ES384","kid":"k1"})", good),
          key.sign(R"({"alg":"RS384","jku":"https://evil.example.org/"})", good),
          key.sign(R"({"alg":"RS384","jwk":{}})", good),
          key.sign(R"({"alg":"RS384","kid":"other"})", good),
          signed_well.substr(0, dot) + '.' + base64url(claims("lab", "2")) +
              signed_well.substr(signed_well.rfind('.')),
          std::string("a.b.c"), std::string("a"), std::string(17'000, 'a')}) {
        SCOPED_TRACE(assertion.substr(0, 200));
        expect_refused(post(server, form(assertion)), "invalid_client",
                       "not known, or its assertion is not valid");
    }
    EXPECT_EQ(post(server, form(signed_well)).status, 200);
}

TEST(TokenEndpoint, IsStrictAboutForms) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const std::string assertion = key.sign(claims("lab", "1"));
    const std::string good = form(assertion);
    expect_refused(post(server, good + "&scope=system/*.cruds"), "invalid_request", "repeated");
    expect_refused(post(server, good + "&grant_type=password"), "invalid_request", "repeated");
    expect_refused(post(server, good + "&client_assertion=x"), "invalid_request", "repeated");
    expect_refused(post(server, good, "application/json"), "invalid_request");
    expect_refused(post(server, good, ""), "invalid_request");
    expect_refused(post(server, ""), "invalid_request");
    expect_refused(post(server, good + "&a=%zz"), "invalid_request");
    expect_refused(post(server, good + "&a=%00"), "invalid_request");
    std::string many = good;
    for (int i = 0; i < 30; ++i) {
        many += fmt::format("&p{}=1", i);
    }
    expect_refused(post(server, many), "invalid_request");
    expect_refused(server.send("POST", "/auth/token?grant_type=client_credentials", good,
                               {{"Content-Type", "application/x-www-form-urlencoded"}}),
                   "invalid_request");
    expect_refused(post(server, "grant_type=password&username=a&password=b"),
                   "unsupported_grant_type");
    expect_refused(post(server, "grant_type=client_credentials&client_id=lab&client_secret=x"),
                   "invalid_client");
    expect_refused(post(server, good + "&client_id=ward"), "invalid_client");
    std::string saml = good;
    saml.replace(saml.find("jwt-bearer"), 10, "saml2-bearer");
    expect_refused(post(server, saml), "invalid_client", "of the type jwt-bearer");

    for (const auto& other :
         {std::pair("Authorization", "Basic bGFiOng="), std::pair("X-API-Key", "key")}) {
        const HttpResponse refused = server.send(
            "POST", "/auth/token", good,
            {{"Content-Type", "application/x-www-form-urlencoded"}, {other.first, other.second}});
        EXPECT_EQ(refused.status, 401) << other.first;
        EXPECT_TRUE(refused.header("WWW-Authenticate"));
        EXPECT_EQ(member(refused, "error"), "invalid_client");
    }
    const HttpResponse got = server.get("/auth/token");
    EXPECT_EQ(got.status, 405);
    EXPECT_EQ(got.header("Allow"), "POST");

    // Charset and client_id change nothing, and nothing above has used up the assertion.
    EXPECT_EQ(post(server, good + "&client_id=lab&unknown=1",
                   "application/x-www-form-urlencoded; charset=UTF-8")
                  .status,
              200);
}

TEST(TokenEndpoint, ReadsNoLargeBodies) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const HttpResponse large = post(server, form(std::string(200'000, 'a')));
    EXPECT_EQ(large.status, 413);
    EXPECT_EQ(member(large, "error"), "invalid_request");
    // Nor bodies that are large once unpacked.
    const auto packed = [&](const std::string& text) {
        std::string bytes;
        net::take_encoder(net::Coding::gzip)->add(text, net::Encoder::Then::end, bytes);
        return server.send(
            "POST", "/auth/token", bytes,
            {{"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Encoding", "gzip"}});
    };
    const std::string good = form(key.sign(claims("lab", "1")));
    expect_refused(packed(good + "&a=" + std::string(200'000, 'a')), "invalid_request", "short");
    EXPECT_EQ(packed(good).status, 200);
}

TEST(TokenEndpoint, TakesAFormThatComesBehindItsHead) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const std::string body = form(key.sign(claims("lab", "1")));
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(
        fmt::format("POST /fhir/auth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Type: application/x-www-form-urlencoded\r\n"
                    "Content-Length: {}\r\n\r\n",
                    body.size())));
    EXPECT_EQ(connection.receive()->status, 100);
    ASSERT_TRUE(connection.send(body));
    EXPECT_EQ(connection.receive()->status, 200);
}

TEST(TokenEndpoint, SlowsDownWhoeverAsksTooOften) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key)), 1));
    int throttled = 0;
    for (int i = 0; i < 20 && throttled == 0; ++i) {
        const HttpResponse answer = post(server, "");
        if (answer.status == 429) {
            ++throttled;
            EXPECT_TRUE(answer.header("Retry-After"));
            EXPECT_EQ(answer.header("Cache-Control"), "no-store");
        }
    }
    EXPECT_EQ(throttled, 1);
    // Other requests are not slowed down.
    EXPECT_EQ(server.get("/metadata").status, 200);
}

TEST(TokenEndpoint, IsNotThereUnlessClientsAreNamed) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    // As for any path that doesn't exist, this is not told without credentials.
    EXPECT_EQ(post(server, "grant_type=client_credentials").status, 401);
    EXPECT_EQ(server.get("/auth/jwks").status, 401);
    EXPECT_EQ(server.get_with_token("/auth/jwks", key.sign(kClaims)).status, 404);
    EXPECT_THAT(server.get("/.well-known/smart-configuration").body,
                Not(HasSubstr("token_endpoint")));
}

TEST(TokenEndpoint, ReadsItsClientsAgain) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const auto status = [&](const std::string& client) {
        static int jti = 0;
        return post(server, form(key.sign(claims(client, std::to_string(++jti))))).status;
    };
    EXPECT_EQ(status("lab"), 200);
    EXPECT_EQ(status("ward"), 400);
    write_whole_file(server.file("clients.toml"), client_entry("ward", inline_keys(key)));
    for (int i = 0; i < 200 && status("ward") != 200; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(status("ward"), 200);
    EXPECT_EQ(status("lab"), 400);
}

TEST(TokenEndpoint, IsInTheAuditLogWithoutWhatWasSent) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_clients(client_entry("lab-backend", inline_keys(key)))(config, self);
        config.audit.file = self.file("audit.ndjson");
    });
    const std::string assertion = key.sign(claims("lab-backend", "1"));
    ASSERT_EQ(post(server, form(assertion)).status, 200);
    ASSERT_EQ(post(server, form(assertion)).status, 400);
    std::string text;
    for (int i = 0; i < 1000 && std::count(text.begin(), text.end(), '\n') < 2; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::ostringstream all;
        all << std::ifstream(server.file("audit.ndjson")).rdbuf();
        text = all.str();
    }
    EXPECT_THAT(text, HasSubstr(R"("code":"110122")"));
    EXPECT_THAT(text, HasSubstr(R"("value":"lab-backend")"));
    EXPECT_THAT(text, HasSubstr(R"("outcomeDesc":"400")"));
    EXPECT_THAT(text, Not(HasSubstr(assertion.substr(0, 40))));
}

TEST(TokenEndpoint, CountsWhatItGivesAndRefuses) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    EXPECT_EQ(post(server, form(key.sign(claims("lab", "1")))).status, 200);
    EXPECT_EQ(post(server, "").status, 400);
    const std::string page = exchange(server.port(), "GET", "/metrics").body;
    EXPECT_THAT(page, HasSubstr("annals_tokens_total{outcome=\"issued\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("annals_tokens_total{outcome=\"refused\"} 1\n"));
}

}  // namespace
}  // namespace annals::test
