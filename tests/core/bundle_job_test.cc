// Bundles answered asynchronously, over requests and answers, and their job by itself when it is stopped.

#include "core/interactions/bundle_job.h"

#include "codec/json/document.h"
#include "core/jobs/access_log.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using testing::HasSubstr;

std::string bundle_with(std::string_view type, std::string_view entries) {
    return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type, entries);
}

std::string put_entry(std::string_view id, std::string_view more = "") {
    return fmt::format(
        R"({{"resource":{{"resourceType":"Patient","id":"{0}"{1}}},"request":{{"method":"PUT","url":"Patient/{0}"}}}})",
        id, more);
}

std::string history_entry(std::string_view id, int version) {
    return fmt::format(
        R"({{"fullUrl":"http://s/Patient/{0}","resource":{{"resourceType":"Patient","id":"{0}","meta":{{"versionId":"{1}","lastUpdated":"2020-01-01T00:00:00.000Z"}}}},"request":{{"method":"PUT","url":"Patient/{0}"}},"response":{{"status":"200"}}}})",
        id, version);
}

class BundleJobTest : public test::ServiceFixture {
  protected:
    Answer begin(std::string_view body, std::string_view prefer = "respond-async") {
        return send("POST", "/", body,
                    {{"Content-Type", "application/fhir+json"}, {"Prefer", std::string(prefer)}});
    }

    std::string path_of(const Answer& begun) {
        EXPECT_EQ(begun.status, 202) << begun.body;
        EXPECT_EQ(begun.header("Preference-Applied"), "respond-async");
        EXPECT_TRUE(begun.content_location.starts_with(fmt::format("{}/_jobs/", kBaseUrl)));
        return begun.content_location.substr(kBaseUrl.size());
    }

    /// The status' final answer.
    Answer finish(const Answer& begun) {
        const std::string path = path_of(begun);
        service().jobs().wait_until_idle();
        return send("GET", path);
    }

    Answer run(std::string_view body) { return finish(begin(body)); }
};

TEST_F(BundleJobTest, OfABatchAnswersWhatTheBatchAnswers) {
    const std::string entries =
        put_entry("a") + "," + put_entry("b", R"(,"birthDate":"never")") +
        R"(,{"request":{"method":"GET","url":"Patient/a"}},{"request":{"method":"GET","url":"Patient/none"}})";
    const Answer answer = run(bundle_with("batch", entries));
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.content_type, "application/fhir+json; charset=utf-8");
    EXPECT_FALSE(answer.header("Expires").empty());
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    ASSERT_TRUE(document) << answer.body;
    const json::Value root = document->root();
    EXPECT_TRUE(root["type"].equals("batch-response"));
    ASSERT_EQ(root["entry"].size(), 1U);
    const json::Value entry = *root["entry"].elements().begin();
    EXPECT_TRUE(entry["response"]["status"].equals("200 OK"));
    const json::Value inner = entry["resource"];
    EXPECT_TRUE(inner["type"].equals("batch-response"));
    std::vector<std::string> statuses;
    for (const json::Value one : inner["entry"].elements()) {
        statuses.push_back(one["response"]["status"].string().substr(0, 3));
    }
    EXPECT_THAT(statuses, testing::ElementsAre("201", "400", "200", "404"));
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(BundleJobTest, OfATransactionSaysWhetherItFailed) {
    const Answer done = run(bundle_with("transaction", put_entry("a") + "," + put_entry("b")));
    EXPECT_TRUE(done.says(R"("type":"transaction-response")")) << done.body;
    EXPECT_EQ(send("GET", "/Patient/b").status, 200);
    const Answer failed =
        run(bundle_with("transaction", put_entry("c") + "," + put_entry("d", R"(,"active":7)")));
    EXPECT_EQ(failed.status, 200);
    EXPECT_TRUE(failed.says(
        R"({"response":{"status":"400 Bad Request","outcome":{"resourceType":"OperationOutcome")"))
        << failed.body;
    EXPECT_EQ(send("GET", "/Patient/c").status, 404);
}

