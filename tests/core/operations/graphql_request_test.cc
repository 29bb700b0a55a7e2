// $graphql: how it is called, as of when, and its bounds.

#include "core/base/base64.h"
#include "core/graphql/call.h"
#include "core/graphql/execute.h"
#include "core/graphql/validate.h"
#include "core/operations/graphql.h"
#include "core/search/cursor.h"
#include "tests/core/operations/graphql_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

TEST_F(Graphql, BoundsWhatItDoes) {
    add_example();
    std::string fields;
    for (std::size_t i = 0; i <= graphql::kFieldsMax; ++i) {
        fields += fmt::format("a{}:id ", i);
    }
    EXPECT_EQ(ask_patient("{" + fields + "}").substr(0, 9), "More than");
    // Fragments that each use the next one twice.
    std::string doubling = "{ ...F0 }";
    for (int i = 0; i < 30; ++i) {
        doubling += fmt::format(" fragment F{} on Patient {{ ...F{} ... on Patient {{ ...F{} }} }}",
                                i, i + 1, i + 1);
    }
    EXPECT_EQ(ask_patient(doubling + " fragment F30 on Patient { id }").substr(0, 9), "More than");
    // Variables that are used repeatedly.
    const auto ask_with = [&](std::size_t bytes, int times) {
        std::string uses;
        for (int i = 0; i < times; ++i) {
            uses += fmt::format("a{}: PatientList(family: $v) {{ id }} ", i);
        }
        return told(
            post("/$graphql",
                 fmt::format(R"({{"query":"query($v: String) {{ {} }}","variables":{{"v":"{}"}}}})",
                             uses, std::string(bytes, 'x'))));
    };
    EXPECT_EQ(ask_with(1000, 3), R"({"a0":[],"a1":[],"a2":[]})");
    EXPECT_EQ(ask_with(graphql::kVariablesBytesMax, 1),
              "The variables have more than 65536 bytes ");
    EXPECT_EQ(ask_with(60'000, 10), "The arguments have more than 524288 bytes ");
    // Nested searches.
    std::string within = "id";
    for (int i = 0; i < 6; ++i) {
        within = fmt::format(
            "subject {{ resource {{ ObservationList(_reference: subject) {{ {} }} }} }}", within);
    }
    EXPECT_EQ(ask_of("/Observation/o1", "{" + within + "}").substr(0, 9), "More than");
}

TEST_F(Graphql, BoundsTheDepthOfFragmentsInsideEachOther) {
    add_example();
    const auto nested = [&](int fragments) {
        std::string document = "{ ...F0 }";
        for (int i = 0; i < fragments; ++i) {
            document += fmt::format(" fragment F{} on Patient {{ ... {{ ...F{} }} }}", i, i + 1);
        }
        return ask_patient(document + fmt::format(" fragment F{} on Patient {{ id }}", fragments));
    };
    EXPECT_EQ(nested(40), R"({"id":"p"})");
    EXPECT_EQ(nested(60), "More than 1000 fields are selected, or more than 100 levels ");
}

TEST_F(Graphql, KnowsTheFieldsOfTheTypesThatAReferenceMayLeadTo) {
    add_example();
    EXPECT_EQ(ask_patient("{ managingOrganization { resource(type: Organization) { name } } }"),
              R"({"managingOrganization":{"resource":{"name":"Org"}}})");
    EXPECT_EQ(
        ask_patient("{ managingOrganization { resource(type: Organization) { birthDate } } }"),
        "Organization has no field 'birthDate' ");
}

TEST_F(Graphql, TakesTheResourceAroundAContainedOneForPercentResource) {
    add_example();
    EXPECT_EQ(ask_patient(R"({ contained { ... on Practitioner {
                  name(fhirpath: "%resource.id = 'p'") { family } } } })"),
              R"({"contained":[{"name":[{"family":"Doc"}]}]})");
}

TEST_F(Graphql, GoesFromContainedResourcesToNoOthersThatReferToThem) {
    add_example();
    EXPECT_EQ(ask_patient("{ contained { ... on Practitioner { "
                          "ObservationList(_reference: performer) { id } } } }"),
              "Nothing outside a resource refers to its contained resources "
              R"(["contained",0,"ObservationList"])");
}

