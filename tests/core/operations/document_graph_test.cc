// $document with a graph: where it leads, and graphs that can't be used.

#include "core/access.h"
#include "tests/core/operations/document_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace annals::core {
namespace {

using test::DocumentFixture;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class DocumentGraph : public DocumentFixture {
  protected:
    void SetUp() override {
        ASSERT_EQ(put("Organization", "ward",
                      R"(,"name":"Ward","partOf":{"reference":"Organization/house"})"),
                  201);
        ASSERT_EQ(put("Organization", "house", R"(,"name":"House")"), 201);
        ASSERT_EQ(
            put("Patient", "p", R"(,"managingOrganization":{"reference":"Organization/ward"})"),
            201);
        ASSERT_EQ(put("Practitioner", "a", ""), 201);
        for (const char* id : {"o1", "o2"}) {
            ASSERT_EQ(put_observation(id, "p"), 201);
        }
        ASSERT_EQ(put_observation("other", "stranger"), 201);
        ASSERT_EQ(put_composition("c", R"(,"subject":{"reference":"Patient/p"},
            "author":[{"reference":"Practitioner/a"}])"),
                  201);
    }

    int put_observation(std::string_view id, std::string_view patient) {
        return put("Observation", id,
                   fmt::format(R"(,"status":"final","code":{{"text":"x"}},)"
                               R"("subject":{{"reference":"Patient/{}"}})",
                               patient));
    }

    /// Stores a graph with these links.
    void put_graph(std::string_view links, std::string_view start = "Composition") {
        const int status =
            put("GraphDefinition", "g",
                fmt::format(R"(,"url":"http://x/g","version":"1","name":"G","status":"active",)"
                            R"("start":"{}","link":[{}])",
                            start, links));
        ASSERT_TRUE(status == 200 || status == 201) << links;
    }

    test::Answer ask(std::string_view more = "") {
        return send("GET", fmt::format("/Composition/c/$document?graph=http://x/g{}", more));
    }

    /// What the graph adds.
    std::vector<std::string> added() {
        std::vector<std::string> names = read(ask()).names;
        EXPECT_GE(names.size(), 3U);
        names.erase(names.begin(), names.begin() + 3);
        return names;
    }

    std::string fault(std::string_view links) {
        put_graph(links);
        const test::Answer answer = ask();
        EXPECT_EQ(answer.status, 422) << links << answer.body;
        return answer.body;
    }
};

TEST_F(DocumentGraph, LeadsWhereItSaysAndNoFurther) {
    put_graph(R"({"path":"Composition.subject","target":[{"type":"Patient","link":[
        {"target":[{"type":"Observation","params":"patient={ref}"}]},
        {"path":"managingOrganization","target":[{"type":"Organization"}]}]}]})");
    EXPECT_THAT(added(), UnorderedElementsAre("Observation/o1/1", "Observation/o2/1",
                                              "Organization/ward/1"));
    const test::Answer answer = ask();
    EXPECT_EQ(issues(answer.body), "");
    EXPECT_EQ(read(answer).names.front(), "Composition/c/1");
    EXPECT_EQ(read(send("GET", "/Composition/c/$document?graph=http://x/g|1")).names.size(), 6U);
}

TEST_F(DocumentGraph, OfNoLinksAddsNothing) {
    put_graph(R"({"path":"Composition.subject"})");
    EXPECT_THAT(added(), ElementsAre());
}

TEST_F(DocumentGraph, PassesOverOtherTypesThanItsTargets) {
    put_graph(R"({"path":"Composition.subject","target":[{"type":"Group","link":[
        {"path":"managingOrganization","target":[{"type":"Organization"}]}]}]})");
    EXPECT_THAT(added(), ElementsAre());
    put_graph(R"({"path":"Composition.subject","target":[{"type":"Resource","link":[
        {"path":"managingOrganization","target":[{"type":"Resource"}]}]}]})");
    EXPECT_THAT(added(), ElementsAre("Organization/ward/1"));
}

TEST_F(DocumentGraph, TakesOneVersionOfAResource) {
    ASSERT_EQ(put("Patient", "q", ""), 201);
    ASSERT_EQ(put("Patient", "q", R"(,"managingOrganization":{"reference":"Organization/ward"})"),
              200);
    ASSERT_EQ(put("Patient", "p",
                  R"(,"link":[{"other":{"reference":"Patient/q/_history/1"},"type":"seealso"},)"
                  R"({"other":{"reference":"Patient/q"},"type":"seealso"}])"),
              200);
    put_graph(
        R"({"path":"subject","target":[{"type":"Patient","link":[{"path":"link.other","target":[
        {"type":"Patient","link":[
        {"path":"managingOrganization","target":[{"type":"Organization"}]}]}]}]}]})");
    EXPECT_THAT(added(), ElementsAre("Patient/q/1"));
}

