#include "core/interactions/transaction.h"

#include "tests/core/bundle_fixture.h"
#include "tests/support/files.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {
namespace {

std::string observation_of(std::string_view id, std::string_view subject) {
    std::string text = R"({"resourceType":"Observation","status":"final","code":{"text":"c"})";
    if (!id.empty()) {
        text += R"(,"id":")" + std::string(id) + '"';
    }
    return text + R"(,"subject":{"reference":")" + std::string(subject) + R"("}})";
}

std::string full_url(std::string_view url) {
    return R"("fullUrl":")" + std::string(url) + '"';
}

/// "Patient/1" of ".../Patient/1/_history/2".
std::string name_in(const Json& bundle, std::size_t index) {
    std::string location = bundle.entry(index)["response"]["location"].string();
    location = location.substr(0, location.find("/_history/"));
    return location.substr(kBase.size() + 1);
}

std::string subject_of(TestService& server, const std::string& name) {
    return Json(server.get("/" + name).body).root()["subject"]["reference"].string();
}

void expect_failure(const Received& answer, std::string_view code, std::string_view diagnostics) {
    EXPECT_EQ(answer.status, 400);
    const Json outcome(answer.body);
    EXPECT_EQ(outcome.issue("code"), code);
    EXPECT_NE(outcome.issue("diagnostics").find(diagnostics), std::string::npos)
        << outcome.issue("diagnostics");
}

TEST(Transaction, AppliesAllEntriesAtOneInstant) {
    TestService server;
    server.put("/Patient/old", patient_json("old"));
    const Received answer = server.submit(bundle_of(
        "transaction",
        {entry_of("GET", "Patient/new"), entry_of("PUT", "Patient/new", patient_json("new")),
         entry_of("POST", "Patient", patient_json("ignored"), full_url("urn:uuid:1")),
         entry_of("DELETE", "Patient/old")}));
    EXPECT_EQ(answer.status, 200);
    const Json bundle(answer.body);
    EXPECT_TRUE(bundle.root()["type"].equals("transaction-response"));
    EXPECT_EQ(bundle.statuses(), "200 201 201 204");
    EXPECT_TRUE(bundle.entry(0)["resource"]["id"].equals("new"));
    EXPECT_TRUE(bundle.entry(2)["fullUrl"].equals("urn:uuid:1"));
    const std::string instant = bundle.entry(1)["response"]["lastModified"].string();
    EXPECT_EQ(instant.size(), kInstantChars);
    EXPECT_EQ(bundle.entry(2)["response"]["lastModified"].string(), instant);
    EXPECT_EQ(bundle.entry(3)["response"]["lastModified"].string(), instant);
    EXPECT_EQ(bundle.entry(3)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(server.get("/Patient/old").status, 410);
    EXPECT_NE(name_in(bundle, 2), "Patient/ignored");
}

TEST(Transaction, ResolvesLinksInEitherDirection) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Observation", observation_of("", "urn:uuid:p"),
                          full_url("urn:uuid:o")),
                 entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:p")),
                 entry_of("POST", "Observation", observation_of("", "urn:oid:1.2.3"),
                          full_url("urn:uuid:o2")),
                 entry_of("PUT", "Patient/put", patient_json("put"), full_url("urn:oid:1.2.3"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201 201 201");
    EXPECT_EQ(subject_of(server, name_in(bundle, 0)), name_in(bundle, 1));
    EXPECT_EQ(subject_of(server, name_in(bundle, 2)), "Patient/put");
}

TEST(Transaction, ResolvesFullUrlsOfAnotherServer) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Patient", patient_json("7"),
                          full_url("http://a/fhir/Patient/7")),
                 entry_of("POST", "Observation", observation_of("", "http://a/fhir/Patient/7"),
                          full_url("http://a/fhir/Observation/1")),
                 entry_of("POST", "Observation", observation_of("", "Patient/7"),
                          full_url("http://a/fhir/Observation/2")),
                 entry_of("POST", "Observation", observation_of("", "Patient/7"),
                          full_url("urn:uuid:3"))}))
            .body);
    EXPECT_EQ(subject_of(server, name_in(bundle, 1)), name_in(bundle, 0));
    EXPECT_EQ(subject_of(server, name_in(bundle, 2)), name_in(bundle, 0));
    EXPECT_EQ(subject_of(server, name_in(bundle, 3)), "Patient/7");
}

