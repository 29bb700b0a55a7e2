#include "tools/commands/history_submitter.h"

#include "tests/support/hook_receiver.h"
#include "tests/support/http_endpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::tools {
namespace {

TEST(HistorySubmitter, NamesWhatIsRefusedAsFarAsItIsKnown) {
    const test::HttpEndpoint target([](const std::string&) {
        const std::string refused =
            R"({"response":{"status":"400","outcome":{"issue":[{"diagnostics":"no resource"}]}}})";
        return test::HttpEndpoint::Answer{
            200, R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + refused + "," +
                     refused + "," + refused + "]}"};
    });
    const std::array<std::string_view, 3> entries{
        R"({"fullUrl":"http://a/fhir/Patient/1/_history/2"})", R"({"request":{"url":"Patient/2"}})",
        R"({"response":{"outcome":{"issue":[{"diagnostics":"This version is damaged"}]}}})"};
    HistorySubmitter submitter(*parse_server_url(target.url()), Patience());
    ReplicateCounts counts;
    testing::internal::CaptureStderr();
    const auto done = submitter.submit(entries, counts);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "http://a/fhir/Patient/1/_history/2: 400: no resource\n"
              "Patient/2: 400: no resource\n"
              "(This version is damaged): 400: no resource\n");
    EXPECT_TRUE(done);
    EXPECT_EQ(counts.refused, 3U);
}

TEST(HistorySubmitter, CountsWhatIsIgnoredAndNotThereByItself) {
    const test::HttpEndpoint target([](const std::string&) {
        const std::string ignored =
            R"({"response":{"status":"200","outcome":{"issue":[{"severity":"information","code":"informational","diagnostics":"Ignored)";
        return test::HttpEndpoint::Answer{
            200, R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + ignored +
                     R"("}]}}},)" + ignored +
                     R"("},{"severity":"information","code":"not-found"}]}}}]})"};
    });
    const std::array<std::string_view, 2> entries{"{}", "{}"};
    HistorySubmitter submitter(*parse_server_url(target.url()), Patience());
    ReplicateCounts counts;
    EXPECT_TRUE(submitter.submit(entries, counts));
    EXPECT_EQ(counts.sent, 2U);
    EXPECT_EQ(counts.ignored, 1U);
    EXPECT_EQ(counts.missing, 1U);
}

TEST(HistorySubmitter, TriesAnEntryAgainAsLongAsAWholeRequestWhereItsTroubleMayPass) {
    std::atomic<int> asked = 0;
    std::atomic<int> status = 503;
    const test::HttpEndpoint target([&](const std::string&) {
        return test::HttpEndpoint::Answer{
            200, fmt::format(R"({{"resourceType":"Bundle","type":"batch-response","entry":[)"
                             R"({{"response":{{"status":"{}"}}}}]}})",
                             ++asked > 8 ? 201 : status.load())};
    });
    const std::array<std::string_view, 1> entries{
        R"({"fullUrl":"http://a/fhir/Patient/1/_history/2"})"};
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.longest_pause = std::chrono::milliseconds(4);
    patience.give_up_after = std::chrono::milliseconds(-1);
    HistorySubmitter submitter(*parse_server_url(target.url()), patience);
    ReplicateCounts counts;
    EXPECT_TRUE(submitter.submit(entries, counts));
    EXPECT_EQ(counts.sent, 1U);
    // A fault of the server itself is not retried forever.
    asked = 0;
    status = 500;
    EXPECT_FALSE(submitter.submit(entries, counts));
    EXPECT_LT(asked, 8);
}

/// A batch-response with these statuses; an entry with an empty one has no response.
std::string answer_of(const std::vector<std::string>& statuses) {
    std::string entries;
    for (const std::string& status : statuses) {
        entries += entries.empty() ? "" : ",";
        entries += status.empty() ? "{}" : R"({"response":{"status":")" + status + "\"}}";
    }
    return R"({"resourceType":"Bundle","type":"batch-response","entry":[)" + entries + "]}";
}

