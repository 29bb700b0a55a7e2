// Answers for which the device has to be waited for: on a disk whose mapped bytes nobody has in memory.

#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <ostream>
#include <set>
#include <string>
#include <thread>

namespace annals::test {
namespace {

using std::chrono_literals::operator""s;

class Unread : public ServiceFixture {
  protected:
    Unread() {
        restart_on(disk_);
        for (const std::string id : {"1", "2", "3"}) {
            EXPECT_EQ(put_patient(id, "One"), 201);
            EXPECT_EQ(put_patient(id, "Two"), 200);
        }
        disk_->forget_all();
    }

    /// Sends it twice: what the second time is in memory is answered as it was the first time.
    Answer send_twice(std::string_view method, std::string_view target, std::string_view body = {},
                      const Headers& headers = {}) {
        const std::uint64_t looks = disk_->memory_looks();
        Answer first = send(method, target, body, headers);
        EXPECT_GT(disk_->memory_looks(), looks);
        const Answer second = send(method, target, body, headers);
        EXPECT_EQ(first.status, second.status);
        EXPECT_EQ(first.etag, second.etag);
        return first;
    }

    /// The device is at the first read, `reading_` says, until `go_on_` does.
    void hold_first_read() {
        disk_->on_will_read([this] {
            if (!held_.exchange(true)) {
                reading_.set_value();
                go_on_.get_future().wait();
            }
        });
    }

    std::atomic<bool> held_ = false;  ///< Several threads read.
    std::promise<void> reading_;
    std::promise<void> go_on_;
    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
};

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
    ASSERT_EQ(send("PUT", "/Observation/1",
                   R"({"resourceType":"Observation","id":"1","status":"final",)"
                   R"("code":{"coding":[{"code":"weight"}]},"subject":{"reference":"Patient/1"}})")
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
                    Waiting{"Lastn", "/Observation/$lastn?patient=1&code=weight", "weight"}),
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

TEST_F(Unread, IsLookedThroughForAnEarlierPositionAndKeepsNobodyElseWaiting) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    restart_on(disk_);
    const Position then = store().last_position();
    const TypeId type = *find_resource_type("Patient");
    for (int round = 0; store().search(type)->vacuumed_through <= then; ++round) {
        ASSERT_LT(round, 3000);
        ASSERT_EQ(put_patient("3", "Three"), 200);
        send("GET", "/Patient?family=Three");  // has the index take in what was written
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

/// Resources that lie in pages of their own.
class UnreadApart : public Unread {
  protected:
    UnreadApart() {
        for (const std::string id : {"a", "b", "c"}) {
            EXPECT_EQ(
                send("PUT", "/Patient/" + id,
                     R"({"resourceType":"Patient","id":")" + id + R"(","gender":"other",)" +
                         kFiller + R"(,"managingOrganization":{"reference":"Organization/o"}})")
                    .status,
                201);
        }
        EXPECT_EQ(send("PUT", "/Organization/o",
                       R"({"resourceType":"Organization","id":"o",)" + kFiller + "}")
                      .status,
                  201);
        EXPECT_EQ(send("PUT", "/Observation/1",
                       R"({"resourceType":"Observation","id":"1","status":"final",)" + kFiller +
                           R"(,"code":{"text":"x"},"subject":{"reference":"Patient/a"}})")
                      .status,
                  201);
        restart_on(disk_);
    }

    const std::string kFiller =
        R"("language":"en","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">)" +
        std::string(3 * storage::kPageBytes, 'x') + R"(</div>"})";
};

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
    EXPECT_EQ(send("GET", "/Observation/1").status, 200);  // is in memory now
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
