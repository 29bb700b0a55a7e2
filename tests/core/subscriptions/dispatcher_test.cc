// Subscriptions: what becomes active, what is told of what, and what is remembered.

#include "core/subscriptions/dispatcher.h"

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

namespace annals::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using namespace std::chrono_literals;

/// What stands between the braces of a Subscription on `criteria` by rest-hook to http://hook/a.
std::string hook(std::string_view id, std::string_view criteria, std::string_view payload = {},
                 std::string_view more = {}) {
    return fmt::format(
        R"({{"resourceType":"Subscription","id":"{}","status":"requested","reason":"test","criteria":"{}",)"
        R"({}"channel":{{"type":"rest-hook","endpoint":"http://hook/a"{}}}}})",
        id, criteria, more, payload.empty() ? "" : fmt::format(R"(,"payload":"{}")", payload));
}

class DispatcherTest : public test::ServiceFixture {
  protected:
    DispatcherTest() {
        config_.subscriptions.enabled = true;
        config_.subscriptions.endpoints = {"http://hook/a", "http://hook/b"};
        config_.subscriptions.attempts = 3;
        open();
    }

    void open() {
        dispatcher_.reset();
        restart(config_);
        dispatch();
    }

    void dispatch() {
        dispatcher_.reset();
        auto& files = storage::posix_file_system();
        dispatcher_ = std::make_unique<Dispatcher>(service(), files, pings_,
                                                   *Dispatcher::saved(service(), files));
    }

    /// All that is to be sent now.
    std::vector<Notification> advance() {
        std::vector<Notification> all;
        do {
            for (Notification& notification : dispatcher_->advance(time_)) {
                all.push_back(std::move(notification));
            }
        } while (dispatcher_->has_more());
        return all;
    }

    /// Takes everything, and says of each what is asked for by `what`.
    std::vector<std::string> told(std::string_view what = "X-Annals-Version: ") {
        std::vector<std::string> all;
        for (;;) {
            const std::vector<Notification> some = advance();
            if (some.empty()) {
                return all;
            }
            for (const Notification& notification : some) {
                for (const std::string& line : notification.headers) {
                    if (line.starts_with(what)) {
                        all.push_back(line.substr(what.size()));
                    }
                }
                dispatcher_->settle(notification, {}, time_);
            }
        }
    }

    int put(std::string_view body) {
        const auto document = json::Parser().parse(body);
        const json::Value root = document->root();
        return send("PUT",
                    fmt::format("/{}/{}", root["resourceType"].string(), root["id"].string()), body)
            .status;
    }

    /// PUTs a Subscription and has it taken up.
    void subscribe(std::string_view body) {
        ASSERT_LE(put(body), 201);
        advance();
    }

    std::string element(std::string_view id, std::string_view name) {
        const test::Answer answer = send("GET", fmt::format("/Subscription/{}", id));
        return json::Parser().parse(answer.body)->root()[name].string();
    }

    std::string status(std::string_view id) { return element(id, "status"); }

    static std::string observation(std::string_view id, std::string_view subject,
                                   std::string_view code = "c") {
        return fmt::format(
            R"({{"resourceType":"Observation","id":"{}","status":"final","code":{{"coding":[{{"code":"{}"}}]}},)"
            R"("subject":{{"reference":"{}"}}}})",
            id, code, subject);
    }

    Config config_;
    Pings pings_;
    std::unique_ptr<Dispatcher> dispatcher_;
    Dispatcher::Clock::time_point time_ = Dispatcher::Clock::now();
};

// ---- becoming active ----

TEST_F(DispatcherTest, ARequestedSubscriptionIsActivatedByANewVersion) {
    subscribe(hook("s", "Patient?family=x", "", R"("_status":{"id":"x"},"error":"old",)"));
    const test::Answer answer = send("GET", "/Subscription/s");
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.says(R"("status":"active","reason":"test","criteria":"Patient?family=x")"))
        << answer.body;
    EXPECT_FALSE(answer.says("error"));
    EXPECT_FALSE(answer.says("_status"));
    advance();
    EXPECT_EQ(send("GET", "/Subscription/s").etag, 2U);
}

TEST_F(DispatcherTest, WhatAClientCallsActiveIsCheckedToo) {
    std::string body = hook("s", "Patient");
    body.replace(body.find("requested"), 9, "active");
    subscribe(body);
    EXPECT_EQ(send("GET", "/Subscription/s").etag, 1U);
    put_patient("p");
    EXPECT_EQ(told("X-Annals-Position: ").size(), 1U);
    body = hook("s", "Patient?no-such-parameter=1");
    body.replace(body.find("requested"), 9, "active");
    subscribe(body);
    EXPECT_EQ(status("s"), "error");
    put_patient("q");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
}