TEST_F(BundleJobTest, OfAHistoryTakesItsVersions) {
    const Answer done =
        run(bundle_with("history", history_entry("a", 3) + "," + history_entry("a", 7)));
    EXPECT_TRUE(done.says(R"("status":"201 Created")")) << done.body;
    EXPECT_EQ(send("GET", "/Patient/a").etag, 7U);
}

TEST_F(BundleJobTest, KnowsWhichEntriesOfItsXmlCouldNotBeRead) {
    const std::string xml =
        R"(<Bundle xmlns="http://hl7.org/fhir"><type value="batch"/><entry><fullUrl value="urn:x"/><resource>)"
        R"(<Patient><id value="a"/><active value="x"/></Patient></resource><request><method value="PUT"/>)"
        R"(<url value="Patient/a"/></request></entry><entry><resource><Patient><id value="b"/></Patient></resource>)"
        R"(<request><method value="PUT"/><url value="Patient/b"/></request></entry></Bundle>)";
    const Answer done = finish(send(
        "POST", "/", xml,
        {{"Content-Type", "application/fhir+xml"}, {"Prefer", "respond-async, return=minimal"}}));
    EXPECT_TRUE(done.says(R"("fullUrl":"urn:x","response":{"status":"400 Bad Request")"))
        << done.body;
    EXPECT_TRUE(done.says(R"("code":"value")")) << done.body;
    EXPECT_TRUE(done.says(R"("expression":["Bundle.entry[0].resource.active"])")) << done.body;
    EXPECT_EQ(send("GET", "/Patient/a").status, 404);
    EXPECT_EQ(send("GET", "/Patient/b").status, 200);
}

TEST_F(BundleJobTest, HoldsToWhatElseIsPreferred) {
    const Answer done =
        finish(begin(bundle_with("batch", put_entry("a")), "return=minimal, respond-async"));
    EXPECT_TRUE(done.says("201 Created")) << done.body;
    EXPECT_FALSE(done.says(R"("id":"a")")) << done.body;
}

TEST_F(BundleJobTest, IsAnsweredInTheRepresentationThatItsReaderAsksFor) {
    const Answer begun = begin(bundle_with("batch", put_entry("a")));
    const Answer xml = finish(begun);
    const std::string path = path_of(begun);
    const Answer as_xml = send("GET", path + "?_format=xml");
    EXPECT_TRUE(as_xml.body.starts_with("<")) << as_xml.body;
    EXPECT_TRUE(as_xml.says(R"(<type value="batch-response"/>)")) << as_xml.body;
    EXPECT_TRUE(send("GET", path + "?_pretty=true").says("\n  \"type\"")) << "indented";
    EXPECT_EQ(send("GET", path + "/answer.json").status, 404);
    EXPECT_EQ(send("GET", path + "/bundle.json").status, 404);
    EXPECT_FALSE(std::filesystem::exists(data() + "/jobs" + path.substr(6) + "/bundle.json"));
}

TEST_F(BundleJobTest, BeginsNothingOfWhatIsUnfit) {
    Config config;
    config.limits.max_bundle_entries = 2;
    config.allow_history_bundles = false;
    restart(config);
    const auto status = [&](std::string_view body) { return begin(body).status; };
    EXPECT_EQ(status("{"), 400);
    EXPECT_EQ(status(R"({"resourceType":"Patient"})"), 400);
    EXPECT_EQ(status(bundle_with("collection", "")), 400);
    EXPECT_EQ(status(R"({"resourceType":"Bundle","type":"batch","entry":{}})"), 400);
    EXPECT_EQ(status(bundle_with("batch", "{},{},{}")), 413);
    EXPECT_EQ(status(bundle_with("history", "")), 405);
    EXPECT_FALSE(std::filesystem::exists(data() + "/jobs"));
    EXPECT_EQ(begin(bundle_with("batch", put_entry("a")), "respond-later").status, 200);
    // Elements that can't be entries fail by themselves.
    EXPECT_TRUE(run(bundle_with("batch", "{},7")).says(R"("status":"400 Bad Request")"));
    EXPECT_TRUE(run(bundle_with("batch", "")).says(R"("status":"200 OK")"));
}

