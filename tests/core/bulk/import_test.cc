// $import over requests and answers, and its job by itself when it is stopped.

#include "codec/json/document.h"
#include "core/bulk/import_job.h"
#include "core/bulk/import_task.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace annals::core {
namespace {

using test::Answer;
using testing::HasSubstr;

class ImportTest : public test::ServiceFixture {
  protected:
    struct Imported {
        std::string manifest;
        std::string errors;
    };

    ImportTest() {
        folder_ = service().config().data + "/import";
        std::filesystem::create_directories(folder_);
    }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
    }

    Answer begin(const std::string& body, const std::string& type = "application/fhir+json",
                 const std::string& query = "") {
        return send("POST", "/$import" + query, body,
                    {{"Prefer", "respond-async"}, {"Content-Type", type}});
    }

    static std::string parameters(const std::string& name, const std::string& more = "") {
        return fmt::format(
            R"({{"resourceType":"Parameters","parameter":[{{"name":"inputFormat","valueCode":"application/fhir+ndjson"}},)"
            R"({{"name":"input","part":[{{"name":"url","valueUri":"{}"}}]}}{}]}})",
            name, more);
    }

    Imported finish(const Answer& begun) {
        Imported imported;
        EXPECT_EQ(begun.status, 202) << begun.body;
        if (begun.status != 202) {
            return imported;
        }
        service().jobs().wait_until_idle();
        const Answer status =
            send("GET", std::string_view(begun.content_location).substr(kBaseUrl.size()));
        EXPECT_EQ(status.status, 200) << status.body;
        imported.manifest = status.body;
        json::Parser parser;
        const auto document = parser.parse(status.body);
        EXPECT_TRUE(document);
        for (const json::Value file : document->root()["error"].elements()) {
            imported.errors += send("GET", file["url"].string().substr(kBaseUrl.size())).body;
        }
        return imported;
    }

    Imported import_text(const std::string& text, const std::string& more = "") {
        write("a.ndjson", text);
        return finish(begin(parameters("a.ndjson", more)));
    }

    std::string folder_;
};

constexpr std::string_view kKeep = R"(,{"name":"keepVersions","valueBoolean":true})";

TEST_F(ImportTest, TakesEachLineAsAPutDoes) {
    ASSERT_EQ(put_patient("b"), 201);
    const Imported imported = import_text(
        "{\"resourceType\":\"Patient\",\"id\":\"a\",\"active\":true}\r\n"
        "\n \t\r\n"
        "{\"resourceType\":\"Patient\",\"id\":\"b\",\"meta\":{\"versionId\":\"77\"}}\n"
        "{\"resourceType\":\"Patient\",\"gender\":\"male\"}");
    EXPECT_EQ(imported.errors, "");
    EXPECT_THAT(imported.manifest,
                HasSubstr(R"("output":[{"type":"Resource","inputUrl":"a.ndjson","count":3}])"));
    EXPECT_TRUE(send("GET", "/Patient/a").says(R"("active":true)"));
    EXPECT_EQ(send("GET", "/Patient/b").etag, 2U);
    EXPECT_TRUE(send("GET", "/Patient?gender=male").says(R"("total":1)"));
}

TEST_F(ImportTest, ReadsEachOfItsFilesFromItsBeginning) {
    std::string first;
    std::string second = "broken\n";
    for (int i = 0; i < 9; ++i) {
        first += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"a{}\"}}\n", i);
        second += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"b{}\"}}\n", i);
    }
    write("a.ndjson", first);
    write("b.ndjson", second);
    write("c.ndjson", "{\"resourceType\":\"Patient\",\"id\":\"c\"}\n");
    std::string more;
    for (const std::string_view name : {"b.ndjson", "c.ndjson"}) {
        more +=
            fmt::format(R"(,{{"name":"input","part":[{{"name":"url","valueUri":"{}"}}]}})", name);
    }
    const Imported imported = finish(begin(parameters("a.ndjson", more)));
    EXPECT_THAT(imported.errors, HasSubstr("b.ndjson:1: "));
    EXPECT_EQ(store().totals(find_resource_type("Patient")).live, 19U);
}

TEST_F(ImportTest, SaysOfALineThatItIsTooLongAndGoesOn) {
    Config config = service().config();
    config.limits.max_body = 1 << 10;
    restart(config);
    const Imported imported = import_text(
        fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"long\",\"language\":\"{}\"}}\n",
                    std::string(64 << 10, 'x')) +
        "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n");
    EXPECT_THAT(imported.errors, HasSubstr("a.ndjson:1: The line is too long"));
    EXPECT_EQ(send("GET", "/Patient/p").status, 200);
}

