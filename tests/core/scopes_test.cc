// Scopes that permit a part: clients with scopes for one of two patients never see the other's data, by any route.

#include "core/search/cursor.h"
#include "tests/core/scopes_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

TEST_F(ScopesTest, ShowNothingOfAnotherPatientByAnyRoute) {
    fill();
    const std::string last = std::to_string(store().last_position().value);
    const std::vector<std::string> gets{
        "/Patient",
        "/Patient?_summary=count",
        "/Observation",
        "/Observation?_count=2",
        "/Observation?_sort=-_lastUpdated&_count=3",
        "/Observation?_sort=code",
        "/Observation?subject=Patient/t",
        "/Observation?subject:Patient.name=z",
        "/Observation?subject.name=z",
        "/Observation?patient=t",
        "/Observation?has-member.code:text=z",
        "/Observation?_has:Observation:has-member:_tag=z",
        "/Observation?_include=*",
        "/Observation?_include=Observation:has-member&_include:iterate=Observation:subject",
        "/Observation?_revinclude=Observation:has-member",
        "/Observation?_revinclude=*",
        "/Patient?_revinclude=Observation:subject",
        "/Patient?_revinclude=*&_revinclude:iterate=Observation:has-member",
        "/Observation?_list=t-l",
        "/Observation?_filter=subject.name co z or code eq c",
        "/Observation?_contained=both",
        "/Observation?_content=z",
        "/Observation?_asOf=" + last,
        "/Observation?_summary=count",
        "/Observation?_total=accurate&_count=1",
        "/?_type=Patient,Observation,Encounter",
        "/?_type=Patient,Practitioner",
        "/?_lastUpdated=gt2000-01-01",
        "/Patient/t/Observation",
        "/Patient/t/*",
        "/Patient/m/*",
        "/Observation/moved",
        "/Observation/moved/_history",
        "/Observation/moved?_asOf=" + last,
        "/Observation/_history",
        "/Observation/_history?_count=2",
        "/Observation/_history?_sort=_lastUpdated",
        "/Observation/_history?_at=2100-01-01",
        "/_history",
        "/_history?_count=3",
        "/_history?_since=2000-01-01",
        "/_history?_at=2100-01-01",
        "/Patient/m/$everything",
        "/Patient/$everything",
        "/Patient/m/$everything?_count=2",
        "/Encounter/m-e/$everything",
        "/Patient/$meta",
        "/Observation/$meta",
        "/$meta",
        "/Observation/$lastn?patient=t&code=c",
        "/Observation/$lastn?patient=t,m&code=c&max=9",
        "/DocumentReference/$docref?patient=t",
        "/Composition/m-c/$document",
        "/metadata",
        graphql(
            "/",
            R"({PatientList{id name{family}} EncounterList{type{text}} ObservationConnection{count edges{)"
            R"(resource{code{text} subject{resource(optional:true){id}}}}}})"),
        graphql("/", R"({Patient(id:"t"){name{family}} o:Observation(id:"t-o1"){code{text}} )"
                     R"(g:Observation(id:"t-gone"){code{text}}})"),
        graphql("/", R"({ObservationList(subject:"Patient/t"){code{text}} )"
                     R"(f:ObservationList(_filter:"subject.name co z"){code{text}}})"),
        graphql("/", R"({ObservationList(fhirpath:"code.text.exists() and true"){code{text} )"
                     R"(hasMember{resource{... on Observation{code{text}}}}}})"),
        graphql("/Patient/m/",
                R"({ObservationList(_reference:subject){code{text} hasMember{resource{id}}}})"),
        graphql("/Observation/m-o1/", R"({ObservationList(_reference:has_member){code{text}}})"),
        graphql("/Observation/moved/", "{code{text}}"),
        graphql("/", "{ObservationList{code{text} subject{resource(optional:true){id}}}}") +
            "&_asOf=" + last,
        graphql("/", R"({Observation(id:"t-o1"){code{text}}})") + "&_asOf=" + last,
        graphql("/Observation/m-of-t/", "{hasMember{resource{... on Observation{code{text}}}}}"),
    };
    const std::vector<std::pair<std::string, int>> refused{
        {"/Patient/t", 404},
        {"/Patient/t?_asOf=" + last, 404},
        {"/Patient/t/_history", 404},
        {"/Patient/t/_history/1", 404},
        {"/Observation/t-o1/_history", 404},
        {"/Observation/t-o1/_history/1", 404},
        {"/Observation/t-gone", 404},
        {"/Observation/t-gone/_history", 404},
        {"/Observation/moved/_history/1", 404},
        {"/Patient/t/$everything", 404},
        {"/Encounter/t-e/$everything", 404},
        {"/Patient/t/$meta", 404},
        {"/Observation/t-o1/_history/1/$meta", 404},
        {"/Observation/t-o1/$diff", 404},
        {"/Observation/moved/$diff", 400},
        {"/Observation/moved/$diff?from=1&to=2", 404},
        {"/$diff?from=Observation/m-o1&to=Observation/t-o1", 404},
        {"/$diff?from=Observation/moved/_history/1&to=Observation/m-o1", 404},
        {"/Patient/t/$validate", 404},
        {graphql("/Patient/t/", "{name{family}}"), 404},
        {graphql("/Observation/t-gone/", "{code{text}}"), 404},
        {graphql("/Patient/t/", "{name{family}}") + "&_asOf=" + last, 404},
        {"/Composition/t-c/$document", 404},
        {"/Composition/$document?id=t-c", 404},
        {"/$export", 403},
        {"/Patient/$export", 403},
        {"/$export?_type=Observation", 403},
        {"/_changes?wait=0", 403},
        {"/$digest", 403},
    };
    for (const std::string& get : gets) {
        std::string target = get;
        // The pages that follow, too.
        for (int page = 0; page < 40 && !target.empty(); ++page) {
            const Answer answer = send("GET", target);
            EXPECT_EQ(answer.body.find(kMark), std::string::npos) << target << answer.body;
            EXPECT_EQ(answer.status, 200) << target << answer.body;
            const std::size_t next = answer.body.find(R"("relation":"next","url":")");
            if (next == std::string::npos) {
                break;
            }
            const std::size_t begin = next + 25 + kBaseUrl.size();
            target = answer.body.substr(begin, answer.body.find('"', begin) - begin);
        }
    }
    for (const auto& [target, status] : refused) {
        const Answer answer = send("GET", target);
        EXPECT_EQ(answer.status, status) << target << answer.body;
        EXPECT_THAT(answer.body, Not(HasSubstr(kMark))) << target;
    }
    for (const auto& [id, total] : std::vector<std::pair<std::string, int>>{{"m", 1}, {"t", 0}}) {
        const Answer answer =
            send("POST", "/Patient/$match",
                 fmt::format(
                     R"({{"resourceType":"Parameters","parameter":[{{"name":"resource","resource":)"
                     R"({{"resourceType":"Patient","identifier":[{{"value":"n-{}"}}]}}}}]}})",
                     id),
                 kJson);
        EXPECT_THAT(answer.body, HasSubstr(fmt::format(R"("total":{},)", total))) << id;
        EXPECT_THAT(answer.body, Not(HasSubstr(kMark))) << id;
    }
    for (const auto& [path, form] : std::vector<std::pair<std::string, std::string>>{
             {"/Observation/_search", "subject=Patient/t"},
             {"/Observation/_search", "_revinclude=*"},
             {"/Patient/_search", "name=z"},
             {"/_search", "_type=Patient,Observation"}}) {
        const Answer answer =
            send("POST", path, form, {{"Content-Type", "application/x-www-form-urlencoded"}});
        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_THAT(answer.body, Not(HasSubstr(kMark))) << path << form;
    }
    std::string entries;
    for (const std::string& get : gets) {
        if (get.find(' ') == std::string::npos) {
            entries += (entries.empty() ? "" : ",") + entry("GET", get.substr(1));
        }
    }
    for (const auto& [target, status] : refused) {
        entries += "," + entry("GET", target.substr(1));
    }
    const Answer batch = send("POST", "/", bundle("batch", entries), kJson);
    EXPECT_EQ(batch.status, 200);
    EXPECT_THAT(batch.body, Not(HasSubstr(kMark)));
    EXPECT_THAT(batch.body, HasSubstr("mine"));
    const Answer transaction =
        send("POST", "/",
             bundle("transaction",
                    entry("GET", "Observation?_revinclude=*") + "," + entry("GET", "_history")),
             kJson);
    EXPECT_EQ(transaction.status, 200) << transaction.body;
    EXPECT_THAT(transaction.body, Not(HasSubstr(kMark)));
}

