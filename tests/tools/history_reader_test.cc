// HistoryReader with servers other than Annals.

#include "tools/commands/history_reader.h"

#include "tests/support/http_endpoint.h"
#include "tests/tools/history_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::tools {
namespace {

TEST(HistoryReader, IsNotTakenInByASelfLinkThatRepeatsWhatWasAskedFor) {
    const test::HttpEndpoint newest_first([](const std::string& request) {
        return test::HttpEndpoint::Answer{200, page_of(2, 1, target_of(request))};
    });
    const auto refused = reader_of(newest_first).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("returns the newest versions first"), std::string::npos)
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
    EXPECT_NE(refused.error().detail.find("returns the newest versions first"), std::string::npos)
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
    EXPECT_NE(refused.error().detail.find("returns the newest versions first"), std::string::npos)
        << refused.error().detail;
    EXPECT_TRUE(first_target(entry_of(1) + "," + deletion));

    // Ascending instants count for more: where a clock went back, version numbers descend.
    EXPECT_TRUE(first_target(
        entry_of(1) + "," + entry_of(2) + "," + deletion + "," +
        R"({"resource":{"resourceType":"Patient","id":"p2","meta":{"versionId":"2","lastUpdated":"2020-01-01T00:00:03Z"}}},)" +
        R"({"resource":{"resourceType":"Patient","id":"p2","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:04Z"}}})"));

    const auto unnumbered = first_target(R"({"resource":{"resourceType":"Patient","id":"a"}})");
    ASSERT_FALSE(unnumbered);
    EXPECT_NE(unnumbered.error().detail.find("does not state its version"), std::string::npos)
        << unnumbered.error().detail;
}

TEST(HistoryReader, SeesTheOrderOfInstantsWithMicroseconds) {
    const auto first_target = [](const std::string& first, const std::string& second) {
        const auto entry = [](char id, const std::string& fraction) {
            return fmt::format(
                R"({{"resource":{{"resourceType":"Patient","id":"{}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:01{}Z"}}}}}})",
                id, fraction);
        };
        const test::HttpEndpoint endpoint([&](const std::string& request) {
            return test::HttpEndpoint::Answer{
                200,
                fmt::format(
                    R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{},{}]}})",
                    target_of(request), entry('a', first), entry('b', second))};
        });
        return reader_of(endpoint).first_target({}, 10);
    };
    for (const auto& [earlier, later] :
         {std::pair(".070", ".070003"), std::pair("", ".000001"), std::pair(".070999", ".071")}) {
        const auto ascending = first_target(earlier, later);
        EXPECT_TRUE(ascending) << earlier << ' ' << ascending.error().detail;
        EXPECT_FALSE(first_target(later, earlier)) << earlier;
    }
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
    EXPECT_NE(refused.error().detail.find("does not state its version"), std::string::npos)
        << refused.error().detail;
    const auto page = reader_of(endpoint).read("/endpoint/_history?page=2");
    ASSERT_FALSE(page);
    EXPECT_NE(page.error().detail.find("does not state its version"), std::string::npos)
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
                R"({{"resourceType":"Bundle","type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{},{}]}})",
                target_of(request),
                R"({"resource":{"resourceType":"OperationOutcome","id":"o"},"search":{"mode":"outcome"}})",
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
    for (const int status : {400, 404, 422, 501}) {
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
    std::string link;
    const test::HttpEndpoint endpoint([&](const std::string&) {
        return test::HttpEndpoint::Answer{200, page_of(1, 2, "", link)};
    });
    const std::pair<const char*, const char*> cases[] = {
        {"_history?page=1", "the link to the next page leads to this page itself"},
        {R"(_history?page=2\r\nHost: other)", "the link to the next page is not a URL"},
        {"_history?page=2 and", "the link to the next page is not a URL"},
        {"_history?page=2\x7f", "the link to the next page is not a URL"}};
    for (const auto& [next, expected] : cases) {
        link = next;
        const auto page = reader_of(endpoint).read("/endpoint/_history?page=1");
        ASSERT_FALSE(page) << link;
        EXPECT_NE(page.error().detail.find(expected), std::string::npos) << page.error().detail;
    }
}

