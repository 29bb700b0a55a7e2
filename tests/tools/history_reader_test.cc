// HistoryReader before servers that are no Annals.

#include "tools/commands/history_reader.h"

#include "tests/support/http_endpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace annals::tools {
namespace {

std::string entry_of(int second) {
    return fmt::format(
        R"({{"resource":{{"resourceType":"Patient","id":"p{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{0}Z"}}}}}})",
        second);
}

/// A history of two versions, with a self link and, if there is one, a next link.
std::string page_of(int first, int second, const std::string& self, const std::string& next = {}) {
    return fmt::format(
        R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}{}],"entry":[{},{}]}})",
        self, next.empty() ? "" : fmt::format(R"(,{{"relation":"next","url":"{}"}})", next),
        entry_of(first), entry_of(second));
}

/// The target that a request asks for.
std::string target_of(const std::string& request) {
    const std::size_t begin = request.find(' ') + 1;
    return request.substr(begin, request.find(' ', begin) - begin);
}

HistoryReader reader_of(const test::HttpEndpoint& endpoint) {
    return {*parse_server_url(endpoint.url()), Patience()};
}

TEST(HistoryReader, IsNotTakenInByASelfLinkThatRepeatsWhatWasAskedFor) {
    const test::HttpEndpoint newest_first([](const std::string& request) {
        return test::HttpEndpoint::Answer{200, page_of(2, 1, target_of(request))};
    });
    const auto refused = reader_of(newest_first).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("newest first"), std::string::npos)
        << refused.error().detail;
    EXPECT_NE(refused.error().detail.find("'annals import'"), std::string::npos)
        << refused.error().detail;

    const test::HttpEndpoint by_instant([](const std::string& request) {
        const std::string target = target_of(request);
        const bool known = target.find("_sort=_lastUpdated") != std::string::npos;
        return test::HttpEndpoint::Answer{200, page_of(known ? 1 : 2, known ? 2 : 1, target)};
    });
    const auto target = reader_of(by_instant).first_target({}, 10);
    ASSERT_TRUE(target) << target.error().detail;
    EXPECT_NE(target->find("_sort=_lastUpdated"), std::string::npos) << *target;
}

TEST(HistoryReader, SeesTheOrderOfAHistoryThatWasEmptyAsItBegan) {
    std::atomic<bool> empty = true;
    const test::HttpEndpoint newest_first([&](const std::string& request) {
        const std::string target = target_of(request);
        return test::HttpEndpoint::Answer{
            200,
            empty
                ? fmt::format(
                      R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}]}})",
                      target)
                : page_of(2, 1, target)};
    });
    HistoryReader reader = reader_of(newest_first);
    const auto target = reader.first_target({}, 10);
    ASSERT_TRUE(target) << target.error().detail;
    EXPECT_TRUE(reader.read(*target));
    empty = false;
    const auto refused = reader.read(*target);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("newest first"), std::string::npos)
        << refused.error().detail;
}

TEST(HistoryReader, SeesByTheVersionsWhatInstantsDontTell) {
    const auto first_target = [](const std::string& entries) {
        const test::HttpEndpoint endpoint([&](const std::string& request) {
            return test::HttpEndpoint::Answer{
                200,
                fmt::format(
                    R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{}]}})",
                    target_of(request), entries)};
        });
        return reader_of(endpoint).first_target({}, 10);
    };
    const std::string deletion =
        R"({"request":{"method":"DELETE","url":"Patient/p1"},"response":{"status":"204","etag":"W/\"2\"","lastModified":"2020-01-01T00:00:02Z"}})";
    const auto refused = first_target(deletion + "," + entry_of(1));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("newest first"), std::string::npos)
        << refused.error().detail;
    EXPECT_TRUE(first_target(entry_of(1) + "," + deletion));

    // Instants that go up tell more: where a clock went back, numbers go against them.
    EXPECT_TRUE(first_target(
        entry_of(1) + "," + entry_of(2) + "," + deletion + "," +
        R"({"resource":{"resourceType":"Patient","id":"p2","meta":{"versionId":"2","lastUpdated":"2020-01-01T00:00:03Z"}}},)" +
        R"({"resource":{"resourceType":"Patient","id":"p2","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:04Z"}}})"));

    const auto unnumbered = first_target(R"({"resource":{"resourceType":"Patient","id":"a"}})");
    ASSERT_FALSE(unnumbered);
    EXPECT_NE(unnumbered.error().detail.find("which version it is"), std::string::npos)
        << unnumbered.error().detail;
}