TEST_F(BundleJobTest, MayDoWhatItsSenderMayAndIsForNobodyElse) {
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal nurse("nurse", "system/Patient.cru");
    send_as(&nurse);
    const Answer begun = begin(bundle_with(
        "batch",
        put_entry("a") +
            R"(,{"resource":{"resourceType":"Basic","code":{}},"request":{"method":"POST","url":"Basic"}})"));
    const Answer done = finish(begun);
    EXPECT_TRUE(done.says("201 Created")) << done.body;
    EXPECT_TRUE(done.says("403 Forbidden")) << done.body;
    EXPECT_EQ(begin(bundle_with("history", history_entry("h", 1))).status, 403);
    const Principal other("other", "system/Patient.cru");
    send_as(&other);
    EXPECT_EQ(send("GET", path_of(begun)).status, 404);
    EXPECT_EQ(send("DELETE", path_of(begun)).status, 404);
}

TEST_F(BundleJobTest, IsForgottenWhenItIsDeleted) {
    std::string entries = put_entry("p0");
    for (int i = 1; i < 2000; ++i) {
        entries += "," + put_entry(fmt::format("p{}", i));
    }
    const std::string path = path_of(begin(bundle_with("batch", entries)));
    EXPECT_EQ(send("DELETE", path).status, 202);
    EXPECT_EQ(send("GET", path).status, 404);
    service().jobs().wait_until_idle();
    EXPECT_TRUE(std::filesystem::is_empty(data() + "/jobs"));
    EXPECT_LT(put_patient("after"), 300);
}

TEST_F(BundleJobTest, IsThereAfterARestart) {
    const Answer begun = begin(bundle_with("batch", put_entry("a")));
    const std::string before = finish(begun).body;
    restart(Config());
    EXPECT_EQ(finish(begun).body, before);
}

/// Keeps its records in memory.
class MemoryLog : public AccessLog {
  public:
    bool reserve() noexcept override {
        const std::lock_guard lock(mutex_);
        return refused_-- <= 0 && ++taken_ > 0;
    }

    void release() noexcept override {
        const std::lock_guard lock(mutex_);
        --taken_;
    }

    void record(const Request& request, const Response& response, std::string_view job) override {
        const std::lock_guard lock(mutex_);
        --taken_;
        records_.push_back(fmt::format("{} {} {}", method_name(request.method), response.status,
                                       request.request_id));
        job_ = job;
        who_ = request.principal == nullptr ? "" : request.principal->name();
        for (const EntryTrace& entry : response.entries) {
            records_.push_back(
                fmt::format("{} {} {}", method_name(entry.method), entry.status, entry.reference));
        }
    }

    void refuse(int times) { refused_ = times; }

    int taken() const { return taken_; }

    const std::string& job() const { return job_; }

    const std::string& who() const { return who_; }

    const std::vector<std::string>& records() const { return records_; }

  private:
    std::mutex mutex_;
    int refused_ = 0;
    int taken_ = 0;
    std::string job_;
    std::string who_;
    std::vector<std::string> records_;
};

TEST_F(BundleJobTest, SaysToTheAuditLogWhatBecameOfTheEntries) {
    Config config;
    config.audit.file = data() + "/audit.log";
    restart(config);
    const auto log = std::make_shared<MemoryLog>();
    log->refuse(2);  // it waits for room
    service().jobs().set_access_log(log);
    const Answer begun = begin(bundle_with(
        "batch", put_entry("a") + R"(,{"request":{"method":"GET","url":"Patient/none"}})"));
    const std::string path = path_of(begun);
    service().jobs().wait_until_idle();
    EXPECT_THAT(log->records(),
                testing::ElementsAre(testing::StartsWith("POST 200 "),
                                     "PUT 201 Patient/a/_history/1", "GET 404 Patient/none"));
    EXPECT_TRUE(path.ends_with("/" + log->job())) << log->job();
    EXPECT_EQ(log->taken(), 0);
}