Patience short_patience() {
    Patience patience;
    patience.first_pause = patience.longest_pause = std::chrono::milliseconds(1);
    return patience;
}

const std::array<std::string_view, 3> kThree{R"({"a":1})", R"({"a":2})", R"({"a":3})"};

/// The number of such entries in a bundle.
std::size_t entries_in(const std::string& body) {
    std::size_t entries = 0;
    for (std::size_t at = body.find(R"({"a")"); at != std::string::npos;
         at = body.find(R"({"a")", at + 1)) {
        ++entries;
    }
    return entries;
}

TEST(HistorySubmitter, SendsMoreAtOnceAgainWhereBundlesAreSmall) {
    std::vector<std::size_t> sent;
    const test::HttpEndpoint target([&](const std::string& request) {
        const std::string body = request.substr(request.find('{'));
        const std::size_t entries = entries_in(body);
        sent.push_back(entries);
        return test::HttpEndpoint::Answer{body.size() > 1000 ? 413 : 200,
                                          answer_of(std::vector<std::string>(entries, "201"))};
    });
    HistorySubmitter submitter(*parse_server_url(target.url()), short_patience());
    ReplicateCounts counts;
    const std::string large = R"({"a":")" + std::string(400, 'x') + R"("})";
    EXPECT_TRUE(submitter.submit(std::vector<std::string_view>(4, large), counts));
    const std::vector<std::string_view> small(8, R"({"a":1})");
    EXPECT_TRUE(submitter.submit(small, counts));
    EXPECT_TRUE(submitter.submit(small, counts));
    EXPECT_EQ(sent, (std::vector<std::size_t>{4, 2, 2, 2, 4, 2, 8}));
}

TEST(HistorySubmitter, SendsLessAtOnceWhereTheTimeThatTheTargetGivesIsTooShort) {
    std::vector<std::size_t> sent;
    int stalls = 1;
    const test::HttpEndpoint target([&](const std::string& request) {
        sent.push_back(entries_in(request));
        if (sent.back() > 1 || stalls-- > 0) {
            return test::HttpEndpoint::Answer{
                408, R"({"issue":[{"code":"timeout","diagnostics":"did not arrive in time"}]})"};
        }
        return test::HttpEndpoint::Answer{200, answer_of({"201"})};
    });
    Patience patience = short_patience();
    std::string said;
    patience.say = [&](const std::string& line) { said += line + "\n"; };
    HistorySubmitter submitter(*parse_server_url(target.url()), patience);
    ReplicateCounts counts;
    EXPECT_TRUE(submitter.submit(kThree, counts));
    EXPECT_EQ(counts.sent, 3U);
    EXPECT_EQ(sent, (std::vector<std::size_t>{3, 1, 1, 1, 1}));
    EXPECT_NE(said.find("status 408: did not arrive in time; retrying in 1 ms"), std::string::npos)
        << said;
    // A single version is retried no longer than any trouble that may pass.
    stalls = 9;
    patience.give_up_after = std::chrono::milliseconds(0);
    HistorySubmitter hasty(*parse_server_url(target.url()), patience);
    const auto given_up = hasty.submit(std::span(kThree).first(1), counts);
    ASSERT_FALSE(given_up);
    EXPECT_NE(given_up.error().detail.find("status 408: did not arrive in time"), std::string::npos)
        << given_up.error().detail;
    EXPECT_EQ(sent.size(), 6U);
}

TEST(HistorySubmitter, SendsLessAtOnceWhereTheTargetGivesUp) {
    std::vector<std::size_t> sent;
    int troubles = 2;
    const test::HttpEndpoint target([&](const std::string& request) {
        sent.push_back(entries_in(request));
        if (sent.size() == 1) {  // of no concern to the size
            return test::HttpEndpoint::Answer{503, R"({"issue":[{"code":"transient"}]})"};
        }
        if (sent.back() > 1 || troubles-- > 0) {
            return test::HttpEndpoint::Answer{503, R"({"issue":[{"code":"timeout"}]})"};
        }
        return test::HttpEndpoint::Answer{200, answer_of({"201"})};
    });
    HistorySubmitter submitter(*parse_server_url(target.url()), short_patience());
    ReplicateCounts counts;
    EXPECT_TRUE(submitter.submit(kThree, counts));
    EXPECT_EQ(counts.sent, 3U);
    EXPECT_EQ(sent, (std::vector<std::size_t>{3, 3, 1, 1, 1, 1, 1}));
}

