// annals serve: what it takes from the system, what it does with little of it, and how it stops.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <gmock/gmock.h>

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

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

/// A figure of the process's memory: "VmRSS", "RssAnon". 0: there is none.
long memory_kb(pid_t process, const std::string& figure) {
    const std::string status =
        test::read_whole_file("/proc/" + std::to_string(process) + "/status");
    const std::size_t at = status.find(figure + ':');
    return at == std::string::npos ? 0 : std::atol(status.c_str() + at + figure.size() + 1);
}

TEST(Serve, PrintsOneLineAndIsSmallWhenEmpty) {
    const TemporaryDirectory directory;
    // Each thread has memory of its own, and by default there are as many as cores.
    RunningServer server(kBinary, directory / "data", {"--set", "threads=2"});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_EQ(server.process().output(), "annals ready on " + server.url() + "\n");
    const long resident_kb = memory_kb(server.process().pid(), "VmRSS");
    ASSERT_GT(resident_kb, 0);
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
    const auto url = tools::parse_server_url(test::url_when_ready(server));
    ASSERT_TRUE(url) << server.errors();
    const auto own_kb = [&] { return memory_kb(server.pid(), "RssAnon"); };
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

#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
/// A sanitized program needs more than that for its first thread.
TEST(Serve, GivesItsThreadsTheStacksThatTheyNeed) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh", served_by_shell("ulimit -s 128; exec \"$@\"", directory));
    const auto url = tools::parse_server_url(test::url_when_ready(server));
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

TEST(Serve, NeedsNoRoomForPendingSignals) {
    const TemporaryDirectory directory;
    test::ChildProcess server("/bin/sh",
                              served_by_shell("exec prlimit --sigpending=0 \"$@\"", directory));
    EXPECT_NE(test::url_when_ready(server), "") << server.errors();
    server.kill(SIGTERM);
    EXPECT_EQ(server.wait(seconds(20)), 0) << server.errors();
}

TEST(Serve, LeavesDescriptorsToFilesHoweverManyConnect) {
    const TemporaryDirectory directory;
    const char* const script = "ulimit -n 200; exec \"$@\" --set threads=2";
    test::ChildProcess server("/bin/sh", served_by_shell(script, directory));
    const auto url = tools::parse_server_url(test::url_when_ready(server));
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
    const auto url = tools::parse_server_url(test::url_when_ready(server));
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
