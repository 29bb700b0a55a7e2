// referential_integrity.on_delete: what a live resource refers to can't be deleted, no matter who writes at the same time.

#include "core/interactions/referrers.h"

#include "core/interactions/turns.h"
#include "tests/core/bundle_fixture.h"
#include "tests/support/longest_pause.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace annals::core {
namespace {

using testing::HasSubstr;
using testing::Not;

Config integrity(bool hard_delete = false, bool on_write = false) {
    Config config;
    config.integrity_on_delete = true;
    config.integrity_on_write = on_write;
    config.hard_delete = hard_delete;
    config.conditional_delete = "multiple";
    return config;
}

std::string basic(std::string_view id, std::string_view members = {}) {
    return fmt::format(R"({{"resourceType":"Basic","id":"{}","code":{{"text":"c"}}{}{}}})", id,
                       members.empty() ? "" : ",", members);
}

std::string reference_to(std::string_view target) {
    return fmt::format(R"("subject":{{"reference":"{}"}})", target);
}

std::string extension_to(std::string_view target) {
    return fmt::format(R"("extension":[{{"url":"urn:e","valueReference":{{"reference":"{}"}}}}])",
                       target);
}

Sent delete_of(std::string path, std::string query = {}) {
    return {HttpMethod::delete_, std::move(path), std::move(query)};
}

std::string transaction(const std::vector<std::string>& entries) {
    return bundle_of("transaction", entries);
}

class ReferrersTest : public testing::TestWithParam<bool> {
  protected:
    TestService server_{integrity(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(SoftAndHard, ReferrersTest, testing::Bool());

TEST_P(ReferrersTest, HoldWhatTheyReferToInWhateverWay) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    const std::string absolute = std::string(kBase) + "/Patient/p";
    for (const std::string& members :
         {reference_to("Patient/p"), reference_to("Patient/p/_history/1"), reference_to(absolute),
          reference_to(absolute + "/_history/1"), extension_to("Patient/p"), extension_to(absolute),
          reference_to("Patient/p#x"), reference_to(absolute + "#x"),
          R"("contained":[{"resourceType":"Basic","id":"x","code":{"text":"d"},)" +
              reference_to("Patient/p") + "}]"}) {
        ASSERT_LT(server_.put("/Basic/b", basic("b", members)).status, 300) << members;
        const Received refused = server_.send(delete_of("/Patient/p"));
        EXPECT_EQ(refused.status, 409) << members;
        EXPECT_THAT(refused.body, HasSubstr("Patient/p is referred to by Basic/b")) << members;
        EXPECT_THAT(refused.body, HasSubstr(R"("code":"conflict")"));
    }
    EXPECT_EQ(server_.get("/Patient/p").status, 200);
    ASSERT_EQ(server_.put("/Basic/b", basic("b", reference_to("Patient/other"))).status, 200);
    EXPECT_EQ(server_.send(delete_of("/Patient/p")).status, 204);
}

TEST_P(ReferrersTest, AreLiveOnes) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    ASSERT_EQ(server_.put("/Basic/b", basic("b", reference_to("Patient/p"))).status, 201);
    ASSERT_EQ(server_.send(delete_of("/Patient/p")).status, 409);
    ASSERT_EQ(server_.send(delete_of("/Basic/b")).status, 204);
    EXPECT_EQ(server_.send(delete_of("/Patient/p")).status, 204);
}

TEST_P(ReferrersTest, DoNotHoldThemselves) {
    ASSERT_EQ(server_.put("/Basic/b", basic("b", extension_to("Basic/b"))).status, 201);
    EXPECT_EQ(server_.send(delete_of("/Basic/b")).status, 204);
}

TEST_P(ReferrersTest, OfOtherServersAndOtherIdsDoNotCount) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    int n = 0;
    for (const std::string_view other :
         {"http://elsewhere/fhir/Patient/p", "Patient/P", "Patient/p2", "Group/p", "#p"}) {
        ASSERT_EQ(
            server_.put(fmt::format("/Basic/{}", n), basic(std::to_string(n), extension_to(other)))
                .status,
            201);
        ++n;
    }
    EXPECT_EQ(server_.send(delete_of("/Patient/p")).status, 204);
}

TEST_P(ReferrersTest, AreNamedUpToThree) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(server_
                      .put(fmt::format("/Basic/{}", i),
                           basic(std::to_string(i), reference_to("Patient/p")))
                      .status,
                  201);
    }
    const Received refused = server_.send(delete_of("/Patient/p"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body,
                HasSubstr("Patient/p is referred to by Basic/4, Basic/3, Basic/2 and others"));
}

