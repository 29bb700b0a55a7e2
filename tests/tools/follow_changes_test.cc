// Replication by the change feed: its pages, its state, and two servers.

#include "tools/commands/follow_changes.h"

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

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
          "{\"resourceType\":\"Bundle\"}\n", "{\"positions:7,\"commit\":8,\"fullUrl\":\"a\"}\n",
          "{\"position\":7,\"commit\":x,\"fullUrl\":\"a\"}\n",
          "{\"position\":7,\"commits:8,\"fullUrl\":\"a\"}\n",
          "{\"position\":7,\"commit\":8,\"fullUrl\":\"a\"\n"}) {
        EXPECT_FALSE(read_change_page(reply_of(body))) << body;
    }
    HttpReply other = reply_of("");
    for (std::size_t i = 0; i < other.headers.size(); ++i) {
        HttpReply one = other;
        one.headers = {other.headers[i]};
        EXPECT_FALSE(read_change_page(one)) << "a header is missing";
    }
}

TEST(ChangeTarget, IsAPosition) {
    EXPECT_EQ(position_of(change_target(0)), 0U);
    EXPECT_EQ(position_of(change_target(77)), 77U);
    EXPECT_FALSE(position_of("/fhir/_history?_count=1"));
    EXPECT_FALSE(position_of(""));
}

/// A feed of `versions` versions, followed only by erased ones up to `newest`.
class Feed {
  public:
    Feed(std::uint64_t versions, std::uint64_t newest)
        : source_([=, this](const test::ReceivedHook& hook, std::size_t, const auto&) {
              return answer(hook.target, versions, newest);
          }) {}

    ServerUrl url() const { return *parse_server_url(source_.url() + "/fhir"); }

    /// The targets of all requests.
    std::vector<std::string> asked() const {
        std::vector<std::string> targets;
        for (const test::ReceivedHook& hook : source_.received()) {
            targets.push_back(hook.target);
        }
        return targets;
    }

    std::atomic<std::uint64_t> count_max = 1000;  ///< answers to more have too large a head
    std::atomic<std::int64_t> last_after = 1000;  ///< requests beyond this get status_then
    std::atomic<int> status_then = 403;
    std::atomic<bool> stands_still = false;  ///< always starts from the beginning

  private:
    std::string answer(const std::string& target, std::uint64_t versions,
                       std::uint64_t newest) const {
        const auto number = [&](const std::string& name) {
            return std::strtoull(target.c_str() + target.find(name) + name.size(), nullptr, 10);
        };
        const std::uint64_t count = number("_count=");
        const std::uint64_t after = stands_still ? 0 : number("after=");
        std::uint64_t reached = after;
        std::string body;
        for (std::uint64_t i = 0; i < count && reached < versions; ++i) {
            ++reached;
            body +=
                fmt::format("{{\"position\":{0},\"commit\":{0},\"fullUrl\":\"v{0}\"}}\n", reached);
        }
        reached = body.empty() ? newest : reached;
        return fmt::format(
            "HTTP/1.1 {} -\r\nConnection: close\r\nX-Annals-Position: {}\r\n"
            "X-Annals-Last-Position: {}\r\nX-More: {}\r\nContent-Length: {}\r\n\r\n{}",
            static_cast<std::int64_t>(after) > last_after ? status_then.load() : 200, reached,
            newest, std::string(count > count_max ? 1 << 20 : 1, 'x'), body.size(), body);
    }

    test::HookReceiver source_;
};

