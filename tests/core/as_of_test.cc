// _asOf: what was found at any time is found again as of then, by the index and by the bodies.

#include "codec/json/document.h"
#include "core/search/execute.h"
#include "core/search/past_runs.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"
#include "tests/support/between_turns.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"
#include "tests/support/turn_lengths.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>

namespace annals::core {
namespace {

class AsOfTest : public test::ServiceFixture {
  protected:
    /// "id/version" of everything found.
    std::set<std::string> found(const std::string& target) {
        const test::Answer answer = send("GET", target);
        EXPECT_EQ(answer.status, 200) << target << answer.body;
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        std::set<std::string> out;
        for (const json::Value entry : document->root()["entry"].elements()) {
            const json::Value resource = entry["resource"];
            out.insert(resource["id"].string() + "/" + resource["meta"]["versionId"].string());
        }
        return out;
    }

    /// Writes or deletes something.
    void change(std::mt19937& random) {
        const std::string id = std::to_string(random() % 6);
        const char family = static_cast<char>('A' + random() % 3);
        const Headers json{{"Content-Type", "application/fhir+json"}};
        switch (random() % 5) {
            case 0:
                send("DELETE", "/Patient/" + id);
                break;
            case 1:
                send("DELETE", "/Observation/" + id);
                break;
            case 2:
                send(
                    "PUT", "/Observation/" + id,
                    fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final",)"
                                R"("code":{{"text":"x"}},"subject":{{"reference":"Patient/{}"}}}})",
                                id, random() % 6),
                    json);
                break;
            default:
                put_patient(id, std::string(1, family));
        }
    }

    /// What a search finds in the bodies of the versions that were current at `at`.
    std::set<std::string> found_in_bodies(TypeId type, const search::QueryPair& pair, Position at) {
        const auto parameters = service().indexing().parameters();
        search::Snapshot snapshot(store(), at);
        for (const char* name : {"Patient", "Observation"}) {
            search::PastRuns past(store(), parameters, std::string(kBaseUrl), test::type_of(name),
                                  at);
            const Result<bool> done = past.advance(search::Pace());
            EXPECT_TRUE(done && *done);
            snapshot.use(test::type_of(name), past.runs());
        }
        const search::SnapshotResources stored(snapshot);
        const search::QueryContext context{.stored = stored,
                                           .view = search::unrestricted(),
                                           .parameters = parameters,
                                           .base_url = std::string(kBaseUrl)};
        const auto query = search::parse_query(context, {type}, std::vector{pair});
        EXPECT_TRUE(query);
        std::set<std::string> out;
        search::Execution execution(snapshot, type, query->types[0].plan);
        execution.want({});
        EXPECT_TRUE(execution.advance(search::Pace()));
        for (const search::Match& match : execution.matches()) {
            const auto info = store().at(match.position());
            const auto version = store().load(*info);
            out.insert(fmt::format("{}/{}", version->id, info->version.value));
        }
        return out;
    }
};

TEST_F(AsOfTest, ReadsNoMoreBodiesThanItMay) {
    put_patient("1");
    put_patient("2");
    for (const auto& [documents_max, fits] : {std::pair(2, true), std::pair(1, false)}) {
        search::PastRuns past(store(), service().indexing().parameters(), std::string(kBaseUrl),
                              test::type_of("Patient"), store().last_position(),
                              static_cast<std::size_t>(documents_max));
        const Result<bool> done = past.advance(search::Pace());
        ASSERT_EQ(done.has_value(), fits);
        EXPECT_TRUE(fits || done.error().code == Errc::too_costly);
    }
}

TEST_F(AsOfTest, FindsWhatWasFoundThen) {
    struct Seen {
        std::set<std::string> patients;
        std::set<std::string> observations;
    };

    std::mt19937 random(11);
    std::map<std::uint64_t, Seen> seen;
    for (int i = 0; i < 150; ++i) {
        change(random);
        seen[store().last_position().value] = {found("/Patient?family=A"),
                                               found("/Observation?patient.family=B")};
    }
    ASSERT_GT(seen.size(), 50u);
    int checked = 0;
    for (const auto& [position, then] : seen) {
        SCOPED_TRACE(position);
        EXPECT_EQ(found(fmt::format("/Patient?family=A&_asOf={}", position)), then.patients);
        EXPECT_EQ(found(fmt::format("/Observation?patient.family=B&_asOf={}", position)),
                  then.observations);
        if (position != 0 && ++checked % 5 == 0) {
            EXPECT_EQ(found_in_bodies(test::type_of("Patient"), {"family", "A"}, {position}),
                      then.patients);
            // Bodies don't contain the instants of their versions.
            const auto written = [&](std::string_view prefix) {
                const auto last = store().at(Position{position});
                return found_in_bodies(
                    test::type_of("Patient"),
                    {"_lastUpdated", std::string(prefix) + format_instant(last->instant)},
                    {position});
            };
            EXPECT_EQ(written("le"), found(fmt::format("/Patient?_asOf={}", position)));
            EXPECT_TRUE(written("gt").empty());
            EXPECT_EQ(
                found_in_bodies(test::type_of("Observation"), {"patient.family", "B"}, {position}),
                then.observations);
        }
    }
}

TEST_F(AsOfTest, IsOfAnyPositionAlsoWhereManyWereWrittenAtOnce) {
    std::string entries;
    for (int version = 1; version <= 8; ++version) {
        entries += fmt::format(
            R"({}{{"request":{{"method":"PUT","url":"Patient/a"}},)"
            R"("resource":{{"resourceType":"Patient","id":"a","meta":{{"versionId":"{}"}}}}}})",
            version == 1 ? "" : ",", version);
    }
    const std::uint64_t before = store().last_position().value;
    ASSERT_EQ(
        send("POST", "/",
             fmt::format(R"({{"resourceType":"Bundle","type":"history","entry":[{}]}})", entries),
             {{"Content-Type", "application/fhir+json"}})
            .status,
        200);
    ASSERT_EQ(store().last_position().value, before + 8);
    for (std::uint64_t version = 1; version <= 8; ++version) {
        EXPECT_EQ(found(fmt::format("/Patient?_id=a&_asOf={}", before + version)),
                  std::set{fmt::format("a/{}", version)});
    }
}

TEST_F(AsOfTest, OfAnInstantIsNotHiddenByWhatCameLaterAndWasErased) {
    Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("POST", "/",
                   R"({"resourceType":"Bundle","type":"history","entry":[)"
                   R"({"resource":{"resourceType":"Patient","id":"a","meta":)"
                   R"({"versionId":"1","lastUpdated":"2020-01-01T10:00:00Z"}}},)"
                   R"({"resource":{"resourceType":"Patient","id":"a","meta":)"
                   R"({"versionId":"2","lastUpdated":"2020-01-01T11:00:00Z"}}},)"
                   R"({"resource":{"resourceType":"Patient","id":"a","meta":)"
                   R"({"versionId":"3","lastUpdated":"2020-01-01T12:00:00Z"}}}]})",
                   {{"Content-Type", "application/fhir+json"}})
                  .status,
              200);
    ASSERT_EQ(send("DELETE", "/Patient/a/_history/2").status, 204);
    EXPECT_EQ(send("GET", "/Patient/a?_asOf=2020-01-01T10:30:00Z").etag, 1u);
    EXPECT_EQ(found("/Patient?_asOf=2020-01-01T10:30:00Z"), std::set<std::string>{"a/1"});
    EXPECT_EQ(send("GET", "/Patient/a?_asOf=2020-01-01T11:30:00Z").status, 404);
    EXPECT_EQ(found("/Patient?_asOf=2020-01-01T11:30:00Z"), std::set<std::string>{});
    EXPECT_EQ(send("GET", "/Patient/a?_asOf=2020-01-01T12:30:00Z").etag, 3u);
}