TEST(HistoryReader, TakesNoDeletionThatCouldDeleteWhatWasWrittenAfterIt) {
    const std::string deletion =
        R"({"request":{"method":"DELETE","url":"Patient/p1"},"response":{"status":"204","lastModified":"2020-01-01T00:00:02Z"}})";
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        return test::HttpEndpoint::Answer{
            200,
            fmt::format(
                R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{},{}]}})",
                target_of(request), entry_of(1), deletion)};
    });
    const auto refused = reader_of(endpoint).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("which version it is"), std::string::npos)
        << refused.error().detail;
    const auto page = reader_of(endpoint).read("/endpoint/_history?page=2");
    ASSERT_FALSE(page);
    EXPECT_NE(page.error().detail.find("which version it is"), std::string::npos)
        << page.error().detail;
}

TEST(HistoryReader, PassesOverWhatAServerSaysBesideTheVersions) {
    const std::string remark =
        R"({"resource":{"resourceType":"OperationOutcome","id":"o","issue":[]},"search":{"mode":"outcome"}})";
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        const std::string target = target_of(request);
        if (target.find("_sort=_position") != std::string::npos) {
            return test::HttpEndpoint::Answer{400, "{}"};
        }
        return test::HttpEndpoint::Answer{
            200,
            fmt::format(
                R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{},{},{}]}})",
                target, remark, entry_of(1), entry_of(2))};
    });
    const auto target = reader_of(endpoint).first_target({}, 10);
    ASSERT_TRUE(target) << target.error().detail;
    const auto page = reader_of(endpoint).read(*target);
    ASSERT_TRUE(page) << page.error().detail;
    ASSERT_EQ(page->entries.size(), 2U);
    EXPECT_EQ(page->entries.front(), entry_of(1));
}

TEST(HistoryReader, IsRefusedAtOnceByVersionsThatAreNoNumbers) {
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        return test::HttpEndpoint::Answer{
            200,
            fmt::format(
                R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{}]}})",
                target_of(request),
                R"({"resource":{"resourceType":"Patient","id":"p","meta":{"versionId":"3f2b-77"}}})")};
    });
    const auto refused = reader_of(endpoint).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(
        refused.error().detail.find("meta.versionId is not a version number, such as 1 or 42"),
        std::string::npos)
        << refused.error().detail;
}

TEST(HistoryReader, AsksForTheOrderOfInstantsHoweverTheOtherIsRefused) {
    for (const int status : {400, 404, 422}) {
        const test::HttpEndpoint endpoint([&](const std::string& request) {
            const std::string target = target_of(request);
            const bool known = target.find("_sort=_lastUpdated") != std::string::npos;
            return test::HttpEndpoint::Answer{known ? 200 : status, page_of(1, 2, target)};
        });
        const auto target = reader_of(endpoint).first_target({}, 10);
        ASSERT_TRUE(target) << status << ": " << target.error().detail;
        EXPECT_NE(target->find("_sort=_lastUpdated"), std::string::npos) << *target;
    }
}

TEST(HistoryReader, TakesNoLinkThatLeadsNowhere) {
    for (const char* link : {"_history?page=1", R"(_history?page=2\r\nHost: other)"}) {
        const test::HttpEndpoint endpoint([link](const std::string&) {
            return test::HttpEndpoint::Answer{200, page_of(1, 2, "", link)};
        });
        const auto page = reader_of(endpoint).read("/endpoint/_history?page=1");
        ASSERT_FALSE(page) << link;
        EXPECT_NE(page.error().detail.find("the link to the next page"), std::string::npos)
            << page.error().detail;
    }
}

