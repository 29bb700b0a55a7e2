// What is answered if something is erased meanwhile: pages of which nothing is left, and operations on what was replaced and erased.

#include "tests/core/search/search_fixture.h"
#include "tests/support/between_turns.h"
#include "tests/support/commits.h"
#include "tests/support/turn_lengths.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

class ErasedMeanwhile : public test::Search {
  protected:
    void erase(std::string_view type, const std::vector<std::string_view>& ids) {
        test::CommitBuilder erasure;
        for (const std::string_view id : ids) {
            erasure.erase(type, id);
        }
        EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    }

    void erase_version(std::string_view type, std::string_view id, VersionNumber version) {
        test::CommitBuilder erasure;
        erasure.erase(type, id, storage::Erase::Scope::version, version);
        EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
    }

    /// The answer to `request`; `act` is called after so many turns, or else after the answer.
    test::Answer answer(Request request, std::string_view target, int turns,
                        const std::function<void()>& act) {
        const std::size_t query = target.find('?');
        request.path = target.substr(0, query);
        request.query = query == std::string_view::npos ? "" : target.substr(query + 1);
        request.base_url = kBaseUrl;
        const Result<Response> response =
            test::answer_between_turns(service(), store(), request, turns, act);
        EXPECT_TRUE(response);
        test::Answer out;
        if (response) {
            out.status = response->status;
            out.body = response->body.str();
            out.cache_control = response->cache_control;
        }
        return out;
    }

    const test::TurnLengths short_ones_{
        [](std::chrono::microseconds) noexcept { return std::chrono::microseconds(0); }};
};

TEST_F(ErasedMeanwhile, LeavesALinkToWhatFollowsOnAPageOfWhichNothingIsLeft) {
    const auto put_observation = [this](std::string_view id, std::string_view patient) {
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"Patient/{}"}})",
                patient));
    };
    put("Patient", "p", "");
    for (int i = 0; i < 40; ++i) {  // enough to be walked through in order
        put_observation(fmt::format("other{}", i), "q");
    }
    for (const std::string_view start :
         {"/Observation?_count=1", "/Observation?_count=1&_sort=-_lastUpdated",
          "/Patient/p/$everything?_count=1"}) {
        SCOPED_TRACE(start);
        bool led_on = false;
        int turns = 0;
        for (int i = 0; i < 1000 && !led_on; ++i) {
            for (const std::string_view id : {"a", "b", "c", "d"}) {
                put_observation(id, "p");
            }
            test::Searchset page = get(std::string(start));
            if (page.matches == Names{"Patient/p"}) {
                page = get(page.links.at("next"));
            }
            ASSERT_EQ(page.matches, Names{"Observation/d"});
            page = read(answer({}, page.links.at("next"), turns,
                               [this] { erase("Observation", {"b", "c"}); }));
            ASSERT_EQ(page.status, 200) << page.text;
            // As it was: the next time, something is erased from the beginning on again.
            turns = page.matches == Names{"Observation/c"} ? 0 : turns + 1;
            if (!page.matches.empty() || !page.links.contains("next")) {
                EXPECT_FALSE(page.matches.empty()) << "nothing leads on after " << turns;
                continue;
            }
            page = get(page.links.at("next"));
            // If the links were made already, it is the match next to which the next page begins that was erased.
            led_on = page.status == 200;
            EXPECT_TRUE(led_on || (page.status == 410 && start != "/Observation?_count=1"));
            EXPECT_EQ(page.matches, led_on ? Names{"Observation/a"} : Names());
        }
        EXPECT_TRUE(led_on);
    }
}

struct Asked {
    std::string_view target;
    std::string_view body;
    std::string_view type;
    std::string_view members;  ///< of the resource that is found; '#' stands for its version
    std::string_view found;
};

TEST_F(ErasedMeanwhile, IsFoundAsItWasOrIsByOperationsThatSearch) {
    const Asked all[] = {
        {"/Observation/$lastn?patient=p&code=c", "", "Observation",
         R"("status":"final","code":{"coding":[{"code":"c"}]},"subject":{"reference":"Patient/p"},"issued":"2020-01-0#T00:00:00Z")",
         R"("issued":"2020-01-0#T00:00:00Z")"},
        {"/Observation/$stats?subject=Patient/p&code=c&system=http://s&statistic=average", "",
         "Observation",
         R"("status":"final","code":{"coding":[{"system":"http://s","code":"c"}]},"subject":{"reference":"Patient/p"},"effectiveDateTime":"2020","valueQuantity":{"value":4#,"unit":"kg"})",
         R"("valueQuantity":{"value":4#)"},
        {"/DocumentReference/$docref?patient=p", "", "DocumentReference",
         R"("status":"current","content":[{"attachment":{"title":"t#"}}],"subject":{"reference":"Patient/p"},"type":{"text":"t"})",
         R"("title":"t#")"},
        {"/Patient/$match",
         R"({"resourceType":"Patient","identifier":[{"system":"http://s","value":"1"}]})",
         "Patient", R"("identifier":[{"system":"http://s","value":"1"}],"name":[{"text":"n#"}])",
         R"("text":"n#")"},
        {"/$graphql?query={PatientList(gender:%22male%22){name{text}}}", "", "Patient",
         R"("gender":"male","name":[{"text":"n#"}])", R"("text":"n#")"},
    };
    int number = 0;
    for (const Asked& asked : all) {
        SCOPED_TRACE(asked.target);
        const std::string id = fmt::format("r{}", ++number);
        const auto at_version = [](std::string_view text, char version) {
            std::string out(text);
            std::ranges::replace(out, '#', version);
            return out;
        };
        bool as_it_was = false;
        for (int turns = 0; turns < 1000 && !as_it_was; ++turns) {
            erase(asked.type, {id});
            put(asked.type, id, at_version(asked.members, '1'));
            const auto first = store().current(*find_resource_type(asked.type), id);
            ASSERT_TRUE(first);
            Request request;
            request.body = asked.body;
            if (!asked.body.empty()) {
                request.method = HttpMethod::post;
                request.headers = {{"Content-Type", "application/fhir+json"}};
            }
            const test::Answer got = answer(request, asked.target, turns, [&] {
                put(asked.type, id, at_version(asked.members, '2'));
                erase_version(asked.type, id, first->version);
            });
            ASSERT_EQ(got.status, 200) << got.body;
            as_it_was = got.says(at_version(asked.found, '1'));
            EXPECT_TRUE(as_it_was || got.says(at_version(asked.found, '2')))
                << "after " << turns << " turns: " << got.body;
        }
        EXPECT_TRUE(as_it_was);
        erase(asked.type, {id});
    }
}

}  // namespace
}  // namespace annals::core