TEST_F(DispatcherTest, WhatCannotBeDoneHasTheStatusErrorAndSaysWhy) {
    struct Case {
        std::string from, to, why;
    };

    const std::vector<Case> cases{
        {"Patient?family=x", "", "criteria"},
        {"Patient?family=x", "Patients?a=b", "no resource type"},
        {"Patient?family=x", "?family=x", "no resource type"},
        {"Patient?family=x", "Patient?famly=x", "famly"},
        {"Patient?family=x", "Patient?_sort=family", "_sort"},
        {"Patient?family=x", "Patient?birthdate=yesterday", "birthdate"},
        {"Patient?family=x", "Patient?" + std::string(20'000, 'x'), "too long"},
        {"rest-hook", "email", "neither rest-hook nor websocket"},
        {"http://hook/a", "", "needs one"},
        {"http://hook/a", "http://other/a", "sends nothing there"},
        {"http://hook/a", "http://hook/ab", "sends nothing there"},
        {"http://hook/a", "http://hook/a/../c", "dots"},
        {"http://hook/a", "http://user:secret@hook/a", "malformed"},
        {"http://hook/a", "ftp://hook/a", "no http or https"},
        {"http://hook/a\"", "http://hook/a?b\",\"payload\":\"application/fhir+json\"", "no query"},
        {"http://hook/a\"", "http://hook/a\",\"payload\":\"text/plain\"", "channel.payload"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"Host: internal\"]", "Host can't be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"X-Annals-Position: 1\"]",
         "can't be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"Transfer-Encoding: x\"]",
         "can't be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"proxy-Authorization: x\"]",
         "can't be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"A: b\\r\\nC: d\"]", "channel.header"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"no colon\"]", "channel.header"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\": x\"]", "channel.header"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"A:\"]", "channel.header"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"A: \\u00e4\"]", "channel.header"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"A: " + std::string(9000, 'x') + "\"]",
         "channel.header"},
    };
    int number = 0;
    for (const Case& one : cases) {
        const std::string id = fmt::format("s{}", ++number);
        std::string body = hook(id, "Patient?family=x");
        body.replace(body.find(one.from), one.from.size(), one.to);
        ASSERT_EQ(put(body), one.to.empty() ? 400 : 201) << body;
        if (one.to.empty()) {
            continue;  // Not even a Subscription: strings are not empty.
        }
        advance();
        EXPECT_EQ(status(id), "error") << body;
        EXPECT_THAT(element(id, "error"), HasSubstr(one.why)) << body;
    }
    put_patient("p", "x");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
}

TEST_F(DispatcherTest, WhatIsWrongWithASubscriptionIsNotInTheLog) {
    testing::internal::CaptureStderr();
    subscribe(hook("s", "Geheim?name=x"));
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(element("s", "error"), HasSubstr("Geheim"));
    EXPECT_THAT(told, HasSubstr("Subscription/s can't be active"));
    EXPECT_THAT(told, testing::Not(HasSubstr("Geheim")));
}

TEST_F(DispatcherTest, WithoutValidationAnythingMayStandInASubscription) {
    config_.validation = "off";
    open();
    for (
        const std::string_view rest :
        {R"("status":1)", R"("status":"requested")", R"("status":"requested","criteria":[])",
         R"("status":"requested","criteria":"Patient","channel":"x")",
         R"("status":"requested","criteria":"Patient","channel":{"type":["rest-hook"]})",
         R"("status":"requested","criteria":"Patient","channel":[{"type":"rest-hook"}])",
         R"("status":"requested","criteria":"Patient","channel":{"type":"rest-hook","endpoint":{}})",
         R"("status":"requested","criteria":"Patient","end":7,"channel":{"type":"websocket"})",
         R"("status":"active","criteria":"Patient","channel":{"type":"rest-hook","endpoint":"http://hook/a","header":[{}]})",
         R"("status":"requested","criteria":"Patient","channel":{"type":"rest-hook","endpoint":"http://hook/a","payload":{}})"}) {
        EXPECT_EQ(put(fmt::format(R"({{"resourceType":"Subscription","id":"x",{}}})", rest)) / 100,
                  2)
            << rest;
        advance();
        EXPECT_NE(status("x"), "active") << rest;
        EXPECT_NE(status("x"), "requested") << rest;
    }
    // Headers that are no list are none.
    subscribe(R"({"resourceType":"Subscription","id":"y","status":"requested","criteria":"Patient",
                  "channel":{"type":"rest-hook","endpoint":"http://hook/a","header":"A: b"}})");
    EXPECT_EQ(status("y"), "active");
}

TEST_F(DispatcherTest, MoreThanAreAllowedAreRefused) {
    config_.subscriptions.max = 2;
    open();
    for (const char* id : {"a", "b", "c"}) {
        subscribe(hook(id, "Patient"));
    }
    EXPECT_EQ(status("b"), "active");
    EXPECT_EQ(status("c"), "error");
    // One that is active may change.
    subscribe(hook("b", "Observation"));
    EXPECT_EQ(status("b"), "active");
    EXPECT_EQ(send("DELETE", "/Subscription/a").status / 100, 2);
    advance();
    subscribe(hook("c", "Patient"));
    EXPECT_EQ(status("c"), "active");
}

TEST_F(DispatcherTest, WithoutSpaceOnTheDiskItWaitsToBeActivated) {
    const auto disk = std::make_shared<test::SimFileSystem>();
    dispatcher_.reset();
    restart_on(disk);
    open();
    ASSERT_EQ(put(hook("s", "Patient", "id-only")), 201);
    put_patient("a");
    disk->fail_next(test::SimFileSystem::Call::write, Errc::no_store);
    EXPECT_THAT(told(), IsEmpty());
    EXPECT_EQ(status("s"), "requested");
    std::vector<std::string> all;
    for (int i = 0; i < 600 && status("s") == "requested"; ++i) {
        std::this_thread::sleep_for(20ms);
        time_ += 1s;
        std::ranges::copy(told(), std::back_inserter(all));
    }
    EXPECT_EQ(status("s"), "active");
    EXPECT_THAT(all, ElementsAre("Patient/a/_history/1"));
}

TEST_F(DispatcherTest, WhatAnotherServerSentIsNotRunHere) {
    std::string body = hook("s", "Patient");
    const test::Answer answer = send(
        "POST", "/",
        fmt::format(
            R"({{"resourceType":"Bundle","type":"history","entry":[{{"fullUrl":"http://x/Subscription/s",)"
            R"("resource":{},"request":{{"method":"PUT","url":"Subscription/s"}},)"
            R"("response":{{"status":"201","etag":"W/\"1\""}}}}]}})",
            body));
    ASSERT_EQ(answer.status, 200) << answer.body;
    advance();
    EXPECT_EQ(status("s"), "requested");
    put_patient("p");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
    // What was written before that was the other server's to tell of.
    subscribe(body);
    EXPECT_EQ(status("s"), "active");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
    put_patient("q");
    EXPECT_THAT(told("X-Annals-Position: "),
                ElementsAre(fmt::format("{}", store().last_position().value)));
}