TEST_F(ImportTest, TakesAnEntryOfHistoryThatHasAResponseAlone) {
    put_patient("p");
    const Imported imported =
        import_text(R"({"fullUrl":"http://test/fhir/Patient/p","response":{"status":"410"}})"
                    "\n");
    EXPECT_EQ(imported.errors, "");
    EXPECT_EQ(send("GET", "/Patient/p").status, 410);
}

TEST_F(ImportTest, PassesOverAByteOrderMarkAtTheBeginningOfAFile) {
    const std::string mark = "\xEF\xBB\xBF";
    const Imported imported = import_text(mark + R"({"resourceType":"Patient","id":"a"})" + "\n" +
                                          mark + R"({"resourceType":"Patient","id":"b"})");
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_THAT(imported.errors, HasSubstr("a.ndjson:2: "));
    EXPECT_THAT(imported.manifest, HasSubstr(R"("count":1}],"error":[{)"));
}

TEST_F(ImportTest, SaysOnceOfAFileThatItIsPacked) {
    const Imported imported = import_text("\x1f\x8b\x08\nrubbish\nmore of it\n");
    EXPECT_THAT(imported.errors, HasSubstr("a.ndjson: The file is compressed with gzip"));
    EXPECT_THAT(imported.manifest, HasSubstr(R"("error":[{"type":"OperationOutcome")"));
    EXPECT_EQ(std::ranges::count(imported.errors, '\n'), 1);
}

TEST_F(ImportTest, TakesResourcesAndEntriesOfHistoryInTheirOrder) {
    import_text(R"({"resourceType":"Patient","id":"a","active":true})"
                "\n"
                R"({"request":{"method":"DELETE","url":"Patient/a"}})"
                "\n"
                R"({"resourceType":"Patient","id":"a","active":false})"
                "\n");
    const Answer answer = send("GET", "/Patient/a");
    EXPECT_EQ(answer.status, 200) << "it was written again after it had been deleted";
    EXPECT_TRUE(answer.says(R"("active":false)"));
    EXPECT_EQ(send("GET", "/Patient/a/_history/2").status, 410);
}

TEST_F(ImportTest, NamesTheLinesThatItRefusesAndGoesOn) {
    const Imported imported = import_text(
        "{\"resourceType\":\"Patient\",\"id\":\"a\"}\n"
        "{\"resourceType\":\"Patient\",\"id\":\"x\",\"gender\":7}\n"
        "no json\n"
        "{\"resourceType\":\"Nobody\",\"id\":\"x\"}\n"
        "{\"resourceType\":\"Parameters\"}\n"
        "{\"resourceType\":\"Patient\",\"id\":\"no id\"}\n"
        "{\"resourceType\":\"Patient\",\"id\":\"s\",\"meta\":{\"tag\":[{\"system\":\"http://"
        "terminology.hl7.org/CodeSystem/v3-ObservationValue\",\"code\":\"SUBSETTED\"}]}}\n"
        "[]\n"
        "{\"resourceType\":\"Patient\",\"id\":\"z\"}\n");
    for (const int line : {2, 3, 4, 5, 6, 7, 8}) {
        EXPECT_THAT(imported.errors, HasSubstr(fmt::format("a.ndjson:{}: ", line)));
    }
    EXPECT_THAT(imported.errors, HasSubstr("Patient.gender"));
    EXPECT_THAT(imported.manifest, HasSubstr(R"("count":2}])"));
    EXPECT_THAT(imported.manifest, HasSubstr(R"("count":7}])"));
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Patient/z").status, 200);
}

TEST_F(ImportTest, RefusesALineThatNestsTooDeepForABundleAndGoesOn) {
    constexpr std::string_view kOther =
        R"({"resourceType":"Patient","id":"b","meta":{"versionId":"7"}})";
    for (std::size_t depth = kJsonWrappedDepthMax - 6; depth <= kJsonWrappedDepthMax; ++depth) {
        const std::string deep =
            R"({"resourceType":"Patient","id":"a","meta":{"versionId":"7"},"x":)" +
            std::string(depth, '[') + std::string(depth, ']') + "}";
        const std::string entry = fmt::format(
            R"({{"resource":{},"request":{{"method":"PUT","url":"Patient/a"}}}})", deep);
        for (const Imported& imported :
             {import_text(fmt::format("{}\n{}\n", deep, kOther), std::string(kKeep)),
              import_text(fmt::format("{}\n{}\n", entry, kOther))}) {
            EXPECT_THAT(imported.errors, HasSubstr("a.ndjson:1: ")) << depth;
            EXPECT_THAT(imported.manifest, HasSubstr(R"("count":1}],"error":[{)")) << depth;
        }
    }
}

