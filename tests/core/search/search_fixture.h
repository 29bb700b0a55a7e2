// Shared by tests of searches, with HTTP requests and answers but without sockets.

#pragma once

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

// A searchset as clients see it.
struct Searchset {
    int status = 0;
    std::optional<std::uint64_t> total;
    std::vector<std::string> matches;   // "Patient/1"
    std::vector<std::string> included;  // the same
    std::vector<std::string> warnings;
    std::map<std::string, std::string> links;  // below {base_url}
    std::string text;
};

class Search : public ServiceFixture {
  protected:
    Searchset get(const std::string& target, const Headers& headers = {}) {
        return read(send("GET", target, {}, headers));
    }

    static Searchset read(const Answer& answer) {
        Searchset page;
        page.status = answer.status;
        page.text = answer.body;
        const std::optional<json::Document> document = bundle_in(answer, "searchset");
        if (!document) {
            return page;
        }
        const json::Value bundle = document->root();
        if (bundle["total"]) {
            page.total = std::stoull(std::string(bundle["total"].raw()));
        }
        page.links = links_of(bundle);
        for (const json::Value entry : bundle["entry"].elements()) {
            const json::Value resource = entry["resource"];
            const std::string name =
                resource["resourceType"].string() + "/" + resource["id"].string();
            const std::string mode = entry["search"]["mode"].string();
            if (mode == "outcome") {
                for (const json::Value issue : resource["issue"].elements()) {
                    page.warnings.push_back(issue["diagnostics"].string());
                }
                continue;
            }
            EXPECT_TRUE(entry["fullUrl"].string().starts_with(fmt::format("{}/", kBaseUrl)));
            (mode == "match" ? page.matches : page.included).push_back(name);
        }
        return page;
    }

    void put(std::string_view type, std::string_view id, std::string_view members) {
        const Answer answer = send("PUT", fmt::format("/{}/{}", type, id),
                                   fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})", type, id,
                                               members.empty() ? "" : ",", members));
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    void put_named(std::string_view id, std::string_view family, std::string_view birth = {}) {
        put("Patient", id,
            fmt::format(R"("name":[{{"family":"{}"}}]{})", family,
                        birth.empty() ? "" : fmt::format(R"(,"birthDate":"{}")", birth)));
    }

    using Names = std::vector<std::string>;

    /// The matches of `page` and of the pages to which `link` (next or previous) leads from it, in order. `page` becomes the
    /// last one of these.
    Names follow(const std::string& link, Searchset& page) {
        Names all = page.matches;
        while (page.links.contains(link)) {
            page = get(page.links.at(link));
            EXPECT_EQ(page.status, 200);
            all.insert(link == "previous" ? all.begin() : all.end(), page.matches.begin(),
                       page.matches.end());
        }
        return all;
    }
};

}  // namespace annals::test