// ---- what is told ----

TEST_F(DispatcherTest, EveryVersionThatMatchesIsToldOfInOrder) {
    put_patient("before", "x");
    subscribe(hook("s", "Patient?family=x", "id-only"));
    put_patient("a", "x");
    put_patient("a", "y");
    put_patient("a", "x");
    put_patient("b", "x");
    put_patient("b", "x");
    send("DELETE", "/Patient/b");
    put_patient("b", "x");
    put_patient("c", "y");
    EXPECT_THAT(told(),
                ElementsAre("Patient/a/_history/1", "Patient/a/_history/3", "Patient/b/_history/1",
                            "Patient/b/_history/2", "Patient/b/_history/4"));
    EXPECT_THAT(told(), IsEmpty());
}

TEST_F(DispatcherTest, WhatIsWrittenBetweenTheRequestAndTheActivationIsToldOf) {
    put_patient("before");
    ASSERT_EQ(put(hook("s", "Patient", "id-only")), 201);
    put_patient("between");
    EXPECT_THAT(told(), ElementsAre("Patient/between/_history/1"));
    EXPECT_EQ(status("s"), "active");
}

TEST_F(DispatcherTest, ThePayloadIsNothingTheIdOrTheResource) {
    subscribe(hook("none", "Patient"));
    subscribe(hook("id", "Patient", "id-only"));
    subscribe(hook("xml", "Patient", "application/fhir+xml;charset=utf-8"));
    put_patient("p", "x");
    const std::string position =
        fmt::format("X-Annals-Position: {}", store().last_position().value);
    std::map<std::string, Notification> by_id;
    for (Notification& notification : advance()) {
        EXPECT_THAT(notification.headers, Contains(position));
        EXPECT_THAT(notification.headers,
                    Contains("X-Annals-Subscription: Subscription/" + notification.subscription));
        by_id.emplace(notification.subscription, std::move(notification));
    }
    ASSERT_TRUE(by_id.contains("none") && by_id.contains("id") && by_id.contains("xml"));
    const Notification& none = by_id.at("none");
    EXPECT_FALSE(none.update);
    EXPECT_EQ(none.url, "http://hook/a");
    EXPECT_EQ(none.body, "");
    EXPECT_EQ(none.headers.size(), 2U);
    const Notification& id = by_id.at("id");
    EXPECT_FALSE(id.update);
    EXPECT_EQ(id.body, "");
    EXPECT_THAT(id.headers, Contains("X-Annals-Version: Patient/p/_history/1"));
    const Notification& xml = by_id.at("xml");
    EXPECT_TRUE(xml.update);
    EXPECT_EQ(xml.url, "http://hook/a/Patient/p");
    EXPECT_THAT(xml.headers, Contains("Content-Type: application/fhir+xml; charset=utf-8"));
    EXPECT_THAT(std::string(xml.body), HasSubstr("<family value=\"x\"/>"));
}

TEST_F(DispatcherTest, WithoutTheResourceTheEndpointIsAskedAsItStands) {
    for (const std::string_view payload : {"", "id-only"}) {
        std::string body = hook("s", "Patient", payload);
        body.replace(body.find("/a\""), 3, payload.empty() ? "/a/in/\"" : "/a/in?to=ward\"");
        subscribe(body);
        put_patient("p");
        const std::vector<Notification> told = advance();
        ASSERT_EQ(told.size(), 1U) << payload;
        EXPECT_EQ(told[0].url, payload.empty() ? "http://hook/a/in/" : "http://hook/a/in?to=ward");
        dispatcher_->settle(told[0], {}, time_);
    }
}

TEST_F(DispatcherTest, TheResourceIsSentAsItIsStored) {
    std::string body = hook("s", "Patient", "application/fhir+json");
    body.replace(body.find("/a\""), 3,
                 "/a/\",\"header\":[\"Authorization: Bearer x\",\"X-Y:z  \"]");
    subscribe(body);
    put_patient("p", "x");
    const std::vector<Notification> told = advance();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(told[0].update);
    EXPECT_EQ(told[0].url, "http://hook/a/Patient/p");
    EXPECT_EQ(told[0].body, send("GET", "/Patient/p").body);
    EXPECT_EQ(told[0].headers[0], "Authorization: Bearer x");
    EXPECT_EQ(told[0].headers[1], "X-Y: z");
    EXPECT_THAT(told[0].headers, Contains("Content-Type: application/fhir+json; charset=utf-8"));
}