TEST_F(Graphql, AsksForTheSameInSeveralPlaces) {
    add_example();
    EXPECT_EQ(ask_patient("{ id id @include(if: true) name(use: old) @singleton { use } }"),
              R"({"id":"p","name":null})");
}

TEST_F(Graphql, BoundsThePageOfAConnection) {
    EXPECT_EQ(ask("{ PatientConnection(_count: 5000) { pagesize } }"),
              R"({"PatientConnection":{"pagesize":1000}})");
}

TEST_F(Graphql, TellsAHundredErrorsAndHowManyMore) {
    std::string missing;
    for (int i = 0; i < 102; ++i) {
        missing += fmt::format("a{0}: Patient(id: none{0}) {{ id }} ", i);
    }
    const Received answer = post("/$graphql", "{" + missing + "}", "application/graphql");
    const Json json(answer.body);
    EXPECT_EQ(json.root()["errors"].size(), 101U);
    EXPECT_NE(answer.body.find("2 errors more"), std::string::npos);
}

TEST_F(Graphql, EndsWhereMoreValuesFailThanAnAnswerMayHave) {
    std::string given = R"("a")";
    for (int i = 0; i < 250'200; ++i) {
        given += R"(,"a")";
    }
    add("Patient", "p", "\"name\":[{\"given\":[" + given + "]}]");
    EXPECT_EQ(ask_patient("{ name { given @singleton } }").substr(0, 29),
              "The response would have more ");
    EXPECT_EQ(ask_patient("{ name { given @first @singleton } }"), R"({"name":[{"given":"a"}]})");
}

TEST_F(Graphql, IsCalledByGetAndPost) {
    add_example();
    const Received got = server_.send({HttpMethod::get, "/Patient/p/$graphql", "query=%7Bid%7D"});
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, R"({"data":{"id":"p"}})");
    const Received with = server_.send({HttpMethod::get, "/$graphql",
                                        "query=query%20A(%24i:ID)%7BPatient(id:%24i)%7Bid%7D%7D&"
                                        "operationName=A&variables=%7B%22i%22:%22p%22%7D"});
    EXPECT_EQ(with.body, R"({"data":{"Patient":{"id":"p"}}})");
    EXPECT_EQ(
        told(post(
            "/$graphql",
            R"({"resourceType":"Parameters","parameter":[{"name":"query","valueString":"{__typename}"}]})",
            "application/fhir+json")),
        R"({"__typename":"Query"})");
    EXPECT_EQ(told(server_.send({HttpMethod::post, "/$graphql", "query=%7B__typename%7D"})),
              R"({"__typename":"Query"})");
}

TEST_F(Graphql, AnswersInJsonWhateverIsAccepted) {
    add_example();
    for (const char* accept :
         {"application/graphql-response+json", "application/xml", "text/csv"}) {
        const Received answer = server_.send(
            {HttpMethod::get, "/$graphql", "query=%7B__typename%7D", "", {{"Accept", accept}}});
        EXPECT_EQ(told(answer), R"({"__typename":"Query"})") << accept;
        const Received posted =
            server_.send({HttpMethod::post,
                          "/Patient/p/$graphql",
                          "",
                          "{id}",
                          {{"Content-Type", "application/graphql"}, {"Accept", accept}}});
        EXPECT_EQ(told(posted), R"({"id":"p"})") << accept;
    }
    const Received formatted =
        server_.send({HttpMethod::get, "/$graphql", "query=%7B__typename%7D&_format=csv"});
    EXPECT_EQ(told(formatted), R"({"__typename":"Query"})");
    const Received refused = server_.send({HttpMethod::get, "/$graphql", "_format=xml"});
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("<OperationOutcome"), std::string::npos) << refused.body;
}