TEST(Transaction, KeepsThePartOfAResourceThatALinkNames) {
    TestService server;
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Patient/1", patient_json("1"), full_url("urn:uuid:1")),
                 entry_of("PUT", "Observation/1", observation_of("1", "urn:uuid:1#a/b"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201");
    const std::string stored = server.get("/Observation/1").body;
    EXPECT_EQ(Json(stored).root()["subject"]["reference"].string(), "Patient/1#a/b");
    EXPECT_EQ(server.put("/Observation/1", stored).status, 200);
}

TEST(Transaction, ResolvesLinksInUrisAndNarrativesButNotInCanonicals) {
    TestService server;
    const std::string body =
        R"({"resourceType":"Patient","id":"1","text":{"status":"generated",)"
        R"("div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><a href=\"urn:uuid:2\">it</a>urn:uuid:2</div>"},)"
        R"("extension":[{"url":"http://x","valueUri":"urn:uuid:2"},)"
        R"({"url":"http://x","valueCanonical":"urn:uuid:2"}]})";
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", body),
                                              entry_of("PUT", "Patient/2", patient_json("2"),
                                                       full_url("urn:uuid:2"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201");
    const std::string stored = server.get("/Patient/1").body;
    EXPECT_NE(stored.find(R"(<a href=\"Patient/2\">it</a>urn:uuid:2</div>)"), std::string::npos);
    EXPECT_NE(stored.find(R"("valueUri":"Patient/2")"), std::string::npos);
    EXPECT_NE(stored.find(R"("valueCanonical":"urn:uuid:2")"), std::string::npos);
}

TEST(Transaction, LeavesTheEntriesOfABundleThatItStoresAlone) {
    TestService server;
    const std::string document =
        R"({"resourceType":"Bundle","type":"document","identifier":{"system":"urn:x","value":"1",)"
        R"("assigner":{"reference":"urn:uuid:p"}},"entry":[)"
        R"({"fullUrl":"urn:uuid:o","resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"urn:uuid:p"}}},)"
        R"({"fullUrl":"http://a/Observation/1","resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"Patient/7"},"performer":[{"reference":"Patient?identifier=none"}]}},)"
        R"({"fullUrl":"urn:uuid:p","resource":{"resourceType":"Patient"}}]})";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:p")),
                 entry_of("POST", "Patient", patient_json("7"), full_url("http://a/Patient/7")),
                 entry_of("POST", "Bundle", document, full_url("http://a/Bundle/1"))}))
            .body);
    ASSERT_EQ(bundle.statuses(), "201 201 201");
    const std::string stored = server.get("/" + name_in(bundle, 2)).body;
    const std::string entries = document.substr(document.find(R"("entry":)"));
    EXPECT_TRUE(stored.ends_with(entries)) << stored;
    EXPECT_NE(stored.find(R"("assigner":{"reference":")" + name_in(bundle, 0)), std::string::npos)
        << stored;
}

TEST(Transaction, KeepsEverythingButLinksByteForByte) {
    TestService server;
    const std::string body =
        R"({"resourceType":"Observation","id":"1","status":"final","code":{"text":"c"},"valueQuantity":{"value":1.00},)"
        R"("unknown":{"x":[1e3,"\u00e9"]},"subject":{"reference":"urn:uuid:p","display":"d"}})";
    server.submit(bundle_of(
        "transaction", {entry_of("PUT", "Observation/1", body),
                        entry_of("PUT", "Patient/p", patient_json("p"), full_url("urn:uuid:p"))}));
    const std::string stored = server.get("/Observation/1").body;
    EXPECT_NE(
        stored.find(
            R"("valueQuantity":{"value":1.00},"unknown":{"x":[1e3,"\u00e9"]},"subject":{"reference":"Patient/p","display":"d"}})"),
        std::string::npos)
        << stored;
}