TEST_F(DispatcherTest, CriteriaMayLookAtOtherResources) {
    subscribe(hook("chain", "Observation?patient.family=x&code=c", "id-only"));
    subscribe(hook("has", "Patient?_has:Observation:patient:code=h", "id-only"));
    subscribe(hook("id", "Patient?_id=p&_lastUpdated=gt2020-01-01", "id-only"));
    subscribe(hook("not", "Observation?code:not=c", "id-only"));
    subscribe(hook("reference", "Observation?subject=Patient/q", "id-only"));
    put_patient("p", "x");
    put_patient("q", "y");
    put(observation("a", "Patient/p"));
    put(observation("b", "Patient/q"));
    put(observation("c", "Patient/p", "h"));
    // Whose performer is a patient is not of him.
    std::string performed = observation("d", "Patient/r");
    performed.insert(performed.size() - 1, R"(,"performer":[{"reference":"Patient/p"}])");
    put(performed);
    put_patient("p", "x");
    put_patient("q", "y");
    std::map<std::string, std::vector<std::string>> by_id;
    for (;;) {
        const std::vector<Notification> some = advance();
        if (some.empty()) {
            break;
        }
        for (const Notification& notification : some) {
            by_id[notification.subscription].push_back(notification.headers.back().substr(18));
            dispatcher_->settle(notification, {}, time_);
        }
    }
    EXPECT_THAT(by_id["chain"], ElementsAre("Observation/a/_history/1"));
    // Looked at when all was there.
    EXPECT_THAT(by_id["has"], ElementsAre("Patient/p/_history/1", "Patient/p/_history/2"));
    EXPECT_THAT(by_id["id"], ElementsAre("Patient/p/_history/1", "Patient/p/_history/2"));
    EXPECT_THAT(by_id["not"], ElementsAre("Observation/c/_history/1"));
    EXPECT_THAT(by_id["reference"], ElementsAre("Observation/b/_history/1"));
}

TEST_F(DispatcherTest, CriteriaMayFollowCanonicals) {
    subscribe(hook("chain", "QuestionnaireResponse?questionnaire.title=x", "id-only"));
    subscribe(hook("has", "Questionnaire?_has:QuestionnaireResponse:questionnaire:status=completed",
                   "id-only"));
    put(R"({"resourceType":"Questionnaire","id":"q","url":"http://q","version":"1","title":"x","status":"active"})");
    put(R"({"resourceType":"Questionnaire","id":"other","url":"http://other","title":"y","status":"active"})");
    put(R"({"resourceType":"QuestionnaireResponse","id":"r","questionnaire":"http://q|1","status":"completed"})");
    put(R"({"resourceType":"QuestionnaireResponse","id":"s","questionnaire":"http://q|2","status":"completed"})");
    EXPECT_THAT(told(), testing::UnorderedElementsAre("Questionnaire/q/_history/1",
                                                      "QuestionnaireResponse/r/_history/1"));
}

TEST_F(DispatcherTest, TransactionsAndHistoryBundlesAreToldOfVersionByVersion) {
    subscribe(hook("s", "Patient?family=x", "id-only"));
    const test::Answer transaction =
        send("POST", "/", R"({"resourceType":"Bundle","type":"transaction","entry":[
        {"resource":{"resourceType":"Patient","id":"a","name":[{"family":"x"}]},"request":{"method":"PUT","url":"Patient/a"}},
        {"resource":{"resourceType":"Patient","id":"b","name":[{"family":"y"}]},"request":{"method":"PUT","url":"Patient/b"}},
        {"resource":{"resourceType":"Patient","id":"c","name":[{"family":"x"}]},"request":{"method":"PUT","url":"Patient/c"}}]})");
    ASSERT_EQ(transaction.status, 200) << transaction.body;
    std::string entries;
    for (int version = 3; version <= 5; ++version) {
        entries += fmt::format(
            R"({}{{"fullUrl":"http://x/Patient/h","resource":{{"resourceType":"Patient","id":"h","meta":{{"versionId":"{}",)"
            R"("lastUpdated":"2020-01-01T00:00:0{}Z"}},"name":[{{"family":"x"}}]}},"request":{{"method":"PUT",)"
            R"("url":"Patient/h"}},"response":{{"status":"200"}}}})",
            version == 3 ? "" : ",", version, version);
    }
    ASSERT_EQ(
        send("POST", "/", R"({"resourceType":"Bundle","type":"history","entry":[)" + entries + "]}")
            .status,
        200);
    EXPECT_THAT(told(),
                ElementsAre("Patient/a/_history/1", "Patient/c/_history/1", "Patient/h/_history/3",
                            "Patient/h/_history/4", "Patient/h/_history/5"));
}

TEST_F(DispatcherTest, AThousandVersionsAreNumberedByPosition) {
    subscribe(hook("s", "Patient?family=x"));
    std::vector<std::string> expected;
    for (int i = 0; i < 10; ++i) {
        std::string entries;
        for (int j = 0; j < 100; ++j) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Patient","name":[{{"family":"{}"}}]}},)"
                R"("request":{{"method":"POST","url":"Patient"}}}})",
                j == 0 ? "" : ",", j % 10 == 0 ? "x" : "y");
        }
        const auto before = store().last_position().value;
        ASSERT_EQ(
            send("POST", "/",
                 R"({"resourceType":"Bundle","type":"transaction","entry":[)" + entries + "]}")
                .status,
            200);
        for (std::uint64_t j = 0; j < 100; j += 10) {
            expected.push_back(std::to_string(before + 1 + j));
        }
    }
    EXPECT_EQ(told("X-Annals-Position: "), expected);
}

TEST_F(DispatcherTest, WhatMatchesBehindManyThatDoNotIsToldOf) {
    subscribe(hook("s", "Patient?family=x", "id-only"));
    for (int i = 0; i < 200; ++i) {
        put_patient(fmt::format("p{}", i), i == 150 ? "x" : "y");
    }
    EXPECT_THAT(told(), ElementsAre("Patient/p150/_history/1"));
}