TEST_F(Graphql, AnswersFaultsOfTheRequestByStatus) {
    add_example();
    EXPECT_EQ(server_.get("/$graphql").status, 400);
    EXPECT_EQ(server_.send({HttpMethod::get, "/$graphql", "query="}).status, 400);
    EXPECT_EQ(post("/$graphql", "{").status, 400);
    EXPECT_EQ(post("/$graphql", "[]").status, 400);
    EXPECT_EQ(post("/$graphql", "{}").status, 400);
    EXPECT_EQ(post("/$graphql", R"({"query":1})").status, 400);
    EXPECT_EQ(post("/$graphql", R"({"query":"{__typename}","variables":[]})").status, 400);
    EXPECT_EQ(server_.send({HttpMethod::get, "/$graphql", "query=%7Ba%7D&variables=%7B"}).status,
              400);
    EXPECT_EQ(server_.send({HttpMethod::get, "/$graphql", "query=%7Ba%7D&_since=1"}).status, 400);
    EXPECT_EQ(server_.send({HttpMethod::get, "/$graphql", "query=%7Ba%7D&query=%7Bb%7D"}).status,
              400);
    EXPECT_EQ(
        server_.send({HttpMethod::post, "/$graphql", "query=%7Ba%7D", R"({"query":"{a}"})"}).status,
        400);
    EXPECT_EQ(server_
                  .send({HttpMethod::get, "/$graphql",
                         "query=%7B__typename%7D&_format=json&_pretty=true"})
                  .status,
              200);
    EXPECT_EQ(post("/$graphql", "{a}", "text/plain").status, 415);
    EXPECT_EQ(server_.send({HttpMethod::get, "/Patient/none/$graphql", "query=%7Bid%7D"}).status,
              404);
    ASSERT_EQ(server_.send({HttpMethod::delete_, "/Observation/o1"}).status, 204);
    EXPECT_EQ(server_.send({HttpMethod::get, "/Observation/o1/$graphql", "query=%7Bid%7D"}).status,
              410);
    EXPECT_EQ(server_.send({HttpMethod::get, "/Patient/$graphql", "query=%7Bid%7D"}).status, 400);
}

TEST_F(Graphql, AnswersAsTheStoreStoodThen) {
    add("Organization", "o", R"("name":"Before")");
    add("Patient", "p",
        R"("name":[{"family":"Old"}],"managingOrganization":{"reference":"Organization/o"},)"
        R"("generalPractitioner":[{"reference":"Organization/o/_history/2"}])");
    add("Observation", "gone",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/p"})");
    const std::uint64_t then = server_.store().last_position().value;
    ASSERT_EQ(server_.send({HttpMethod::delete_, "/Observation/gone"}).status, 204);
    ASSERT_EQ(
        server_.put("/Organization/o", R"({"resourceType":"Organization","id":"o","name":"After"})")
            .status,
        200);
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p", R"("name":[{"family":"New"}])")).status,
              200);
    add("Patient", "later", R"("name":[{"family":"Old"}])");

    const auto ask_then = [&](std::string_view query, std::uint64_t position,
                              std::string path = "") {
        return told(
            server_.send({HttpMethod::get, path + "/$graphql",
                          fmt::format("_asOf={}&query={}", position, percent_encode(query))}));
    };
    EXPECT_EQ(
        ask_then("{ PatientList { id name { family } ObservationList(_reference: subject) { "
                 "id } managingOrganization { resource { ... on Organization { name } } } } }",
                 then),
        R"({"PatientList":[{"id":"p","name":[{"family":"Old"}],"ObservationList":[{"id":)"
        R"("gone"}],"managingOrganization":{"resource":{"name":"Before"}}}]})");
    EXPECT_EQ(ask_then(R"({ Organization(id: "o") { name } n: PatientList(family: "new") { id }
                            c: PatientConnection(family: "old") { count } })",
                       then),
              R"({"Organization":{"name":"Before"},"n":[],"c":{"count":1}})");
    EXPECT_EQ(ask_then(R"({ ObservationList(_filter: "subject.name eq old") { id } })", then),
              R"({"ObservationList":[{"id":"gone"}]})");
    EXPECT_EQ(ask_then(R"({ Patient(id: "later") { id } })", then),
              R"(Patient/later does not exist ["Patient"])");
    EXPECT_EQ(ask_then("{ name { family } }", then, "/Patient/p"),
              R"({"name":[{"family":"Old"}]})");
    // The reference names a version that was written later.
    EXPECT_EQ(
        ask_then("{ generalPractitioner { resource(optional: true) { id } } }", then, "/Patient/p"),
        R"({"generalPractitioner":[{"resource":null}]})");
    EXPECT_EQ(ask_then("{ id }", then, "/Observation/gone"), R"({"id":"gone"})");
    EXPECT_EQ(ask_then(R"({ PatientList { id } Patient(id: "p") { id } })", 0),
              R"(Patient/p does not exist ["Patient"])");

    const auto status = [&](std::string path, std::string_view as_of) {
        return server_
            .send({HttpMethod::get, std::move(path), fmt::format("query=%7Bid%7D&{}", as_of)})
            .status;
    };
    EXPECT_EQ(status("/Patient/later/$graphql", fmt::format("_asOf={}", then)), 404);
    EXPECT_EQ(status("/Patient/p/$graphql", "_asOf=0"), 404);
    EXPECT_EQ(status("/Observation/gone/$graphql", fmt::format("_asOf={}", then + 1)), 410);
    EXPECT_EQ(status("/Patient/p/$graphql", fmt::format("_asOf={}", then + 9)), 400);
    EXPECT_EQ(status("/Patient/p/$graphql", "_asOf=yesterday"), 400);
    EXPECT_EQ(status("/Patient/p/$graphql", "_asOf=1&_asOf=2"), 400);
    EXPECT_EQ(status("/Patient/p/$graphql", "_asOf=2999"), 400);
    EXPECT_EQ(status("/Patient/p/$graphql", "_asOf=2999-01-01"), 200);
}