TEST(HistorySubmitter, SaysWithTheLastOfASplitBundleWhatHasBeenReached) {
    // Accepts one entry at a time, and fails if it is only told a position.
    const test::HookReceiver target([](const test::ReceivedHook& hook, std::size_t, const auto&) {
        const bool alone = hook.body.find("entry") == std::string::npos;
        const bool large = hook.body.find("},{") != std::string::npos;
        const std::string body = alone || large ? "{}" : answer_of({"201"});
        return fmt::format("HTTP/1.1 {} -\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                           alone   ? 503
                           : large ? 413
                                   : 200,
                           body.size(), body);
    });
    HistorySubmitter submitter(*parse_server_url(target.url()), short_patience());
    ReplicateCounts counts;
    EXPECT_TRUE(submitter.submit(kThree, counts, 77));
    EXPECT_EQ(counts.sent, 3U);
    EXPECT_TRUE(submitter.submit(std::span(kThree).first(2), counts))
        << "how many it takes is known";
    submitter.tell(78);
    const auto received = target.received();
    const std::array<const char*, 7> positions{"77", "", "", "77", "", "", "78"};
    ASSERT_EQ(received.size(), positions.size()) << "what is only told is told once";
    for (std::size_t i = 0; i < positions.size(); ++i) {
        EXPECT_EQ(received[i].header("x-annals-source-position"), positions[i]) << i;
        EXPECT_EQ(received[i].header("prefer"), "return=minimal") << i;
    }
    EXPECT_EQ(received[3].body, R"({"resourceType":"Bundle","type":"history","entry":[{"a":3}]})");
    EXPECT_EQ(received[6].body, R"({"resourceType":"Bundle","type":"history"})");
}

