// Opaque tokens: what the authorization server says of them is believed for a while.

#include "net/auth/jwt.h"
#include "tests/net/authorization_server.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"
#include "tests/support/websocket_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

using testing::HasSubstr;

// RFC 8705: the form names the caller, and the certificate proves it.
TEST(Introspection, NeedsNoSecretWhereACertificateSaysWhoAsks) {
    AuthorizationServer issuer(kActive);
    GuardedServer server([&](core::Config& config, GuardedServer& whole) {
        issuer.trusted()(config, whole);
        config.auth.introspection.client_secret_file = "";
        config.outgoing = {whole.file("cert.pem"), whole.file("key.pem")};
        Certificate("annals").write(config.outgoing.cert_file, config.outgoing.key_file);
    });
    EXPECT_EQ(server.get_with_token("/Patient/1", "abc").status, 404);
    const std::string request = issuer.last_request();
    EXPECT_THAT(request, HasSubstr("token=abc&token_type_hint=access_token&client_id=annals%3A1"));
    EXPECT_THAT(request, testing::Not(HasSubstr("authorization:")));
}

TEST(Introspection, AsksOnceAndBelievesTheAnswer) {
    AuthorizationServer issuer(kActive);
    GuardedServer server(issuer.trusted());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(server.get_with_token("/Patient/1", "2YotnFZF+/=").status, 404);
    }
    EXPECT_EQ(issuer.requests(), 1);
    EXPECT_EQ(server.get_with_token("/Observation/1", "2YotnFZF+/=").status, 403);
    const std::string request = issuer.last_request();
    EXPECT_THAT(request, testing::StartsWith("POST /endpoint "));
    EXPECT_THAT(request, HasSubstr("application/x-www-form-urlencoded"));
    EXPECT_THAT(request, HasSubstr("\r\n\r\ntoken=2YotnFZF%2B%2F%3D&token_type_hint=access_token"));
    // "annals%3A1:p%2Fw%20d": both parts are escaped before they are joined.
    EXPECT_THAT(request, HasSubstr("authorization: Basic YW5uYWxzJTNBMTpwJTJGdyUyMGQ=\r\n"));
}

TEST(Introspection, IsAwaitedForWhatHasABodyThatComesLater) {
    AuthorizationServer issuer(R"({"active":true,"sub":"lab","scope":"system/Patient.cruds"})");
    GuardedServer server(issuer.trusted());
    const std::string body = R"({"resourceType":"Patient","id":"1"})";
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(
        "PUT /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/fhir+json\r\n"
        "Authorization: Bearer opaque\r\nExpect: 100-continue\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n"));
    EXPECT_EQ(connection.receive(true).value_or(HttpResponse{}).status, 100);
    ASSERT_TRUE(connection.send(body));
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 201);
}

TEST(Introspection, IsOfARequestThatCountsAsOthersDo) {
    AuthorizationServer issuer(kActive);
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.limits.rate = 1;
        config.limits.rate_burst = 1;
    });
    const std::string request =
        "GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer opaque\r\n\r\n";
    Connection connection(server.port());
    ASSERT_TRUE(connection.send(request + request));
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 404);
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 429);
}

