// annals serve: what it starts with, what it refuses to start with, and how it stops.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <limits>
#include <sstream>
#include <thread>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

/// Arguments of a shell whose `script` becomes the server of a store in `directory` by "$@".
std::vector<std::string> served_by_shell(const std::string& script,
                                         const TemporaryDirectory& directory) {
    return {"-c",       script,       "sh", kBinary, "serve", "--data", directory / "data",
            "--listen", "127.0.0.1:0"};
}

/// The URL that `server` reports when it is ready; empty if it never is.
std::string url_when_ready(test::ChildProcess& server) {
    const std::string prefix = "annals ready on ";
    const auto line = server.wait_for_line(prefix, seconds(30));
    return line ? line->substr(prefix.size()) : std::string();
}

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

// With this limit, the system lays out memory in a way that ThreadSanitizer can't handle, so no program built with it starts.
#if !defined(__has_feature) || !__has_feature(thread_sanitizer)
TEST(Serve, DoesNotStartWithoutThreadsAndSaysSo) {
    const TemporaryDirectory directory;
    // No address space has room for such stacks.
    const std::string refused =
        "ulimit -s 400000000000 && exec \"$0\" serve --data \"$1\" "
        "--listen 127.0.0.1:0";
    const Finished done =
        test::run_program("/bin/sh", {"-c", refused, kBinary, directory / "data"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_TRUE(one_line(done.errors)) << done.errors;
    EXPECT_NE(done.errors.find("no more threads are available"), std::string::npos) << done.errors;
    EXPECT_TRUE(done.output.empty());
    RunningServer running(kBinary, directory / "data");
    EXPECT_FALSE(running.url().empty()) << running.process().errors();
}
#endif

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

TEST(Serve, PrintsOneLineAndIsSmallWhenEmpty) {
    const TemporaryDirectory directory;
    RunningServer server(kBinary, directory / "data");
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_EQ(server.process().output(), "annals ready on " + server.url() + "\n");
    const std::string status =
        test::read_whole_file("/proc/" + std::to_string(server.process().pid()) + "/status");
    const std::size_t at = status.find("VmRSS:");
    ASSERT_NE(at, std::string::npos);
    const long resident_kb = std::atol(status.c_str() + at + 6);
    RecordProperty("resident_kb", static_cast<int>(resident_kb));
#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
    EXPECT_LE(resident_kb, 30 * 1024);
#endif
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(20)), 0);
}

#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
TEST(Serve, GivesMemoryBackThatAThreadFreedWhichSleepsNow) {
    const TemporaryDirectory directory;
    // As usual, but memory is given back after two seconds instead of ten.
    test::ChildProcess server(
        "/bin/sh", served_by_shell("MALLOC_CONF=dirty_decay_ms:2000 exec \"$@\"", directory));
    const auto url = tools::parse_server_url(url_when_ready(server));
    ASSERT_TRUE(url) << server.errors();
    const auto own_kb = [&] {
        const std::string status =
            test::read_whole_file("/proc/" + std::to_string(server.pid()) + "/status");
        const std::size_t at = status.find("RssAnon:");
        return at == std::string::npos ? 0L : std::atol(status.c_str() + at + 8);
    };
    const std::string entry = R"({"resource":{"resourceType":"Basic","code":{"text":")" +
                              std::string(400, 'x') +
                              R"("}},"request":{"method":"POST","url":"Basic"}})";
    std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)" + entry;
    for (int i = 1; i < 10'000; ++i) {
        batch += "," + entry;
    }
    batch += "]}";
    tools::HttpRequest request;
    request.method = "POST";
    request.target = "/fhir";
    request.body = batch;
    tools::HttpClient client(*url);
    ASSERT_EQ(client.send(request)->status, 200);
    const long at_first_kb = own_kb();
    long now_kb = at_first_kb;
    for (int i = 0; i < 100 && now_kb > at_first_kb - 8 * 1024; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        now_kb = own_kb();
    }
    EXPECT_LE(now_kb, at_first_kb - 8 * 1024);
}

TEST(Serve, TakesALargeBodyIntoTheMemoryOfTheOneBefore) {
    const TemporaryDirectory directory;
    RunningServer server(kBinary, directory / "data");
    const auto url = tools::parse_server_url(server.url());
    ASSERT_TRUE(url) << server.process().errors();
    const auto faults = [&] {
        const std::string stat =
            test::read_whole_file("/proc/" + std::to_string(server.process().pid()) + "/stat");
        std::istringstream fields(stat.substr(stat.rfind(')') + 1));
        std::string field;
        for (int i = 0; i < 8; ++i) {
            fields >> field;  // minflt is the tenth, after the name in parentheses the eighth
        }
        return std::stol(field);
    };
    const std::string body = R"({"resourceType":"Binary","id":"1","contentType":"a/b","data":")" +
                             std::string(16 << 20, 'A') + "\"}";
    tools::HttpRequest request;
    request.method = "PUT";
    request.target = "/fhir/Binary/1";
    request.headers = {{"Prefer", "return=minimal"}};
    request.body = body;
    tools::HttpClient client(*url);
    // The first ones still collect memory, and now and then a later one needs some more.
    long fewest = std::numeric_limits<long>::max();
    for (int i = 0; i < 8; ++i) {
        const long before = faults();
        ASSERT_LT(client.send(request)->status, 300);
        fewest = std::min(fewest, faults() - before);
    }
    const long pages = static_cast<long>(body.size() / 4096);
    EXPECT_LT(fewest, pages);  // it is copied several times
}
#endif

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