TEST_F(BundleJobTest, IsNotDoneBeforeItCanBeWrittenDown) {
    Config config;
    config.audit.file = data() + "/audit.log";
    restart(config);
    begin(bundle_with("batch", put_entry("a")));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(send("GET", "/Patient/a").status, 404);
    const auto log = std::make_shared<MemoryLog>();
    service().jobs().set_access_log(log);
    service().jobs().wait_until_idle();
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(log->records().size(), 2U);
}

TEST_F(BundleJobTest, SaysToTheAuditLogWhatIsAsked) {
    Config config;
    config.audit.file = data() + "/audit.log";
    restart(config);
    service().jobs().set_access_log(std::make_shared<MemoryLog>());
    const Answer begun = begin(bundle_with(
        "batch",
        put_entry("a") +
            R"(,{"request":{"method":"GET","url":"http://test/fhir/Patient?name=secret"}},5)"));
    ASSERT_EQ(begun.entries.size(), 3U);
    EXPECT_EQ(begun.entries[0].method, HttpMethod::put);
    EXPECT_EQ(begun.entries[0].reference, "Patient/a");
    EXPECT_EQ(begun.entries[0].status, 202);
    EXPECT_EQ(begun.entries[1].reference, "Patient");
    EXPECT_EQ(begun.entries[2].reference, "");
    service().jobs().wait_until_idle();
}

// ---- the job by itself ----

class BundleJobRunTest : public BundleJobTest {
  protected:
    struct Work {
        JobOrder order;
        std::string saved;
        bool stopping = false;
        std::shared_ptr<AccessLog> log = {};
    };

    static Work work(std::string_view type) {
        Work made;
        made.order.base_url = kBaseUrl;
        made.order.task =
            fmt::format(R"({{"type":"{}","entries":2,"prefer":"","requestId":"r"}})", type);
        return made;
    }

    Result<JobResult> run_once(Work& work, test::SimFileSystem& files) {
        JobRun run("j", work.order, "j", work.saved, files,
                   {.stopping = [&] { return work.stopping; },
                    .say = [](const std::string&) {},
                    .access_log = [&] { return work.log; }});
        Result<JobResult> result = bundle_job(service(), run);
        work.saved = run.saved();
        return result;
    }

    static std::unique_ptr<test::SimFileSystem> folder_with(std::string_view bundle) {
        auto files = std::make_unique<test::SimFileSystem>();
        EXPECT_TRUE(files->make_directory("j"));
        const auto file = files->open("j/bundle.json", storage::FileSystem::Mode::create);
        EXPECT_TRUE(file && (*file)->write(0, bundle) && (*file)->sync());
        EXPECT_TRUE(files->sync_directory("j"));
        return files;
    }
};

TEST_F(BundleJobRunTest, ThatWasUnderWayWhenTheServerStoppedSaysSo) {
    // Without version numbers, nobody can tell what of a history is stored already.
    for (const std::string_view type : {"batch", "transaction", "history"}) {
        const auto files = folder_with(bundle_with(type, put_entry("a")));
        Work begun = work(type);
        begun.saved = R"({"begun":true})";
        const auto result = run_once(begun, *files);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Errc::processing);
        EXPECT_THAT(result.error().detail, HasSubstr(type));
    }
    EXPECT_EQ(send("GET", "/Patient/a").status, 404) << "it isn't done twice";
    // With them, what is stored already is recognised, so the job starts again.
    const auto files = folder_with(bundle_with("history", history_entry("h", 1)));
    Work begun = work("history");
    begun.saved = R"({"begun":true})";
    EXPECT_TRUE(run_once(begun, *files));
    EXPECT_EQ(send("GET", "/Patient/h").status, 200);
}

TEST_F(BundleJobRunTest, ThatWasCutOffIsWrittenDownOnce) {
    Config config;
    config.audit.file = data() + "/audit.log";
    restart(config);
    // The process was killed: this is recorded after the restart, under the name in the owner's token.
    const auto log = std::make_shared<MemoryLog>();
    Work killed = work("batch");
    killed.order.owner = Principal("alice", "patient/*.rs", "p").identity();
    killed.saved = R"({"begun":true})";
    killed.log = log;
    const auto files = folder_with(bundle_with("batch", put_entry("a")));
    EXPECT_FALSE(run_once(killed, *files));
    EXPECT_THAT(log->records(), testing::ElementsAre("POST 503 r"));
    EXPECT_EQ(log->who(), "alice");
    EXPECT_EQ(log->taken(), 0);

    // The job was stopped in order, which was recorded at that time.
    std::string entries = put_entry("p0");
    for (int i = 1; i < 500; ++i) {
        entries += "," + put_entry(fmt::format("p{}", i));
    }
    const auto many = folder_with(bundle_with("batch", entries));
    const auto other = std::make_shared<MemoryLog>();
    Work stopped = work("batch");
    stopped.stopping = true;
    stopped.log = other;
    if (!run_once(stopped, *many)) {
        EXPECT_THAT(other->records(), testing::ElementsAre("POST 503 r"));
        stopped.stopping = false;
        EXPECT_FALSE(run_once(stopped, *many));
        EXPECT_EQ(other->records().size(), 1U);
    }
}

TEST_F(BundleJobRunTest, OfSomebodyWhoIsNotKnownAnyMoreIsNotBegun) {
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const auto files = folder_with(bundle_with("batch", put_entry("a")));
    Work late = work("batch");
    const auto result = run_once(late, *files);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().detail, HasSubstr("send it again"));
}

