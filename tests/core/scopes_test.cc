// Scopes that permit a part: of two patients' data, whose scopes are for one never gets to see the other's, by any route.

#include "core/interactions/shown_history.h"
#include "core/scoped_view.h"
#include "core/search/cursor.h"
#include "tests/core/scopes_fixture.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace annals::core {
namespace {

std::string graphql(std::string_view path, std::string_view query) {
    return fmt::format("{}$graphql?query={}", path, percent_encode(query));
}

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
        // And all the pages behind it.
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

/// R4's compartment has no Devices; US Core's implantable ones are asked for by `patient/Device.rs`.
TEST_F(ScopesTest, OfAPatientAreForHisDevices) {
    send_as(&everybody_);
    for (const char* id : {"m", "t"}) {
        put(fmt::format("/Patient/{}", id),
            fmt::format(R"({{"resourceType":"Patient","id":"{}"}})", id));
        put(fmt::format("/Device/{}-d", id),
            fmt::format(
                R"({{"resourceType":"Device","id":"{}-d","patient":{{"reference":"Patient/{}"}}}})",
                id, id));
    }
    put("/Device/nobodys", R"({"resourceType":"Device","id":"nobodys"})");
    Principal devices{"d", "patient/Device.rs", "m"};
    for (const Principal* who : {&mine_, &devices}) {
        send_as(who);
        EXPECT_EQ(total(send("GET", "/Device")), 1);
        EXPECT_EQ(total(send("GET", "/Device?patient=m")), 1);
        EXPECT_EQ(total(send("GET", "/Device?patient=Patient/t")), 0);
        EXPECT_EQ(total(send("GET", "/Device/_history")), 1);
        EXPECT_EQ(send("GET", "/Device/m-d").status, 200);
        EXPECT_EQ(send("GET", "/Device/t-d").status, 404);
        EXPECT_EQ(send("GET", "/Device/nobodys").status, 404);
    }
    send_as(&mine_);
    EXPECT_EQ(send("PUT", "/Device/m-d", R"({"resourceType":"Device","id":"m-d"})", kJson).status,
              403);
}

/// (g)(10) and US Core ask for `_revinclude=Provenance:target`; R4's compartment has Provenances of the Patient alone.
TEST_F(ScopesTest, OfAPatientAreForProvenancesOfWhatIsShownOfHis) {
    fill();
    send_as(&everybody_);
    const auto provenance = [](std::string_view id, std::string_view target) {
        return fmt::format(
            R"({{"resourceType":"Provenance","id":"{}","target":[{{"reference":"{}"}}],"recorded":"2026-01-02T03:04:05Z",)"
            R"("agent":[{{"who":{{"reference":"Practitioner/p"}}}}]}})",
            id, target);
    };
    for (const auto& [id, target] : std::initializer_list<std::pair<const char*, const char*>>{
             {"of-vital", "Observation/m-o1"},
             {"of-lab", "Observation/m-o2/_history/1"},
             {"of-patient", "Patient/m"},
             {"of-theirs", "Observation/t-o1"},
             {"of-them", "Patient/t"},
             {"of-gone", "Observation/m-gone"},
             {"of-doctor", "Practitioner/p"}}) {
        put(fmt::format("/Provenance/{}", id), provenance(id, target));
    }
    const auto found = [&](std::string_view path) {
        return total(send("GET", fmt::format("{}_total=accurate", path)));
    };

    send_as(&mine_);
    EXPECT_EQ(found("/Provenance?"), 3);
    EXPECT_EQ(found("/Provenance?agent=Practitioner/p&"), 3);
    EXPECT_EQ(found("/Provenance?target=Observation/m-o1&"), 1);
    EXPECT_EQ(found("/Provenance?target=Observation/t-o1&"), 0);
    EXPECT_EQ(total(send("GET", "/Provenance/_history")), 3);
    for (const char* id : {"of-vital", "of-lab", "of-patient"}) {
        EXPECT_EQ(send("GET", fmt::format("/Provenance/{}", id)).status, 200) << id;
        EXPECT_EQ(send("GET", fmt::format("/Provenance/{}/_history/1", id)).status, 200) << id;
    }
    for (const char* id : {"of-theirs", "of-them", "of-gone", "of-doctor"}) {
        EXPECT_EQ(send("GET", fmt::format("/Provenance/{}", id)).status, 404) << id;
    }
    const Answer included = send("GET", "/Observation?_revinclude=Provenance:target");
    EXPECT_TRUE(included.says(R"("id":"of-vital")")) << included.body;
    EXPECT_TRUE(included.says(R"("id":"of-lab")")) << included.body;
    EXPECT_FALSE(included.says(R"("id":"of-theirs")")) << included.body;
    EXPECT_EQ(found("/Observation?_has:Provenance:target:agent=Practitioner/p&"), 2);

    const std::string own = provenance("x", "Observation/m-o1");
    EXPECT_EQ(send("POST", "/Provenance", own, kJson).status, 201);
    EXPECT_EQ(send("POST", "/Provenance", provenance("x", "Observation/t-o1"), kJson).status, 403);
    EXPECT_EQ(send("DELETE", "/Provenance/of-theirs").status, 404);

    // About what isn't permitted nothing is told.
    Principal vital{"v", "patient/Observation.rs?category=vital-signs patient/Provenance.rs", "m"};
    send_as(&vital);
    EXPECT_EQ(found("/Provenance?target=Observation/m-o1&"), 2);
    EXPECT_EQ(found("/Provenance?target=Observation/m-o2&"), 0);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 200);
    EXPECT_EQ(send("GET", "/Provenance/of-lab").status, 404);
    Principal alone{"a", "patient/Provenance.rs", "m"};
    send_as(&alone);
    EXPECT_EQ(found("/Provenance?"), 1);
    // All Observations are seen, and of Provenances those of the patient's.
    Principal all{"o", "patient/Provenance.rs system/Observation.rs", "m"};
    send_as(&all);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 200);
    EXPECT_EQ(send("GET", "/Provenance/of-theirs").status, 404);

    // What became another's takes its Provenances along.
    send_as(&everybody_);
    put("/Observation/m-o1", observation("m-o1", "t", kMark));
    send_as(&mine_);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 404);
    EXPECT_EQ(found("/Provenance?"), 2);
}