TEST(Transaction, ResolvesConditionalReferences) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"system":"urn:a","value":"x"}])"));
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "Observation/1",
                          observation_of("1", "Patient?identifier=urn:a|x")),
                 entry_of("PUT", "Observation/2", observation_of("2", "Patient?identifier=y")),
                 entry_of("PUT", "Observation/3", observation_of("3", "Patient?_id=1")),
                 entry_of("PUT", "Patient/2",
                          patient_json("2", R"("identifier":[{"value":"y"}])"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201 201 201");
    EXPECT_EQ(subject_of(server, "Observation/1"), "Patient/1");
    EXPECT_EQ(subject_of(server, "Observation/2"), "Patient/2");
    EXPECT_EQ(subject_of(server, "Observation/3"), "Patient/1");
}

// Resolved, the links of the second take more room than the bundle's parse left.
TEST(Transaction, IsFoundByWhatItsLinksWereResolvedTo) {
    for (const std::size_t links : {1U, 400U}) {
        TestService server;
        const std::string id(64, 'p');
        std::string group =
            R"({"resourceType":"Group","id":"1","type":"person","actual":true,"member":[)";
        for (std::size_t i = 0; i < links; ++i) {
            group += i == 0 ? "" : ",";
            group += R"({"entity":{"reference":"urn:oid:1.2"}})";
        }
        group += "]}";
        const Json bundle(
            server
                .submit(bundle_of("transaction", {entry_of("PUT", "Group/1", group),
                                                  entry_of("PUT", "Patient/" + id, patient_json(id),
                                                           full_url("urn:oid:1.2"))}))
                .body);
        EXPECT_EQ(bundle.statuses(), "201 201");
        const auto total = [&](const std::string& member) {
            const Received answer = server.send({HttpMethod::get, "/Group", "member=" + member});
            return std::string(Json(answer.body).root()["total"].raw());
        };
        EXPECT_EQ(total("Patient/" + id), "1");
        EXPECT_EQ(total("urn:oid:1.2"), "0");
    }
}

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

TEST(Transaction, FindsWhatItWritesByItsResolvedLinks) {
    TestService server;
    const Json bundle(
        server
            .submit(
                bundle_of("transaction",
                          {entry_of("PUT", "Patient/p", patient_json("p"), full_url("urn:uuid:p")),
                           entry_of("POST", "Observation", observation_of("", "urn:uuid:p"), {},
                                    R"("ifNoneExist":"subject=Patient/p")"),
                           entry_of("PUT", "Observation/o", observation_of("o", "urn:uuid:p")),
                           entry_of("PUT", "Observation/q",
                                    observation_of("q", "Observation?subject=Patient/p&_id=o"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 201 201 201");
    EXPECT_EQ(subject_of(server, "Observation/q"), "Observation/o");
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

TEST(Transaction, FindsWhatItWritesByLinksThatBecameKnownSinceItLooked) {
    TestService server;
    const std::string other = observation_of("", "Patient/other");
    const auto unless = [&](std::string_view criteria) {
        return entry_of("POST", "Observation", other, {},
                        fmt::format(R"("ifNoneExist":"{}")", criteria));
    };
    const std::vector<std::pair<std::string, std::string>> links{
        {"urn:uuid:7", "urn:uuid:7"}, {"Patient/7", "http://a/fhir/Patient/7"}};
    int cases = 0;
    for (const auto& [link, patient_url] : links) {
        for (const bool looks : {false, true}) {
            const std::string id = fmt::format("p{}", ++cases);
            const std::string identifier = fmt::format(R"("identifier":[{{"value":"{}"}}])", id);
            server.put("/Patient/" + id, patient_json(id, identifier));
            std::vector<std::string> entries{entry_of("POST", "Observation",
                                                      observation_of("", link),
                                                      full_url("http://a/fhir/Observation/1"))};
            if (looks) {
                entries.push_back(unless("subject=Patient/none"));
            }
            entries.push_back(entry_of("POST", "Patient", patient_json("", identifier),
                                       full_url(patient_url),
                                       fmt::format(R"("ifNoneExist":"identifier={}")", id)));
            entries.push_back(unless("subject=Patient/" + id));
            entries.push_back(unless("subject.identifier=" + id));
            const Json bundle(server.submit(bundle_of("transaction", entries)).body);
            EXPECT_EQ(bundle.statuses(), looks ? "201 201 200 200 200" : "201 200 200 200") << link;
        }
    }
}

TEST(Transaction, LeavesConditionalReferencesAloneThatAPatchOnlyPassesOn) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.put("/Observation/1", observation_of("1", "Patient?_id=absent"));
    const auto patch = [&](std::string_view path, std::string_view value) {
        const std::string parameters = fmt::format(
            R"({{"resourceType":"Parameters","parameter":[{{"name":"operation","part":[)"
            R"({{"name":"type","valueCode":"add"}},{{"name":"path","valueString":"Observation"}},)"
            R"({{"name":"name","valueString":"{}"}},{{"name":"value",{}}}]}}]}})",
            path, value);
        return server
            .submit(bundle_of("transaction", {entry_of("PATCH", "Observation/1", parameters)}))
            .status;
    };
    EXPECT_EQ(patch("focus", R"("valueReference":{"reference":"Patient?_id=1"})"), 200);
    EXPECT_EQ(subject_of(server, "Observation/1"), "Patient?_id=absent");
    EXPECT_NE(server.get("/Observation/1").body.find(R"("focus":[{"reference":"Patient/1"}])"),
              std::string::npos);
    EXPECT_EQ(patch("focus", R"("valueReference":{"reference":"Patient?_id=none"})"), 400);
}

TEST(Transaction, FailsWhenAConditionalReferenceNamesNoneOrSeveral) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    server.put("/Patient/2", patient_json("2", R"("identifier":[{"value":"x"}])"));
    const auto submit = [&](std::string_view reference) {
        return server.submit(bundle_of(
            "transaction", {entry_of("PUT", "Patient/3", patient_json("3")),
                            entry_of("POST", "Observation", observation_of("", reference))}));
    };
    expect_failure(submit("Patient?identifier=x"), "multiple-matches",
                   "Bundle.entry[1] POST Observation: 412 ");
    expect_failure(submit("Patient?identifier=none"), "not-found",
                   "Bundle.entry[1] POST Observation: 404 ");
    expect_failure(submit("Patient?nothing=x"), "invalid", "nothing");
    EXPECT_EQ(server.get("/Patient/3").status, 404);

    for (const std::string id : {"4", "5", "6", "7", "8"}) {
        server.put("/Patient/" + id, patient_json(id, R"("identifier":[{"value":"x"}])"));
    }
    expect_failure(submit("Patient?identifier=x"), "multiple-matches",
                   "the criteria match 7 Patient resources");
}

TEST(Transaction, LinksToTheResourceThatAConditionalCreateFinds) {
    TestService server;
    const std::string body = patient_json("", R"("identifier":[{"value":"x"}])");
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const Json bundle(
        server
            .submit(bundle_of("transaction",
                              {entry_of("PUT", "Observation/1", observation_of("1", "urn:uuid:p")),
                               entry_of("POST", "Patient", body, full_url("urn:uuid:p"),
                                        R"("ifNoneExist":"identifier=x")")}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201 200");
    EXPECT_EQ(name_in(bundle, 1), "Patient/1");
    EXPECT_EQ(subject_of(server, "Observation/1"), "Patient/1");

    const Received told = server.send(
        {HttpMethod::post,
         "",
         {},
         bundle_of("transaction",
                   {entry_of("POST", "Patient", body, {}, R"("ifNoneExist":"identifier=x")")}),
         {{"Prefer", "return=OperationOutcome"}}});
    EXPECT_NE(told.body.find("Patient/1 matches: nothing created"), std::string::npos);
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).versions, 1U);
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

TEST(Transaction, ResolvesMoreConditionalReferencesOfOneResourceThanFitIntoATurn) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    constexpr int kReferences = 2000;
    std::string list =
        R"({"resourceType":"List","id":"1","status":"current","mode":"working","entry":[)";
    for (int i = 0; i < kReferences; ++i) {
        list += fmt::format(R"({}{{"item":{{"reference":"Patient?identifier=x&_id:not={}"}}}})",
                            i == 0 ? "" : ",", i + 2);
    }
    const Received answer =
        server.submit(bundle_of("transaction", {entry_of("PUT", "List/1", list + "]}")}));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const Json stored(server.get("/List/1").body);
    int resolved = 0;
    for (const json::Value entry : stored.root()["entry"].elements()) {
        resolved += entry["item"]["reference"].equals("Patient/1") ? 1 : 0;
    }
    EXPECT_EQ(resolved, kReferences);
}

TEST(Transaction, IsNotAppliedWhenItsTimeIsOver) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(0);
    TestService server(config);
    const Received answer =
        server.submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1"))}));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(server.get("/Patient/1").status, 404);
}

TEST(Transaction, NamesTheEntryWhoseIfMatchFailsAndAppliesNothing) {
    TestService server;
    server.put("/Patient/9", patient_json("9"));
    const Received answer = server.submit(
        bundle_of("transaction",
                  {entry_of("POST", "Patient", patient_json("")), entry_of("DELETE", "Patient/9"),
                   entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"2\"")")}));
    expect_failure(answer, "conflict", "Bundle.entry[2] PUT Patient/1: 412 If-Match");
    const Json outcome(answer.body);
    EXPECT_NE(answer.body.find(R"("expression":["Bundle.entry[2]"])"), std::string::npos);
    EXPECT_NE(answer.body.find("transaction rolled back"), std::string::npos);
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, HonoursIfMatch) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string bundle =
        bundle_of("transaction",
                  {entry_of("PUT", "Patient/1", patient_json("1"), {}, R"("ifMatch":"W/\"1\"")")});
    EXPECT_EQ(Json(server.submit(bundle).body).statuses(), "200");
    expect_failure(server.submit(bundle), "conflict", "expected version 1, actual version 2");
}

TEST(Transaction, HonoursIfNoneMatch) {
    TestService server;
    const auto one = [&](const std::string& method, const std::string& body) {
        return server.submit(bundle_of(
            "transaction", {entry_of(method, "Patient/1", body, {}, R"("ifNoneMatch":"*")")}));
    };
    EXPECT_EQ(Json(one("PUT", patient_json("1")).body).statuses(), "201");
    expect_failure(one("PUT", patient_json("1")), "conflict", "Patient/1 exists as version 1");
    expect_failure(one("DELETE", ""), "conflict", "Patient/1 exists as version 1");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, FailsWithTheStatusOfTheFaultInside) {
    Config config;
    config.update_create = false;
    TestService server(config);
    const std::string good = entry_of("POST", "Patient", patient_json(""));
    const std::vector<std::tuple<std::string, std::string, std::string>> cases{
        {entry_of("PUT", "Patient/1", patient_json("1")), "not-found",
         "Bundle.entry[1] PUT Patient/1: 404 "},
        {entry_of("DELETE", "Patient/1"), "not-found", "Bundle.entry[1] DELETE Patient/1: 404 "},
        {entry_of("GET", "Patient/1"), "not-found", "Bundle.entry[1] GET Patient/1: 404 "},
        {entry_of("GET", "Nothing/1"), "not-found", ": 404 "},
        {entry_of("DELETE", "Patient/a_b"), "not-found", ": 404 "},
        {entry_of("PUT", "Patient/1", patient_json("2")), "invalid", ": 400 "},
        {entry_of("PUT", "Patient/1", patient_json("")), "required", ": 400 "},
        {entry_of("PUT", "Patient/a_b", patient_json("a_b")), "value", ": 400 "},
        {entry_of("PUT", "Patient", patient_json("")), "invalid", ": 400 "},
        {entry_of("DELETE", "Patient"), "invalid", ": 400 "},
        {entry_of("POST", "Patient/1", patient_json("1")), "not-supported", ": 405 "},
        {entry_of("POST", "", bundle_of("batch", {})), "not-supported", ": 405 "},
        {entry_of("POST", "Patient/$validate", patient_json("")), "not-supported", ": 405 "},
        {entry_of("GET", "Patient/$export"), "not-supported", ": 405 "},
        {entry_of("PATCH", "Patient/1", patient_json("1")), "invalid", ": 400 "},
        {entry_of("POST", "Patient"), "required", ": 400 "},
        {entry_of("POST", "Patient", observation_of("", "Patient/1")), "invalid", ": 400 "},
        {entry_of("POST", "Patient", R"({"resourceType":"Patient","meta":1})"), "structure",
         ": 400 "},
        {entry_of("POST", "Patient", patient_json(""), {}, R"("ifNoneExist":"")"), "invalid",
         ": 400 "},
        {entry_of("POST", "Patient", patient_json(""), R"("fullUrl":1)"), "structure", ": 400 "},
        {"{}", "required", "Bundle.entry[1]: 400 "},
        {"7", "structure", "Bundle.entry[1]: 400 "},
    };
    for (const auto& [entry, code, diagnostics] : cases) {
        SCOPED_TRACE(entry);
        expect_failure(server.submit(bundle_of("transaction", {good, entry})), code, diagnostics);
    }
    EXPECT_EQ(server.store().totals().versions, 0U);
}

TEST(Transaction, RefusesToWriteOneResourceTwice) {
    TestService server;
    server.put("/Patient/1", patient_json("1", R"("identifier":[{"value":"x"}])"));
    const std::string put = entry_of("PUT", "Patient/1", patient_json("1"));
    for (const std::string& other : {put, entry_of("DELETE", "Patient/1"),
                                     entry_of("PUT", "Patient?identifier=x", patient_json(""))}) {
        expect_failure(server.submit(bundle_of("transaction", {other, put})), "invalid",
                       "Patient/1 is written by Bundle.entry[0] already");
    }
    expect_failure(
        server.submit(bundle_of(
            "transaction",
            {entry_of("PUT", "Patient/2", patient_json("2", R"("identifier":[{"value":"z"}])")),
             entry_of("PUT", "Patient?identifier=z&_lastUpdated=gt2000", patient_json(""))})),
        "invalid", "Patient/2 is written by Bundle.entry[0] already");
    // Also where criteria match nothing, and the body names it.
    expect_failure(server.submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1"),
                                                           entry_of("PUT", "Patient?identifier=y",
                                                                    patient_json("1"))})),
                   "invalid", "Patient/1 is written by Bundle.entry[0] already");
    expect_failure(server.submit(bundle_of(
                       "transaction",
                       {entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:1")),
                        entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:1"))})),
                   "invalid", "Bundle.entry[1]");
    EXPECT_EQ(server.store().totals().versions, 1U);
}

TEST(Transaction, JudgesItsReadsByTheStateAfter) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(bundle_of("transaction",
                              {entry_of("GET", "Patient/1"), entry_of("GET", "Patient/1/_history"),
                               entry_of("PUT", "Patient/1", patient_json("1"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200 200");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(bundle.entry(1)["resource"]["entry"].size(), 2U);
    expect_failure(server.submit(bundle_of("transaction", {entry_of("GET", "Patient/1"),
                                                           entry_of("DELETE", "Patient/1")})),
                   "deleted", "Bundle.entry[0] GET Patient/1: 410 ");
    EXPECT_EQ(server.get("/Patient/1").status, 200);
}

TEST(Transaction, ReadsWhatOnlyItsOwnWritesMakeReadable) {
    TestService server;
    server.put("/ValueSet/before", R"({"resourceType":"ValueSet","id":"before","status":"active",
        "url":"http://x/before","compose":{"include":[{"system":"http://x/codes"}]}})");
    const std::string codes = R"({"resourceType":"CodeSystem","id":"codes","status":"active",
        "url":"http://x/codes","content":"complete","concept":[{"code":"a"}]})";
    const std::string values =
        R"({"resourceType":"ValueSet","status":"active","url":"http://x/values",
        "compose":{"include":[{"system":"http://x/codes"}]}})";
    const std::string document = R"({"resourceType":"Composition","id":"1","status":"final",
        "type":{"text":"t"},"date":"2020","title":"t","author":[{"reference":"Patient/1"}]})";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "CodeSystem/codes", codes), entry_of("POST", "ValueSet", values),
                 entry_of("PUT", "Patient/1", patient_json("1")),
                 entry_of("PUT", "Composition/1", document),
                 entry_of("GET", "ValueSet/$expand?url=http://x/values|1"),
                 entry_of("GET", "ValueSet/before/$expand"),
                 entry_of("GET", "CodeSystem/codes/_history/1"),
                 entry_of("GET", "CodeSystem/codes/_history"),
                 entry_of("GET", "CodeSystem/$lookup?system=http://x/codes&code=a"),
                 entry_of("GET", "Observation?code:in=http://x/values"),
                 entry_of("GET", "Observation?code:below=http://x/codes|a"),
                 entry_of("GET", "Composition/$document?id=1"),
                 entry_of("GET", "$diff?from=http://test/fhir/Patient/1/_history/1&to=Patient/1"),
                 entry_of("GET", "CodeSystem/$lookup?system=http://x/codes&code=none"),
                 entry_of("GET", "Observation?code:in=ValueSet/before")}))
            .body);
    // What fails then, too, fails alone: by then all is done.
    EXPECT_EQ(bundle.statuses(), "201 201 201 201 404 200 200 200 200 200 200 200 200 404 200");
    EXPECT_EQ(bundle.entry(5)["resource"]["expansion"]["contains"].size(), 1U);
    EXPECT_EQ(bundle.entry(11)["resource"]["entry"].size(), 2U);
}

TEST(Transaction, AsksOperationsAboutWhatItPutsRight) {
    TestService server;
    const auto values_of = [](std::string_view more) {
        return fmt::format(
            R"({{"resourceType":"ValueSet","id":"v","status":"active","url":"http://x/v",
            "compose":{{"include":[{{"system":"http://x/absent"{}}}]}}}})",
            more);
    };
    server.put("/ValueSet/v", values_of(""));
    EXPECT_EQ(server.get("/ValueSet/v/$expand").status, 422);
    const std::string right = values_of(R"(,"concept":[{"code":"a"}])");
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("GET", "ValueSet/$expand?url=http://x/v"),
                                              entry_of("PUT", "ValueSet/v", right)}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200");
}

