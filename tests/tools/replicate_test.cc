// annals replicate between two servers of the real binary.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(Replicate, CopiesAndSaysWhatItDid) {
    const TemporaryDirectory directory;
    import_history(directory / "a");
    {
        RunningServer source(kBinary, directory / "a");
        RunningServer target(kBinary, directory / "b");
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        const std::vector<std::string> arguments = {"replicate", "--from",     source.url(),
                                                    "--to",      target.url(), "--page",
                                                    "3",         "--state",    directory / "state"};
        const Finished first = annals(arguments);
        EXPECT_EQ(first.exit_code, 0) << first.errors;
        EXPECT_NE(first.output.find("replicated 4 versions: 0 there already"), std::string::npos)
            << first.output;
        EXPECT_NE(first.output.find("\ncursor "), std::string::npos) << first.output;
        const Finished second = annals(arguments);
        EXPECT_EQ(second.exit_code, 0) << second.errors;
        EXPECT_NE(second.output.find("replicated 0 versions"), std::string::npos) << second.output;
        std::filesystem::remove(directory / "state");
        const Finished third = annals(arguments);
        EXPECT_EQ(third.exit_code, 0) << third.errors;
        EXPECT_NE(third.output.find("replicated 0 versions: 4 there already"), std::string::npos)
            << third.output;
        for (RunningServer* server : {&source, &target}) {
            server->process().kill(SIGTERM);
            EXPECT_EQ(server->process().wait(seconds(20)), 0);
        }
    }
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
}

/// The `_cursor` of the next link in the answer to `target`; empty if there is none.
std::string next_cursor(const std::string& url, const std::string& target) {
    tools::HttpClient client(*tools::parse_server_url(url));
    tools::HttpRequest request;
    request.target = target;
    const auto reply = client.send(request);
    const std::size_t next = reply ? reply->body.find(R"("relation":"next")") : std::string::npos;
    if (next == std::string::npos) {
        return {};
    }
    const std::size_t begin = reply->body.find("_cursor=", next) + 8;
    return reply->body.substr(begin, reply->body.find_first_of("&\"", begin) - begin);
}

TEST(Replicate, BeginsOnlyWhereItCanSayHowFarItHasCome) {
    const TemporaryDirectory directory;
    RunningServer source(kBinary, directory / "a");
    ASSERT_FALSE(source.url().empty()) << source.process().errors();
    const Finished done =
        annals({"replicate", "--from", source.url(), "--to", "http://127.0.0.1:9/fhir", "--state",
                directory / "nowhere/state"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.errors.find("annals: --state: open "), 0U) << done.errors;
    EXPECT_TRUE(one_line(done.errors)) << done.errors;
    EXPECT_TRUE(done.output.empty()) << done.output;
}

TEST(Replicate, RefusesAPageOfNothingAndWhatHasNoPlaceBesideVerify) {
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--page", "0"},
                                                  {"--verify", "--since", "2024-01-01T00:00:00Z"},
                                                  {"--verify", "--state", "x"},
                                                  {"--verify", "--page", "5"}}) {
        std::vector<std::string> arguments{
            "replicate",   "--from", "http://127.0.0.1:1/fhir", "--to", "http://127.0.0.1:2/fhir",
            "--retry-for", "0"};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << wrong.back();
        EXPECT_NE(done.errors.find(wrong.front() + " "), std::string::npos) << done.errors;
    }
}

TEST(Replicate, BeginsAfterACursorOfCommitOrderAndNoOther) {
    const TemporaryDirectory directory;
    import_history(directory / "a");
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    const auto replicate = [&](const std::string& cursor) {
        return annals({"replicate", "--from", source.url(), "--to", target.url(), "--since", cursor,
                       "--state", directory / "state"});
    };
    // Cursors of the newest-first order, and of one in which later versions may come before those read.
    for (const char* query : {"", "&_sort=_lastUpdated"}) {
        const std::string cursor =
            next_cursor(source.url(), std::string("/fhir/_history?_count=1") + query);
        ASSERT_FALSE(cursor.empty());
        const Finished refused = replicate(cursor);
        EXPECT_EQ(refused.exit_code, 2) << refused.output;
        EXPECT_NE(refused.errors.find("a cursor of the source's history by _sort=_position"),
                  std::string::npos)
            << refused.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "state"));
    }
    const std::string cursor = next_cursor(source.url(), "/fhir/_history?_sort=_position&_count=1");
    ASSERT_FALSE(cursor.empty());
    const Finished done = replicate(cursor);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.output.find("replicated 3 versions"), std::string::npos) << done.output;
    const std::size_t printed = done.output.find("\ncursor ");
    ASSERT_NE(printed, std::string::npos) << done.output;
    std::string end = done.output.substr(printed + 8);
    end.resize(end.find('\n'));
    const Finished again = replicate(end);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
}

