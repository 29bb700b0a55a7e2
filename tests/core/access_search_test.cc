// What searches show, and count, of types that the scopes don't permit.

#include "core/access.h"
#include "tests/core/access_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace annals::core {
namespace {

TEST_F(AccessTest, HowManyEntriesAListHasIsNotToldToWhoMayNotSearchLists) {
    guard(false);
    const Principal all("all", "system/*.cruds");
    send_as(&all);
    std::string entries;
    for (int i = 0; i <= 100'000; ++i) {
        entries +=
            fmt::format(R"({}{{"item":{{"reference":"Observation/{}"}}}})", i > 0 ? "," : "", i);
    }
    const Headers json{{"Content-Type", "application/fhir+json"}};
    ASSERT_EQ(
        send("PUT", "/List/l",
             R"({"resourceType":"List","id":"l","status":"current","mode":"working","entry":[)" +
                 entries + "]}",
             json)
            .status,
        201);
    EXPECT_EQ(send("GET", "/Observation?_list=l").status, 413);

    const Principal lab("lab", "system/Observation.cruds system/Subscription.cu");
    send_as(&lab);
    const auto refuses = [](const test::Answer& answer) {
        EXPECT_EQ(answer.status, 403);
        EXPECT_TRUE(answer.says("The scope system/List.s is needed")) << answer.body;
    };
    for (const std::string id : {"l", "none"}) {
        refuses(send("GET", "/Observation?_list=" + id));
        refuses(send("GET", "/Observation?_filter=_list%20eq%20" + id));
        refuses(send("DELETE", "/Observation?_list=" + id));
        refuses(send("GET", "/$export?_type=Observation&_typeFilter=Observation%3F_list%3D" + id,
                     {}, {{"Prefer", "respond-async"}}));
        refuses(send("PUT", "/Subscription/s",
                     R"({"resourceType":"Subscription","id":"s","status":"requested","reason":"r",)"
                     R"("channel":{"type":"websocket"},"criteria":"Observation?_list=)" +
                         id + "\"}",
                     json));
        const test::Answer graphql =
            send("GET", "/$graphql?query={ObservationList(_list:" + id + "){id}}");
        EXPECT_TRUE(graphql.says("The scope system/List.s is needed")) << graphql.body;
    }
}