TEST_F(DocumentGraph, GoesRoundACircleOnce) {
    ASSERT_EQ(
        put("Patient", "p", R"(,"link":[{"other":{"reference":"Patient/q"},"type":"seealso"}])"),
        200);
    ASSERT_EQ(
        put("Patient", "q", R"(,"link":[{"other":{"reference":"Patient/p"},"type":"seealso"}])"),
        201);
    put_graph(
        R"({"path":"subject","target":[{"type":"Patient","link":[{"path":"link.other","target":[
        {"type":"Patient","link":[{"path":"link.other","target":[{"type":"Patient","link":[
        {"path":"link.other","target":[{"type":"Patient"}]}]}]}]}]}]}]})");
    EXPECT_THAT(added(), ElementsAre("Patient/q/1"));
}

TEST_F(DocumentGraph, CountsItsTargets) {
    const std::string link =
        R"({{"path":"subject","target":[{{"type":"Patient","link":[{{"min":{},"max":"{}",)"
        R"("target":[{{"type":"Observation","params":"subject={{ref}}"}}]}}]}}]}})";
    for (const auto& [min, max, status] : {std::tuple(0, "*", 200), std::tuple(2, "2", 200),
                                           std::tuple(3, "*", 422), std::tuple(0, "1", 422)}) {
        put_graph(fmt::format(fmt::runtime(link), min, max));
        const test::Answer answer = ask();
        EXPECT_EQ(answer.status, status) << min << max << answer.body;
    }
    EXPECT_THAT(ask().body, HasSubstr("GraphDefinition.link[0].target[0].link[0]"));
    EXPECT_THAT(ask().body, HasSubstr("Patient/p has 2 targets"));
}

TEST_F(DocumentGraph, ThatCannotBeUsedSaysWhy) {
    EXPECT_EQ(ask().status, 422) << "there is none";
    EXPECT_THAT(fault(R"({"path":"subject.(","target":[{"type":"Patient"}]})"),
                HasSubstr("GraphDefinition.link[0].path"));
    EXPECT_THAT(fault(R"({"path":"subject","target":[{"type":"Nothing"}]})"),
                HasSubstr("'Nothing' is not a resource type"));
    EXPECT_THAT(fault(R"({"target":[{"type":"Patient"}]})"), HasSubstr("neither a path nor"));
    EXPECT_THAT(fault(R"({"target":[{"type":"Patient","params":"name=x"}]})"),
                HasSubstr("neither a path nor"));
    EXPECT_THAT(fault(R"({"target":[{"type":"Resource","params":"_id={ref}"}]})"),
                HasSubstr("neither a path nor"));
    for (const char* params : {"nothing={ref}", "item={ref}&_count=1", "item={ref}&%zz",
                               "code:unknown={ref}", "{ref}"}) {
        EXPECT_THAT(
            fault(fmt::format(R"({{"min":0,"target":[{{"type":"List","params":"{}"}}]}})", params)),
            HasSubstr("cannot be used"))
            << params;
    }
    EXPECT_THAT(fault(R"({"path":"subject","target":[{"type":"Patient","compartment":[
        {"use":"requirement","code":"Patient","rule":"identical"}]}]})"),
                HasSubstr("not-supported"));
    put_graph(R"({"path":"subject","target":[{"type":"Patient"}]})", "Patient");
    EXPECT_EQ(ask().status, 422);
}

TEST_F(DocumentGraph, IsBounded) {
    std::string links = R"({"path":"subject","target":[{"type":"Patient"}]})";
    const std::string one = links;
    for (int i = 0; i < 1000; ++i) {
        links += "," + one;
    }
    EXPECT_THAT(fault(links), HasSubstr("too many links"));
    std::string nested = R"({"path":"subject"})";
    for (int i = 0; i < 12; ++i) {
        nested = R"({"path":"subject","target":[{"type":"Patient","link":[)" + nested + "]}]}";
    }
    put_graph(nested);
    EXPECT_EQ(ask().status, 200);
    put_graph(R"x({"path":"repeat($this | %resource)","target":[{"type":"Patient"}]})x");
    EXPECT_NE(ask().status, 500);
}

