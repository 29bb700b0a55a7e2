// Files of $export: their sizes, the parts in which they are sent, and to whom.

#include "core/jobs/jobs.h"
#include "tests/core/bulk/export_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace annals::core {
namespace {

using test::Answer;
using testing::ElementsAre;

TEST_F(ExportTest, BeginsANewFileWhereOneWouldBeTooLarge) {
    Config config;
    config.export_max_file = 1024;
    restart(config);
    for (int i = 0; i < 20; ++i) {
        put("Patient", fmt::format("p{}", i), R"("name":[{"family":"A name of some length"}])");
    }
    const Exported exported = run("/$export");
    EXPECT_EQ(exported.names.size(), 20U);
    EXPECT_GE(exported.urls.size(), 3U);
    for (const std::string& url : exported.urls) {
        EXPECT_LE(send("GET", url).body.size(), 1024U);
    }
}

TEST_F(ExportTest, GivesRangesOfItsFiles) {
    put("Patient", "a");
    const Exported exported = run("/$export");
    const std::string& url = exported.urls.at(0);
    const Answer whole = send("GET", url);
    const std::string size = std::to_string(whole.body.size());
    const auto get = [&](const std::string& range, const std::string& if_range = {}) {
        Headers headers{{"Range", range}};
        if (!if_range.empty()) {
            headers.emplace_back("If-Range", if_range);
        }
        return send("GET", url, {}, headers);
    };
    const Answer middle = get("bytes=2-5");
    EXPECT_EQ(middle.status, 206);
    EXPECT_EQ(middle.body, whole.body.substr(2, 4));
    EXPECT_EQ(middle.header("Content-Range"), "bytes 2-5/" + size);
    EXPECT_EQ(get("bytes=10-").body, whole.body.substr(10));
    EXPECT_EQ(get("bytes=-7").body, whole.body.substr(whole.body.size() - 7));
    EXPECT_EQ(get("bytes=-100000").body, whole.body);
    EXPECT_EQ(get("bytes=5-100000").body, whole.body.substr(5));
    EXPECT_EQ(get("bytes=" + size + "-").status, 416);
    EXPECT_EQ(get("bytes=100000-").status, 416);
    EXPECT_EQ(get("bytes=100000-100001").status, 416);
    EXPECT_EQ(get("bytes=-0").status, 416);
    EXPECT_EQ(get("bytes=" + size + "-").header("Content-Range"), "bytes */" + size);
    for (const char* ignored : {"bytes=5-2", "bytes=", "bytes=-", "bytes=a-b", "lines=1-2",
                                "bytes=0-1,3-4", "bytes=99999999999999999999-", "bytes=1-x"}) {
        EXPECT_EQ(get(ignored).status, 200) << ignored;
    }
    EXPECT_EQ(get("bytes=2-5", std::string(whole.header("ETag"))).status, 206);
    EXPECT_EQ(get("bytes=2-5", "\"another\"").status, 200);
    const Answer head = send("HEAD", url, {}, {{"Range", "bytes=2-5"}});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Content-Range"), "");
}

TEST_F(ExportTest, DoesNotSendAFileAgainThatTheClientHas) {
    put("Patient", "a");
    const std::string url = run("/$export").urls.at(0);
    const std::string tag(send("GET", url).header("ETag"));
    for (const std::string& known : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
        const Answer answer =
            send("GET", url, {}, {{"If-None-Match", known}, {"Range", "bytes=0-1"}});
        EXPECT_EQ(answer.status, 304) << known;
        EXPECT_EQ(answer.body, "");
        EXPECT_EQ(answer.header("ETag"), tag);
    }
    const std::string later = "Fri, 01 Jan 2100 00:00:00 GMT";
    EXPECT_EQ(send("HEAD", url, {}, {{"If-Modified-Since", later}}).status, 304);
    EXPECT_EQ(send("GET", url, {}, {{"If-Modified-Since", "Thu, 01 Jan 2015 00:00:00 GMT"}}).status,
              200);
    EXPECT_EQ(
        send("GET", url, {}, {{"If-None-Match", "\"x\""}, {"If-Modified-Since", later}}).status,
        200);
}

TEST_F(ExportTest, PutsNoFileIntoTheAnswerToABundle) {
    put("Patient", "a");
    put("Patient", "b");
    const Exported exported = run("/$export");
    for (const char* type : {"batch", "transaction"}) {
        const Answer answer = send(
            "POST", "/",
            fmt::format(
                R"({{"resourceType":"Bundle","type":"{}","entry":[{{"request":{{"method":"GET","url":"{}"}}}}]}})",
                type, exported.urls.at(0)),
            {{"Content-Type", "application/fhir+json"}});
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        ASSERT_TRUE(document) << answer.body;
        const json::Value entry = *document->root()["entry"].elements().begin();
        EXPECT_TRUE(entry["response"]["status"].equals("200 OK")) << answer.body;
        EXPECT_FALSE(entry["resource"]) << answer.body;
    }
}

TEST_F(ExportTest, IsNotBegunByHead) {
    const Answer answer = send("HEAD", "/$export", {}, kAsync);
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.content_location, "");
    EXPECT_FALSE(std::filesystem::exists(data() + "/jobs"));
    EXPECT_EQ(send("HEAD", "/$export?_type=Nobody", {}, kAsync).status, 400);
    EXPECT_EQ(send("HEAD", "/$export").status, 400);
}