TEST_F(DispatcherTest, AVersionThatWasErasedBeforeItWasToldOfIsPassedOver) {
    config_.hard_delete = true;
    open();
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    put_patient("b");
    std::vector<Notification> first = advance();
    ASSERT_EQ(first.size(), 1U);
    dispatcher_->settle(first[0], Error{Errc::io, "x", ""}, time_);
    EXPECT_EQ(send("DELETE", "/Patient/a").status / 100, 2);
    time_ += 10s;
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

TEST_F(DispatcherTest, ASubscriptionThatIsDeletedIsToldNothingMore) {
    subscribe(hook("s", "Patient"));
    put_patient("a");
    ASSERT_EQ(advance().size(), 1U);
    EXPECT_EQ(send("DELETE", "/Subscription/s").status / 100, 2);
    put_patient("b");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
    EXPECT_TRUE(dispatcher_->is_idle());
}

TEST_F(DispatcherTest, ASubscriptionThatIsErasedIsToldNothingMore) {
    config_.hard_delete = true;
    open();
    subscribe(hook("s", "Patient"));
    EXPECT_EQ(send("DELETE", "/Subscription/s").status / 100, 2);
    put_patient("b");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
    EXPECT_TRUE(dispatcher_->is_idle());
}

TEST_F(DispatcherTest, ASubscriptionThatWasErasedAndMadeAgainBeginsAnew) {
    config_.hard_delete = true;
    open();
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1"));
    EXPECT_EQ(send("DELETE", "/Subscription/s").status / 100, 2);
    put_patient("b");
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("c");
    EXPECT_THAT(told(), ElementsAre("Patient/c/_history/1"));
    EXPECT_EQ(status("s"), "active");
}

TEST_F(DispatcherTest, ChangedCriteriaHoldFromWhereItHadCome) {
    subscribe(hook("s", "Patient?family=x", "id-only"));
    put_patient("a", "x");
    EXPECT_EQ(told().size(), 1U);
    ASSERT_EQ(put(hook("s", "Patient?family=y", "id-only")), 200);
    put_patient("b", "x");
    put_patient("c", "y");
    EXPECT_THAT(told(), Contains("Patient/c/_history/1"));
    EXPECT_EQ(status("s"), "active");
    put_patient("d", "x");
    put_patient("e", "y");
    EXPECT_THAT(told(), ElementsAre("Patient/e/_history/1"));
}

TEST_F(DispatcherTest, CriteriaAskForWhatTheirSearchParametersMeanNow) {
    const auto define = [&](std::string_view type, std::string_view expression) {
        ASSERT_LE(
            put(fmt::format(
                R"({{"resourceType":"SearchParameter","id":"own","url":"http://p","name":"n",)"
                R"("status":"active","description":"d","code":"own","base":["Patient"],)"
                R"("type":"{}","expression":"Patient.{}"}})",
                type, expression)),
            201);
    };
    const auto finish_indexing = [&] {
        service().indexing().parameters();  // sees what has changed
        service().indexing().wait_until_idle();
        time_ += 1s;
    };
    define("string", "name.family");
    subscribe(hook("s", "Patient?own=x", "id-only"));
    finish_indexing();
    advance();
    EXPECT_EQ(status("s"), "active");
    put_patient("a", "x");
    put_patient("b", "male");
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1"));

    define("token", "name.family");
    put_patient("c", "xy");
    put_patient("d", "x");
    std::vector<std::string> all = told();  // perhaps nothing yet
    finish_indexing();
    const std::vector<std::string> then = told();
    all.insert(all.end(), then.begin(), then.end());
    EXPECT_THAT(all, ElementsAre("Patient/d/_history/1"));

    send("DELETE", "/SearchParameter/own");
    finish_indexing();
    put_patient("e", "x");
    EXPECT_THAT(told(), IsEmpty());
    EXPECT_EQ(status("s"), "error");
    EXPECT_THAT(element("s", "error"), HasSubstr("'own' is not known"));
}

TEST_F(DispatcherTest, WhatIsUnderWayWhileTheSubscriptionChangesIsSettledAfterwards) {
    subscribe(hook("s", "Patient?family=x", "id-only"));
    put_patient("a", "x");
    const std::vector<Notification> first = advance();
    ASSERT_EQ(first.size(), 1U);
    ASSERT_EQ(put(hook("s", "Patient?family=y", "id-only")), 200);
    put_patient("b", "y");
    EXPECT_THAT(advance(), IsEmpty());
    dispatcher_->settle(first[0], Error{Errc::io, "x", ""}, time_);
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

TEST_F(DispatcherTest, OneThatIsBehindIsToldOfAllWhenOthersLead) {
    for (const std::string_view id : {"a", "b", "slow"}) {
        subscribe(hook(id, "Patient", "id-only"));
    }
    for (int written = 0; written < 4; ++written) {
        std::vector<std::string> expected;
        std::optional<Notification> stuck;
        // The last one is written when all have something to look at, and others than the slow one may be first.
        for (int i = 0; i <= written + 2; ++i) {
            const std::string id = fmt::format("p{}-{}", written, i);
            expected.push_back(fmt::format("Patient/{}/_history/1", id));
            put_patient(id);
            if (i == written + 2) {
                dispatcher_->settle(*stuck, {}, time_);
            }
            for (Notification& notification : advance()) {
                if (notification.subscription == "slow") {
                    stuck = std::move(notification);
                } else {
                    dispatcher_->settle(notification, {}, time_);
                }
            }
        }
        std::vector<std::string> slow{expected.front()};
        for (std::vector<Notification> some{*std::move(stuck)}; !some.empty(); some = advance()) {
            for (const Notification& notification : some) {
                if (notification.subscription == "slow") {
                    slow.push_back(notification.headers.back().substr(18));
                }
                dispatcher_->settle(notification, {}, time_);
            }
        }
        EXPECT_EQ(slow, expected);
    }
}

// ---- failures ----

TEST_F(DispatcherTest, AFailureIsTriedAgainAfterDelaysThatDouble) {
    config_.subscriptions.attempts = 20;
    open();
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    put_patient("b");
    std::chrono::milliseconds delay = 1s;
    for (int i = 0; i < 12; ++i) {
        const std::vector<Notification> some = advance();
        ASSERT_EQ(some.size(), 1U) << i;
        EXPECT_THAT(some[0].headers, Contains("X-Annals-Version: Patient/a/_history/1"));
        EXPECT_THAT(advance(), IsEmpty());  // under way
        dispatcher_->settle(some[0], Error{Errc::io, "status 500", ""}, time_);
        time_ += delay - 1ms;
        EXPECT_THAT(advance(), IsEmpty()) << i;
        EXPECT_LE(dispatcher_->next_time(), time_ + 1ms);
        time_ += 1ms;
        delay = std::min<std::chrono::milliseconds>(delay * 2, 5min);
    }
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1", "Patient/b/_history/1"));
    EXPECT_EQ(status("s"), "active");
}

TEST_F(DispatcherTest, AChangeHoldsAtOnceForWhatIsToBeTriedAgain) {
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a", "x");
    const auto fail = [this] {
        const std::vector<Notification> some = advance();
        ASSERT_EQ(some.size(), 1U);
        dispatcher_->settle(some[0], Error{Errc::io, "status 500", ""}, time_);
        EXPECT_THAT(advance(), IsEmpty());
    };
    fail();
    time_ += 1s;
    fail();
    std::string elsewhere = hook("s", "Patient?family=y", "id-only");
    elsewhere.replace(elsewhere.find("http://hook/a"), 13, "http://hook/b");
    ASSERT_EQ(put(elsewhere), 200);
    EXPECT_THAT(advance(), IsEmpty()) << "it doesn't match any more";
    put_patient("b", "y");
    fail();
    EXPECT_EQ(status("s"), "active") << "failures are counted anew";
    ASSERT_EQ(put(elsewhere), 200);
    const std::vector<Notification> again = advance();
    ASSERT_EQ(again.size(), 1U) << "it is tried at once";
    EXPECT_EQ(again[0].url, "http://hook/b");
    EXPECT_THAT(again[0].headers, Contains("X-Annals-Version: Patient/b/_history/1"));
}

TEST_F(DispatcherTest, WhatIsUnderWayFromBeforeAnErrorSettlesNothingThatCameAfterIt) {
    subscribe(hook("s", "Patient"));
    put_patient("p");
    const std::vector<Notification> first = advance();
    ASSERT_EQ(first.size(), 1U);
    std::string body = hook("s", "Patient");
    body.replace(body.find("requested"), 9, "error");
    subscribe(body);
    body = hook("s", "Patient");
    body.replace(body.find("http://hook/a"), 13, "http://hook/b");
    ASSERT_EQ(put(body), 200);
    const std::vector<Notification> second = advance();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].position, first[0].position);
    EXPECT_EQ(second[0].url, "http://hook/b");
    dispatcher_->settle(first[0], {}, time_);
    dispatcher_->settle(second[0], Error{Errc::io, "status 500", ""}, time_);
    time_ += 1h;
    const std::vector<Notification> again = advance();
    ASSERT_EQ(again.size(), 1U) << "nobody at b has taken it";
    EXPECT_EQ(again[0].position, second[0].position);
}