TEST_F(DocumentGraph, ShowsNobodyWhatHeMayNotRead) {
    put_graph(R"({"path":"subject","target":[{"type":"Patient","link":[
        {"path":"managingOrganization","target":[{"type":"Organization"}]}]}]})");
    Config config;
    config.auth.mode = "jwt";
    config.auth.public_access = {};
    restart(config);
    const Principal blind("b", "system/Composition.r system/Patient.r system/Practitioner.r");
    send_as(&blind);
    EXPECT_EQ(ask().status, 403) << "not even the graph";
    const std::string scopes =
        "system/Composition.r system/Patient.r system/Practitioner.r system/GraphDefinition.r";
    const Principal some("s", scopes);
    send_as(&some);
    EXPECT_THAT(added(), ElementsAre());
    const Principal other_one("h", scopes + " system/Organization.r?_id=house");
    send_as(&other_one);
    EXPECT_THAT(added(), ElementsAre()) << "it may read another Organization only";
    const Principal this_one("w", scopes + " system/Organization.r?_id=ward");
    send_as(&this_one);
    EXPECT_THAT(added(), ElementsAre("Organization/ward/1"));
    const Principal all("a", "system/*.r");
    send_as(&all);
    EXPECT_THAT(added(), ElementsAre("Organization/ward/1"));

    // What parameters ask about other types than the target counts as a search of these.
    const Principal writes("w", "system/GraphDefinition.u");
    send_as(&writes);
    put_graph(R"({"path":"subject","target":[{"type":"Patient","link":[
        {"target":[{"type":"Observation","params":"patient={ref}&patient.active:missing=true"}]}]}]})");
    send_as(&all);
    EXPECT_EQ(ask().status, 403);
    const Principal searches("t", "system/*.rs");
    send_as(&searches);
    EXPECT_THAT(added(), UnorderedElementsAre("Observation/o1/1", "Observation/o2/1"));
    const Principal part("p", "system/*.r system/Patient.s?_id=p");
    send_as(&part);
    EXPECT_THAT(added(), UnorderedElementsAre("Observation/o1/1", "Observation/o2/1"));
    const Principal other("o", "system/*.r system/Patient.s?_id=other");
    send_as(&other);
    EXPECT_THAT(added(), ElementsAre()) << "found by what may only be read";
    send_as(nullptr);
}

TEST_F(DocumentGraph, CountsNothingForWhoMayNotReadIt) {
    Config config;
    config.auth.mode = "jwt";
    const Principal writes("w", "system/*.cruds");
    const Principal blind("b",
                          "system/Composition.r system/Patient.r system/Practitioner.r "
                          "system/GraphDefinition.r");
    // By what refers to something, and by what something refers to.
    const std::string of_observations =
        R"({{"path":"subject","target":[{{"type":"Patient","link":[{{"min":{},"max":"{}",)"
        R"("target":[{{"type":"Observation","params":"subject={{ref}}"}}]}}]}}]}})";
    const std::string of_organizations =
        R"({{"path":"subject","target":[{{"type":"Patient","link":[{{"min":{},"max":"{}",)"
        R"("path":"managingOrganization","target":[{{"type":"Organization"}}]}}]}}]}})";
    restart(config);
    for (const std::string& link : {of_observations, of_organizations}) {
        for (const auto& [min, max] : {std::pair(0, "0"), std::pair(3, "*")}) {
            send_as(&writes);
            put_graph(fmt::format(fmt::runtime(link), min, max));
            EXPECT_EQ(ask().status, 422) << link << min << max;
            send_as(&blind);
            EXPECT_THAT(added(), ElementsAre()) << link << min << max;
        }
    }
    send_as(nullptr);
}

TEST_F(DocumentGraph, IsOfTheStateThatIsAskedFor) {
    put_graph(R"({"path":"subject","target":[{"type":"Patient","link":[
        {"target":[{"type":"Observation","params":"patient={ref}"}]}]}]})");
    const std::uint64_t then =
        send("PUT", "/Basic/mark", R"({"resourceType":"Basic","id":"mark","code":{"text":"x"}})")
            .position;
    const std::vector<std::string> names = read(ask()).names;
    ASSERT_EQ(send("DELETE", "/Observation/o1").status, 204);
    ASSERT_EQ(put_observation("o3", "p"), 201);
    EXPECT_NE(read(ask()).names, names);
    EXPECT_EQ(read(ask(fmt::format("&_asOf={}", then))).names, names);
}

}  // namespace
}  // namespace annals::core