TEST(Transaction, ExpandsWhatItsOwnWritesMakeWhole) {
    TestService server;
    const auto codes_of = [](std::string_view version, std::string_view content) {
        return fmt::format(R"({{"resourceType":"CodeSystem","id":"c","status":"active",
            "url":"http://x/c","version":"{}",{}}})",
                           version, content);
    };
    const auto values_of = [](std::string_view id, std::string_view more) {
        return fmt::format(R"({{"resourceType":"ValueSet","id":"{}","status":"active",
            "url":"http://x/{}"{}}})",
                           id, id, more);
    };
    const std::string all = R"(,"compose":{"include":[{"system":"http://x/c"}]})";
    const std::string inner = R"(,"compose":{"include":[{"valueSet":["http://x/w"]}]})";
    const std::string whole = codes_of("2", R"("content":"complete","concept":[{"code":"a"}])");
    server.put("/ValueSet/v", values_of("v", all));
    server.put("/ValueSet/w", values_of("w", ""));
    server.put("/ValueSet/u", values_of("u", inner));
    for (const auto& [url, write] : std::vector<std::pair<std::string, std::string>>{
             {"ValueSet/v/$expand?system-version=http://x/c|2", "CodeSystem/c"},
             {"ValueSet/v/$expand", "CodeSystem/c"},
             {"Observation?code:in=http://x/v", "CodeSystem/c"},
             {"ValueSet/u/$expand", "ValueSet/w"}}) {
        const bool has_codes = write == "ValueSet/w";
        const std::string body = has_codes ? values_of("w", all) : whole;
        server.put("/CodeSystem/c",
                   has_codes ? whole : codes_of("1", R"("content":"not-present")"));
        EXPECT_GE(server.get("/" + url).status, 400) << url;
        const Json bundle(server
                              .submit(bundle_of("transaction", {entry_of("GET", url),
                                                                entry_of("PUT", write, body)}))
                              .body);
        EXPECT_EQ(bundle.statuses(), "200 200") << url;
    }
}

