// $graphql: what is selected, searched, resolved and flattened, and what is said of faults.

#include "core/operations/graphql.h"

#include "tests/core/operations/graphql_fixture.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

TEST_F(Graphql, SelectsElementsOfAResource) {
    add_example();
    EXPECT_EQ(ask_patient("{ resourceType id active name { family given } gender photo { url } }"),
              R"({"resourceType":"Patient","id":"p","active":true,"name":[)"
              R"({"family":"Chalmers","given":["Peter","James"]},{"family":null,"given":["Jim"]},)"
              R"({"family":"Windsor","given":["Peter","James"]}],"gender":null,"photo":null})");
    EXPECT_EQ(ask_patient("{ birthDate _birthDate { extension { valueString } } _gender { id } }"),
              R"({"birthDate":"1974-12-25","_birthDate":{"extension":[{"valueString":"noon"}]},)"
              R"("_gender":null})");
    EXPECT_EQ(ask_of("/Observation/o1", "{ v: valueQuantity { value } valueString }"),
              R"({"v":{"value":1.50},"valueString":null})");
    EXPECT_EQ(ask_patient("{ __typename name @first { __typename } contact { __typename } }"),
              R"({"__typename":"Patient","name":[{"__typename":"HumanName"}],"contact":null})");
}

TEST_F(Graphql, ReadsAndSearchesTheSystem) {
    add_example();
    EXPECT_EQ(
        ask(R"({ PatientList(name: "chal", birthdate: "ge1970") { id } Patient(id: "p") { id } })"),
        R"({"PatientList":[{"id":"p"}],"Patient":{"id":"p"}})");
    EXPECT_EQ(ask(R"({ ObservationList(_sort: "-_id", _count: 2) { id } })"),
              R"({"ObservationList":[{"id":"o5"},{"id":"o4"}]})");
    EXPECT_EQ(ask(R"({ ObservationList(_id: ["o1", o3], _sort: "_id") { id } })"),
              R"({"ObservationList":[{"id":"o1"},{"id":"o3"}]})");
    EXPECT_EQ(ask(R"({ ObservationList(value_quantity: "gt3", _sort: "_id") { id } })"),
              R"({"ObservationList":[{"id":"o3"},{"id":"o4"},{"id":"o5"}]})");
    EXPECT_EQ(
        ask(R"({ ObservationList(fhirpath: "value.value > 3", _count: 1, _sort: "_id") { id } })"),
        R"({"ObservationList":[{"id":"o3"}]})");
    EXPECT_EQ(ask(R"({ PatientList(name: "nobody") { id } EncounterList { id } })"),
              R"({"PatientList":[],"EncounterList":[]})");
    EXPECT_EQ(
        ask(R"({ ObservationList(_filter: "subject.name eq chalmers and value-quantity gt 4") { id } })"),
        R"({"ObservationList":[{"id":"o5"},{"id":"o4"}]})");
    EXPECT_EQ(ask(R"({ Patient(id: "none") { id } })"),
              R"(Patient/none does not exist ["Patient"])");
    EXPECT_EQ(data(R"({ Patient(id: "none") { id } o: Organization(id: o) { id } })"),
              R"({"Patient":null,"o":{"id":"o"}})");
    EXPECT_EQ(ask(R"({ PatientList(birthdate: "x") { id } })").substr(0, 29),
              "search parameter 'birthdate':");
}

TEST_F(Graphql, TakesAValueWithACommaAsOne) {
    add("Patient", "a", R"("identifier":[{"value":"x,y"}])");
    add("Patient", "b", R"("identifier":[{"value":"x"}])");
    EXPECT_EQ(ask(R"({ PatientList(identifier: "x,y") { id } })"),
              R"({"PatientList":[{"id":"a"}]})");
    EXPECT_EQ(ask(R"({ PatientList(identifier: ["x,y", "x"], _sort: "_id") { id } })"),
              R"({"PatientList":[{"id":"a"},{"id":"b"}]})");
}

