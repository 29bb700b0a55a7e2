#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <string>

namespace annals::test {
namespace {

class Create : public ServiceFixture {};

class ConditionalCreate : public ServiceFixture {};

std::string id_in(const std::string& location) {
    // http://test/fhir/Patient/<id>/_history/1
    const std::size_t begin = location.find("Patient/") + 8;
    return location.substr(begin, location.find('/', begin) - begin);
}

TEST_F(Create, AnswersCreatedWithAnIdOfItsOwn) {
    const Answer answer = send("POST", "/Patient", patient("mine"));
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.etag, 1U);
    EXPECT_TRUE(answer.has_last_modified);
    const std::string id = id_in(answer.location);
    EXPECT_EQ(answer.location, fmt::format("http://test/fhir/Patient/{}/_history/1", id));
    EXPECT_EQ(id.size(), 36U);
    EXPECT_TRUE(answer.says(fmt::format(R"("id":"{}")", id)));
    EXPECT_TRUE(answer.says(R"("versionId":"1")"));
    EXPECT_FALSE(answer.says("mine"));
    EXPECT_EQ(send("GET", "/Patient/" + id).body, answer.body);
    EXPECT_EQ(send("GET", "/Patient/mine").status, 404);
}

TEST_F(Create, KeepsWhatItDoesNotKnow) {
    const Answer answer = send(
        "POST", "/Patient",
        R"({ "resourceType" : "Patient" , "meta":{"tag":[{"code":"x"}],"versionId":"9"}, "odd": 1.00 })");
    EXPECT_EQ(answer.status, 201);
    EXPECT_TRUE(answer.says(R"("tag":[{"code":"x"}])"));
    EXPECT_TRUE(answer.says(R"("versionId":"1")"));
    EXPECT_TRUE(answer.says(R"("odd":1.00)"));
}

TEST_F(Create, AnswersAsPreferred) {
    const auto with = [&](const std::string& prefer) {
        return send("POST", "/Patient", patient(""), {{"Prefer", prefer}});
    };
    const Answer minimal = with("return=minimal");
    EXPECT_EQ(minimal.status, 201);
    EXPECT_EQ(minimal.body, "");
    EXPECT_NE(minimal.location, "");
    EXPECT_EQ(minimal.etag, 1U);
    EXPECT_TRUE(minimal.has_last_modified);

    const Answer outcome = with("handling=strict; return=OperationOutcome");
    EXPECT_EQ(outcome.status, 201);
    EXPECT_TRUE(outcome.says(R"("resourceType":"OperationOutcome")"));
    EXPECT_TRUE(outcome.says(R"("severity":"information")"));

    EXPECT_TRUE(with("return=representation").says(R"("resourceType":"Patient")"));
    EXPECT_TRUE(with("return=everything").says(R"("resourceType":"Patient")"));
}

TEST_F(Create, RefusesBadBodiesAndStoresNothing) {
    struct Case {
        std::string body;
        std::string code;
        std::string said;
    };

    for (const auto& [body, code, said] : std::vector<Case>{
             {"", "invalid", "empty"},
             {"{", "invalid", ""},
             {R"({"resourceType":"Patient","a":1,"a":2})", "invalid", ""},
             {R"({"resourceType":"Patient"} x)", "invalid", ""},
             {"[]", "structure", ""},
             {"{}", "required", "resourceType"},
             {R"({"resourceType":"Patent"})", "invalid", "Patent"},
             {R"({"resourceType":5})", "", ""},
             {R"({"resourceType":"Observation"})", "invalid", "Observation"},
             {R"({"resourceType":"Patient","id":5})", "structure", ""},
             {R"({"resourceType":"Patient","meta":[]})", "structure", ""},
             {R"({"resourceType":"Patient","meta":{"versionId":1}})", "structure", ""}}) {
        const Answer answer = send("POST", "/Patient", body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_TRUE(answer.says(R"("resourceType":"OperationOutcome")")) << body;
        EXPECT_TRUE(answer.says(fmt::format(R"("code":"{}")", code)) || code.empty())
            << body << answer.body;
        EXPECT_TRUE(answer.says(said)) << body << answer.body;
    }
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(Create, RefusesParameters) {
    const Answer answer = send("POST", "/Parameters", R"({"resourceType":"Parameters"})");
    EXPECT_EQ(answer.status, 400);
}

TEST_F(Create, LooksAtTheMediaType) {
    struct Case {
        std::string type;
        int status;
    };

    for (const auto& [type, status] :
         std::vector<Case>{{"application/fhir+json", 201},
                           {"application/fhir+json; charset=utf-8", 201},
                           {"application/fhir+json;charset=\"UTF-8\"", 201},
                           {"application/fhir+json; fhirVersion=4.0", 201},
                           {"Application/JSON", 201},
                           {"text/json", 201},
                           {"application/fhir+json; fhirVersion=3.0", 415},
                           {"application/fhir+json; charset=utf-16", 415},
                           {"application/fhir+xml; fhirVersion=3.0", 415},
                           {"text/plain", 415},
                           {"nonsense", 415}}) {
        const Answer answer = send("POST", "/Patient", patient(""), {{"Content-Type", type}});
        EXPECT_EQ(answer.status, status) << type;
        if (status == 415) {
            EXPECT_TRUE(answer.says(R"("code":"not-supported")")) << type;
            EXPECT_EQ(answer.header("Accept"), "application/fhir+json, application/fhir+xml");
        }
    }
}

TEST_F(ConditionalCreate, CreatesWithoutAMatch) {
    const Answer answer = send("POST", "/Patient", patient_with("", {{"http://mrn", "7"}}),
                               {{"If-None-Exist", "identifier=http://mrn|7"}});
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.etag, 1U);
}

TEST_F(ConditionalCreate, TakesItsHeaderInAnyCase) {
    const auto create = [&](std::string_view name) {
        return send("POST", "/Patient", patient_with("", {{"http://mrn", "7"}}),
                    {{std::string(name), "identifier=7"}})
            .status;
    };
    EXPECT_EQ(create("if-none-exist"), 201);
    EXPECT_EQ(create("if-none-exist"), 200);
    EXPECT_EQ(create("IF-NONE-EXIST"), 200);
}

TEST_F(ConditionalCreate, AnswersTheOneMatchAndCreatesNothing) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"http://mrn", "7"}})).status, 201);
    for (const std::string criteria :
         {"identifier=http://mrn|7", "identifier=7", "?identifier=7", "Patient?identifier=7",
          "http://test/fhir/Patient?identifier=7", "_id=1"}) {
        const Answer answer = send("POST", "/Patient", patient_with("", {{"http://mrn", "7"}}),
                                   {{"If-None-Exist", criteria}});
        EXPECT_EQ(answer.status, 200) << criteria << answer.body;
        EXPECT_EQ(answer.location, "http://test/fhir/Patient/1/_history/1") << criteria;
        EXPECT_EQ(answer.content_location, "/fhir/Patient/1/_history/1") << criteria;
        EXPECT_EQ(answer.etag, 1U) << criteria;
        EXPECT_TRUE(answer.has_last_modified) << criteria;
        EXPECT_TRUE(answer.says(R"("id":"1")")) << criteria;
    }
    const Answer minimal = send("POST", "/Patient", patient(""),
                                {{"If-None-Exist", "_id=1"}, {"Prefer", "return=minimal"}});
    EXPECT_EQ(minimal.status, 200);
    EXPECT_EQ(minimal.body, "");
    const Answer told = send("POST", "/Patient", patient(""),
                             {{"If-None-Exist", "_id=1"}, {"Prefer", "return=OperationOutcome"}});
    EXPECT_EQ(told.status, 200);
    EXPECT_TRUE(told.says("Patient/1 matches: nothing created")) << told.body;
    EXPECT_EQ(store().totals().versions, 1U);
}

