// Pages of contained resources (`_containedType=contained`) that are large, and their totals.

#include "tests/core/search/search_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::test {
namespace {

class ContainedPages : public Search {
  protected:
    static constexpr int kContainers = 6;

    /// Each contains two Organizations with `names` names of `size` characters.
    void put_all(int names, std::size_t size) {
        std::string all;
        for (int i = 0; i < names; ++i) {
            all += fmt::format(R"({}"{}")", i == 0 ? "" : ",", std::string(size, 'x'));
        }
        for (int i = 0; i < kContainers; ++i) {
            put("Basic", fmt::format("b{}", i),
                fmt::format(
                    R"("code":{{"text":"c"}},"author":{{"reference":"#a{0}"}},"subject":{{"reference":"#s{0}"}},"contained":[)"
                    R"({{"resourceType":"Organization","id":"a{0}","alias":[{1}]}},{{"resourceType":"Organization","id":"s{0}","alias":[{1}]}}])",
                    i, all));
        }
    }

    static constexpr std::string_view kAll =
        "/Organization?_contained=true&_containedType=contained";

    static Names names(std::initializer_list<int> containers) {
        Names names;
        for (const int i : containers) {
            names.push_back(fmt::format("Organization/a{}", i));
            names.push_back(fmt::format("Organization/s{}", i));
        }
        return names;
    }
};

TEST_F(ContainedPages, EndOnceTheyAreLarge) {
    put_all(3, 1'000'000);
    Searchset page = get(fmt::format("{}&_total=accurate&_count=4", kAll));
    EXPECT_EQ(page.matches, names({5, 4, 3}));
    EXPECT_EQ(page.total, 12U);
    Searchset last = get(page.links.at("last"));
    page = get(page.links.at("next"));
    EXPECT_EQ(page.matches, names({2, 1, 0}));
    EXPECT_EQ(page.total, 12U);
    EXPECT_FALSE(page.links.contains("next"));
    EXPECT_EQ(get(page.links.at("previous")).matches, names({5, 4, 3}));

    EXPECT_EQ(last.matches, names({2, 1, 0}));
    EXPECT_FALSE(last.links.contains("next"));
    const Searchset before = get(last.links.at("previous"));
    EXPECT_EQ(before.matches, names({5, 4, 3}));
    EXPECT_EQ(get(before.links.at("next")).matches, names({2, 1, 0}));

    const Searchset few = get(fmt::format("{}&_count=2", kAll));
    EXPECT_EQ(few.matches, names({5, 4}));
    const Searchset unasked = get(fmt::format("{}&_id=a0,a1", kAll));
    EXPECT_EQ(unasked.matches.size(), 2U) << "these are small enough";
    EXPECT_EQ(unasked.total, 2U);
    EXPECT_FALSE(get(std::string(kAll)).total.has_value()) << "there are others beyond the page";
}

TEST_F(ContainedPages, OfAllSizesHaveTheSameTotal) {
    put_all(1, 100);
    const Searchset page = get(std::string(kAll));
    EXPECT_EQ(page.matches, names({5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(page.total, 12U);
    EXPECT_EQ(get(fmt::format("{}&_count=0", kAll)).total, 12U);
    EXPECT_EQ(page.links.size(), 1U);
}

}  // namespace
}  // namespace annals::test
