// $everything: paging back and forth while others write, and what a caller may not see.

#include "codec/json/document.h"
#include "core/access.h"
#include "core/search/cursor.h"
#include "tests/support/between_turns.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"
#include "tests/support/turn_lengths.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

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
        std::vector<std::string> ids;       ///< of matches
        std::vector<std::string> included;  ///< ids, too
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
            const bool match = entry["search"]["mode"].equals("match");
            (match ? page.ids : page.included).push_back(entry["resource"]["id"].string());
        }
        page.links = links_of(document->root());
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
            // What is written in the meantime belongs to another state.
            put_observation(fmt::format("new{}-{}", count, i), "p");
            ASSERT_EQ(send("DELETE", fmt::format("/Observation/new{}-{}", count, i)).status, 204);
        }
        EXPECT_EQ(seen, all);
        for (std::size_t i = pages.size(); i-- > 1;) {
            const Page before = get(pages[i].links["previous"]);
            EXPECT_EQ(before.ids, pages[i - 1].ids);
            EXPECT_EQ(before.links.contains("previous"), i > 1);
            EXPECT_TRUE(before.links.contains("next"));
            EXPECT_EQ(get(pages[i].links["first"]).ids, pages[0].ids);
        }
        EXPECT_FALSE(pages.front().links.contains("previous"));
    }
}

TEST_F(EverythingTest, ShowsWhatIsWrittenAnewAndErasedAsItWasMeanwhile) {
    const test::TurnLengths short_ones(
        [](std::chrono::microseconds) noexcept { return std::chrono::microseconds(0); });
    bool as_it_was = false;
    for (int turns = 0; turns < 1000 && !as_it_was; ++turns) {
        const std::string id = fmt::format("p{}", turns);
        put("Patient", id, R"(,"gender":"male")");
        put_observation(fmt::format("o{}", turns), id);
        Request request;
        const std::string path = fmt::format("/Patient/{}/$everything", id);
        request.path = path;
        request.base_url = kBaseUrl;
        const Result<Response> answer =
            test::answer_between_turns(service(), store(), request, turns, [&] {
                put("Patient", id, R"(,"gender":"female")");
                test::CommitBuilder erasure;
                erasure.erase("Patient", id, storage::Erase::Scope::version, {1});
                EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
            });
        ASSERT_TRUE(answer);
        const std::string body = answer->body.str();
        EXPECT_EQ(answer->status, 200) << body;
        EXPECT_THAT(body, testing::HasSubstr(R"("total":2,)")) << "after " << turns << " turns";
        EXPECT_THAT(body, testing::HasSubstr(R"("gender":)")) << "after " << turns << " turns";
        as_it_was = body.find(R"("male")") != std::string::npos;
    }
    EXPECT_TRUE(as_it_was);
}

TEST_F(EverythingTest, LeadsOnFromAPageBeforeWhichAllWasErased) {
    Config config;
    config.hard_delete = true;
    restart(config);
    put("Patient", "p", R"(,"gender":"male")");
    for (const std::string_view id : {"a", "b"}) {
        put_observation(id, "p");
    }
    const Page first = get("/Patient/p/$everything?_count=1");
    const Page second = get(first.links.at("next"));
    put("Patient", "p", R"(,"gender":"female")");
    ASSERT_EQ(send("DELETE", "/Patient/p/_history").status, 204);
    const Page before = get(second.links.at("previous"));
    EXPECT_THAT(before.ids, testing::IsEmpty());
    EXPECT_EQ(before.links.at("first"), "/Patient/p/$everything?_count=1");
    EXPECT_FALSE(before.links.contains("previous"));
    const Page beginning = get(before.links.at("next"));
    EXPECT_EQ(beginning.ids, second.ids);
    EXPECT_EQ(beginning.total, "3");
    EXPECT_FALSE(beginning.links.contains("previous"));
    EXPECT_EQ(get(beginning.links.at("next")).ids, get(second.links.at("next")).ids);
}

TEST_F(EverythingTest, LeadsOnFromAPageOfOneWhoWasDeletedAndErasedSince) {
    put("Patient", "p", "");
    put_observation("a", "p");
    put_observation("b", "p");
    const Page second = get(get("/Patient/p/$everything?_count=1").links.at("next"));
    ASSERT_EQ(send("DELETE", "/Patient/p").status, 204);
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("DELETE", "/Patient/p/_history/1").status, 204);
    EXPECT_THAT(get(second.links.at("next")).ids, testing::ElementsAre("a"));
    EXPECT_THAT(get(second.links.at("previous")).ids, testing::IsEmpty());
}

