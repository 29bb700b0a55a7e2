// Answers for which the device has to be waited for: on a disk whose mapped bytes nobody has in memory.

#include "core/access.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace annals::test {
namespace {

using std::chrono_literals::operator""ms;
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
    // The patch is looked at again while the update is in flight, and then the criteria are.
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
        restart(config);  // what is in memory is not known any more
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
    hold_first_read();  // that of the version before: whether it is the patient's
    Answer slow;
    std::thread reader([&] { slow = send("GET", "/Observation/1/$diff"); });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready);
    send_as(&administrator);
    EXPECT_EQ(send("POST", "/Patient/a/$purge").status, 200);
    go_on_.set_value();
    reader.join();
    EXPECT_EQ(slow.status, 404) << slow.body;
}

/// What has to look at stored bodies before it writes or answers.
core::Config by_default() {
    return {};
}

struct Looking {
    const char* name;
    const char* method;
    std::string target;
    std::string body;
    int status;
    const char* says;
    int records;  ///< so many are read, or more
    core::Config (*config)() = by_default;
    const char* patient = "";  ///< not empty: the sender is held to what is this one's
    const char* if_none_exist = "";

    friend void PrintTo(const Looking& looking, std::ostream* out) {
        *out << looking.method << ' ' << looking.target;
    }
};

class UnreadLooking : public UnreadApart, public testing::WithParamInterface<Looking> {
  protected:
    /// The first record is waited for by itself; of the others it is enough that somebody had them read.
    static constexpr int kReadsOfARecord = 3;

    void fill() {
        const std::string filler = kFiller + ",";
        put("Patient/a", R"("gender":"male")");
        put("Observation/tagged", filler + R"("meta":{"tag":[{"code":"t1"}]},"status":"final",)"
                                           R"("code":{"text":"x"})");
        put("Observation/tagged2", filler + R"("meta":{"tag":[{"code":"t2"}]},"status":"final",)"
                                            R"("code":{"text":"x"})");
        put("Composition/c", filler + R"("status":"final","type":{"text":"t"},"date":"2026",)"
                                      R"("author":[{"reference":"Organization/o"}],"title":"t",)"
                                      R"("subject":{"reference":"Patient/b"})");
        put("GraphDefinition/g",
            filler + R"("url":"http://x/g","name":"G","status":"active","start":"Composition",)"
                     R"("link":[{"path":"Composition.subject","target":[{"type":"Patient","link":[)"
                     R"({"path":"managingOrganization","target":[{"type":"Organization"}]}]}]}])");
        put("CodeSystem/s", filler + R"("url":"http://x/s","status":"active","content":"complete",)"
                                     R"("concept":[{"code":"k"}])");
        put("ValueSet/v", filler + R"("url":"http://x/v","status":"active",)"
                                   R"("compose":{"include":[{"system":"http://x/s"}]})");
        put("List/l", filler + R"("status":"current","mode":"working",)"
                               R"("entry":[{"item":{"reference":"Patient/b"}}])");
        put("Observation/coded", R"("status":"final","code":{"coding":[)"
                                 R"({"system":"http://x/s","code":"k"}]})");
        put("Group/g", filler + R"("type":"person","actual":true,)"
                                R"("member":[{"entity":{"reference":"Patient/b"}}])");
        EXPECT_EQ(
            send("POST", "/$closure", parameters(R"({"name":"name","valueString":"mine"})")).status,
            200);
        put("StructureDefinition/p",
            R"("url":"http://x/p","name":"P","status":"active","kind":"resource","abstract":false,)"
            R"("type":"Observation","derivation":"constraint",)"
            R"("baseDefinition":"http://hl7.org/fhir/StructureDefinition/Observation",)"
            R"("differential":{"element":[{"id":"Observation.subject",)"
            R"("path":"Observation.subject","min":1}]})");
        EXPECT_EQ(send("DELETE", "/Patient/3").status, 204);
    }

    void fill_for_a_patient() {
        put("Composition/ofa", kFiller + R"(,"status":"final","type":{"text":"t"},"date":"2026",)"
                                         R"("author":[{"reference":"Patient/a"}],"title":"t",)"
                                         R"("subject":{"reference":"Patient/a"})");
        put("Observation/beside",
            kFiller +
                R"(,"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"},)"
                R"("performer":[{"reference":"Patient/b"}])");
        put("Encounter/e", kFiller + R"(,"status":"finished","class":{"code":"AMB"},)"
                                     R"("subject":{"reference":"Patient/a"})");
        EXPECT_EQ(send("DELETE", "/Encounter/e").status, 204);
    }

    void put(std::string_view name, std::string_view members) {
        const std::size_t slash = name.find('/');
        const Answer answer =
            send("PUT", "/" + std::string(name),
                 fmt::format(R"({{"resourceType":"{}","id":"{}",{}}})", name.substr(0, slash),
                             name.substr(slash + 1), members));
        EXPECT_LE(answer.status, 201) << name << answer.body;
    }

  public:
    static std::string parameters(std::string_view list) {
        return fmt::format(R"({{"resourceType":"Parameters","parameter":[{}]}})", list);
    }

    static std::string entry(std::string_view resource, std::string_view request) {
        return fmt::format(R"({{{}{}"request":{{{}}}}})", resource, resource.empty() ? "" : ",",
                           request);
    }

    static std::string bundle(std::string_view type, std::string_view entries) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type,
                           entries);
    }
};