TEST_F(AsOfTest, ADeletionThatWasRemovedIsInNoState) {
    Config config;
    put_patient("a", "A");
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    const std::uint64_t deleted = store().last_position().value;
    put_patient("a", "B");
    EXPECT_EQ(send("GET", fmt::format("/Patient/a?_asOf={}", deleted)).status, 410);
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(send("DELETE", "/Patient/a/_history/2").status, 204);
    for (const char* target :
         {"/Patient/a?", "/Patient/a/$everything?", "/Patient/a/$graphql?query=%7Bid%7D&"}) {
        EXPECT_EQ(send("GET", fmt::format("{}_asOf={}", target, deleted)).status, 404) << target;
    }
    EXPECT_EQ(send("GET", fmt::format("/Patient/a?_asOf={}", deleted - 1)).etag, 1u);
    EXPECT_EQ(send("GET", "/Patient/a").etag, 3u);
}

TEST_F(AsOfTest, PagesStayInTheirState) {
    for (int i = 0; i < 5; ++i) {
        put_patient(std::to_string(i), "A");
    }
    const std::uint64_t then = store().last_position().value;
    for (int i = 0; i < 5; ++i) {
        put_patient(std::to_string(i), "B");
    }
    std::set<std::string> all;
    std::string target = fmt::format("/Patient?family=A&_count=2&_asOf={}", then);
    while (!target.empty()) {
        const test::Answer answer = send("GET", target);
        ASSERT_EQ(answer.status, 200) << answer.body;
        EXPECT_TRUE(answer.says(R"("total":5)")) << answer.body;
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        for (const json::Value entry : document->root()["entry"].elements()) {
            EXPECT_TRUE(entry["resource"]["meta"]["versionId"].equals("1"));
            EXPECT_TRUE(all.insert(entry["resource"]["id"].string()).second);
        }
        target = links_of(document->root())["next"];
    }
    EXPECT_EQ(all.size(), 5u);
}

