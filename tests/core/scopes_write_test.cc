// Scopes that permit a part: what is written must be of that part before and after.

#include "core/interactions/criteria.h"
#include "tests/core/scopes_fixture.h"

#include <asio/post.hpp>

#include <future>

namespace annals::core {
namespace {

asio::awaitable<void> answer_into(const Service& service, const Request& request,
                                  std::promise<int>& status) {
    const Response response = co_await handle(service, request);
    status.set_value(response.status);
}

/// A Provenance's targets decide whether it is shown, but other writers' changes to them don't void criteria.
TEST_F(ScopesTest, GuardWhatCriteriaAskAboutAlone) {
    Request request;
    request.principal = &mine_;
    const auto others_of = [&](std::string_view query) {
        return parse_criteria(service(), request, *find_resource_type("Provenance"), query, nullptr)
            .value()
            .watch.others;
    };
    EXPECT_THAT(others_of("agent=Practitioner/p"), ::testing::IsEmpty());
    EXPECT_THAT(others_of("target:Observation.status=final"),
                ::testing::ElementsAre(*find_resource_type("Observation")));
}

TEST_F(ScopesTest, WriteWhatIsOfThePatientBeforeAndAfter) {
    fill();
    const auto post = [&](std::string_view patient, Headers headers = {}) {
        headers.emplace_back("Content-Type", "application/fhir+json");
        return send("POST", "/Observation", observation("x", patient, "mine"), headers).status;
    };
    EXPECT_EQ(post("m"), 201);
    EXPECT_EQ(post("t"), 403);
    EXPECT_EQ(send("PUT", "/Observation/m-o1", observation("m-o1", "m", "new"), kJson).status, 200);
    EXPECT_EQ(send("PUT", "/Observation/m-o1", observation("m-o1", "t", "new"), kJson).status, 403);
    EXPECT_EQ(send("PUT", "/Observation/m-gone", observation("m-gone", "m", "new"), kJson).status,
              201);
    EXPECT_EQ(send("PUT", "/Observation/new", observation("new", "m", "new"), kJson).status, 404);
    const Headers patch{{"Content-Type", "application/json-patch+json"}};
    EXPECT_EQ(send("PATCH", "/Observation/m-o2",
                   R"([{"op":"replace","path":"/status","value":"amended"}])", patch)
                  .status,
              200);
    EXPECT_EQ(send("PATCH", "/Observation/m-o2",
                   R"([{"op":"replace","path":"/subject/reference","value":"Patient/t"}])", patch)
                  .status,
              403);
    EXPECT_EQ(send("DELETE", "/Observation/m-o3").status, 204);
    EXPECT_EQ(send("DELETE", "/Patient/t").status, 404);

    // What is theirs matches no criteria.
    EXPECT_EQ(post("m", {{"If-None-Exist", "identifier=i-t-o1"}}), 201);
    EXPECT_EQ(post("m", {{"If-None-Exist", "identifier=i-m-o1"}}), 200);
    EXPECT_EQ(send("DELETE", "/Observation?identifier=i-t-o1").status, 204);
    EXPECT_EQ(send("PATCH", "/Observation?identifier=i-t-o1", "[]", patch).status, 404);
    std::string without_id = observation("i", "m", "mine");
    without_id.erase(without_id.find(R"("id":"i",)"), 9);
    EXPECT_EQ(send("PUT", "/Observation?identifier=i-t-o1", without_id, kJson).status, 201);
    EXPECT_EQ(
        send("PUT", "/Observation?identifier=i-t-o1", observation("t-o1", "m", "x"), kJson).status,
        404);

    send_as(&everybody_);
    EXPECT_TRUE(send("GET", "/Observation/t-o1").says(kMark));
    EXPECT_EQ(send("GET", "/Observation/t-o1").etag, 2u);
    EXPECT_TRUE(send("GET", "/Observation/m-o1").says("Patient/m"));
    EXPECT_TRUE(send("GET", "/Observation/m-o2").says("Patient/m"));
}

TEST_F(ScopesTest, WriteNothingByCriteriaThatTheySearchOnly) {
    fill();
    const Principal searches("x", "user/Observation.rs patient/Observation.cud", "m");
    send_as(&searches);
    ASSERT_EQ(total(send("GET", "/Observation?identifier=i-t-o1")), 1);
    std::string body = observation("i", "m", "taken over");
    body.erase(body.find(R"("id":"i",)"), 9);
    const Headers patch{{"Content-Type", "application/json-patch+json"}};
    const std::string edit =
        R"([{"op":"replace","path":"/subject/reference","value":"Patient/m"}])";
    EXPECT_EQ(send("PUT", "/Observation?identifier=i-m-o1", body, kJson).status, 200);
    const std::string url = "Observation?identifier=i-t-o1";
    EXPECT_EQ(send("PUT", "/" + url, body, kJson).status, 403);
    EXPECT_EQ(send("PATCH", "/" + url, edit, patch).status, 403);
    EXPECT_EQ(send("DELETE", "/" + url).status, 403);
    for (const std::string& one : {entry("PUT", url, body), entry("DELETE", url)}) {
        EXPECT_GE(send("POST", "/", bundle("transaction", one), kJson).status, 400) << one;
        EXPECT_TRUE(send("POST", "/", bundle("batch", one), kJson).says(R"("status":"403)")) << one;
    }
    // Who may delete no Devices isn't told what is wrong with their criteria.
    EXPECT_TRUE(send("POST", "/", bundle("transaction", entry("DELETE", "Device?none=1")), kJson)
                    .says(R"("code":"forbidden")"));
    send_as(&everybody_);
    const Answer theirs = send("GET", "/Observation/t-o1");
    EXPECT_TRUE(theirs.says(kMark));
    EXPECT_EQ(theirs.etag, 2U);
}

/// Restricted resources are parsed to tell whether they may be deleted.
TEST_F(ScopesTest, LetOthersRunWhileAllThatIsToBeDeletedIsLookedAt) {
    Config config;
    config.conditional_delete = "multiple";
    open(config);
    std::string notes;
    for (int i = 0; i < 10'000; ++i) {
        notes += R"({"text":"x"},)";
    }
    notes.pop_back();
    for (int i = 10; i < 70; ++i) {
        const std::string id = fmt::format("o{}", i);
        put("/Observation/" + id,
            fmt::format(R"({{"note":[{}],{})", notes, observation(id, "m", "text").substr(1)));
    }

    Request request;
    request.method = HttpMethod::delete_;
    request.path = "/Observation";
    request.query = "status=final";
    request.base_url = kBaseUrl;
    request.request_id = "test-1";
    request.loop = &loop();
    request.principal = &mine_;
    std::promise<int> status;
    std::promise<bool> ran_before;
    on_loop([&] {
        spawn(loop(), "delete", answer_into(service(), request, status));
        asio::post(loop().context(), [&] {
            const storage::Head head = store().head(*find_resource_type("Observation"), "o10");
            ran_before.set_value(head.ticket.value == 0 && !head.deletion);
        });
    });
    EXPECT_TRUE(ran_before.get_future().get());
    EXPECT_EQ(status.get_future().get(), 204);
    EXPECT_EQ(store().totals(*find_resource_type("Observation")).live, 0U);
}

TEST_F(ScopesTest, EveryRefusalForWantOfOneNamesIt) {
    fill();
    const auto challenge = [](const Answer& answer) {
        EXPECT_EQ(answer.status, 403) << answer.body;
        return std::string(answer.header("WWW-Authenticate"));
    };
    const Headers patch{{"Content-Type", "application/json-patch+json"}};
    EXPECT_THAT(
        challenge(send("POST", "/Observation", observation("x", "t", "not mine"), kJson)),
        HasSubstr(
            R"(Bearer realm="fhir", error="insufficient_scope", scope="system/Observation.c")"));
    EXPECT_THAT(
        challenge(send("PATCH", "/Observation/m-o2",
                       R"([{"op":"replace","path":"/subject/reference","value":"Patient/t"}])",
                       patch)),
        HasSubstr(R"(scope="system/Observation.u")"));
    const Principal patients("p", "system/Patient.rs");
    send_as(&patients);
    for (const char* target :
         {"/Patient?_has:Observation:subject:status=final", "/Patient?general-practitioner.name=x",
          "/Observation", "/Observation/m-o1"}) {
        EXPECT_THAT(challenge(send("GET", target)),
                    HasSubstr(R"(error="insufficient_scope", scope=")"))
            << target;
    }
    EXPECT_THAT(
        challenge(send("GET", "/$export?_type=Observation", {}, {{"Prefer", "respond-async"}})),
        HasSubstr(R"(scope="system/Observation.rs")"));
    // A failed transaction has a status of its own, not its entry's.
    const Answer transaction =
        send("POST", "/", bundle("transaction", entry("DELETE", "Patient/m")), kJson);
    EXPECT_EQ(transaction.status, 400);
    EXPECT_EQ(transaction.header("WWW-Authenticate"), "");
}

TEST_F(ScopesTest, AnUpdateByCriteriaNeedsToCreateOnlyWhereItDoes) {
    fill();
    const Principal updates("u", "system/Patient.us");
    const Principal creates("c", "system/Patient.cus");
    const std::string body = R"({"resourceType":"Patient","identifier":[{"value":"n-m"}]})";
    const std::string with_id = R"({"resourceType":"Patient","id":"fresh"})";
    send_as(&updates);
    EXPECT_EQ(send("PUT", "/Patient?identifier=n-m", body, kJson).status, 200);
    EXPECT_EQ(send("POST", "/", bundle("transaction", entry("PUT", "Patient?identifier=n-m", body)),
                   kJson)
                  .status,
              200);
    for (const std::string& none : {body, with_id}) {
        const Answer refused = send("PUT", "/Patient?identifier=none", none, kJson);
        EXPECT_EQ(refused.status, 403);
        EXPECT_THAT(refused.header("WWW-Authenticate"), HasSubstr(R"(scope="system/Patient.c")"));
        const Answer transaction =
            send("POST", "/", bundle("transaction", entry("PUT", "Patient?identifier=none", none)),
                 kJson);
        EXPECT_EQ(transaction.status, 400);
        EXPECT_TRUE(transaction.says(R"("code":"forbidden")")) << transaction.body;
    }
    send_as(&creates);
    EXPECT_EQ(send("PUT", "/Patient?identifier=none", with_id, kJson).status, 201);
    EXPECT_EQ(send("PUT", "/Patient?identifier=none", body, kJson).status, 201);
}

TEST_F(ScopesTest, HoldTransactionsToThePatient) {
    fill();
    const auto transact = [&](const std::string& entries) {
        const Answer answer = send("POST", "/", bundle("transaction", entries), kJson);
        EXPECT_THAT(answer.body, Not(HasSubstr(kMark)));
        return answer;
    };
    const std::string theirs = observation("t-o1", "m", "mine");
    EXPECT_EQ(transact(entry("PUT", "Observation/t-o1", theirs)).status, 400);
    EXPECT_EQ(transact(entry("DELETE", "Observation/t-o1")).status, 400);
    EXPECT_EQ(transact(entry("POST", "Observation", observation("x", "t", "mine"))).status, 400);
    EXPECT_EQ(transact(entry("POST", "Observation", observation("x", "m", "mine"))).status, 200);
    EXPECT_EQ(transact(entry("PUT", "Observation/m-o1", observation("m-o1", "t", "mine"))).status,
              400);
    EXPECT_EQ(transact(entry("PUT", "Observation/m-o1", observation("m-o1", "m", "mine"))).status,
              200);
    // References by criteria are judged as resolved.
    const auto by_criteria = [](std::string_view number) {
        return entry(
            "POST", "Observation",
            fmt::format(
                R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient?identifier={}"}}}})",
                number));
    };
    const Answer resolved = transact(by_criteria("n-m"));
    EXPECT_EQ(resolved.status, 200) << resolved.body;
    const Answer unresolved = transact(by_criteria("n-t"));
    const Answer nothing = transact(by_criteria("n-z"));
    EXPECT_EQ(unresolved.status, 400);
    EXPECT_THAT(unresolved.body, HasSubstr("matches nothing"));
    EXPECT_THAT(nothing.body, HasSubstr("matches nothing"));
    // Indirectly: the patient's own resources may refer to one another within a transaction.
    const Answer links = transact(
        R"({"fullUrl":"urn:uuid:0c4a8d7e-1111-4222-8333-444455556666","resource":)" +
        observation("x", "m", "mine") + R"(,"request":{"method":"POST","url":"Observation"}},)" +
        entry(
            "POST", "Observation",
            R"({"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/m"},)"
            R"("hasMember":[{"reference":"urn:uuid:0c4a8d7e-1111-4222-8333-444455556666"}]})"));
    EXPECT_EQ(links.status, 200) << links.body;
    send_as(&everybody_);
    EXPECT_EQ(send("GET", "/Observation/t-o1").etag, 2u);
}

TEST_F(ScopesTest, DoNotTellByReferencesWhatThereIs) {
    Config config;
    config.integrity_on_write = true;
    config.integrity_on_delete = true;
    open(config);
    fill();
    const auto refer = [&](std::string_view to) {
        return send(
            "POST", "/Observation",
            fmt::format(
                R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},)"
                R"("subject":{{"reference":"Patient/m"}},"hasMember":[{{"reference":"Observation/{}"}}]}})",
                to),
            kJson);
    };
    EXPECT_EQ(refer("m-o1").status, 201);
    EXPECT_EQ(refer("t-o1").status, 409);
    EXPECT_EQ(refer("none").status, 409);
    const auto perform = [&](std::string_view who) {
        return fmt::format(
            R"({{"resourceType":"Observation","status":"final","code":{{"text":"x"}},)"
            R"("subject":{{"reference":"Patient/m"}},"performer":[{{"reference":"{}"}}]}})",
            who);
    };
    const std::pair<std::string_view, int> performers[] = {{"Patient/m", 201},
                                                           {"Patient/t", 409},
                                                           {"Patient/none", 409},
                                                           {"Practitioner/p", 201},
                                                           {"Practitioner/none", 409}};
    for (const auto& [who, status] : performers) {
        EXPECT_EQ(send("POST", "/Observation", perform(who), kJson).status, status) << who;
        const Answer inside = send(
            "POST", "", bundle("transaction", entry("POST", "Observation", perform(who))), kJson);
        EXPECT_EQ(inside.status, status == 201 ? 200 : 400) << who << inside.body;
    }
    const Answer held = send("DELETE", "/Observation/m-o1");
    EXPECT_EQ(held.status, 409);
    EXPECT_THAT(held.body, HasSubstr("referred to by Composition/m-c, List/m-l, Observation/"));
    EXPECT_THAT(held.body, Not(HasSubstr("may not see")));
    EXPECT_THAT(held.body, Not(HasSubstr("others")));
    // What others have is mentioned only if nothing of one's own refers to it, and is not counted.
    send_as(&everybody_);
    for (const char* id : {"t-1", "t-2"}) {
        put(fmt::format("/Observation/{}", id),
            fmt::format(
                R"({{"resourceType":"Observation","id":"{}","status":"final","code":{{"text":"x"}},)"
                R"("subject":{{"reference":"Patient/t"}},"hasMember":[{{"reference":"Observation/m-o2"}}]}})",
                id));
    }
    send_as(&mine_);
    EXPECT_THAT(send("DELETE", "/Observation/m-o2").body,
                HasSubstr("Observation/m-o2 is referred to by a resource that you may not see\""));

    // Nor to somebody with a whole type that isn't the referrers'.
    const Principal patients("p", "system/Patient.cruds");
    send_as(&patients);
    const Answer unnamed = send("DELETE", "/Patient/m");
    EXPECT_EQ(unnamed.status, 409);
    EXPECT_THAT(unnamed.body, Not(HasSubstr("m-e")));
    const Principal reads("r", "system/Patient.cruds system/Encounter.r");
    send_as(&reads);
    EXPECT_THAT(send("DELETE", "/Patient/m").body, HasSubstr("Encounter/m-e"));
}

}  // namespace
}  // namespace annals::core