TEST_P(ReferrersTest, HoldWhatCriteriaMatch) {
    for (const std::string_view id : {"1", "2", "3"}) {
        ASSERT_EQ(
            server_.put(fmt::format("/Patient/{}", id), patient_json(id, R"("gender":"male")"))
                .status,
            201);
    }
    ASSERT_EQ(server_.put("/Basic/b", basic("b", reference_to("Patient/2"))).status, 201);
    const Received refused = server_.send(delete_of("/Patient", "gender=male"));
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("Patient/2 is referred to by Basic/b"));
    EXPECT_EQ(server_.get("/Patient/1").status, 200);
    EXPECT_EQ(server_.send(delete_of("/Patient", "_id=1")).status, 204);
    ASSERT_EQ(server_.send(delete_of("/Basic/b")).status, 204);
    EXPECT_EQ(server_.send(delete_of("/Patient", "gender=male")).status, 204);
    EXPECT_NE(server_.get("/Patient/2").status, 200);
}

TEST_P(ReferrersTest, ThatAreDeletedWithItDoNotHold) {
    ASSERT_EQ(server_.put("/Basic/1", basic("1", extension_to("Basic/2"))).status, 201);
    ASSERT_EQ(server_.put("/Basic/2", basic("2", extension_to("Basic/1"))).status, 201);
    EXPECT_EQ(server_.send(delete_of("/Basic/1")).status, 409);
    const Received done =
        server_.submit(transaction({entry_of("DELETE", "Basic/1"), entry_of("DELETE", "Basic/2")}));
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_NE(server_.get("/Basic/1").status, 200);
}

TEST_P(ReferrersTest, OfATransactionCountAsItLeavesThem) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    ASSERT_EQ(server_.put("/Basic/b", basic("b", reference_to("Patient/p"))).status, 201);
    Received answer = server_.submit(transaction({entry_of("DELETE", "Patient/p")}));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("409 Patient/p is referred to by Basic/b"));
    EXPECT_THAT(answer.body, HasSubstr("Bundle.entry[0]"));
    // The reference stays, or a new one is added.
    for (const std::string& keeps :
         {entry_of("PUT", "Basic/b", basic("b", extension_to("Patient/p"))),
          entry_of("POST", "Basic", basic("x", reference_to("Patient/p")))}) {
        answer = server_.submit(transaction({keeps, entry_of("DELETE", "Patient/p")}));
        EXPECT_EQ(answer.status, 400) << keeps;
        EXPECT_THAT(answer.body, HasSubstr(R"("code":"conflict")"));
        EXPECT_THAT(answer.body, HasSubstr("Bundle.entry[1]"));
    }
    EXPECT_EQ(server_.get("/Patient/p").status, 200);
    answer = server_.submit(
        transaction({entry_of("PUT", "Basic/b", basic("b")), entry_of("DELETE", "Patient/p")}));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_NE(server_.get("/Patient/p").status, 200);
}

TEST_P(ReferrersTest, DoNotHoldOnceEarlierEntriesOfABatchAreDone) {
    server_.put("/Patient/p", patient_json("p"));
    server_.put("/Basic/1", basic("1", reference_to("Patient/p")));
    server_.put("/Basic/2", basic("2", reference_to("Basic/1")));
    server_.put("/Basic/3", basic("3", reference_to("Patient/p")));
    const Received answer = server_.submit(
        bundle_of("batch", {entry_of("DELETE", "Basic/2"), entry_of("PUT", "Basic/3", basic("3")),
                            entry_of("DELETE", "Basic/1"), entry_of("DELETE", "Patient/p")}));
    EXPECT_EQ(Json(answer.body).statuses(), "204 200 204 204") << answer.body;
}

TEST_P(ReferrersTest, DoNotHoldAgainstHistoryBundles) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    ASSERT_EQ(server_.put("/Basic/b", basic("b", reference_to("Patient/p"))).status, 201);
    const Received done = server_.submit(
        R"({"resourceType":"Bundle","type":"history","entry":[{"request":{"method":"DELETE",)"
        R"("url":"Patient/p"},"response":{"status":"410","etag":"W/\"2\""}}]})");
    EXPECT_EQ(done.status, 200);
    EXPECT_THAT(done.body, HasSubstr(R"("status":"204)"));
    EXPECT_NE(server_.get("/Patient/p").status, 200);
}

TEST_P(ReferrersTest, BeyondWhatSearchKeepsHoldAsWell) {
    ASSERT_EQ(server_.put("/Patient/p", patient_json("p")).status, 201);
    std::string members;
    for (int i = 0; i < 12'000; ++i) {
        members += fmt::format(R"({{"entity":{{"reference":"Practitioner/{}"}}}},)", i);
    }
    members += R"({"entity":{"reference":"Patient/p"}})";
    ASSERT_EQ(server_
                  .put("/Group/g", fmt::format(R"({{"resourceType":"Group","id":"g",)"
                                               R"("type":"person","actual":true,"member":[{}]}})",
                                               members))
                  .status,
              201);
    EXPECT_EQ(server_.send(delete_of("/Patient/p")).status, 409);
}

TEST(Referrers, AreNotAskedForByDefault) {
    TestService server;
    ASSERT_EQ(server.put("/Patient/p", patient_json("p")).status, 201);
    ASSERT_EQ(server.put("/Basic/b", basic("b", reference_to("Patient/p"))).status, 201);
    EXPECT_EQ(server.send(delete_of("/Patient/p")).status, 204);
}