TEST_F(Graphql, RefusesAListThatIsTooLong) {
    Config config;
    config.max_page_size = 2;
    TestService small(config);
    for (const char* id : {"a", "b", "c"}) {
        ASSERT_EQ(small.put(fmt::format("/Patient/{}", id), patient_json(id)).status, 201);
    }
    const auto ask_small = [&](std::string query) {
        return told(small.send({HttpMethod::post,
                                "/$graphql",
                                "",
                                std::move(query),
                                {{"Content-Type", "application/graphql"}}}));
    };
    EXPECT_EQ(ask_small("{ PatientList { id } }"),
              R"(More than 2 resources match; use PatientConnection for pages ["PatientList"])");
    EXPECT_EQ(ask_small("{ PatientList(_count: 3) { id } }").substr(0, 11), "More than 2");
    EXPECT_EQ(ask_small("{ PatientList(_count: 1) { id } }"), R"({"PatientList":[{"id":"c"}]})");
    EXPECT_EQ(ask_small(R"({ PatientList(_id: [a b]) { id } })"),
              R"({"PatientList":[{"id":"b"},{"id":"a"}]})");
}

TEST_F(Graphql, FiltersLists) {
    add_example();
    EXPECT_EQ(
        ask_patient(R"({ a: name(use: official) { family } b: name(given: "Jim") { use }
                               c: name(use: "old") { use } d: name(use: null, _count: 1) { use } })"),
        R"({"a":[{"family":"Chalmers"}],"b":[{"use":"usual"}],"c":[],"d":[{"use":"official"}]})");
    EXPECT_EQ(
        ask_patient(
            R"({ a: name(fhirpath: "family.exists() ") { use } b: name(fhirpath: "$index > 1") { use }
                               c: name(_offset: 1, _count: 1) { use } d: name(_offset: 5) { use }
                               e: name(fhirpath: "family.exists() ", _offset: 1) {
        use }
})"),
        R"({"a":[{"use":"official"},{"use":"maiden"}],"b":[{"use":"maiden"}],)"
        R"("c":[{"use":"usual"}],"d":[],"e":[{"use":"maiden"}]})");
    EXPECT_EQ(ask_patient(R"({ a: name(fhirpath: "given.where($index = 1).count() = 1") { use }
                               b: name(fhirpath: "'it\\'s' != family and $index > 1") { use } })"),
              R"({"a":[{"use":"official"},{"use":"maiden"}],"b":[{"use":"maiden"}]})")
        << "inside of parentheses, $index has its own meaning";
    EXPECT_EQ(ask_patient(R"({ name(fhirpath: "period.start > 1") { use } })").substr(0, 4),
              R"({"na)");
    EXPECT_EQ(
        ask_patient(R"({ name(fhirpath: "given + 'a' = 'b'") { use } })").find(R"(["name"])") !=
            std::string::npos,
        true);
}

TEST_F(Graphql, ResolvesReferences) {
    add_example();
    EXPECT_EQ(
        ask_patient(
            "{ managingOrganization { reference resource { ... on Organization { name } } } }"),
        R"({"managingOrganization":{"reference":"Organization/o","resource":{"name":"Org"}}})");
    EXPECT_EQ(
        ask_patient("{ generalPractitioner { resource { resourceType id ... on Practitioner { name "
                    "{ family } } } } }"),
        R"({"generalPractitioner":[{"resource":{"resourceType":"Practitioner","id":"gp","name":[{"family":"Doc"}]}}]})");
    EXPECT_EQ(
        ask_of("/Observation/o1",
               "{ subject { resource { active managingOrganization { resource { id } } } } }"),
        R"({"subject":{"resource":{"active":true,"managingOrganization":{"resource":{"id":"o"}}}}})");
    EXPECT_EQ(ask_of("/Observation/o1",
                     "{ subject { resource(type: Patient) { birthDate } resource(type: Group) { "
                     "quantity } } }"),
              R"({"subject":{"resource":{"birthDate":"1974-12-25"}}})");
    EXPECT_EQ(ask_of("/Observation/o1", "{ subject { resource(type: [Group, Device]) { id } } }"),
              R"({"subject":{"resource":null}})");
    // In some types, a name is a text, in others it has parts.
    EXPECT_EQ(
        ask_of("/Observation/o1", "{ subject { resource { name { family } } } }"),
        R"({"subject":{"resource":{"name":[{"family":"Chalmers"},{"family":null},{"family":"Windsor"}]}}})");
}