TEST(HistorySubmitter, RepeatsABundleAsAWholeUntilEachEntryIsTakenAndCountsItOnce) {
    const std::string whole = answer_of({"200", "201", "200"});
    const test::HookReceiver target([&](const test::ReceivedHook&, std::size_t before,
                                        const auto&) {
        const std::string body = before == 1   ? answer_of({"201", "429", "200"})
                                 : before == 2 ? answer_of({"201", "", "200"})
                                               : whole;
        // The end of the first answer is lost with the connection.
        return fmt::format("HTTP/1.1 200 -\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                           body.size() + (before == 0 ? 1 : 0), body);
    });
    Patience patience = short_patience();
    patience.longest_pause = std::chrono::milliseconds(4);
    std::string said;
    patience.say = [&](const std::string& line) { said += line + "\n"; };
    HistorySubmitter submitter(*parse_server_url(target.url()), patience);
    ReplicateCounts counts;
    const auto done = submitter.submit(kThree, counts);
    EXPECT_TRUE(done) << done.error().detail;
    EXPECT_EQ(counts.sent, 3U);
    const auto received = target.received();
    ASSERT_EQ(received.size(), 4U);
    for (const test::ReceivedHook& hook : received) {
        EXPECT_EQ(
            hook.body,
            R"({"resourceType":"Bundle","type":"history","entry":[{"a":1},{"a":2},{"a":3}]})");
    }
    EXPECT_NE(said.find("the connection was closed"), std::string::npos) << said;
    EXPECT_NE(said.find("an entry was answered 429: ; retrying in 1 ms"), std::string::npos)
        << said;
    EXPECT_NE(said.find("an entry was answered 0"), std::string::npos) << said;
}

TEST(HistorySubmitter, WaitsForAnEntryNoLongerThanItMay) {
    std::atomic<int> asked = 0;
    std::atomic<int> status = 429;
    const test::HttpEndpoint target([&](const std::string&) {
        ++asked;
        return test::HttpEndpoint::Answer{200, answer_of({fmt::format("{}", status.load())})};
    });
    const auto submit = [&](const Patience& patience) {
        asked = 0;
        HistorySubmitter submitter(*parse_server_url(target.url()), patience);
        ReplicateCounts counts;
        const auto done = submitter.submit(std::span(kThree).first(1), counts);
        EXPECT_EQ(counts.sent, 0U);
        return done ? Errc::usage : done.error().code;
    };
    Patience patience = short_patience();
    patience.give_up_after = std::chrono::milliseconds(0);
    EXPECT_EQ(submit(patience), Errc::io);
    EXPECT_EQ(asked, 1);
    // Longer where the first answer takes all of it.
    patience.give_up_after = std::chrono::milliseconds(15);
    for (int i = 0; i < 5 && asked < 2; ++i) {
        EXPECT_EQ(submit(patience), Errc::io);
        patience.give_up_after *= 4;
    }
    EXPECT_GT(asked, 1);
    // Once told to stop, it doesn't ask again.
    patience.give_up_after = std::chrono::milliseconds(-1);
    patience.stop = [&] { return asked > 1; };
    for (const int trouble : {429, 503, 500}) {
        status = trouble;
        EXPECT_EQ(submit(patience), Errc::io);
        EXPECT_EQ(asked, 2) << trouble;
    }
}

TEST(HistorySubmitter, TakesNoAnswerThatDoesNotSayOfEachEntryWhatBecameOfIt) {
    for (
        const char* body :
        {R"({"resourceType":"Bundle","type":"transaction-response"})",
         R"({"resourceType":"Bundle","type":"batch-response","entry":[{"response":{"status":"201"}}]})",
         R"({"resourceType":"OperationOutcome","issue":[{"diagnostics":"fine"}]})", "fine"}) {
        const test::HttpEndpoint target(
            [&](const std::string&) { return test::HttpEndpoint::Answer{200, body}; });
        HistorySubmitter submitter(*parse_server_url(target.url()), short_patience());
        ReplicateCounts counts;
        const auto done = submitter.submit(kThree, counts);
        ASSERT_FALSE(done) << body;
        EXPECT_EQ(done.error().code, Errc::processing) << body;
        EXPECT_EQ(counts.sent, 0U);
    }
}

TEST(HistorySubmitter, NamesTheVersionThatIsRefusedWithItsWholeRequest) {
    const test::HttpEndpoint target([](const std::string&) {
        return test::HttpEndpoint::Answer{400, R"({"issue":[{"diagnostics":"no"}]})"};
    });
    HistorySubmitter submitter(*parse_server_url(target.url()), short_patience());
    ReplicateCounts counts;
    const auto refusal = [&](std::span<const std::string_view> entries) {
        const auto done = submitter.submit(entries, counts);
        const std::string detail = done ? "" : done.error().detail;
        return detail.substr(std::min(detail.find("POST"), detail.size()));
    };
    using Entries = std::array<std::string_view, 1>;
    EXPECT_EQ(refusal(Entries{
                  R"({"fullUrl":"http://a/Patient/1","resource":{"meta":{"versionId":"3"}}})"}),
              "POST of http://a/Patient/1/_history/3: status 400: no");
    const std::string expected = "POST of http://a/Patient/1/_history/2: status 400: no";
    EXPECT_EQ(refusal(Entries{R"({"fullUrl":"http://a/Patient/1/_history/2"})"}), expected);
    EXPECT_EQ(
        refusal(Entries{
            R"({"fullUrl":"http://a/Patient/1/_history/2","resource":{"meta":{"versionId":"2"}}})"}),
        expected);
    EXPECT_EQ(refusal(kThree), "POST: status 400: no");
    EXPECT_EQ(counts.sent, 0U);
}

}  // namespace
}  // namespace annals::tools
