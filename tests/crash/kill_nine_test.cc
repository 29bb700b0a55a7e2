// The real binary under load, killed with -9 or stopped with a signal.

#include "tests/crash/load.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"
#include "tools/commands/history_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

namespace annals {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Acknowledged;
using test::Load;
using test::RunningServer;
using test::TemporaryDirectory;

const std::string kBinary = ANNALS_BINARY;

void sleep_for(std::uint64_t ms) {
    std::this_thread::sleep_for(milliseconds(ms));
}

void add(std::vector<Acknowledged>& all, std::vector<Acknowledged> more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// history.ndjson of a store that no process has open.
std::string exported(const std::string& data) {
    const TemporaryDirectory directory;
    const auto run = test::run_program(
        kBinary, {"export", "--data", data, "--to", directory.path(), "--history"});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return test::read_whole_file(directory / "history.ndjson");
}

/// "Type/id/_history/n" from an entry's fullUrl.
std::string version_url(std::string_view entry) {
    constexpr std::string_view kBegin = "\"fullUrl\":\"";
    const std::size_t begin = entry.find(kBegin) + kBegin.size();
    std::string_view url = entry.substr(begin, entry.find('"', begin) - begin);
    return std::string(url.substr(url.find("/fhir/") + 6));
}

std::vector<std::string> version_urls(const std::string& lines) {
    std::vector<std::string> urls;
    std::size_t begin = 0;
    while (begin < lines.size()) {
        const std::size_t end = lines.find('\n', begin);
        urls.push_back(version_url(std::string_view(lines).substr(begin, end - begin)));
        begin = end + 1;
    }
    return urls;
}

TEST(KillNine, LosesNothingThatWasAcknowledged) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    std::vector<Acknowledged> all;
    std::mt19937_64 random(20260102);
    for (std::uint64_t round = 1; round <= 6; ++round) {
        RunningServer server(kBinary, data);
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        EXPECT_THAT(test::find_lost(server.url(), all), testing::IsEmpty());
        Load load(server.url(), 8, round);
        sleep_for(50 + random() % 700);
        const auto late = std::chrono::steady_clock::now() + seconds(20);
        while (load.count() == 0 && std::chrono::steady_clock::now() < late) {
            sleep_for(1);  // a busy machine may be slow
        }
        server.process().kill(SIGKILL);
        EXPECT_EQ(server.process().wait(seconds(10)), -SIGKILL);
        load.stop();
        EXPECT_THAT(load.faults(), testing::IsEmpty());
        EXPECT_GT(load.count(), 0u);
        add(all, load.take());
    }
    RunningServer server(kBinary, data);
    EXPECT_THAT(test::find_lost(server.url(), all), testing::IsEmpty());
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(20)), 0);
    const auto verify = test::run_program(kBinary, {"verify", "--data", data});
    EXPECT_EQ(verify.exit_code, 0) << verify.output << verify.errors;
}

TEST(KillNine, LeavesACursorChainWithoutGapOrRepetition) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    std::vector<std::string> followed;
    std::string target = "/fhir/_history?_sort=_position&_count=7";
    std::optional<std::uint64_t> mark;

    // Follows the chain until it ends or `pages` are read; remembers where it stopped.
    const auto follow = [&](const std::string& url, std::size_t pages) {
        tools::Patience impatient;
        impatient.give_up_after = milliseconds(0);
        tools::HistoryReader reader(*tools::parse_server_url(url), impatient);
        while (pages-- > 0) {
            const auto page = reader.read(target);
            if (!page) {
                return;
            }
            bool fresh = !mark;
            for (const std::string_view entry : page->entries) {
                if (fresh) {
                    followed.push_back(version_url(entry));
                }
                fresh |= mark == tools::entry_mark(entry);
            }
            if (page->next.empty()) {
                if (!page->entries.empty()) {
                    mark = tools::entry_mark(page->entries.back());
                }
                return;
            }
            mark.reset();
            target = page->next;
        }
    };

    const int port = test::lasting_port();
    for (std::uint64_t round = 1; round <= 3; ++round) {
        RunningServer server(kBinary, data, {}, port);
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        Load load(server.url(), 16, round);
        const auto end = std::chrono::steady_clock::now() + milliseconds(800);
        while (std::chrono::steady_clock::now() < end) {
            follow(server.url(), 3);
        }
        server.process().kill(SIGKILL);
        follow(server.url(), 5);
        load.stop();
        EXPECT_THAT(load.faults(), testing::IsEmpty());
    }
    RunningServer server(kBinary, data, {}, port);
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    follow(server.url(), 1'000'000);
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(20)), 0);
    const auto expected = version_urls(exported(data));
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(followed.size(), expected.size());
    EXPECT_TRUE(followed == expected);
}

