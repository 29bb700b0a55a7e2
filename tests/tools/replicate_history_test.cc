// annals replicate by another server's history, with servers that answer as told.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals {
namespace {

using test::Finished;
using Answer = test::HttpEndpoint::Answer;
using Clock = std::chrono::steady_clock;

constexpr const char* kIgnoredAndMissing =
    R"({"response":{"status":"200","outcome":{"issue":[{"severity":"information","code":"not-found"}]}}})";

class ReplicateHistory : public testing::Test {
  protected:
    struct Asked {
        std::string target;
        Clock::time_point when;
    };

    /// Gives the source a page of these patients; `name`: "first", or the end of the page's target.
    void has_page(const std::string& name, const std::vector<int>& patients,
                  const std::string& next = {}, const std::string& more = {}) {
        std::string entries;
        for (const int number : patients) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{}Z"}}}}}})",
                entries.empty() ? "" : ",", number, number);
        }
        const std::string link =
            next.empty()
                ? ""
                : R"(,{"relation":"next","url":"http://elsewhere/x/_history?)" + next + "\"}";
        answers(
            name,
            {200,
             fmt::format(
                 R"({{"resourceType":"Bundle","type":"history",{}"link":[{{"relation":"self","url":"_history?_sort=_lastUpdated"}}{}],"entry":[{}]}})",
                 more, link, entries)});
    }

    void answers(const std::string& name, Answer answer) {
        const std::lock_guard lock(mutex_);
        pages_[name] = std::move(answer);
    }

    /// Makes the target refuse each bundle with that patient; 0: none.
    void refuses(int patient) {
        const std::lock_guard lock(mutex_);
        refused_ = patient;
    }

    std::vector<Asked> asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

    void forget_asked() {
        const std::lock_guard lock(mutex_);
        asked_.clear();
    }

    /// How many requests to the source have `part` in their targets.
    std::ptrdiff_t asked_for(const std::string& part) const {
        const std::vector<Asked> all = asked();
        return std::ranges::count_if(
            all, [&](const Asked& one) { return one.target.find(part) != std::string::npos; });
    }

    /// Whether the first four requests to the source that end with `name` follow each other: nothing else is read meanwhile.
    testing::AssertionResult polls_only(const std::string& name) const {
        const auto is_poll = [&](const Asked& one) { return one.target.ends_with(name); };
        if (!test::eventually([&] { return std::ranges::count_if(asked(), is_poll) >= 4; })) {
            return testing::AssertionFailure() << "there are no polls by " << name;
        }
        const std::vector<Asked> all = asked();
        const auto begin = std::ranges::find_if(all, is_poll);
        const auto other = std::find_if_not(begin, begin + 4, is_poll);
        return other == begin + 4 ? testing::AssertionSuccess()
                                  : testing::AssertionFailure() << "in between: " << other->target;
    }

    /// The numbers of the patients that the target accepted.
    std::vector<int> taken() const {
        const std::lock_guard lock(mutex_);
        return taken_;
    }

    std::vector<std::string> arguments(const std::vector<std::string>& more) const {
        std::vector<std::string> all = {"replicate",   "--from",  source_.url(), "--to",
                                        target_.url(), "--state", state_file()};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    Finished replicate(const std::vector<std::string>& more = {"--retry-for", "0"}) const {
        return annals(arguments(more));
    }

    std::string state_file() const { return directory_ / "state"; }

    std::string state() const { return test::read_whole_file(state_file()); }

    /// The first lines of a state file for these two servers.
    std::string state_head() const {
        return fmt::format("annals-replicate 1\nfrom {}\nto {}\n", source_.url(), target_.url());
    }

    const test::TemporaryDirectory directory_;

  private:
    Answer answer_of_source(const std::string& request) {
        const std::string target = request.substr(4, request.find(" HTTP") - 4);
        const std::lock_guard lock(mutex_);
        asked_.push_back({target, Clock::now()});
        for (const auto& [name, answer] : pages_) {
            if (target.ends_with(name)) {
                return answer;
            }
        }
        const bool first = target.find("_sort=_lastUpdated") != std::string::npos;
        return first ? pages_["first"] : Answer{404, "{}"};
    }

    Answer answer_of_target(const std::string& request) {
        constexpr std::string_view kPatient = R"("id":"p)";
        std::vector<int> numbers;
        for (auto at = request.find(kPatient); at != std::string::npos;
             at = request.find(kPatient, at + 1)) {
            numbers.push_back(request.at(at + kPatient.size()) - '0');
        }
        const std::lock_guard lock(mutex_);
        if (std::ranges::find(numbers, refused_) != numbers.end()) {
            return {400, "{}"};
        }
        std::string entries;
        for (const int number : numbers) {
            taken_.push_back(number);
            entries +=
                fmt::format("{}{}", entries.empty() ? "" : ",",
                            number == 9 ? kIgnoredAndMissing : R"({"response":{"status":"201"}})");
        }
        return {200,
                R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + entries + "]}"};
    }

    mutable std::mutex mutex_;
    std::map<std::string, Answer> pages_;
    int refused_ = 0;
    std::vector<Asked> asked_;
    std::vector<int> taken_;
    const test::HttpEndpoint source_{
        [this](const std::string& request) { return answer_of_source(request); }};
    const test::HttpEndpoint target_{
        [this](const std::string& request) { return answer_of_target(request); }};
};

