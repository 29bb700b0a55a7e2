// Opaque tokens: what the authorization server says of them is believed for a while.

#include "net/auth/authenticator.h"
#include "net/auth/credentials.h"
#include "net/auth/introspector.h"
#include "net/auth/jwt.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"
#include "tests/support/websocket_client.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

using testing::HasSubstr;

constexpr const char* kActive = R"({"active":true,"sub":"lab","scope":"system/Patient.rs"})";

/// Records requests, and answers as told.
class AuthorizationServer {
  public:
    using Reply = std::function<HttpEndpoint::Answer(const std::string& request)>;

    explicit AuthorizationServer(std::string body)
        : AuthorizationServer(
              [body](const std::string&) { return HttpEndpoint::Answer{200, body}; }) {}

    explicit AuthorizationServer(Reply reply)
        : reply_(std::move(reply)),
          endpoint_([this](const std::string& request) { return take(request); }) {}

    GuardedServer::Change trusted() {
        return [this](core::Config& config, GuardedServer& server) {
            config.auth.mode = "jwt";
            config.auth.introspection.url = endpoint_.url();
            config.auth.introspection.client_id = "annals:1";
            config.auth.introspection.client_secret_file = server.file("secret");
            write_whole_file(server.file("secret"), "p/w d\n");
        };
    }

    void reply(const std::string& body, int status = 200) {
        const std::lock_guard lock(mutex_);
        reply_ = [body, status](const std::string&) { return HttpEndpoint::Answer{status, body}; };
    }

    std::string last_request() {
        const std::lock_guard lock(mutex_);
        return request_;
    }

    std::string url() const { return endpoint_.url(); }

    int requests() const { return endpoint_.requests(); }

  private:
    HttpEndpoint::Answer take(const std::string& request) {
        Reply reply;
        {
            const std::lock_guard lock(mutex_);
            request_ = request;
            reply = reply_;
        }
        return reply(request);
    }

    std::mutex mutex_;
    Reply reply_;
    std::string request_;
    HttpEndpoint endpoint_;
};

/// Answers only after `released` is set.
AuthorizationServer::Reply says_active_once(std::promise<void>& released) {
    return [release = released.get_future().share()](const std::string&) {
        release.wait();
        return HttpEndpoint::Answer{200, kActive};
    };
}

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

TEST(Introspection, DoesNotHoldAnAnswerLongerThanTheTokenLives) {
    const std::int64_t exp = now().us / 1'000'000 + 100;
    AuthorizationServer issuer(R"({"active":true,"exp":)" + std::to_string(exp) + "}");
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.cache = std::chrono::hours(1);
    config.auth.jwt_leeway = std::chrono::milliseconds(0);
    net::auth::Introspector introspector(config.auth, "secret");
    net::auth::Settled later;
    EXPECT_EQ(introspector.find_out("token", "a", now(), &later).error().code, Errc::not_found);
    ASSERT_TRUE(later);
    while (!*later) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Instant end{exp * 1'000'000};
    const auto claims = introspector.find_out("token", "a", Instant{end.us - 1}, nullptr);
    ASSERT_TRUE(claims);
    EXPECT_EQ(claims->expires.us, end.us);
    EXPECT_EQ(introspector.find_out("token", "a", end, nullptr).error().code, Errc::overloaded);
}

