// The keys of tokens: those that the server signs with, and those of its clients.

#include "tests/net/token_requests.h"
#include "tests/support/http_endpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdio>
#include <string>
#include <utility>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TokenEndpoint, PublishesItsKeysAndSaysWhereItIs) {
    const SigningKey key("ES256");
    GuardedServer server(with_clients(client_entry("lab", inline_keys(key))));
    const HttpResponse keys = server.get("/auth/jwks");
    EXPECT_EQ(keys.status, 200);
    EXPECT_THAT(keys.body, HasSubstr(R"("kty":"EC")"));
    EXPECT_THAT(keys.body, Not(HasSubstr(R"("d":)")));
    EXPECT_EQ(keys.header("Cache-Control"), "max-age=300");
    EXPECT_FALSE(keys.header("Pragma"));
    EXPECT_EQ(server.send("HEAD", "/auth/jwks").status, 200);
    const HttpResponse refused = server.send("DELETE", "/auth/jwks");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.header("Allow"), "GET, HEAD");

    const HttpResponse smart = server.get("/.well-known/smart-configuration");
    EXPECT_EQ(member(smart, "token_endpoint"), kTokenUrl);
    EXPECT_EQ(member(smart, "issuer"), kBase);
    EXPECT_EQ(member(smart, "jwks_uri"), kBase + "/auth/jwks");
    for (const char* part :
         {R"("grant_types_supported":["client_credentials"])",
          R"("token_endpoint_auth_methods_supported":["private_key_jwt"])", R"("RS384")",
          R"("ES384")", R"("scopes_supported":[")", R"("client-confidential-asymmetric")"}) {
        EXPECT_THAT(smart.body, HasSubstr(part));
    }
    const std::string metadata = server.get("/metadata").body;
    EXPECT_THAT(metadata, HasSubstr(kTokenUrl));
    EXPECT_THAT(metadata, HasSubstr(R"("valueCode":"client-confidential-asymmetric")"));
}

TEST(TokenEndpoint, FetchesTheKeysOfAClientAndFetchesThemAgain) {
    const SigningKey first("ES384", "first");
    const SigningKey second("ES384", "second");
    KeyEndpoint keys(jwk_set({first.jwk()}));
    GuardedServer server(
        with_clients(client_entry("lab", fmt::format("jwks_url = '{}'", keys.url()))));
    // The first request waits for the first keys; a jku with the same URL is harmless.
    EXPECT_EQ(
        post(server, form(first.sign(
                         fmt::format(R"({{"alg":"ES384","kid":"first","jku":"{}"}})", keys.url()),
                         claims("lab", "1"))))
            .status,
        200);
    keys.set(jwk_set({second.jwk()}));
    EXPECT_EQ(post(server, form(second.sign(claims("lab", "2")))).status, 200);
    const int before = keys.requests();
    for (int i = 0; i < 5; ++i) {
        const SigningKey unknown("ES256", fmt::format("unknown{}", i));
        expect_refused(post(server, form(unknown.sign(claims("lab", "3")))), "invalid_client");
    }
    EXPECT_LE(keys.requests(), before + 1);
}

TEST(TokenEndpoint, FetchesKeysOnceForOneThatIsNotThereAndNotForAForgery) {
    const SigningKey key("ES384", "known");
    KeyEndpoint keys(jwk_set({key.jwk()}));
    GuardedServer server(
        with_clients(client_entry("lab", fmt::format("jwks_url = '{}'", keys.url()))));
    ASSERT_TRUE(becomes_true([&] { return keys.requests() == 1; }));
    for (const auto& [id, requests] : {std::pair{"known", 1}, {"unknown", 2}}) {
        expect_refused(post(server, form(SigningKey("ES384", id).sign(claims("lab", "1")))),
                       "invalid_client");
        EXPECT_EQ(keys.requests(), requests) << id;
    }
}

TEST(TokenEndpoint, SignsWithTheKeyOfAFile) {
    const SigningKey client("ES256");
    const auto with_key = [&](const char* curve) {
        return [=, &client](core::Config& config, GuardedServer& server) {
            with_clients(client_entry("lab", inline_keys(client)))(config, server);
            config.auth.token_endpoint.key_file = server.file("key.pem");
            EVP_PKEY* const key = EVP_EC_gen(curve);
            std::FILE* const file = std::fopen(server.file("key.pem").c_str(), "w");
            PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
            std::fclose(file);
            EVP_PKEY_free(key);
        };
    };
    GuardedServer server(with_key("P-384"));
    EXPECT_THAT(server.get("/auth/jwks").body, HasSubstr("ES384"));
    const std::string token =
        member(post(server, form(client.sign(claims("lab", "1")))), "access_token");
    EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 404);
}

}  // namespace
}  // namespace annals::test