TEST_F(Graphql, SelectsOfResourcesOfAnyTypeWhatEachHas) {
    add("Patient", "p",
        R"("contained":[{"resourceType":"Practitioner","id":"a","name":[{"family":"F"}]},)"
        R"({"resourceType":"Organization","id":"b","name":"N"}])");
    EXPECT_EQ(
        ask_patient(
            "{ contained { resourceType id name ... on Practitioner { p: name { family } } } }"),
        R"({"contained":[{"resourceType":"Practitioner","id":"a","p":[{"family":"F"}]},)"
        R"({"resourceType":"Organization","id":"b","name":"N"}]})");
    EXPECT_EQ(
        ask_patient(
            "{ contained(id: \"b\") { id } c: contained(fhirpath: \"name.family = 'F'\") { id } }"),
        R"({"contained":[{"id":"b"}],"c":[{"id":"a"}]})");
}

TEST_F(Graphql, EndsWithItsTime) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(0);
    TestService hurried(config);
    std::string names;
    for (int i = 0; i < 20'000; ++i) {
        names += fmt::format(R"({}{{"family":"f{}"}})", i == 0 ? "" : ",", i);
    }
    ASSERT_EQ(hurried.put("/Patient/p", patient_json("p", "\"name\":[" + names + "]")).status, 201);
    for (const char* field : {"name(fhirpath: \"family.length() > 2\")", "name", "name @singleton",
                              "name @singleton @slice(path: \"family\")"}) {
        const Received answer = hurried.send({HttpMethod::post,
                                              "/Patient/p/$graphql",
                                              "",
                                              fmt::format("{{ {} {{ family }} }}", field),
                                              {{"Content-Type", "application/graphql"}}});
        EXPECT_EQ(answer.status, 503) << answer.body.substr(0, 300);
        EXPECT_EQ(Json(answer.body).issue("code"), "timeout");
    }
}

TEST_F(Graphql, SaysThatAnAnswerWouldBeTooLarge) {
    std::string names;
    for (int i = 0; i < 30'000; ++i) {
        names += fmt::format(R"({}{{"family":"f{}"}})", i == 0 ? "" : ",", i);
    }
    add("Patient", "p", "\"name\":[" + names + "]");
    EXPECT_EQ(
        ask_patient("{ a: name { family } b: name { family } c: name { family } d: name { family } "
                    "e: name { family } }")
            .substr(0, 29),
        "The response would have more ");
}

TEST_F(Graphql, SaysWhatDoesNotResolveUnlessThatIsOptional) {
    add("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/gone"},)"
        R"("performer":[{"display":"somebody"},{"reference":"http://elsewhere/Patient/1"},{"reference":"#no"}])");
    add("Patient", "gone", R"("active":true)");
    ASSERT_EQ(server_.send({HttpMethod::delete_, "/Patient/gone"}).status, 204);
    EXPECT_EQ(ask_of("/Observation/x", "{ subject { resource { id } } }"),
              R"(The reference does not lead to a resource on this server ["subject","resource"])");
    EXPECT_EQ(
        ask_of("/Observation/x", "{ performer { resource { id } } }"),
        R"(The reference does not lead to a resource on this server ["performer",0,"resource"])");
    EXPECT_EQ(
        ask_of("/Observation/x",
               "{ subject { display resource(optional: true) { id } } performer { display "
               "resource(optional: true) { id } } }"),
        R"({"subject":{"display":null,"resource":null},"performer":[{"display":"somebody","resource":null},)"
        R"({"display":null,"resource":null},{"display":null,"resource":null}]})");
}

TEST_F(Graphql, FindsWhatRefersToAResource) {
    add_example();
    EXPECT_EQ(
        ask_patient(R"({ ObservationList(_reference: subject, code: "x") { id } id
                               o: ObservationList(_reference: patient, _count: 1) { id subject { resource { id } } } })"),
        R"({"ObservationList":[],"id":"p","o":[{"id":"o5","subject":{"resource":{"id":"p"}}}]})");
    EXPECT_EQ(
        ask(R"({ OrganizationList { PatientList(_reference: organization) { id ObservationList(_reference: subject, _count: 1) { id } } } })"),
        R"({"OrganizationList":[{"PatientList":[{"id":"p","ObservationList":[{"id":"o5"}]}]}]})");
    EXPECT_EQ(
        ask_patient(
            "{ ObservationConnection(_reference: subject) { count edges { resource { id } } } }")
            .substr(0, 36),
        R"({"ObservationConnection":{"count":5,)");
    EXPECT_EQ(ask_patient("{ generalPractitioner { resource { PatientList(_reference: "
                          "general_practitioner) { id } } } }")
                  .substr(0, 34),
              "Nothing outside a resource refers ");
}

