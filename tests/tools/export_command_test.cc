// The command annals export: stores read in many steps, and servers that say something besides the versions.

#include "tests/support/http_endpoint.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

namespace annals {
namespace {

using test::Finished;
using test::TemporaryDirectory;

TEST(ExportCommand, WritesAllOfAStoreThatIsReadInSteps) {
    constexpr int kCount = 1001;  // a step has 1000
    const TemporaryDirectory directory;
    std::string lines;
    for (int i = 0; i < kCount; ++i) {
        lines += fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"p{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:00.000Z"}}}},"request":{{"method":"POST","url":"Patient/p{0}"}}}})"
            "\n",
            i);
    }
    test::write_whole_file(directory / "in.ndjson", lines);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);

    const auto export_to = [&](const std::string& to, bool history) {
        std::vector<std::string> arguments = {"export", "--data", directory / "a", "--to", to};
        if (history) {
            arguments.emplace_back("--history");
        }
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        EXPECT_EQ(done.output, fmt::format("exported {} {} to {}\n", kCount,
                                           history ? "versions" : "resources", to));
    };
    export_to(directory / "out", true);
    export_to(directory / "out", false);
    for (const char* file : {"out/history.ndjson", "out/Patient.ndjson"}) {
        std::istringstream text(test::read_whole_file(directory / file));
        std::string line;
        int count = 0;
        for (; std::getline(text, line); ++count) {
            ASSERT_NE(line.find(fmt::format(R"("id":"p{}")", count)), std::string::npos) << line;
        }
        EXPECT_EQ(count, kCount) << file;
    }
}

TEST(ExportCommand, LeavesNoFolderWhereTheServerRefuses) {
    const test::HttpEndpoint server(
        [](const std::string&) { return test::HttpEndpoint::Answer{403, "{}"}; });
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--server", server.url(), "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 1) << done.errors;
    EXPECT_FALSE(std::filesystem::exists(directory / "out"));
}

TEST(ExportCommand, WritesTheVersionsOfAServerAndNoRemark) {
    const test::HttpEndpoint server([](const std::string& request) {
        if (request.find("_sort=_position") != std::string::npos) {
            return test::HttpEndpoint::Answer{400, "{}"};
        }
        const bool last = request.find("page=2") != std::string::npos;
        return test::HttpEndpoint::Answer{
            200,
            fmt::format(
                R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"_history?_sort=_lastUpdated"}}{}],"entry":[{{"resource":{{"resourceType":"OperationOutcome"}},"search":{{"mode":"outcome"}}}},{{"resource":{{"resourceType":"Patient","id":"{}","meta":{{"versionId":"1"}}}}}}]}})",
                last ? "" : R"(,{"relation":"next","url":"_history?page=2"})", last ? 'b' : 'a')};
    });
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--server", server.url(), "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(test::read_whole_file(directory / "out/history.ndjson"),
              R"({"resource":{"resourceType":"Patient","id":"a","meta":{"versionId":"1"}}})"
              "\n"
              R"({"resource":{"resourceType":"Patient","id":"b","meta":{"versionId":"1"}}})"
              "\n");
}

}  // namespace
}  // namespace annals
