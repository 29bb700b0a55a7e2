// What becomes of Subscriptions whose notifications fail or take long.

#include "tests/core/subscriptions/dispatcher_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
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
using testing::StartsWith;
using namespace std::chrono_literals;

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

TEST_F(DispatcherTest, FailuresAreCountedFromTheLastSuccess) {
    subscribe(hook("s", "Patient", "id-only"));
    for (int i = 0; i < 3; ++i) {
        put_patient(fmt::format("p{}", i));
        for (const bool fails : {true, true, false}) {
            const std::vector<Notification> some = advance();
            ASSERT_EQ(some.size(), 1U) << i;
            dispatcher_->settle(
                some[0], fails ? Result<void>(Error{Errc::io, "status 500", ""}) : Result<void>(),
                time_);
            time_ += 2s;
        }
    }
    EXPECT_EQ(status("s"), "active");
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
    EXPECT_THAT(element("s", "error"), HasSubstr("failed 3 times, most recently: status 500"));
    put_patient("b");
    EXPECT_THAT(told(), IsEmpty());

    // Requested again, it continues where it stopped, also after a restart.
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
    // It remembers four times as many as may be active.
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
            // The dispatcher doesn't look between these writes.
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

}  // namespace
}  // namespace annals::core