TEST_F(Graphql, GoesThroughPagesByCursors) {
    add_example();
    EXPECT_EQ(ask("{ ObservationConnection(_count: 2) { count } }"),
              R"({"ObservationConnection":{"count":5}})");
    EXPECT_EQ(ask("{ ObservationConnection(_count: 2) { last } }").find("null"), std::string::npos);
    const auto page = [&](const std::string& arguments) {
        const Received answer = post(
            "/$graphql",
            fmt::format(
                "{{ c: ObservationConnection({}) {{ count offset pagesize first previous next last "
                "edges {{ mode score resource {{ id }} }} }} }}",
                arguments),
            "application/graphql");
        EXPECT_EQ(answer.status, 200);
        return answer.body;
    };
    const auto ids = [](const std::string& body) {
        const Json json(body);
        const json::Value c = json.root()["data"]["c"];
        std::string out = fmt::format("{}+{}:", c["offset"].raw(), c["pagesize"].raw());
        for (const json::Value edge : c["edges"].elements()) {
            EXPECT_EQ(edge["mode"].string(), "match");
            out += " " + edge["resource"]["id"].string();
        }
        return out + " of " + std::string(c["count"].raw());
    };
    const auto cursor = [](const std::string& body, std::string_view name) {
        const Json json(body);
        return fmt::format("cursor: {}", json.root()["data"]["c"][name].raw());
    };
    const std::string first = page(R"(patient: "p", _count: 2, _sort: "_id")");
    EXPECT_EQ(ids(first), "0+2: o1 o2 of 5");
    EXPECT_EQ(cursor(first, "previous"), "cursor: null");
    add("Observation", "o0",
        R"("status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p"})");
    const std::string second = page(cursor(first, "next"));
    EXPECT_EQ(ids(second), "2+2: o3 o4 of 5");
    const std::string third = page(cursor(second, "next"));
    EXPECT_EQ(ids(third), "4+2: o5 of 5");
    EXPECT_EQ(cursor(third, "next"), "cursor: null");
    EXPECT_EQ(ids(page(cursor(third, "previous"))), "2+2: o3 o4 of 5");
    EXPECT_EQ(ids(page(cursor(third, "first"))), "0+2: o1 o2 of 5");
    EXPECT_EQ(ids(page(cursor(first, "last"))), "3+2: o4 o5 of 5");
    // With a cursor, the search need not be repeated; if it is, it must be the same.
    for (const char* const same : {R"( patient: "p", _count: 2, _sort: "_id")",
                                   R"( _sort: "_id", _count: 2, patient: "p")"}) {
        EXPECT_EQ(ids(page(cursor(first, "next") + same)), "2+2: o3 o4 of 5") << same;
    }
    EXPECT_NE(page(cursor(first, "next") + " code: x").find("The cursor does not belong"),
              std::string::npos);
    for (const char* bad : {"x", "MH4=", "", "MH5BUUlJQn4="}) {
        EXPECT_NE(page(fmt::format(R"(cursor: "{}")", bad)).find("The cursor does not belong"),
                  std::string::npos)
            << bad;
    }
    EXPECT_EQ(ask(fmt::format("{{ c: PatientConnection({}) {{ count }} }}", cursor(first, "next"))),
              R"(The cursor does not belong to this search ["c"])");
    EXPECT_EQ(
        ask_patient(fmt::format("{{ ObservationConnection(_reference: subject, {}) {{ count }} }}",
                                cursor(first, "next"))),
        "A cursor may be given at the root of a query only ");
    EXPECT_EQ(ask("{ ObservationConnection(_count: 0) { count edges { mode } next } }"),
              R"({"ObservationConnection":{"count":6,"edges":[],"next":null}})");
    EXPECT_EQ(
        ask(R"({ ObservationConnection(_count: 3, fhirpath: "id = 'o5'") { __typename offset edges { __typename resource { id } } } })"),
        R"({"ObservationConnection":{"__typename":"ObservationConnection","offset":0,"edges":[)"
        R"({"__typename":"ObservationEdge","resource":{"id":"o5"}}]}})");
}