TEST_F(ReplicateHistory, GoesOnWithThePageThatWasNotTaken) {
    has_page("first", {1, 2}, "page=2");
    has_page("page=2", {3, 4}, "page=3");
    has_page("page=3", {5});
    refuses(3);
    const Finished refused = replicate();
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(taken(), (std::vector{1, 2}));
    EXPECT_EQ(state(), state_head() + "target /endpoint/_history?page=2\n");

    refuses(0);
    const auto before = asked_for("_sort=");
    const Finished done = replicate();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(done.output, "replicated 3 versions: 0 there already, 0 conflicts, 0 refused\n");
    EXPECT_EQ(taken(), (std::vector{1, 2, 3, 4, 5}));
    EXPECT_EQ(asked_for("_sort="), before) << "it does not begin anew";
    EXPECT_TRUE(state().starts_with(state_head() + "target /endpoint/_history?page=3\nafter "));

    EXPECT_EQ(replicate().exit_code, 0);
    has_page("page=3", {5, 6}, "page=4");
    has_page("page=4", {7});
    EXPECT_EQ(replicate().exit_code, 0);
    EXPECT_EQ(taken(), (std::vector{1, 2, 3, 4, 5, 6, 7})) << "what the last page has grown by";
}

TEST_F(ReplicateHistory, GoesOnBehindAPageOfNothing) {
    has_page("first", {1}, "page=2");
    has_page("page=2", {}, "page=3");
    has_page("page=3", {9});
    const Finished done = replicate();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(taken(), (std::vector{1, 9}));
    EXPECT_TRUE(done.errors.starts_with("1 versions were ignored and are missing at the target"))
        << done.errors;
}

TEST_F(ReplicateHistory, EndsWhereTheSourcesLinksLeadRound) {
    has_page("first", {1}, "page=2");
    has_page("page=2", {2}, "page=3");
    has_page("page=3", {3}, "page=2");
    const Finished refused =
        test::run_program(kBinary, arguments({"--retry-for", "0"}), std::chrono::seconds(30));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.errors.find("before: /endpoint/_history?page=2"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(taken(), (std::vector{1, 2}));
    EXPECT_EQ(state(), state_head() + "target /endpoint/_history?page=3\n");
}

TEST_F(ReplicateHistory, EndsWhereTheTargetRefusesAlsoWhileTheSourceIsAwaited) {
    has_page("first", {1}, "page=2");
    answers("page=2", {503, "{}"});
    refuses(1);
    const Finished done =
        test::run_program(kBinary, arguments({"--retry-for", "600"}), std::chrono::seconds(30));
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("status 400"), std::string::npos) << done.errors;
    EXPECT_FALSE(std::filesystem::exists(state_file()));
}