TEST_F(Graphql, TakesAnInstantWhereverItsQueryMayStand) {
    add("Patient", "p", R"("name":[{"family":"Old"}])");
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p", R"("name":[{"family":"New"}])")).status,
              200);
    const std::string old = R"({"name":[{"family":"Old"}]})";
    const std::string path = "/Patient/p/$graphql";
    for (const char* as_of : {"1", R"("1")"}) {
        EXPECT_EQ(
            told(post(path, fmt::format(R"({{"query":"{{name{{family}}}}","_asOf":{}}})", as_of))),
            old);
    }
    EXPECT_EQ(told(post(path, R"({"query":"{name{family}}","_asOf":null})")),
              R"({"name":[{"family":"New"}]})");
    EXPECT_EQ(post(path, R"({"query":"{name{family}}","_asOf":[1]})").status, 400);
    EXPECT_EQ(told(post(path,
                        R"({"resourceType":"Parameters","parameter":[)"
                        R"({"name":"query","valueString":"{name{family}}"},)"
                        R"({"name":"_asOf","valueString":"1"}]})",
                        "application/fhir+json")),
              old);
    EXPECT_EQ(told(server_.send({HttpMethod::post,
                                 path,
                                 "_asOf=1",
                                 "{name{family}}",
                                 {{"Content-Type", "application/graphql"}}})),
              old);
    EXPECT_EQ(server_
                  .send({HttpMethod::post,
                         path,
                         "_asOf=1",
                         R"({"query":"{name{family}}","_asOf":1})",
                         {{"Content-Type", "application/json"}}})
                  .status,
              400);
}

