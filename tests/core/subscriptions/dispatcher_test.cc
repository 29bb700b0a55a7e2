// What active Subscriptions are told of: which versions, and in which order.

#include "tests/core/subscriptions/dispatcher_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

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

TEST_F(DispatcherTest, HeadersAreSentWithoutTheBlanksAroundTheirValues) {
    std::string body = hook("s", "Patient");
    constexpr std::string_view kUrl = "\"http://hook/a\"";
    body.replace(body.find(kUrl), kUrl.size(),
                 R"("http://hook/a","header":["X-A:\t  b c \t","Authorization: Bearer x"])");
    subscribe(body);
    put_patient("p");
    const std::vector<Notification> some = advance();
    ASSERT_EQ(some.size(), 1U);
    EXPECT_THAT(some[0].headers, Contains("X-A: b c"));
    EXPECT_THAT(some[0].headers, Contains("Authorization: Bearer x"));
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
    EXPECT_EQ(none.body, nullptr);
    EXPECT_EQ(none.headers.size(), 2U);
    const Notification& id = by_id.at("id");
    EXPECT_FALSE(id.update);
    EXPECT_EQ(id.body, nullptr);
    EXPECT_THAT(id.headers, Contains("X-Annals-Version: Patient/p/_history/1"));
    const Notification& xml = by_id.at("xml");
    EXPECT_TRUE(xml.update);
    EXPECT_EQ(xml.url, "http://hook/a/Patient/p");
    EXPECT_THAT(xml.headers, Contains("Content-Type: application/fhir+xml; charset=utf-8"));
    EXPECT_THAT(*xml.body, HasSubstr("<family value=\"x\"/>"));
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

TEST_F(DispatcherTest, ThePayloadMayBeAnyMediaTypeOfItsFormat) {
    subscribe(hook("a", "Patient", "application/json+fhir"));
    subscribe(hook("b", "Patient", "text/json ; charset=utf-8"));
    subscribe(hook("c", "Patient", "Application/XML+fhir"));
    put_patient("p", "x");
    const std::vector<Notification> told = advance();
    ASSERT_EQ(told.size(), 3U);
    for (const Notification& one : told) {
        EXPECT_TRUE(one.update);
        ASSERT_NE(one.body, nullptr);
        EXPECT_EQ(one.body->front(), one.subscription == "c" ? '<' : '{');
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
    EXPECT_EQ(*told[0].body, send("GET", "/Patient/p").body);
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
    // An Observation whose performer is a patient is not about that patient.
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
    // Evaluated after everything was written.
    EXPECT_THAT(by_id["has"], ElementsAre("Patient/p/_history/1", "Patient/p/_history/2"));
    EXPECT_THAT(by_id["id"], ElementsAre("Patient/p/_history/1", "Patient/p/_history/2"));
    EXPECT_THAT(by_id["not"], ElementsAre("Observation/c/_history/1"));
    EXPECT_THAT(by_id["reference"], ElementsAre("Observation/b/_history/1"));
}

TEST_F(DispatcherTest, CriteriaSeeOtherResourcesAsTheyAreByThen) {
    subscribe(hook("s", "Observation?patient.family=x", "id-only"));
    put_patient("p", "y");
    put(observation("a", "Patient/p"));
    EXPECT_THAT(told(), IsEmpty());
    put_patient("p", "x");
    put(observation("b", "Patient/p"));
    EXPECT_THAT(told(), ElementsAre("Observation/b/_history/1"));
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

TEST_F(DispatcherTest, AVersionThatIsErasedWhileItIsToldIsToldWhole) {
    config_.hard_delete = true;
    open();
    subscribe(hook("s", "Patient", "application/fhir+json"));
    put_patient("p", "x");
    const std::string body = send("GET", "/Patient/p").body;
    const std::vector<Notification> told = advance();
    ASSERT_EQ(told.size(), 1U);
    ASSERT_EQ(send("DELETE", "/Patient/p").status, 204);
    EXPECT_EQ(*told[0].body, body);
}

TEST_F(DispatcherTest, TheBodyIsMadeOnceForAllThatAreToldOfAVersion) {
    subscribe(hook("a", "Patient", "application/fhir+json"));
    subscribe(hook("b", "Patient", "application/fhir+xml"));
    subscribe(hook("c", "Patient?family=x", "application/fhir+json"));
    subscribe(hook("d", "Patient?family=x", "application/fhir+xml"));
    put_patient("p", "x");
    std::vector<Notification> told = advance();
    ASSERT_EQ(told.size(), 4U);
    EXPECT_EQ(told[0].body, told[2].body);
    EXPECT_EQ(told[1].body, told[3].body);
    EXPECT_NE(told[0].body, told[1].body);
    dispatcher_->settle(told[2], Error{Errc::io, "x", ""}, time_);
    time_ += 10s;
    const std::vector<Notification> again = advance();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].body, told[0].body) << "still under way";
    const std::weak_ptr<const std::string> xml = told[1].body;
    told.clear();
    EXPECT_TRUE(xml.expired());
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
        service().indexing().parameters();  // notices the change
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
        // The last is written when all Subscriptions have something to look at, and another than the slow one may be first.
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
    dispatch();  // only its beginning was saved
    put_patient("b");
    EXPECT_THAT(told(), ElementsAre("Patient/b/_history/1"));
}

}  // namespace
}  // namespace annals::core