/// Runs follow_changes() with a target that accepts everything unless told to refuse.
class FollowChangesTest : public ::testing::Test {
  protected:
    FollowChangesTest()
        : target_([this](const test::ReceivedHook& hook, std::size_t, const auto&) {
              std::string entries;
              for (std::size_t at = hook.body.find("fullUrl"); at != std::string::npos;
                   at = hook.body.find("fullUrl", at + 1)) {
                  entries += (entries.empty() ? "" : ",") +
                             std::string(R"({"response":{"status":"201"}})");
              }
              const std::string body =
                  R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + entries + "]}";
              return fmt::format(
                  "HTTP/1.1 {} -\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                  status_.load(), body.size(), body);
          }) {
        options_.state_file = directory_ / "state";
        options_.page_size = 2;
        options_.quiet = true;
        options_.patience.first_pause = std::chrono::milliseconds(1);
        options_.patience.longest_pause = std::chrono::milliseconds(1);
        state_ = {"a", "b", change_target(0), {}};
    }

    Result<void> follow(const Feed& feed) {
        HistorySubmitter submitter(*parse_server_url(target_.url()), options_.patience);
        return follow_changes(feed.url(), submitter, options_, state_, counts_);
    }

    /// For each submission, the position that it reported and the number of its entries.
    std::vector<std::pair<std::string, std::size_t>> submitted() const {
        std::vector<std::pair<std::string, std::size_t>> all;
        for (const test::ReceivedHook& hook : target_.received()) {
            std::size_t entries = 0;
            for (std::size_t at = hook.body.find("fullUrl"); at != std::string::npos;
                 at = hook.body.find("fullUrl", at + 1)) {
                ++entries;
            }
            all.emplace_back(hook.header("x-annals-source-position"), entries);
        }
        return all;
    }

    static std::string page(std::uint64_t after, std::uint64_t count, int wait = 0) {
        return fmt::format("/fhir/_changes?after={}&_count={}&wait={}&_format=ndjson", after, count,
                           wait);
    }

    using Submitted = std::vector<std::pair<std::string, std::size_t>>;

    test::TemporaryDirectory directory_;
    std::atomic<int> status_ = 200;
    test::HookReceiver target_;
    FollowOptions options_;
    ReplicateState state_;
    ReplicateCounts counts_;
};

TEST_F(FollowChangesTest, GoesFromPageToPageUntilNothingIsLeftAndOnFromThere) {
    using Targets = std::vector<std::string>;
    {
        const Feed feed(4, 4);
        const auto done = follow(feed);
        EXPECT_TRUE(done) << done.error().detail;
        EXPECT_EQ(feed.asked(), (Targets{page(0, 2), page(2, 2)})) << "what is newest is known";
    }
    EXPECT_EQ(submitted(), (Submitted{{"2", 2}, {"4", 2}}));
    EXPECT_EQ(counts_.sent, 4U);
    EXPECT_EQ(state_.target, change_target(4));
    EXPECT_EQ(**read_state(options_.state_file, "a", "b"), state_);
    // When it continues, it first tells the target the position, as the target may be new. Erased versions are skipped.
    state_.after = 7;
    const Feed feed(4, 9);
    EXPECT_TRUE(follow(feed));
    EXPECT_EQ(feed.asked(), Targets{page(4, 2)});
    EXPECT_EQ(submitted(), (Submitted{{"2", 2}, {"4", 2}, {"4", 0}, {"9", 0}}));
    EXPECT_EQ(state_.target, change_target(9));
    EXPECT_FALSE(state_.after);
    // Without news, the state is not written again; the position is told once per run.
    std::filesystem::remove(options_.state_file);
    EXPECT_TRUE(follow(feed));
    EXPECT_EQ(submitted().size(), 5U);
    EXPECT_FALSE(std::filesystem::exists(options_.state_file));
}

TEST_F(FollowChangesTest, AsksForLessWhereAPageIsTooLarge) {
    Feed feed(4, 4);
    options_.page_bytes_max = 60;  // a line has 41
    EXPECT_TRUE(follow(feed));
    EXPECT_EQ(feed.asked(),
              (std::vector{page(0, 2), page(0, 1), page(1, 1), page(2, 1), page(3, 1)}));
    EXPECT_EQ(counts_.sent, 4U);
    // If a single version is too large, following ends.
    feed.count_max = 0;
    state_.target = change_target(3);
    options_.page_size = 1;
    EXPECT_EQ(follow(feed).error().code, Errc::body_too_large);
    EXPECT_EQ(feed.asked().size(), 6U);
}

TEST_F(FollowChangesTest, AsksForMoreAgainOnceItsPagesAreSmall) {
    Feed feed(5, 5);
    feed.last_after = 4;
    options_.page_bytes_max = 170;
    options_.page_size = 8;
    options_.follow = true;
    EXPECT_FALSE(follow(feed)) << "nobody answers who is asked for more than the five";
    EXPECT_EQ(feed.asked(),
              (std::vector{page(0, 8, 1), page(0, 4, 1), page(4, 4, 1), page(5, 8, 1)}));
}

TEST_F(FollowChangesTest, EndsWhereTheFeedGivesWhatItHasGivenAlready) {
    Feed feed(4, 9);
    feed.stands_still = true;
    EXPECT_NE(follow(feed).error().detail.find("returns what was read before"), std::string::npos);
    EXPECT_EQ(feed.asked(), (std::vector{page(0, 2), page(2, 2)}));
}

TEST_F(FollowChangesTest, EndsWithTheFirstPageThatCannotBeReadOrSubmitted) {
    Feed feed(8, 8);
    status_ = 400;
    auto refused = follow(feed);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("POST: status 400"), std::string::npos);
    EXPECT_EQ(state_.target, change_target(0)) << "nothing of it is there";
    EXPECT_FALSE(std::filesystem::exists(options_.state_file));
    EXPECT_EQ(submitted().size(), 1U);

    status_ = 200;
    feed.last_after = 0;
    refused = follow(feed);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("GET " + page(2, 2) + ": status 403"), std::string::npos)
        << refused.error().detail;
    EXPECT_EQ(counts_.sent, 2U);
    EXPECT_EQ(state_.target, change_target(2)) << "what was read before is there";

    state_.target = change_target(9);
    feed.last_after = 9;
    refused = follow(feed);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("ends at position 8, but was read up to 9"),
              std::string::npos)
        << refused.error().detail;

    EXPECT_TRUE(*has_change_feed(feed.url(), Patience()));
    feed.last_after = -1;
    EXPECT_FALSE(*has_change_feed(feed.url(), Patience())) << "it answers 403";
}

TEST_F(FollowChangesTest, WaitsForNewsUntilItIsToldToStop) {
    Feed feed(2, 2);
    options_.follow = true;
    options_.patience.give_up_after = std::chrono::milliseconds(-1);
    // The source fails at the beginning, and again when its second page is awaited.
    feed.status_then = 503;
    feed.last_after = -1;
    options_.patience.stop = [&] {
        const std::size_t asked = feed.asked().size();
        feed.last_after = asked < 2 ? -1 : asked < 5 ? 2 : 0;
        return asked > 6;
    };
    const auto done = follow(feed);
    EXPECT_TRUE(done) << done.error().detail;
    const auto asked = feed.asked();
    ASSERT_EQ(asked.size(), 7U);
    EXPECT_EQ(asked.front(), page(0, 2, 1));
    EXPECT_EQ(asked.back(), page(2, 2, 1));
    EXPECT_EQ(submitted(), (Submitted{{"2", 2}}));
    EXPECT_EQ(state_.target, change_target(2));
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

    /// Waits at the follower for the last write, as a reader would.
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
    // The source is ahead, so its positions are not the follower's.
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
    EXPECT_NE(refused.errors.find("ends at position 1, but was read up to 2"), std::string::npos)
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
