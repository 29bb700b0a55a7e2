// Where clients are told to get their tokens.

#include "codec/json/document.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPath = "/.well-known/smart-configuration";

TEST(SmartConfiguration, SaysWhatIsConfiguredAndNothingElse) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.auth.jwt_issuer = "https://auth.example.org";
        config.auth.public_access = {};
        config.auth.smart.authorization_endpoint = "https://auth.example.org/authorize";
        config.auth.smart.token_endpoint = "https://auth.example.org/token";
        config.auth.smart.scopes = {"user/*.rs", "openid"};
        config.auth.smart.capabilities = {"client-confidential-asymmetric"};
        config.cors_origins = {"https://app.example.org"};
    });
    // No credentials are needed, and Accept doesn't matter.
    const HttpResponse answer = server.get(
        kPath, {{"Accept", "application/fhir+xml"}, {"Origin", "https://app.example.org"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(*answer.header("Content-Type"), HasSubstr("application/json"));
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://app.example.org");
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    ASSERT_TRUE(document) << answer.body;
    const json::Value root = document->root();
    EXPECT_EQ(root["issuer"].string(), "https://auth.example.org");
    EXPECT_EQ(root["authorization_endpoint"].string(), "https://auth.example.org/authorize");
    EXPECT_EQ(root["token_endpoint"].string(), "https://auth.example.org/token");
    EXPECT_FALSE(root["jwks_uri"]);
    EXPECT_FALSE(root["introspection_endpoint"]);
    EXPECT_EQ(root["grant_types_supported"].raw(),
              R"(["authorization_code","client_credentials"])");
    EXPECT_EQ(root["response_types_supported"].raw(), R"(["code"])");
    EXPECT_EQ(root["code_challenge_methods_supported"].raw(), R"(["S256"])");
    EXPECT_EQ(root["scopes_supported"].raw(), R"(["user/*.rs","openid"])");
    EXPECT_EQ(
        root["capabilities"].raw(),
        R"(["permission-patient","permission-user","permission-v1","permission-v2","client-confidential-asymmetric"])");

    EXPECT_EQ(server.send("HEAD", kPath).status, 200);
    const HttpResponse posted = server.send("POST", kPath, "{}");
    EXPECT_EQ(posted.status, 405);
    EXPECT_EQ(posted.header("Allow"), "GET, HEAD");
}

TEST(SmartConfiguration, SaysWhatSmartDemandsWhereverTokensAreHad) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.auth.smart.token_endpoint = "https://auth.example.org/token";
    });
    const std::string body = server.get(kPath).body;
    EXPECT_THAT(body, HasSubstr(R"("grant_types_supported":["client_credentials"])"));
    EXPECT_THAT(body, HasSubstr(R"("code_challenge_methods_supported":["S256"])"));
    // Signing keys don't tell where tokens are issued.
    GuardedServer keys(with_tokens(jwk_set({})));
    EXPECT_THAT(keys.get(kPath).body, Not(HasSubstr("grant_types_supported")));
}

TEST(SmartConfiguration, NamesAllIssuersWhereThereAreSeveral) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.auth.jwt_issuer = "https://auth.example.org";
        config.auth.jwt_issuers = {
            {"https://other.example.org", "", config.auth.jwt_jwks_file, ""}};
    });
    const std::string body = server.get(kPath).body;
    EXPECT_THAT(body, HasSubstr(R"("issuer":"https://auth.example.org")"));
    EXPECT_THAT(
        body,
        HasSubstr(
            R"("authorization_servers":["https://auth.example.org","https://other.example.org"])"));
}

/// SMART demands jwks_uri with sso-openid-connect, also if the keys are in a local file.
TEST(SmartConfiguration, NamesTheKeysAndWhatElseIsToldByHandWhereTheKeysAreAFile) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.auth.jwt_issuer = "https://auth.example.org";
        config.auth.smart.token_endpoint = "https://auth.example.org/token";
        config.auth.smart.jwks_uri = "https://auth.example.org/jwks";
        config.auth.smart.user_access_brand_bundle = "https://example.org/brands.json";
        config.auth.smart.user_access_brand_identifier = "urn:ietf:rfc:3986|https://example.org";
        config.auth.smart.token_endpoint_auth_methods = {"client_secret_basic", "private_key_jwt"};
        config.auth.smart.introspection_endpoint = "https://auth.example.org/introspect";
        config.auth.smart.revocation_endpoint = "https://auth.example.org/revoke";
        config.auth.smart.management_endpoint = "https://auth.example.org/manage";
        config.auth.smart.registration_endpoint = "https://auth.example.org/register";
    });
    const std::string body = server.get(kPath).body;
    EXPECT_THAT(body, HasSubstr(R"("jwks_uri":"https://auth.example.org/jwks")"));
    EXPECT_THAT(body, HasSubstr(R"("user_access_brand_bundle":"https://example.org/brands.json")"));
    EXPECT_THAT(
        body,
        HasSubstr(R"("user_access_brand_identifier":"urn:ietf:rfc:3986|https://example.org")"));
    EXPECT_THAT(
        body,
        HasSubstr(
            R"("token_endpoint_auth_methods_supported":["client_secret_basic","private_key_jwt"])"));
    for (const char* part : {R"("introspection_endpoint":"https://auth.example.org/introspect")",
                             R"("revocation_endpoint":"https://auth.example.org/revoke")",
                             R"("management_endpoint":"https://auth.example.org/manage")",
                             R"("registration_endpoint":"https://auth.example.org/register")"}) {
        EXPECT_THAT(body, HasSubstr(part));
    }
}

TEST(SmartConfiguration, IsThatOfTheFirstIssuerWhereNoneIsNamedAlone) {
    const std::string url = deserted_url();
    GuardedServer server([&](core::Config& config, GuardedServer&) {
        config.auth.mode = "jwt";
        config.auth.jwt_issuers = {{"https://a.example.org", "", "", url}};
    });
    const HttpResponse answer = server.get(kPath);
    EXPECT_THAT(answer.body, HasSubstr(R"({"issuer":"https://a.example.org","jwks_uri":")" + url));
    EXPECT_THAT(answer.body, HasSubstr(R"("authorization_servers":["https://a.example.org"])"));
    EXPECT_EQ(answer.header("Cache-Control"), "max-age=300");
}

TEST(SmartConfiguration, NamesNoIssuerWhereTokensAreOnlyAskedAbout) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        config.auth.mode = "jwt";
        config.auth.introspection.url = "https://auth.example.org/introspect";
        config.auth.introspection.client_secret_file = self.file("secret");
        write_whole_file(self.file("secret"), "secret");
    });
    const HttpResponse answer = server.get(kPath);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, Not(HasSubstr("issuer")));
    EXPECT_THAT(answer.body, Not(HasSubstr("authorization_servers")));
}

TEST(SmartConfiguration, IsNotThereWhereNoTokensAreTaken) {
    GuardedServer open([](core::Config&, GuardedServer&) {});
    EXPECT_EQ(open.get(kPath).status, 404);
    GuardedServer keys(with_keys("api_key", jwk_set({})));
    EXPECT_EQ(keys.get(kPath).status, 404);
}

TEST(SmartConfiguration, IsInTheCapabilityStatementAsWell) {
    GuardedServer server([](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({}))(config, self);
        config.auth.smart.token_endpoint = "https://auth.example.org/token";
        config.cors_origins = {"*"};
    });
    const std::string statement = server.get("/metadata").body;
    EXPECT_THAT(statement,
                HasSubstr(R"({"url":"token","valueUri":"https://auth.example.org/token"})"));
    EXPECT_THAT(statement, HasSubstr(R"("cors":true)"));
    EXPECT_THAT(statement, Not(HasSubstr(R"("url":"authorize")")));
    GuardedServer plain(with_tokens(jwk_set({})));
    EXPECT_THAT(plain.get("/metadata").body, Not(HasSubstr("oauth-uris")));
    EXPECT_THAT(plain.get("/metadata").body, HasSubstr(R"("cors":false)"));
}

}  // namespace
}  // namespace annals::test