TEST_F(ImportTest, WaitsForNoPipeAndGoesOn) {
    ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
    write("a.ndjson", R"({"resourceType":"Patient","id":"a"})");
    const Imported imported = finish(begin(
        parameters("pipe", R"(,{"name":"input","part":[{"name":"url","valueUri":"a.ndjson"}]})")));
    EXPECT_THAT(imported.errors, HasSubstr("pipe: The file cannot be opened"));
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
}

TEST_F(ImportTest, KeepsVersionsWhereThatIsAskedFor) {
    const std::string text =
        R"({"resourceType":"Patient","id":"a","meta":{"versionId":"3","lastUpdated":"2020-01-02T03:04:05.000Z"}})"
        "\n"
        R"({"fullUrl":"http://x/Patient/a/_history/5","request":{"method":"DELETE","url":"Patient/a"},"response":{"status":"410","etag":"W/\"5\"","lastModified":"2020-01-03T00:00:00.000Z"}})"
        "\n"
        R"({"resourceType":"Patient","id":"a","meta":{"versionId":"9","lastUpdated":"2020-01-04T00:00:00.000Z"}})"
        "\n";
    EXPECT_EQ(import_text(text, std::string(kKeep)).errors, "");
    EXPECT_EQ(send("GET", "/Patient/a").etag, 9U);
    EXPECT_EQ(send("GET", "/Patient/a/_history/5").status, 410);
    EXPECT_TRUE(send("GET", "/Patient/a/_history/3").says("2020-01-02T03:04:05.000Z"));
    // Once more: nothing changes.
    EXPECT_EQ(import_text(text, std::string(kKeep)).errors, "");
    EXPECT_EQ(store().totals().versions, 3U);
    const Imported other = import_text(
        R"({"resourceType":"Patient","id":"a","active":true,"meta":{"versionId":"9","lastUpdated":"2020-01-04T00:00:00.000Z"}})",
        std::string(kKeep));
    EXPECT_THAT(other.errors, HasSubstr("conflict"));
}

TEST_F(ImportTest, TakesWhatIsSentWithIt) {
    const Imported imported =
        finish(begin("{\"resourceType\":\"Patient\",\"id\":\"a\"}\n"
                     "{\"resourceType\":\"Basic\",\"id\":\"a\",\"code\":{\"text\":\"x\"}}\n",
                     "application/fhir+ndjson; charset=utf-8", "?type=Patient"));
    EXPECT_EQ(send("GET", "/Patient/a").status, 200);
    EXPECT_EQ(send("GET", "/Basic/a").status, 404);
    EXPECT_THAT(imported.errors, HasSubstr("The resource is a Basic, expected a Patient"));
    EXPECT_THAT(imported.manifest, HasSubstr(R"("type":"Patient")"));
    const Imported history = finish(
        begin("{\"resource\":{\"resourceType\":\"Basic\",\"id\":\"h\",\"code\":{\"text\":\"x\"}},"
              "\"request\":{\"method\":\"PUT\",\"url\":\"Basic/h\"}}\n"
              "{\"request\":{\"method\":\"DELETE\",\"url\":\"Patient/a\"}}\n"
              "{\"fullUrl\":\"http://x/Patient/b/_history/7\","
              "\"resource\":{\"resourceType\":\"Patient\",\"id\":\"b\"}}\n",
              "application/fhir+ndjson", "?type=Patient"));
    EXPECT_EQ(send("GET", "/Basic/h").status, 404);
    EXPECT_EQ(send("GET", "/Patient/a").status, 410);
    EXPECT_EQ(send("GET", "/Patient/b").etag, 7U);
    EXPECT_THAT(history.errors, HasSubstr("upload.ndjson:1: The resource is a Basic"));
}

TEST_F(ImportTest, LeavesItsFolderForNothing) {
    std::ofstream(service().config().data + "/secret.ndjson") << "{}\n";
    for (const char* name : {"../secret.ndjson", "..", ".", "/etc/passwd", "a/b.ndjson",
                             "file:///etc/passwd", "http://x/a.ndjson", "", ".hidden", "a%2Fb"}) {
        EXPECT_EQ(begin(parameters(name)).status, 400) << name;
    }
    EXPECT_EQ(begin(parameters("none.ndjson")).status, 404);
}