TEST(HistoryReader, GoesNoWayThatLeadsRound) {
    const std::map<std::string, std::string> ways = {
        {"1", "2"}, {"2", "3"}, {"3", "4"}, {"4", "2"}};
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        const std::string target = target_of(request);
        const std::string& next = ways.at(target.substr(target.size() - 1));
        return test::HttpEndpoint::Answer{200, page_of(1, 2, "", "_history?page=" + next)};
    });
    HistoryReader reader = reader_of(endpoint);
    // A page may be read again, to see whether there is more on it.
    for (const char* page : {"1", "2", "3", "2", "3"}) {
        EXPECT_TRUE(reader.read(std::string("/endpoint/_history?page=") + page)) << page;
    }
    const auto refused = reader.read("/endpoint/_history?page=4");
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().detail.ends_with(
        "GET /endpoint/_history?page=4: the link to the next page leads back to a page that was "
        "read before: /endpoint/_history?page=2"))
        << refused.error().detail;
}

TEST(HistoryReader, SaysOfWhatIsNoHistoryThatItIsNone) {
    for (const char* answer :
         {"<html></html>", "{}", R"({"resourceType":"Bundle","type":"searchset"})"}) {
        const test::HttpEndpoint endpoint(
            [answer](const std::string&) { return test::HttpEndpoint::Answer{200, answer}; });
        const auto refused = reader_of(endpoint).first_target({}, 10);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().detail.find(endpoint.url()), std::string::npos);
        EXPECT_NE(refused.error().detail.find("the response is not a history Bundle"),
                  std::string::npos)
            << refused.error().detail;
        EXPECT_FALSE(reader_of(endpoint).read("/endpoint/_history?page=2"))
            << "nor is it the last page: " << answer;
        EXPECT_FALSE(reader_of(endpoint).total());
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

    std::atomic<bool> empty = true;
    const test::HttpEndpoint empty_at_first([&](const std::string&) {
        return test::HttpEndpoint::Answer{200, empty.exchange(false) ? "" : whole};
    });
    EXPECT_TRUE(HistoryReader(*parse_server_url(empty_at_first.url()), patience)
                    .read("/endpoint/_history"));
    EXPECT_EQ(said.size(), 3U);

    patience.give_up_after = std::chrono::milliseconds(0);
    EXPECT_FALSE(
        HistoryReader(*parse_server_url(endpoint.url()), patience).read("/endpoint/_history"));
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
    const test::HttpEndpoint elsewhere([](const std::string&) {
        return test::HttpEndpoint::Answer{200, page_of(1, 2, "", "http://internal/r4?page=2")};
    });
    EXPECT_EQ(reader_of(elsewhere).read("/endpoint/_history")->next, "/r4?page=2")
        << "what is no _history is where it is";
}

TEST(HistoryReader, TakesARefusalOfAPageOfNothingForNoTotal) {
    const test::HttpEndpoint endpoint(
        [](const std::string&) { return test::HttpEndpoint::Answer{400, "{}"}; });
    const auto total = reader_of(endpoint).total();
    ASSERT_TRUE(total) << total.error().detail;
    EXPECT_FALSE(*total);
}

TEST(HistoryReader, AsksForTheTotalWithoutAnEntry) {
    std::string asked;
    test::HttpEndpoint::Answer answer{200, R"({"type":"history","total":17})"};
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        asked = target_of(request);
        return answer;
    });
    EXPECT_EQ(*reader_of(endpoint).total(), 17U);
    EXPECT_EQ(asked, "/endpoint/_history?_count=0");
    answer.body = R"({"type":"history"})";
    EXPECT_FALSE(*reader_of(endpoint).total());
    answer.status = 404;
    const auto refused = reader_of(endpoint).total();
    ASSERT_FALSE(refused) << "that is no refusal of a page of nothing";
    EXPECT_EQ(refused.error().code, Errc::processing);
}

/// Answers by the order asked for: `{order, page or nothing}`; other orders get 400 and no JSON.
test::HttpEndpoint::Answer by_order(const std::string& request,
                                    const std::map<std::string, std::string>& pages) {
    const std::string target = target_of(request);
    for (const auto& [order, page] : pages) {
        if (target.find("_sort=" + order + "&") != std::string::npos) {
            return {200, page};
        }
    }
    return {400, "<html>"};
}