/// What is held is parsed to tell whether it is shown, and may be large.
TEST_F(ScopesTest, GoThroughAHistoryInTurnsOfOneVersionAtLeast) {
    send_as(&everybody_);
    for (int i = 0; i < 5; ++i) {
        const std::string id = fmt::format("o{}", i);
        put("/Observation/" + id, observation(id, i == 2 ? "t" : "m", "text"));
    }
    Request request;
    request.principal = &mine_;
    const ScopedView view(service(), request, kMaySearch);
    storage::HistoryQuery query;
    query.type = find_resource_type("Observation");
    query.count = 3;
    ShownHistory history(store(), view, query);
    const search::Pace over(std::chrono::microseconds(1));  // each turn is over when it begins
    int turns = 1;
    for (; !*history.advance(over); ++turns) {
        ASSERT_LT(turns, 100);
    }
    EXPECT_GE(turns, 5);
    EXPECT_EQ(history.page().versions.size(), 3U);
    EXPECT_TRUE(history.page().more);
    EXPECT_EQ(history.page().total, 4U);
}

TEST_F(ScopesTest, FindWhatIsContainedInWhatIsShown) {
    send_as(&everybody_);
    for (const char* id : {"m", "t"}) {
        put(fmt::format("/Observation/{}", id),
            fmt::format(
                R"({{"resourceType":"Observation","id":"{}","status":"final","code":{{"text":"x"}},)"
                R"("subject":{{"reference":"Patient/{}"}},"focus":[{{"reference":"#c"}}],)"
                R"("contained":[{{"resourceType":"Patient","id":"c","name":[{{"family":"f"}}]}}]}})",
                id, id));
    }
    for (const char* query :
         {"_contained=true", "_contained=both", "_contained=true&_containedType=contained",
          "_contained=both&_containedType=contained&family=f"}) {
        const std::string target = fmt::format("/Patient?{}", query);
        send_as(&everybody_);
        EXPECT_EQ(total(send("GET", target)), 2) << target;
        send_as(&mine_);
        const Answer answer = send("GET", target);
        EXPECT_EQ(total(answer), 1) << target;
        EXPECT_THAT(answer.body, HasSubstr("Observation/m"));
        EXPECT_THAT(answer.body, Not(HasSubstr("Observation/t")));
    }
}

