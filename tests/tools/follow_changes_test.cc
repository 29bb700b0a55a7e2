// Replication by the change feed: its pages, its state, and a pair of servers.

#include "tools/commands/follow_changes.h"

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace annals::tools {
namespace {

HttpReply reply_of(std::string body) {
    HttpReply reply;
    reply.status = 200;
    reply.body = std::move(body);
    reply.headers = {{"X-Annals-Position", "9"}, {"X-Annals-Last-Position", "12"}};
    return reply;
}

TEST(ChangePage, IsTakenApart) {
    const auto page =
        read_change_page(reply_of("{\"position\":7,\"commit\":8,\"fullUrl\":\"a\"}\n"
                                  "{\"position\":8,\"commit\":8,\"response\":{}}\n"));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->position, 8U);
    EXPECT_EQ(page->newest, 12U);
    ASSERT_EQ(page->entries.size(), 2U);
    EXPECT_EQ(page->entries[0], R"({"fullUrl":"a"})");
    EXPECT_EQ(page->entries[1], R"({"response":{}})");
    EXPECT_EQ(page->commits, (std::vector<std::uint64_t>{8, 8}));
    const auto nothing = read_change_page(reply_of(""));
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->entries.empty());
    EXPECT_EQ(nothing->position, 9U);
}

TEST(ChangePage, ReachesNoFurtherThanWhatHasCome) {
    const std::string first = "{\"position\":5,\"commit\":7,\"fullUrl\":\"a\"}\n";
    const std::string second = "{\"position\":6,\"commit\":7,\"fullUrl\":\"b\"}\n";
    for (std::size_t cut = 0; cut < second.size(); ++cut) {
        const auto page = read_change_page(reply_of(first + second.substr(0, cut)));
        ASSERT_TRUE(page) << cut;
        EXPECT_EQ(page->entries.size(), 1U);
        EXPECT_EQ(page->position, 5U);
    }
    EXPECT_EQ(read_change_page(reply_of(first + second))->position, 6U);
}

TEST(ChangePage, IsAskedForAgainWhereItsFirstLineWasCutOff) {
    std::atomic<int> asked = 0;
    const test::HttpEndpoint source([&](const std::string&) {
        return ++asked == 1 ? test::HttpEndpoint::Answer{200, R"({"position":7,"comm)"}
                            : test::HttpEndpoint::Answer{404, "{}"};
    });
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    const auto feeds = has_change_feed(*parse_server_url(source.url()), patience);
    ASSERT_TRUE(feeds) << feeds.error().detail;
    EXPECT_FALSE(*feeds);
    EXPECT_EQ(asked, 2);
}

TEST(ChangePage, IsAskedForOnceOfWhoAnswersSomethingElse) {
    std::atomic<int> asked = 0;
    const test::HttpEndpoint source([&](const std::string&) {
        ++asked;
        return test::HttpEndpoint::Answer{200, R"({"resourceType":"Bundle","type":"searchset"})"};
    });
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.give_up_after = std::chrono::milliseconds(100);
    const auto feeds = has_change_feed(*parse_server_url(source.url()), patience);
    ASSERT_TRUE(feeds) << feeds.error().detail;
    EXPECT_FALSE(*feeds);
    EXPECT_EQ(asked, 1);
}

TEST(ChangePage, IsRefusedWhenItIsSomethingElse) {
    for (const char* body :
         {"{\"position\":7,\"commit\":8,\"fullUrl\":\"a\"}", "{}\n", "\n", "{\"position\":7}\n",
          "{\"position\":x,\"commit\":8,\"fullUrl\":\"a\"}\n", "{\"position\":7,\"commit\":8}\n",
          "{\"resourceType\":\"Bundle\"}\n"}) {
        EXPECT_FALSE(read_change_page(reply_of(body))) << body;
    }
    HttpReply other = reply_of("");
    other.headers.clear();
    EXPECT_FALSE(read_change_page(other));
}

TEST(ChangeTarget, IsAPosition) {
    EXPECT_EQ(position_of(change_target(0)), 0U);
    EXPECT_EQ(position_of(change_target(77)), 77U);
    EXPECT_FALSE(position_of("/fhir/_history?_count=1"));
    EXPECT_FALSE(position_of(""));
}

class FollowTest : public ::testing::Test {
  protected:
    using Servers = test::RunningServer;

    int put(const std::string& server, const std::string& id) {
        HttpClient client(*parse_server_url(server));
        const std::string body = R"({"resourceType":"Patient","id":")" + id + "\"}";
        HttpRequest request;
        request.method = "PUT";
        request.target = "/fhir/Patient/" + id;
        request.body = body;
        const auto reply = client.send(request);
        position_ = std::string(reply->header("X-Annals-Position").value_or(""));
        return reply->status;
    }

    /// Waits at the follower for what was written last, as a reader would.
    int read(const std::string& server, const std::string& id) {
        HttpClient client(*parse_server_url(server));
        HttpRequest request;
        request.target = "/fhir/Patient/" + id;
        request.headers = {{"X-Annals-Min-Position", position_}};
        int status = 503;
        for (int i = 0; i < 5 && status == 503; ++i) {
            status = client.send(request)->status;
        }
        return status;
    }

    test::TemporaryDirectory directory_;
    std::string position_;
};