TEST_F(EverythingTest, ALaterPageOfOneWhoIsNoLongerShownIsOfNone) {
    put("Patient", "p", R"(,"gender":"male")");
    put_observation("o", "p");
    Config config;
    config.hard_delete = true;
    config.auth.mode = "jwt";
    restart(config);
    const Principal all("all", "system/*.cruds");
    const Principal some("some", "system/Patient.rs?gender=male system/Observation.rs");
    send_as(&some);
    const Page first = get("/Patient/p/$everything?_count=1");
    const std::string next = first.links.at("next");
    EXPECT_THAT(get(next).ids, testing::ElementsAre("o"));
    send_as(&all);
    put("Patient", "p", R"(,"gender":"female")");
    ASSERT_EQ(send("DELETE", "/Patient/p/_history").status, 204);
    send_as(&some);
    EXPECT_EQ(send("GET", next).status, 404);
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

TEST_F(EverythingTest, TypesAreOfWhatIsToldAndNotOfWhatLeadsToIt) {
    put("Organization", "org", "");
    put("Organization", "idle", "");
    put("Practitioner", "dr", "");
    put("PractitionerRole", "role",
        R"(,"practitioner":{"reference":"Practitioner/dr"},"organization":{"reference":"Organization/org"})");
    put("Patient", "p", "");
    put("Condition", "c", R"(,"subject":{"reference":"Patient/p"})");
    for (int i = 0; i < 3; ++i) {
        put("Observation", fmt::format("o{}", i),
            fmt::format(
                R"(,"status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/p"}}{})",
                i == 0 ? R"(,"performer":[{"reference":"PractitionerRole/role"}])" : ""));
    }
    using testing::ElementsAre;
    using testing::IsEmpty;
    using testing::UnorderedElementsAre;
    Page page = get("/Patient/p/$everything");
    EXPECT_THAT(page.included, UnorderedElementsAre("role", "dr", "org"));
    page = get("/Patient/p/$everything?_type=Practitioner");
    EXPECT_THAT(page.ids, IsEmpty());
    EXPECT_THAT(page.included, ElementsAre("dr"));
    EXPECT_EQ(page.total, "0");
    EXPECT_EQ(page.links.count("next"), 0U);
    page = get("/Patient/$everything?_type=Condition,Organization");
    EXPECT_THAT(page.ids, ElementsAre("c"));
    EXPECT_THAT(page.included, ElementsAre("org"));
    EXPECT_EQ(page.total, "1");
    page = get("/Patient/p/$everything?_type=Condition");
    EXPECT_THAT(page.ids, ElementsAre("c"));
    EXPECT_THAT(page.included, IsEmpty());

    // Pages are made of members of all types, even if few of them are shown.
    std::vector<std::string> seen;
    std::vector<std::string> beside;
    std::vector<Page> pages;
    std::string target = "/Patient/p/$everything?_type=Condition,Practitioner&_count=2";
    for (int i = 0; !target.empty() && i < 10; ++i) {
        pages.push_back(get(target));
        EXPECT_EQ(pages.back().total, "1");
        seen.insert(seen.end(), pages.back().ids.begin(), pages.back().ids.end());
        beside.insert(beside.end(), pages.back().included.begin(), pages.back().included.end());
        target = pages.back().links["next"];
    }
    EXPECT_EQ(pages.size(), 3U);
    EXPECT_THAT(seen, ElementsAre("c"));
    EXPECT_THAT(beside, ElementsAre("dr"));
    EXPECT_EQ(get(pages.back().links["previous"]).ids, pages[1].ids);
    EXPECT_EQ(get("/Patient/p/$everything?_type=Condition,Practitioner&_count=0").total, "1");
}

TEST_F(EverythingTest, IncludesTheVersionThatAReferenceNames) {
    put("Practitioner", "x", R"(,"gender":"male")");
    put("Practitioner", "x", R"(,"gender":"female")");
    put("Practitioner", "gone", "");
    ASSERT_EQ(send("DELETE", "/Practitioner/gone").status, 204);
    put("Patient", "p",
        R"(,"generalPractitioner":[{"reference":"Practitioner/x/_history/1"},
            {"reference":"Practitioner/gone/_history/2"},{"reference":"Practitioner/x/_history/7"}])");
    const test::Answer named = send("GET", "/Patient/p/$everything");
    EXPECT_TRUE(named.says(R"("gender":"male")")) << named.body;
    EXPECT_FALSE(named.says(R"("gender":"female")")) << named.body;
    EXPECT_THAT(get("/Patient/p/$everything").included, testing::ElementsAre("x"));
    put_observation("o", "p");
    put("Encounter", "e",
        R"(,"status":"planned","class":{"code":"AMB"},"subject":{"reference":"Patient/p"},
            "participant":[{"individual":{"reference":"Practitioner/x"}}])");
    const test::Answer both = send("GET", "/Patient/p/$everything");
    EXPECT_TRUE(both.says(R"("gender":"male")")) << both.body;
    EXPECT_TRUE(both.says(R"("gender":"female")")) << both.body;
    EXPECT_THAT(get("/Patient/p/$everything").included, testing::ElementsAre("x", "x"));
}