TEST_P(UnreadLooking, KeepsNobodyElseWaiting) {
    fill();
    if (*GetParam().patient != '\0') {
        fill_for_a_patient();
    }
    restart(GetParam().config());
    std::atomic<int> reads = 0;
    disk_->on_will_read([&] {
        ++reads;
        if (!held_.exchange(true)) {
            reading_.set_value();
            go_on_.get_future().wait();
        }
    });
    const core::Principal held("x", "patient/*.cruds", GetParam().patient);
    const bool is_held = *GetParam().patient != '\0';
    send_as(is_held ? &held : nullptr);
    Answer slow;
    std::thread sender([&] {
        const bool patches = GetParam().method == std::string_view("PATCH");
        const bool exports = GetParam().target.ends_with("$export");
        slow = send(
            GetParam().method, GetParam().target, GetParam().body,
            {{"Content-Type", patches ? "application/json-patch+json" : "application/fhir+json"},
             {"Prefer", exports ? "respond-async" : "return=representation"},
             {*GetParam().if_none_exist != '\0' ? "If-None-Exist" : "X-None",
              GetParam().if_none_exist}});
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready)
        << "on the network thread";
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    EXPECT_EQ(put_patient("4"), is_held ? 404 : 201);
    go_on_.set_value();
    sender.join();
    EXPECT_EQ(slow.status, GetParam().status) << slow.body;
    EXPECT_TRUE(slow.says(GetParam().says)) << slow.body.substr(0, 2000);
    EXPECT_GE(reads, GetParam().records * kReadsOfARecord);
}

core::Config with_integrity() {
    core::Config config;
    config.integrity_on_delete = true;
    return config;
}

core::Config with_scopes() {
    core::Config config;
    config.auth.mode = "jwt";
    return config;
}

core::Config with_scopes_and_integrity() {
    core::Config config = with_scopes();
    config.integrity_on_write = true;
    return config;
}

core::Config in_full() {
    core::Config config;
    config.validation = "full";
    return config;
}

const char* const kPatch = R"([{"op":"replace","path":"/gender","value":"unknown"}])";

std::vector<Looking> lookings() {
    using Test = UnreadLooking;
    const std::string patch = fmt::format(
        R"("resource":{{"resourceType":"Binary","contentType":"application/json-patch+json","data":"{}"}})",
        "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9nZW5kZXIiLCJ2YWx1ZSI6InVua25vd24ifV0=");
    const std::string observation =
        R"("resource":{"resourceType":"Observation","status":"final","code":{"text":"new"},)"
        R"("subject":{"reference":"Patient?_id=b&gender=other"}})";
    const std::string validated =
        R"({"resourceType":"Observation","id":"1","meta":{"versionId":"9","profile":["http://x/p"]},)"
        R"("status":"final","code":{"text":"x"}})";
    const std::string new_patient = R"("resource":{"resourceType":"Patient"})";
    return {
        {"Patch", "PATCH", "/Patient/b", kPatch, 200, R"("gender":"unknown")", 1},
        {"Graphql", "POST", "/$graphql",
         R"({"query":"{Patient(id:\"b\"){gender managingOrganization{resource{language}}}}"})", 200,
         R"({"gender":"other","managingOrganization":{"resource":{"language":"en"}}})", 2},
        {"GraphqlOfAResource", "POST", "/Observation/1/$graphql",
         R"({"query":"{status subject{resource(type:Patient){gender}}}"})", 200,
         R"({"status":"final","subject":{"resource":{"gender":"male"}}})", 1},
        {"GraphqlThatFilters", "POST", "/$graphql",
         R"({"query":"{PatientList(_id:[a b c],_sort:\"_id\",fhirpath:\"gender='other'\"){id}}"})",
         200, R"([{"id":"b"},{"id":"c"}])", 3},
        {"GraphqlWithAList", "POST", "/$graphql",
         R"({"query":"{PatientList(_list:l){id gender}}"})", 200,
         R"([{"id":"b","gender":"other"}])", 2},
        {"GraphqlOfSomebodyHeld", "POST", "/Patient/b/$graphql",
         R"({"query":"{gender managingOrganization{resource(optional:true){id}}}"})", 200,
         R"({"gender":"other","managingOrganization":{"resource":null}})", 1, with_scopes, "b"},
        {"ConditionalPatch", "PATCH", "/Patient?_id=b", kPatch, 200, R"("gender":"unknown")", 1},
        {"TransactionWithPatches", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(patch, R"("method":"PATCH","url":"Patient/b")") + "," +
                          Test::entry(patch, R"("method":"PATCH","url":"Patient?_id=c")")),
         200, R"("gender":"unknown")", 2},
        {"TransactionWithConditionalCreates", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(new_patient,
                         R"("method":"POST","url":"Patient","ifNoneExist":"_id=b&gender=other")") +
                 "," +
                 Test::entry(
                     new_patient,
                     R"("method":"POST","url":"Patient","ifNoneExist":"_id=c&gender=other")")),
         200, R"("id":"c")", 2},
        {"TransactionWithCriteriaOfBodies", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(new_patient, R"("method":"POST","url":"Patient",)"
                                               R"("ifNoneExist":"_id=2&_content=Two")")),
         200, R"("id":"2")", 1},
        {"TransactionWithConditionalUpdate", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(new_patient, R"("method":"PUT","url":"Patient?_id=b")")),
         200, R"("id":"b")", 1},
        {"TransactionWithConditionalDelete", "POST", "/",
         Test::bundle("transaction", Test::entry("", R"("method":"DELETE","url":"Patient?_id=b")")),
         200, R"("204)", 1},
        {"TransactionWithConditionalReferences", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(observation, R"("method":"POST","url":"Observation")")),
         200, R"("reference":"Patient/b")", 1},
        {"DeleteOfWhatIsReferredTo", "DELETE", "/Organization/o", "", 409, "Patient/b", 2,
         with_integrity},
        {"HistoryAgain", "POST", "/",
         Test::bundle(
             "history",
             Test::entry(
                 R"("fullUrl":"http://x/Patient/1","resource":{"resourceType":"Patient","id":"1",)"
                 R"("meta":{"versionId":"1"},"name":[{"family":"Other"}]})",
                 R"("method":"PUT","url":"Patient/1")")),
         200, "differs", 1},
        {"Undo", "POST", "/$undo",
         Test::parameters(R"({"name":"from","valueDecimal":12},{"name":"to","valueDecimal":12})"),
         200, R"("reference","valueString":"Patient/a")", 2},
        {"Purge", "POST", "/Patient/a/$purge", "", 200, R"("name":"versions","valueInteger":3)", 7},
        {"PurgeToTry", "POST", "/Patient/a/$purge",
         Test::parameters(R"({"name":"dryRun","valueBoolean":true})"), 200, "sha256", 7},
        {"Document", "GET", "/Composition/c/$document", "", 200, R"("id":"b")", 3},
        {"DocumentByAGraph", "GET", "/Composition/c/$document?graph=http://x/g", "", 200,
         R"("id":"o")", 4},
        {"Diff", "GET", "/Patient/a/$diff", "", 200, "gender", 2},
        {"DiffOfTwo", "GET", "/$diff?from=Patient/b&to=Patient/c", "", 200, "Parameters", 2},
        {"Meta", "GET", "/Patient/a/$meta", "", 200, "versionId", 1},
        {"MetaOfAVersion", "GET", "/Patient/a/_history/1/$meta", "", 200, "versionId", 1},
        {"MetaOfAType", "GET", "/Observation/$meta", "", 200, "t2", 2},
        {"MetaAdd", "POST", "/Patient/a/$meta-add",
         Test::parameters(R"({"name":"meta","valueMeta":{"tag":[{"code":"t3"}]}})"), 200, "t3", 1},
        {"Validate", "GET", "/Patient/a/$validate", "", 200, "OperationOutcome", 1},
        {"Closure", "POST", "/$closure",
         Test::parameters(R"({"name":"name","valueString":"mine"},)"
                          R"({"name":"version","valueString":"0"})"),
         200, "ConceptMap", 1},
        {"RestoreVersion", "POST", "/Patient/a/$restore",
         Test::parameters(R"({"name":"version","valueString":"1"})"), 200, R"("gender":"other")",
         2},
        {"SearchOfAList", "GET", "/Patient?_list=l&_elements=id", "", 200, R"("id":"b")", 2},
        {"SearchInAValueSet", "GET", "/Observation?code:in=http://x/v", "", 200, R"("id":"coded")",
         3},
        {"ExportOfAGroup", "GET", "/Group/g/$export", "", 202, "", 1},
        {"ReadByAPatient", "GET", "/Patient/a", "", 200, "male", 1, with_scopes, "a"},
        {"VersionReadByAPatient", "GET", "/Patient/a/_history/2", "", 200, "male", 1, with_scopes,
         "a"},
        {"HistoryOfAPatient", "GET", "/Patient/a/_history", "", 200, "male", 2, with_scopes, "a"},
        {"HistoryForAPatient", "GET", "/Patient/_history", "", 200, "male", 6, with_scopes, "a"},
        {"UpdateByAPatient", "PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a"})", 200,
         R"("versionId":"3")", 1, with_scopes, "a"},
        {"DeleteByAPatient", "DELETE", "/Observation/1", "", 204, "", 1, with_scopes, "a"},
        {"CreateThatRefersByAPatient", "POST", "/Observation",
         R"({"resourceType":"Observation","status":"final","code":{"text":"x"},)"
         R"("subject":{"reference":"Patient/a"},"hasMember":[{"reference":"Observation/1"}]})",
         201, R"("id")", 1, with_scopes_and_integrity, "a"},
        {"TransactionByAPatient", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(R"("resource":{"resourceType":"Patient","id":"a","gender":"unknown"})",
                         R"("method":"PUT","url":"Patient/a")")),
         200, R"("gender":"unknown")", 1, with_scopes, "a"},
        {"ExpandByUrl", "GET", "/ValueSet/$expand?url=http://x/v", "", 200, R"("code":"k")", 2},
        {"Lookup", "GET", "/CodeSystem/$lookup?system=http://x/s&code=k", "", 200, "display", 2},
        {"Expand", "GET", "/ValueSet/v/$expand", "", 200, R"("code":"k")", 1},
        {"Digest", "GET", "/$digest", "", 200, "Patient/a/_history/1", 10},
        {"ConditionalCreateByAList", "POST", "/Patient", R"({"resourceType":"Patient"})", 200,
         R"("id":"b")", 2, by_default, "", "_list=l"},
        {"ConditionalUpdateByAList", "PUT", "/Patient?_list=l", R"({"resourceType":"Patient"})",
         200, R"("id":"b")", 2},
        {"ConditionalPatchByAList", "PATCH", "/Patient?_list=l", kPatch, 200,
         R"("gender":"unknown")", 2},
        {"ConditionalDeleteByAValueSet", "DELETE", "/Observation?code:in=http://x/v", "", 204, "",
         3},
        {"TransactionWithCriteriaOfAList", "POST", "/",
         Test::bundle("transaction", Test::entry(new_patient, R"("method":"POST","url":"Patient",)"
                                                              R"("ifNoneExist":"_list=l")")),
         200, R"("id":"b")", 2},
        {"TransactionWithConditionalReferencesByAList", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(R"("resource":{"resourceType":"Observation","status":"final",)"
                         R"("code":{"text":"new"},"subject":{"reference":"Patient?_list=l"}})",
                         R"("method":"POST","url":"Observation")")),
         200, R"("reference":"Patient/b")", 2},
        {"LastnOfAValueSet", "GET", "/Observation/$lastn?patient=b&code:in=http://x/v", "", 200,
         "searchset", 2},
        {"CreateValidatedInFull", "POST", "/Observation", validated, 422, "at least 1 of subject",
         1, in_full},
        {"UpdateValidatedInFull", "PUT", "/Observation/1", validated, 422, "at least 1 of subject",
         1, in_full},
        {"PatchValidatedInFull", "PATCH", "/Observation/coded",
         R"([{"op":"add","path":"/meta/profile","value":["http://x/p"]}])", 422,
         "at least 1 of subject", 2, in_full},
        {"TransactionValidatedInFull", "POST", "/",
         Test::bundle("transaction", Test::entry("\"resource\":" + validated,
                                                 R"("method":"PUT","url":"Observation/1")")),
         400, "at least 1 of subject", 1, in_full},
        {"HistoryValidatedInFull", "POST", "/",
         Test::bundle("history",
                      Test::entry(R"("fullUrl":"http://x/Observation/1","resource":)" + validated,
                                  R"("method":"PUT","url":"Observation/1")")),
         200, "at least 1 of subject", 1, in_full},
        {"IncludeForAPatient", "GET", "/Composition?_id=ofa&_include=Composition:subject", "", 200,
         R"("gender":"male")", 2, with_scopes, "a"},
        {"IncludeOfWhatIsNotShownToAPatient", "GET",
         "/Observation?_id=beside&_include=Observation:performer", "", 200, "beside", 2,
         with_scopes, "a"},
        {"DiffOfWhatIsNotShownToAPatient", "GET", "/$diff?from=Patient/b&to=Patient/a", "", 404,
         "Patient/b does not exist", 1, with_scopes, "a"},
        {"DiffByAPatient", "GET", "/Patient/a/$diff", "", 200, "gender", 2, with_scopes, "a"},
        {"DiffOfTwoByAPatient", "GET", "/$diff?from=Patient/a/_history/1&to=Patient/a", "", 200,
         "gender", 2, with_scopes, "a"},
        {"HistoryOfWhatWasDeletedForAPatient", "GET", "/Encounter/_history", "", 200, "DELETE", 2,
         with_scopes, "a"},
        {"DocumentForAPatient", "GET", "/Composition/ofa/$document", "", 200, R"("gender":"male")",
         2, with_scopes, "a"},
        {"EverythingForAPatient", "GET", "/Patient/a/$everything", "", 200, R"("id":"ofa")", 2,
         with_scopes, "a"},
    };
}

INSTANTIATE_TEST_SUITE_P(Answers, UnreadLooking, testing::ValuesIn(lookings()),
                         [](const auto& info) { return std::string(info.param.name); });

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
    EXPECT_EQ(put_patient("4"), 201);  // by the same thread
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