TEST_F(ExportTest, IsForWhomeverBeganItAndForThoseWhoMayDoEverything) {
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal reader("reader", "system/*.rs");
    send_as(&reader);
    const Answer begun = begin("/$export");
    ASSERT_EQ(begun.status, 202) << begun.body;
    service().jobs().wait_until_idle();
    const std::string status = path_of(begun.content_location);
    EXPECT_TRUE(send("GET", status).says(R"("requiresAccessToken":true)"));
    restart(Config());
    EXPECT_TRUE(send("GET", status).says(R"("requiresAccessToken":false)"))
        << "as the server is now, not as it was";
    restart(config);

    const Principal other("other", "system/*.rs");
    send_as(&other);
    EXPECT_EQ(send("GET", status).status, 404);
    EXPECT_EQ(send("DELETE", status).status, 404);
    const Principal lab("lab", "system/Observation.rs");
    send_as(&lab);
    EXPECT_EQ(begin("/$export").status, 403);
    EXPECT_EQ(begin("/$export?_type=Observation,Patient").status, 403);
    EXPECT_EQ(begin("/$export?_type=Observation&_typeFilter=Observation%3Fpatient.name%3Dx").status,
              403);
    EXPECT_EQ(begin("/$export?_type=Observation").status, 202);
    // Only those who may read patients learn whether this one exists.
    const std::string_view of_one =
        R"({"resourceType":"Parameters","parameter":[{"name":"_type","valueString":"Observation"},)"
        R"({"name":"patient","valueReference":{"reference":"Patient/none"}}]})";
    EXPECT_EQ(begin("/Patient/$export", of_one).status, 403);
    const Principal both("both", "system/Observation.rs system/Patient.r");
    send_as(&both);
    EXPECT_EQ(begin("/Group/none/$export?_type=Observation").status, 403);
    EXPECT_EQ(begin("/Patient/$export", of_one).status, 400);
    send_as(nullptr);
    EXPECT_EQ(send("GET", status).status, 401);
    const Principal everything("admin", "system/*.cruds");
    send_as(&everything);
    EXPECT_EQ(send("GET", status).status, 200);
    EXPECT_EQ(send("DELETE", status).status, 202);
    EXPECT_EQ(send("GET", status).status, 404);
}

TEST_F(ExportTest, IsThereAfterARestart) {
    put("Patient", "a");
    const Answer begun = begin("/$export");
    service().jobs().wait_until_idle();
    restart(Config());
    EXPECT_THAT(finish(begun).names, ElementsAre("Patient/a/1"));
}

}  // namespace
}  // namespace annals::core