TEST_F(ScopesTest, CountWhatIsShownAndNothingElse) {
    fill();
    EXPECT_EQ(total(send("GET", "/Patient")), 1);
    EXPECT_EQ(total(send("GET", "/Patient?_summary=count")), 1);
    EXPECT_EQ(total(send("GET", "/Observation?_total=accurate&_count=1")), 5);
    EXPECT_EQ(total(send("GET", "/Observation?subject=Patient/t")), 0);
    EXPECT_EQ(total(send("GET", "/Observation?subject:Patient.identifier=n-m")), 5);
    EXPECT_EQ(total(send("GET", "/Observation?subject:Patient.identifier=n-t")), 0);
    EXPECT_EQ(total(send("GET", "/Observation?subject.identifier=n-m")), 5);
    EXPECT_EQ(total(send("GET", "/Observation?_has:Observation:has-member:status=final")), 0);
    EXPECT_EQ(total(send("GET", "/Observation?_list=m-l")), 1);
    EXPECT_EQ(total(send("GET", "/Observation?_list=t-l")), 0);
    EXPECT_EQ(total(send("GET", "/Patient/t/Observation")), 0);
    EXPECT_EQ(total(send("GET", "/Patient/_history")), 1);
    // o1 twice, o2, o3, gone and its deletion, m-of-t, and moved since it is mine.
    EXPECT_EQ(total(send("GET", "/Observation/_history")), 8);
    EXPECT_EQ(total(send("GET", "/Observation/_history?_count=0")), 8);
    EXPECT_EQ(total(send("GET", "/Observation/_history?_count=2&_sort=_position")), 8);
    EXPECT_EQ(total(send("GET", "/Observation/_history?_at=2100-01-01")), 5);
    EXPECT_EQ(total(send("GET", "/_history")), 12);
    EXPECT_EQ(total(send("GET", "/Observation/moved/_history")), 1);
    EXPECT_EQ(total(send("GET", "/Observation/m-gone/_history")), 2);
    EXPECT_EQ(total(send("GET", "/Patient/m/$everything")), 9);
    EXPECT_EQ(total(send("GET", "/Patient/$everything")), 9);
}

