// $everything: paging to and fro while others write, and what a caller may not see.

#include "codec/json/document.h"
#include "core/access.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace annals::core {
namespace {

class EverythingTest : public test::ServiceFixture {
  protected:
    void put(std::string_view type, std::string_view id, std::string_view rest) {
        const std::string body =
            fmt::format(R"({{"resourceType":"{}","id":"{}"{}}})", type, id, rest);
        ASSERT_LT(send("PUT", fmt::format("/{}/{}", type, id), body,
                       {{"Content-Type", "application/fhir+json"}})
                      .status,
                  300)
            << body;
    }

    void put_observation(std::string_view id, std::string_view patient) {
        put("Observation", id,
            fmt::format(
                R"(,"status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/{}"}})",
                patient));
    }

    struct Page {
        std::vector<std::string> ids;  ///< of matches
        std::map<std::string, std::string> links;
        std::string total;
    };

    Page get(const std::string& target) {
        const test::Answer answer = send("GET", target);
        EXPECT_EQ(answer.status, 200) << answer.body;
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        Page page;
        for (const json::Value entry : document->root()["entry"].elements()) {
            if (entry["search"]["mode"].equals("match")) {
                page.ids.push_back(entry["resource"]["id"].string());
            }
        }
        for (const json::Value link : document->root()["link"].elements()) {
            page.links[link["relation"].string()] = link["url"].string().substr(kBaseUrl.size());
        }
        page.total = document->root()["total"].raw();
        return page;
    }
};

TEST_F(EverythingTest, PagesShowOneStateToAndFro) {
    put("Patient", "p", "");
    put("Patient", "linked", R"(,"link":[{"other":{"reference":"Patient/p"},"type":"seealso"}])");
    for (int i = 0; i < 7; ++i) {
        put_observation(fmt::format("o{}", i), "p");
        put("Condition", fmt::format("c{}", i), R"(,"subject":{"reference":"Patient/p"})");
    }
    const std::vector<std::string> all = get("/Patient/p/$everything").ids;
    ASSERT_EQ(all.size(), 16u);
    EXPECT_EQ(all[0], "p");
    EXPECT_EQ(all[1], "linked");
    for (const int count : {1, 2, 3, 5, 15, 16, 100}) {
        SCOPED_TRACE(count);
        std::vector<std::string> seen;
        std::vector<Page> pages;
        std::string target = fmt::format("/Patient/p/$everything?_count={}", count);
        for (int i = 0; !target.empty() && i < 20; ++i) {
            pages.push_back(get(target));
            EXPECT_EQ(pages.back().total, "16");
            EXPECT_FALSE(pages.back().ids.empty());
            seen.insert(seen.end(), pages.back().ids.begin(), pages.back().ids.end());
            target = pages.back().links["next"];
            // What is written meanwhile is of another state.
            put_observation(fmt::format("new{}-{}", count, i), "p");
            ASSERT_EQ(send("DELETE", fmt::format("/Observation/new{}-{}", count, i)).status, 204);
        }
        EXPECT_EQ(seen, all);
        for (std::size_t i = pages.size(); i-- > 1;) {
            const Page before = get(pages[i].links["previous"]);
            EXPECT_EQ(before.ids, pages[i - 1].ids);
            EXPECT_EQ(get(pages[i].links["first"]).ids, pages[0].ids);
        }
        EXPECT_FALSE(pages.front().links.contains("previous"));
    }
}

TEST_F(EverythingTest, OfAllPatientsLeavesOutWhatIsOfNone) {
    put("Patient", "a", "");
    put("Patient", "b", "");
    put("Group", "g", R"(,"type":"animal","actual":true)");
    put_observation("oa", "a");
    put_observation("nobody", "gone");
    put("Observation", "og",
        R"(,"status":"final","code":{"text":"x"},"subject":{"reference":"Group/g"})");
    const Page page = get("/Patient/$everything");
    EXPECT_EQ(std::set<std::string>(page.ids.begin(), page.ids.end()),
              (std::set<std::string>{"a", "b", "oa"}));
    std::vector<std::string> seen;
    std::string target = "/Patient/$everything?_count=1";
    while (!target.empty()) {
        Page one = get(target);
        seen.insert(seen.end(), one.ids.begin(), one.ids.end());
        target = one.links["next"];
    }
    EXPECT_EQ(seen, page.ids);
}

TEST_F(EverythingTest, ACursorHoldsForItsOwnCallAlone) {
    put("Patient", "p", "");
    put_observation("o", "p");
    const std::string next = get("/Patient/p/$everything?_count=1").links["next"];
    const std::string cursor = next.substr(next.find("_cursor="));
    EXPECT_EQ(send("GET", next).status, 200);
    EXPECT_EQ(send("GET", "/Patient/p/$everything?_count=2&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/q/$everything?_count=1&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/$everything?_count=1&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/p/$everything?_count=1&" + cursor + "&" + cursor).status, 400);
    EXPECT_EQ(send("GET", "/Patient/p/$everything?_count=1&" + cursor + "x").status, 400);
}

TEST_F(EverythingTest, ShowsOnlyTypesThatArePermitted) {
    put("Practitioner", "dr", "");
    put("Patient", "p", R"(,"generalPractitioner":[{"reference":"Practitioner/dr"}])");
    put_observation("o", "p");
    put("Condition", "c", R"(,"subject":{"reference":"Patient/p"})");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal lab("lab", "system/Patient.r system/Observation.rs");
    send_as(&lab);
    const test::Answer answer = send("GET", "/Patient/p/$everything");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("total":2)")) << answer.body;
    EXPECT_TRUE(answer.says("Observation/o"));
    EXPECT_FALSE(answer.says("Condition"));
    EXPECT_FALSE(answer.says("Practitioner\",\"id\""));
}

}  // namespace
}  // namespace annals::core
