// Shared by tests of $export, with requests and answers.

#pragma once

#include "codec/json/document.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {

inline const test::ServiceFixture::Headers kAsync{{"Prefer", "respond-async"}};

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_NE(end, std::string::npos) << "the last line has no end";
        lines.push_back(text.substr(begin, end - begin));
        begin = std::min(end, text.size() - 1) + 1;
    }
    return lines;
}

/// "Patient/1/2" (type, id, version), or a deletion's "-Patient/1".
inline std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    json::Parser parser;
    for (const std::string& line : lines_of(text)) {
        const auto document = parser.parse(line);
        EXPECT_TRUE(document) << line;
        const json::Value root = document->root();
        if (root["resourceType"].equals("Bundle")) {
            for (const json::Value entry : root["entry"].elements()) {
                EXPECT_TRUE(entry["request"]["method"].equals("DELETE"));
                names.push_back("-" + entry["request"]["url"].string());
            }
            continue;
        }
        names.push_back(fmt::format("{}/{}/{}", root["resourceType"].string(), root["id"].string(),
                                    root["meta"]["versionId"].string()));
    }
    return names;
}

class ExportTest : public test::ServiceFixture {
  protected:
    struct Exported {
        test::Answer manifest;
        std::string time;
        std::vector<std::string> names;  ///< in all output and deleted files, in order
        std::vector<std::string> urls;   ///< of all files, below the base
        std::string errors;              ///< contents of all error files
    };

    std::string path_of(std::string_view url) {
        EXPECT_TRUE(url.starts_with(kBaseUrl)) << url;
        return std::string(url.substr(kBaseUrl.size()));
    }

    test::Answer begin(std::string_view target, std::string_view body = {}) {
        Headers headers = kAsync;
        if (!body.empty()) {
            headers.emplace_back("Content-Type", "application/fhir+json");
        }
        return send(body.empty() ? "GET" : "POST", target, body, headers);
    }

    Exported finish(const test::Answer& begun) {
        Exported exported;
        EXPECT_EQ(begun.status, 202) << begun.body;
        EXPECT_THAT(begun.content_location, testing::HasSubstr("/_export-status/"));
        if (begun.status != 202) {
            return exported;
        }
        service().jobs().wait_until_idle();
        exported.manifest = send("GET", path_of(begun.content_location));
        EXPECT_EQ(exported.manifest.status, 200) << exported.manifest.body;
        json::Parser parser;
        const auto document = parser.parse(exported.manifest.body);
        EXPECT_TRUE(document);
        const json::Value root = document->root();
        exported.time = root["transactionTime"].string();
        for (const std::string_view part : {"output", "deleted", "error"}) {
            for (const json::Value file : root[part].elements()) {
                exported.urls.push_back(path_of(file["url"].string()));
                const test::Answer content = send("GET", exported.urls.back());
                EXPECT_EQ(content.status, 200);
                EXPECT_EQ(content.content_type, "application/fhir+ndjson");
                EXPECT_EQ(std::to_string(lines_of(content.body).size()), file["count"].raw());
                if (part == "error") {
                    exported.errors += content.body;
                    continue;
                }
                for (std::string& name : names_in(content.body)) {
                    exported.names.push_back(std::move(name));
                }
            }
        }
        return exported;
    }

    Exported run(std::string_view target, std::string_view body = {}) {
        return finish(begin(target, body));
    }

    void put(std::string_view type, std::string_view id, std::string_view members = {}) {
        const test::Answer answer = send("PUT", fmt::format("/{}/{}", type, id),
                                         fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})",
                                                     type, id, members.empty() ? "" : ",", members),
                                         {{"Content-Type", "application/fhir+json"}});
        ASSERT_LT(answer.status, 300) << answer.body;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // instants are in milliseconds
    }

    void observe(std::string_view id, std::string_view subject, std::string_view more = {}) {
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"{}"}}{})",
                subject, more));
    }

    void remove(std::string_view target) {
        ASSERT_EQ(send("DELETE", target).status, 204);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // instants are in milliseconds
    }
};

}  // namespace annals::core
