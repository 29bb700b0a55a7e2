// Answers that must wait for the device, on a disk whose mapped bytes are not in memory.

#include "core/access.h"
#include "core/jobs/jobs.h"
#include "tests/core/unread_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace annals::test {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST_F(Unread, IsReadAllTheSame) {
    const Answer answer = send_twice("GET", "/Patient/2");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_TRUE(answer.says("Two"));
}

TEST_F(Unread, IsReadByItsVersion) {
    const Answer answer = send_twice("GET", "/Patient/2/_history/1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.etag, 1U);
    EXPECT_TRUE(answer.says("One"));
    EXPECT_EQ(answer.cache_control, "public, max-age=31536000, immutable");
}

TEST_F(Unread, IsReadAsItIsAskedFor) {
    const Answer answer = send_twice("GET", "/Patient/2?_format=xml");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("<Patient xmlns"));
}

TEST_F(Unread, IsReadFromAPositionOn) {
    const Answer answer = send_twice("GET", "/Patient/2", {}, {{"X-Annals-Min-Position", "6"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("Two"));
}

TEST_F(Unread, IsNotReadForAClientThatHasIt) {
    const std::uint64_t looks = disk_->memory_looks();
    EXPECT_EQ(send("GET", "/Patient/2", {}, {{"If-None-Match", R"(W/"2")"}}).status, 304);
    EXPECT_EQ(disk_->memory_looks(), looks);
}

TEST_F(Unread, IsToldInTheHistoryOfItsResource) {
    const Answer answer = send_twice("GET", "/Patient/2/_history");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("total":2)"));
    EXPECT_TRUE(answer.says("One"));
    EXPECT_TRUE(answer.says("Two"));
}

TEST_F(Unread, IsToldInTheHistoryOfItsType) {
    const Answer answer = send_twice("GET", "/Patient/_history");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("total":6)"));
    EXPECT_TRUE(answer.says("One"));
}

TEST_F(Unread, IsFound) {
    const Answer answer = send_twice("GET", "/Patient?family=Two");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("total":3)"));
    EXPECT_TRUE(answer.says(R"("id":"3")"));
}

TEST_F(Unread, IsReadByABatch) {
    const Answer answer =
        send_twice("POST", "/",
                   R"({"resourceType":"Bundle","type":"batch","entry":[)"
                   R"({"request":{"method":"GET","url":"Patient/1"}},)"
                   R"({"request":{"method":"GET","url":"Patient/9"}},)"
                   R"({"request":{"method":"GET","url":"Patient/3/_history/1"}}]})");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says("Two"));
    EXPECT_TRUE(answer.says("One"));
    EXPECT_TRUE(answer.says("404"));
}

struct Waiting {
    const char* name;
    const char* target;
    const char* says;

    friend void PrintTo(const Waiting& waiting, std::ostream* out) { *out << waiting.target; }
};

class UnreadWaiting : public Unread, public testing::WithParamInterface<Waiting> {};

TEST_P(UnreadWaiting, KeepsNobodyElseWaiting) {
    ASSERT_EQ(
        send(
            "PUT", "/Observation/1",
            R"({"resourceType":"Observation","id":"1","status":"final",)"
            R"("code":{"coding":[{"system":"http://l","code":"weight"}]},"subject":{"reference":"Patient/1"}})")
            .status,
        201);
    disk_->forget_all();
    hold_first_read();
    Answer slow;
    std::thread reader([&] { slow = send("GET", GetParam().target); });
    const bool waits = reading_.get_future().wait_for(30s) == std::future_status::ready;
    EXPECT_TRUE(waits) << "on the network thread";
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    EXPECT_EQ(put_patient("4"), 201);
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(slow.status, 200);
    EXPECT_TRUE(slow.says(GetParam().says)) << slow.body;
}

INSTANTIATE_TEST_SUITE_P(
    Answers, UnreadWaiting,
    testing::Values(Waiting{"Read", "/Patient/1", "Two"},
                    Waiting{"History", "/Patient/1/_history", "Two"},
                    Waiting{"HistoryAtAnInstant", "/Patient/1/_history?_at=2999", "Two"},
                    Waiting{"HistoryOfAType", "/Patient/_history", "Two"},
                    Waiting{"HistoryOfATypeAtAnInstant", "/Patient/_history?_at=2999", "Two"},
                    Waiting{"ChangeFeed", "/_changes?after=2&wait=0", "Two"},
                    Waiting{"Search", "/Patient?family=Two", "Two"},
                    Waiting{"SearchOfBodies", "/Patient?_content=Two&_count=0", R"("total":3)"},
                    Waiting{"Everything", "/Patient/1/$everything", "weight"},
                    Waiting{"Lastn", "/Observation/$lastn?patient=1&code=weight", "weight"},
                    Waiting{"Stats",
                            "/Observation/$stats?subject=Patient/1&code=weight&system=http://l&"
                            "statistic=total-count",
                            R"("value":1)"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Unread, IsMetByCriteriaAndKeepsNobodyElseWaiting) {
    hold_first_read();
    Answer slow;
    std::thread writer([&] {
        slow =
            send("POST", "/Patient", patient("", "Two"), {{"If-None-Exist", "_id=2&family=Two"}});
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    go_on_.set_value();
    writer.join();
    EXPECT_EQ(slow.status, 200);
    EXPECT_EQ(slow.etag, 2U);
}

TEST_F(Unread, IsPatchedByATransactionThoughItIsWrittenMeanwhile) {
    hold_first_read();
    Answer slow;
    std::thread patcher([&] {
        slow = send(
            "POST", "/",
            R"({"resourceType":"Bundle","type":"transaction","entry":[)"
            R"({"request":{"method":"PATCH","url":"Patient/1"},"resource":{"resourceType":"Binary",)"
            R"("contentType":"application/json-patch+json","data":"W10="}},)"
            R"({"request":{"method":"PUT","url":"Patient?active=true"},)"
            R"("resource":{"resourceType":"Patient"}}]})");
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    disk_->hold_syncs();
    std::thread writer([&] { EXPECT_EQ(put_patient("1", "Three"), 200); });
    disk_->await_held_sync();
    go_on_.set_value();
    // The patch is decided again while the update is in flight, and then the criteria are.
    std::this_thread::sleep_for(30ms);
    disk_->release_syncs();
    writer.join();
    patcher.join();
    EXPECT_EQ(slow.status, 200) << slow.body;
    EXPECT_EQ(send("GET", "/Patient/1").etag, 4U);
}

TEST_F(Unread, IsNotWaitedForWhereASubscriptionNamesIt) {
    core::Config config;
    config.auth.mode = "jwt";
    const core::Principal writer("x", "system/*.cruds");
    send_as(&writer);
    for (const std::string id : {"v", "w"}) {
        const std::string value_set = fmt::format(
            R"({{"resourceType":"ValueSet","id":"{0}","url":"http://{0}","status":"active",)"
            R"("compose":{{"include":[{{"system":"http://s","concept":[{{"code":"a"}}]}}]}}}})",
            id);
        ASSERT_EQ(send("PUT", "/ValueSet/" + id, value_set).status, 201);
    }
    const auto subscription = [](std::string_view value_set) {
        return fmt::format(
            R"({{"resourceType":"Subscription","id":"{0}","status":"requested","reason":"x",)"
            R"("criteria":"Observation?code:in=http://{0}","channel":{{"type":"websocket"}}}})",
            value_set);
    };
    const std::string transaction = fmt::format(
        R"({{"resourceType":"Bundle","type":"transaction","entry":[{{"resource":{},"request":)"
        R"({{"method":"PUT","url":"Subscription/w"}}}}]}})",
        subscription("w"));
    for (const bool alone : {true, false}) {
        restart(config);  // forgets what is in memory
        const std::uint64_t looks = disk_->memory_looks();
        const Answer answer = alone ? send("PUT", "/Subscription/v", subscription("v"))
                                    : send("POST", "/", transaction);
        EXPECT_EQ(answer.status, alone ? 201 : 200) << answer.body;
        EXPECT_GT(disk_->memory_looks(), looks) << alone;
    }
    const core::Principal other("x", "system/Subscription.cu");
    send_as(&other);
    EXPECT_EQ(send("PUT", "/Subscription/v", subscription("v")).status, 403);
    send_as(nullptr);
}

TEST_F(Unread, IsLookedThroughForAnEarlierPositionAndKeepsNobodyElseWaiting) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    restart_on(disk_);
    const Position then = store().last_position();
    const TypeId type = *find_resource_type("Patient");
    for (int round = 0; store().search(type)->vacuumed_through <= then; ++round) {
        ASSERT_LT(round, 3000);
        ASSERT_EQ(put_patient("3", "Three"), 200);
        send("GET", "/Patient?family=Three");  // makes the index take in what was written
    }
    restart_on(disk_);  // nothing is known to be in memory
    hold_first_read();
    Answer slow;
    std::thread reader([&] {
        slow = send("GET", "/Patient?family=Two&_count=0&_asOf=" + std::to_string(then.value));
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    go_on_.set_value();
    reader.join();
    EXPECT_TRUE(slow.says(R"("total":3)")) << slow.body;
}

TEST_F(UnreadApart, IsNotRestoredOnceItIsErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    EXPECT_EQ(
        send("PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a",)" + kFiller + "}").status,
        200);
    restart(config);  // nothing is known to be in memory
    EXPECT_EQ(send("GET", "/Patient/a/_history/1").status, 200);
    hold_first_read();  // that of the newest version
    Answer slow;
    std::thread writer([&] { slow = send("POST", "/Patient/a/$restore?version=1"); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(send("DELETE", "/Patient/a/_history/1").status, 204);
    go_on_.set_value();
    writer.join();
    EXPECT_EQ(slow.status, 404) << slow.body;
}

TEST_F(UnreadApart, IsNotAnEmptyEverythingOnceItIsErased) {
    hold_first_read();  // of what belongs to it
    Answer slow;
    std::thread reader([&] { slow = send("GET", "/Patient/a/$everything"); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(send("POST", "/Patient/a/$purge").status, 200);
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(slow.status, 404) << slow.body;
}

TEST_F(UnreadApart, LeadsToEverythingIfOnlyTheVersionReadIsErased) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    hold_first_read();  // of what belongs to it
    Answer slow;
    std::thread reader([&] { slow = send("GET", "/Patient/a/$everything"); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(
        send("PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a",)" + kFiller + "}").status,
        200);
    EXPECT_EQ(send("DELETE", "/Patient/a/_history/1").status, 204);
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(slow.status, 200) << slow.body;
    EXPECT_TRUE(slow.says("Observation")) << slow.body;
}

TEST_F(UnreadApart, IsNotComparedOnceItIsErased) {
    EXPECT_EQ(send("PUT", "/Observation/1",
                   R"({"resourceType":"Observation","id":"1","status":"amended",)" + kFiller +
                       R"(,"code":{"text":"x"},"subject":{"reference":"Patient/a"}})")
                  .status,
              200);
    core::Config config;
    config.auth.mode = "jwt";
    restart(config);
    const core::Principal held("x", "patient/*.cruds", "a");
    const core::Principal administrator("y", "system/*.cruds");
    send_as(&held);
    EXPECT_EQ(send("GET", "/Observation/1").status, 200);
    hold_first_read();  // of the version before, to see whose it is
    Answer slow;
    std::thread reader([&] { slow = send("GET", "/Observation/1/$diff"); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    send_as(&administrator);
    EXPECT_EQ(send("POST", "/Patient/a/$purge").status, 200);
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(slow.status, 404) << slow.body;
}

TEST_F(UnreadApart, IsReadSideBySideForASort) {
    std::promise<void> another;
    std::mutex mutex;
    std::set<std::thread::id> readers;
    disk_->on_will_read([&] {
        {
            const std::lock_guard lock(mutex);
            if (!readers.insert(std::this_thread::get_id()).second) {
                return;
            }
            if (readers.size() == 2) {
                another.set_value();
            }
            if (readers.size() > 1) {
                return;
            }
        }
        go_on_.get_future().wait();
    });
    Answer slow;
    std::thread reader([&] { slow = send("GET", "/Patient?gender=other&_sort=-_id&_count=1"); });
    EXPECT_EQ(another.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    go_on_.set_value();
    reader.join();
    EXPECT_TRUE(slow.says(R"("id":"c")")) << slow.body.substr(0, 500);
}

TEST_F(UnreadApart, IsReadBeforeWhatItLeadsTo) {
    EXPECT_EQ(send("GET", "/Observation/1").status, 200);  // is in memory from now on
    std::atomic<int> reads = 0;
    disk_->on_will_read([this, &reads] {
        if (++reads == 1) {
            reading_.set_value();
            go_on_.get_future().wait();
        }
    });
    Answer slow;
    std::thread reader([&] {
        slow = send("GET",
                    "/Observation?_id=1&_include=Observation:subject"
                    "&_include:iterate=Patient:organization");
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(put_patient("4"), 201);
    EXPECT_EQ(reads, 1) << "what the patient leads to was known without reading it";
    go_on_.set_value();
    reader.join();
    EXPECT_TRUE(slow.says(R"("id":"o")"));
}

TEST_F(Unread, IsReadWhenAFileOfAJobIsFetchedWhileOthersGoOn) {
    std::string notes(storage::kPageBytes, 'x');
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(put_patient(std::to_string(100 + i), notes), 201);
    }
    const Answer begun = send("GET", "/$export", {}, {{"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202);
    service().jobs().wait_until_idle();
    const Answer manifest = send("GET", begun.content_location.substr(kBaseUrl.size()));
    const std::size_t url = manifest.body.find(std::string(kBaseUrl) + "/_jobs/");
    ASSERT_NE(url, std::string::npos) << manifest.body;
    const std::string path = manifest.body.substr(
        url + kBaseUrl.size(), manifest.body.find('"', url) - url - kBaseUrl.size());
    hold_first_read();
    Answer file;
    std::thread reader([&] { file = send("GET", path); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    EXPECT_EQ(put_patient("4"), 201);  // on the same thread
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(file.status, 200);
    EXPECT_GT(file.slices, 1U);
    EXPECT_EQ(std::count(file.body.begin(), file.body.end(), '\n'), 303);

    const Answer range = send("GET", path, {}, {{"Range", "bytes=1-1000000"}});
    EXPECT_EQ(range.status, 206);
    EXPECT_EQ(range.body, file.body.substr(1, 1'000'000));
}

TEST_F(Unread, IsFetchedToTheEndBeforeALoopIsGone) {
    hold_first_read();
    auto loop = std::make_unique<core::Loop>(store());
    std::thread thread([&] { loop->run(); });
    bool ended = false;
    loop->post([&] {
        core::spawn(*loop, "test", [](core::Loop& of, bool& end) -> asio::awaitable<void> {
            co_await of.fetched({Position{1}});
            end = true;
        }(*loop, ended));
    });
    reading_.get_future().wait();
    loop->stop();
    thread.join();
    std::thread releaser([&] { go_on_.set_value(); });
    loop.reset();
    releaser.join();
    EXPECT_FALSE(ended);
}

}  // namespace
}  // namespace annals::test