TEST_F(Graphql, Flattens) {
    add_example();
    EXPECT_EQ(
        ask_patient(
            "{ identifier @flatten { system value } active name @flatten { text given family } }"),
        R"({"system":["urn:s"],"value":["12345"],"active":true,"given":["Peter","James","Jim","Peter","James"],)"
        R"("family":["Chalmers","Windsor"]})");
    EXPECT_EQ(ask_patient("{ name @flatten { given @first family } }"),
              R"({"given":["Peter","Jim","Peter"],"family":["Chalmers","Windsor"]})");
    EXPECT_EQ(
        ask_patient("{ identifier @flatten { system @singleton value @singleton } active "
                    "name @flatten @first { text given family @singleton } }"),
        R"({"system":"urn:s","value":"12345","active":true,"given":["Peter","James"],"family":"Chalmers"})");
    EXPECT_EQ(ask_patient("{ name @flatten { family @singleton } }"),
              R"('family' would have several values ["family"])");
    EXPECT_EQ(ask_patient("{ name @flatten { v: family } identifier @flatten { v: system } }"),
              R"('v' would have values of different types ["v"])");
    EXPECT_EQ(ask_patient("{ name { given @first @singleton } }"),
              R"({"name":[{"given":"Peter"},{"given":"Jim"},{"given":"Peter"}]})");
    EXPECT_EQ(ask_patient("{ ObservationList(_reference: subject, _sort: \"_id\") @flatten { "
                          "valueQuantity @flatten { value } } }"),
              R"({"value":[1.50,2.50,3.50,4.50,5.50]})");
    EXPECT_EQ(
        ask("{ ObservationList(_sort: \"_id\", _count: 2) { id subject @flatten { resource "
            "@flatten { birthDate } } } }"),
        R"({"ObservationList":[{"id":"o1","birthDate":"1974-12-25"},{"id":"o2","birthDate":"1974-12-25"}]})");
    // Nothing is left of a field without a value, either.
    EXPECT_EQ(ask_patient(
                  R"({ active maritalStatus @flatten { text } name(use: temp) @flatten { given } )"
                  R"(ObservationList(_reference: subject, _id: "none") @flatten { id } })"),
              R"({"active":true})");
}

TEST_F(Graphql, Slices) {
    add_example();
    EXPECT_EQ(
        ask_patient(R"({ name @flatten @slice(path: "use") { given family @singleton } })"),
        R"({"given.official":["Peter","James"],"family.official":"Chalmers","given.usual":["Jim"],)"
        R"("given.maiden":["Peter","James"],"family.maiden":"Windsor"})");
    EXPECT_EQ(
        ask_patient(R"({ name @slice(fhirpath: "$index") @flatten { given @first @singleton } })"),
        R"({"given.0":"Peter","given.1":"Jim","given.2":"Peter"})");
    EXPECT_EQ(
        ask_patient(R"({ name @slice(path: "use") { given @first } })"),
        R"({"name.official":[{"given":["Peter"]}],"name.usual":[{"given":["Jim"]}],"name.maiden":[{"given":["Peter"]}]})");
}

TEST_F(Graphql, TakesVariablesFragmentsAndConditions) {
    add_example();
    const auto ask_with = [&](std::string_view query, std::string_view more) {
        return told(
            post("/$graphql", fmt::format(R"({{"query":{}{}}})", json::quoted(query), more)));
    };
    constexpr std::string_view kQuery =
        "query A($id: ID!, $with: Boolean = false, $use: code) { Patient(id: $id) { id active "
        "@include(if: $with) "
        "birthDate @skip(if: $with) ...N } } query B { __typename } "
        "fragment N on Patient { name(use: $use) { ...F } } fragment F on HumanName { family }";
    EXPECT_EQ(ask_with(kQuery, R"(,"operationName":"A","variables":{"id":"p","use":"official"})"),
              R"({"Patient":{"id":"p","birthDate":"1974-12-25","name":[{"family":"Chalmers"}]}})");
    EXPECT_EQ(
        ask_with(
            kQuery,
            R"(,"operationName":"A","variables":{"id":"p","with":true,"use":"usual","other":1})"),
        R"({"Patient":{"id":"p","active":true,"name":[{"family":null}]}})");
    EXPECT_EQ(ask_with(kQuery, R"(,"operationName":"B")"), R"({"__typename":"Query"})");
    EXPECT_EQ(ask_with(kQuery, R"(,"operationName":"A")"), "The variable $id has no value ");
    EXPECT_EQ(ask_with(kQuery, R"(,"operationName":"A","variables":{"id":{}})"),
              "The variable $id does not have the declared type ");
    EXPECT_EQ(ask_with(kQuery, ""), "Several operations need an operationName ");
    EXPECT_EQ(ask_with(kQuery, R"(,"operationName":"C")"), "There is no operation 'C' ");
    EXPECT_EQ(ask_with("query($i: [ID!]) { ObservationList(_id: $i) { id } }",
                       R"(,"variables":{"i":"o1"})"),
              R"({"ObservationList":[{"id":"o1"}]})");
    EXPECT_EQ(ask_with("query($n: Int = \"x\") { __typename }", ""),
              "The variable $n does not have the declared type ");
    // Equal fields are given once, with what each selection adds.
    EXPECT_EQ(ask_patient("{ id id name(_count: 1) { use } ... on Patient { name(_count: 1) { "
                          "family } } ... @include(if: false) { active } }"),
              R"({"id":"p","name":[{"use":"official","family":"Chalmers"}]})");
    EXPECT_EQ(ask_patient("{ id active @skip(if: true) @include(if: true) }"), R"({"id":"p"})");
}

