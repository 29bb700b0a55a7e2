// Subscriptions by websocket: what is said, and what is refused.

#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/tokens.h"
#include "tests/support/websocket_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <optional>

namespace annals::net {
namespace {

using namespace std::chrono_literals;
using test::client_frame;
using test::close_frame;
using test::eventually;
using test::WebsocketClient;
using testing::HasSubstr;
using testing::StartsWith;

std::string websocket(std::string_view id, std::string_view criteria = "Patient?family=x") {
    return fmt::format(
        R"({{"resourceType":"Subscription","id":"{}","status":"requested","reason":"test","criteria":"{}",)"
        R"("channel":{{"type":"websocket"}}}})",
        id, criteria);
}

class WebsocketTest : public testing::Test {
  protected:
    void start(const test::GuardedServer::Change& more = {}) {
        server_ = std::make_unique<test::GuardedServer>(
            [&](core::Config& config, test::GuardedServer& server) {
                config.data = server.file("data");
                config.subscriptions.enabled = true;
                if (more) {
                    more(config, server);
                }
            });
    }

    void put(const std::string& id, const std::string& body,
             const test::GuardedServer::Headers& headers = {}) {
        const std::string type =
            body.find("Subscription") != std::string::npos ? "Subscription" : "Patient";
        const int status = server_->send("PUT", "/" + type + "/" + id, body, headers).status;
        EXPECT_TRUE(status == 200 || status == 201) << status;
    }

    void put_patient(const std::string& id, const std::string& family = "x") {
        put(id, fmt::format(R"({{"resourceType":"Patient","id":"{}","name":[{{"family":"{}"}}]}})",
                            id, family));
    }