/// How often `told` says that a server could not be reached.
std::size_t retries(const std::string& told) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = told.find("retrying", at)) != std::string::npos; ++at) {
        ++count;
    }
    return count;
}

TEST(Replicate, ThatIsStoppedBeforeItsEndDoesNotSayThatItIsDone) {
    const TemporaryDirectory directory;
    // Nobody listens at these addresses, so it keeps waiting.
    test::ChildProcess stopped(kBinary,
                               {"replicate", "--from", "http://127.0.0.1:1/fhir", "--to",
                                "http://127.0.0.1:2/fhir", "--state", directory / "state"});
    while (stopped.running() && retries(stopped.errors()) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stopped.kill(SIGTERM);
    EXPECT_EQ(stopped.wait(seconds(20)), 1);
    EXPECT_NE(stopped.errors().find("stopped before"), std::string::npos) << stopped.errors();
}

TEST(Replicate, GoesOnWhereTheShellHasItIgnoreInterrupts) {
    const TemporaryDirectory directory;
    test::ChildProcess background(
        "/bin/sh", {"-c", "trap '' INT; exec \"$0\" \"$@\"", kBinary, "replicate", "--from",
                    "http://127.0.0.1:1/fhir", "--to", "http://127.0.0.1:2/fhir", "--state",
                    directory / "state"});
    const auto await_retries = [&](std::size_t count) {
        while (background.running() && retries(background.errors()) < count) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    };
    await_retries(1);
    background.kill(SIGINT);
    await_retries(retries(background.errors()) + 2);  // one may have begun before
    EXPECT_TRUE(background.running());
    background.kill(SIGTERM);
    EXPECT_EQ(background.wait(seconds(20)), 1);
}

/// A history of `count` patients of about a kilobyte.
std::string many_patients(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
        const std::string id = "p" + std::to_string(i);
        lines +=
            R"({"resource":{"resourceType":"Patient","id":")" + id +
            R"(","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00.000Z"},"name":[{"family":")" +
            std::string(1000, 'f') + R"("}]},"request":{"method":"POST","url":"Patient/)" + id +
            R"("},"response":{"status":"201","etag":"W/\"1\"","lastModified":"2020-01-01T00:00:00.000Z"}})" +
            "\n";
    }
    return lines;
}

/// Exports the history of `source`, from the store "a", to "x", and stops both servers.
void export_history_and_stop(const TemporaryDirectory& directory, RunningServer& source,
                             RunningServer& target) {
    const Finished exported =
        annals({"export", "--server", source.url(), "--to", directory / "x", "--history"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    for (RunningServer* server : {&source, &target}) {
        server->process().kill(SIGTERM);
        EXPECT_EQ(server->process().wait(seconds(20)), 0);
    }
}

/// Expects the store "b", and one made from the history in "x", to equal "a".
void expect_copies(const TemporaryDirectory& directory) {
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "b"));
    const Finished back =
        annals({"import", "--data", directory / "c", directory / "x/history.ndjson"});
    EXPECT_EQ(back.exit_code, 0) << back.errors;
    EXPECT_EQ(history_of(directory / "a"), history_of(directory / "c"));
}

TEST(Replicate, HalvesWhatIsTooLargeForTheTarget) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", many_patients(300));
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    {
        RunningServer source(kBinary, directory / "a");
        RunningServer target(kBinary, directory / "b", {"--set", "limits.max_body=20kB"});
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                      "--state", directory / "state", "--retry-for", "5"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        export_history_and_stop(directory, source, target);
    }
    expect_copies(directory);
}