TEST_F(Graphql, ReachesBackBehindWhatTheIndexKeeps) {
    storage::StoreOptions options;
    options.search_index.positions_retained = 10;
    options.search_index.pending_documents = 0;
    TestService server({}, storage::posix_file_system(), std::move(options));
    const auto put = [&](std::string_view id, std::string_view family) {
        return server
            .put(fmt::format("/Patient/{}", id),
                 patient_json(id, fmt::format(R"("name":[{{"family":"{}"}}])", family)))
            .status;
    };
    for (const char* id : {"a", "b", "c"}) {
        ASSERT_EQ(put(id, "Meier"), 201);
    }
    ASSERT_EQ(
        server
            .put("/Observation/o", R"({"resourceType":"Observation","id":"o","status":"final",)"
                                   R"("code":{"text":"x"},"subject":{"reference":"Patient/a"}})")
            .status,
        201);
    const Position then = server.store().last_position();
    const TypeId type = *find_resource_type("Patient");
    for (int round = 0; server.store().search(type)->vacuumed_through <= then; ++round) {
        ASSERT_LT(round, 3000);
        ASSERT_EQ(put("a", "Kunz"), 200);
        server.get("/Patient?family=kunz");  // makes the index take in what was written
    }
    const auto ask_then = [&](std::string_view query, std::string_view as_of) {
        return told(server.send({HttpMethod::get, "/$graphql",
                                 fmt::format("query={}&{}", percent_encode(query), as_of)}));
    };
    const std::string as_of = fmt::format("_asOf={}", then.value);
    EXPECT_EQ(ask_then(R"({ PatientList(family: "meier", _sort: "_id") { id } k: PatientList(family:
                            "kunz") { id } o: ObservationList(_filter: "subject.name eq meier") { id } })",
                       as_of),
              R"({"PatientList":[{"id":"a"},{"id":"b"},{"id":"c"}],"k":[],"o":[{"id":"o"}]})");
    const auto page = [&](std::string_view arguments, std::string_view when) {
        return ask_then(fmt::format("{{ c: PatientConnection({}) {{ next edges {{ resource {{ id "
                                    "name {{ family }} }} }} }} }}",
                                    arguments),
                        when);
    };
    const Json first(page(R"(family: "meier", _sort: "_id", _count: 2)", as_of));
    const std::string next = fmt::format("cursor: {}", first.root()["c"]["next"].raw());
    EXPECT_EQ(
        page(next, as_of),
        R"({"c":{"next":null,"edges":[{"resource":{"id":"c","name":[{"family":"Meier"}]}}]}})");
    EXPECT_NE(page(next, "").find("changed too much since"), std::string::npos) << page(next, "");
}

TEST_F(Graphql, RefusesCursorsThatWereSortedByWhatAParameterMeantBefore) {
    const auto define = [&](std::string_view type, std::string_view expression) {
        server_.put(
            "/SearchParameter/rank",
            fmt::format(
                R"({{"resourceType":"SearchParameter","id":"rank","url":"http://p","name":"n","status":"active","description":"d","code":"rank","base":["Patient"],"type":"{}","expression":"Patient.{}"}})",
                type, expression));
        ask("{ PatientList { id } }");  // notices the change
        server_.service().indexing().wait_until_idle();
    };
    define("date", "birthDate");
    for (const std::string_view id : {"a", "b"}) {
        add("Patient", id,
            fmt::format(R"("birthDate":"{}","gender":"male")", id == "a" ? 2000 : 2001));
    }
    const auto page = [&](const std::string& arguments) {
        return ask(fmt::format(
            "{{ c: PatientConnection({}) {{ next edges {{ resource {{ id }} }} }} }}", arguments));
    };
    const Json first(page(R"(_sort: "rank", _count: 1)"));
    const std::string next = fmt::format("cursor: {}", first.root()["c"]["next"].raw());
    EXPECT_EQ(page(next), R"({"c":{"next":null,"edges":[{"resource":{"id":"b"}}]}})");
    define("token", "gender");
    EXPECT_EQ(page(next), R"(The cursor does not belong to this search ["c"])");
}

TEST_F(Graphql, CountsAgainFromTheBeginningAfterAPageOfWhichAllWasErased) {
    for (const std::string_view id : {"a", "b", "c", "d"}) {
        add("Patient", id, R"("active":true)");
    }
    const auto page = [&](const std::string& arguments) {
        return ask(
            fmt::format("{{ c: PatientConnection({}) {{ next previous offset edges {{ resource {{ "
                        "id }} }} }} }}",
                        arguments));
    };
    const auto follow = [&](const std::string& from, std::string_view link) {
        const Json json(from);
        return page(fmt::format(R"(cursor: "{}")", json.root()["c"][link].string()));
    };
    const std::string second = follow(page("_count: 2"), "next");
    ASSERT_NE(second.find(R"("offset":2,"edges":[{"resource":{"id":"b"}})"), std::string::npos)
        << second;
    for (const std::string_view id : {"c", "d"}) {
        ASSERT_TRUE(test::erase(server_.store(), "Patient", id));
    }
    const std::string emptied = follow(second, "previous");
    ASSERT_NE(emptied.find(R"("edges":[])"), std::string::npos) << emptied;
    const std::string again = follow(emptied, "next");
    EXPECT_NE(again.find(R"("offset":0,"edges":[{"resource":{"id":"b"}})"), std::string::npos)
        << again;
}