TEST_F(ScopesTest, AnswerOfWhatIsAnothersAsOfWhatIsNotThere) {
    fill();
    const std::string patch = R"([{"op":"replace","path":"/status","value":"amended"}])";
    const std::string meta =
        R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{"tag":[{"code":"x"}]}}]})";

    struct Case {
        std::string method;
        std::string path;  ///< after the id
        std::string body;
        std::string type = "application/fhir+json";
        std::string if_match = {};
    };

    const std::vector<Case> cases{
        {"GET", "", ""},
        {"HEAD", "", ""},
        {"GET", "?_asOf=" + std::to_string(store().last_position().value), ""},
        {"GET", "/_history", ""},
        {"GET", "/_history/1", ""},
        {"GET", "/_history/7", ""},
        {"GET", "/$meta", ""},
        {"GET", "/_history/1/$meta", ""},
        {"POST", "/$meta-add", meta},
        {"POST", "/$meta-delete", meta},
        {"POST", "/$meta-add", R"({"resourceType":"Parameters"})"},
        {"GET", "/$diff", ""},
        {"GET", "/$validate", ""},
        {"PUT", "", "observation"},
        {"PUT", "", "observation", "application/fhir+json", "W/\"1\""},
        {"PUT", "", "observation", "application/fhir+json", "W/\"9\""},
        {"PATCH", "", patch, "application/json-patch+json"},
        {"PATCH", "", patch, "application/json-patch+json", "W/\"9\""},
        {"DELETE", "", ""},
        {"DELETE", "", "", "", "W/\"9\""}};
    const auto replace_all = [](std::string text, std::string_view from, std::string_view to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
            text.replace(at, from.size(), to);
        }
        return text;
    };
    for (const std::string id : {"t-o1", "t-gone", "t-of-m"}) {
        for (const Case& one : cases) {
            const auto ask = [&](const std::string& name) {
                Headers headers;
                if (!one.body.empty()) {
                    headers.emplace_back("Content-Type", one.type);
                }
                if (!one.if_match.empty()) {
                    headers.emplace_back("If-Match", one.if_match);
                }
                const std::string body =
                    one.body == "observation" ? observation(name, "m", "mine") : one.body;
                return send(one.method, fmt::format("/Observation/{}{}", name, one.path), body,
                            headers);
            };
            SCOPED_TRACE(fmt::format("{} {}{} {}", one.method, id, one.path, one.if_match));
            const Answer theirs = ask(id);
            const Answer absent = ask("absent");
            EXPECT_GE(theirs.status, 400);
            EXPECT_EQ(theirs.status, absent.status);
            EXPECT_EQ(replace_all(theirs.body, id, "absent"), absent.body);
            EXPECT_EQ(theirs.etag, 0u);
            EXPECT_FALSE(theirs.has_last_modified);
            EXPECT_EQ(theirs.headers, absent.headers);
            if (one.method == "HEAD" || !one.if_match.empty() || one.path.find('?') == 0) {
                continue;
            }
            const std::string resource =
                one.body == "observation" ? observation(id, "m", "mine") : std::string();
            if (one.method == "GET" || !resource.empty() || one.method == "DELETE") {
                for (const char* type : {"batch", "transaction"}) {
                    const auto asked = [&](const std::string& name) {
                        return send(
                            "POST", "/",
                            bundle(type, entry(one.method,
                                               fmt::format("Observation/{}{}", name, one.path),
                                               replace_all(resource, id, name))),
                            kJson);
                    };
                    const Answer in_bundle = asked(id);
                    EXPECT_EQ(replace_all(in_bundle.body, id, "absent"), asked("absent").body);
                }
            }
        }
    }
    send_as(&everybody_);
    EXPECT_EQ(send("GET", "/Observation/t-o1").etag, 2u);
    EXPECT_EQ(send("GET", "/Observation/absent").status, 404);
    // The patient's own resources are answered as ever.
    send_as(&mine_);
    EXPECT_EQ(send("GET", "/Observation/m-gone").status, 410);
    EXPECT_EQ(send("GET", "/Observation/m-o1").etag, 2u);
    EXPECT_EQ(send("GET", "/Practitioner/p").status, 403);
}