TEST(KillNine, LetsAReplicationEndWithAnIdenticalStore) {
    const TemporaryDirectory directory;
    const std::string source_data = directory / "source";
    const std::string target_data = directory / "target";
    std::mt19937_64 random(7);
    {
        RunningServer source(kBinary, source_data);
        ASSERT_FALSE(source.url().empty()) << source.process().errors();
        std::optional<RunningServer> target;
        const int port = test::lasting_port();
        target.emplace(kBinary, target_data, std::vector<std::string>(), port);
        ASSERT_FALSE(target->url().empty()) << target->process().errors();
        const std::vector<std::string> arguments = {
            "replicate", "--from",  source.url(),        "--to",    target->url(), "--page",
            "20",        "--state", directory / "state", "--follow"};

        // Whether its state names the target's position.
        const auto has_begun = [&] {
            return test::read_whole_file(directory / "state").find("\ntarget ") !=
                   std::string::npos;
        };

        Load load(source.url(), 8, 1);
        for (int round = 0; round < 10; ++round) {
            test::ChildProcess replicate(kBinary, arguments);
            sleep_for(20 + random() % 250);
            if (round == 4) {
                target->process().kill(SIGKILL);
                target->process().wait(seconds(10));
                sleep_for(100);
                target.emplace(kBinary, target_data, std::vector<std::string>(), port);
                ASSERT_FALSE(target->url().empty()) << target->process().errors();
                sleep_for(300);
            }
            if (round == 9) {
                EXPECT_TRUE(test::eventually(has_begun));
            }
            replicate.kill(SIGKILL);
            replicate.wait(seconds(10));
        }
        load.stop();
        EXPECT_THAT(load.faults(), testing::IsEmpty());
        EXPECT_GT(load.count(), 0u);

        std::vector<std::string> once = arguments;
        once.pop_back();
        const auto last = test::run_program(kBinary, once, seconds(60));
        EXPECT_EQ(last.exit_code, 0) << last.output << last.errors;
        for (RunningServer* server : {&source, &*target}) {
            server->process().kill(SIGTERM);
            EXPECT_EQ(server->process().wait(seconds(20)), 0);
        }
    }
    const std::string left = exported(source_data);
    EXPECT_FALSE(left.empty());
    EXPECT_TRUE(left == exported(target_data));
}

TEST(Serve, EndsWellAtSigtermUnderLoad) {
    const TemporaryDirectory directory;
    RunningServer server(kBinary, directory / "data", {"--set", "shutdown_timeout=\"5s\""});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    Load load(server.url(), 8, 1);
    EXPECT_TRUE(test::eventually([&] { return load.count() > 0; }));
    sleep_for(300);
    server.process().kill(SIGTERM);
    EXPECT_EQ(server.process().wait(seconds(8)), 0) << server.process().errors();
    load.stop();
    EXPECT_THAT(load.faults(), testing::IsEmpty());
    const auto all = load.take();
    EXPECT_FALSE(all.empty());

    RunningServer again(kBinary, directory / "data");
    EXPECT_THAT(test::find_lost(again.url(), all), testing::IsEmpty());
    EXPECT_EQ(again.process().errors().find("torn"), std::string::npos);
    again.process().kill(SIGINT);
    EXPECT_EQ(again.process().wait(seconds(20)), 0);
}