TEST_F(ImportTest, RefusesWhatItCannotDo) {
    write("a.ndjson", "");
    EXPECT_EQ(send("POST", "/$import", parameters("a.ndjson"),
                   {{"Content-Type", "application/fhir+json"}})
                  .status,
              400);
    EXPECT_EQ(begin(R"({"resourceType":"Parameters"})").status, 400);
    EXPECT_EQ(begin(parameters("a.ndjson", R"(,{"name":"mode","valueString":"x"})")).status, 400);
    EXPECT_EQ(begin("", "application/fhir+ndjson", "?unknown=1").status, 400);
    EXPECT_EQ(begin("", "application/fhir+ndjson", "?type=Nobody").status, 400);
    EXPECT_EQ(send("GET", "/$import", {}, {{"Prefer", "respond-async"}}).status, 405);
    EXPECT_THAT(import_text("").manifest, HasSubstr(R"("count":0}])"));
}

// ---- the job by itself ----

TEST_F(ImportTest, StoppedAnywhereTakesEachLineOnce) {
    std::string text;
    for (int i = 0; i < 9000; ++i) {
        text += i % 1000 == 7 ? "broken\n"
                : i % 1000 == 8
                    ? "{\"resourceType\":\"Basic\",\"code\":{\"text\":\"no id\"}}\n"
                    : fmt::format(
                          "{{\"resourceType\":\"Patient\",\"id\":\"p{}\",\"language\":\"l{}\"}}\n",
                          i % 4500, i);
    }
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/upload.ndjson", text);
    ImportTask task;
    task.inputs = {{.name = "upload.ndjson", .type = "", .uploaded = true}};
    JobOrder order;
    order.base_url = kBaseUrl;
    order.task = task_json(task);
    std::string saved;
    // The previous state: a crash may leave the saved state that far behind the store.
    std::string before;
    Result<JobResult> result = Error{Errc::timeout, "", ""};
    for (int runs = 0; !result && runs < 100; ++runs) {
        const std::string from = runs % 2 == 0 || before.empty() ? saved : before;
        int asks = 0;
        before = saved;
        JobRun run("j", order, "j", from, files,
                   {.stopping = [&] { return asks-- <= 0; }, .say = [](const std::string&) {}});
        result = import_job(service(), run);
        saved = run.saved();
    }
    ASSERT_TRUE(result);
    EXPECT_EQ(store().totals().versions, 9000U - 9U);
    EXPECT_EQ(store().totals(find_resource_type("Basic")).live, 9U);
    ASSERT_EQ(result->files.size(), 2U);
    EXPECT_EQ(result->files[0].count, 9000U - 9U);
    EXPECT_EQ(result->files[1].count, 9U);
    EXPECT_FALSE(files.exists("j/upload.ndjson"));
}

TEST_F(ImportTest, OfSeveralFilesGoesOnInTheOneWhereItStood) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    ImportTask task;
    for (const char* name : {"a", "b", "c"}) {
        std::string text = "broken\n";
        for (int i = 0; i < 1500; ++i) {
            text += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"{}{}\"}}\n", name, i);
        }
        files.set_content(fmt::format("j/{}", name), text);
        task.inputs.push_back({.name = name, .type = "", .uploaded = true});
    }
    JobOrder order;
    order.base_url = kBaseUrl;
    order.task = task_json(task);
    std::string saved;
    Result<JobResult> result = Error{Errc::timeout, "", ""};
    int runs = 0;
    for (; !result && runs < 100; ++runs) {
        JobRun run("j", order, "j", saved, files,
                   {.stopping = [] { return true; }, .say = [](const std::string&) {}});
        result = import_job(service(), run);
        saved = run.saved();
    }
    ASSERT_TRUE(result);
    EXPECT_GT(runs, 3);
    ASSERT_EQ(result->files.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result->files[i].count, 1500U) << i;
    }
    EXPECT_EQ(result->files[3].count, 3U) << "errors";
    EXPECT_EQ(store().totals().versions, 4500U);
}

/// The state of an import that has saved nothing but that it has begun.
constexpr std::string_view kBegun =
    R"({"begun":"2020-01-01T00:00:00.000Z","input":0,"offset":0,"line":0,"position":0,"counts":[0],"files":{"done":[],"series":[],"bytes":0}})";

