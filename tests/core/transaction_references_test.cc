// Links in a transaction: conditional references, and what conditional creates find, over what it writes itself.

#include "tests/core/transaction_fixture.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

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

}  // namespace
}  // namespace annals::core