TEST(Transaction, FailsByReadsThatLackWhatItDoesNotWrite) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string values =
        R"({"resourceType":"ValueSet","id":"v","status":"active","url":"http://x/v"})";
    for (const auto& [url, code] : std::vector<std::pair<std::string, std::string>>{
             {"ValueSet/$expand?url=http://x/other", "not-found"},
             {"Observation?code:in=http://x/other", "invalid"},
             {"Patient?birthdate=http", "invalid"},
             // What is wrong is told in the words of what it writes, which doesn't help.
             {"Patient?_count=ValueSet/v", "invalid"},
             // What it writes or deletes won't have these either.
             {"ValueSet/v/_history/2", "not-found"},
             {"ValueSet/v/_history?_since=http", "invalid"},
             {"ValueSet/v/$none", "invalid"},
             {"Observation/$lastn?patient=ValueSet/v", "required"},
             {"Patient/1/Observation?date=http", "invalid"},
             {"$diff?from=Patient/1/_history/1&to=Patient/1/_history/2", "not-found"}}) {
        expect_failure(
            server.submit(bundle_of("transaction",
                                    {entry_of("GET", url), entry_of("PUT", "ValueSet/v", values),
                                     entry_of("DELETE", "Patient/1")})),
            code, "Bundle.entry[0] GET " + url);
    }
    EXPECT_EQ(server.get("/ValueSet/v").status, 404);
}