TEST_F(ConditionalCreate, RefusesSeveralMatches) {
    ASSERT_EQ(send("PUT", "/Patient/1", patient_with("1", {{"a", "7"}})).status, 201);
    ASSERT_EQ(send("PUT", "/Patient/2", patient_with("2", {{"b", "7"}})).status, 201);
    const Answer answer =
        send("POST", "/Patient", patient(""), {{"If-None-Exist", "identifier=7"}});
    EXPECT_EQ(answer.status, 412);
    EXPECT_TRUE(answer.says(R"("code":"multiple-matches")"));
    EXPECT_EQ(store().totals().versions, 2U);
}

TEST_F(ConditionalCreate, RefusesBadCriteria) {
    for (const std::string criteria : {"", "identifier=", "nothing=x", "_id", "identifier=%zz",
                                       "Observation?identifier=1", "Observation/?identifier=1"}) {
        const Answer answer = send("POST", "/Patient", patient(""), {{"If-None-Exist", criteria}});
        EXPECT_EQ(answer.status, 400) << criteria;
        EXPECT_TRUE(answer.says(R"("code":"invalid")")) << criteria;
    }
    EXPECT_EQ(send("POST", "/Patient", patient(""),
                   {{"If-None-Exist", "identifier=1"}, {"If-None-Exist", "identifier=2"}})
                  .status,
              400);
    EXPECT_EQ(store().totals().versions, 0U);
}