class ImportJobTest : public ImportTest {
  protected:
    ImportJobTest() {
        EXPECT_TRUE(files_.make_directory("j"));
        ImportTask task;
        task.inputs = {{.name = "upload.ndjson", .type = "", .uploaded = true}};
        order_.base_url = kBaseUrl;
        order_.task = task_json(task);
    }

    /// Continues from `saved` until it has been asked `windows` times whether to stop. Returns what it has saved then.
    std::string run(std::string_view saved, const std::string& text, int windows) {
        files_.set_content("j/upload.ndjson", text);
        JobRun job("j", order_, "j", std::string(saved), files_,
                   {.stopping = [&] { return --windows <= 0; }, .say = [](const std::string&) {}});
        static_cast<void>(import_job(service(), job));
        return job.saved();
    }

    test::SimFileSystem files_;
    JobOrder order_;
};

TEST_F(ImportJobTest, StoppedInWhatItReadsAgainTakesEachLineOnce) {
    std::string text;
    for (int i = 0; i < 6000; ++i) {
        text += fmt::format("{{\"resourceType\":\"Patient\",\"id\":\"p{}\"}}\n", i);
    }
    run(kBegun, text, 4);  // what it saved is lost
    const std::string noted = run(kBegun, text, 1);
    EXPECT_EQ(store().totals().versions, 4096U);
    run(noted, text, 100);
    EXPECT_EQ(store().totals().versions, 6000U);
}

TEST_F(ImportJobTest, StoppedInWhatItReadsAgainTakesEachEntryWithoutAVersionNumberOnce) {
    std::string text;
    for (int i = 0; i < 6000; ++i) {
        text +=
            i % 3 == 1
                ? fmt::format("{{\"request\":{{\"method\":\"DELETE\",\"url\":\"Patient/p{}\"}}}}\n",
                              i - 1)
                : fmt::format(
                      "{{\"resource\":{{\"resourceType\":\"Patient\",\"id\":\"p{0}\"}},"
                      "\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/p{0}\"}}}}\n",
                      i % 3 == 2 ? i - 2 : i);
    }
    run(kBegun, text, 4);  // what it saved is lost
    const std::string noted = run(kBegun, text, 1);
    EXPECT_EQ(store().totals().versions, 4096U);
    run(noted, text, 100);
    EXPECT_EQ(store().totals().versions, 6000U);
    EXPECT_EQ(send("GET", "/Patient/p0").etag, 3U);
}

TEST_F(ImportJobTest, ReadingAgainDeletesNothingThatWasWrittenAfterADeletionOfNothing) {
    const auto deletion = [](std::string_view id) {
        return fmt::format("{{\"request\":{{\"method\":\"DELETE\",\"url\":\"Patient/{}\"}}}}\n",
                           id);
    };
    const auto written = [](std::string_view id, std::string_view meta) {
        return fmt::format(
            "{{\"resource\":{{\"resourceType\":\"Patient\",\"id\":\"{0}\"{1}}},"
            "\"request\":{{\"method\":\"PUT\",\"url\":\"Patient/{0}\"}}}}\n",
            id, meta);
    };
    const std::string text = deletion("p") + written("p", "") + deletion("p") + deletion("p") +
                             written("p", "") + written("q", ",\"meta\":{\"versionId\":\"1\"}") +
                             deletion("q") + deletion("q") + written("q", "");
    for (int times = 0; times < 2; ++times) {
        run(kBegun, text, 100);  // the second time as if nothing had been saved
        EXPECT_EQ(store().totals().versions, 6U);
        EXPECT_EQ(send("GET", "/Patient/p").etag, 3U);
        EXPECT_EQ(send("GET", "/Patient/q").etag, 3U);
    }
}

TEST_F(ImportJobTest, TakesALineThatSaysWhatAnEarlierOneDid) {
    const std::string was = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n";
    const std::string other = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":false}\n";
    run(kBegun, was + other, 100);
    run(kBegun, was + other + was, 100);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 3U);
    EXPECT_TRUE(send("GET", "/Patient/p").says(R"("active":true)"));
}

TEST_F(ImportJobTest, FindsALineBehindWhateverElseWasWrittenOfItsResource) {
    for (int i = 0; i < 250; ++i) {
        put_patient("p");
    }
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n";
    run(kBegun, text, 100);
    run(kBegun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 251U);
}