TEST(Serve, RefusesADataDirectoryThatAnotherProcessHolds) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    RunningServer server(kBinary, data);
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"serve", "--data", data, "--listen", "127.0.0.1:0"},
          std::vector<std::string>{"export", "--data", data, "--to", directory / "out"},
          std::vector<std::string>{"import", "--data", data}}) {
        const auto second = test::run_program(kBinary, arguments, seconds(10));
        EXPECT_EQ(second.exit_code, 2) << arguments.front();
        EXPECT_NE(second.errors.find(data), std::string::npos) << second.errors;
        EXPECT_EQ(second.errors.find('\n') + 1, second.errors.size()) << second.errors;
    }
}

/// A small file system in memory, unmounted with its object; not mounted if the machine forbids it.
class SmallDisk {
  public:
    explicit SmallDisk(const std::string& path) : path_(path) {
        const auto made = test::run_program("/bin/mkdir", {"-p", path});
        mounted_ =
            made.exit_code == 0 &&
            test::run_program("/bin/mount", {"-t", "tmpfs", "-o", "size=160m", "annals-test", path})
                    .exit_code == 0;
    }

    ~SmallDisk() {
        if (mounted_) {
            test::run_program("/bin/umount", {path_});
        }
    }

    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool mounted() const noexcept { return mounted_; }

  private:
    std::string path_;
    bool mounted_ = false;
};

tools::HttpReply ask(tools::HttpClient& client, const std::string& method,
                     const std::string& target, std::string_view body = {}) {
    tools::HttpRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    const auto reply = client.send(request);
    EXPECT_TRUE(reply) << reply.error().detail;
    return reply ? *reply : tools::HttpReply();
}

TEST(FullDisk, RefusesWritesKeepsReadingAndRecoversWithoutARestart) {
    const TemporaryDirectory directory;
    const std::string mount = directory / "disk";
    const SmallDisk disk(mount);
    if (!disk.mounted()) {
        GTEST_SKIP() << "this machine lets nobody mount a small file system";
    }
    {
        RunningServer server(kBinary, mount + "/data");
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        tools::HttpClient client(*tools::parse_server_url(server.url()));
        ASSERT_EQ(
            ask(client, "PUT", "/fhir/Patient/a", R"({"resourceType":"Patient","id":"a"})").status,
            201);
        // The rest of the space is filled, so that there is none for the next segment.
        test::run_program("/bin/dd",
                          {"if=/dev/zero", "of=" + mount + "/filler", "bs=1M", "count=400"});
        const std::string large =
            R"({"resourceType":"Binary","id":"b","contentType":"text/plain","data":")" +
            std::string(4 << 20, 'A') + "\"}";
        int status = 0;
        std::string refusal;
        int written = 0;
        while (written < 100) {
            const auto reply = ask(client, "PUT", "/fhir/Binary/b", large);
            status = reply.status;
            if (status >= 300) {
                refusal = reply.body;
                break;
            }
            ++written;
        }
        EXPECT_EQ(status, 503);
        EXPECT_NE(refusal.find("no-store"), std::string::npos) << refusal;
        EXPECT_EQ(ask(client, "GET", "/fhir/Patient/a").status, 200);
        EXPECT_EQ(ask(client, "GET", "/fhir/Binary/b/_history/" + std::to_string(written)).status,
                  200);
        EXPECT_EQ(ask(client, "GET", "/readyz").status, 503);
        EXPECT_EQ(ask(client, "GET", "/healthz").status, 200);

        test::run_program("/bin/rm", {mount + "/filler"});
        // The disk can't hold two segments of 128 MiB, and a smaller one couldn't hold any.
        test::run_program("/bin/mount", {"-o", "remount,size=500m", mount});
        for (int i = 0; i < 50 && status == 503; ++i) {
            sleep_for(200);
            status = ask(client, "PUT", "/fhir/Patient/a", R"({"resourceType":"Patient","id":"a"})")
                         .status;
        }
        EXPECT_EQ(status, 200);
        EXPECT_EQ(ask(client, "GET", "/readyz").status, 200);
        const std::string told = server.process().errors();
        const std::size_t refused = told.find("writes are refused until this is resolved");
        EXPECT_NE(refused, std::string::npos) << told;
        EXPECT_NE(told.find("writes are accepted again", refused), std::string::npos) << told;
        server.process().kill(SIGTERM);
        EXPECT_EQ(server.process().wait(seconds(20)), 0);
    }
}

}  // namespace
}  // namespace annals
