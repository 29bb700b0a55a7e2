// The command annals import with histories: exported ones, pages of other servers, and in which order they are taken.

#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(ImportCommand, MakesAnIdenticalStoreOfAnExportedHistory) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished first = annals({"import", "--data", directory / "a", directory / "in.ndjson"});
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_TRUE(first.errors.empty()) << first.errors;
    const std::string exported = history_of(directory / "a");
    EXPECT_NE(exported.find(R"("value":1.00)"), std::string::npos);
    test::write_whole_file(directory / "out.ndjson", exported);

    const Finished second = test::run_program(kBinary, {"import", "--data", directory / "b"},
                                              seconds(20), directory / "out.ndjson");
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_EQ(history_of(directory / "b"), exported);

    {
        RunningServer server(kBinary, directory / "c");
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        const Finished third =
            annals({"import", "--server", server.url(), directory / "out.ndjson"});
        EXPECT_EQ(third.exit_code, 0) << third.errors;
        const Finished again =
            annals({"import", "--server", server.url(), directory / "out.ndjson"});
        EXPECT_EQ(again.exit_code, 0) << again.errors;
        EXPECT_NE(again.output.find("4 there already"), std::string::npos) << again.output;
        server.process().kill(SIGTERM);
        EXPECT_EQ(server.process().wait(seconds(20)), 0);
    }
    EXPECT_EQ(history_of(directory / "c"), exported);
    EXPECT_EQ(annals({"verify", "--data", directory / "c"}).exit_code, 0);
}

TEST(ImportCommand, TurnsABundleRoundThatHasTheNewestFirst) {
    const TemporaryDirectory directory;
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < kHistory.size();) {
        const std::size_t end = kHistory.find('\n', begin);
        lines.push_back(kHistory.substr(begin, end - begin));
        begin = end + 1;
    }
    std::string bundle = "{\n\"resourceType\": \"Bundle\",\n\"type\": \"history\", \"entry\": [\n";
    for (std::size_t i = lines.size(); i > 0; --i) {
        bundle += lines[i - 1] + (i > 1 ? ",\n" : "]}\n");
    }
    test::write_whole_file(directory / "newest-first.json", bundle);
    test::write_whole_file(directory / "lines.ndjson", kHistory);
    const Finished a =
        annals({"import", "--data", directory / "a", directory / "newest-first.json"});
    EXPECT_EQ(a.exit_code, 0) << a.errors;
    const Finished b = annals({"import", "--data", directory / "b", directory / "lines.ndjson"});
    EXPECT_EQ(b.exit_code, 0) << b.errors;
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
}

TEST(ImportCommand, TurnsABundleRoundWhereOnlyUrlsSayWhichVersionIsNewer) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.json",
                           R"({"resourceType":"Bundle","type":"history","entry":[
{"fullUrl":"http://a/fhir/Patient/1/_history/2","request":{"method":"DELETE","url":"Patient/1/_history/2"}},
{"fullUrl":"http://a/fhir/Patient/1/_history/1","resource":{"resourceType":"Patient","id":"1"},"request":{"method":"POST","url":"Patient"}}]})");
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 2: 0 there already"), std::string::npos) << done.output;
}

TEST(ImportCommand, DatesADeletionThatSaysNoInstantByTheVersionBeforeIt) {
    const TemporaryDirectory directory;
    const auto version = [](int number) {
        return fmt::format(
            R"({{"fullUrl":"http://a/fhir/Patient/1","resource":{{"resourceType":"Patient","id":"1","meta":{{"versionId":"{0}","lastUpdated":"2024-01-0{0}T00:00:00.000+00:00"}}}},"request":{{"method":"PUT","url":"Patient/1/_history/{0}"}},"response":{{"status":"200 OK","etag":"W/\"{0}\""}}}})",
            number);
    };
    const std::string deletion =
        R"({"fullUrl":"http://a/fhir/Patient/1","request":{"method":"DELETE","url":"Patient/1/_history/2"},"response":{"status":"200 OK","etag":"W/\"2\""}})";
    const auto page = [&](const std::string& name, const std::string& entries) {
        test::write_whole_file(
            directory / name,
            R"({"resourceType":"Bundle","type":"history","entry":[)" + entries + "]}");
    };
    // HAPI's pages, newest first, in files with descending names. They overlap if HAPI writes in the meantime.
    page("1.json", version(1));
    page("2.json", version(3) + "," + deletion);
    page("3.json", version(4) + "," + version(3) + "," + deletion);
    for (const std::string_view expected :
         {"imported 4: 2 there already, 0 refused", "imported 0: 6 there already, 0 refused"}) {
        const Finished done = annals({"import", "--data", directory / "a", directory / "1.json",
                                      directory / "2.json", directory / "3.json"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        EXPECT_NE(done.output.find(expected), std::string::npos) << done.output;
    }
    const std::string history = history_of(directory / "a");
    EXPECT_NE(history.find(R"("etag":"W/\"2\"","lastModified":"2024-01-01T00:00:00.000Z")"),
              std::string::npos)
        << history;
}

TEST(ImportCommand, LosesNoVersionWhereClocksDisagreed) {
    const TemporaryDirectory directory;
    const auto entry = [](std::string_view id, int version) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"{0}","meta":{{"versionId":"{1}"}}}},"request":{{"method":"PUT","url":"Patient/{0}/_history/{1}"}}}})",
            id, version);
    };
    // Newest first by instants; b's second version got its instant from a machine whose clock was behind.
    test::write_whole_file(
        directory / "in.json",
        fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{},{},{},{},{}]}})",
                    entry("a", 3), entry("a", 2), entry("b", 1), entry("b", 2), entry("a", 1)));
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 5: 0 there already"), std::string::npos) << done.output;
    EXPECT_EQ(done.errors.find("missing at the target"), std::string::npos) << done.errors;
}

TEST(ImportCommand, TakesNoRemarkOfTheServerForAVersion) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.json",
                           R"({"resourceType":"Bundle","type":"history","entry":[
{"resource":{"resourceType":"OperationOutcome","id":"o","issue":[{"severity":"information","code":"informational"}]},"search":{"mode":"outcome"}},
{"resource":{"resourceType":"Patient","id":"1","meta":{"versionId":"1"}},"request":{"method":"POST","url":"Patient"}}]})");
    const Finished done = annals({"import", "--data", directory / "a", directory / "in.json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 1: 0 there already"), std::string::npos) << done.output;
    EXPECT_EQ(history_of(directory / "a").find("OperationOutcome"), std::string::npos);
}

TEST(ImportCommand, TellsOfVersionsThatCameAfterNewerOnes) {
    const TemporaryDirectory directory;
    // As pages of a server that gives the newest first.
    const std::size_t last = kHistory.rfind('\n', kHistory.size() - 2) + 1;
    test::write_whole_file(directory / "1.ndjson", kHistory.substr(last));
    test::write_whole_file(directory / "2.ndjson", kHistory.substr(0, last));
    const Finished done = annals(
        {"import", "--data", directory / "a", directory / "1.ndjson", directory / "2.ndjson"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("imported 2: 0 there already"), std::string::npos) << done.output;
    EXPECT_NE(done.errors.find("2 versions were ignored and are missing at the target"),
              std::string::npos)
        << done.errors;
    const Finished again = annals({"import", "--data", directory / "a", directory / "1.ndjson"});
    EXPECT_NE(again.output.find("imported 0: 1 there already"), std::string::npos) << again.output;
    EXPECT_EQ(again.errors.find("missing at the target"), std::string::npos) << again.errors;
}

}  // namespace
}  // namespace annals