TEST_F(ScopesTest, ShowNoMomentAtWhichItWasAnothers) {
    fill();
    send_as(&everybody_);
    put("/Observation/moved", observation("moved", "t", kMark));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the precision of _at
    put("/Observation/moved", observation("moved", "m", "mine"));
    const Answer theirs = send("GET", "/Observation/moved/_history/3");
    ASSERT_TRUE(theirs.says(kMark));
    const std::string then =
        "/Observation/moved/_history?_at=" + format_instant(theirs.last_modified);
    const Answer whole = send("GET", then);
    EXPECT_EQ(total(whole), 1);
    EXPECT_TRUE(whole.says(kMark));
    send_as(&mine_);
    const Answer mine = send("GET", then);
    EXPECT_EQ(mine.status, 200) << mine.body;
    EXPECT_EQ(total(mine), 0);
    EXPECT_FALSE(mine.says(kMark));
    EXPECT_EQ(total(send("GET", "/Observation/moved/_history?_at=2200")), 1);
}

TEST_F(ScopesTest, WithoutAPatientPermitNothing) {
    fill();
    const Principal nobodys("x", "patient/*.cruds");
    send_as(&nobodys);
    EXPECT_EQ(send("GET", "/Patient/m").status, 403);
    EXPECT_EQ(send("GET", "/Observation").status, 403);
    EXPECT_EQ(send("GET", "/_history").status, 403);
}

TEST_F(ScopesTest, DoNotGoOnWithAnothersSearch) {
    fill();
    const Answer page = send("GET", "/Observation?_count=2");
    const std::size_t next = page.body.find(R"("relation":"next","url":")");
    ASSERT_NE(next, std::string::npos);
    const std::size_t begin = next + 25 + kBaseUrl.size();
    const std::string target = page.body.substr(begin, page.body.find('"', begin) - begin);
    EXPECT_EQ(send("GET", target).status, 200);
    send_as(&theirs_);
    EXPECT_EQ(send("GET", target).status, 400);
}