TEST(HistoryReader, SaysOfWhatIsNoHistoryThatItIsNone) {
    for (const char* answer :
         {"<html></html>", "{}", R"({"resourceType":"Bundle","type":"searchset"})"}) {
        const test::HttpEndpoint endpoint(
            [answer](const std::string&) { return test::HttpEndpoint::Answer{200, answer}; });
        const auto refused = reader_of(endpoint).first_target({}, 10);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().detail.find(endpoint.url()), std::string::npos);
        EXPECT_NE(refused.error().detail.find("the answer is no history Bundle"), std::string::npos)
            << refused.error().detail;
    }
}

TEST(HistoryReader, AsksAgainForWhatWasCutOff) {
    const std::string whole = page_of(1, 2, "/endpoint/_history?_sort=_lastUpdated");
    std::atomic<std::size_t> asked = 0;
    const test::HttpEndpoint endpoint([&](const std::string&) {
        return test::HttpEndpoint::Answer{200, whole.substr(0, whole.size() - ++asked % 3)};
    });
    std::vector<std::string> said;
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.say = [&](const std::string& line) { said.push_back(line); };
    HistoryReader reader(*parse_server_url(endpoint.url()), patience);
    const auto page = reader.read("/endpoint/_history");
    ASSERT_TRUE(page) << page.error().detail;
    EXPECT_EQ(page->entries.size(), 2U);
    EXPECT_EQ(said.size(), 2U);

    patience.give_up_after = std::chrono::milliseconds(0);
    EXPECT_FALSE(
        HistoryReader(*parse_server_url(endpoint.url()), patience).read("/endpoint/_history"));
}

TEST(HistoryReader, AsksForLessWhereThatIsTooLarge) {
    const test::HttpEndpoint endpoint([](const std::string& request) {
        const std::string target = target_of(request);
        const bool many = target.find("_count=100&") != std::string::npos ||
                          target.find("_count=50&") != std::string::npos;
        std::string page = page_of(1, 2, "");
        page.append(many ? 100'000 : 0, ' ');
        return test::HttpEndpoint::Answer{200, page};
    });
    HistoryReader reader(*parse_server_url(endpoint.url()), Patience(), 50'000);
    const auto page = reader.read("/endpoint/_history?_count=100&_cursor=x");
    ASSERT_TRUE(page) << page.error().detail;
    EXPECT_EQ(page->target, "/endpoint/_history?_count=25&_cursor=x");
    EXPECT_EQ(page->entries.size(), 2U);
}

TEST(HistoryReader, FollowsLinksOfAServerThatKnowsItselfByAnotherRoot) {
    for (const char* link :
         {"https://public.example/r4/fhir/_history?page=2", "http://internal/_history?page=2"}) {
        const test::HttpEndpoint endpoint([link](const std::string&) {
            return test::HttpEndpoint::Answer{200, page_of(1, 2, "", link)};
        });
        const auto page = reader_of(endpoint).read("/endpoint/_history");
        ASSERT_TRUE(page) << page.error().detail;
        EXPECT_EQ(page->next, "/endpoint/_history?page=2");
    }
}

TEST(HistoryReader, TakesARefusalOfAPageOfNothingForNoTotal) {
    const test::HttpEndpoint endpoint(
        [](const std::string&) { return test::HttpEndpoint::Answer{400, "{}"}; });
    const auto total = reader_of(endpoint).total();
    ASSERT_TRUE(total) << total.error().detail;
    EXPECT_FALSE(*total);
}

TEST(HistoryReader, FollowsRelativeLinks) {
    const test::HttpEndpoint endpoint([](const std::string& request) {
        const bool second = target_of(request) == "/endpoint/_history?page=2";
        return test::HttpEndpoint::Answer{
            200, page_of(second ? 3 : 1, second ? 4 : 2, "", second ? "" : "?page=2")};
    });
    HistoryReader reader = reader_of(endpoint);
    const auto first = reader.read("/endpoint/_history?_count=2");
    ASSERT_TRUE(first) << first.error().detail;
    const auto second = reader.read(first->next);
    ASSERT_TRUE(second) << second.error().detail;
    EXPECT_TRUE(second->next.empty());
    ASSERT_EQ(second->entries.size(), 2U);
    EXPECT_EQ(second->entries.front(), entry_of(3));
}

}  // namespace
}  // namespace annals::tools
