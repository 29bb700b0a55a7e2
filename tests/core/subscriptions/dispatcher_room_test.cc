// How much memory the notifications under way take together, and how those wait that have no room.

#include "storage/format.h"
#include "tests/core/subscriptions/dispatcher_fixture.h"
#include "tests/support/files.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {
namespace {

/// Receives what is due, and holds it until it is settled.
class DispatcherRoom : public DispatcherTest {
  protected:
    void open_with_room_for(std::uint64_t bytes) {
        config_.limits.max_memory = bytes;
        open();
    }

    /// A Subscription for each of these families, with that id.
    void subscribe_to(std::initializer_list<std::string_view> families) {
        for (const std::string_view family : families) {
            subscribe(
                hook(family, fmt::format("Patient?family={}", family), "application/fhir+json"));
        }
    }

    /// A Patient whose id and family are `id`.
    void put_large(std::string_view id, std::size_t bytes) {
        ASSERT_LE(put(fmt::format(R"({{"resourceType":"Patient","id":"{0}",)"
                                  R"("name":[{{"family":"{0}"}}],)"
                                  R"("text":{{"status":"empty","div":"{1}"}}}})",
                                  id, std::string(bytes, 'x'))),
                  201);
    }

    /// The subscriptions whose notifications are due.
    std::string due() {
        std::string ids;
        for (Notification& one : advance()) {
            ids += one.subscription;
            sent_.insert_or_assign(one.subscription, std::move(one));
        }
        return ids;
    }

    void settle(const std::string& id, const Result<void>& outcome) {
        dispatcher_->settle(sent_.at(id), outcome, time_);
        sent_.erase(id);
    }

    std::map<std::string, Notification> sent_;
};

TEST_F(DispatcherRoom, LargeBodiesUnderWayAreBoundedInTotalAndTakeTurns) {
    open_with_room_for(350'000);
    subscribe_to({"a", "b", "c", "d", "e"});
    subscribe(hook("f", "Patient?family=a", "application/fhir+json"));
    for (const std::string_view id : {"a", "b", "c", "d", "a"}) {
        put_large(id, id == "c" ? 250'000 : 150'000);
    }
    put_large("e", 60'000);
    EXPECT_EQ(due(), "abef") << "small ones need no room, nor do those that are under way already";
    EXPECT_EQ(due(), "");
    settle("f", {});
    EXPECT_EQ(due(), "") << "a still has it";
    settle("a", {});
    EXPECT_EQ(due(), "") << "d would have room, but c comes first";
    settle("b", {});
    EXPECT_EQ(due(), "c");
    settle("c", Error{Errc::io, "x", ""});
    EXPECT_EQ(due(), "dfa");

    sent_.clear();
    open_with_room_for(100'000);
    EXPECT_EQ(due(), "aef") << "one may be larger";
}

TEST_F(DispatcherRoom, ABodyInXmlCountsWithItsSizeInXml) {
    open_with_room_for(350'000);
    for (const std::string_view id : {"a", "b", "c"}) {
        subscribe(hook(id, fmt::format("Patient?family={}", id == "c" ? "b" : id),
                       id == "c" ? "application/fhir+json" : "application/fhir+xml"));
    }
    std::string given = R"("y")";
    for (int i = 0; i < 15'000; ++i) {
        given += R"(,"y")";
    }
    for (const std::string_view id : {"a", "b"}) {
        ASSERT_EQ(put(fmt::format(R"({{"resourceType":"Patient","id":"{0}",)"
                                  R"("name":[{{"family":"{0}","given":[{1}]}}]}})",
                                  id, given)),
                  201);
    }
    EXPECT_EQ(due(), "ac") << "b's is small in JSON only";
    EXPECT_LT(sent_.at("c").body->size(), 64U << 10);
    EXPECT_GT(sent_.at("a").body->size(), 200'000U);
    EXPECT_EQ(due(), "");
    settle("a", {});
    EXPECT_EQ(due(), "b");
}

TEST_F(DispatcherRoom, ASmallVersionAfterOneThatWaitedNeedsNone) {
    open_with_room_for(200'000);
    subscribe_to({"a", "b"});
    put_large("a", 150'000);
    put_large("b", 150'000);
    put_large("a", 150'000);
    put_patient("b", "b");
    EXPECT_EQ(due(), "a");
    settle("a", {});
    EXPECT_EQ(due(), "b");
    settle("b", {});
    EXPECT_EQ(due(), "ab");
}

TEST_F(DispatcherRoom, AVersionThatWaitsForRoomIsNotReadMeanwhile) {
    open_with_room_for(200'000);
    subscribe_to({"a", "waiting"});
    put_large("a", 150'000);
    put_large("waiting", 150'000);
    EXPECT_EQ(due(), "a");

    // Reading it now would find it damaged and pass it over.
    const std::string path = data() + "/segments/" + storage::segment_name(1);
    const std::size_t at = test::read_whole_file(path).rfind("\"family\":\"waiting\"");
    ASSERT_NE(at, std::string::npos);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put('~').flush();
    EXPECT_EQ(send("GET", "/Patient/waiting").status, 500);
    EXPECT_EQ(due(), "");
    put_patient("other");
    EXPECT_EQ(due(), "");
    file.seekp(static_cast<std::streamoff>(at)).put('"').flush();

    settle("a", {});
    EXPECT_EQ(due(), "waiting");
    EXPECT_EQ(*sent_.at("waiting").body, send("GET", "/Patient/waiting").body);
}

}  // namespace
}  // namespace annals::core