TEST(Referrers, AreLookedForInTurnsHoweverManyAreToBeDeleted) {
    TestService server(integrity());
    std::vector<std::string> patients;
    std::vector<std::string> deletions;
    for (int i = 0; i < 5000; ++i) {
        const std::string id = std::to_string(i);
        patients.push_back(entry_of("PUT", "Patient/" + id, patient_json(id)));
        deletions.push_back(entry_of("DELETE", "Patient/" + id));
    }
    ASSERT_EQ(server.submit(transaction(patients)).status, 200);
    ASSERT_EQ(server.put("/Basic/b", basic("b", reference_to("Patient/4999"))).status, 201);
    const std::string body = transaction(deletions);
    Request request;
    request.method = HttpMethod::post;
    request.body = body;
    request.base_url = kBase;
    const test::Watched watched = test::handle_watched_repeatedly(server.service(), request);
    ASSERT_TRUE(watched.response);
    EXPECT_THAT(watched.response->body.str(), HasSubstr("Patient/4999 is referred to by Basic/b"));
    test::expect_turns_of(kTurn, watched);
}

class ReferrersOfBefore : public test::ServiceFixture {
  protected:
    void put(std::string_view id, std::string_view refers_to) {
        ASSERT_EQ(
            send("PUT", fmt::format("/Basic/{}", id), basic(id, extension_to(refers_to))).status,
            201);
    }
};

TEST_F(ReferrersOfBefore, AreFoundOnceIntegrityIsSwitchedOn) {
    ASSERT_EQ(put_patient("p"), 201);
    put("b", "Patient/p");
    restart(integrity());
    EXPECT_EQ(send("DELETE", "/Patient/p").status, 409);
    restart(Config());
    EXPECT_EQ(send("DELETE", "/Patient/p").status, 204);
}

TEST_F(ReferrersOfBefore, DoNotKeepWhatIsDeletedFromBeingErased) {
    ASSERT_EQ(put_patient("p"), 201);
    put("b", "Patient/p");
    ASSERT_EQ(send("DELETE", "/Patient/p").status, 204);
    restart(integrity(true));
    EXPECT_EQ(send("DELETE", "/Patient/p").status, 204);
    EXPECT_EQ(send("GET", "/Patient/p").status, 404);
}

// Writers add references while deleters delete their targets, in every possible way.
class ReferrersRace : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(SoftAndHard, ReferrersRace, testing::Bool());

TEST_P(ReferrersRace, NeverLeavesALiveReferenceToWhatIsDeleted) {
    TestService server(integrity(GetParam(), true));
    constexpr int kPatients = 60;
    constexpr int kEach = 4;
    for (int i = 0; i < kPatients; ++i) {
        ASSERT_EQ(server.put(fmt::format("/Patient/{}", i), patient_json(std::to_string(i))).status,
                  201);
    }
    std::vector<Sent> requests;
    for (int i = 0; i < kPatients; ++i) {
        const std::string name = fmt::format("Patient/{}", i);
        // Before, between and after the writes that refer to it.
        const std::vector<Sent> deletes{
            delete_of("/" + name),
            delete_of("/Patient", fmt::format("_id={}", i)),
            {HttpMethod::post, "", {}, transaction({entry_of("DELETE", name)})}};
        for (int k = 0; k <= kEach; ++k) {
            if (k == i % (kEach + 1)) {
                requests.push_back(deletes[static_cast<std::size_t>(i % 3)]);
            }
            const std::string id = fmt::format("{}-{}", i, k);
            const std::string body = basic(id, reference_to(name));
            if (k < kEach && (i + k) % 2 == 0) {
                requests.push_back({HttpMethod::put, "/Basic/" + id, {}, body});
            } else if (k < kEach) {
                requests.push_back({HttpMethod::post,
                                    "",
                                    {},
                                    transaction({entry_of("PUT", "Basic/" + id, body)})});
            }
        }
    }
    const std::vector<Received> answers = server.send_all(requests);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        // Refused in one way or another, or done; attempts never run out.
        EXPECT_THAT((std::set{200, 201, 204, 400, 409}), testing::Contains(answers[i].status))
            << requests[i].path << requests[i].body << answers[i].body;
    }
    int held = 0;
    int gone = 0;
    for (int i = 0; i < kPatients; ++i) {
        const bool live = server.get(fmt::format("/Patient/{}", i)).status == 200;
        int referrers = 0;
        for (int k = 0; k < kEach; ++k) {
            referrers += server.get(fmt::format("/Basic/{}-{}", i, k)).status == 200 ? 1 : 0;
        }
        EXPECT_TRUE(live || referrers == 0) << i << " is gone and has " << referrers;
        // Nothing was refused without a reason.
        EXPECT_TRUE(!live || referrers > 0) << i;
        (live ? held : gone)++;
    }
    // Some deletions came first, some last.
    EXPECT_GT(held, 0);
    EXPECT_GT(gone, 0);
}

}  // namespace
}  // namespace annals::core