TEST(Replicate, TakesWhateverTheSourceHasTaken) {
    const TemporaryDirectory directory;
    constexpr std::size_t kLimit = 20'000;
    const std::vector<std::string> limits{"--set", "limits.max_body=20000"};
    {
        RunningServer source(kBinary, directory / "a", limits);
        RunningServer target(kBinary, directory / "b", limits);
        ASSERT_FALSE(source.url().empty() || target.url().empty());
        tools::HttpClient writer(*tools::parse_server_url(source.url()));
        const auto put = [&](const std::string& id, const std::string& x) {
            const std::string body =
                R"({"resourceType":"Patient","id":")" + id + R"(","x":)" + x + "}";
            tools::HttpRequest request;
            request.target = "/fhir/Patient/" + id;
            request.method = "PUT";
            request.body = body;
            const auto written = writer.send(request);
            return written ? written->status : 0;
        };
        EXPECT_EQ(put("deep", std::string(63, '[') + "1" + std::string(63, ']')), 201);
        EXPECT_EQ(put("deeper", std::string(64, '[') + "1" + std::string(64, ']')), 400);
        // The largest possible: with what the server adds, one byte more would be too many.
        std::size_t bytes = kLimit - 300;
        while (put("large", '"' + std::string(bytes, 'x') + '"') < 300) {
            ++bytes;
        }
        EXPECT_GT(bytes, kLimit - 300);
        tools::HttpRequest request;
        request.target = "/fhir/Patient/large";
        const auto large = writer.send(request);
        ASSERT_TRUE(large);
        EXPECT_GT(large->body.size(), kLimit - 50);
        const std::string body(large->body);
        request.method = "PUT";
        request.body = body;
        const auto again = writer.send(request);
        EXPECT_TRUE(again && again->status == 200) << "it can be written as it was read";

        const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                      "--state", directory / "state", "--retry-for", "5"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        export_history_and_stop(directory, source, target);
    }
    expect_copies(directory);
    // The same for the current versions alone.
    EXPECT_EQ(annals({"export", "--data", directory / "a", "--to", directory / "y"}).exit_code, 0);
    RunningServer last(kBinary, directory / "d", limits);
    const Finished plain = annals({"import", "--server", last.url(), directory / "y"});
    EXPECT_EQ(plain.exit_code, 0) << plain.errors;
}

TEST(Replicate, NamesTheVersionThatIsTooLargeForTheTarget) {
    const TemporaryDirectory directory;
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b", {"--set", "limits.max_body=20kB"});
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    tools::HttpClient writer(*tools::parse_server_url(source.url()));
    for (const std::size_t bytes : {std::size_t{10}, std::size_t{40'000}}) {
        const std::string body = R"({"resourceType":"Basic","id":"1","code":{"text":")" +
                                 std::string(bytes, 'x') + "\"}}";
        tools::HttpRequest request;
        request.method = "PUT";
        request.target = "/fhir/Basic/1";
        request.body = body;
        const auto written = writer.send(request);
        ASSERT_TRUE(written && written->status < 300);
    }
    const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                  "--state", directory / "state", "--retry-for", "5"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("/Basic/1/_history/2: status 413"), std::string::npos)
        << done.errors;
}

TEST(Replicate, FollowsWhatIsWrittenLaterUntilItIsToldToStop) {
    const TemporaryDirectory directory;
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    test::ChildProcess follower(kBinary, {"replicate", "--from", source.url(), "--to", target.url(),
                                          "--state", directory / "state", "--follow"});
    tools::HttpClient writer(*tools::parse_server_url(source.url()));
    tools::HttpClient reader(*tools::parse_server_url(target.url()));
    for (const char* id : {"one", "two", "three"}) {
        const std::string body = std::string(R"({"resourceType":"Patient","id":")") + id + "\"}";
        tools::HttpRequest request;
        request.target = std::string("/fhir/Patient/") + id;
        request.method = "PUT";
        request.body = body;
        const auto written = writer.send(request);
        ASSERT_TRUE(written);
        ASSERT_EQ(written->status, 201);
        request.method = "GET";
        request.body = {};
        std::string seen;
        const auto end = std::chrono::steady_clock::now() + seconds(60);
        while (seen.empty() && std::chrono::steady_clock::now() < end) {
            const auto reply = reader.send(request);
            ASSERT_TRUE(reply);
            seen = reply->status == 200 ? reply->body : "";
        }
        EXPECT_EQ(seen, written->body);
    }
    const Finished second = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                    "--state", directory / "state"});
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_EQ(second.errors,
              "annals: --state: " + (directory / "state") + ": in use by another process\n");
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(seconds(10)), 0) << follower.errors();
    EXPECT_EQ(follower.output(),
              "replicated 3 versions: 0 there already, 0 conflicts, 0 refused\nposition 3\n");
}