TEST_F(AsOfTest, IncludesByACanonicalWhatTheIndexHasThrownAway) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    restart(Config());
    const Headers json{{"Content-Type", "application/fhir+json"}};
    const auto put_questionnaire = [&](std::string_view title) {
        return send(
                   "PUT", "/Questionnaire/q",
                   fmt::format(
                       R"({{"resourceType":"Questionnaire","id":"q","url":"http://q","status":"active","title":"{}"}})",
                       title),
                   json)
            .status;
    };
    ASSERT_EQ(put_questionnaire("then"), 201);
    ASSERT_EQ(
        send(
            "PUT", "/QuestionnaireResponse/r",
            R"({"resourceType":"QuestionnaireResponse","id":"r","status":"completed","questionnaire":"http://q"})",
            json)
            .status,
        201);
    const Position then = store().last_position();
    const TypeId type = test::type_of("Questionnaire");
    for (int round = 0; store().search(type)->vacuumed_through <= then; ++round) {
        ASSERT_LT(round, 3000);
        ASSERT_EQ(put_questionnaire("now"), 200);
        send("GET", "/Questionnaire?title=now");  // makes the index take in what was written
    }
    for (const char* include :
         {"QuestionnaireResponse:questionnaire", "QuestionnaireResponse:*", "*"}) {
        EXPECT_EQ(
            found(fmt::format("/QuestionnaireResponse?_include={}&_asOf={}", include, then.value)),
            (std::set<std::string>{"r/1", "q/1"}));
    }
}

TEST_F(AsOfTest, IncludesNoVersionThatWasNotYetThere) {
    put_patient("p", "First");
    const std::string body =
        R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"Patient/p/_history/2"}})";
    ASSERT_EQ(
        send("PUT", "/Observation/o", body, {{"Content-Type", "application/fhir+json"}}).status,
        201);
    const Position then = store().last_position();
    put_patient("p", "Second");
    const std::string search = "/Observation?_include=Observation:subject";
    EXPECT_EQ(found(search), (std::set<std::string>{"o/1", "p/2"}));
    EXPECT_EQ(found(fmt::format("{}&_asOf={}", search, then.value)),
              (std::set<std::string>{"o/1"}));
}

TEST_F(AsOfTest, LeadsOverNoReferencesThatTheIndexDoesNotLeadOver) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal everybody("e", "system/*.cruds");
    send_as(&everybody);
    const auto observe = [&](std::string_view id, std::string_view subject) {
        const std::string body = fmt::format(
            R"({{"resourceType":"Observation","id":"{}","status":"final","code":{{"text":"x"}},)"
            R"("subject":{{"reference":"{}"}}}})",
            id, subject);
        return send("PUT", fmt::format("/Observation/{}", id), body,
                    {{"Content-Type", "application/fhir+json"}})
            .status;
    };
    ASSERT_EQ(observe("here", "Patient/m"), 201);
    // No base URL is configured, so clients may address the server by any name.
    ASSERT_EQ(observe("there", fmt::format("{}/Patient/m", kBaseUrl)), 201);
    const Position then = store().last_position();
    for (int round = 0; store().search(test::type_of("Observation"))->vacuumed_through <= then;
         ++round) {
        ASSERT_LT(round, 3000);
        ASSERT_LT(observe("other", "Patient/t"), 300);
        send("GET", "/Observation?status=final");  // makes the index take in what was written
    }
    const Principal mine("x", "patient/*.rs", "m");
    send_as(&mine);
    const std::set<std::string> here{"here/1"};
    EXPECT_EQ(found("/Observation"), here);
    EXPECT_EQ(found(fmt::format("/Observation?_asOf={}", then.value)), here);
    EXPECT_EQ(found(fmt::format("/Patient/m/Observation?_asOf={}", then.value)), here);
}

TEST_F(AsOfTest, CountsWhatItShowsWhateverIsErasedMeanwhile) {
    const test::TurnLengths short_ones(
        [](std::chrono::microseconds) noexcept { return std::chrono::microseconds(0); });
    std::set<std::size_t> counts;
    for (int turns = 0; turns < 1000 && !counts.contains(3); ++turns) {
        for (const char* id : {"1", "2", "3"}) {
            put_patient(id);
        }
        const std::string query =
            fmt::format("_total=accurate&_asOf={}", store().last_position().value);
        Request request;
        request.path = "/Patient";
        request.query = query;
        request.base_url = kBaseUrl;
        const Result<Response> answer =
            test::answer_between_turns(service(), store(), request, turns, [this] {
                test::CommitBuilder erasure;
                erasure.erase("Patient", "2");  // as a hard delete does
                EXPECT_TRUE(store().wait(store().submit(erasure.commit()).ticket));
            });
        ASSERT_TRUE(answer);
        json::Parser parser;
        const auto document = parser.parse(answer->body.str());
        ASSERT_TRUE(document);
        ASSERT_EQ(answer->status, 200) << answer->body.str();
        const std::size_t entries = document->root()["entry"].size();
        EXPECT_EQ(document->root()["total"].raw(), std::to_string(entries))
            << "erased after " << turns << " turns";
        counts.insert(entries);
    }
    EXPECT_EQ(counts, (std::set<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace annals::core