TEST_F(ReplicateHistory, FollowsByTheTotalWithGrowingPauses) {
    answers("wait=0&_format=ndjson", {503, "{}"});
    has_page("first", {1}, {}, R"("total":1,)");
    has_page("_count=0", {}, {}, R"("total":1,)");
    test::ChildProcess follower(kBinary, arguments({"--follow", "--retry-for", "0"}));
    EXPECT_TRUE(test::eventually([&] { return asked_for("_changes") > 1; }));
    answers("wait=0&_format=ndjson", {404, "{}"});
    EXPECT_TRUE(test::eventually([&] { return asked_for("_count=0") >= 4; }));
    std::vector<Asked> all = asked();
    const auto begin = [](std::vector<Asked>& log) {
        return std::ranges::find_if(
            log, [](const Asked& one) { return one.target.ends_with("_count=0"); });
    };
    auto polled = begin(all);
    ASSERT_GE(all.end() - polled, 4);
    for (auto at = polled; at < polled + 4; ++at) {
        EXPECT_TRUE(at->target.ends_with("_count=0")) << "nothing has come: " << at->target;
    }
    // After 20, 40, 80 and 160 ms.
    EXPECT_GE(polled[3].when - polled[-1].when, std::chrono::milliseconds(280));

    has_page("first", {1, 2}, {}, R"("total":2,)");
    has_page("_count=0", {}, {}, R"("total":2,)");
    const auto polls = asked_for("_count=0");
    EXPECT_TRUE(test::eventually([&] { return taken() == std::vector{1, 2}; }));
    all = asked();
    polled = begin(all);
    const auto read = std::ranges::find_if(std::next(polled), all.end(), [](const Asked& one) {
        return one.target.find("_sort=") != std::string::npos;
    });
    EXPECT_LE(read - polled, polls + 1) << "the next look at the total sees it";
    follower.kill(SIGINT);
    EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
}

TEST_F(ReplicateHistory, FollowsByTheNewestVersionWhereThereIsNoTotal) {
    has_page("first", {1});
    has_page("?_count=1", {1});
    test::ChildProcess follower(kBinary, arguments({"--follow", "--since", "2020-01-01"}));
    EXPECT_TRUE(polls_only("?_count=1")) << "nothing has come";
    EXPECT_EQ(asked_for("_count=0"), 0);
    has_page("first", {1, 2});
    has_page("?_count=1", {2});
    EXPECT_TRUE(test::eventually([&] { return taken() == std::vector{1, 2}; }));
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
}

TEST_F(ReplicateHistory, FollowsByThePageWhereThereIsNoTotal) {
    has_page("first", {1});
    answers("?_count=1", {400, "{}"});
    test::ChildProcess follower(kBinary, arguments({"--follow", "--since", "2020-01-01"}));
    EXPECT_TRUE(test::eventually([&] { return asked_for("?_count=1") >= 4; }));
    EXPECT_GE(asked_for("_sort=_lastUpdated"), 4) << "one page for each";
    EXPECT_EQ(asked_for("_changes"), 0) << "which knows no instants";
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
}

TEST_F(ReplicateHistory, FollowsByThePageWhereTheTotalIsNoLongerGiven) {
    has_page("first", {1}, {}, R"("total":1,)");
    answers("?_count=0", {400, "{}"});
    test::ChildProcess follower(kBinary, arguments({"--follow", "--since", "2020-01-01"}));
    EXPECT_TRUE(test::eventually([&] { return asked_for("?_count=0") >= 4; }));
    EXPECT_GE(asked_for("_sort=_lastUpdated"), 4) << "one page for each";
    EXPECT_EQ(asked_for("?_count=1"), 0);
    has_page("first", {1, 2}, {}, R"("total":2,)");
    EXPECT_TRUE(test::eventually([&] { return taken() == std::vector{1, 2}; }));
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
}