TEST_F(EverythingTest, PagesOfMembersAloneAreFull) {
    put("Patient", "p", "");
    for (int i = 0; i < 3; ++i) {
        put_observation(fmt::format("o{}", i), "p");
        put("Condition", fmt::format("c{}", i), R"(,"subject":{"reference":"Patient/p"})");
    }
    const Page first = get("/Patient/p/$everything?_type=Observation&_count=2");
    EXPECT_EQ(first.ids.size(), 2U);
    const Page second = get(first.links.at("next"));
    EXPECT_EQ(second.ids.size(), 1U);
    EXPECT_FALSE(second.links.contains("next"));
}

TEST_F(EverythingTest, TheNextPageIsShownAsTheFirstIsAndOfTheSameState) {
    put("Patient", "p", "");
    put_observation("o", "p");
    const std::string state = std::to_string(store().last_position().value);
    put_observation("later", "p");
    Page page = get("/Patient/p/$everything?_count=1&_elements=status&_asOf=" + state);
    EXPECT_EQ(page.total, "2");
    EXPECT_THAT(page.ids, testing::ElementsAre("p"));
    const std::string next = page.links.at("next");
    EXPECT_THAT(next, testing::HasSubstr("_elements=status"));
    EXPECT_THAT(next, testing::HasSubstr("_asOf=" + state));
    page = get(next);
    EXPECT_THAT(page.ids, testing::ElementsAre("o"));
    EXPECT_FALSE(page.links.contains("next"));
}

TEST_F(EverythingTest, TheNextPageIsOfTheSameTimeOfCare) {
    put("Patient", "p", "");
    put("Condition", "early",
        R"(,"subject":{"reference":"Patient/p"},"onsetDateTime":"2020-01-01")");
    put("Condition", "late",
        R"(,"subject":{"reference":"Patient/p"},"onsetDateTime":"2022-01-01")");
    const Page page = get("/Patient/p/$everything?_count=1&start=2021-01-01");
    EXPECT_EQ(page.total, "2");
    EXPECT_THAT(get(page.links.at("next")).ids, testing::ElementsAre("late"));
    EXPECT_FALSE(get(page.links.at("next")).links.contains("next"));
}

TEST_F(EverythingTest, GoesByTheTimeOfCareOfEachType) {
    put("Patient", "p", "");
    constexpr std::string_view kSubject = R"("subject":{"reference":"Patient/p"})";
    constexpr std::string_view kCode = R"("code":{"text":"x"})";
    const std::tuple<std::string_view, std::string_view, std::string> kCare[] = {
        {"ChargeItem", "occurrenceDateTime",
         fmt::format(R"("status":"billable",{},{})", kCode, kSubject)},
        {"Communication", "sent", fmt::format(R"("status":"completed",{})", kSubject)},
        {"CommunicationRequest", "occurrenceDateTime",
         fmt::format(R"("status":"active",{})", kSubject)},
        {"Condition", "onsetDateTime", std::string(kSubject)},
        {"DetectedIssue", "identifiedDateTime",
         R"("status":"final","patient":{"reference":"Patient/p"})"},
        {"DeviceRequest", "occurrenceDateTime",
         fmt::format(R"("intent":"order","codeCodeableConcept":{{"text":"x"}},{})", kSubject)},
        {"Observation", "effectiveDateTime",
         fmt::format(R"("status":"final",{},{})", kCode, kSubject)},
        {"ServiceRequest", "occurrenceDateTime",
         fmt::format(R"("status":"active","intent":"order",{})", kSubject)},
    };
    for (const auto& [type, element, rest] : kCare) {
        put(type, "early", fmt::format(R"(,{},"{}":"2020-01-01")", rest, element));
        put(type, "late", fmt::format(R"(,{},"{}":"2022-01-01")", rest, element));
        put(type, "undated", fmt::format(",{}", rest));
        const std::string path = fmt::format("/Patient/p/$everything?_type={}", type);
        EXPECT_THAT(get(path + "&start=2021-01-01").ids, testing::ElementsAre("undated", "late"))
            << type;
        EXPECT_THAT(get(path + "&end=2021-01-01").ids, testing::ElementsAre("undated", "early"))
            << type;
    }
}

