// Criteria in a transaction, over what it writes itself.

#include "tests/core/transaction_fixture.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

TEST(Transaction, FollowsChainsOverWhatItWrites) {
    const auto practitioner = [](std::string_view id, std::string_view identifier) {
        return R"({"resourceType":"Practitioner","id":")" + std::string(id) +
               R"(","identifier":[{"value":")" + std::string(identifier) + R"("}]})";
    };
    const auto role = [](std::string_view id, std::string_view reference) {
        return R"({"resourceType":"PractitionerRole","id":")" + std::string(id) +
               R"(","practitioner":{"reference":")" + std::string(reference) + R"("}})";
    };
    const auto referring = [](std::string_view criteria) {
        return entry_of("PUT", "Observation/1",
                        R"({"resourceType":"Observation","id":"1","status":"final",)"
                        R"("code":{"text":"c"},"subject":{"reference":")" +
                            std::string(criteria) + R"("}})");
    };
    const std::string chained = "PractitionerRole?practitioner.identifier=x";
    const std::string reversed = "Practitioner?_has:PractitionerRole:practitioner:_id=r,r2";

    struct Case {
        std::vector<std::string> entries;
        std::string by_chain;  // what each finds; empty: nothing
        std::string by_has;
    };

    const std::string linked =
        entry_of("PUT", "Practitioner/q", practitioner("q", "x"), full_url("urn:uuid:q"));
    const std::vector<Case> cases = {
        // Both are written, and the link between them isn't resolved before they are.
        {{entry_of("PUT", "PractitionerRole/r2", role("r2", "urn:uuid:q")), linked,
          entry_of("DELETE", "PractitionerRole/r")},
         "PractitionerRole/r2",
         "Practitioner/q"},
        // One is written and the other stored.
        {{entry_of("PUT", "PractitionerRole/r", role("r", "Practitioner/s"))},
         "PractitionerRole/r",
         "Practitioner/s"},
        {{entry_of("PUT", "Practitioner/p", practitioner("p", "x")),
          entry_of("PUT", "Practitioner/s", practitioner("s", "y"))},
         "PractitionerRole/r",
         "Practitioner/p"},
        // What is stored of them counts no more.
        {{entry_of("PUT", "Practitioner/s", practitioner("s", "y"))}, "", "Practitioner/p"},
        {{entry_of("DELETE", "PractitionerRole/r")}, "", ""},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        for (const bool has : {false, true}) {
            TestService server;
            server.put("/Practitioner/p", practitioner("p", "y"));
            server.put("/Practitioner/s", practitioner("s", "x"));
            server.put("/PractitionerRole/r", role("r", "Practitioner/p"));
            std::vector<std::string> entries = c.entries;
            entries.push_back(referring(has ? reversed : chained));
            const Received answer = server.submit(bundle_of("transaction", entries));
            const std::string& expected = has ? c.by_has : c.by_chain;
            EXPECT_EQ(answer.status, expected.empty() ? 400 : 200) << i << has << answer.body;
            if (!expected.empty()) {
                EXPECT_EQ(subject_of(server, "Observation/1"), expected) << i << has;
            }
        }
    }
}