TEST_F(ReplicateHistory, FollowsByTheTotalOfAPageThatIsNewestFirst) {
    has_page("first", {1, 2}, {}, R"("total":2,)");
    has_page("?_count=0", {2, 1}, {}, R"("total":2,)");  // which is ignored
    test::ChildProcess follower(kBinary, arguments({"--follow", "--since", "2020-01-01"}));
    EXPECT_TRUE(polls_only("?_count=0"));
    has_page("first", {1, 2, 3}, {}, R"("total":3,)");
    has_page("?_count=0", {3, 2, 1}, {}, R"("total":3,)");
    EXPECT_TRUE(test::eventually([&] { return taken() == std::vector{1, 2, 3}; }));
    follower.kill(SIGTERM);
    EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
}

TEST_F(ReplicateHistory, FollowsByTheNewestVersionWhereverItsPageLeads) {
    // To itself, nowhere, and to a page that was read before.
    for (const char* const next :
         {"_count=1", "page=1 and", "_sort=_lastUpdated&_count=1000&_since=2020-01-01"}) {
        has_page("first", {1, 2});
        has_page("?_count=1", {2}, next);
        forget_asked();
        test::ChildProcess follower(kBinary, arguments({"--follow", "--since", "2020-01-01"}));
        EXPECT_TRUE(polls_only("?_count=1")) << next;
        follower.kill(SIGTERM);
        EXPECT_EQ(follower.wait(std::chrono::seconds(10)), 0) << follower.errors();
    }
}

TEST_F(ReplicateHistory, BeginsWhereItIsToldWhateverTheStateSays) {
    test::write_whole_file(state_file(), state_head() + "target /endpoint/_history?page=2\n");
    has_page("2020-01-01", {3});
    const Finished done = replicate({"--since", "2020-01-01", "--retry-for", "0"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(taken(), std::vector{3});
    EXPECT_EQ(asked_for("page=2"), 0);
    EXPECT_NE(state().find("_since=2020-01-01\nafter "), std::string::npos) << state();
}

TEST_F(ReplicateHistory, TakesNothingOfAServerThatIgnoresWhereToBegin) {
    has_page("12%3A00", {2, 1});  // newest first, whatever was requested
    const Finished refused = replicate({"--since", "2020-01-01 12:00", "--retry-for", "0"});
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find("--since is neither an instant nor a cursor"), std::string::npos)
        << refused.errors;
    EXPECT_TRUE(taken().empty());
    EXPECT_EQ(state(), "");
}

TEST_F(ReplicateHistory, DoesNotBlameAnInstantForTheOrderOfThePage) {
    std::atomic<int> pages = 0;
    const test::HttpEndpoint turning([&](const std::string& request) {
        if (request.find("_sort=_lastUpdated") == std::string::npos) {
            return Answer{400, "{}"};
        }
        std::string entries;
        for (const int number : {2, 1}) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Patient","id":"p","meta":{{"versionId":"{}"}}}}}})",
                entries.empty() ? "" : ",", number);
        }
        return Answer{
            200,
            fmt::format(
                R"({{"type":"history","link":[{{"relation":"self","url":"?_sort=_lastUpdated"}}],"entry":[{}]}})",
                ++pages == 1 ? "" : entries)};
    });
    std::vector<std::string> command = arguments({"--since", "2020-01-01", "--retry-for", "0"});
    command[2] = turning.url();
    const Finished refused = annals(command);
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_NE(refused.errors.find("returns the newest versions first"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(refused.errors.find("--since"), std::string::npos) << refused.errors;
}

TEST_F(ReplicateHistory, SaysOfAPageThatIsGoneThatItIs) {
    const std::string kept = state_head() + "target /endpoint/_history?page=2\nafter 1\n";
    test::write_whole_file(state_file(), kept);
    answers("page=2",
            {400, R"({"resourceType":"OperationOutcome","issue":[{"diagnostics":"gone"}]})"});
    const Finished done = replicate();
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_TRUE(done.errors.ends_with("GET /endpoint/_history?page=2: status 400: gone\n"))
        << done.errors;
    EXPECT_EQ(done.errors.find("--since"), std::string::npos) << done.errors;
    EXPECT_EQ(state(), kept);
}

TEST_F(ReplicateHistory, KeepsAStateForEachPairOfServersWhereItIsStarted) {
    has_page("first", {1});
    std::vector<std::string> command = {"-c", R"(cd "$0" && exec "$@")", directory_.path(),
                                        kBinary};
    const std::vector<std::string> named = arguments({});
    command.insert(command.end(), named.begin(), named.end() - 2);
    const Finished done = test::run_program("/bin/sh", command);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
        files.push_back(entry.path().filename());
    }
    std::ranges::sort(files);
    ASSERT_EQ(files.size(), 2U);
    const std::string& found = files.front();
    EXPECT_EQ(files.back(), found + ".lock");
    const std::string_view name = found;
    EXPECT_EQ(name.size(), 39U) << name;
    EXPECT_TRUE(name.starts_with("annals-replicate-") && name.ends_with(".state")) << name;
    EXPECT_EQ(name.substr(17).find_first_not_of("0123456789abcdef"), 16U) << name;

    std::filesystem::rename(directory_ / found, state_file());
    std::vector<std::string> other = arguments({});
    other[4] += "/other";
    const Finished refused = annals(other);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.errors.find("belongs to the replication from "), std::string::npos);
    EXPECT_EQ(taken(), std::vector{1});
}