TEST_F(DispatcherTest, TooManyFailuresEndInTheStatusErrorWithTheReason) {
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    for (int i = 0; i < 3; ++i) {
        const std::vector<Notification> some = advance();
        ASSERT_EQ(some.size(), 1U) << i;
        dispatcher_->settle(some[0], Error{Errc::io, "status 500", ""}, time_);
        time_ += 1min;
    }
    EXPECT_THAT(advance(), IsEmpty());
    EXPECT_EQ(status("s"), "error");
    EXPECT_THAT(element("s", "error"), HasSubstr("failed 3 times, the last time: status 500"));
    put_patient("b");
    EXPECT_THAT(told(), IsEmpty());

    // Asked for again, it goes on where it stopped, also after a restart.
    open();
    advance();
    put_patient("c");
    subscribe(hook("s", "Patient", "id-only"));
    EXPECT_EQ(status("s"), "active");
    EXPECT_EQ(element("s", "error"), "");
    dispatch();
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1", "Patient/b/_history/1",
                                    "Patient/c/_history/1"));
}

TEST_F(DispatcherTest, OfThoseThatFailedTheLastOnesGoOnWhereTheyStopped) {
    config_.subscriptions.max = 1;
    config_.subscriptions.attempts = 1;
    open();
    const auto id_of = [](int i) { return fmt::format("s{}", 9 - i); };
    for (int i = 0; i < 6; ++i) {
        subscribe(hook(id_of(i), "Patient", "id-only"));
        put_patient(fmt::format("p{}", i));
        const std::vector<Notification> some = advance();
        ASSERT_EQ(some.size(), 1U);
        dispatcher_->settle(some[0], Error{Errc::io, "status 500", ""}, time_);
        advance();
        ASSERT_EQ(status(id_of(i)), "error");
    }
    // Four times as many as may be active.
    for (int i = 5; i >= 0; --i) {
        const std::string id = id_of(i);
        ASSERT_LE(put(hook(id, "Patient", "id-only")), 201);
        EXPECT_EQ(told().size(), i > 1 ? 6U - static_cast<unsigned>(i) : 0U) << id;
        ASSERT_EQ(send("DELETE", "/Subscription/" + id).status, 204);
        advance();
    }
}