    std::unique_ptr<test::GuardedServer> server_;
};

TEST_F(WebsocketTest, WhoIsBoundIsPingedForEachMatch) {
    start();
    put("s", websocket("s"));
    put("t", websocket("t", "Patient"));
    WebsocketClient client(server_->port());
    ASSERT_EQ(client.opening().status, 101);
    EXPECT_EQ(client.opening().header("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(client.opening().header("Upgrade"), "websocket");
    EXPECT_EQ(client.opening().header("Sec-WebSocket-Protocol"), std::nullopt);
    client.say("bind s");
    EXPECT_EQ(client.hear(), "bound s");
    put_patient("a");
    EXPECT_EQ(client.hear(), "ping s");
    put_patient("a", "y");
    put_patient("a");
    put_patient("b");
    EXPECT_EQ(client.hear(), "ping s");
    EXPECT_EQ(client.hear(), "ping s");
    // A second subscription on the same connection, and the first one again.
    client.say("bind s");
    EXPECT_EQ(client.hear(), "bound s");
    client.say(" bind  t\r\n");
    EXPECT_EQ(client.hear(), "bound t");
    put_patient("c", "y");
    EXPECT_EQ(client.hear(), "ping t");
    client.send(client_frame(0x89, "alive?"));
    EXPECT_EQ(client.receive(), (std::pair<unsigned, std::string>(0x8a, "alive?")));
    client.send(close_frame(1000));
    EXPECT_EQ(client.hear(), "closed 1000");
    EXPECT_EQ(client.hear(), "gone");
}

TEST_F(WebsocketTest, WhatIsWrittenRightAfterTheBindingIsPinged) {
    start();
    put("s", websocket("s"));  // may not be active yet
    WebsocketClient client(server_->port());
    client.say("bind s");
    EXPECT_EQ(client.hear(), "bound s");
    put_patient("a");
    EXPECT_EQ(client.hear(), "ping s");
}

TEST_F(WebsocketTest, ManyPingsComeAllTheSame) {
    constexpr int kSubscriptions = 20;
    constexpr int kPatients = 320;
    start();
    WebsocketClient client(server_->port());
    // With ids so long that not all pings can be sent at once.
    for (int i = 0; i < kSubscriptions; ++i) {
        const std::string id = fmt::format("{:x>64}", i);
        put(id, websocket(id, "Patient"));
        client.say("bind " + id);
        EXPECT_EQ(client.hear(), "bound " + id);
    }
    std::string entries;
    for (int i = 0; i < kPatients; ++i) {
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient"}},"request":{{"method":"POST","url":"Patient"}}}})",
            i == 0 ? "" : ",");
    }
    EXPECT_EQ(
        server_
            ->send("POST", "",
                   R"({"resourceType":"Bundle","type":"transaction","entry":[)" + entries + "]}")
            .status,
        200);
    for (int i = 0; i < kSubscriptions * kPatients; ++i) {
        ASSERT_THAT(client.hear(), StartsWith("ping ")) << i;
    }
}

TEST_F(WebsocketTest, WhatCannotBeBoundIsSaid) {
    start([](core::Config& config, test::GuardedServer&) {
        config.subscriptions.endpoints = {"http://127.0.0.1:9/"};
    });
    std::string hook = websocket("hook");
    hook.replace(hook.find("\"websocket\""), 11, R"("rest-hook","endpoint":"http://127.0.0.1:9/")");
    put("hook", hook);
    std::string off = websocket("off");
    off.replace(off.find("requested"), 9, "off");
    put("off", off);
    put("gone", websocket("gone"));
    server_->send("DELETE", "/Subscription/gone");
    WebsocketClient client(server_->port());
    for (const char* text : {"bind nothing", "bind gone", "bind hook", "bind off"}) {
        client.say(text);
        EXPECT_THAT(client.hear(), StartsWith("error " + std::string(text + 5) + ": ")) << text;
    }
    for (const char* text :
         {"", "bind", "bind ", "bind a b", "bind ../x", "hello", "bind \xc3\xa4"}) {
        client.say(text);
        EXPECT_THAT(client.hear(), StartsWith("error: ")) << text;
    }
    for (int i = 0; i < 101; ++i) {
        put(fmt::format("s{}", i), websocket(fmt::format("s{}", i)));
        client.say(fmt::format("bind s{}", i));
        EXPECT_THAT(client.hear(), StartsWith(i < 100 ? "bound" : "error"));
    }
}

TEST_F(WebsocketTest, ABrokenFrameEndsTheConnectionWithItsCode) {
    start();
    for (const auto& [bytes, answer] : std::vector<std::pair<std::string, std::string>>{
             {client_frame(0x81, "x", false), "closed 1002"},
             {client_frame(0x82, "x"), "closed 1003"},
             {client_frame(0x81, "\xff"), "closed 1007"},
             {client_frame(0x81, std::string(100'000, 'x')), "closed 1009"}}) {
        WebsocketClient client(server_->port());
        client.send(bytes);
        EXPECT_EQ(client.hear(), answer);
        EXPECT_EQ(client.hear(), "gone");
    }
    EXPECT_EQ(server_->get("/metadata").status, 200);
}

TEST_F(WebsocketTest, PingsLeaveOtherConnectionsAlone) {
    start();
    put("s", websocket("s"));
    WebsocketClient client(server_->port());
    client.say("bind s");
    EXPECT_EQ(client.hear(), "bound s");
    test::Connection other(server_->port());
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(other.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"));
        const auto answer = other.receive();
        ASSERT_TRUE(answer) << i;
        put_patient(fmt::format("p{}", i));
        EXPECT_EQ(client.hear(), "ping s");
    }
}

TEST_F(WebsocketTest, WhoGoesWithoutAWordIsForgotten) {
    start();
    ASSERT_EQ(WebsocketClient(server_->port()).opening().status, 101);
    EXPECT_TRUE(eventually([&] {
        return test::exchange(server_->port(), "GET", "/metrics")
                   .body.find("\nannals_http_connections 1\n") != std::string::npos;
    }));
}

TEST_F(WebsocketTest, WhoSaysNothingAndAnswersNoPingIsCutOff) {
    start([](core::Config& config, test::GuardedServer&) { config.limits.idle_timeout = 1s; });
    WebsocketClient client(server_->port());
    ASSERT_EQ(client.opening().status, 101);
    EXPECT_EQ(client.receive().first, 0x89U);
    EXPECT_EQ(client.receive().first, 0U);
    // A client that answers stays connected.
    put("s", websocket("s"));
    WebsocketClient alive(server_->port());
    for (int i = 0; i < 4; ++i) {
        const auto [first, payload] = alive.receive();
        ASSERT_EQ(first, 0x89U);
        alive.send(client_frame(0x8a, payload));
    }
    alive.say("bind s");
    EXPECT_EQ(alive.hear(), "bound s");
}

TEST_F(WebsocketTest, WhenTheServerStopsItSaysSo) {
    start();
    std::optional<WebsocketClient> client(server_->port());
    ASSERT_EQ(client->opening().status, 101);
    client->say("bind");
    EXPECT_THAT(client->hear(), StartsWith("error"));
    const auto begin = std::chrono::steady_clock::now();
    std::thread stop([this] { server_->server().stop(); });
    EXPECT_EQ(client->hear(), "closed 1001");
    client.reset();  // the server waits two seconds for that
    stop.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);  // shutdown_timeout is 10
}

TEST_F(WebsocketTest, AnotherRequestIsToldWhatIsExpected) {
    start();
    const auto status = [this](const std::string& lines,
                               const std::string& line = "GET /fhir/websocket HTTP/1.1") {
        test::Connection connection(server_->port());
        connection.send(line + "\r\nHost: x\r\n" + lines + "\r\n");
        return connection.receive().value_or(test::HttpResponse{});
    };
    const std::string upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const std::string version = "Sec-WebSocket-Version: 13\r\n";
    EXPECT_EQ(status(upgrade + key + version).status, 101);
    EXPECT_EQ(
        status("connection: x ,uPGRADE\r\nupgrade: h2c, WebSocket\r\n" + key + version).status,
        101);
    EXPECT_EQ(status("Connection: keep-alive\r\n" + upgrade + key + version).status, 101);
    const test::HttpResponse named =
        status(upgrade + key + version + "X-Request-Id: {mine}\r\nX-Request-Id: other\r\n");
    EXPECT_EQ(named.status, 101);
    EXPECT_EQ(named.header("X-Request-Id").value_or("").size(), 16U);
    EXPECT_EQ(named.header("X-Correlation-Id"), "{mine}");
    EXPECT_EQ(status("").status, 426);
    test::Connection asking(server_->port());
    asking.send("HEAD /fhir/websocket HTTP/1.1\r\nHost: x\r\n" + upgrade + key + version + "\r\n");
    EXPECT_EQ(asking.receive(true).value_or(test::HttpResponse{}).status, 426);
    EXPECT_EQ(status("").header("Upgrade"), "websocket");
    EXPECT_EQ(status("").header("Connection"), "Upgrade");
    EXPECT_EQ(status("X: Upgrade\r\nUpgrade: websocket\r\n" + key + version).status, 426);
    EXPECT_EQ(status("Connection: close\r\nUpgrade: websocket\r\n" + key + version).status, 426);
    EXPECT_EQ(status("Connection: Upgrade\r\nUpgrade: h2c\r\n" + key + version).status, 426);
    EXPECT_EQ(status(upgrade + key).status, 426);
    EXPECT_EQ(
        status(upgrade + key + "Sec-WebSocket-Version: 8\r\n").header("Sec-WebSocket-Version"),
        "13");
    EXPECT_EQ(status(upgrade + version).status, 400);
    EXPECT_EQ(status(upgrade + version + "Sec-WebSocket-Key: x\r\n").status, 400);
    EXPECT_EQ(status(upgrade + key + version, "GET /fhir/websocket HTTP/1.0").status, 426);
    EXPECT_EQ(status(upgrade + key + version, "POST /fhir/websocket HTTP/1.1").status, 404);
    // An Upgrade is ignored where there is none.
    EXPECT_EQ(status(upgrade + key + version, "GET /fhir/metadata HTTP/1.1").status, 200);
}

TEST_F(WebsocketTest, AReadOnlyServerHasNone) {
    start([](core::Config& config, test::GuardedServer&) { config.read_only = true; });
    EXPECT_EQ(server_->get("/websocket").status, 404);
}

TEST_F(WebsocketTest, ScriptsOfOtherOriginsMayNotOpenOne) {
    start([](core::Config& config, test::GuardedServer&) {
        config.cors_origins = {"https://app.example.org"};
    });
    const std::string own = fmt::format("http://127.0.0.1:{}", server_->port());
    EXPECT_EQ(WebsocketClient(server_->port(), {{"Origin", own}}).opening().status, 101);
    EXPECT_EQ(
        WebsocketClient(server_->port(), {{"Origin", "https://app.example.org"}}).opening().status,
        101);
    EXPECT_EQ(
        WebsocketClient(server_->port(), {{"Origin", "https://evil.example.org"}}).opening().status,
        403);
    for (const char* none : {"null", "x", "://", "http://"}) {
        EXPECT_EQ(WebsocketClient(server_->port(), {{"Origin", none}}).opening().status, 403);
    }
}

TEST_F(WebsocketTest, WhoMayNotReadSubscriptionsMayNotOpenOne) {
    start([](core::Config& config, test::GuardedServer& server) {
        test::with_keys("api_key", "{}")(config, server);
    });
    const std::string path = server_->file("keys.toml");
    EXPECT_EQ(WebsocketClient(server_->port()).opening().status, 401);
    EXPECT_EQ(WebsocketClient(server_->port(), {{"X-API-Key", "wrong"}}).opening().status, 401);
    EXPECT_EQ(
        WebsocketClient(server_->port(), {{"X-API-Key", "the key of lab 7"}}).opening().status,
        101);
}

TEST_F(WebsocketTest, IsClosedOnceTheCredentialsItWasOpenedWithDoNotHold) {
    const std::string scopes = R"(["system/*.cruds"])";
    const std::string other_entry = test::key_entry("b", "other", scopes);
    start([&](core::Config& config, test::GuardedServer& server) {
        test::with_keys("api_key", "{}")(config, server);
        test::write_whole_file(server.file("keys.toml"),
                               test::key_entry("a", "one", scopes) + other_entry);
    });
    const test::GuardedServer::Headers one{{"X-API-Key", "one"}};
    const test::GuardedServer::Headers other{{"X-API-Key", "other"}};
    put("s", websocket("s", "Patient"), other);
    WebsocketClient bound(server_->port(), one);
    WebsocketClient unbound(server_->port(), one);
    WebsocketClient stays(server_->port(), other);
    for (WebsocketClient* const client : {&bound, &stays}) {
        client->say("bind s");
        EXPECT_EQ(client->hear(), "bound s");
    }
    ASSERT_EQ(unbound.opening().status, 101);
    test::write_whole_file(server_->file("keys.toml"), other_entry);
    ASSERT_TRUE(test::becomes_true([&] { return server_->get("/Patient/1", one).status == 401; }));
    // No answer and no ping comes before that.
    unbound.say("bind s");
    EXPECT_EQ(unbound.hear(), "closed 1008");
    put("a", R"({"resourceType":"Patient","id":"a"})", other);
    EXPECT_EQ(stays.hear(), "ping s");
    EXPECT_EQ(bound.hear(), "closed 1008");
    EXPECT_EQ(bound.hear(), "gone");
    EXPECT_EQ(unbound.hear(), "gone");
}

TEST_F(WebsocketTest, OnWhichNothingIsSaidIsClosedWhenItIsPingedAfterItsTokenEnded) {
    const test::SigningKey key("ES256");
    start([&](core::Config& config, test::GuardedServer& server) {
        test::with_tokens(test::jwk_set({key.jwk()}))(config, server);
        config.auth.jwt_leeway = 0ms;
        config.limits.idle_timeout = 1s;
    });
    std::optional<WebsocketClient> client;
    const auto token =
        test::accepted_token_that_ends(key, "system/*.rs", [&](const std::string& it) {
            client.emplace(server_->port(),
                           test::GuardedServer::Headers{{"Authorization", "Bearer " + it}});
            return client->opening().status == 101;
        });
    EXPECT_EQ(client->hear(), "closed 1008");
    EXPECT_GE(now().us, token.end * 1'000'000);
    EXPECT_EQ(client->hear(), "gone");
}

TEST_F(WebsocketTest, IsClosedOnceItsKeyMayNotReadSubscriptions) {
    start([&](core::Config& config, test::GuardedServer& server) {
        test::with_keys("api_key", "{}")(config, server);
        test::write_whole_file(server.file("keys.toml"),
                               test::key_entry("a", "one", R"(["system/*.rs"])"));
    });
    const test::GuardedServer::Headers one{{"X-API-Key", "one"}};
    WebsocketClient client(server_->port(), one);
    ASSERT_EQ(client.opening().status, 101);
    test::write_whole_file(server_->file("keys.toml"),
                           test::key_entry("a", "one", R"(["system/Patient.rs"])"));
    ASSERT_TRUE(
        test::becomes_true([&] { return server_->get("/Subscription/s", one).status == 403; }));
    client.say("bind s");
    EXPECT_EQ(client.hear(), "closed 1008");
}

TEST_F(WebsocketTest, IsNotForKeysThatMayReadOnlySomeSubscriptions) {
    start([&](core::Config& config, test::GuardedServer& server) {
        test::with_keys("api_key", "{}")(config, server);
        test::write_whole_file(
            server.file("keys.toml"),
            test::key_entry("a", "one", R"(["system/Subscription.rs?status=active"])"));
    });
    const test::GuardedServer::Headers one{{"X-API-Key", "one"}};
    EXPECT_EQ(server_->get("/Subscription", one).status, 200);
    EXPECT_EQ(WebsocketClient(server_->port(), one).opening().status, 403);
}

TEST_F(WebsocketTest, HasItsLineInTheAudit) {
    start([](core::Config& config, test::GuardedServer& server) {
        config.audit.file = server.file("audit.ndjson");
    });
    const WebsocketClient client(server_->port());
    ASSERT_EQ(client.opening().status, 101);
    EXPECT_TRUE(test::becomes_true([&] {
        return test::read_whole_file(server_->file("audit.ndjson"))
                   .find(R"("outcomeDesc":"101")") != std::string::npos;
    }));
}

TEST_F(WebsocketTest, WithoutSubscriptionsThereIsNone) {
    start([](core::Config& config, test::GuardedServer&) { config.subscriptions.enabled = false; });
    EXPECT_EQ(WebsocketClient(server_->port()).opening().status, 404);
    EXPECT_THAT(server_->get("/metadata").body,
                testing::Not(HasSubstr("capabilitystatement-websocket")));
}

TEST_F(WebsocketTest, TheCapabilityStatementSaysWhere) {
    start();
    EXPECT_THAT(
        server_->get("/metadata").body,
        HasSubstr(fmt::format(
            R"("url":"http://hl7.org/fhir/StructureDefinition/capabilitystatement-websocket",)"
            R"("valueUri":"ws://127.0.0.1:{}/fhir/websocket"}}])",
            server_->port())));
}

}  // namespace
}  // namespace annals::net