// ---- --verify ----

std::string digest_of(int versions) {
    std::string text = fmt::format(
        R"({{"resourceType":"Parameters","parameter":[{{"name":"versions","valueDecimal":{0}}},{{"name":"digest","valueString":"000000000000000{0}"}})",
        versions);
    for (int i = 1; i <= versions; ++i) {
        text += fmt::format(
            R"(,{{"name":"version","part":[{{"name":"url","valueUri":"Patient/{}/_history/1"}},{{"name":"digest","valueString":"1"}}]}})",
            i);
    }
    return text + "]}";
}

TEST(ReplicateVerify, LooksAgainAtWhatDiffers) {
    const test::HttpEndpoint source([](const std::string&) { return Answer{200, digest_of(2)}; });
    const test::HttpEndpoint behind([](const std::string&) { return Answer{200, digest_of(1)}; });
    std::atomic<int> looks = 0;
    const test::HttpEndpoint comes([&](const std::string&) {
        ++looks;
        return looks == 2 ? Answer{202, ""} : Answer{200, digest_of(looks > 1 ? 2 : 1)};
    });
    const auto verify = [&](const test::HttpEndpoint& target) {
        return std::vector<std::string>{"replicate",  "--verify", "--from",
                                        source.url(), "--to",     target.url()};
    };
    test::ChildProcess differing(kBinary, verify(behind));
    const Finished same = annals(verify(comes));
    EXPECT_EQ(same.exit_code, 0) << same.errors;
    EXPECT_EQ(same.output, "the same: 2 versions, digest 0000000000000002\n");
    EXPECT_EQ(looks, 3);
    EXPECT_EQ(differing.wait(std::chrono::seconds(20)), 1);
    EXPECT_EQ(differing.output(),
              "they differ, after 1 exchange: Patient/2/_history/1: only at the source\n");
    EXPECT_EQ(behind.requests(), 4);
}

}  // namespace
}  // namespace annals