TEST_F(Graphql, TakesVariablesOfTheirTypes) {
    const auto fits = [&](std::string_view type, std::string_view value) {
        const std::string answer =
            told(post("/$graphql", fmt::format(R"({{"query":"query($v: {}) {{ __typename }}",)"
                                               R"("variables":{{"v":{}}}}})",
                                               type, value)));
        return answer == R"({"__typename":"Query"})";
    };
    for (const auto& [type, value] :
         {std::pair("Int", "1"), std::pair("Int", "null"), std::pair("Float", "1"),
          std::pair("Float", "1e3"), std::pair("ID", "1"), std::pair("ID", R"("x")"),
          std::pair("boolean", "true"), std::pair("code", "1"), std::pair("[Int]", "[1]")}) {
        EXPECT_TRUE(fits(type, value)) << type << value;
    }
    for (const auto& [type, value] :
         {std::pair("Int", "1e3"), std::pair("Int!", "null"), std::pair("Float", R"("1")"),
          std::pair("ID", "true"), std::pair("boolean", R"("true")"), std::pair("String", "1"),
          std::pair("code", "{}"), std::pair("code", "[1]"), std::pair("[Int]", R"(["x"])")}) {
        EXPECT_FALSE(fits(type, value)) << type << value;
    }
}

TEST_F(Graphql, TakesTheFirstOfWhatIsFound) {
    add_example();
    EXPECT_EQ(ask("{ ObservationList(_sort: \"status,-_id\") @first { id } }"),
              R"({"ObservationList":[{"id":"o5"}]})");
    EXPECT_EQ(ask("{ ObservationConnection { edges @first { mode } } }"),
              R"({"ObservationConnection":{"edges":[{"mode":"match"}]}})");
}