TEST_F(AccessTest, ASearchShowsNothingOfTypesThatAreNotPermitted) {
    guard(false);
    const Principal all("all", "system/*.cruds");
    send_as(&all);
    const Headers json{{"Content-Type", "application/fhir+json"}};
    ASSERT_EQ(send("PUT", "/Patient/p",
                   R"({"resourceType":"Patient","id":"p","name":[{"family":"Sauer"}]})", json)
                  .status,
              201);
    ASSERT_EQ(send("PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"c"},)"
                   R"("subject":{"reference":"Patient/p"}})",
                   json)
                  .status,
              201);
    EXPECT_TRUE(send("GET", "/Observation?_include=Observation:subject").says("Sauer"));

    const Principal lab("lab", "system/Observation.cruds");
    send_as(&lab);
    const test::Answer included = send("GET", "/Observation?_include=Observation:subject");
    EXPECT_EQ(included.status, 200);
    EXPECT_TRUE(included.says("Observation/o"));
    EXPECT_FALSE(included.says("Sauer")) << included.body;
    EXPECT_EQ(send("GET", "/Observation?patient.family=sauer").status, 403);
    EXPECT_EQ(send("GET", "/Observation?_has:AuditEvent:entity:agent=x").status, 403);
    EXPECT_EQ(send("GET", "/Observation/$lastn?patient=p&code:text=c").status, 200);
    EXPECT_EQ(send("GET", "/Observation/$lastn?patient.family=sauer&code:text=c").status, 403);
    // _list reveals a List's entries by what it finds, just as a search of Lists would.
    for (const std::string_view query : {"_list=l", "_list=none", "_filter=_list%20eq%20l"}) {
        const test::Answer listed = send("GET", fmt::format("/Observation?{}", query));
        EXPECT_EQ(listed.status, 403) << query;
        EXPECT_TRUE(listed.says("The scope system/List.s is needed")) << listed.body;
    }
    // R4's `patient` may lead to Groups, but not from an Observation.
    const Principal both_types("both", "system/Observation.rs system/Patient.rs");
    send_as(&both_types);
    EXPECT_EQ(send("GET", "/Observation?patient.identifier=x").status, 200);
    EXPECT_EQ(send("GET", "/Observation?subject.identifier=x").status, 403);
    // Whatever the List contains, and whatever else is asked for.
    const Principal keeper("k", "system/List.cu system/Observation.rs system/List.s");
    send_as(&keeper);
    ASSERT_EQ(send("PUT", "/List/l",
                   R"({"resourceType":"List","id":"l","status":"current","mode":"working",)"
                   R"("entry":[{"item":{"reference":"Observation/o"}}]})",
                   json)
                  .status,
              201);
    for (const std::string_view id : {"l", "none"}) {
        const std::string query =
            fmt::format("/Observation?_list={}&encounter:Encounter.status=finished", id);
        send_as(&lab);
        const test::Answer both = send("GET", query);
        EXPECT_EQ(both.status, 403) << query;
        EXPECT_TRUE(both.says("The scope system/Encounter.s is needed")) << both.body;
        send_as(&keeper);
        EXPECT_EQ(send("GET", query).status, 403) << query;
    }
    send_as(&lab);
    EXPECT_EQ(
        send("POST", "/Observation",
             R"({"resourceType":"Observation","status":"final","code":{"text":"c"}})",
             {{"Content-Type", "application/fhir+json"}, {"If-None-Exist", "patient.family=sauer"}})
            .status,
        403);
    const test::Answer transaction =
        send("POST", "/", R"({"resourceType":"Bundle","type":"transaction","entry":[{"resource":
             {"resourceType":"Observation","status":"final","code":{"text":"c"},"subject":{"reference":"Patient?family=sauer"}},
             "request":{"method":"POST","url":"Observation"}}]})",
             json);
    EXPECT_EQ(transaction.status, 400);
    EXPECT_TRUE(transaction.says(R"("code":"forbidden")")) << transaction.body;
}

TEST_F(AccessTest, ASearchOfSeveralTypesNeedsThoseThatItNames) {
    guard(false);
    const Principal two("two", "system/Patient.s user/Observation.rs");
    const Headers form{{"Content-Type", "application/x-www-form-urlencoded"}};
    send_as(&two);
    EXPECT_EQ(send("GET", "/?_type=Patient,Observation").status, 200);
    EXPECT_EQ(send("GET", "/Patient/a/*?_type=Observation,Patient").status, 200);
    EXPECT_EQ(send("POST", "/_search", "_type=Observation", form).status, 200);
    const test::Answer third = send("GET", "/?_type=Patient,Device,Observation");
    EXPECT_EQ(third.status, 403);
    EXPECT_TRUE(third.says("The scope system/Device.s is needed")) << third.body;
    EXPECT_EQ(send("POST", "/_search", "_type=Device", form).status, 403);
    for (const std::string_view path : {"/?_id=a", "/?_type=", "/Patient/a/*", "/_history"}) {
        const test::Answer all = send("GET", path);
        EXPECT_EQ(all.status, 403) << path;
        EXPECT_TRUE(all.says("The scope system/*.s is needed")) << path << all.body;
    }
    const test::Answer batch =
        send("POST", "/", R"({"resourceType":"Bundle","type":"batch","entry":[
            {"request":{"method":"GET","url":"?_type=Patient"}},{"request":{"method":"GET","url":"?_type=Device"}}]})",
             {{"Content-Type", "application/fhir+json"}});
    EXPECT_TRUE(batch.says("200 OK") && batch.says("403 Forbidden")) << batch.body;
}

}  // namespace
}  // namespace annals::core