TEST_F(DispatcherTest, SwitchedOffAndOnAgainItBeginsAnew) {
    subscribe(hook("s", "Patient", "id-only"));
    std::string off = hook("s", "Patient", "id-only");
    off.replace(off.find("requested"), 9, "off");
    subscribe(off);
    EXPECT_EQ(status("s"), "off");
    put_patient("a");
    EXPECT_THAT(told(), IsEmpty());
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("b");
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

TEST_F(DispatcherTest, AnEndOfBeforeIsNoneAfterARestart) {
    subscribe(hook("s", "Patient", "id-only"));
    std::string off = hook("s", "Patient", "id-only");
    off.replace(off.find("requested"), 9, "off");
    subscribe(off);
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    EXPECT_EQ(told().size(), 1U);
    dispatcher_->save();
    dispatch();
    EXPECT_THAT(told(), IsEmpty());
    put_patient("b");
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

TEST_F(DispatcherTest, AnEndThatWasSoonFollowedByABeginningIsAnEnd) {
    std::string off = hook("s", "Patient", "id-only");
    off.replace(off.find("requested"), 9, "off");
    const auto check = [&](bool deletes, bool failed, bool killed, int requests) {
        subscribe(hook("s", "Patient", "id-only"));
        put_patient("a");
        for (int i = 0; i < (failed ? 3 : 1); ++i) {
            const std::vector<Notification> some = advance();
            ASSERT_EQ(some.size(), 1U);
            dispatcher_->settle(some[0], Error{Errc::io, "status 500", ""}, time_);
            time_ += 1min;
        }
        EXPECT_EQ(status("s"), failed ? "error" : "active");
        dispatcher_->save();
        ASSERT_EQ(deletes ? send("DELETE", "/Subscription/s").status : put(off),
                  deletes ? 204 : 200);
        put_patient("between");
        for (int i = 0; i < requests; ++i) {
            ASSERT_LE(put(hook("s", "Patient", "id-only")), 201);
        }
        if (killed) {
            dispatch();
        }
        put_patient("b");
        EXPECT_THAT(told(), ElementsAre(StartsWith("Patient/b/")))
            << deletes << failed << killed << requests;
        EXPECT_EQ(status("s"), "active");
        subscribe(off);
    };
    for (const bool erases : {false, true}) {
        config_.hard_delete = erases;
        open();
        for (const bool deletes : {false, true}) {
            for (const bool failed : {false, true}) {
                for (const bool killed : {false, true}) {
                    check(deletes, failed, killed, 1);
                    check(deletes, failed, killed, 3);
                }
            }
        }
    }
}

TEST_F(DispatcherTest, BeginsWithTheFirstOfSeveralRequestsInARow) {
    for (const std::string_view first : {"requested", "active"}) {
        for (const std::string_view last : {"requested", "active"}) {
            std::string asked = hook("s", "Patient", "id-only");
            std::string again = asked;
            asked.replace(asked.find("requested"), 9, first);
            again.replace(again.find("requested"), 9, last);
            put_patient("before");
            // Nobody looks before it is written again.
            ASSERT_LE(put(asked), 201);
            put_patient("a");
            ASSERT_EQ(put(asked), 200);
            ASSERT_EQ(put(again), 200);
            put_patient("b");
            EXPECT_THAT(told(), ElementsAre(StartsWith("Patient/a/"), StartsWith("Patient/b/")))
                << first << ", " << last;
            ASSERT_EQ(send("DELETE", "/Subscription/s").status, 204);
            EXPECT_THAT(told(), IsEmpty());
        }
    }
}

TEST_F(DispatcherTest, OneThatIsSlowDelaysNoOther) {
    subscribe(hook("slow", "Patient", "id-only"));
    subscribe(hook("quick", "Patient", "id-only"));
    put_patient("a");
    std::optional<Notification> stuck;
    for (int i = 0; i < 100; ++i) {
        put_patient(fmt::format("p{}", i));
    }
    std::vector<std::string> quick;
    for (;;) {
        std::vector<Notification> some = advance();
        if (some.empty()) {
            break;
        }
        for (Notification& notification : some) {
            if (notification.subscription == "slow") {
                ASSERT_FALSE(stuck);
                stuck = std::move(notification);
            } else {
                dispatcher_->settle(notification, {}, time_);
                quick.push_back(notification.headers.back());
            }
        }
    }
    EXPECT_EQ(quick.size(), 101U);
    ASSERT_TRUE(stuck);
    time_ += 1s;
    advance();
    EXPECT_THAT(dispatcher_->stats()->lags,
                ElementsAre(std::pair<std::string, std::uint64_t>("slow", 101),
                            std::pair<std::string, std::uint64_t>("quick", 0)));
    EXPECT_EQ(dispatcher_->stats()->delivered, 101U);
    dispatcher_->settle(*stuck, {}, time_);
    EXPECT_EQ(told().size(), 100U);
}

// ---- what is remembered ----

TEST_F(DispatcherTest, NothingIsSkippedWhenTheProcessIsKilled) {
    subscribe(hook("s", "Patient", "id-only"));
    std::vector<std::string> expected;
    std::vector<std::string> all;
    for (int i = 0; i < 40; ++i) {
        put_patient(fmt::format("p{}", i));
        expected.push_back(fmt::format("Patient/p{}/_history/1", i));
        if (i % 3 != 0) {
            const std::vector<Notification> some = advance();
            for (const Notification& notification : some) {
                all.push_back(notification.headers.back().substr(18));
                if (i % 4 != 0) {
                    dispatcher_->settle(notification, {}, time_);
                }
            }
        }
        time_ += 700ms;
        if (i % 5 == 4) {
            dispatch();  // which saves nothing that was not saved already
        }
    }
    for (const std::string& one : told()) {
        all.push_back(one);
    }
    // In order, each at least once: what comes again begins where it goes on.
    std::vector<std::string> first;
    for (const std::string& one : all) {
        if (std::find(first.begin(), first.end(), one) == first.end()) {
            first.push_back(one);
        }
    }
    EXPECT_EQ(first, expected);
    EXPECT_LT(all.size(), expected.size() * 3);
}

TEST_F(DispatcherTest, WhatWasSavedIsNotToldAgain) {
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    EXPECT_EQ(told().size(), 1U);
    dispatcher_->save();
    dispatch();
    put_patient("b");
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
    time_ += 2s;
    advance();
    open();
    EXPECT_THAT(told(), IsEmpty());
}

TEST_F(DispatcherTest, ItGoesOnFromItsActivationIfWhatWasSavedIsGone) {
    subscribe(hook("s", "Patient", "id-only"));
    put_patient("a");
    EXPECT_EQ(told().size(), 1U);
    dispatcher_.reset();
    ASSERT_TRUE(storage::posix_file_system().remove(data() + "/subscriptions/positions.json"));
    dispatch();
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1"));
}

TEST_F(DispatcherTest, DamagedPositionsAreNoReasonNotToStart) {
    subscribe(hook("s", "Patient", "id-only"));
    for (const std::string_view text :
         {"", "{", R"({"positions":{"s":"x"}})", R"({"positions":{"s":-1}})",
          R"({"positions":{"s":99999999999999999999999}})", R"({"positions":[]})"}) {
        dispatcher_.reset();
        auto& files = storage::posix_file_system();
        const std::string path = data() + "/subscriptions/positions.json";
        ASSERT_TRUE(files.remove(path));
        ASSERT_TRUE((*files.open(path, storage::FileSystem::Mode::create))->write(0, text));
        put_patient("a");
        dispatch();
        EXPECT_FALSE(told().empty()) << text;
        dispatcher_->save();
    }
}

TEST_F(DispatcherTest, NobodyBeginsAnewForPositionsThatCannotBeReadNow) {
    auto& files = storage::posix_file_system();
    const std::string path = data() + "/subscriptions/positions.json";
    ASSERT_TRUE(files.make_directory(path));
    const auto read = Dispatcher::saved(service(), files);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::io);
    EXPECT_THAT(read.error().detail, HasSubstr(path));
}

TEST_F(DispatcherTest, PositionsBeyondARestoredStoreAreBroughtBack) {
    subscribe(hook("s", "Patient", "id-only"));
    dispatcher_.reset();
    SavedPositions saved(storage::posix_file_system(), data() + "/subscriptions");
    ASSERT_TRUE(saved.write({{"s", Position{1'000'000}}}));
    dispatch();
    advance();
    put_patient("a");
    EXPECT_THAT(told(), ElementsAre("Patient/a/_history/1"));
}

// ---- the end ----

TEST_F(DispatcherTest, AtItsEndItIsSwitchedOff) {
    const std::string end = format_instant(Instant{now().us + 500'000});
    subscribe(hook("s", "Patient", "id-only", fmt::format(R"("end":"{}",)", end)));
    EXPECT_EQ(status("s"), "active");
    for (int i = 0; i < 600 && status("s") != "off"; ++i) {
        std::this_thread::sleep_for(100ms);
        time_ += 1s;
        advance();
    }
    EXPECT_EQ(status("s"), "off");
    put_patient("a");
    EXPECT_THAT(told(), IsEmpty());
    subscribe(hook("t", "Patient", "", R"("end":"2020-01-01T00:00:00Z",)"));
    EXPECT_EQ(status("t"), "off");
}

// ---- websockets ----

TEST_F(DispatcherTest, WebsocketsArePingedWhileTheyAreBound) {
    subscribe(
        R"({"resourceType":"Subscription","id":"w","status":"requested","reason":"x","criteria":"Patient?family=x",
                  "channel":{"type":"websocket"}})");
    EXPECT_EQ(status("w"), "active");
    put_patient("a", "x");
    EXPECT_THAT(advance(), IsEmpty());
    {
        const auto counter = pings_.bind("w");
        EXPECT_TRUE(pings_.is_bound("w"));
        put_patient("b", "x");
        put_patient("b", "y");
        put_patient("b", "x");
        advance();
        EXPECT_EQ(counter->load(), 2U);
        EXPECT_EQ(pings_.bind("w"), counter);
    }
    EXPECT_FALSE(pings_.is_bound("w"));
    put_patient("c", "x");
    advance();
    const auto counter = pings_.bind("w");
    advance();
    EXPECT_EQ(counter->load(), 0U);
}

TEST_F(DispatcherTest, AWebsocketThatBecomesARestHookGoesOnFromWhereItIs) {
    subscribe(
        R"({"resourceType":"Subscription","id":"w","status":"requested","reason":"x","criteria":"Patient",
                  "channel":{"type":"websocket"}})");
    put_patient("a");
    advance();
    subscribe(hook("w", "Patient", "id-only"));
    dispatch();  // and nothing was saved but where it begins
    put_patient("b");
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

}  // namespace
}  // namespace annals::core