TEST_F(FollowTest, AReaderWaitsAtTheFollowerForThePositionOfTheSource) {
    Servers source(ANNALS_BINARY, directory_ / "a");
    Servers target(ANNALS_BINARY, directory_ / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    // The source is ahead: its positions are not the follower's.
    for (int i = 0; i < 5; ++i) {
        put(source.url(), "before" + std::to_string(i));
    }
    const std::vector<std::string> arguments = {
        "replicate",  "--from",  source.url(),         "--to",
        target.url(), "--state", directory_ / "state", "--follow"};
    std::string state;
    {
        test::ChildProcess follower(ANNALS_BINARY, arguments);
        for (int i = 0; i < 10; ++i) {
            const std::string id = "p" + std::to_string(i);
            ASSERT_EQ(put(source.url(), id), 201);
            EXPECT_EQ(read(target.url(), id), 200) << id;
        }
        follower.kill(SIGTERM);
        EXPECT_EQ(follower.wait(std::chrono::seconds(20)), 0) << follower.errors();
        EXPECT_NE(follower.output().find("replicated 15 versions: 0 there already"),
                  std::string::npos)
            << follower.output();
    }
    state = test::read_whole_file(directory_ / "state");
    EXPECT_NE(state.find("\ntarget changes after 15\n"), std::string::npos) << state;

    put(source.url(), "later");
    test::ChildProcess follower(ANNALS_BINARY, arguments);
    EXPECT_EQ(read(target.url(), "later"), 200);
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(20)), 0);
    EXPECT_NE(follower.output().find("replicated 1 versions"), std::string::npos)
        << follower.output();
}

TEST_F(FollowTest, ASourceThatWasRestoredToAnEarlierPointIsNotGoneOnWith) {
    const std::string data = directory_ / "a";
    const std::string backup = directory_ / "backup";
    const auto stop = [](test::ChildProcess& process) {
        process.kill(SIGTERM);
        return process.wait(std::chrono::seconds(20));
    };
    const int port = test::lasting_port();
    {
        Servers source(ANNALS_BINARY, data, {}, port);
        ASSERT_FALSE(source.url().empty()) << source.process().errors();
        ASSERT_EQ(put(source.url(), "early"), 201);
        ASSERT_EQ(stop(source.process()), 0);
    }
    ASSERT_EQ(
        test::run_program(ANNALS_BINARY, {"backup", "--data", data, "--to", backup}).exit_code, 0);
    Servers target(ANNALS_BINARY, directory_ / "b");
    std::vector<std::string> arguments;
    {
        Servers source(ANNALS_BINARY, data, {}, port);
        ASSERT_FALSE(source.url().empty() || target.url().empty())
            << source.process().errors() << target.process().errors();
        ASSERT_EQ(put(source.url(), "lost"), 201);
        arguments = {"replicate",  "--from",  source.url(),         "--to",
                     target.url(), "--state", directory_ / "state", "--follow"};
        test::ChildProcess follower(ANNALS_BINARY, arguments);
        EXPECT_EQ(read(target.url(), "lost"), 200);
        EXPECT_EQ(stop(follower), 0);
        ASSERT_EQ(stop(source.process()), 0);
    }
    const std::string restored = directory_ / "restored";
    ASSERT_EQ(test::run_program(ANNALS_BINARY, {"restore", "--from", backup, "--data", restored})
                  .exit_code,
              0);
    Servers source(ANNALS_BINARY, restored, {}, port);
    ASSERT_FALSE(source.url().empty()) << source.process().errors();
    const std::string before = test::read_whole_file(directory_ / "state");
    const auto refused = test::run_program(ANNALS_BINARY, arguments, std::chrono::seconds(20));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.errors.find("ends at position 1, and was read up to 2"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(test::read_whole_file(directory_ / "state"), before);
}

TEST_F(FollowTest, WhatTheTargetRefusesEndsItAlsoWhereTheSourceIsGone) {
    Servers source(ANNALS_BINARY, directory_ / "a");
    ASSERT_EQ(put(source.url(), "p"), 201);
    const test::HttpEndpoint target([&](const std::string&) {
        source.process().kill(SIGKILL);
        return test::HttpEndpoint::Answer{400, "{}"};
    });
    test::ChildProcess follower(
        ANNALS_BINARY, {"replicate", "--from", source.url(), "--to", target.url(), "--state",
                        directory_ / "state", "--follow"});
    EXPECT_EQ(follower.wait(std::chrono::seconds(20)), 1) << follower.errors();
    EXPECT_NE(follower.errors().find("status 400"), std::string::npos) << follower.errors();
}

TEST_F(FollowTest, WhoMayNotReadTheFeedIsFollowedByHistory) {
    test::write_whole_file(directory_ / "keys.toml", "[[key]]\nid = \"x\"\nsha256 = \"" +
                                                         std::string(64, '0') +
                                                         "\"\nscopes = [\"system/*.cruds\"]\n");
    {
        Servers filler(ANNALS_BINARY, directory_ / "a");
        ASSERT_EQ(put(filler.url(), "one"), 201);
        filler.process().kill(SIGTERM);
        filler.process().wait(std::chrono::seconds(20));
    }
    Servers source(
        ANNALS_BINARY, directory_ / "a",
        {"--set", "auth.mode=api_key", "--set", "auth.api_keys_file=" + (directory_ / "keys.toml"),
         "--set", R"(auth.public=["metadata","history"])"});
    Servers target(ANNALS_BINARY, directory_ / "b");
    ASSERT_FALSE(source.url().empty() || target.url().empty());
    test::ChildProcess follower(
        ANNALS_BINARY, {"replicate", "--from", source.url(), "--to", target.url(), "--state",
                        directory_ / "state", "--follow"});
    HttpClient client(*parse_server_url(target.url()));
    HttpRequest request;
    request.target = "/fhir/Patient/one";
    int status = 404;
    for (int i = 0; i < 1000 && status != 200; ++i) {
        status = client.send(request)->status;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(status, 200);
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(20)), 0) << follower.errors();
    EXPECT_NE(test::read_whole_file(directory_ / "state").find("/_history?"), std::string::npos);
}

}  // namespace
}  // namespace annals::tools
