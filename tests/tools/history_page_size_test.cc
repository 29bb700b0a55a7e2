// How many versions a page is asked to have.

#include "tests/support/http_endpoint.h"
#include "tests/tools/history_pages.h"
#include "tools/commands/history_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals::tools {
namespace {

TEST(HistoryPageSize, AsksForLessWhereThatIsTooLarge) {
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

TEST(HistoryPageSize, AsksForMoreAgainOnceItsPagesAreSmall) {
    const test::HttpEndpoint endpoint([](const std::string& request) {
        const std::string target = target_of(request);
        const bool large = target.find("at=1") != std::string::npos;
        std::string page = page_of(1, 2, "", target + "0");
        page.append(large ? 60'000 : 0, ' ');
        return test::HttpEndpoint::Answer{200, page};
    });
    HistoryReader reader(*parse_server_url(endpoint.url()), Patience(), 50'000, 100'000);
    auto page = reader.read("/endpoint/_history?_count=4&at=1");
    ASSERT_TRUE(page) << "a single version may have more: " << page.error().detail;
    EXPECT_EQ(page->next, "/endpoint/_history?_count=1&at=10") << "it was no small page";
    std::string next = "/endpoint/_history?_count=1&at=2";
    for (const int count : {2, 4, 4}) {
        page = reader.read(next);
        ASSERT_TRUE(page) << page.error().detail;
        EXPECT_TRUE(page->next.starts_with(fmt::format("/endpoint/_history?_count={}&", count)))
            << page->next;
        next = page->next;
    }
}

TEST(HistoryPageSize, AsksForMoreAgainAlsoAfterItHasLookedForNews) {
    const test::HttpEndpoint endpoint([](const std::string& request) {
        const std::string target = target_of(request);
        std::string page = page_of(1, 2, "", target + "&at=2");
        const bool first = target.find("&at=") == std::string::npos;
        page.append(first && target.find("_count=4") != std::string::npos ? 60'000 : 0, ' ');
        return test::HttpEndpoint::Answer{200, page};
    });
    HistoryReader reader(*parse_server_url(endpoint.url()), Patience(), 50'000, 100'000);
    const auto lowered = reader.first_target("2020-01-01", 4);
    ASSERT_TRUE(lowered) << lowered.error().detail;
    ASSERT_EQ(*lowered, "/endpoint/_history?_sort=_lastUpdated&_count=2&_since=2020-01-01");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(*reader.newest(), entry_mark(entry_of(1)));
    }
    std::string next = *lowered;
    for (const std::string more : {"&at=2", "&at=2&at=2"}) {  // at most as many as at first
        const auto page = reader.read(next);
        ASSERT_TRUE(page) << page.error().detail;
        next = page->next;
        EXPECT_EQ(next, "/endpoint/_history?_sort=_lastUpdated&_count=4&_since=2020-01-01" + more);
    }
}

TEST(HistoryPageSize, KeepsTheSizeOfPagesThatAreNumbered) {
    std::vector<std::string> asked;
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        asked.push_back(target_of(request));
        const bool large = asked.back().find("_count=4") != std::string::npos;
        std::string page = page_of(1, 2, "", asked.back() + "0");
        page.append(large ? 60'000 : 0, ' ');
        return test::HttpEndpoint::Answer{200, page};
    });
    HistoryReader reader(*parse_server_url(endpoint.url()), Patience(), 50'000, 100'000);
    const auto page = reader.read("/endpoint/_history?_count=4&_page=1");
    ASSERT_TRUE(page) << page.error().detail;
    EXPECT_EQ(page->next, "/endpoint/_history?_count=2&_page=10");
    EXPECT_EQ(asked.size(), 2U);
}

TEST(HistoryPageSize, AsksForNoLessThanOneEntry) {
    std::vector<std::string> asked;
    const test::HttpEndpoint endpoint([&](const std::string& request) {
        asked.push_back(target_of(request));
        return test::HttpEndpoint::Answer{200, std::string(200, ' ')};
    });
    HistoryReader reader(*parse_server_url(endpoint.url()), Patience(), 100, 100);
    for (const char* target : {"/endpoint/_history?_count=4", "/endpoint/_history?page=_count"}) {
        const auto page = reader.read(target);
        ASSERT_FALSE(page);
        EXPECT_EQ(page.error().code, Errc::body_too_large);
    }
    EXPECT_EQ(asked, (std::vector<std::string>{
                         "/endpoint/_history?_count=4", "/endpoint/_history?_count=2",
                         "/endpoint/_history?_count=1", "/endpoint/_history?page=_count"}));
}

}  // namespace
}  // namespace annals::tools
