// annals serve: what it starts with, what it refuses to start with, and what it warns of.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(Serve, MayHaveItsAuditLogInADataDirectoryThatItMakes) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    RunningServer server(kBinary, data, {"--set", "audit.file=" + data + "/audit.ndjson"});
    EXPECT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_TRUE(std::filesystem::exists(data + "/audit.ndjson"));
}

TEST(Serve, WarnsOfBodiesForWhichThereIsNeverMemory) {
    const TemporaryDirectory directory;
    constexpr const char* kWarning = "warning limits.max_body: with limits.max_memory = 1048576, ";
    {
        RunningServer server(kBinary, directory / "a", {"--set", "limits.max_memory=1MiB"});
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        EXPECT_NE(server.process().errors().find(kWarning), std::string::npos)
            << server.process().errors();
    }
    RunningServer server(kBinary, directory / "b", {"--set", "limits.max_memory=128MiB"});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_EQ(server.process().errors().find("limits.max_body"), std::string::npos)
        << server.process().errors();
}

/// Changes a byte of the first segment, where `found` first occurs.
void damage(const std::string& data, const std::string& found) {
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    const std::size_t at = bytes.find(found);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    test::write_whole_file(path, bytes);
}

TEST(Serve, NamesSegmentAndOffsetOfDamageAndServesTheRestOnlyWhenTold) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    damage(data, "\"valueQuantity\"");
    const std::vector<std::string> plain = {"serve", "--data", data, "--listen", "127.0.0.1:0"};
    const Finished refused = annals(plain);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(one_line(refused.errors)) << refused.errors;
    EXPECT_NE(refused.errors.find("0000000001.seg"), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find("offset"), std::string::npos) << refused.errors;
    EXPECT_TRUE(refused.output.empty());

    const Finished verified = annals({"verify", "--data", data});
    EXPECT_EQ(verified.exit_code, 1);
    EXPECT_NE(verified.output.find("damage in 0000000001.seg at offset "), std::string::npos)
        << verified.output;

    RunningServer server(kBinary, data, {"--read-only", "--allow-damaged"});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const std::string told = server.process().errors();
    EXPECT_NE(told.find("no intact frame here"), std::string::npos) << told;
    EXPECT_EQ(told.find("no intact frame here"), told.rfind("no intact frame here")) << told;
    tools::HttpClient client(*tools::parse_server_url(server.url()));
    tools::HttpRequest request;
    request.target = "/fhir/Patient/1";
    EXPECT_EQ(client.send(request)->status, 200);
    request.method = "DELETE";
    EXPECT_EQ(client.send(request)->status, 405);
}

TEST(Serve, DoesNotStartWithoutAPackageThatWasInstalledUnlessTold) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    std::filesystem::create_directories(data + "/packages/installed");
    test::write_whole_file(data + "/packages/installed/p#1.0.0.tgz", "rubbish");
    const Finished refused = annals({"serve", "--data", data, "--listen", "127.0.0.1:0"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.errors.find("packages/installed/p#1.0.0.tgz"), std::string::npos)
        << refused.errors;
    EXPECT_TRUE(refused.output.empty());
    test::write_whole_file(directory / "in.ndjson", kHistory);
    EXPECT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 1);

    RunningServer server(kBinary, data, {"--read-only", "--allow-damaged"});
    EXPECT_FALSE(server.url().empty()) << server.process().errors();
}