TEST_F(ImportJobTest, ReadingAgainBringsNothingBackThatWasErased) {
    const auto erase = [&](std::string_view id, storage::Erase::Scope scope) {
        storage::Erase what;
        what.type = find_resource_type("Patient").value();
        what.id = id;
        what.scope = scope;
        storage::Commit commit;
        commit.erases = std::span(&what, 1);
        const storage::Submission submission = store().submit(commit);
        ASSERT_EQ(submission.status, storage::Submission::Status::accepted);
        ASSERT_TRUE(store().wait(submission.ticket));
    };
    using Scope = storage::Erase::Scope;
    put_patient("was");
    erase("was", Scope::everything);
    std::string begun(kBegun);
    begun.replace(begun.find(R"("position":0)"), 12, R"("position":1)");
    const std::string gone = "{\"resourceType\":\"Patient\",\"id\":\"gone\"}\n";
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"was\"}\n" + gone +
                             "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":true}\n"
                             "{\"resourceType\":\"Patient\",\"id\":\"p\",\"active\":false}\n" +
                             gone;
    run(begun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/was").status, 200) << "that was before";
    erase("gone", Scope::everything);
    erase("p", Scope::all_but_current);
    run(begun, text, 100);
    EXPECT_EQ(send("GET", "/Patient/was").etag, 1U);
    EXPECT_EQ(send("GET", "/Patient/gone").status, 404);
    EXPECT_EQ(send("GET", "/Patient/p").etag, 2U);
    EXPECT_TRUE(send("GET", "/Patient/p").says(R"("active":false)"));
    EXPECT_EQ(store().totals().versions, 2U);

    // What follows is imported as usual.
    run(begun, text + gone, 100);
    EXPECT_EQ(send("GET", "/Patient/gone").status, 200);
}

TEST_F(ImportJobTest, SaysOfAFileThatItHasBecomeShorterThanWhatWasRead) {
    const std::string text = "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n";
    std::string saved(kBegun);
    saved.replace(saved.find(R"("counts":[0)"), 11, R"("counts":[1)");
    saved.replace(saved.find(R"("line":0)"), 8, R"("line":1)");
    for (const std::size_t read : {text.size(), text.size() + 1}) {
        const std::string begun = std::string(saved).replace(saved.find(R"("offset":0)"), 10,
                                                             fmt::format("\"offset\":{}", read));
        files_.set_content("j/upload.ndjson", text);
        JobRun job("j", order_, "j", begun, files_,
                   {.stopping = [] { return false; }, .say = [](const std::string&) {}});
        const auto result = import_job(service(), job);
        ASSERT_TRUE(result);
        EXPECT_EQ(result->files.size(), read > text.size() ? 2U : 1U);
        EXPECT_EQ(result->files.front().count, 1U);
        EXPECT_EQ(result->files.back().part, read > text.size() ? "error" : "output");
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

/// As with a durability other than "commit", when the saved state survived a power cut, but not the versions it counts.
TEST_F(ImportJobTest, GoesOnBehindNothingThatAPowerCutTook) {
    std::string saved = run(kBegun, "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n", 100);
    ASSERT_EQ(store().totals().versions, 1U);
    const std::size_t at = saved.find(R"("position":1)");
    ASSERT_NE(at, std::string::npos) << saved;
    saved.replace(at, 12, R"("position":2)");
    JobRun job("j", order_, "j", saved, files_,
               {.stopping = [] { return false; }, .say = [](const std::string&) {}});
    const auto result = import_job(service(), job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::conflict);
}

/// Starting over would import its lines twice.
TEST_F(ImportTest, WhoseCheckpointIsDamagedFails) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/upload.ndjson", R"({"resourceType":"Patient","id":"p"})");
    ImportTask task;
    task.inputs = {{.name = "upload.ndjson", .type = "", .uploaded = true}};
    JobOrder order;
    order.base_url = kBaseUrl;
    order.task = task_json(task);
    for (const std::string_view member : {R"("input":)", R"("offset":)", R"("line":)",
                                          R"("position":)", R"("counts":[)", R"("bytes":)"}) {
        std::string saved(kBegun);
        saved.replace(saved.find(member) + member.size(), 1, "-1");
        JobRun run("j", order, "j", saved, files,
                   {.stopping = [] { return false; }, .say = [](const std::string&) {}});
        const auto result = import_job(service(), run);
        ASSERT_FALSE(result) << saved;
        EXPECT_EQ(result.error().code, Errc::corrupt) << saved;
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

}  // namespace
}  // namespace annals::core
