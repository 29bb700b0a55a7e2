// Notifications by rest-hook, from a whole server to all kinds of receivers.

#include "net/notifier.h"

#include "tests/support/guarded_server.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <latch>
#include <thread>

namespace annals::net {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::HookReceiver;
using test::ReceivedHook;
using testing::HasSubstr;

std::string hook(const std::string& id, const std::string& endpoint, const std::string& more = {}) {
    return fmt::format(
        R"({{"resourceType":"Subscription","id":"{}","status":"requested","reason":"test","criteria":"Patient",)"
        R"("channel":{{"type":"rest-hook","endpoint":"{}"{}}}}})",
        id, endpoint, more);
}

test::GuardedServer::Change with_receivers(std::vector<std::string> urls,
                                           std::function<void(core::Config&)> more = {}) {
    return [urls = std::move(urls), more = std::move(more)](core::Config& config,
                                                            test::GuardedServer& server) {
        config.data = server.file("data");
        config.subscriptions.enabled = true;
        config.subscriptions.endpoints = urls;
        config.subscriptions.retry_delay = 10ms;
        config.subscriptions.attempts = 3;
        if (more) {
            more(config);
        }
    };
}

class NotifierTest : public testing::Test {
  protected:
    void start(test::GuardedServer::Change change) {
        server_ = std::make_unique<test::GuardedServer>(change);
    }

    void subscribe(const std::string& id, const std::string& body) {
        ASSERT_LE(server_->send("PUT", "/Subscription/" + id, body).status, 201);
        EXPECT_TRUE(has_status(id, "active"));
    }

    bool has_status(const std::string& id, const std::string& status) {
        return eventually([&] {
            return server_->get("/Subscription/" + id).body.find("\"status\":\"" + status + "\"") !=
                   std::string::npos;
        });
    }

    void put_patient(const std::string& id) {
        EXPECT_EQ(
            server_
                ->send("PUT", "/Patient/" + id, R"({"resourceType":"Patient","id":")" + id + "\"}")
                .status,
            201);
    }

    std::unique_ptr<test::GuardedServer> server_;
};

TEST_F(NotifierTest, ResourcesArePutWhereTheirSubscriberWantsThemInOrder) {
    HookReceiver receiver;
    start(with_receivers({receiver.url()}));
    subscribe("s",
              hook("s", receiver.url() + "/base",
                   R"(,"payload":"application/fhir+json","header":["Authorization: Bearer abc"])"));
    for (int i = 0; i < 50; ++i) {
        put_patient(fmt::format("p{}", i));
    }
    const std::vector<ReceivedHook> received = receiver.wait_for(50);
    ASSERT_EQ(received.size(), 50U);
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < received.size(); ++i) {
        EXPECT_EQ(received[i].method, "PUT");
        EXPECT_EQ(received[i].target, fmt::format("/base/Patient/p{}", i));
        EXPECT_EQ(received[i].header("authorization"), "Bearer abc");
        EXPECT_EQ(received[i].header("content-type"), "application/fhir+json; charset=utf-8");
        EXPECT_EQ(received[i].header("x-annals-subscription"), "Subscription/s");
        EXPECT_EQ(received[i].header("expect"), "");
        EXPECT_EQ(received[i].body, server_->get(fmt::format("/Patient/p{}", i)).body);
        const std::uint64_t position = std::stoull(received[i].header("x-annals-position"));
        EXPECT_GT(position, before);
        before = position;
    }
}

TEST_F(NotifierTest, WithoutAPayloadAnEmptyPostIsSent) {
    HookReceiver receiver;
    start(with_receivers({receiver.url()}));
    subscribe("s", hook("s", receiver.url() + "/x?y=z"));
    put_patient("a");
    const std::vector<ReceivedHook> received = receiver.wait_for(1);
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].method, "POST");
    EXPECT_EQ(received[0].target, "/x?y=z");
    EXPECT_EQ(received[0].header("content-length"), "0");
    EXPECT_EQ(received[0].header("content-type"), "");
    EXPECT_EQ(received[0].header("x-annals-version"), "");
    EXPECT_EQ(received[0].body, "");
}

TEST_F(NotifierTest, WhatIsSaidToThisMachineGoesThroughNoProxy) {
    HookReceiver proxy;
    HookReceiver receiver;
    ::setenv("http_proxy", proxy.url().c_str(), 1);
    start(with_receivers({receiver.url()}));
    subscribe("s", hook("s", receiver.url(), R"(,"header":["Authorization: Bearer secret"])"));
    put_patient("a");
    EXPECT_TRUE(
        eventually([&] { return !receiver.received().empty() || !proxy.received().empty(); }));
    server_.reset();
    ::unsetenv("http_proxy");
    EXPECT_EQ(receiver.received().size(), 1U);
    EXPECT_EQ(proxy.received().size(), 0U);
}