TEST(Serve, LeavesJobsAloneUntilItServes) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    // A job of an unknown kind, which ends as soon as it is continued.
    const std::string job = data + "/jobs/begun";
    std::filesystem::create_directories(job);
    test::write_whole_file(
        job + "/job.json",
        R"({"format":1,"kind":"none","begun":"2026-01-01T00:00:00Z","owner":"","url":"","baseUrl":"","task":{}})");
    const auto has_gone_on = [&] { return std::filesystem::exists(job + "/state.json"); };

    const std::vector<std::string> serve = {
        "serve", "--data", data, "--listen", "127.0.0.1:0", "--set", "subscriptions.enabled=true"};
    std::filesystem::create_directories(data + "/subscriptions/positions.json");
    EXPECT_EQ(annals(serve).exit_code, 1);
    EXPECT_FALSE(has_gone_on());
    std::filesystem::remove(data + "/subscriptions/positions.json");

    std::filesystem::create_directories(data + "/packages/installed");
    test::write_whole_file(data + "/packages/installed/p#1.0.0.tgz", "rubbish");
    EXPECT_EQ(annals(serve).exit_code, 1);
    EXPECT_FALSE(has_gone_on());
    std::filesystem::remove_all(data + "/packages");

    // The settings of an import may differ from the server's.
    test::write_whole_file(directory / "in.ndjson", kHistory);
    EXPECT_EQ(annals({"import", "--data", data, directory / "in.ndjson"}).exit_code, 0);
    EXPECT_FALSE(has_gone_on());

    RunningServer server(kBinary, data);
    EXPECT_FALSE(server.url().empty()) << server.process().errors();
    for (int i = 0; i < 1000 && !has_gone_on(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(has_gone_on());
}

TEST(Serve, RefusesANewerFormatAndTouchesNothing) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    constexpr std::size_t kFormatVersionAt = 8;
    constexpr std::size_t kChecksumAt = 56;
    bytes[kFormatVersionAt] = 99;
    store_le(bytes.data() + kChecksumAt, hash64({bytes.data(), kChecksumAt}));
    test::write_whole_file(path, bytes);
    for (const char* command : {"serve", "verify", "import"}) {
        const Finished refused = annals({command, "--data", data});
        EXPECT_EQ(refused.exit_code, 2) << command;
        EXPECT_TRUE(one_line(refused.errors)) << refused.errors;
        EXPECT_NE(refused.errors.find("format"), std::string::npos) << refused.errors;
    }
    EXPECT_TRUE(test::read_whole_file(path) == bytes);
}

TEST(Serve, NamesAFlippedBitOfTheFormatVersionAsDamage) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    const std::string path = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(path);
    constexpr std::size_t kFormatVersionAt = 8;
    bytes[kFormatVersionAt] = static_cast<char>(bytes[kFormatVersionAt] ^ 64);
    test::write_whole_file(path, bytes);
    for (const char* command : {"serve", "verify"}) {
        const Finished met = annals({command, "--data", data});
        EXPECT_EQ(met.exit_code, 1) << command;
        EXPECT_NE((met.output + met.errors).find("0000000001.seg"), std::string::npos)
            << met.output << met.errors;
    }
    EXPECT_TRUE(test::read_whole_file(path) == bytes);
}

TEST(Serve, WarnsOfWhatLeavesItOpenToOthers) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "file", "no store");
    const auto says = [&](const std::string& address, const std::string& setting,
                          const std::string& warning) {
        const Finished done = annals(
            {"serve", "--data", directory / "file", "--listen", address + ":0", "--set", setting});
        EXPECT_EQ(done.exit_code, 2) << done.errors;
        return done.errors.find("warning " + warning) != std::string::npos;
    };
    EXPECT_TRUE(
        says("0.0.0.0", "allow_unauthenticated=true", "listening on 0.0.0.0:0 without TLS"));
    EXPECT_FALSE(says("127.0.0.1", "allow_unauthenticated=true", "listening on"));
    // Whoever configures keys and forgets auth.mode is not protected by them.
    EXPECT_TRUE(says("127.0.0.1", "auth.api_keys_file=keys",
                     "auth.mode is \"none\" although auth.api_keys_file is set"));
    EXPECT_TRUE(says("127.0.0.1", "auth.jwt.jwks_url=https://a.example/b",
                     "auth.mode is \"none\" although auth.jwt.jwks_url is set"));
    EXPECT_FALSE(says("127.0.0.1", "auth.jwt.leeway=0s", "auth.mode"));
}

TEST(Serve, ComesBackOnItsPortAfterACrashAndSaysWhatItHasCutOff) {
    const TemporaryDirectory directory;
    const int port = test::lasting_port();
    {
        RunningServer server(kBinary, directory / "data", {}, port);
        const auto url = tools::parse_server_url(server.url());
        ASSERT_TRUE(url) << server.process().errors();
        tools::HttpClient client(*url);
        tools::HttpRequest request;
        request.method = "PUT";
        request.target = "/fhir/Basic/1";
        request.body = R"({"resourceType":"Basic","id":"1","code":{"text":"torn"}})";
        ASSERT_EQ(client.send(request)->status, 201);
        server.process().kill(SIGKILL);
        server.process().wait(seconds(20));
        // The server's side of this connection remains for a minute after the client's is gone.
    }
    damage(directory / "data", "torn");
    RunningServer server(kBinary, directory / "data", {}, port);
    EXPECT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_THAT(server.process().errors(),
                testing::ContainsRegex("warning cut [1-9][0-9]* bytes of a torn tail"));
}

}  // namespace
}  // namespace annals
