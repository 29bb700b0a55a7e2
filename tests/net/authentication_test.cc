// Who is let in, over a socket: tokens and API keys, and what clients are told.

#include "core/base/digest.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <thread>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Authentication, LetsMetadataBeReadByEverybodyAndNothingElse) {
    GuardedServer server(with_tokens(jwk_set({})));
    EXPECT_EQ(server.get("/metadata").status, 200);
    const HttpResponse refused = server.get("/Patient/1");
    EXPECT_EQ(refused.status, 401);
    EXPECT_THAT(refused.body, HasSubstr(R"("code":"login")"));
    EXPECT_EQ(refused.header("WWW-Authenticate"), R"(Bearer realm="fhir")");
}

TEST(Authentication, TakesGoodTokens) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const std::string token = key.sign(kClaims);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 404);
    }
    EXPECT_EQ(server.get("/Patient/1", {{"authorization", "bearer  " + token}}).status, 404);
}

TEST(Authentication, HoldsScopesOfAPatientToTheOneThatTheTokenNames) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const auto token = [&](const char* more) {
        return key.sign(R"({"sub":"app","exp":4000000000,"scope":"patient/*.cruds")" +
                        std::string(more) + "}");
    };
    const std::string mine = token(R"(,"patient":"m")");
    EXPECT_EQ(server.get_with_token("/Patient/m", mine).status, 404);
    EXPECT_EQ(server.get_with_token("/Observation", mine).status, 200);
    EXPECT_EQ(server.get_with_token("/Practitioner/m", mine).status, 403);
    EXPECT_EQ(server.get_with_token("/Patient/m", token("")).status, 403);
}

TEST(Authentication, SaysWhatIsWrongWithATokenAndNothingOfItsContent) {
    const SigningKey key("ES256");
    const SigningKey stranger("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const HttpResponse forged = server.get_with_token("/Patient/1", stranger.sign(kClaims));
    EXPECT_EQ(forged.status, 401);
    EXPECT_THAT(forged.body, HasSubstr(R"("code":"security")"));
    EXPECT_EQ(
        forged.header("WWW-Authenticate"),
        R"(Bearer realm="fhir", error="invalid_token", error_description="credentials not accepted")");
    const HttpResponse late =
        server.get_with_token("/Patient/1", key.sign(R"({"exp":1000000000})"));
    EXPECT_EQ(late.status, 401);
    EXPECT_THAT(late.body, HasSubstr(R"("code":"expired")"));
    EXPECT_EQ(late.header("WWW-Authenticate"),
              R"(Bearer realm="fhir", error="invalid_token", error_description="token expired")");
    // Also where no credentials are needed, except for what tells clients where to get tokens.
    EXPECT_EQ(server.get_with_token("/openapi.json", stranger.sign(kClaims)).status, 401);
    EXPECT_EQ(server.get("/Patient/1", {{"Authorization", "Basic YTpi"}}).status, 401);
}

TEST(Authentication, OfTheCapabilityStatementNeedsNoTokenAndMindsNone) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const std::string late = key.sign(R"({"exp":1000000000})");
    EXPECT_EQ(server.get_with_token("/metadata", late).status, 200);
    EXPECT_EQ(server.get_with_token("/metadata/", "a.b.c").status, 200);
    EXPECT_EQ(server.get_with_token("/metadata", key.sign(kClaims)).status, 200);
    GuardedServer closed([&](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({key.jwk()}))(config, self);
        config.auth.public_access = {};
    });
    EXPECT_EQ(closed.get_with_token("/metadata", late).status, 401);
}

TEST(Authentication, ForgetsATokenWhenItExpires) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_tokens(jwk_set({key.jwk()}))(config, self);
        config.auth.jwt_leeway = std::chrono::milliseconds(0);
    });
    const auto status = [&](const std::string& token) {
        return server.get_with_token("/Patient/1", token).status;
    };
    const auto [token, end] = accepted_token_that_ends(
        key, "system/*.rs", [&](const auto& it) { return status(it) == 404; });
    while (now().us / 1'000'000 < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(status(token), 401);
}

TEST(Authentication, RefusesWhatTheScopesDoNotPermitAndNamesTheScope) {
    const SigningKey key("ES256");
    GuardedServer server(with_tokens(jwk_set({key.jwk()})));
    const std::string token = key.sign(R"({"exp":4000000000,"scope":"system/Observation.rs"})");
    EXPECT_EQ(server.get_with_token("/Observation/1", token).status, 404);
    const HttpResponse refused = server.get_with_token("/Patient/1", token);
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr(R"("code":"forbidden")"));
    EXPECT_THAT(*refused.header("WWW-Authenticate"),
                HasSubstr(R"(error="insufficient_scope", scope="system/Patient.r")"));
    EXPECT_EQ(server.get_with_token("/Patient/1", key.sign(R"({"exp":4000000000})")).status, 403);
}

TEST(Authentication, TakesApiKeysByTheirDigest) {
    GuardedServer server(with_keys("api_key", jwk_set({})));
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", "the key of lab 7"}}).status, 404);
    const HttpResponse wrong = server.get("/Patient/1", {{"X-API-Key", "the key of lab 8"}});
    EXPECT_EQ(wrong.status, 401);
    EXPECT_THAT(wrong.body, HasSubstr(R"("code":"security")"));
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", sha256_hex("the key of lab 7")}}).status,
              401);
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", ""}}).status, 401);
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", std::string(5000, 'a')}}).status, 401);
    EXPECT_EQ(server.get_with_token("/Patient/1", "a.b.c").status, 401);
    std::size_t challenges = 0;
    for (const auto& [name, value] : server.get("/Patient/1").headers) {
        challenges += name == "WWW-Authenticate" ? 1 : 0;
    }
    EXPECT_EQ(challenges, 2U);
}

TEST(Authentication, RefusesSeveralCredentialsAtOnce) {
    const SigningKey key("ES256");
    GuardedServer server(with_keys("jwt_or_api_key", jwk_set({key.jwk()})));
    const std::pair<std::string, std::string> token{"Authorization", "Bearer " + key.sign(kClaims)};
    const std::pair<std::string, std::string> api_key{"X-API-Key", "the key of lab 7"};
    EXPECT_EQ(server.get("/Patient/1", {token}).status, 404);
    EXPECT_EQ(server.get("/Patient/1", {api_key}).status, 404);
    EXPECT_EQ(server.get("/Patient/1", {token, api_key}).status, 401);
    EXPECT_EQ(server.get("/Patient/1", {token, token}).status, 401);
}

TEST(Authentication, ReadsFilesAgainThatHaveChangedAndKeepsWhatItHasIfTheyAreOfNoUse) {
    const SigningKey key("ES256", "old");
    const SigningKey next("ES256", "new");
    GuardedServer server(with_keys("jwt_or_api_key", jwk_set({key.jwk()})));
    const std::string old_token = key.sign(kClaims);
    EXPECT_EQ(server.get_with_token("/Patient/1", old_token).status, 404);
    EXPECT_EQ(server.get_with_token("/Patient/1", next.sign(kClaims)).status, 401);

    write_whole_file(server.file("keys.toml"), "[[key]]\nid = 7\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", "the key of lab 7"}}).status, 404);

    write_whole_file(server.file("keys.toml"), key_entry("b", "another", "[]"));
    write_whole_file(server.file("jwks.json"), jwk_set({next.jwk()}));
    EXPECT_TRUE(becomes_true(
        [&] { return server.get_with_token("/Patient/1", next.sign(kClaims)).status == 404; }));
    // A token that was accepted before is refused once its key is gone.
    EXPECT_EQ(server.get_with_token("/Patient/1", old_token).status, 401);
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", "the key of lab 7"}}).status, 401);
    EXPECT_EQ(server.get("/Patient/1", {{"X-API-Key", "another"}}).status, 403);
}

TEST(Authentication, IsAskedForAgainBeforeAStreamOfChangesGoesOn) {
    const SigningKey key("ES256");
    const std::string scopes = R"(["system/*.cruds"])";
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_keys("jwt_or_api_key", jwk_set({key.jwk()}))(config, self);
        config.auth.jwt_leeway = std::chrono::milliseconds(0);
        write_whole_file(self.file("keys.toml"), key_entry("a", "one", scopes) +
                                                     key_entry("b", "other", scopes) +
                                                     key_entry("c", "less", scopes));
    });
    Connection by_key(server.port());
    std::optional<Connection> by_token;
    Connection may_less(server.port());
    Connection goes_on(server.port());
    const auto listen = [](Connection& connection, const std::string& credentials) {
        connection.send("GET /fhir/_changes HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n" +
                        credentials + "\r\n\r\n");
        return connection.read_through("\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n");
    };
    EXPECT_TRUE(listen(by_key, "X-API-Key: one"));
    const auto [token, end] =
        accepted_token_that_ends(key, "system/*.cruds", [&](const std::string& it) {
            by_token.emplace(server.port());
            return listen(*by_token, "Authorization: Bearer " + it);
        });
    EXPECT_TRUE(listen(may_less, "X-API-Key: less"));
    EXPECT_TRUE(listen(goes_on, "X-API-Key: other"));

    write_whole_file(
        server.file("keys.toml"),
        key_entry("b", "other", scopes) + key_entry("c", "less", R"(["system/Patient.rs"])"));
    ASSERT_TRUE(becomes_true(
        [&] { return server.get("/Patient/1", {{"X-API-Key", "one"}}).status == 401; }));
    ASSERT_TRUE(
        becomes_true([&] { return server.get_with_token("/Patient/1", token).status == 401; }));
    ASSERT_EQ(server
                  .send("PUT", "/Patient/1", R"({"resourceType":"Patient","id":"1"})",
                        {{"X-API-Key", "other"}, {"Content-Type", "application/fhir+json"}})
                  .status,
              201);
    for (Connection* const connection : {&by_key, &*by_token, &may_less}) {
        const std::string rest = connection->read_through("0\r\n\r\n");
        EXPECT_TRUE(rest.ends_with("0\r\n\r\n")) << rest;
        EXPECT_EQ(rest.find("Patient/1"), std::string::npos) << rest;
    }
    EXPECT_THAT(goes_on.read_through("id: 1\n\n"), HasSubstr("Patient/1"));
}

TEST(Authentication, IsAskedForAgainAlsoWhileAStreamOfChangesIsBehind) {
    const std::string scopes = R"(["system/*.cruds"])";
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_keys("api_key", jwk_set({}))(config, self);
        write_whole_file(self.file("keys.toml"),
                         key_entry("a", "one", scopes) + key_entry("b", "other", scopes));
    });
    // More than fits into the sockets' buffers.
    constexpr int kCount = 30;
    for (int i = 1; i <= kCount; ++i) {
        const std::string id = std::to_string(i);
        ASSERT_EQ(server
                      .send("PUT", "/Basic/" + id,
                            R"({"resourceType":"Basic","id":")" + id + R"(","code":{"text":")" +
                                std::string(900 << 10, 'x') + "\"}}",
                            {{"X-API-Key", "other"}, {"Content-Type", "application/fhir+json"}})
                      .status,
                  201);
    }
    Connection behind(server.port());
    behind.send(
        "GET /fhir/_changes HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n"
        "X-API-Key: one\r\n\r\n");
    EXPECT_THAT(behind.read_through("id: 1\n\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
    write_whole_file(server.file("keys.toml"), key_entry("b", "other", scopes));
    ASSERT_TRUE(becomes_true(
        [&] { return server.get("/Patient/1", {{"X-API-Key", "one"}}).status == 401; }));
    const std::string rest = behind.read_through("\r\n0\r\n\r\n");
    EXPECT_TRUE(rest.ends_with("0\r\n\r\n")) << rest.size();
    EXPECT_EQ(rest.find("id: " + std::to_string(kCount) + "\n\n"), std::string::npos);
}

TEST(Authentication, OfOneRequestSaysNothingOfTheNextOverTheSameConnection) {
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_keys("jwt_or_api_key", jwk_set({key.jwk()}))(config, self);
        config.auth.jwt_leeway = std::chrono::milliseconds(0);
    });
    Connection connection(server.port());
    const auto status = [&](const std::string& headers) {
        connection.send("GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
        const auto answer = connection.receive();
        return answer ? answer->status : 0;
    };
    const std::string api_key = "X-API-Key: the key of lab 7\r\n";
    const std::string token = key.sign(R"({"exp":4000000000,"scope":"system/*.rs"})");
    const std::string bearer = "Authorization: Bearer " + token + "\r\n";
    const std::string nothing =
        "Authorization: Bearer " + key.sign(R"({"exp":4000000000})") + "\r\n";
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(status(api_key), 404);
        EXPECT_EQ(status(api_key), 404);
        EXPECT_EQ(status(""), 401);
        EXPECT_EQ(status("X-API-Key: the key of lab 8\r\n"), 401);
        EXPECT_EQ(status("Authorization: the key of lab 7\r\n"), 401);
        EXPECT_EQ(status(bearer), 404);
        EXPECT_EQ(status(bearer), 404);
        EXPECT_EQ(status("X-API-Key: Bearer " + token + "\r\n"), 401);
        EXPECT_EQ(status(bearer + api_key), 401);
        EXPECT_EQ(status(nothing), 403);
        EXPECT_EQ(status(bearer), 404);
    }
    std::string brief;
    const auto [text, end] =
        accepted_token_that_ends(key, "system/*.rs", [&](const std::string& it) {
            brief = "Authorization: Bearer " + it + "\r\n";
            return status(brief) == 404;
        });
    while (now().us / 1'000'000 < end) {
        EXPECT_THAT(status(brief), testing::AnyOf(404, 401));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(status(brief), 401);
    EXPECT_EQ(status(api_key), 404);
    EXPECT_EQ(status(bearer), 404);
    // Another key of the same length replaces it.
    write_whole_file(server.file("keys.toml"),
                     key_entry("c", "the key of lab 9", R"(["system/*.rs"])"));
    EXPECT_TRUE(becomes_true([&] { return status(api_key) == 401; }));
    EXPECT_EQ(status("X-API-Key: the key of lab 9\r\n"), 404);
}

TEST(Authentication, TellsHoldersOfKeysFromWhoAreCalledLikeThemByATokenOnly) {
    const SigningKey key("ES256");
    GuardedServer server(with_keys("jwt_or_api_key", jwk_set({key.jwk()})));
    const std::pair<std::string, std::string> holder{"X-API-Key", "the key of lab 7"};
    const HttpResponse begun = server.send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"Patient/1"}}]})",
        {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}, holder});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string place = begun.header("Content-Location").value_or("");
    const std::size_t path = place.find("/_jobs/");
    ASSERT_NE(path, std::string::npos) << place;
    for (const std::string name : {"lab-7", "key|lab-7", "|key|lab-7"}) {
        const std::string token = key.sign(
            R"({"sub":")" + name + R"(","exp":4000000000,"scope":"system/Observation.rs"})");
        EXPECT_EQ(server.get_with_token(place.substr(path), token).status, 404) << name;
    }
    EXPECT_NE(server.get(place.substr(path), {holder}).status, 404);
}

TEST(Authentication, FetchesKeysAndFetchesThemAgainForAKeyItDoesNotKnow) {
    const SigningKey first("ES256", "first");
    const SigningKey second("ES256", "second");
    KeyEndpoint issuer(jwk_set({first.jwk()}));
    GuardedServer server([&](core::Config& config, GuardedServer&) {
        config.auth.mode = "jwt";
        config.auth.jwt_jwks_url = issuer.url();
    });
    // The first request waits for the first keys.
    EXPECT_EQ(server.get_with_token("/Patient/1", first.sign(kClaims)).status, 404);
    const int before = issuer.requests();

    issuer.set(jwk_set({first.jwk(), second.jwk()}));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(server.get_with_token("/Patient/1", second.sign(kClaims)).status, 404);
    EXPECT_EQ(issuer.requests(), before + 1);
    // A flood of unknown keys reaches the issuer at most once in ten seconds.
    for (int i = 0; i < 20; ++i) {
        const SigningKey unknown("EdDSA", "unknown" + std::to_string(i));
        EXPECT_EQ(server.get_with_token("/Patient/1", unknown.sign(kClaims)).status, 401);
    }
    const auto later = (std::chrono::steady_clock::now() - begin) / std::chrono::seconds(10);
    EXPECT_LE(issuer.requests(), before + 1 + later);
}

TEST(Authentication, KeepsFetchedKeysWhereAFileIsReadAgain) {
    const SigningKey key("ES256");
    KeyEndpoint issuer(jwk_set({key.jwk()}));
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_keys("jwt_or_api_key", jwk_set({}))(config, self);
        config.auth.jwt_jwks_file = "";
        config.auth.jwt_jwks_url = issuer.url();
    });
    EXPECT_EQ(server.get_with_token("/Patient/1", key.sign(kClaims)).status, 404);
    const int before = issuer.requests();
    write_whole_file(server.file("keys.toml"), key_entry("b", "another", R"(["system/*.rs"])"));
    EXPECT_TRUE(becomes_true(
        [&] { return server.get("/Patient/1", {{"X-API-Key", "another"}}).status == 404; }));
    EXPECT_EQ(server.get_with_token("/Patient/1", key.sign(kClaims)).status, 404);
    EXPECT_EQ(issuer.requests(), before);
    // Newer keys can still be fetched.
    const SigningKey next("ES256", "next");
    issuer.set(jwk_set({next.jwk()}));
    EXPECT_EQ(server.get_with_token("/Patient/1", next.sign(kClaims)).status, 404);
}

TEST(Authentication, StartsAndRefusesTokensWhileTheIssuerIsAway) {
    const std::string url = deserted_url();
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer&) {
        config.auth.mode = "jwt";
        config.auth.jwt_jwks_url = url;
    });
    EXPECT_EQ(server.get_with_token("/Patient/1", key.sign(kClaims)).status, 401);
    EXPECT_EQ(server.get("/metadata").status, 200);
}

TEST(Authentication, SaysWhichFileIsOfNoUse) {
    const TemporaryDirectory folder;
    const auto fault = [&](const std::function<void(core::Config::Auth&)>& change) {
        core::Config config;
        change(config.auth);
        const auto checked = net::Server::check(config);
        return checked ? "" : checked.error().detail;
    };
    write_whole_file(folder / "bad.json", "{}");
    write_whole_file(folder / "short", "too short a secret\n");
    write_whole_file(folder / "keys.toml", "[[key]]\nid = \"a\"\nsha256 = \"12\"\nscopes = []\n");
    EXPECT_THAT(fault([&](auto& auth) {
                    auth.mode = "jwt";
                    auth.jwt_jwks_file = folder / "none.json";
                }),
                StartsWith("auth.jwt.jwks_file: "));
    EXPECT_THAT(fault([&](auto& auth) {
                    auth.mode = "jwt";
                    auth.jwt_jwks_file = folder / "bad.json";
                }),
                HasSubstr("not a JWK Set"));
    EXPECT_THAT(fault([&](auto& auth) {
                    auth.mode = "jwt";
                    auth.jwt_hs256_secret_file = folder / "short";
                }),
                HasSubstr("must have at least 32 bytes"));
    EXPECT_THAT(fault([&](auto& auth) {
                    auth.mode = "api_key";
                    auth.api_keys_file = folder / "keys.toml";
                }),
                HasSubstr("64 hex digits"));
}

}  // namespace
}  // namespace annals::test
