// History: histories over requests, page by page.

#pragma once

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace annals::test {

/// A history Bundle as a client sees it.
struct HistoryPage {
    int status = 0;
    std::uint64_t total = 0;
    std::vector<std::string> versions;  ///< "Patient/1/_history/2"
    std::vector<std::string> methods;
    std::map<std::string, std::string> links;  ///< below {base_url}
    std::string text;
};

class History : public ServiceFixture {
  protected:
    using Texts = std::vector<std::string>;

    static Texts reversed(Texts texts) {
        std::reverse(texts.begin(), texts.end());
        return texts;
    }

    HistoryPage get(const std::string& target) {
        const Answer answer = send("GET", target);
        HistoryPage page;
        page.status = answer.status;
        page.text = answer.body;
        const std::optional<json::Document> document = bundle_in(answer, "history");
        if (!document) {
            return page;
        }
        const json::Value bundle = document->root();
        page.total = std::stoull(std::string(bundle["total"].raw()));
        page.links = links_of(bundle);
        EXPECT_TRUE(page.links.contains("self"));
        for (const json::Value entry : bundle["entry"].elements()) {
            const std::string url = entry["fullUrl"].string();
            page.versions.push_back(url.substr(kBaseUrl.size() + 1));
            page.methods.push_back(entry["request"]["method"].string());
        }
        return page;
    }

    /// All versions from `target` on, following the links of `relation`.
    Texts follow(std::string target, const std::string& relation = "next") {
        Texts all;
        for (int pages = 0; pages < 1000; ++pages) {
            const HistoryPage page = get(target);
            EXPECT_EQ(page.status, 200) << target << page.text;
            EXPECT_FALSE(page.versions.empty()) << target;
            all.insert(all.end(), page.versions.begin(), page.versions.end());
            const auto link = page.links.find(relation);
            if (link == page.links.end()) {
                return all;
            }
            target = link->second;
        }
        ADD_FAILURE() << "an endless chain";
        return all;
    }

    /// Commits in the same millisecond share their instant; what follows gets a later one.
    static void next_millisecond() {
        const std::int64_t before = now().us / 1000;
        while (now().us / 1000 == before) {
        }
    }

    /// Writes Patients 1 and 2 in turn, versions 1 to 3 each, and deletes 2 by its version 4.
    void fill() {
        for (int version = 1; version <= 3; ++version) {
            put_patient("1");
            next_millisecond();
            put_patient("2");
            next_millisecond();
        }
        ASSERT_EQ(send("DELETE", "/Patient/2").status, 204);
        ASSERT_EQ(
            send("PUT", "/Basic/1", R"({"resourceType":"Basic","id":"1","code":{"text":"c"}})")
                .status,
            201);
    }
};

}  // namespace annals::test
