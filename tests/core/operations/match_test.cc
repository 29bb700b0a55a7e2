// Patient/$match: who is found, how likely, and in what order.

#include "core/operations/match.h"

#include "tests/core/bundle_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>

namespace annals::core {
namespace {

class Match : public testing::Test {
  protected:
    void add(std::string_view id, std::string_view members) {
        const Received answer =
            server_.put(fmt::format("/Patient/{}", id),
                        fmt::format(R"({{"resourceType":"Patient","id":"{}",{}}})", id, members));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }

    Received ask_with(std::string parameters) {
        return server_.send(
            {HttpMethod::post, "/Patient/$match", "",
             fmt::format(R"({{"resourceType":"Parameters","parameter":[{}]}})", parameters)});
    }

    Received ask(std::string_view members, std::string_view more = "") {
        return ask_with(
            fmt::format(R"({{"name":"resource","resource":{{"resourceType":"Patient",{}}}}}{})",
                        members, more));
    }

    /// "a certain 1.00, b possible 0.40": the entries, or the status if it isn't 200.
    static std::string found(const Received& answer) {
        if (answer.status != 200) {
            return std::to_string(answer.status);
        }
        const Json bundle(answer.body);
        std::string out;
        for (const json::Value entry : bundle.root()["entry"].elements()) {
            if (entry["search"]["mode"].string() != "match") {
                continue;
            }
            out += out.empty() ? "" : ", ";
            out += entry["resource"]["id"].string();
            for (const json::Value extension : entry["search"]["extension"].elements()) {
                EXPECT_EQ(extension["url"].string(),
                          "http://hl7.org/fhir/StructureDefinition/match-grade");
                out.append(" ").append(extension["valueCode"].string());
            }
            out.append(" ").append(entry["search"]["score"].raw());
        }
        return out;
    }

    static constexpr std::string_view kAnn =
        R"("identifier":[{"system":"urn:s","value":"a|1"}],"name":[{"family":"Müller","given":["Ann"]}],)"
        R"("birthDate":"1970-05-01","gender":"female")";
    static constexpr std::string_view kCertainOnly =
        R"(,{"name":"onlyCertainMatches","valueBoolean":true})";

    TestService server_;
};

TEST_F(Match, GivesTheLikeliestFirstWithScoreAndGrade) {
    add("namesake",
        R"("name":[{"family":"MULLER","given":["ann"]}],"birthDate":"1970-05-01","gender":"female")");
    add("ann", kAnn);
    add("born", R"("name":[{"family":"Muller","given":["Bo"]}],"birthDate":"1970-05-01")");
    add("other", R"("name":[{"family":"Muller","given":["Bo"]}],"birthDate":"1991-01-01")");
    EXPECT_EQ(found(ask(kAnn)), "ann certain 1.00, namesake probable 0.65, born possible 0.35");
    EXPECT_EQ(found(ask(kAnn, R"(,{"name":"count","valueInteger":1})")), "ann certain 1.00");
    EXPECT_EQ(found(ask(R"("name":[{"family":"Nobody"}])")), "");
}

TEST_F(Match, TakesThePatientAloneAsBody) {
    add("ann", kAnn);
    add("namesake", R"("name":[{"family":"Muller","given":["Ann"]}],"birthDate":"1970-05-01")");
    const auto ask_by = [&](std::string query, std::string_view type) {
        return found(server_.send({HttpMethod::post, "/Patient/$match", std::move(query),
                                   fmt::format(R"({{"resourceType":"{}",{}}})", type, kAnn)}));
    };
    EXPECT_EQ(ask_by("", "Patient"), "ann certain 1.00, namesake possible 0.60");
    EXPECT_EQ(ask_by("count=1&onlyCertainMatches=true", "Patient"), "ann certain 1.00");
    EXPECT_EQ(ask_by("odd=1", "Patient"), "400");
    EXPECT_EQ(ask_by("", "Person"), "400");
}

TEST_F(Match, IsNeverCertainWithoutAnIdentifier) {
    constexpr std::string_view kAll =
        R"("name":[{"family":"A","given":["B"]}],"birthDate":"1970-05-01","gender":"male",)"
        R"("telecom":[{"system":"phone","value":"1"}],"address":[{"city":"C","postalCode":"2"}])";
    add("a", kAll);
    EXPECT_EQ(found(ask(kAll)), "a probable 0.85");
    EXPECT_EQ(found(ask(kAll, kCertainOnly)), "");
}

TEST_F(Match, FindsByEachOfItsCriteria) {
    add("id", R"("identifier":[{"system":"urn:s","value":"a,b$|\\"}])");
    add("tel",
        R"("telecom":[{"system":"phone","value":"5"}],"birthDate":"1980-01-01","gender":"male")");
    EXPECT_EQ(found(ask(R"("identifier":[{"system":"urn:s","value":"a,b$|\\"}])")),
              "id possible 0.60");
    EXPECT_EQ(found(ask(R"("identifier":[{"system":"urn:t","value":"a,b$|\\"}])")), "");
    EXPECT_EQ(found(ask(R"("telecom":[{"value":"5"}],"birthDate":"1980-01-01")")),
              "tel possible 0.35");
}

TEST_F(Match, GivesNoneWhenSeveralAreCertainAndOnlyThatIsWanted) {
    add("ann", kAnn);
    EXPECT_EQ(found(ask(kAnn, kCertainOnly)), "ann certain 1.00");
    add("twin", kAnn);
    const Received answer = ask(kAnn, kCertainOnly);
    EXPECT_EQ(found(answer), "");
    EXPECT_NE(answer.body.find("multiple-matches"), std::string::npos) << answer.body;
    EXPECT_EQ(found(ask(kAnn)), "twin certain 1.00, ann certain 1.00");
}

TEST_F(Match, ReadsThePatientOnceForAllCandidates) {
    // All names and identifiers used to be read for each candidate: 50 MB kept a network thread busy until the request's time
    // was up.
    std::string given;
    std::string identifiers;
    for (int i = 0; i < 10'000; ++i) {
        given += fmt::format(R"({}"g{}")", i == 0 ? "" : ",", i);
        identifiers += fmt::format(R"({}{{"system":"urn:s","value":"{}"}})", i == 0 ? "" : ",", i);
    }
    const std::string patient = fmt::format(
        R"("name":[{{"family":"Doe","given":[{}]}}],"identifier":[{}])", given, identifiers);
    const auto time = [&] {
        const std::clock_t begin = std::clock();
        EXPECT_EQ(ask(patient).status, 200);
        return std::clock() - begin;
    };
    const std::clock_t without = std::min(time(), time());
    for (int i = 0; i < 200; ++i) {
        add(fmt::format("doe{}", i), R"("name":[{"family":"Doe","given":["g1"]}])");
    }
    EXPECT_LT(std::min(time(), time()), 20 * without);
}

TEST_F(Match, RefusesWhatIsNoPatientOrSaysNothing) {
    EXPECT_EQ(ask_with(R"({"name":"count","valueInteger":1})").status, 400);
    EXPECT_EQ(ask_with(R"({"name":"resource","resource":{"resourceType":"Group"}})").status, 400);
    EXPECT_EQ(ask(kAnn, R"(,{"name":"count","valueInteger":0})").status, 400);
    EXPECT_EQ(ask(kAnn, R"(,{"name":"odd","valueInteger":1})").status, 400);
    EXPECT_EQ(ask(R"("gender":"male")").status, 422);
    EXPECT_EQ(ask(R"("birthDate":"soon")").status, 400);
}

}  // namespace
}  // namespace annals::core