TEST_F(ScopesTest, DoNotLookThroughPartsThatAreNotShown) {
    send_as(&everybody_);
    const auto put_encounter = [&](std::string_view id, std::string_view patient,
                                   std::string_view part_of) {
        put(fmt::format("/Encounter/{}", id),
            fmt::format(
                R"({{"resourceType":"Encounter","id":"{}","status":"finished","class":{{"code":"AMB"}},)"
                R"("subject":{{"reference":"Patient/{}"}},"partOf":{{"reference":"Encounter/{}"}}}})",
                id, patient, part_of));
        put(fmt::format("/Observation/of-{}", id),
            fmt::format(
                R"({{"resourceType":"Observation","id":"of-{}","status":"final","code":{{"text":"x"}},)"
                R"("subject":{{"reference":"Patient/m"}},"encounter":{{"reference":"Encounter/{}"}}}})",
                id, id));
    };
    put_encounter("theirs", "t", "top");
    put_encounter("inner", "m", "theirs");
    EXPECT_EQ(total(send("GET", "/Observation?encounter:below=Encounter/top")), 2);
    EXPECT_EQ(total(send("GET", "/Observation?encounter:above=Encounter/inner")), 2);
    send_as(&mine_);
    EXPECT_EQ(total(send("GET", "/Observation")), 2);
    EXPECT_EQ(total(send("GET", "/Observation?encounter:below=Encounter/top")), 0);
    EXPECT_EQ(total(send("GET", "/Observation?encounter:above=Encounter/inner")), 1);
    // What mine say themselves.
    EXPECT_EQ(total(send("GET", "/Observation?encounter:below=Encounter/theirs")), 2);
}

TEST_F(ScopesTest, PagesOfHistoryHaveEachVersionOnce) {
    fill();
    for (const char* sort : {"_lastUpdated", "-_lastUpdated", "_position", "-_position"}) {
        std::string target = fmt::format("/Observation/_history?_count=3&_sort={}", sort);
        std::vector<std::string> seen;
        for (int page = 0; page < 10; ++page) {
            const Answer answer = send("GET", target);
            ASSERT_EQ(answer.status, 200) << answer.body;
            EXPECT_EQ(total(answer), 8) << target;
            for (std::size_t at = 0;
                 (at = answer.body.find(R"("fullUrl":")", at)) != std::string::npos; ++at) {
                seen.push_back(answer.body.substr(at, answer.body.find(',', at) - at));
            }
            const std::size_t next = answer.body.find(R"("relation":"next","url":")");
            if (next == std::string::npos) {
                break;
            }
            const std::size_t begin = next + 25 + kBaseUrl.size();
            target = answer.body.substr(begin, answer.body.find('"', begin) - begin);
        }
        EXPECT_EQ(seen.size(), 8u) << sort;
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end()) << sort;
    }
}

TEST_F(ScopesTest, AnswerOfWhatIsAnothersAsOfWhatIsNotThere) {
    fill();
    const std::string patch = R"([{"op":"replace","path":"/status","value":"amended"}])";
    const std::string meta =
        R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{"tag":[{"code":"x"}]}}]})";

    struct Case {
        std::string method;
        std::string path;  ///< behind the id
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
    // What is mine is told as ever.
    send_as(&mine_);
    EXPECT_EQ(send("GET", "/Observation/m-gone").status, 410);
    EXPECT_EQ(send("GET", "/Observation/m-o1").etag, 2u);
    EXPECT_EQ(send("GET", "/Practitioner/p").status, 403);
}