TEST(HistoryReader, TakesCommitOrderOnlyOfAServerThatSaysSoAndRefusesOrdersThatThereAreNot) {
    const std::string says = "/endpoint/_history?_sort=_position";
    std::map<std::string, std::string> pages;
    const test::HttpEndpoint endpoint(
        [&](const std::string& request) { return by_order(request, pages); });
    const auto first_target = [&](const std::string& since) {
        const auto target = reader_of(endpoint).first_target(since, 10);
        return target ? *target : target.error().detail;
    };
    // In commit order, instants may descend, and a version may be unusable.
    std::string damaged = page_of(2, 1, says);
    damaged.replace(damaged.rfind(R"("versionId":"1")"), 15, R"("versionId":"?")");
    const std::string unusable =
        R"({"type":"history","link":[{"relation":"self","url":"_history?_sort=_position"}],"entry":[{"resource":{}}]})";
    const std::string by_position = "/endpoint/_history?_sort=_position&_count=10";
    for (const std::string& page : {page_of(2, 1, says), damaged, unusable}) {
        pages = {{"_position", page}};
        EXPECT_EQ(first_target(""), by_position) << page;
    }
    EXPECT_EQ(first_target("2024-01-01T00:00:00+01:00"),
              by_position + "&_since=2024-01-01T00%3A00%3A00%2B01%3A00");
    EXPECT_EQ(first_target("a cursor"), by_position + "&_cursor=a%20cursor");
    // A server that doesn't say so, or that says so of every order.
    const std::string plain_cursor = "/endpoint/_history?_count=10&_cursor=x";
    pages = {{"_position", page_of(1, 2, "_history")}, {"_lastUpdated", page_of(1, 2, "")}};
    const std::string by_instant = "/endpoint/_history?_sort=_lastUpdated&_count=10";
    EXPECT_EQ(first_target(""), by_instant);
    EXPECT_EQ(first_target("x"), plain_cursor);
    pages["_position"] = page_of(1, 2, says);
    pages["_no_such_order"] = page_of(1, 2, says);
    EXPECT_EQ(first_target(""), by_instant);
    EXPECT_EQ(first_target("x"), plain_cursor);
    pages.clear();
    EXPECT_EQ(first_target("x"), plain_cursor) << "who refuses that order may know its cursor";
}

TEST(HistoryReader, TakesASinglePageOfOneVersionByWhatItSaysOfItself) {
    const auto one = [](std::string_view self) {
        return fmt::format(
            R"({{"type":"history","link":[{{"relation":"self","url":"{}"}}],"entry":[{}]}})", self,
            entry_of(1));
    };
    std::string page = one("_history?_sort=_lastUpdated");
    const test::HttpEndpoint endpoint(
        [&](const std::string& request) { return by_order(request, {{"_lastUpdated", page}}); });
    EXPECT_TRUE(reader_of(endpoint).first_target({}, 10));
    page = one("_history");
    const auto refused = reader_of(endpoint).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("returns the newest versions first"), std::string::npos);
}

TEST(HistoryReader, TakesALaterPageInWhichOnlySomeGoesBack) {
    std::string entries;
    const test::HttpEndpoint endpoint([&](const std::string&) {
        return test::HttpEndpoint::Answer{200, R"({"type":"history","entry":[)" + entries + "]}"};
    });
    const auto takes = [&](const std::string& target) {
        return reader_of(endpoint).read(target).has_value();
    };
    const std::string target = "/endpoint/_history?_sort=_lastUpdated&page=2";
    entries = entry_of(1) + "," + entry_of(3) + "," + entry_of(2);
    EXPECT_TRUE(takes(target));
    entries = entry_of(3) + "," + entry_of(2);
    EXPECT_FALSE(takes(target));
    EXPECT_TRUE(takes("/endpoint/_history?_sort=_position&page=2"));
    std::string second = entry_of(1);
    second.replace(second.find(R"("versionId":"1")"), 15, R"("versionId":"2")");
    entries = second + "," + entry_of(1);
    EXPECT_FALSE(takes(target)) << "of one instant, and the newer first";
}

TEST(HistoryReader, AsksForNoOtherOrderOfAServerThatIsUnwell) {
    const test::HttpEndpoint endpoint(
        [](const std::string&) { return test::HttpEndpoint::Answer{500, "{}"}; });
    Patience patience;
    patience.give_up_after = std::chrono::milliseconds(0);
    const auto refused =
        HistoryReader(*parse_server_url(endpoint.url()), patience).first_target({}, 10);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().detail.find("status 500"), std::string::npos);
    EXPECT_EQ(endpoint.requests(), 1);
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