TEST(Transaction, IsNotAppliedWhereThereIsNoRoomForWhatItReads) {
    TestService server(with_little_room());
    server.put("/Patient/1", long_patient("1", 10'000));
    std::vector<std::string> entries(8, entry_of("GET", "Patient/1"));
    entries[0] = entry_of("PUT", "Patient/2", patient_json("2"));
    expect_failure(server.submit(bundle_of("transaction", entries)), "too-costly",
                   "Bundle.entry[7] GET Patient/1: 422 ");
    entries[0] = entry_of("PUT", "Patient/2", long_patient("2", 10'000));
    expect_failure(server.submit(bundle_of("transaction", entries)), "too-costly",
                   "Bundle.entry[6] GET Patient/1: 422 ");
    EXPECT_EQ(server.get("/Patient/2").status, 404);
    entries.resize(6);
    EXPECT_EQ(Json(server.submit(bundle_of("transaction", entries)).body).statuses(),
              "201 200 200 200 200 200");
}

TEST(Transaction, SaysWhatItDidWhereThereIsNoRoomForAllOfIt) {
    TestService server(with_little_room());
    std::vector<std::string> writes;
    for (const std::string id : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
        writes.push_back(entry_of("PUT", "Patient/" + id, long_patient(id, 10'000)));
    }
    const Json written(server.submit(bundle_of("transaction", writes)).body);
    EXPECT_EQ(written.statuses(), "201 201 201 201 201 201 201 201");
    EXPECT_TRUE(written.entry(5)["resource"]);
    EXPECT_FALSE(written.entry(6)["resource"]);
    EXPECT_EQ(written.entry(6)["response"]["etag"].string(), "W/\"1\"");
    EXPECT_FALSE(written.entry(6)["response"]["outcome"]);

    // How long an answer from the state after is shows when that is there.
    std::vector<std::string> reads(9, entry_of("GET", "Patient/1"));
    reads[0] = writes[0];
    const Json read(server.submit(bundle_of("transaction", reads)).body);
    EXPECT_EQ(read.statuses(), "200 200 200 200 200 200 422 422 422");
    EXPECT_EQ(read.issue(8, "code"), "too-costly");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{2});
}

TEST(Transaction, DeletesForGoodWhereThatIsConfigured) {
    Config config;
    config.hard_delete = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1"),
                                              entry_of("PUT", "Patient/2", patient_json("2"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "204 201");
    EXPECT_EQ(server.get("/Patient/1").status, 404);
}

TEST(Transaction, DeletesWhatNeverWasWhereThatIsNoFailure) {
    const std::string absent = entry_of("DELETE", "Patient/none");
    const std::string meant = entry_of("DELETE", "Patient/none", {}, {}, R"("ifMatch":"W/\"1\"")");
    for (const std::uint64_t delete_absent : {204U, 404U}) {
        Config config;
        config.delete_absent = delete_absent;
        TestService server(config);
        const Received answer = server.submit(
            bundle_of("transaction", {absent, entry_of("PUT", "Patient/1", patient_json("1"))}));
        if (delete_absent == 204) {
            EXPECT_EQ(Json(answer.body).statuses(), "204 201");
        } else {
            expect_failure(answer, "not-found", "Patient/none does not exist");
        }
        expect_failure(server.submit(bundle_of("transaction", {meant})), "not-found",
                       "Patient/none does not exist");
    }
}

TEST(Transaction, DeletesWhatIsDeletedWithoutANewVersion) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.send({HttpMethod::delete_, "/Patient/1"});
    const Json bundle(
        server.submit(bundle_of("transaction", {entry_of("DELETE", "Patient/1")})).body);
    EXPECT_EQ(bundle.statuses(), "204");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    // Whatever version was meant, as alone.
    const std::string meant = entry_of("DELETE", "Patient/1", {}, {}, R"("ifMatch":"W/\"1\"")");
    EXPECT_EQ(Json(server.submit(bundle_of("transaction", {meant})).body).statuses(), "204");
    EXPECT_EQ(server.store().totals().versions, 2U);
}

TEST(Transaction, BringsADeletedResourceBack) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    server.send({HttpMethod::delete_, "/Patient/1"});
    const Json bundle(
        server.submit(bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "201");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"3\"");
}

TEST(Transaction, RequiresWhatItRefersToWhereThatIsConfigured) {
    Config config;
    config.integrity_on_write = true;
    TestService server(config);
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("PUT", "Patient/2", patient_json("2")),
                            entry_of("POST", "Observation", observation_of("", "Patient/1"))})),
        "conflict", "Bundle.entry[1] POST Observation: 409 ");
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("POST", "Observation", observation_of("", "/Patient/1"))})),
        "conflict", "Bundle.entry[0] POST Observation: 409 ");
    EXPECT_EQ(server
                  .submit(bundle_of(
                      "transaction",
                      {entry_of("PUT", "Patient/1", patient_json("1")),
                       entry_of("POST", "Observation", observation_of("", "Patient/1")),
                       entry_of("POST", "Observation", observation_of("", "urn:uuid:2")),
                       entry_of("POST", "Patient", patient_json(""), full_url("urn:uuid:2"))}))
                  .status,
              200);
    expect_failure(
        server.submit(bundle_of(
            "transaction", {entry_of("DELETE", "Patient/1"),
                            entry_of("POST", "Observation", observation_of("", "Patient/1"))})),
        "conflict", "Bundle.entry[1] POST Observation: 409 ");
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

