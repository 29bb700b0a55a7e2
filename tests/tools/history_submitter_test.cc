#include "tools/commands/history_submitter.h"

#include "tests/support/http_endpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

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
    // A fault of the server's is not waited for without end.
    asked = 0;
    status = 500;
    EXPECT_FALSE(submitter.submit(entries, counts));
    EXPECT_LT(asked, 8);
}

}  // namespace
}  // namespace annals::tools
