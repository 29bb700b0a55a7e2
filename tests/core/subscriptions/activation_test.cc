// Which Subscriptions become active, and what becomes of the others.

#include "tests/core/subscriptions/dispatcher_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

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
        {"Patient?family=x", "Patients?a=b", "is not a resource type"},
        {"Patient?family=x", "?family=x", "is not a resource type"},
        {"Patient?family=x", "Patient?famly=x", "famly"},
        {"Patient?family=x", "Patient?_sort=family", "_sort"},
        {"Patient?family=x", "Patient?birthdate=yesterday", "birthdate"},
        {"Patient?family=x", "Patient?" + std::string(20'000, 'x'), "too long"},
        {"rest-hook", "email", "neither rest-hook nor websocket"},
        {"http://hook/a", "", "required for a rest-hook"},
        {"http://hook/a", "http://other/a", "does not send notifications there"},
        {"http://hook/a", "http://hook/ab", "does not send notifications there"},
        {"http://hook/a", "http://hook/a/../c", "has . or .. as a segment"},
        {"http://hook/a", "http://user:secret@hook/a", "malformed"},
        {"http://hook/a", "ftp://hook/a", "not an http or https"},
        {"http://hook/a\"", "http://hook/a?b\",\"payload\":\"application/fhir+json\"",
         "must not have a query"},
        {"http://hook/a\"", "http://hook/a\",\"payload\":\"text/plain\"", "channel.payload"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"Host: internal\"]",
         "Host cannot be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"X-Annals-Position: 1\"]",
         "cannot be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"Transfer-Encoding: x\"]",
         "cannot be set"},
        {"http://hook/a\"", "http://hook/a\",\"header\":[\"proxy-Authorization: x\"]",
         "cannot be set"},
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
            continue;  // not even a Subscription: strings can't be empty
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
    EXPECT_THAT(told, HasSubstr("Subscription/s cannot be activated"));
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
    // Headers that aren't a list count as none.
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
    // An active one may change.
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
    // Earlier versions were the other server's business.
    subscribe(body);
    EXPECT_EQ(status("s"), "active");
    EXPECT_THAT(told("X-Annals-Position: "), IsEmpty());
    put_patient("q");
    EXPECT_THAT(told("X-Annals-Position: "),
                ElementsAre(fmt::format("{}", store().last_position().value)));
}

}  // namespace
}  // namespace annals::core