TEST(Serve, GoesOnWhereNobodyCanBeToldThatItIsReady) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh", served_by_shell("exec \"$@\" >/dev/full", directory));
    const std::string told =
        "stdout: No space left on device: cannot report that the server is ready";
    for (int i = 0; i < 300 && server.errors().find(told) == std::string::npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_THAT(server.errors(), testing::HasSubstr(told));
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0) << server.errors();
}

TEST(Serve, NeedsNoRoomForPendingSignals) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh",
                              served_by_shell("exec prlimit --sigpending=0 \"$@\"", directory));
    EXPECT_NE(url_when_ready(server), "") << server.errors();
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0) << server.errors();
}

TEST(Serve, LeavesDescriptorsToFilesHoweverManyConnect) {
    const TemporaryDirectory directory;
    const char* const script = "ulimit -n 200; exec \"$@\" --set threads=2";
    test::ChildProcess server("/bin/sh", served_by_shell(script, directory));
    const auto url = tools::parse_server_url(url_when_ready(server));
    ASSERT_TRUE(url) << server.errors();
    EXPECT_THAT(server.errors(),
                testing::HasSubstr("limits.max_connections: with 200 file descriptors in total, "
                                   "100 connections are accepted"));
    tools::HttpClient client(*url);
    const auto ask = [&](const std::string& method, const std::string& target) {
        tools::HttpRequest request;
        request.method = method;
        request.target = target;
        const auto reply = client.send(request);
        return reply ? reply->status : 0;
    };
    ASSERT_EQ(ask("GET", "/fhir/Patient"), 200);
    const auto port = static_cast<std::uint16_t>(std::stoi(url->port));
    std::deque<test::Connection> silent;
    for (int i = 0; i < 600; ++i) {
        silent.emplace_back(port);
    }
    EXPECT_EQ(test::exchange(port, "GET", "/healthz").status, 200);
    int status = ask("POST", "/fhir/$backup?to=b");
    for (int i = 0; i < 2000 && status == 202; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        status = ask("GET", "/fhir/$backup");
    }
    EXPECT_EQ(status, 200) << server.errors();
    EXPECT_THAT(server.errors(), testing::Not(testing::HasSubstr("cannot accept")));
}

TEST(Serve, TakesALimitOfTheSizeOfFilesForAFullDevice) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh", served_by_shell("ulimit -f 300; exec \"$@\"", directory));
    const auto url = tools::parse_server_url(url_when_ready(server));
    ASSERT_TRUE(url) << server.errors();
    tools::HttpClient client(*url);
    tools::HttpRequest request;
    request.method = "PUT";
    request.target = "/fhir/Basic/1";
    // More than the limit, whether the shell counts blocks of 512 bytes or 1024.
    const std::string large = R"({"resourceType":"Basic","id":"1","code":{"text":")" +
                              std::string(400 << 10, 'x') + "\"}}";
    request.body = large;
    const auto refused = client.send(request);
    ASSERT_TRUE(refused) << server.errors();
    EXPECT_EQ(refused->status, 503);
    EXPECT_NE(refused->body.find("no-store"), std::string::npos) << refused->body;

    request.body = R"({"resourceType":"Basic","id":"1","code":{"text":"x"}})";
    tools::Patience patience;
    patience.give_up_after = seconds(20);
    const auto taken = client.send_patiently(request, patience);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->status, 201);
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0);
}

#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
/// A sanitized program needs more than that for its first thread.
TEST(Serve, GivesItsThreadsTheStacksThatTheyNeed) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh", served_by_shell("ulimit -s 128; exec \"$@\"", directory));
    const auto url = tools::parse_server_url(url_when_ready(server));
    ASSERT_TRUE(url) << server.errors();
    tools::HttpClient client(*url);
    tools::HttpRequest request;
    request.target =
        "/fhir/Basic?_filter=" + std::string(40, '(') + "code%20eq%20x" + std::string(40, ')');
    const auto found = client.send(request);
    ASSERT_TRUE(found) << server.errors();
    EXPECT_EQ(found->status, 200);
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0);
}
#endif

TEST(Serve, StopsInOrderWhenItsTerminalIsClosedUnlessItIsToOutliveIt) {
    const TemporaryDirectory directory;
    {
        RunningServer server(kBinary, directory / "data");
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        server.process().kill(SIGHUP);
        EXPECT_EQ(server.process().wait(seconds(20)), 0);
        EXPECT_NE(server.process().errors().find("SIGHUP: stopping"), std::string::npos);
    }
    test::ChildProcess server("/bin/sh", served_by_shell("trap '' HUP; exec \"$@\"", directory));
    ASSERT_TRUE(server.wait_for_line("annals ready on ", seconds(30))) << server.errors();
    server.kill(SIGHUP);
    EXPECT_FALSE(server.wait(seconds(1)));
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0);
    EXPECT_NE(server.errors().find("SIGTERM: stopping"), std::string::npos) << server.errors();
}

TEST(Serve, StopsAtOnceWhenItIsToldSoBeforeItIsReady) {
    const TemporaryDirectory directory;
    // The signal is pending when the program begins.
    const Finished stopped = test::run_program(
        "/usr/bin/env",
        {"--block-signal=TERM", "/bin/sh", "-c", "kill -TERM $$; exec \"$@\"", "sh", kBinary,
         "serve", "--data", directory / "data", "--listen", "127.0.0.1:0"});
    EXPECT_EQ(stopped.exit_code, 0) << stopped.errors;
    EXPECT_EQ(stopped.output, "");
    EXPECT_NE(stopped.errors.find("SIGTERM: stopped before it was ready"), std::string::npos)
        << stopped.errors;
    RunningServer server(kBinary, directory / "data");
    EXPECT_FALSE(server.url().empty()) << server.process().errors();
}

}  // namespace
}  // namespace annals