TEST_F(ConditionalCreate, CreatesOnceWhenManyAskAtOnce) {
    std::vector<std::future<int>> answers;
    for (int i = 0; i < 32; ++i) {
        answers.push_back(std::async(std::launch::async, [this] {
            return send("POST", "/Patient", patient_with("", {{"http://mrn", "7"}}),
                        {{"If-None-Exist", "identifier=http://mrn|7"}})
                .status;
        }));
    }
    int created = 0;
    for (auto& answer : answers) {
        const int status = answer.get();
        EXPECT_TRUE(status == 200 || status == 201) << status;
        created += status == 201 ? 1 : 0;
    }
    EXPECT_EQ(created, 1);
    EXPECT_EQ(store().totals().resources, 1U);
}

TEST_F(Create, RefusesReferencesToWhatIsNotThereIfAsked) {
    core::Config config;
    config.integrity_on_write = true;
    restart(config);
    const auto observation = [](std::string_view reference) {
        return fmt::format(
            R"({{"resourceType":"Observation","status":"final","code":{{"text":"c"}},"subject":{{"reference":"{}"}}}})",
            reference);
    };
    const Answer refused = send("POST", "/Observation", observation("Patient/1"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_TRUE(refused.says(R"("code":"conflict")"));
    EXPECT_TRUE(refused.says("Patient/1"));
    EXPECT_TRUE(refused.says("Observation.subject")) << refused.body;
    EXPECT_EQ(store().totals().versions, 0U);

    ASSERT_EQ(put_patient("1"), 201);
    // A relative reference that doesn't name a resource by type and id leads nowhere, either.
    for (const std::string reference :
         {"Patient?_id=nope", "Patient?_id=1", "/Patient/nope", "/Patient/1", "1"}) {
        const Answer literal = send("POST", "/Observation", observation(reference));
        EXPECT_EQ(literal.status, 409) << reference;
        EXPECT_TRUE(literal.says(R"("code":"conflict")"));
        EXPECT_TRUE(literal.says("Observation.subject")) << literal.body;
    }
    for (const std::string reference :
         {"Patient/1", "Patient/1/_history/1", "Patient/1/_history/1#a",
          "http://test/fhir/Patient/1", "http://elsewhere/fhir/Patient/9", "#contained",
          "urn:uuid:0"}) {
        EXPECT_EQ(send("POST", "/Observation", observation(reference)).status, 201) << reference;
    }
    for (const std::string reference : {"Patient/1/_history/7", "Patient/1/_history/x",
                                        "http://test/fhir/Patient/1/_history/2"}) {
        const Answer unknown = send("POST", "/Observation", observation(reference));
        EXPECT_EQ(unknown.status, 409) << reference;
        EXPECT_TRUE(unknown.says(reference.substr(reference.find("Patient")))) << unknown.body;
    }
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("POST", "/Observation", observation("Patient/1")).status, 409);
    const auto linked = [&](std::string_view version) {
        return send("PUT", "/Patient/3",
                    fmt::format(R"({{"resourceType":"Patient","id":"3","link":[{{"other":)"
                                R"({{"reference":"Patient/3/_history/{}"}},"type":"seealso"}}]}})",
                                version))
            .status;
    };
    EXPECT_EQ(linked("2"), 409);
    EXPECT_EQ(linked("1"), 201);
    EXPECT_EQ(linked("1"), 200);
    EXPECT_EQ(
        send(
            "PUT", "/Patient/2",
            R"({"resourceType":"Patient","id":"2","link":[{"other":{"reference":"Patient/2"},"type":"seealso"}]})")
            .status,
        201);
    EXPECT_EQ(
        send(
            "PUT", "/Patient/2",
            R"({"resourceType":"Patient","id":"2","link":[{"other":{"reference":"Patient/9"},"type":"seealso"}]})")
            .status,
        409);
    // In a stored Bundle, it may be to one of its own entries.
    EXPECT_EQ(
        send("POST", "/Bundle",
             fmt::format(
                 R"({{"resourceType":"Bundle","type":"collection","entry":[{{"resource":{}}}]}})",
                 observation("nowhere")))
            .status,
        201);
}

TEST_F(Create, LooksForReferencesInTheTimeOfTheirNumber) {
    // The place of each reference used to be determined in case it led nowhere: 20,000 took two seconds, 80,000 a hundred.
    core::Config config;
    config.integrity_on_write = true;
    restart(config);
    ASSERT_EQ(put_patient("1"), 201);
    const auto time = [this](int count) {
        std::string entries;
        for (int i = 0; i < count; ++i) {
            entries += i == 0 ? "" : ",";
            entries += R"({"item":{"reference":"Patient/1"}})";
        }
        const std::string list =
            R"({"resourceType":"List","status":"current","mode":"working","entry":[)" + entries +
            "]}";
        const std::clock_t begin = std::clock();
        EXPECT_EQ(send("POST", "/List", list).status, 201);
        return std::clock() - begin;
    };
    const std::clock_t few = std::min(time(3'000), time(3'000));
    EXPECT_LT(time(30'000), 30 * few);
}

}  // namespace
}  // namespace annals::test