TEST_F(Graphql, RefusesWhatIsNotThereToBeSelected) {
    add_example();
    const std::vector<std::pair<std::string, std::string>> refused{
        {"{ Patient(id: p) { foo } }", "Patient has no field 'foo'"},
        {"{ Patient(id: p) { name { foo } } }", "HumanName has no field 'foo'"},
        {"{ Patient(id: p) { managingOrganization { resource { foo } } } }",
         "Resource has no field 'foo'"},
        {"{ Foo { id } }", "Query has no field 'Foo'"},
        {"{ PatientConnection { foo } }", "PatientConnection has no field 'foo'"},
        {"{ Patient(id: p) { name } }", "'name' needs a selection of fields"},
        {"{ Patient(id: p) { active { id } } }", "'active' has no fields to select"},
        {"{ Patient(id: p) }", "'Patient' needs a selection of fields"},
        {"{ Patient { id } }", "'Patient' needs the argument id"},
        {"{ Patient(id: p, x: 1) { id } }", "'Patient' has no argument 'x'"},
        {"{ Patient(id: p) { active(_count: 1) } }", "'active' has no arguments"},
        {"{ Patient(id: p) { name(foo: 1) { use } } }", "'name' has no argument 'foo'"},
        {"{ Patient(id: p) { name(period: 1) { use } } }", "'name' has no argument 'period'"},
        {"{ Patient(id: p) { name(use: [a]) { use } } }",
         "The argument 'use' takes a single value"},
        {"{ Patient(id: p) { name(_count: -1) { use } } }",
         "The argument '_count' must be an integer of at least 0"},
        {"{ Patient(id: p) { name(_count: \"1\") { use } } }",
         "The argument '_count' must be an integer of at least 0"},
        {"{ PatientList(name: []) { id } }", "The argument 'name' has no value"},
        {"{ Patient(id: p) { managingOrganization { resource(x: 1) { id } } } }",
         "'resource' has no argument 'x'"},
        {"{ Patient(id: p) { _name { id } } }", "Patient has no field '_name'"},
        {"{ Patient(id: p) { name { resource { id } } } }", "HumanName has no field 'resource'"},
        {"{ Patient(id: p) { name { PatientList { id } } } }",
         "HumanName has no field 'PatientList'"},
        {"{ PatientConnection { ... on Patient { count } } }",
         "A fragment on Patient never applies here: this is PatientConnection"},
        {"{ Patient(id: p) { birthDate @slice(path: \"x\") } }",
         "@slice is only for elements that have fields"},
        {"{ Patient(id: p) { id @skip(if: true, x: 1) } }", "@skip has one argument, if"},
        {"{ Patient(id: p) { ...F @first } } fragment F on Patient { id }",
         "@first is not allowed on a fragment"},
        {"{ Patient(id: p) { ...F } } fragment F on Patient @x { id }",
         "Fragments have no directives where they are defined"},
        {"query @skip(if: true) { __typename }", "Operations have no directives"},
        {"query($x: Int $x: Int) { __typename }", "The variable $x is defined twice"},
        {"{ Patient(id: p) { name(_count: 1, _count: 2) { use } } }",
         "The argument '_count' is given twice"},
        {"{ Patient(id: p) { ObservationList { id } } }",
         "'ObservationList' inside a resource needs the argument _reference"},
        {"{ Patient(id: p) { ObservationList(_reference: code) { id } } }",
         "'code' is not a reference search parameter of Observation"},
        {"{ PatientList(foo: 1) { id } }", "'PatientList' has no argument 'foo'"},
        {"{ PatientList(_reference: x) { id } }", "'PatientList' has no argument '_reference'"},
        {"{ PatientList(_include: \"Patient:organization\") { id } }",
         "The argument '_include' is not supported"},
        {"{ Patient(id: p) { id @foo } }", "There is no directive @foo"},
        {"{ Patient(id: p) { id @flatten } }", "@flatten is only for elements that have fields"},
        {"{ Patient(id: p) { id @first(x: 1) } }", "@first has no arguments"},
        {"{ Patient(id: p) { name @slice { use } } }", "@slice has one argument, path"},
        {"{ Patient(id: p) { id @skip } }", "@skip has one argument, if"},
        {"{ Patient(id: p) { id @skip(if: 1) } }", "The argument 'if' must be true or false"},
        {"{ Patient(id: p) { ... on Foo { id } } }", "There is no type 'Foo'"},
        {"{ Patient(id: p) { ... on Device { id } } }",
         "A fragment on Device never applies here: this is Patient"},
        {"{ Patient(id: p) { ...F } }", "There is no fragment 'F'"},
        {"{ Patient(id: p) { ...F } } fragment F on Patient { ...G } fragment G on Patient { ...F "
         "}",
         "The fragment 'F' contains itself"},
        {"{ Patient(id: p) { id } } fragment F on Patient { id } fragment F on Patient { id }",
         "Two fragments are named 'F'"},
        {"{ Patient(id: $x) { id } }", "The variable $x is not defined"},
        {"{ Patient(id: p) { name { use } name(_count: 1) { use } } }",
         "Two different fields are both named 'name'; one needs an alias"},
        {"{ Patient(id: p) { a: id a: active } }",
         "Two different fields are both named 'a'; one needs an alias"},
        {"mutation { PatientDelete(id: p) { id } }", "Only queries are supported, not mutations"},
        {"subscription { Patient(id: p) { id } }", "Only queries are supported, not subscriptions"},
        {"{ __schema { types { name } } }", "Introspection is not supported"},
        {"{ Patient(id: p) { id ", "A name is expected, not the end"},
    };
    for (const auto& [query, message] : refused) {
        EXPECT_EQ(ask(query), message + " ") << query;
    }
    EXPECT_EQ(ask("{ Patient(id: p) { name(fhirpath: \"(\") { use } } }").substr(0, 9),
              "fhirpath:");
    const Received answer = post("/$graphql", "{\n  Foo { id }\n}", "application/graphql");
    EXPECT_NE(
        answer.body.find(
            R"({"data":null,"errors":[{"message":"Query has no field 'Foo'","locations":[{"line":2,"column":3}])"),
        std::string::npos)
        << answer.body;
}

}  // namespace
}  // namespace annals::core
