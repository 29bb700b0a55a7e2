// $import over requests and answers.

#include "codec/json/document.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"

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
    EXPECT_THAT(imported.errors, HasSubstr("The resource is of the type Basic, not Patient"));
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
    EXPECT_THAT(history.errors, HasSubstr("upload.ndjson:1: The resource is of the type Basic"));
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

}  // namespace
}  // namespace annals::core
