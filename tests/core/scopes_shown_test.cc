// Scopes that permit a part: what is shown, found, included and computed with.

#include "tests/core/scopes_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

/// R4's Patient compartment has no Devices; `patient/Device.rs` is meant for US Core's implantable ones.
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

/// (g)(10) and US Core ask for `_revinclude=Provenance:target`; R4's compartment only has Provenances of the Patient itself.
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

    // To read one, its target must be readable; to find one, it must be found too.
    const Principal reads("x", "patient/Observation.r patient/Provenance.rs", "m");
    send_as(&reads);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 200);
    EXPECT_EQ(found("/Provenance?"), 1);  // that of the Patient
    const Principal finds("x", "patient/Observation.s patient/Provenance.rs", "m");
    send_as(&finds);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 404);
    EXPECT_EQ(found("/Provenance?"), 3);
    send_as(&mine_);

    const std::string own = provenance("x", "Observation/m-o1");
    EXPECT_EQ(send("POST", "/Provenance", own, kJson).status, 201);
    EXPECT_EQ(send("POST", "/Provenance", provenance("x", "Observation/t-o1"), kJson).status, 403);
    EXPECT_EQ(send("DELETE", "/Provenance/of-theirs").status, 404);

    // Provenances reveal nothing about what isn't permitted.
    Principal vital{"v", "patient/Observation.rs?category=vital-signs patient/Provenance.rs", "m"};
    send_as(&vital);
    EXPECT_EQ(found("/Provenance?target=Observation/m-o1&"), 2);
    EXPECT_EQ(found("/Provenance?target=Observation/m-o2&"), 0);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 200);
    EXPECT_EQ(send("GET", "/Provenance/of-lab").status, 404);
    Principal alone{"a", "patient/Provenance.rs", "m"};
    send_as(&alone);
    EXPECT_EQ(found("/Provenance?"), 1);
    // All Observations are shown, but only Provenances of the patient's.
    Principal all{"o", "patient/Provenance.rs system/Observation.rs", "m"};
    send_as(&all);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 200);
    EXPECT_EQ(send("GET", "/Provenance/of-theirs").status, 404);

    // A resource that becomes another patient's takes its Provenances along.
    send_as(&everybody_);
    put("/Observation/m-o1", observation("m-o1", "t", kMark));
    send_as(&mine_);
    EXPECT_EQ(send("GET", "/Provenance/of-vital").status, 404);
    EXPECT_EQ(found("/Provenance?"), 2);
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
    // What the patient's own resources say counts.
    EXPECT_EQ(total(send("GET", "/Observation?encounter:below=Encounter/theirs")), 2);
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
    // The version that is read decides.
    EXPECT_EQ(send("GET", "/Observation/m-o1/_history/1").status, 404);
    EXPECT_EQ(total(send("GET", "/Observation/m-o1/_history")), 1);
    EXPECT_EQ(send("GET", "/Patient/m").status, 403);
    // Chains through types that may not be searched match nothing.
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

    // Each letter counts by itself.
    as("system/Observation.r system/Observation.s?category=vital-signs");
    EXPECT_EQ(total(send("GET", "/Observation")), 2);
    EXPECT_EQ(send("GET", "/Observation/m-o2").status, 200);
    as("system/Observation.cu?category=laboratory");
    EXPECT_EQ(send("POST", "/Observation", observation("x", "m", "x"), kJson).status, 201);
    EXPECT_EQ(send("POST", "/Observation", observation("x", "m", "x", "vital-signs"), kJson).status,
              403);
    EXPECT_EQ(send("PUT", "/Observation/m-o2", observation("m-o2", "m", "x"), kJson).status, 200);
    EXPECT_EQ(send("PUT", "/Observation/m-o1", observation("m-o1", "m", "x"), kJson).status, 404);

    // Queries that can't be checked show nothing.
    for (const char* query :
         {"subject:Patient.name=mine", "_has:Observation:has-member:status=final", "nothing=1",
          "_count=2", "_include=*", "status=final&_sort=code", "_filter=subject.name eq mine",
          "%"}) {
        as(fmt::format("system/Observation.rs?{}", query));
        EXPECT_LE(total(send("GET", "/Observation")), 0) << query;
        EXPECT_GE(send("GET", "/Observation/m-o1").status, 400) << query;
    }
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
    // What isn't shown is answered like what doesn't exist.
    std::string hidden = ask("/", R"({Observation(id:"t-o1"){id}})");
    const std::size_t at = hidden.find("t-o1");
    ASSERT_NE(at, std::string::npos);
    while (hidden.find("t-o1") != std::string::npos) {
        hidden.replace(hidden.find("t-o1"), 4, "none");
    }
    EXPECT_EQ(hidden, ask("/", R"({Observation(id:"none"){id}})"));
    EXPECT_THAT(ask("/Observation/m-of-t/", "{hasMember{resource{id}}}"),
                HasSubstr(R"({"data":{"hasMember":[{"resource":null}]},"errors":[{"message":)"
                          R"("The reference does not lead to a resource on this server")"));

    // Neither the type asked for nor the order of errors nor directives give it away.
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

    // A cursor is of no use to somebody else.
    send_as(&mine_);
    const std::string page = ask("/", "{ObservationConnection(_count:1){next}}");
    const std::size_t begin = page.find(R"("next":")") + 8;
    ASSERT_GT(begin, 8U);
    const std::string cursor = page.substr(begin, page.find('"', begin) - begin);
    const std::string next =
        fmt::format(R"({{ObservationConnection(cursor:"{}"){{edges{{resource{{id}}}}}}}})", cursor);
    EXPECT_THAT(ask("/", next), HasSubstr(R"("edges":[{"resource":{"id":"m)"));
    send_as(&theirs_);
    EXPECT_THAT(ask("/", next), HasSubstr("The cursor does not belong to this search"));
    send_as(nullptr);
    EXPECT_EQ(send("GET", graphql("/", "{__typename}")).status, 401);
}

}  // namespace
}  // namespace annals::core