void await(const net::auth::Settled& settled) {
    ASSERT_TRUE(settled);
    while (!*settled) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST(Introspection, AsksAgainWhereTheClockHasGoneBack) {
    AuthorizationServer issuer(kActive);
    core::Config config;
    config.auth.introspection.url = issuer.url();
    net::auth::Introspector introspector(config.auth, "secret");
    net::auth::Settled later;
    const Instant time = now();
    EXPECT_FALSE(introspector.find_out("token", "a", time, &later));
    await(later);
    EXPECT_TRUE(introspector.find_out("token", "a", time, nullptr));
    EXPECT_TRUE(introspector.find_out("token", "a", Instant{time.us - 500'000}, nullptr));
    EXPECT_FALSE(introspector.find_out("token", "a", Instant{time.us - 3'600'000'000}, nullptr));
    // Neither is a negative answer believed, which would last for that hour.
    issuer.reply(R"({"active":false})");
    const auto refusal = [&](Instant when) {
        return introspector.find_out("other", "a", when, &later).error().code;
    };
    EXPECT_EQ(refusal(time), Errc::not_found);
    await(later);
    EXPECT_EQ(refusal(time), Errc::bad_credentials);
    EXPECT_EQ(refusal(Instant{time.us - 3'600'000'000}), Errc::not_found);
}

TEST(Introspection, IsNotRepeatedForTenSecondsAfterANoAndForTwoAfterNothing) {
    for (const auto& [answer, seconds] : {std::pair{R"({"active":false})", 10}, {"no JSON", 2}}) {
        AuthorizationServer issuer(answer);
        core::Config config;
        config.auth.introspection.url = issuer.url();
        net::auth::Introspector introspector(config.auth, "secret");
        const Instant begin = now();
        net::auth::Settled later;
        EXPECT_FALSE(introspector.find_out("token", "a", begin, &later));
        await(later);
        net::auth::Settled again;
        const Instant within{begin.us + seconds * 1'000'000 - 1};
        EXPECT_FALSE(introspector.find_out("token", "a", within, &again));
        EXPECT_FALSE(again) << answer;
        const Instant beyond{now().us + seconds * 1'000'000};
        EXPECT_FALSE(introspector.find_out("token", "a", beyond, &again));
        EXPECT_TRUE(again) << answer;
    }
}

TEST(Introspection, IsNotBelievedByAnyThreadForLongerWhereTheClockHasGoneBack) {
    AuthorizationServer issuer(kActive);
    const TemporaryDirectory directory;
    write_whole_file(directory / "secret", "secret");
    core::Config config;
    config.auth.mode = "jwt";
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.client_secret_file = directory / "secret";
    const auto credentials = net::auth::Credentials::open(config, {});
    ASSERT_TRUE(credentials) << credentials.error().detail;
    net::auth::Authenticator authenticator(config.auth, **credentials);
    core::Request request;
    request.headers.push_back({"Authorization", "Bearer token"});
    net::auth::Authenticator::Memo memo;
    net::auth::Settled later;
    const Instant time = now();
    const auto taken = [&](Instant when, net::auth::Authenticator::Memo& of_connection) {
        const auto who = authenticator.authenticate(request, {"a"}, when, &later, of_connection);
        return who && *who != nullptr;
    };
    EXPECT_FALSE(taken(time, memo));
    await(later);
    net::auth::Authenticator::Memo other;
    EXPECT_TRUE(taken(time, memo));
    EXPECT_TRUE(taken(time, other));
    const Instant before{time.us - 3'600'000'000};
    EXPECT_FALSE(taken(before, memo));
    await(later);
    EXPECT_TRUE(taken(before, memo));
    EXPECT_EQ(issuer.requests(), 2);
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

/// Asks about a token and waits for the result.
Result<net::auth::Claims> ask(net::auth::Introspector& introspector, const std::string& token,
                              std::string_view address) {
    net::auth::Settled later;
    auto claims = introspector.find_out(token, address, now(), &later);
    while (later && !*later) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return later ? introspector.find_out(token, address, now(), nullptr) : claims;
}

TEST(Introspection, IsRefusedToAnAddressWhoseTokensAreNoGoodAndToNoOther) {
    AuthorizationServer issuer(R"({"active":false})");
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    net::auth::Introspector introspector(config.auth, "secret");
    const auto begin = std::chrono::steady_clock::now();
    std::size_t made_up = 0;
    while (ask(introspector, "made-up-" + std::to_string(made_up), "a").error().code !=
           Errc::throttled) {
        ASSERT_LT(++made_up, 1000U);
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_GE(made_up, net::auth::Introspector::kOfOneAddressMax);
    EXPECT_LE(made_up,
              net::auth::Introspector::kOfOneAddressMax + static_cast<std::size_t>(seconds) + 1);
    EXPECT_EQ(static_cast<std::size_t>(issuer.requests()), made_up);
    EXPECT_EQ(ask(introspector, "made-up", "b").error().code, Errc::bad_credentials);
}

TEST(Introspection, HoldsGoodTokensAgainstNobody) {
    AuthorizationServer issuer(kActive);
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    net::auth::Introspector introspector(config.auth, "secret");
    for (std::size_t i = 0; i < 2 * net::auth::Introspector::kOfOneAddressMax; ++i) {
        ASSERT_TRUE(ask(introspector, "good-" + std::to_string(i), "a")) << i;
    }
    // The same for tokens of which nothing could be found out.
    issuer.reply("no JSON");
    for (std::size_t i = 0; i < 2 * net::auth::Introspector::kOfOneAddressMax; ++i) {
        ASSERT_EQ(ask(introspector, "unknown-" + std::to_string(i), "a").error().code,
                  Errc::overloaded);
    }
}

TEST(Introspection, LetsNoMoreTokensWaitThanItMay) {
    using net::auth::Introspector;
    std::promise<void> released;
    AuthorizationServer issuer(says_active_once(released));
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    Introspector introspector(config.auth, "secret");
    std::vector<net::auth::Settled> asked;
    const auto is_asked = [&](const std::string& token, const std::string& address) {
        net::auth::Settled later;
        EXPECT_FALSE(introspector.find_out(token, address, now(), &later));
        if (later) {
            asked.push_back(later);
        }
        return later != nullptr;
    };
    std::size_t count = 0;
    while (is_asked("token-" + std::to_string(count), "of-" + std::to_string(count / 32))) {
        ASSERT_LT(++count, 1000U);
    }
    EXPECT_GE(count, Introspector::kWaitingMax);
    // Tokens for which there was no room don't count against anybody.
    for (std::size_t i = 0; i < 2 * Introspector::kOfOneAddressMax; ++i) {
        static_cast<void>(is_asked("more-" + std::to_string(i), "a"));
    }
    released.set_value();
    for (const net::auth::Settled& one : asked) {
        await(one);
    }
    EXPECT_TRUE(ask(introspector, "later", "a"));
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