TEST_F(EverythingTest, RefusesATimeThatIsNoneAlsoOfTypesWithoutADateOfCare) {
    put("Patient", "p", "");
    for (const std::string_view name : {"start", "end", "_since"}) {
        EXPECT_EQ(
            send("GET", fmt::format("/Patient/p/$everything?_type=Patient&{}=x", name)).status, 400)
            << name;
    }
}

TEST_F(EverythingTest, GoesOnBehindNothingThatCannotBeAnEdge) {
    put("Organization", "org", "");
    put("Patient", "p", R"(,"managingOrganization":{"reference":"Organization/org"})");
    put_observation("o", "p");
    put_observation("gone", "p");
    const std::string path = "/Patient/p/$everything?_count=1";
    const std::string next = get(path).links.at("next");
    auto cursor = search::read_cursor(std::string_view(next).substr(next.find("_cursor=") + 8));
    ASSERT_TRUE(cursor.has_value());
    const auto behind = [&](Position edge) {
        cursor->edge = edge;
        return send("GET", path + "&_cursor=" + search::write_cursor(*cursor)).status;
    };
    const auto position = [&](std::string_view type, std::string_view id) {
        return store().current(*find_resource_type(type), id)->position;
    };
    const Position gone = position("Observation", "gone");
    EXPECT_EQ(behind(gone), 200);
    EXPECT_EQ(behind(position("Organization", "org")), 410);
    EXPECT_EQ(behind(Position{0}), 200);  // the beginning
    cursor->backwards = true;
    EXPECT_EQ(behind(Position{0}), 410);
    cursor->backwards = false;
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("DELETE", "/Observation/gone").status, 204);
    EXPECT_EQ(behind(gone), 410);
    cursor->snapshot.value = store().last_position().value + 1;
    EXPECT_EQ(behind(position("Observation", "o")), 400);
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

TEST_F(EverythingTest, OfOnePatientTellsHimToWhomMayReadHimAndAllToWhomMayFindThem) {
    put("Patient", "a", "");
    put("Patient", "b", R"(,"link":[{"other":{"reference":"Patient/a"},"type":"seealso"}])");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal reads_one("p", "system/Patient.r?_id=a system/Patient.s?_id=b");
    send_as(&reads_one);
    EXPECT_THAT(get("/Patient/a/$everything").ids, testing::ElementsAre("a"));
    EXPECT_THAT(get("/Patient/$everything").ids, testing::ElementsAre("b"));
}

TEST_F(EverythingTest, GoesOnBehindHimWhoMayOnlyBeRead) {
    put("Patient", "p", "");
    put_observation("o", "p");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal reads("reads", "system/Patient.r?_id=p system/Observation.rs");
    send_as(&reads);
    const Page first = get("/Patient/p/$everything?_count=1");
    EXPECT_THAT(first.ids, testing::ElementsAre("p"));
    EXPECT_THAT(get(first.links.at("next")).ids, testing::ElementsAre("o"));
}

TEST_F(EverythingTest, OfOneWhoIsNotShownIsAsOfNone) {
    put("Patient", "a", "");
    put("Patient", "b", "");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal reads_one("p", "system/Patient.rs?_id=a");
    send_as(&reads_one);
    EXPECT_EQ(send("GET", "/Patient/a/$everything").status, 200);
    EXPECT_EQ(send("GET", "/Patient/b/$everything").status, 404);
    EXPECT_EQ(send("GET", "/Patient/none/$everything").status, 404);
}

TEST_F(EverythingTest, TellsBesideItOnlyWhatIsShown) {
    put("Practitioner", "x", R"(,"gender":"male")");
    put("Practitioner", "y", R"(,"gender":"female")");
    put("Patient", "p",
        R"(,"generalPractitioner":[{"reference":"Practitioner/x"},{"reference":"Practitioner/y"}])");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal some("some", "system/Patient.rs system/Practitioner.rs?gender=female");
    send_as(&some);
    const test::Answer answer = send("GET", "/Patient/p/$everything");
    EXPECT_TRUE(answer.says(R"("id":"y")")) << answer.body;
    EXPECT_FALSE(answer.says(R"("id":"x")")) << answer.body;
}

TEST_F(EverythingTest, OfAllPatientsIsOfThoseThatAreShown) {
    put("Patient", "a", "");
    put("Patient", "b", "");
    put_observation("oa", "a");
    put_observation("ob", "b");
    put_observation("nobody", "gone");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal part("p", "system/Patient.rs?_id=a system/Observation.rs");
    send_as(&part);
    // Showing ob would reveal that there is a Patient b.
    const Page page = get("/Patient/$everything");
    EXPECT_THAT(page.ids, testing::ElementsAre("a", "oa"));
    EXPECT_EQ(page.total, "2");
}

}  // namespace
}  // namespace annals::core