TEST_F(ScopesTest, LetGraphqlReadWhatEverybodyMay) {
    Config config;
    config.auth.public_access = {"read"};
    open(config);
    fill();
    Principal searches("s", "system/Observation.s");
    send_as(&searches);
    EXPECT_THAT(
        send("GET", graphql("/", R"({Patient(id:"m"){id} ObservationList(_id:"t-o1"){)"
                                 R"(subject{resource{... on Patient{id}}}} EncounterList{id}})"))
            .body,
        HasSubstr(
            R"({"data":{"Patient":{"id":"m"},"ObservationList":[{"subject":{"resource":{"id":"t"}}}],)"
            R"("EncounterList":null},"errors":[{"message":"The scope system/Encounter.s)"));
}

TEST_F(ScopesTest, ArePassedOverWhereEverybodyMay) {
    Config config;
    config.auth.public_access = {"read", "search"};
    open(config);
    fill();
    EXPECT_EQ(send("GET", "/Patient/t").status, 200);
    EXPECT_EQ(total(send("GET", "/Patient")), 2);
    EXPECT_EQ(total(send("GET", "/Patient/_history")), 1);
}

// Without a configured base URL, that of a request is only what its sender claims.
TEST_F(ScopesTest, DoNotGoByTheHostThatARequestNames) {
    send_as(&everybody_);
    put("/Observation/here", observation("here", "m", "mine"));
    put("/Observation/there",
        fmt::format(
            R"({{"resourceType":"Observation","id":"there","status":"final","code":{{"text":"{}"}},)"
            R"("subject":{{"reference":"{}/Patient/m"}}}})",
            kMark, kBaseUrl));
    const Principal of_m("x", "system/Observation.rus?subject=Patient/m");
    send_as(&of_m);
    EXPECT_EQ(total(send("GET", "/Observation")), 1);
    EXPECT_EQ(send("GET", "/Observation/here").status, 200);
    EXPECT_EQ(send("GET", "/Observation/there").status, 404);
    EXPECT_EQ(send("PUT", "/Observation/there", observation("there", "m", "mine"), kJson).status,
              404);

    Config config;
    config.base_url = kBaseUrl;
    open(config);
    send_as(&of_m);
    EXPECT_EQ(send("GET", "/Observation/there").status, 200);
}

// Cursors are no secrets: anybody can make one that continues after any resource.
TEST_F(ScopesTest, GoOnBehindNothingThatIsNotShown) {
    fill();
    send_as(&everybody_);
    // So many that sorted pages are found by a walk.
    for (int i = 0; i < 60; ++i) {
        for (const char* id : {"m", "t"}) {
            const std::string name = fmt::format("{}-p{}", id, i);
            put("/Observation/" + name, observation(name, id, "x"));
        }
    }
    const auto position = [&](std::string_view id) {
        return store().current(*find_resource_type("Observation"), id)->position;
    };
    send_as(&mine_);
    for (const std::string path :
         {"/Observation?_sort=date&_count=1", "/Observation?_sort=-date&_count=1",
          "/Observation?_sort=_lastUpdated&_count=1", "/Observation?_sort=code&_count=1",
          "/Patient/m/$everything?_count=3", "/Patient/$everything?_count=3"}) {
        const std::string page = send("GET", path).body;
        const std::size_t named = page.find("_cursor=", page.find(R"("relation":"next")"));
        ASSERT_NE(named, std::string::npos) << path;
        const std::size_t begin = named + 8;
        Result<search::Cursor> cursor = search::read_cursor(
            std::string_view(page).substr(begin, page.find('"', begin) - begin));
        ASSERT_TRUE(cursor.has_value()) << path;
        const auto behind = [&](Position edge) {
            cursor->edge = edge;
            return send("GET", path + "&_cursor=" + search::write_cursor(*cursor)).status;
        };
        EXPECT_EQ(behind(position("m-p30")), 200) << path;
        EXPECT_EQ(behind(position("t-p30")), 410) << path;
        EXPECT_EQ(behind(position("t-of-m")), 410) << path;
    }
}

}  // namespace
}  // namespace annals::core