TEST(Transaction, TriesItsReadsAlsoWhereItHadToBeginAnew) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string nothing =
        R"({"resourceType":"Binary","contentType":"application/json-patch+json","data":"W10="})";
    // The patch waits for the update, which is in flight when it is decided first.
    const auto answers =
        server.send_all({{HttpMethod::put, "/Patient/1", {}, patient_json("1")},
                         {HttpMethod::post,
                          "",
                          {},
                          bundle_of("transaction", {entry_of("PATCH", "Patient/1", nothing),
                                                    entry_of("GET", "Patient/absent")})}});
    EXPECT_EQ(answers[0].status, 200) << answers[0].body;
    expect_failure(answers[1], "not-found", "Bundle.entry[1] GET Patient/absent: 404 ");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{2});
}

TEST(Transaction, RequiresTheVersionsThatItRefersToWhereThatIsConfigured) {
    Config config;
    config.integrity_on_write = true;
    TestService server(config);
    server.put("/Patient/1", patient_json("1"));
    server.put("/Patient/9", patient_json("9"));
    const auto refer = [&](std::string_view reference) {
        return server.submit(bundle_of(
            "transaction", {entry_of("POST", "Observation", observation_of("", reference)),
                            entry_of("PUT", "Patient/1", patient_json("1"))}));
    };
    for (const std::string_view reference : {"Patient/9/_history/2", "Patient/1/_history/3"}) {
        const Received refused = refer(reference);
        expect_failure(refused, "conflict", "Bundle.entry[0] POST Observation: 409 ");
        EXPECT_NE(refused.body.find(reference), std::string::npos) << refused.body;
    }
    EXPECT_EQ(refer("Patient/9/_history/1").status, 200);
    EXPECT_EQ(refer("Patient/1/_history/1").status, 200) << "what it was before";
    EXPECT_EQ(refer("Patient/1/_history/4").status, 200) << "what the transaction makes of it";
}

TEST(Transaction, LetsExactlyOneOfManyWithOneConditionCreate) {
    TestService server;
    const Sent sent{
        HttpMethod::post,
        "",
        {},
        bundle_of("transaction",
                  {entry_of("POST", "Patient", patient_json("", R"("identifier":[{"value":"x"}])"),
                            full_url("urn:uuid:p"), R"("ifNoneExist":"identifier=x")"),
                   entry_of("POST", "Observation", observation_of("", "urn:uuid:p"))})};
    const auto answers = server.send_all(std::vector<Sent>(32, sent));
    std::size_t created = 0;
    for (const Received& answer : answers) {
        EXPECT_EQ(answer.status, 200);
        created += Json(answer.body).status(0) == "201" ? 1 : 0;
    }
    EXPECT_EQ(created, 1U);
    EXPECT_EQ(server.store().totals(*find_resource_type("Patient")).live, 1U);
    EXPECT_EQ(server.store().totals(*find_resource_type("Observation")).live, 32U);
}

