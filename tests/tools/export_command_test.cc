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

TEST(ExportCommand, TakesNoOptionThatItHasNoUseFor) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    const std::string server = "http://127.0.0.1:1/fhir";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--data", directory / "data", "--header", "X-API-Key: k"},
          {"--data", directory / "data", "--token-file", "/dev/null"},
          {"--data", directory / "data", "--cert", "/dev/null"},
          {"--server", server, "--base-url", "https://a.example/fhir"}}) {
        std::vector<std::string> arguments{"export", "--history", "--to", directory / "saved"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << more[2];
        EXPECT_NE(done.errors.find(more[2]), std::string::npos) << done.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "saved")) << more[2];
    }
}

TEST(ExportCommand, WritesLiveResourcesByTypeAndImportTakesThemBack) {
    const TemporaryDirectory directory;
    import_history(directory / "a");
    const Finished done = annals({"export", "--data", directory / "a", "--to", directory / "out"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(
        test::read_whole_file(directory / "out/Patient.ndjson"),
        R"({"resourceType":"Patient","id":"1","meta":{"versionId":"5","lastUpdated":"2020-01-01T00:00:03.000Z"},"active":true})"
        "\n");
    EXPECT_NE(test::read_whole_file(directory / "out/Observation.ndjson"), "");
    const Finished over = annals({"export", "--data", directory / "a", "--to", directory / "out"});
    EXPECT_EQ(over.exit_code, 2);
    const Finished back = annals({"import", "--data", directory / "b", directory / "out"});
    EXPECT_EQ(back.exit_code, 0) << back.errors;
    EXPECT_NE(back.output.find("imported 2:"), std::string::npos) << back.output;
}

TEST(ExportCommand, BeginsItsUrlsWithNothingButAServersRoot) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    std::vector<std::string> arguments{
        "export",     "--data", directory / "data", "--to", directory / "saved", "--history",
        "--base-url", ""};
    for (const char* wrong : {"a\"b", "http://a\"b/fhir", "http://a/\nfhir", "http://a/\xff",
                              "http://a/fhir?x=1", "fhir"}) {
        arguments.back() = wrong;
        EXPECT_EQ(annals(arguments).exit_code, 2) << wrong;
        EXPECT_FALSE(std::filesystem::exists(directory / "saved")) << wrong;
    }
    arguments.back() = "https://a.example/fhir/";
    EXPECT_EQ(annals(arguments).exit_code, 0);
    const std::string lines = test::read_whole_file(directory / "saved/history.ndjson");
    EXPECT_TRUE(lines.starts_with(R"({"fullUrl":"https://a.example/fhir/Patient/1/_history/1",)"))
        << lines;
}

TEST(ExportCommand, WritesTheLinesThatWereImported) {
    const TemporaryDirectory directory;
    import_history(directory / "data");
    const Finished done = annals({"export", "--data", directory / "data", "--to",
                                  directory / "saved", "--history", "--base-url", "http://a/fhir"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(test::read_whole_file(directory / "saved/history.ndjson"), kHistory);
}

TEST(ExportCommand, RefusesADirectoryThatIsNoStore) {
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--data", directory / "none", "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_TRUE(one_line(done.errors)) << done.errors;
    EXPECT_FALSE(std::filesystem::exists(directory / "none"));
}

TEST(ExportCommand, TakesFromAServerWhatIsWholeAndNamesWhatIsDamagedThere) {
    const test::HttpEndpoint server([](const std::string& request) {
        const std::size_t begin = request.find(' ') + 1;
        const std::string target = request.substr(begin, request.find(' ', begin) - begin);
        return test::HttpEndpoint::Answer{
            200, R"({"resourceType":"Bundle","type":"history","link":[{"relation":"self","url":")" +
                     target +
                     R"("}],"entry":[{"response":{"status":"500 Internal Server Error","outcome":)"
                     R"({"resourceType":"OperationOutcome","issue":[{"severity":"error",)"
                     R"("code":"exception","diagnostics":"This version is damaged"}]}}},)"
                     R"({"request":{"method":"DELETE","url":"Patient/b"},)"
                     R"("response":{"status":"410 Gone","etag":"W/\"2\""}}]})"};
    });
    const TemporaryDirectory directory;
    const Finished done =
        annals({"export", "--server", server.url(), "--to", directory / "out", "--history"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.output.find("exported 2 versions"), std::string::npos) << done.output;
    EXPECT_NE(done.errors.find("history.ndjson:1: This version is damaged\n"), std::string::npos)
        << done.errors;
    EXPECT_NE(done.errors.find("1 of these are damaged at the server"), std::string::npos)
        << done.errors;
    EXPECT_TRUE(std::filesystem::exists(directory / "out/history.ndjson"));
}

}  // namespace
}  // namespace annals