TEST_F(NotifierTest, AReceiverThatComesBackIsToldOfEverything) {
    HookReceiver receiver([](const ReceivedHook&, std::size_t number, const auto&) {
        return std::string(number < 4 && number % 2 == 0
                               ? "HTTP/1.1 503 Later\r\nContent-Length: 5\r\n\r\nlater"
                               : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    start(with_receivers({receiver.url()}));
    subscribe("s", hook("s", receiver.url(), R"(,"payload":"id-only")"));
    put_patient("a");
    put_patient("b");
    put_patient("c");
    const std::vector<ReceivedHook> received = receiver.wait_for(5);
    std::vector<std::string> versions;
    for (const ReceivedHook& one : received) {
        versions.push_back(one.header("x-annals-version"));
    }
    EXPECT_THAT(versions, testing::ElementsAre("Patient/a/_history/1", "Patient/a/_history/1",
                                               "Patient/b/_history/1", "Patient/b/_history/1",
                                               "Patient/c/_history/1"));
}

/// Something that no receiver should do, and what becomes of its subscription.
struct Hostile {
    std::string name;
    HookReceiver::Answer answer;
    std::string reason;
};

class HostileReceivers : public NotifierTest, public testing::WithParamInterface<std::size_t> {
  public:
    static std::vector<Hostile> all() {
        const auto says = [](const std::string& bytes) {
            return [bytes](const ReceivedHook&, std::size_t, const auto&) { return bytes; };
        };
        const auto endless = [](const std::string& begin, const std::string& more) {
            return [begin, more](const ReceivedHook&, std::size_t,
                                 const std::function<bool(const std::string&)>& send) {
                bool taken = send(begin);
                while (taken) {
                    taken = send(more);
                }
                return std::string();
            };
        };
        const std::string much(8192, 'x');
        return {
            {"Redirects",
             says("HTTP/1.1 307 There\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
             "status 307"},
            {"Refuses", says("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), "status 404"},
            {"NeverAnswers", says(""), "imeout"},
            {"HasAnEndlessBody",
             endless("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", much), "too long"},
            {"HasEndlessChunks",
             endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                     "2000\r\n" + much + "\r\n"),
             "too long"},
            {"HasEndlessHeaders", endless("HTTP/1.1 200 OK\r\n", "X: " + much + "\r\n"),
             "failed 3 times"},
            {"HasAnEndlessHeaderLine", endless("HTTP/1.1 200 OK\r\nX: ", much), "failed 3 times"},
            {"SaysOnlyContinue", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), "failed 3 times"},
            {"SpeaksNoHttp", says("SSH-2.0-OpenSSH_9.2\r\n"), "failed 3 times"},
            {"BreaksOff", says("HTTP/1.1 200 OK\r\nContent-Len"), "imeout"},
        };
    }
};

TEST_P(HostileReceivers, HarmTheirOwnSubscriptionAlone) {
    const Hostile hostile = all()[GetParam()];
    HookReceiver bad(hostile.answer);
    HookReceiver good;
    start(with_receivers({bad.url(), good.url()},
                         [](core::Config& config) { config.subscriptions.timeout = 500ms; }));
    subscribe("bad", hook("bad", bad.url() + "/hook", R"(,"payload":"application/fhir+json")"));
    subscribe("good", hook("good", good.url()));
    for (int i = 0; i < 10; ++i) {
        put_patient(fmt::format("p{}", i));
    }
    EXPECT_EQ(good.wait_for(10).size(), 10U);
    EXPECT_TRUE(has_status("bad", "error"));
    EXPECT_THAT(server_->get("/Subscription/bad").body, HasSubstr(hostile.reason));
    EXPECT_TRUE(has_status("good", "active"));
    for (const ReceivedHook& one : bad.received()) {
        EXPECT_EQ(one.target, "/hook/Patient/p0");
    }
}

INSTANTIATE_TEST_SUITE_P(Subscriptions, HostileReceivers,
                         testing::Range<std::size_t>(0, HostileReceivers::all().size()),
                         [](const auto& info) { return HostileReceivers::all()[info.param].name; });

TEST_F(NotifierTest, NobodyListeningIsAFailureToo) {
    std::string nobody;
    {
        const HookReceiver gone;
        nobody = gone.url();
    }
    start(with_receivers({nobody}));
    subscribe("s", hook("s", nobody));
    put_patient("a");
    EXPECT_TRUE(has_status("s", "error"));
}

TEST_F(NotifierTest, AReceiverThatNeverAnswersHoldsNoServerUp) {
    HookReceiver bad([](const ReceivedHook&, std::size_t, const auto&) { return std::string(); });
    start(with_receivers({bad.url()}));
    subscribe("s", hook("s", bad.url()));
    put_patient("a");
    EXPECT_EQ(bad.wait_for(1).size(), 1U);
    const auto begin = std::chrono::steady_clock::now();
    server_->server().stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);  // an attempt would take 30 seconds
}

class StoppedNotifierTest : public test::ServiceFixture {};

TEST_F(StoppedNotifierTest, WhatWasAnsweredBeforeItStopsIsNotSentAgain) {
    std::latch answers(1);
    std::latch answered(1);
    HookReceiver good([&](const ReceivedHook&, std::size_t, const auto& send) {
        answers.wait();
        send("HTTP/1.1 204 Yes\r\n\r\n");
        answered.count_down();
        return std::string();
    });
    std::latch fails(1);
    HookReceiver bad([&](const ReceivedHook&, std::size_t, const auto&) {
        fails.wait();
        return std::string("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    });
    const auto disk = std::make_shared<test::SimFileSystem>();
    core::Config config;
    config.subscriptions.enabled = true;
    config.subscriptions.endpoints = {good.url(), bad.url()};
    config.subscriptions.attempts = 1;
    restart_on(disk);
    restart(config);
    core::Pings pings;
    const auto shown = auth::ClientCertificate::open({});
    const auto notifier = Notifier::begin(service(), *disk, pings, **shown);
    ASSERT_TRUE(notifier);
    for (const auto& [id, url] : {std::pair("good", good.url()), std::pair("bad", bad.url())}) {
        const std::string target = fmt::format("/Subscription/{}", id);
        EXPECT_EQ(send("PUT", target, hook(id, url)).status, 201);
        EXPECT_TRUE(eventually([&] { return send("GET", target).says("\"active\""); }));
    }
    const Position written{
        send("PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a"})").position};
    EXPECT_EQ(good.wait_for(1).size(), 1U);
    EXPECT_EQ(bad.wait_for(1).size(), 1U);

    // The notifier waits until the status "error" is durable. Meanwhile the other receiver answers, and then it is stopped.
    disk->hold_syncs();
    fails.count_down();
    disk->await_held_sync();
    answers.count_down();
    answered.wait();
    std::thread stopping([&] { (*notifier)->stop(); });
    std::this_thread::sleep_for(50ms);  // Should stop() begin later, the answer is found anyway.
    disk->release_syncs();
    stopping.join();
    const auto saved = core::Dispatcher::saved(service(), *disk);
    ASSERT_TRUE(saved);
    EXPECT_GE(saved->at("good"), written);
    EXPECT_LT(saved->at("bad"), written);
}

TEST_F(NotifierTest, AReceiverIsToldAtOnce) {
    HookReceiver receiver;
    start(with_receivers({receiver.url()}));
    subscribe("s", hook("s", receiver.url()));
    constexpr std::size_t kWrites = 10;
    // If it weren't woken by each write, it would look once a second, right before the next write. A machine may be slow now
    // and then.
    std::size_t late = 0;
    for (std::size_t i = 0; i < kWrites; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        put_patient(fmt::format("p{}", i));
        EXPECT_EQ(receiver.wait_for(i + 1).size(), i + 1);
        late += std::chrono::steady_clock::now() - begin > 500ms ? 1 : 0;
    }
    EXPECT_LT(late, kWrites / 2);
}

TEST_F(NotifierTest, MetricsTellOfDeliveriesFailuresAndLags) {
    HookReceiver receiver([](const ReceivedHook&, std::size_t number, const auto&) {
        return std::string(number == 0 ? "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
                                       : "HTTP/1.1 204 Taken\r\n\r\n");
    });
    start(with_receivers({receiver.url()}));
    subscribe("s", hook("s", receiver.url()));
    put_patient("a");
    put_patient("b");
    std::string page;
    EXPECT_TRUE(eventually([&] {
        page = test::exchange(server_->port(), "GET", "/metrics").body;
        return page.find("annals_subscription_notifications_total 2\n") != std::string::npos &&
               page.find("annals_subscription_lag_positions{subscription=\"s\"} 0\n") !=
                   std::string::npos;
    })) << page;
    EXPECT_THAT(page, HasSubstr("annals_subscription_failures_total 1\n"));
    EXPECT_THAT(page, HasSubstr("annals_subscriptions_active 1\n"));
}

TEST_F(NotifierTest, SwitchedOffNothingHappens) {
    start([](core::Config& config, test::GuardedServer& server) {
        config.data = server.file("data");
    });
    EXPECT_EQ(server_->send("PUT", "/Subscription/s", hook("s", "http://127.0.0.1:9/")).status,
              201);
    put_patient("a");
    EXPECT_THAT(server_->get("/Subscription/s").body, HasSubstr("\"status\":\"requested\""));
    EXPECT_EQ(test::exchange(server_->port(), "GET", "/metrics").body.find("annals_subscription"),
              std::string::npos);
}

}  // namespace
}  // namespace annals::net