TEST_F(BundleJobRunTest, ThatIsToStopStops) {
    std::string entries = put_entry("p0");
    for (int i = 1; i < 500; ++i) {
        entries += "," + put_entry(fmt::format("p{}", i));
    }
    for (const std::string_view type : {"batch", "transaction"}) {
        const auto files = folder_with(bundle_with(type, entries));
        Work stopped = work(type);
        stopped.stopping = true;
        const auto result = run_once(stopped, *files);
        EXPECT_EQ(result.has_value(), files->exists("j/answer.json"));
    }
    EXPECT_LT(put_patient("after"), 300);
}

TEST_F(BundleJobRunTest, IsWholeOrSaysThatItIsNotWhereverThePowerIsCut) {
    for (const std::string_view type : {"history", "transaction"}) {
        SCOPED_TRACE(type);
        for (std::uint64_t call = 1;; ++call) {
            ASSERT_LT(call, 100U);
            const std::string id = fmt::format("{}{}", type, call);
            auto files = folder_with(
                bundle_with(type, type == "history" ? history_entry(id, 1) : put_entry(id)));
            files->power_off_at(call);
            Work cut = work(type);
            Result<JobResult> result = run_once(cut, *files);
            if (result) {
                break;
            }
            files = files->after_power_cut(call);
            const bool begun = files->exists("j/state.json");
            cut.saved = begun ? read_state(files->content("j/state.json"))->saved : "";
            result = run_once(cut, *files);
            if (type == "history" || !begun) {
                ASSERT_TRUE(result) << call << result.error().detail;
            }
            if (result) {
                EXPECT_THAT(files->content("j/answer.json"), HasSubstr(R"("status":"200 OK"}}]})"));
                EXPECT_EQ(send("GET", "/Patient/" + id).status, 200);
            } else {
                EXPECT_EQ(result.error().code, Errc::processing);
            }
        }
    }
}

TEST_F(BundleJobRunTest, WithoutRoomForItsAnswerSaysThatItWasDone) {
    const auto files = folder_with(bundle_with("transaction", put_entry("a")));
    files->set_space(350);
    Work full = work("transaction");
    const auto result = run_once(full, *files);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().detail, HasSubstr("was processed"));
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(BundleJobRunTest, OfATaskThatCannotBeReadFails) {
    for (const std::string_view task :
         {"", "{}", "[]", R"({"type":"document"})", R"({"type":7})"}) {
        const auto files = folder_with("{}");
        Work damaged = work("batch");
        damaged.order.task = task;
        EXPECT_FALSE(run_once(damaged, *files)) << task;
    }
}

}  // namespace
}  // namespace annals::core