// Those of servers that knew only the order of commits go on in it.
TEST_F(Graphql, ListsTheLatestFirstUnlessACursorIsOlder) {
    std::vector<std::string> entries;
    std::string latest_first(10, ' ');
    for (int i = 0; i < 10; ++i) {
        const int second = i * 7 % 10;
        const auto id = static_cast<char>('a' + i);
        latest_first[static_cast<std::size_t>(9 - second)] = id;
        entries.push_back(fmt::format(
            R"({{"fullUrl":"http://a/Patient/{0}","resource":{{"resourceType":"Patient","id":"{0}","meta":{{"versionId":"1","lastUpdated":"2020-01-01T00:00:0{1}Z"}}}},)"
            R"("request":{{"method":"PUT","url":"Patient/{0}"}},"response":{{"status":"201"}}}})",
            id, second));
    }
    ASSERT_EQ(server_.submit(bundle_of("history", entries)).status, 200);
    const auto page = [&](const std::string& arguments) {
        return ask(fmt::format(
            "{{ c: PatientConnection({}) {{ next previous edges {{ resource {{ id }} }} }} }}",
            arguments));
    };
    const auto cursor_of = [](const std::string& page, std::string_view link) {
        const Json json(page);
        return json.root()["c"][link].string();
    };
    // The ids on this page and those to which `link` leads; `at` becomes the last one.
    const auto follow = [&](std::string_view link, std::string& at) {
        std::string ids;
        for (;;) {
            const Json json(at);
            std::string own;
            for (const json::Value edge : json.root()["c"]["edges"].elements()) {
                own += edge["resource"]["id"].string();
            }
            ids = link == "next" ? ids + own : own + ids;
            const std::string cursor = cursor_of(at, link);
            if (cursor.empty()) {
                return ids;
            }
            at = page(fmt::format(R"(cursor: "{}")", cursor));
        }
    };
    const std::string first = page("_count: 3");
    std::string at = first;
    EXPECT_EQ(follow("next", at), latest_first);
    EXPECT_EQ(follow("previous", at), latest_first);

    const std::string text = cursor_of(first, "next");
    const std::string bytes = *decode_base64(text);  // of three parts
    const std::size_t begin = bytes.find('~') + 1;
    const std::size_t end = bytes.find('~', begin);
    Result<search::Cursor> cursor = search::read_cursor(bytes.substr(begin, end - begin));
    ASSERT_TRUE(cursor) << cursor.error().detail;
    EXPECT_TRUE(cursor->by_instant);
    cursor->by_instant = false;
    cursor->edge = server_.store().current(*find_resource_type("Patient"), "h")->position;
    std::string older;
    append_base64(bytes.substr(0, begin) + search::write_cursor(*cursor) + bytes.substr(end),
                  older);
    at = page(fmt::format(R"(cursor: "{}")", older));
    EXPECT_EQ(follow("next", at), "gfedcba");
    EXPECT_EQ(follow("previous", at), "jihgfedcba");
}

TEST_F(Graphql, IsABinaryInsideOfABundle) {
    add_example();
    const Received answer =
        server_.submit(bundle_of("batch", {entry_of("GET", "Patient/p/$graphql?query=%7Bid%7D")}));
    const Json json(answer.body);
    EXPECT_EQ(json.statuses(), "200");
    std::string data;
    Base64Decoder().add(json.entry(0)["resource"]["data"].string(), data);
    EXPECT_EQ(data, R"({"data":{"id":"p"}})");
}

}  // namespace
}  // namespace annals::core