TEST(Introspection, CountsARequestForItsSenderAndNotForTheAddress) {
    AuthorizationServer issuer([](const std::string& request) {
        const bool one = request.find("token=one") != std::string::npos;
        return HttpEndpoint::Answer{
            200, fmt::format(R"({{"active":true,"sub":"{}","scope":"system/*.rs"}})", one ? 1 : 2)};
    });
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.limits.rate = 1;
        config.limits.rate_burst = 1;
    });
    Connection connection(server.port());
    for (const std::string token : {"one", "two"}) {
        ASSERT_TRUE(
            connection.send("GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
                            token + "\r\n\r\n"));
    }
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 404);
    EXPECT_EQ(connection.receive().value_or(HttpResponse{}).status, 404);
}

TEST(Introspection, IsAwaitedByWhoOpensAWebsocket) {
    AuthorizationServer issuer([](const std::string& request) {
        const bool may = request.find("token=good") != std::string::npos;
        return HttpEndpoint::Answer{200, std::string(R"({"active":true,"scope":"system/)") +
                                             (may ? "*.rs\"}" : "Patient.rs\"}")};
    });
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.subscriptions.enabled = true;
    });
    WebsocketClient client(server.port(), {{"Authorization", "Bearer good"}});
    ASSERT_EQ(client.opening().status, 101);
    client.say("bind x");
    EXPECT_THAT(client.hear(), HasSubstr("error x"));
    EXPECT_EQ(WebsocketClient(server.port(), {{"Authorization", "Bearer other"}}).opening().status,
              403);
}

TEST(Introspection, IsAskedForWithTheSecretAsItsFileHasItNow) {
    AuthorizationServer issuer(kActive);
    GuardedServer server(issuer.trusted());
    EXPECT_EQ(server.get_with_token("/Patient/1", "before").status, 404);
    write_whole_file(server.file("secret"), "new");
    int number = 0;
    EXPECT_TRUE(becomes_true([&] {
        server.get_with_token("/Patient/1", "token-" + std::to_string(++number));
        // "annals%3A1:new"
        return issuer.last_request().find("authorization: Basic YW5uYWxzJTNBMTpuZXc=\r\n") !=
               std::string::npos;
    }));
}

TEST(Introspection, RefusesWhatIsNotActiveAndRemembersThat) {
    AuthorizationServer issuer(R"({"active":false,"scope":"system/*.cruds"})");
    GuardedServer server(issuer.trusted());
    const HttpResponse refused = server.get_with_token("/Patient/1", "gone");
    EXPECT_EQ(refused.status, 401);
    EXPECT_THAT(refused.body, HasSubstr(R"("code":"security")"));
    EXPECT_THAT(refused.body, HasSubstr("not active"));
    EXPECT_EQ(server.get_with_token("/Patient/1", "gone").status, 401);
    EXPECT_EQ(issuer.requests(), 1);
}

TEST(Introspection, HoldsAnAnswerToTimesAndAudience) {
    AuthorizationServer issuer(kActive);
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.auth.introspection.audience = "annals";
    });
    const auto status = [&](const std::string& token, const std::string& more) {
        issuer.reply(R"({"active":true,"scope":"system/*.rs")" + more + "}");
        return server.get_with_token("/Patient/1", token).status;
    };
    EXPECT_EQ(status("a", ""), 401);
    EXPECT_EQ(status("b", R"(,"aud":["x","annals"])"), 404);
    EXPECT_EQ(status("c", R"(,"aud":"annals","exp":1000000000)"), 401);
    EXPECT_EQ(status("d", R"(,"aud":"annals","exp":4000000000)"), 404);
    EXPECT_EQ(status("e", R"(,"aud":"annals","nbf":4000000000)"), 401);
}

TEST(Introspection, AsksAgainWhenAnAnswerIsTooOldHoweverLongTheTokenLives) {
    AuthorizationServer issuer(kActive);
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.auth.introspection.cache = std::chrono::milliseconds(300);
    });
    for (const std::string& exp : {std::string(), std::string(R"(,"exp":4000000000)")}) {
        const std::string token = "token" + std::to_string(exp.size());
        issuer.reply(R"({"active":true,"scope":"system/Patient.rs")" + exp + "}");
        EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 404);
        issuer.reply(R"({"active":false})");
        std::this_thread::sleep_for(std::chrono::milliseconds(350));
        EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 401) << exp;
    }
}

TEST(Introspection, SaysThatItDoesNotKnowWhereNothingCanBeFoundOut) {
    AuthorizationServer issuer("no JSON");
    GuardedServer server(issuer.trusted());
    const auto refused = [&](const std::string& token, const std::string& body, int status) {
        issuer.reply(body, status);
        const HttpResponse answer = server.get_with_token("/Patient/1", token);
        EXPECT_EQ(answer.status, 503) << body;
        EXPECT_THAT(answer.body, HasSubstr(R"("code":"transient")"));
        EXPECT_TRUE(answer.header("Retry-After"));
        EXPECT_FALSE(answer.header("WWW-Authenticate"));
    };
    refused("a", "no JSON", 200);
    refused("b", "{}", 200);
    refused("c", R"({"active":"true"})", 200);
    refused("d", R"([{"active":true}])", 200);
    refused("e", kActive, 401);
    refused("f", kActive, 302);
    // The same token is not asked about again right away.
    const int before = issuer.requests();
    EXPECT_EQ(server.get_with_token("/Patient/1", "f").status, 503);
    EXPECT_LE(issuer.requests(), before + 1);
    // It recovers by itself.
    issuer.reply(kActive);
    for (int i = 0; i < 100 && server.get_with_token("/Patient/1", "f").status != 404; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(server.get_with_token("/Patient/1", "f").status, 404);
}

TEST(Introspection, IsBoundedInTimeAndKeepsNobodyElseWaiting) {
    std::promise<void> released;
    AuthorizationServer issuer(says_active_once(released));
    {
        GuardedServer server(issuer.trusted());
        auto slow = std::async(std::launch::async,
                               [&] { return server.get_with_token("/Patient/1", "token").status; });
        // The only network thread is not blocked.
        EXPECT_EQ(server.get("/metadata").status, 200);
        EXPECT_EQ(slow.get(), 503);
        released.set_value();
    }
}

TEST(Introspection, IsAskedOnceByAllWhoWaitForTheSameToken) {
    std::promise<void> released;
    AuthorizationServer issuer(says_active_once(released));
    GuardedServer server(issuer.trusted());
    std::vector<std::future<int>> waiting;
    for (int i = 0; i < 8; ++i) {
        waiting.push_back(std::async(std::launch::async, [&] {
            return server.get_with_token("/Patient/1", "token").status;
        }));
    }
    while (issuer.requests() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    released.set_value();
    for (std::future<int>& one : waiting) {
        EXPECT_EQ(one.get(), 404);
    }
    EXPECT_EQ(issuer.requests(), 1);
}

TEST(Introspection, IsNotFloodedByTokensThatAreMadeUp) {
    AuthorizationServer issuer(R"({"active":false})");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.auth.introspection.rate = 2;
    });
    const auto begin = std::chrono::steady_clock::now();
    int busy = 0;
    for (int i = 0; i < 20; ++i) {
        busy += server.get_with_token("/Patient/1", "made-up-" + std::to_string(i)).status == 503;
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_LE(issuer.requests(), 2 + 2 * (seconds + 1));
    EXPECT_GE(busy, 20 - issuer.requests());
}

TEST(Introspection, SaysToWhomItIsRefusedWhenToComeAgain) {
    AuthorizationServer issuer(R"({"active":false})");
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        config.auth.introspection.rate = 100'000;
        config.auth.introspection.refused_rate = 1;
    });
    HttpResponse answer;
    for (int i = 0; i < 1000 && answer.status != 429; ++i) {
        answer = server.get_with_token("/Patient/1", "made-up-" + std::to_string(i));
    }
    EXPECT_EQ(answer.status, 429);
    EXPECT_THAT(answer.body, HasSubstr(R"("code":"throttled")"));
    EXPECT_TRUE(answer.header("Retry-After"));
}

TEST(Introspection, IsNotAskedAboutWhatIsNoToken) {
    AuthorizationServer issuer(kActive);
    GuardedServer server(issuer.trusted());
    for (const std::string& token :
         {std::string(), std::string("a b"), std::string("a\"b"), std::string("a&token=b"),
          std::string("a{"), std::string("a["), std::string("a:"),
          std::string(net::auth::kTokenBytesMax + 1, 'a')}) {
        EXPECT_EQ(server.get_with_token("/Patient/1", token).status, 401) << token;
    }
    EXPECT_EQ(issuer.requests(), 0);
}

TEST(Introspection, IsForOpaqueTokensWhereIssuersSignTheirs) {
    const SigningKey key("ES256");
    AuthorizationServer issuer(kActive);
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        issuer.trusted()(config, self);
        with_tokens(jwk_set({key.jwk()}))(config, self);
    });
    EXPECT_EQ(server.get_with_token("/Patient/1", key.sign(kClaims)).status, 404);
    EXPECT_EQ(server.get_with_token("/Patient/1", SigningKey("ES256").sign(kClaims)).status, 401);
    EXPECT_EQ(issuer.requests(), 0);
    EXPECT_EQ(server.get_with_token("/Patient/1", "opaque").status, 404);
    EXPECT_EQ(issuer.requests(), 1);
}

TEST(Introspection, AsksAboutAllTokensWhereNobodySignsThem) {
    AuthorizationServer issuer(kActive);
    GuardedServer server(issuer.trusted());
    EXPECT_EQ(server.get_with_token("/Patient/1", SigningKey("ES256").sign(kClaims)).status, 404);
    EXPECT_EQ(issuer.requests(), 1);
}

TEST(Introspection, NeedsASecret) {
    const TemporaryDirectory folder;
    core::Config config;
    config.auth.mode = "jwt";
    config.auth.introspection.url = "https://auth.example.org/ask";
    config.auth.introspection.client_id = "annals";
    config.auth.introspection.client_secret_file = folder / "none";
    EXPECT_THAT(net::Server::check(config).error().detail,
                HasSubstr("auth.introspection.client_secret_file"));
    write_whole_file(folder / "empty", "\n");
    config.auth.introspection.client_secret_file = folder / "empty";
    EXPECT_THAT(net::Server::check(config).error().detail, HasSubstr("it has no secret"));
}

}  // namespace
}  // namespace annals::test