TEST(Replicate, TakesAVersionThatComesLateBeforeThoseThatAreThere) {
    const TemporaryDirectory directory;
    const auto entry = [](int second) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"p{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{0}Z"}}}}}})",
            second);
    };
    std::atomic<bool> late = false;
    const test::HttpEndpoint source([&](const std::string& request) {
        if (request.find("_sort=_lastUpdated") == std::string::npos) {
            return test::HttpEndpoint::Answer{400, "{}"};
        }
        return test::HttpEndpoint::Answer{
            200,
            R"({"resourceType":"Bundle","type":"history","link":[{"relation":"self","url":"_history?_sort=_lastUpdated"}],"entry":[)" +
                entry(1) + "," + (late ? entry(2) + "," : "") + entry(3) + "]}"};
    });
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(target.url().empty());
    test::ChildProcess follower(kBinary, {"replicate", "--from", source.url(), "--to", target.url(),
                                          "--state", directory / "state", "--follow"});
    tools::HttpClient reader(*tools::parse_server_url(target.url()));
    const auto is_there = [&](const char* id) {
        tools::HttpRequest request;
        request.target = std::string("/fhir/Patient/") + id;
        const auto reply = reader.send(request);
        return reply && reply->status == 200;
    };
    EXPECT_TRUE(test::eventually([&] { return is_there("p3"); }));
    EXPECT_TRUE(test::eventually([&] {
        return test::read_whole_file(directory / "state").find("after") != std::string::npos;
    }));
    late = true;
    EXPECT_TRUE(test::eventually([&] { return is_there("p2"); }));
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(seconds(10)), 0) << follower.errors();
}

TEST(Replicate, MissesNothingWhereALinkLeadsBehindALastPageThatIsNotFull) {
    const TemporaryDirectory directory;
    const auto entry = [](int second) {
        return fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"p{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{0}Z"}}}}}})",
            second);
    };
    std::atomic<bool> more = false;
    const test::HttpEndpoint source([&](const std::string& request) {
        if (request.find("page=2") != std::string::npos) {
            return test::HttpEndpoint::Answer{
                200, R"({"resourceType":"Bundle","type":"history","entry":[]})"};
        }
        if (request.find("_sort=_lastUpdated") == std::string::npos) {
            return test::HttpEndpoint::Answer{400, "{}"};
        }
        return test::HttpEndpoint::Answer{
            200,
            R"({"resourceType":"Bundle","type":"history","link":[{"relation":"self","url":"_history?_sort=_lastUpdated"},{"relation":"next","url":"_history?page=2"}],"entry":[)" +
                entry(1) + "," + entry(2) + (more ? "," + entry(3) : "") + "]}"};
    });
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(target.url().empty());
    const std::vector<std::string> arguments = {"replicate",  "--from",  source.url(),       "--to",
                                                target.url(), "--state", directory / "state"};
    EXPECT_EQ(annals(arguments).exit_code, 0);
    more = true;
    const Finished again = annals(arguments);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_NE(again.output.find("replicated 1 versions"), std::string::npos) << again.output;
}

TEST(Replicate, ReportsAConflictAndKeepsWhatIsThere) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    std::string other = kHistory;
    other.replace(other.find("\"active\":true"), 13, "\"active\":null");
    other.replace(other.find("\"active\":null"), 13, "\"active\":false");
    test::write_whole_file(directory / "other.ndjson", other);
    ASSERT_EQ(annals({"import", "--data", directory / "a", directory / "in.ndjson"}).exit_code, 0);
    ASSERT_EQ(annals({"import", "--data", directory / "b", directory / "other.ndjson"}).exit_code,
              0);
    RunningServer source(kBinary, directory / "a");
    RunningServer target(kBinary, directory / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    const Finished done = annals({"replicate", "--from", source.url(), "--to", target.url(),
                                  "--state", directory / "state"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("Patient/1/_history/5: conflict"), std::string::npos) << done.errors;
    EXPECT_NE(done.output.find("1 conflicts"), std::string::npos) << done.output;
}

TEST(Replicate, GivesUpOnAServerThatIsNotThere) {
    const TemporaryDirectory directory;
    const Finished done =
        annals({"replicate", "--from", "http://127.0.0.1:9/fhir", "--to",
                "http://127.0.0.1:10/fhir", "--retry-for", "1", "--state", directory / "state"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("127.0.0.1:9"), std::string::npos) << done.errors;
}

}  // namespace
}  // namespace annals