TEST_F(ScopesTest, ShowNoMomentAtWhichItWasAnothers) {
    fill();
    send_as(&everybody_);
    put("/Observation/moved", observation("moved", "t", kMark));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // _at is as exact as that
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

TEST_F(ScopesTest, OfQueriesIncludeWhatIsBehindAnyNumberThatIsNotShown) {
    const auto questionnaire = [](std::string_view id, std::string_view status) {
        return fmt::format(
            R"({{"resourceType":"Questionnaire","id":"{}","url":"http://q","status":"{}"}})", id,
            status);
    };
    put("/Questionnaire/older", questionnaire("older", "active"));
    put("/Questionnaire/newer", questionnaire("newer", "draft"));
    put("/QuestionnaireResponse/r",
        R"({"resourceType":"QuestionnaireResponse","id":"r","status":"completed","questionnaire":"http://q"})");
    put("/Patient/p", R"({"resourceType":"Patient","id":"p"})");
    put("/Observation/vital", observation("vital", "p", "x", "vital-signs"));
    std::string entries;
    for (int i = 0; i < 2100; ++i) {
        entries += (i == 0 ? "" : ",") +
                   entry("POST", "Observation", observation(std::to_string(i), "p", "x"));
    }
    ASSERT_EQ(send("POST", "/", bundle("batch", entries), kJson).status, 200);
    const Principal held(
        "g",
        "system/QuestionnaireResponse.rs system/Questionnaire.rs?status=active system/Patient.rs "
        "system/Observation.rs?category=vital-signs");
    send_as(&held);
    EXPECT_THAT(
        send("GET", "/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").body,
        HasSubstr("/Questionnaire/older"));
    EXPECT_THAT(send("GET", "/Patient?_revinclude=Observation:subject").body,
                HasSubstr("/Observation/vital"));
}

TEST_F(ScopesTest, OfQueriesShowWhatMatchesAnyOfThem) {
    fill();
    const auto as = [&](std::string_view scopes, std::string_view patient = {}) {
        static std::vector<std::unique_ptr<Principal>> kept;
        kept.push_back(std::make_unique<Principal>("g", scopes, patient));
        send_as(kept.back().get());
    };
    as("system/Observation.rs?category=vital-signs");
    EXPECT_EQ(total(send("GET", "/Observation")), 2);
    EXPECT_EQ(send("GET", "/Observation/m-o1").status, 200);
    EXPECT_EQ(send("GET", "/Observation/m-o2").status, 404);
    // At the version read.
    EXPECT_EQ(send("GET", "/Observation/m-o1/_history/1").status, 404);
    EXPECT_EQ(total(send("GET", "/Observation/m-o1/_history")), 1);
    EXPECT_EQ(send("GET", "/Patient/m").status, 403);
    // Chains through what may not be searched match nothing.
    EXPECT_EQ(total(send("GET", "/Observation?subject:Patient.name=mine")), 0);
    EXPECT_EQ(send("GET", "/$export?_type=Observation").status, 403);

    as("system/Observation.rs?category=vital-signs system/Observation.rs?_id=m-o2,t-o2");
    EXPECT_EQ(total(send("GET", "/Observation")), 4);
    as("patient/Observation.rs?category=vital-signs", "m");
    EXPECT_EQ(total(send("GET", "/Observation")), 1);
    as("patient/Observation.rs system/Observation.rs?category=vital-signs", "m");
    EXPECT_EQ(total(send("GET", "/Observation")), 6);
    as("patient/Observation.rs?category=vital-signs&_id=m-o2", "m");
    EXPECT_EQ(total(send("GET", "/Observation")), 0);

    // Letters count one by one.
    as("system/Observation.r system/Observation.s?category=vital-signs");
    EXPECT_EQ(total(send("GET", "/Observation")), 2);
    EXPECT_EQ(send("GET", "/Observation/m-o2").status, 200);
    as("system/Observation.cu?category=laboratory");
    EXPECT_EQ(send("POST", "/Observation", observation("x", "m", "x"), kJson).status, 201);
    EXPECT_EQ(send("POST", "/Observation", observation("x", "m", "x", "vital-signs"), kJson).status,
              403);
    EXPECT_EQ(send("PUT", "/Observation/m-o2", observation("m-o2", "m", "x"), kJson).status, 200);
    EXPECT_EQ(send("PUT", "/Observation/m-o1", observation("m-o1", "m", "x"), kJson).status, 404);

    // What can't be held to shows nothing.
    for (const char* query :
         {"subject:Patient.name=mine", "_has:Observation:has-member:status=final", "nothing=1",
          "_count=2", "_include=*", "status=final&_sort=code", "_filter=subject.name eq mine",
          "%"}) {
        as(fmt::format("system/Observation.rs?{}", query));
        EXPECT_LE(total(send("GET", "/Observation")), 0) << query;
        EXPECT_GE(send("GET", "/Observation/m-o1").status, 400) << query;
    }
}

TEST_F(ScopesTest, WithoutAPatientPermitNothing) {
    fill();
    const Principal nobodys("x", "patient/*.cruds");
    send_as(&nobodys);
    EXPECT_EQ(send("GET", "/Patient/m").status, 403);
    EXPECT_EQ(send("GET", "/Observation").status, 403);
    EXPECT_EQ(send("GET", "/_history").status, 403);
}

TEST_F(ScopesTest, LeaveToWhoBeganItAJobOfAnotherPart) {
    fill();
    const Answer begun =
        send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
             {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string status = begun.content_location.substr(kBaseUrl.size());
    const Principal same("x", "patient/*.cruds", "m");
    send_as(&same);
    EXPECT_NE(send("GET", status).status, 404);
    // They are called the same.
    send_as(&theirs_);
    EXPECT_EQ(send("GET", status).status, 404);
    EXPECT_EQ(send("DELETE", status).status, 404);

    // Whoever has no name is not the same as another who has none.
    const Principal nameless("", "patient/*.cruds", "m");
    send_as(&nameless);
    const Answer another =
        send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
             {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(another.status, 202) << another.body;
    EXPECT_EQ(send("GET", another.content_location.substr(kBaseUrl.size())).status, 404);
}

TEST_F(ScopesTest, DoNotLetOthersQuestionsAboutAJobCount) {
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
        lines += "{\"resourceType\":\"Patient\"}\n";
    }
    send_as(&everybody_);
    const Answer begun =
        send("POST", "/$import", lines,
             {{"Content-Type", "application/fhir+ndjson"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string status = begun.content_location.substr(kBaseUrl.size());
    send_as(&theirs_);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(send("GET", status).status, 404) << i;
    }
    send_as(&everybody_);
    EXPECT_NE(send("GET", status).status, 429);
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

TEST_F(ScopesTest, ArePassedOverWhereEverybodyMay) {
    Config config;
    config.auth.public_access = {"read", "search"};
    open(config);
    fill();
    EXPECT_EQ(send("GET", "/Patient/t").status, 200);
    EXPECT_EQ(total(send("GET", "/Patient")), 2);
    EXPECT_EQ(total(send("GET", "/Patient/_history")), 1);
}

TEST_F(ScopesTest, ComputeWithWhatIsShownOnly) {
    send_as(&everybody_);
    for (const char* id : {"m", "t"}) {
        put(fmt::format("/Patient/{}", id),
            fmt::format(R"({{"resourceType":"Patient","id":"{}"}})", id));
        put(fmt::format("/Observation/{}-w", id),
            fmt::format(R"({{"resourceType":"Observation","id":"{}-w","status":"final","code":)"
                        R"({{"coding":[{{"system":"http://l","code":"w"}}]}},"subject":)"
                        R"({{"reference":"Patient/{}"}},"valueQuantity":{{"value":7}}}})",
                        id, id));
    }
    const auto ask = [&](std::string_view id) {
        return send("GET", fmt::format("/Observation/$stats?subject=Patient/{}&system=http://l&"
                                       "code=w&statistic=total-count&include=true",
                                       id))
            .body;
    };
    EXPECT_THAT(ask("t"), HasSubstr(R"("id":"t-w")"));
    send_as(&mine_);
    EXPECT_THAT(ask("m"), HasSubstr(R"("value":1)"));
    EXPECT_THAT(ask("m"), HasSubstr(R"("id":"m-w")"));
    EXPECT_THAT(ask("t"), HasSubstr(R"("value":0)"));
    EXPECT_THAT(ask("t"), Not(HasSubstr("t-w")));
}

TEST_F(ScopesTest, HoldGraphqlToTheirPart) {
    fill();
    const auto ask = [&](std::string_view path, std::string_view query) {
        const Answer answer = send("GET", graphql(path, query));
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    };
    const auto ask_at = [&](std::string_view path, std::string_view query,
                            const std::string& position) {
        const Answer answer = send("GET", graphql(path, query) + "&_asOf=" + position);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    };
    EXPECT_EQ(
        ask("/", R"({PatientList{id} Patient(id:"m"){name{family}} ObservationConnection{count}})"),
        R"({"data":{"PatientList":[{"id":"m"}],"Patient":{"name":[{"family":"mine"}]},)"
        R"("ObservationConnection":{"count":5}}})");
    // What isn't shown is spoken of as what isn't there.
    std::string hidden = ask("/", R"({Observation(id:"t-o1"){id}})");
    const std::size_t at = hidden.find("t-o1");
    ASSERT_NE(at, std::string::npos);
    while (hidden.find("t-o1") != std::string::npos) {
        hidden.replace(hidden.find("t-o1"), 4, "none");
    }
    EXPECT_EQ(hidden, ask("/", R"({Observation(id:"none"){id}})"));
    EXPECT_THAT(ask("/Observation/m-of-t/", "{hasMember{resource{id}}}"),
                HasSubstr(R"({"data":{"hasMember":[{"resource":null}]},"errors":[{"message":)"
                          R"("The reference leads to no resource of this server")"));

    // Nor is it told apart by a type that it isn't of, by the order of errors, or by what directives make of it.
    send_as(&everybody_);
    for (const char* one : {"t-o1", "non1"}) {
        put("/Observation/m-of",
            fmt::format(
                R"({{"resourceType":"Observation","id":"m-of","status":"final","code":{{"text":"mine"}},)"
                R"("subject":{{"reference":"Patient/m"}},"hasMember":[{{"reference":"Observation/{}"}},)"
                R"({{"reference":"Observation/m-o1"}},{{"reference":"Observation/non2"}}]}})",
                one));
    }
    const std::string last = std::to_string(store().last_position().value);
    const std::string before = std::to_string(store().last_position().value - 1);
    send_as(&mine_);
    for (const char* query :
         {"{hasMember{resource{id}}}", "{hasMember{resource(type:Patient){id}}}",
          "{hasMember{resource(type:Patient){id} resource(type:Observation,optional:true){id}}}",
          "{hasMember{resource(type:Patient,optional:true){id} resource(type:Observation){id}}}",
          "{hasMember @flatten{resource{id}}}", "{hasMember @flatten{resource(optional:true){id}}}",
          "{hasMember @flatten{resource @flatten{id}}}"}) {
        EXPECT_EQ(ask_at("/Observation/m-of/", query, before),
                  ask_at("/Observation/m-of/", query, last));
    }
    EXPECT_EQ(ask("/", R"({Observation(id:"t-o1") @flatten{id}})").find("t-o1"),
              ask("/", R"({Observation(id:"none") @flatten{id}})").find("none"));

    Principal reads("r", "system/Observation.r");
    send_as(&reads);
    EXPECT_EQ(ask("/Observation/t-o1/", "{id subject{resource(optional:true){id}}}"),
              R"({"data":{"id":"t-o1","subject":{"resource":null}}})");
    EXPECT_THAT(ask("/", "{ObservationList{id}}"),
                HasSubstr("The scope system/Observation.s is needed"));
    EXPECT_THAT(ask("/", R"({Patient(id:"m"){id}})"),
                HasSubstr("The scope system/Patient.r is needed"));
    EXPECT_EQ(send("GET", graphql("/Patient/m/", "{id}")).status, 403);

    Principal searches("s", "system/Observation.s");
    send_as(&searches);
    EXPECT_EQ(ask("/", R"({ObservationList(_id:"t-o1"){id}})"),
              R"({"data":{"ObservationList":[{"id":"t-o1"}]}})");
    EXPECT_THAT(ask("/", R"({ObservationList(_filter:"subject.name co z"){id}})"),
                HasSubstr(".s is needed"));
    EXPECT_THAT(ask("/", R"({Observation(id:"t-o1"){id}})"),
                HasSubstr("The scope system/Observation.r is needed"));

    // One's cursor is of no use to another.
    send_as(&mine_);
    const std::string page = ask("/", "{ObservationConnection(_count:1){next}}");
    const std::size_t begin = page.find(R"("next":")") + 8;
    ASSERT_GT(begin, 8U);
    const std::string cursor = page.substr(begin, page.find('"', begin) - begin);
    const std::string next =
        fmt::format(R"({{ObservationConnection(cursor:"{}"){{edges{{resource{{id}}}}}}}})", cursor);
    EXPECT_THAT(ask("/", next), HasSubstr(R"("edges":[{"resource":{"id":"m)"));
    send_as(&theirs_);
    EXPECT_THAT(ask("/", next), HasSubstr("The cursor is none of this search"));
    send_as(nullptr);
    EXPECT_EQ(send("GET", graphql("/", "{__typename}")).status, 401);
}

// Without a configured base the one of a request is what its sender says.
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

// Cursors are no secrets: anybody can make one that goes on behind whatever he likes.
TEST_F(ScopesTest, GoOnBehindNothingThatIsNotShown) {
    fill();
    send_as(&everybody_);
    // So many that a sorted page is walked to.
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
