// What packages define is found by searches and read by id, and appears in nothing else about the store.

#include "codec/json/document.h"
#include "core/packages/package.h"
#include "core/search/cursor.h"
#include "core/search/snapshot.h"
#include "tests/support/archives.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

namespace annals::core {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Names = std::vector<std::string>;

std::string value_set(std::string_view id, std::string_view name, std::string_view more = "") {
    return fmt::format(
        R"({{"resourceType":"ValueSet","id":"{0}","url":"http://p/{0}","version":"1","name":"{1}","status":"active"{2}}})",
        id, name, more);
}

class CarriedTest : public test::ServiceFixture {
  protected:
    void install(std::string_view name, std::string_view version, const Names& resources) {
        install_package(test::make_package(name, version, resources));
    }

    void store_one(std::string_view name, std::string_view body) {
        const Answer answer = send("PUT", fmt::format("/{}", name), body);
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    struct Page {
        Names urls;  ///< ResourceType.url of each entry, in order
        Names ids;
        std::string total;
        std::string next;
        std::string previous;
        std::string body;
    };

    Page get(const std::string& target) {
        const Answer answer = send("GET", target);
        EXPECT_EQ(answer.status, 200) << target << " " << answer.body;
        Page page;
        page.body = answer.body;
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        EXPECT_TRUE(document) << answer.body;
        const json::Value root = document->root();
        page.total = root["total"].raw();
        for (const json::Value entry : root["entry"].elements()) {
            const json::Value resource = entry["resource"];
            page.urls.push_back(resource["url"].string());
            page.ids.push_back(resource["id"].string());
            EXPECT_EQ(entry["fullUrl"].string(),
                      fmt::format("{}/{}/{}", kBaseUrl, resource["resourceType"].string(),
                                  resource["id"].string()));
        }
        std::map<std::string, std::string> links = links_of(root);
        page.next = links["next"];
        page.previous = links["previous"];
        return page;
    }

    Names urls(const std::string& target) { return get(target).urls; }

    /// All pages.
    Names walk(const std::string& target) {
        Names all;
        for (std::string at = target; !at.empty();) {
            const Page page = get(at);
            all.insert(all.end(), page.urls.begin(), page.urls.end());
            at = page.next;
        }
        return all;
    }
};

TEST_F(CarriedTest, AValueSetIsNamedByItsIdAsTheServersOwnAre) {
    install("p.test", "1.0.0",
            {value_set("men", "Men",
                       R"(,"compose":{"include":[{"concept":[{"code":"male"}],)"
                       R"("system":"http://hl7.org/fhir/administrative-gender"}]})")});
    store_one("Patient/m", R"({"resourceType":"Patient","id":"m","gender":"male"})");
    store_one("Patient/f", R"({"resourceType":"Patient","id":"f","gender":"female"})");
    const Page page = get("/ValueSet?url=http://p/men");
    ASSERT_THAT(page.ids, testing::SizeIs(1));
    EXPECT_THAT(get("/Patient?gender:in=ValueSet/" + page.ids[0]).ids, ElementsAre("m"));
    EXPECT_THAT(get("/Patient?gender:not-in=ValueSet/" + page.ids[0]).ids, ElementsAre("f"));
    EXPECT_EQ(send("GET", "/Patient?gender:in=ValueSet/men").status, 400) << "its id elsewhere";
    EXPECT_EQ(send("GET", "/Patient?gender:in=CodeSystem/" + page.ids[0]).status, 400);
}

TEST_F(CarriedTest, WhatIsContainedIsFoundHoweverItsNamesAreEscaped) {
    install("p.test", "1.0.0",
            {value_set("one", "One",
                       R"(,"cont\u0061ined":[{"resourceType":"\u0050atient","id":"c",)"
                       R"("gend\u0065r":"male"}])"),
             value_set("two", "Two",
                       R"(,"contained":[{"resourceType":"Patient","id":"c","gender":"male"}])")});
    EXPECT_THAT(urls("/Patient?gender=male&_contained=true"),
                UnorderedElementsAre("http://p/one", "http://p/two"));
}

TEST_F(CarriedTest, IsFoundAndReadAndIsNoneOfTheStoresVersions) {
    put_patient("a");
    const std::string changes = send("GET", "/_changes").body;
    install(
        "p.test", "1.0.0",
        {value_set("one", "One",
                   R"(,"text":{"status":"generated","div":"<div/>"},"meta":{"versionId":"9",)"
                   R"("lastUpdated":"2020-01-01T00:00:00Z","tag":[{"code":"own"}]})"),
         value_set("two", "Two"),
         R"({"resourceType":"StructureDefinition","id":"sd","url":"http://p/sd","status":"draft","kind":"resource","abstract":false,"type":"Patient","name":"Sd"})"});

    const Page page = get("/ValueSet?url=http://p/one");
    EXPECT_EQ(page.total, "1");
    ASSERT_THAT(page.urls, ElementsAre("http://p/one"));
    const Answer read = send("GET", "/ValueSet/" + page.ids[0]);
    EXPECT_EQ(read.status, 200);
    EXPECT_EQ(read.etag, 0U);
    EXPECT_EQ(read.content_type, "application/fhir+json; charset=utf-8");
    EXPECT_TRUE(page.body.find(read.body) != std::string::npos);
    EXPECT_TRUE(read.body.starts_with(R"({"resourceType":"ValueSet","id":"one-)")) << read.body;
    EXPECT_TRUE(read.says(
        R"("meta":{"lastUpdated":"2020-01-01T00:00:00Z","tag":[{"code":"own"},{"system":"urn:annals:package","code":"p.test#1.0.0"}]},"url")"))
        << read.body;
    EXPECT_FALSE(read.says("generated"));

    EXPECT_THAT(urls("/ValueSet?_id=" + page.ids[0]), ElementsAre("http://p/one"));
    EXPECT_THAT(urls("/ValueSet?name=tw"), ElementsAre("http://p/two"));
    EXPECT_THAT(urls("/StructureDefinition?type=Patient&status=draft"), ElementsAre("http://p/sd"));
    EXPECT_THAT(
        urls("/?_type=ValueSet,StructureDefinition&_tag=urn:annals:package%7Cp.test%231.0.0"),
        UnorderedElementsAre("http://p/one", "http://p/two", "http://p/sd"));
    EXPECT_THAT(urls("/ValueSet?_tag:not=urn:annals:package%7Cp.test%231.0.0"), IsEmpty());
    EXPECT_EQ(get("/ValueSet?_count=0").total, "2");
    EXPECT_EQ(get("/ValueSet?_summary=count").total, "2");
    EXPECT_THAT(urls("/Patient"), testing::SizeIs(1));

    EXPECT_EQ(send("GET", "/ValueSet/one").status, 404);
    EXPECT_EQ(send("GET", "/StructureDefinition/" + page.ids[0]).status, 404);
    EXPECT_EQ(send("GET", "/ValueSet/" + page.ids[0] + "/_history").status, 404);
    EXPECT_EQ(send("GET", "/ValueSet/" + page.ids[0] + "/_history/1").status, 404);
    EXPECT_EQ(send("GET", "/ValueSet/" + page.ids[0] + "?_asOf=1").status, 404);
    EXPECT_THAT(urls("/ValueSet?_asOf=1"), IsEmpty());
    EXPECT_TRUE(send("GET", "/ValueSet/_history").says(R"("total":0)"));
    EXPECT_EQ(send("GET", "/_changes").body, changes);
    EXPECT_EQ(send("DELETE", "/ValueSet/" + page.ids[0]).status, 404);
    EXPECT_EQ(send("DELETE", "/ValueSet?url=http://p/one").status, 204);
    EXPECT_EQ(get("/ValueSet").total, "2");
    EXPECT_EQ(
        send("POST", "/ValueSet", value_set("x", "X"), {{"If-None-Exist", "name=One"}}).status, 201)
        << "what is created on a condition goes by what is stored";
}

TEST_F(CarriedTest, IsFollowedByItsUrlBothWays) {
    install("p", "1.0.0", {value_set("one", "One"), value_set("two", "Two")});
    store_one(
        "ConceptMap/m",
        R"({"resourceType":"ConceptMap","id":"m","url":"http://m","status":"draft","sourceCanonical":"http://p/one|1"})");
    EXPECT_THAT(urls("/ConceptMap?source.name=One"), ElementsAre("http://m"));
    EXPECT_THAT(urls("/ConceptMap?source.name=Two"), IsEmpty());
    EXPECT_THAT(urls("/ValueSet?_has:ConceptMap:source:status=draft"), ElementsAre("http://p/one"));
    EXPECT_THAT(urls("/ValueSet?name=One&_revinclude=ConceptMap:source"),
                ElementsAre("http://p/one", "http://m"));
}

TEST_F(CarriedTest, StandsBesideWhatIsStoredUnderTheSameUrl) {
    install("p", "1.0.0", {value_set("one", "One")});
    install("p", "2.0.0", {value_set("one", "One")});
    store_one("ValueSet/own",
              R"({"resourceType":"ValueSet","id":"own","url":"http://p/one","status":"draft"})");
    const Page page = get("/ValueSet?url=http://p/one");
    EXPECT_EQ(page.total, "3");
    EXPECT_EQ(std::set<std::string>(page.ids.begin(), page.ids.end()).size(), 3U);
    EXPECT_THAT(urls("/ValueSet?url=http://p/one&status=draft"), testing::SizeIs(1));
    for (const std::string& id : page.ids) {
        EXPECT_EQ(send("GET", "/ValueSet/" + id).status, 200);
        EXPECT_THAT(get("/ValueSet?_id=" + id).ids, ElementsAre(id));
    }
    // A resource written under such an id is the client's own.
    const std::string id = page.ids[0];
    store_one("ValueSet/" + id, R"({"resourceType":"ValueSet","id":")" + id +
                                    R"(","url":"http://own","status":"draft"})");
    EXPECT_TRUE(send("GET", "/ValueSet/" + id).says("http://own"));
    EXPECT_EQ(send("GET", "/ValueSet/" + id).etag, 1U);
}

TEST_F(CarriedTest, IsAnsweredAsIfItWereStored) {
    Names resources;
    for (int i = 0; i < 30; ++i) {
        resources.push_back(fmt::format(
            R"({{"resourceType":"{0}","id":"r{1}","url":"http://p/{2}","version":"{3}","name":"Name{4}","title":"Ärger {5}","status":"{6}","date":"20{7:02}-0{8}-01","publisher":"P{9}"{10}}})",
            i % 3 == 0 ? "CodeSystem" : "ValueSet", i, (i * 7) % 13, i % 4, (i * 11) % 17, i % 5,
            i % 2 == 0 ? "active" : "draft", i % 9, 1 + i % 8, i % 6,
            i % 3 == 0 ? R"(,"content":"complete")" : ""));
    }
    const Names queries{"url=http://p/3",
                        "url:below=http://p",
                        "url=http://p/3,http://p/4&status=draft",
                        "name=name1",
                        "name:contains=ME1",
                        "name:exact=Name1",
                        "title=aerger,arger",
                        "title:contains=3",
                        "status=active&version=2",
                        "status:not=active",
                        "date=ge2003-01-01&date=lt2006-01-01",
                        "publisher=P2,P4",
                        "publisher:missing=true",
                        "_filter=name%20co%20%221%22%20and%20status%20eq%20active",
                        "_sort=name",
                        "_sort=-url,version",
                        "_sort=date",
                        "_sort=-date&status=draft",
                        "_sort=-title,-version,name&date=ge2002",
                        ""};
    const auto ask = [&] {
        std::vector<Names> answers;
        for (const std::string& query : queries) {
            for (const std::string_view type : {"ValueSet", "CodeSystem"}) {
                for (const std::string_view count : {"1000", "3"}) {
                    answers.push_back(walk(fmt::format("/{}?{}&_count={}", type, query, count)));
                    answers.push_back({get(fmt::format("/{}?{}&_count=0", type, query)).total});
                }
            }
        }
        return answers;
    };
    install("p", "1.0.0", resources);
    const std::vector<Names> carried = ask();
    std::filesystem::remove_all(data() + "/packages");
    restart(Config());
    EXPECT_THAT(urls("/ValueSet"), IsEmpty());
    for (const std::string& resource : resources) {
        json::Parser parser;
        const auto document = parser.parse(resource);
        store_one(fmt::format("{}/{}", document->root()["resourceType"].string(),
                              document->root()["id"].string()),
                  resource);
    }
    const std::vector<Names> stored = ask();
    ASSERT_EQ(carried.size(), stored.size());
    std::size_t found = 0;
    for (std::size_t i = 0; i < carried.size(); ++i) {
        EXPECT_EQ(carried[i], stored[i]) << queries[i / 8];
        found += carried[i].size();
    }
    EXPECT_GT(found, 400U);
}

TEST_F(CarriedTest, PagesStayAsTheyBegan) {
    Names first;
    for (int i = 0; i < 5; ++i) {
        first.push_back(value_set(fmt::format("first{}", i), fmt::format("N{}", i)));
    }
    install("z.first", "1.0.0", first);
    for (int i = 0; i < 3; ++i) {
        const std::string id = fmt::format("own{}", i);
        store_one("ValueSet/" + id, value_set(id, "Own"));
    }
    int round = 0;
    for (const std::string_view sort : {"", "&_sort=name", "&_sort=-url"}) {
        SCOPED_TRACE(sort);
        ++round;
        const std::string target = fmt::format("/ValueSet?_count=2{}&_total=accurate", sort);
        const Names whole = walk(target);
        ASSERT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), whole.size());
        const Page one = get(target);
        const Page two = get(one.next);
        // Installs another package, whose name comes first; writes a resource; restarts.
        const std::string version = fmt::format("1.{}.0", round);
        Names later;
        for (int i = 0; i < 5; ++i) {
            later.push_back(value_set(fmt::format("later{}-{}", round, i), "N"));
        }
        install("a.later", version, later);
        const std::string id = fmt::format("new{}", round);
        store_one("ValueSet/" + id, value_set(id, "New"));
        restart(Config());
        Names rest = one.urls;
        for (std::string at = one.next; !at.empty();) {
            const Page page = get(at);
            EXPECT_EQ(page.total, std::to_string(whole.size()));
            rest.insert(rest.end(), page.urls.begin(), page.urls.end());
            at = page.next;
        }
        EXPECT_EQ(rest, whole);
        EXPECT_EQ(get(two.previous).urls, one.urls);
        EXPECT_EQ(get(target).total, std::to_string(whole.size() + 6));
    }
}

TEST_F(CarriedTest, IsIncludedByItsUrl) {
    install(
        "p", "1.0.0",
        {R"({"resourceType":"StructureDefinition","id":"base","url":"http://p/base","status":"active","kind":"resource","abstract":false,"type":"Patient","name":"Base"})"});
    store_one(
        "StructureDefinition/own",
        R"({"resourceType":"StructureDefinition","id":"own","url":"http://own/sd","status":"active","kind":"resource","abstract":false,"type":"Patient","name":"Own","baseDefinition":"http://p/base"})");
    EXPECT_THAT(urls("/StructureDefinition?name=own&_include=StructureDefinition:base"),
                ElementsAre("http://own/sd", "http://p/base"));
    EXPECT_THAT(urls("/StructureDefinition?base=http://p/base"), ElementsAre("http://own/sd"));
}

TEST_F(CarriedTest, IsIncludedByAStar) {
    install(
        "p", "1.0.0",
        {R"({"resourceType":"Questionnaire","id":"asked","url":"http://p/asked","status":"active"})",
         R"({"resourceType":"ConceptMap","id":"map","url":"http://p/map","status":"active","sourceUri":"http://own/vs"})"});
    store_one("ValueSet/vs",
              R"({"resourceType":"ValueSet","id":"vs","url":"http://own/vs","status":"active"})");
    store_one(
        "QuestionnaireResponse/r",
        R"({"resourceType":"QuestionnaireResponse","id":"r","status":"completed","questionnaire":"http://p/asked"})");
    for (const char* include :
         {"QuestionnaireResponse:questionnaire", "QuestionnaireResponse:*", "*"}) {
        EXPECT_THAT(urls(fmt::format("/QuestionnaireResponse?_include={}", include)),
                    ElementsAre("", "http://p/asked"))
            << include;
    }
    for (const char* include : {"ConceptMap:source-uri", "ConceptMap:*", "*"}) {
        EXPECT_THAT(urls(fmt::format("/ValueSet?url=http://own/vs&_revinclude={}", include)),
                    ElementsAre("http://own/vs", "http://p/map"))
            << include;
    }
}

TEST_F(CarriedTest, IsIncludedByItsId) {
    install("p", "1.0.0", {value_set("one", "One"), value_set("two", "Two")});
    const std::string id = get("/ValueSet?name=one").ids.at(0);
    store_one(
        "Basic/b",
        fmt::format(
            R"({{"resourceType":"Basic","id":"b","code":{{"text":"x"}},"subject":{{"reference":"ValueSet/{}"}}}})",
            id));
    for (const char* include : {"Basic:subject", "Basic:subject:ValueSet", "Basic:*", "*"}) {
        EXPECT_THAT(urls(fmt::format("/Basic?_include={}", include)),
                    ElementsAre("", "http://p/one"))
            << include;
    }
    EXPECT_THAT(urls("/Basic?_include=Basic:subject:CodeSystem"), ElementsAre(""));
}

TEST_F(CarriedTest, IsForThoseWhoMaySeeItsType) {
    install("p", "1.0.0", {value_set("one", "One")});
    const std::string id = get("/ValueSet").ids.at(0);
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal other("other", "system/Patient.rs");
    send_as(&other);
    EXPECT_EQ(send("GET", "/ValueSet").status, 403);
    EXPECT_EQ(send("GET", "/ValueSet/" + id).status, 403);
    const Principal reader("reader", "system/ValueSet.r");
    send_as(&reader);
    EXPECT_EQ(send("GET", "/ValueSet").status, 403);
    EXPECT_EQ(send("GET", "/ValueSet/" + id).status, 200);
}

TEST_F(CarriedTest, IsReadByWhomItIsFoundBy) {
    install("p", "1.0.0", {value_set("one", "One"), value_set("two", "Two")});
    const Page all = get("/ValueSet");
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal some("some", "system/ValueSet.rs?url=http://p/one");
    send_as(&some);
    EXPECT_THAT(urls("/ValueSet"), ElementsAre("http://p/one"));
    ASSERT_EQ(all.ids.size(), 2U);
    for (std::size_t i = 0; i < all.ids.size(); ++i) {
        EXPECT_EQ(send("GET", "/ValueSet/" + all.ids[i]).status,
                  all.urls[i] == "http://p/one" ? 200 : 404);
    }
}

TEST_F(CarriedTest, TakesIdsAndMetaAsTheyCome) {
    const std::string long_id(64, 'x');
    install(
        "p", "1.0.0",
        {R"({"resourceType":"ValueSet","url":"http://p/none","status":"active"})",
         R"({"resourceType":"ValueSet","id":7,"url":"http://p/number","status":"active","meta":5})",
         R"({"resourceType":"ValueSet","id":"../é\"","url":"http://p/climbs","status":"active","meta":{"tag":["x",{"code":"y"}]}})",
         value_set(long_id, "Long"), value_set("twice", "First"), value_set("twice", "Second"),
         R"({"url":"http://p/unordered","status":"active","meta":{},"id":"u","resourceType":"ValueSet"})"});
    const Page page = get("/ValueSet");
    ASSERT_EQ(page.ids.size(), 5U) << "of one id there is one, and of none, too";
    for (const std::string& id : page.ids) {
        EXPECT_TRUE(is_resource_id(id)) << id;
        const Answer read = send("GET", "/ValueSet/" + id);
        EXPECT_EQ(read.status, 200) << id;
        json::Parser parser;
        EXPECT_TRUE(parser.parse(read.body)) << read.body;
    }
    EXPECT_THAT(urls("/ValueSet?_tag=y"), ElementsAre("http://p/climbs"));
    EXPECT_EQ(send("GET", "/ValueSet/" + std::string(65, 'x')).status, 404);
}

TEST_F(CarriedTest, OfADamagedOrderOfPackagesAllAreThere) {
    install("b", "1.0.0", {value_set("b", "B")});
    install("a", "1.0.0", {value_set("a", "A")});
    EXPECT_THAT(urls("/ValueSet"), ElementsAre("http://p/a", "http://p/b"));
    restart(Config());
    EXPECT_THAT(urls("/ValueSet"), ElementsAre("http://p/a", "http://p/b"));
    const std::string order = data() + "/packages/installed/order";
    for (const std::string& text :
         {std::string(), std::string("\n\n\0\xff nonsense", 13), std::string(100'000, 'x')}) {
        std::ofstream(order, std::ios::binary | std::ios::trunc) << text;
        restart(Config());
        EXPECT_THAT(urls("/ValueSet"), ElementsAre("http://p/b", "http://p/a"));
    }
    std::filesystem::remove(order);
    restart(Config());
    EXPECT_THAT(urls("/ValueSet"), UnorderedElementsAre("http://p/a", "http://p/b"));
}

TEST_F(CarriedTest, ComesBeforeWhatIsStoredWhateverTheOrderOfItsInstants) {
    Names sets;
    for (int i = 0; i < 5; ++i) {
        sets.push_back(value_set(fmt::format("carried{}", i), "N"));
    }
    install("p", "1.0.0", sets);
    const Names carried = get("/ValueSet").ids;
    ASSERT_EQ(carried.size(), 5U);
    std::vector<std::pair<int, int>> instants;
    std::string entries;
    for (int i = 0; i < 400; ++i) {
        const int second = i * 7 % 60;
        const std::string_view type = i % 2 == 0 ? "ValueSet" : "Basic";
        entries += fmt::format(
            R"({}{{"fullUrl":"http://a/{}/{}","resource":{{"resourceType":"{}","id":"{}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:{:02}Z"}},{}}},"request":{{"method":"PUT","url":"{}/{}"}},"response":{{"status":"201"}}}})",
            i == 0 ? "" : ",", type, i, type, i, second,
            i % 2 == 0 ? R"("status":"active")" : R"("code":{"text":"c"})", type, i);
        instants.emplace_back(second, i);
    }
    const Answer brought =
        send("POST", "/",
             fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{}]}})", entries));
    ASSERT_EQ(brought.status, 200) << brought.body;
    ASSERT_FALSE(store().instants_ascend());
    std::ranges::sort(instants, std::greater());
    for (const std::string_view target : {"/ValueSet?_count=3", "/?_type=ValueSet,Basic&_count=3",
                                          "/?_type=Basic,ValueSet&_count=50"}) {
        SCOPED_TRACE(target);
        Names expected = carried;
        for (const auto& [second, i] : instants) {
            if (i % 2 == 0 || target.find("Basic") != std::string_view::npos) {
                expected.push_back(std::to_string(i));
            }
        }
        Names found;
        std::vector<Page> pages;
        for (std::string at(target); !at.empty(); at = pages.back().next) {
            pages.push_back(get(at));
            found.insert(found.end(), pages.back().ids.begin(), pages.back().ids.end());
        }
        EXPECT_EQ(found, expected);
        for (std::size_t i = pages.size() - 1; i-- > 0;) {
            ASSERT_EQ(get(pages[i + 1].previous).ids, pages[i].ids) << i;
        }
    }
}

TEST_F(CarriedTest, OfACursorThatKnowsOfMoreNothingIsBelieved) {
    install("p", "1.0.0", {value_set("one", "One"), value_set("two", "Two")});
    const Page page = get("/ValueSet?_count=1");
    const std::size_t at = page.next.find("_cursor=") + 8;
    auto cursor = search::read_cursor(page.next.substr(at));
    ASSERT_TRUE(cursor);
    EXPECT_EQ(cursor->carried, 2U);
    for (const std::uint64_t count : {std::uint64_t{3}, ~std::uint64_t{0}}) {
        cursor->carried = count;
        EXPECT_EQ(send("GET", page.next.substr(0, at) + search::write_cursor(*cursor)).status, 400);
    }
    cursor->carried = 2;
    cursor->edge = Position{search::kCarriedFrom.value + 100};
    EXPECT_EQ(send("GET", page.next.substr(0, at) + search::write_cursor(*cursor)).status, 200);
}

}  // namespace
}  // namespace annals::core