TEST(Transaction, CountsEachOfManyOverlappingUpdatesOnce) {
    TestService server;
    const Sent sent{HttpMethod::post,
                    "",
                    {},
                    bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1")),
                                              entry_of("PUT", "Patient/2", patient_json("2"))})};
    for (const Received& answer : server.send_all(std::vector<Sent>(64, sent))) {
        EXPECT_EQ(answer.status, 200);
    }
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{64});
    EXPECT_EQ(server.get("/Patient/2").etag, VersionNumber{64});
}

// What is sent at once is committed by one group, and all of it is visible when the first is answered.
TEST(Transaction, ReadsWhatItLeftAndNothingThatWasCommittedBehindIt) {
    TestService server;
    std::vector<Sent> all;
    for (int i = 1; i <= 16; ++i) {
        const std::string id = fmt::format("{}", i);
        all.push_back({HttpMethod::post,
                       "",
                       {},
                       bundle_of("transaction", {entry_of("PUT", "Patient/" + id, patient_json(id)),
                                                 entry_of("GET", "Patient?_count=1"),
                                                 entry_of("GET", "Patient/_history?_count=1")})});
    }
    std::vector<std::string> totals;
    for (const Received& answer : server.send_all(all)) {
        ASSERT_EQ(answer.status, 200) << answer.body;
        const Json bundle(answer.body);
        totals.emplace_back(bundle.entry(1)["resource"]["total"].raw());
        EXPECT_EQ(bundle.entry(2)["resource"]["total"].raw(), totals.back());
    }
    std::ranges::sort(totals);
    EXPECT_EQ(std::ranges::adjacent_find(totals), totals.end());  // each saw one more than another
}

// What its conditional creates have found, too.
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

TEST(Transaction, ReadsAResourceAsItWasWhenItCommitted) {
    TestService server;
    server.put("/Patient/0", patient_json("0"));
    const auto answers =
        server.send_all({{HttpMethod::post,
                          "",
                          {},
                          bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1")),
                                                    entry_of("GET", "Patient/0")})},
                         {HttpMethod::put, "/Patient/0", {}, patient_json("0")}});
    ASSERT_EQ(answers[0].status, 200) << answers[0].body;
    const TypeId type = *find_resource_type("Patient");
    const auto written = server.store().current(type, "1");
    const auto other = server.store().current(type, "0");
    ASSERT_TRUE(written && other);
    EXPECT_EQ(Json(answers[0].body).entry(1)["response"]["etag"].string(),
              other->position < written->position ? "W/\"2\"" : "W/\"1\"");
}

TEST(Transaction, AnswersNoStoreWhenItsCommitCannotBeStored) {
    test::SimFileSystem disk;
    TestService server({}, disk);
    disk.fail_next(test::SimFileSystem::Call::sync, Errc::io);
    const Received answer =
        server.submit(bundle_of("transaction", {entry_of("POST", "Patient", patient_json(""))}));
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(Json(answer.body).issue("code"), "no-store");
    EXPECT_EQ(server.store().totals().versions, 0U);
}

/// Checks that no reference of `resource` is left unresolved and that each relative one names a live resource.
void check_references(TestService& server, json::Value resource, std::size_t& checked) {
    std::vector<json::ReferenceSite> sites;
    json::find_references(resource, sites);
    for (const json::ReferenceSite& site : sites) {
        const std::string text = site.value.string();
        if (site.kind != json::ReferenceSite::Kind::reference || text.starts_with('#')) {
            continue;
        }
        ASSERT_FALSE(text.starts_with("urn:")) << text;
        const std::size_t slash = text.find('/');
        const auto type = find_resource_type(text.substr(0, slash));
        ASSERT_TRUE(type.has_value()) << text;
        ASSERT_TRUE(server.store().current(*type, text.substr(slash + 1)).has_value()) << text;
        ++checked;
    }
}

TEST(Transaction, StoresSyntheaPatientsWithEveryReferenceResolved) {
    const auto files = test::test_data_files("synthea-2019-dev/SYNTHEA");
    if (files.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2019-dev";
    }
    TestService server;
    std::size_t bundles = 0;
    std::size_t entries = 0;
    for (const auto& file : files) {
        const std::string text = test::read_whole_file(file);
        const Received answer = server.submit(text);
        ASSERT_EQ(answer.status, 200) << file << answer.body.substr(0, 1000);
        entries += Json(text).root()["entry"].size();
        if (++bundles == 20) {
            break;
        }
    }
    EXPECT_EQ(server.store().totals().live, entries);

    std::size_t checked = 0;
    json::Parser parser;
    for (std::uint64_t position = 1; position <= entries; ++position) {
        const auto info = server.store().at(Position{position});
        ASSERT_TRUE(info.has_value());
        const auto stored = server.store().load(*info);
        ASSERT_TRUE(stored.has_value());
        auto document = parser.parse(stored->body);
        ASSERT_TRUE(document.has_value());
        check_references(server, document->root(), checked);
        if (HasFatalFailure()) {
            return;
        }
    }
    EXPECT_GT(checked, entries);
}

}  // namespace
}  // namespace annals::core