TEST(Transaction, FollowsTheChainsOfEachThatItWritesToWhatIsStored) {
    TestService server;
    std::vector<std::string> entries;
    for (const std::string i : {"1", "2", "3"}) {
        server.put("/Organization/" + i,
                   R"({"resourceType":"Organization","id":")" + i + R"(","name":"n)" + i + R"("})");
        server.put("/Patient/" + i, patient_json(i, R"("managingOrganization":{"reference":)"
                                                    R"("Organization/)" +
                                                        i + R"("})"));
        entries.push_back(entry_of("PUT", "Observation/" + i, observation_of(i, "Patient/" + i)));
    }
    server.put("/Organization/4", R"({"resourceType":"Organization","id":"4","name":"n4"})");
    entries.push_back(entry_of(
        "PUT", "Observation/4",
        R"({"resourceType":"Observation","id":"4","contained":[{"resourceType":"Patient","id":"p",)"
        R"("managingOrganization":{"reference":"Organization/4"}}],"status":"final",)"
        R"("code":{"text":"c"},"subject":{"reference":"#p"}})"));
    for (const std::string i : {"1", "2", "3", "4"}) {
        entries.push_back(entry_of(
            "PUT", "Observation/of" + i,
            observation_of("of" + i, "Observation?subject:Patient.organization.name=n" + i)));
    }
    const Received answer = server.submit(bundle_of("transaction", entries));
    EXPECT_EQ(answer.status, 200) << answer.body;
    for (const std::string i : {"1", "2", "3", "4"}) {
        EXPECT_EQ(subject_of(server, "Observation/of" + i), "Observation/" + i);
    }
}

TEST(Transaction, FollowsCanonicalsOverWhatItWrites) {
    const std::string questionnaire =
        R"({"resourceType":"Questionnaire","id":"q","url":"http://q","version":"1","title":"x","status":"active"})";
    const std::string response =
        R"({"resourceType":"QuestionnaireResponse","id":"r","questionnaire":"http://q|1","status":"completed"})";
    for (const bool stored : {false, true}) {
        for (const bool other_stored : {false, true}) {
            TestService server;
            std::vector<std::string> entries;
            const auto put = [&](bool before, const std::string& name, const std::string& body) {
                if (before) {
                    server.put("/" + name, body);
                } else {
                    entries.push_back(entry_of("PUT", name, body));
                }
            };
            put(stored, "Questionnaire/q", questionnaire);
            put(other_stored, "QuestionnaireResponse/r", response);
            entries.push_back(
                entry_of("PUT", "Observation/1",
                         observation_of("1", "QuestionnaireResponse?questionnaire.title=x")));
            entries.push_back(
                entry_of("PUT", "Observation/2",
                         observation_of(
                             "2", "Questionnaire?_has:QuestionnaireResponse:questionnaire:_id=r")));
            const Received answer = server.submit(bundle_of("transaction", entries));
            EXPECT_EQ(answer.status, 200) << stored << other_stored << answer.body;
            EXPECT_EQ(subject_of(server, "Observation/1"), "QuestionnaireResponse/r");
            EXPECT_EQ(subject_of(server, "Observation/2"), "Questionnaire/q");
        }
    }
}

TEST(Transaction, SaysOfTheIdInAConditionalUpdateWhatTheUpdateAloneSays) {
    TestService server;
    server.put("/Patient/m", patient_json("m", R"("identifier":[{"value":"x"}])"));
    const std::string body = R"({"resourceType":"Patient","id":"a b"})";
    for (const auto& [criteria, code] :
         {std::pair("identifier=x", "invalid"), std::pair("identifier=none", "value")}) {
        const Received alone = server.send({HttpMethod::put, "/Patient", criteria, body});
        EXPECT_EQ(alone.status, 400);
        EXPECT_EQ(Json(alone.body).issue("code"), code);
        expect_failure(
            server.submit(bundle_of("transaction",
                                    {entry_of("PUT", std::string("Patient?") + criteria, body)})),
            code, "'a b'");
    }
}

TEST(Transaction, AppliesConditionsAfterTheEntriesBeforeThem) {
    TestService server;
    const std::string body = patient_json("", R"("identifier":[{"value":"x"}])");
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const std::string create = entry_of("POST", "Patient", body, full_url("urn:uuid:a"),
                                        R"("ifNoneExist":"identifier=x")");
    const std::string again = entry_of("POST", "Patient", body, full_url("urn:uuid:b"),
                                       R"("ifNoneExist":"identifier=x")");
    const Json bundle(
        server.submit(bundle_of("transaction", {create, again, entry_of("DELETE", "Patient/1")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200 204");
    EXPECT_EQ(name_in(bundle, 0), name_in(bundle, 1));
}

TEST(Transaction, UpdatesAndDeletesByCriteria) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    server.put("/Patient/2", patient_json("2", R"("identifier":[{"value":"y"}])"));
    const Json bundle(
        server
            .submit(bundle_of("transaction",
                              {entry_of("PUT", "Patient?identifier=x", patient_json("")),
                               entry_of("PUT", "Patient?identifier=new", patient_json("")),
                               entry_of("DELETE", "Patient?identifier=y"),
                               entry_of("DELETE", "Patient?identifier=none")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 201 204 204");
    EXPECT_EQ(name_in(bundle, 0), "Patient/1");
    EXPECT_EQ(server.get("/Patient/2").status, 410);
}

TEST(Transaction, FindsAmongManyThatItWrites) {
    TestService server;
    const auto patient = [](int number) {
        return patient_json(
            "", fmt::format(R"("active":true,"identifier":[{{"value":"{}"}},{{"value":"all"}}])",
                            number));
    };
    const auto create = [&](int number, const std::string& criteria) {
        return entry_of("POST", "Patient", patient(number), {},
                        fmt::format(R"("ifNoneExist":"{}")", criteria));
    };
    std::vector<std::string> entries;
    for (int i = 0; i < 300; ++i) {
        entries.push_back(create(i, fmt::format("identifier={}", i)));
    }
    for (int i = 0; i < 300; ++i) {
        entries.push_back(create(1000 + i, fmt::format("identifier={},{}", i, 5000 + i)));
    }
    entries.push_back(create(7, "identifier=7&identifier=all&active:not=false"));
    const Json bundle(server.submit(bundle_of("transaction", entries)).body);
    for (std::size_t i = 0; i < 300; ++i) {
        EXPECT_EQ(name_in(bundle, 300 + i), name_in(bundle, i)) << i;
    }
    EXPECT_EQ(name_in(bundle, 600), name_in(bundle, 7));
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).live, 300U);
    entries.push_back(create(8, "identifier=all"));
    expect_failure(server.submit(bundle_of("transaction", entries)), "multiple-matches",
                   "Bundle.entry[601] POST Patient: 412 ");
}

TEST(Transaction, FindsWhatTakesLongerThanATurn) {
    TestService server;
    std::vector<std::string> many(2000, entry_of("POST", "Patient", patient_json("")));
    const std::string needle = patient_json("", R"("name":[{"text":"needle"}])");
    many.push_back(
        entry_of("PUT", "Patient/1", patient_json("1", R"("name":[{"text":"needle"}])")));
    server.submit(bundle_of("batch", many));
    const std::string found = R"("ifNoneExist":"_content=needle")";
    const std::string absent = R"("ifNoneExist":"_content=other")";
    // What an entry writes is found by those after it.
    const std::string other = patient_json("", R"("name":[{"text":"other"}])");
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Patient", needle, full_url("urn:uuid:a"), found),
                 entry_of("POST", "Patient", other, full_url("urn:uuid:b"), absent),
                 entry_of("POST", "Patient", other, full_url("urn:uuid:c"), absent),
                 entry_of("PUT", "Observation/1", observation_of("1", "Patient?_content=needle"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 201 200 201");
    EXPECT_EQ(name_in(bundle, 0), "Patient/1");
    EXPECT_EQ(name_in(bundle, 1), name_in(bundle, 2));
    EXPECT_EQ(subject_of(server, "Observation/1"), "Patient/1");
}

TEST(Transaction, IsNotRefusedForWhatCameBetweenItsCriteria) {
    TestService server;
    server.submit(bundle_of(
        "batch", std::vector<std::string>(2000, entry_of("POST", "Patient", patient_json("")))));
    const std::string create =
        entry_of("POST", "Patient", patient_json("", R"("name":[{"text":"needle"}])"), {},
                 R"("ifNoneExist":"_content=needle")");
    // Each search takes several turns: the first transaction is done while the second one has looked for one of its entries.
    const std::vector<Received> answers = server.send_all(
        {{HttpMethod::post, "", {}, bundle_of("transaction", {create})},
         {HttpMethod::post, "", {}, bundle_of("transaction", std::vector(10, create))}});
    EXPECT_EQ(answers[0].status, 200) << answers[0].body;
    EXPECT_EQ(answers[1].status, 200) << answers[1].body;
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).live, 2001U);

    std::vector<std::string> entries(10, entry_of("POST", "Patient", patient_json(""), {},
                                                  R"("ifNoneExist":"_content=needle")"));
    entries[0] = create;
    entries.push_back(
        entry_of("PUT", "Observation/1", observation_of("1", "Patient?_content=needle")));
    const std::vector<Received> others =
        server.send_all({{HttpMethod::delete_, "/Patient", "_content=needle"},
                         {HttpMethod::post, "", {}, bundle_of("transaction", entries)}});
    EXPECT_EQ(others[0].status, 204) << others[0].body;
    EXPECT_EQ(others[1].status, 200) << others[1].body;
}

// The criteria take several turns, in which the other request is done.
TEST(Transaction, DecidesAgainWhereWhatItFoundDeletedComesBack) {
    Config config;
    config.delete_absent = 204;
    TestService server(config);
    server.submit(bundle_of(
        "batch", std::vector<std::string>(2000, entry_of("POST", "Patient", patient_json("")))));
    server.put("/Observation/deleted", observation_of("deleted", "Patient/1"));
    server.send({HttpMethod::delete_, "/Observation/deleted"});
    for (const std::string_view id : {"deleted", "never-was"}) {
        const std::string name = fmt::format("Observation/{}", id);
        const std::vector<Received> answers = server.send_all(
            {{HttpMethod::post,
              "",
              {},
              bundle_of("transaction", {entry_of("DELETE", name),
                                        entry_of("POST", "Patient", patient_json(""), {},
                                                 R"("ifNoneExist":"_content=needle")")})},
             {HttpMethod::put, "/" + name, {}, observation_of(id, "Patient/1")}});
        EXPECT_EQ(Json(answers[0].body).statuses(), "204 201");
        EXPECT_EQ(answers[1].status, 201) << answers[1].body;
        EXPECT_EQ(server.get("/" + name).status, 410) << id;
    }
}

TEST(Transaction, FindsEverythingAtOneMomentAlsoIfItWritesNothing) {
    TestService server;
    server.submit(bundle_of(
        "batch", std::vector<std::string>(2000, entry_of("POST", "Patient", patient_json("")))));
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/slow", patient_json("slow", R"("name":[{"text":"needle"}])"));
    const auto find = [](std::string_view criteria) {
        return entry_of("POST", "Patient", patient_json(""), {},
                        fmt::format(R"("ifNoneExist":"{}")", criteria));
    };
    std::vector<std::string> finds(8, find("_content=needle"));
    finds.front() = find("_id=1");
    finds.back() = find("_id=2");
    // Patient/1 and Patient/2 never exist both.
    const std::vector<Received> answers = server.send_all(
        {{HttpMethod::post, "", {}, bundle_of("transaction", finds)},
         {HttpMethod::post,
          "",
          {},
          bundle_of("transaction", {entry_of("DELETE", "Patient/1"),
                                    entry_of("PUT", "Patient/2", patient_json("2"))})}});
    EXPECT_EQ(Json(answers[0].body).statuses(), "201 200 200 200 200 200 200 200");
    EXPECT_EQ(Json(answers[1].body).statuses(), "204 201");
}

TEST(Transaction, DecidesAgainWhereWhatItsCriteriaFoundIsBeingDeleted) {
    Config config;
    config.integrity_on_write = true;
    TestService server(config);
    const std::string patient = patient_json("", R"("identifier":[{"value":"x"}])");
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const auto submit = [](std::string bundle) {
        return Sent{HttpMethod::post, "", {}, std::move(bundle)};
    };
    const std::string replaces =
        bundle_of("transaction", {entry_of("DELETE", "Patient?identifier=x"),
                                  entry_of("POST", "Patient", patient, full_url("urn:uuid:p"),
                                           R"("ifNoneExist":"identifier=x")")});
    const std::string refers =
        bundle_of("transaction",
                  {entry_of("POST", "Observation", observation_of("", "Patient?identifier=x"))});
    const std::string finds = bundle_of(
        "transaction", {entry_of("POST", "Patient", patient, full_url("urn:uuid:p"),
                                 R"("ifNoneExist":"identifier=x")"),
                        entry_of("POST", "Observation", observation_of("", "urn:uuid:p"))});
    for (const Received& answer :
         server.send_all({submit(replaces), submit(refers), submit(finds)})) {
        EXPECT_EQ(answer.status, 200) << answer.body;
    }
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).live, 1U);
    const auto answers =
        server.send_all({{HttpMethod::delete_, "/Patient", "identifier=x"}, submit(finds)});
    EXPECT_EQ(answers[0].status, 204) << answers[0].body;
    EXPECT_EQ(answers[1].status, 200) << answers[1].body;
}

TEST(Transaction, LooksForCriteriaBesideAPatchOfWhatIsBeingWritten) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string nothing =
        R"({"resourceType":"Binary","contentType":"application/json-patch+json","data":"W10="})";
    // The update is in flight when the patch is decided, and the criteria are looked at after that.
    const auto answers = server.send_all(
        {{HttpMethod::put, "/Patient/1", {}, patient_json("1")},
         {HttpMethod::post,
          "",
          {},
          bundle_of("transaction", {entry_of("PATCH", "Patient/1", nothing),
                                    entry_of("PUT", "Patient?active=true", patient_json(""))})}});
    EXPECT_EQ(answers[0].status, 200) << answers[0].body;
    EXPECT_EQ(answers[1].status, 200) << answers[1].body;
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{3});
}

TEST(Transaction, TellsWhatItFoundAlsoIfThatIsChangedOrDeletedBehindIt) {
    constexpr std::size_t kEach = 16;
    TestService server;
    std::vector<Sent> all;
    std::vector<Sent> behind;
    for (std::size_t i = 0; i < kEach; ++i) {
        const std::string id = fmt::format("{}", i);
        const std::string found = fmt::format("/Patient/{}", id);
        server.put(found, patient_json(id));
        all.push_back(
            {HttpMethod::post,
             "",
             {},
             bundle_of("transaction", {entry_of("POST", "Patient", patient_json(""), {},
                                                fmt::format(R"("ifNoneExist":"_id={}")", id)),
                                       entry_of("POST", "Patient", patient_json(""))})});
        behind.push_back(i % 2 == 0 ? Sent{HttpMethod::delete_, found, {}, ""}
                                    : Sent{HttpMethod::put, found, {}, patient_json(id)});
    }
    all.insert(all.end(), behind.begin(), behind.end());
    const std::vector<Received> answers = server.send_all(all);
    for (std::size_t i = 0; i < kEach; ++i) {
        ASSERT_EQ(answers[i].status, 200) << answers[i].body;
        const Json bundle(answers[i].body);
        const TypeId type = *find_resource_type("Patient");
        const std::string created = name_in(bundle, 1).substr(std::string_view("Patient/").size());
        const auto own = server.store().current(type, created);
        const auto theirs = server.store().version(type, fmt::format("{}", i), VersionNumber{2});
        ASSERT_TRUE(own && theirs);
        if (theirs->position < own->position) {
            continue;  // the other one was faster
        }
        EXPECT_EQ(bundle.statuses(), "200 201");
        const auto response = bundle.entry(0)["response"];
        ASSERT_NE(response["location"].string(), "") << answers[i].body;
        EXPECT_EQ(name_in(bundle, 0), fmt::format("Patient/{}", i));
        EXPECT_EQ(response["etag"].string(), "W/\"1\"");
    }
}

// Nothing is committed then that what it found could depend on: a deletion is under way that its criteria don't see.
TEST(Transaction, TellsWhatItFoundAlsoIfItWritesNothing) {
    constexpr std::size_t kEach = 100;
    TestService server;
    std::vector<Sent> all;
    for (std::size_t i = 0; i < kEach; ++i) {
        const std::string found = fmt::format("/Patient/{}", i);
        server.put(found, patient_json(fmt::format("{}", i)));
        std::vector<std::string> entries(4, entry_of("GET", "Patient?_count=20"));
        entries.push_back(entry_of("POST", "Patient", patient_json(""), {},
                                   fmt::format(R"("ifNoneExist":"_id={}")", i)));
        all.push_back({HttpMethod::delete_, found, {}, ""});
        all.push_back({HttpMethod::post, "", {}, bundle_of("transaction", entries)});
    }
    const std::vector<Received> answers = server.send_all(all);
    for (std::size_t i = 1; i < answers.size(); i += 2) {
        ASSERT_EQ(answers[i].status, 200) << answers[i].body;
        const Json bundle(answers[i].body);
        const auto entry = bundle.entry(4);
        ASSERT_NE(entry["response"]["location"].string(), "") << entry.raw();
    }
}

}  // namespace
}  // namespace annals::core
