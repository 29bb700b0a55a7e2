// What is remembered of Subscriptions across restarts, and how they end.

#include "tests/core/subscriptions/dispatcher_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
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
            dispatch();  // saves nothing that wasn't saved already
        }
    }
    for (const std::string& one : told()) {
        all.push_back(one);
    }
    // In order, each at least once: repetitions are left out.
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

TEST_F(DispatcherTest, WhatWasSavedOfSeveralIsNotToldAgain) {
    for (const char* id : {"s", "t", "u"}) {
        subscribe(hook(id, "Patient", "id-only"));
    }
    put_patient("a");
    EXPECT_EQ(told().size(), 3U);
    dispatcher_->save();
    dispatch();
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

TEST_F(DispatcherTest, AtItsEndItIsSwitchedOff) {
    // Later where a machine takes longer to activate it.
    std::string seen;
    for (std::int64_t us = 500'000; us < 100'000'000 && seen != "active"; us *= 2) {
        const std::string end = format_instant(Instant{now().us + us});
        subscribe(hook("s", "Patient", "id-only", fmt::format(R"("end":"{}",)", end)));
        seen = status("s");
    }
    EXPECT_EQ(seen, "active");
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

}  // namespace
}  // namespace annals::core
