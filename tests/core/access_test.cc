// What scopes permit: every row of the table of interactions is covered.

#include "core/access.h"

#include "core/operations/operations.h"
#include "tests/core/access_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace annals::core {
namespace {

/// The scope without one of its letters, or for other types, or none.
std::vector<std::string> lesser(std::string_view scope) {
    std::vector<std::string> all{"", "openid"};
    const std::size_t dot = scope.find('.');
    for (std::size_t i = dot + 1; i < scope.size() && scope.size() > dot + 2; ++i) {
        std::string less(scope);
        all.push_back(less.erase(i, 1));
    }
    const std::string letters(scope.substr(dot));
    if (scope.find('*') == std::string_view::npos) {
        all.push_back("system/Device" + letters);
        all.push_back("patient/*" + letters);
    } else {
        all.push_back("system/Patient" + letters);
    }
    return all;
}

TEST_F(AccessTest, EveryRouteNeedsItsScopeAndNoMore) {
    for (const bool hard_delete : {false, true}) {
        guard(hard_delete);
        for (const auto& [place, route] : routes()) {
            if (route.hard_delete != hard_delete) {
                continue;
            }
            SCOPED_TRACE(fmt::format("{} {}", route.method, route.target));
            if (route.scope == kNotTaken) {
                const Principal anybody("anybody", "");
                EXPECT_EQ(status_of(route, nullptr), 401);
                EXPECT_EQ(status_of(route, &anybody), 405);
                continue;
            }
            EXPECT_EQ(status_of(route, nullptr), 401);
            const Principal allowed("allowed", route.scope);
            const int status = status_of(route, &allowed);
            EXPECT_TRUE(status != 401 && status != 403) << status;
            if (route.scope.empty()) {
                continue;
            }
            const std::string of_user = "user" + std::string(route.scope.substr(6));
            const Principal user("user", of_user);
            EXPECT_EQ(status_of(route, &user) == 403, route.scope == "system/*.cruds") << of_user;
            for (const std::string& scope : lesser(route.scope)) {
                const Principal less("less", scope);
                EXPECT_EQ(status_of(route, &less), 403) << scope;
            }
        }
    }
}

bool is_taken(const Operation& operation, Level level, HttpMethod method) {
    static const std::map<Level, std::uint8_t> bits{{Level::system_operation, kOnSystem},
                                                    {Level::type_operation, kOnType},
                                                    {Level::instance_operation, kOnInstance},
                                                    {Level::version_operation, kOnVersion}};
    Target target;
    target.level = level;
    return (operation.levels & bits.at(level)) != 0 && takes(operation, target, method);
}

/// Whether a route leads to this row of the table of operations.
bool has_route(const Operation& operation, Level level, HttpMethod method) {
    const auto [begin, end] = routes().equal_range({level, method});
    return std::any_of(begin, end, [&](const auto& route) {
        const std::string_view path = route.second.target;
        const auto target = parse_target(path.substr(0, path.find('?')));
        return target && find_operation(*target) == &operation && route.second.scope != kNotTaken;
    });
}

TEST_F(AccessTest, EveryRowOfTheTableHasARouteHere) {
    for (const Interaction& row : interactions()) {
        EXPECT_TRUE(routes().contains({row.level, row.method}))
            << method_name(row.method) << " on level " << static_cast<int>(row.level);
    }
    for (const Operation& operation : operations()) {
        EXPECT_EQ(operation.access == Access::open, operation.name == "$versions")
            << operation.name;
        for (const Level level : {Level::system_operation, Level::type_operation,
                                  Level::instance_operation, Level::version_operation}) {
            for (const HttpMethod method : {HttpMethod::get, HttpMethod::post}) {
                EXPECT_TRUE(!is_taken(operation, level, method) ||
                            has_route(operation, level, method))
                    << method_name(method) << ' ' << operation.name << " on level "
                    << static_cast<int>(level);
            }
        }
    }
}

TEST_F(AccessTest, EveryRouteHoldsScopesToTheirPartOrRefusesThem) {
    for (const bool hard_delete : {false, true}) {
        guard(hard_delete);
        const Principal everybody("e", "system/*.cruds");
        for (const auto& [place, route] : routes()) {
            SCOPED_TRACE(fmt::format("{} {}", route.method, route.target));
            ASSERT_NE(route.part, Part::unsaid);
            if (route.part == Part::none || route.hard_delete != hard_delete) {
                continue;
            }
            const std::string of_patient = "patient" + std::string(route.scope.substr(6));
            const Principal patient("p", of_patient, "a");
            const Principal nobodys("n", of_patient);
            const Principal granular("g", std::string(route.scope) + "?_lastUpdated=gt2000-01-01");
            for (const Principal* const principal : {&patient, &granular, &nobodys}) {
                send_as(&everybody);
                send("PUT", "/Patient/a", kBody, {{"Content-Type", "application/fhir+json"}});
                const bool refused = principal == &nobodys || route.part == Part::refused ||
                                     (route.part == Part::of_query && principal == &patient);
                const int status = status_of(route, principal);
                EXPECT_EQ(status == 403, refused) << principal->name() << ": " << status;
                EXPECT_NE(status, 401);
            }
        }
    }
}

TEST_F(AccessTest, WhatIsPublicNeedsNobody) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
        {"metadata", {"/metadata", "/openapi.json", "/$versions"}},
        {"read", {"/Patient/a", "/Patient/a/_history/1"}},
        {"search",
         {"/Patient?family=x", "/?_type=Patient",
          "/Patient?_has:Observation:subject:status=final&_revinclude=Encounter:subject"}},
        {"history", {"/Patient/a/_history", "/Patient/_history", "/_history"}}};
    for (const auto& [name, targets] : cases) {
        guard(false, {name});
        send_as(nullptr);
        for (const auto& [other, others] : cases) {
            for (const std::string& target : others) {
                EXPECT_EQ(send("GET", target).status == 401, other != name)
                    << target << " with " << name << " public";
            }
        }
        EXPECT_EQ(send("PUT", "/Patient/a", kBody).status, 401);
        EXPECT_EQ(send("DELETE", "/Patient/a").status, 401);
    }
}

TEST_F(AccessTest, AChangeTellsNothingToWhoMayNotReadIt) {
    guard(false);
    const Principal all("all", "system/*.cruds");
    send_as(&all);
    const Headers json{{"Content-Type", "application/fhir+json"}};
    ASSERT_EQ(send("PUT", "/Patient/a",
                   R"({"resourceType":"Patient","id":"a","name":[{"family":"Sauer"}],)"
                   R"("meta":{"tag":[{"code":"secret"}]}})",
                   json)
                  .status,
              201);
    const std::string_view patches =
        R"({"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Binary",)"
        R"("contentType":"application/json-patch+json","data":"W10="},"request":{"method":"PATCH","url":"Patient/a"}}]})";
    std::string transaction(patches);
    transaction.replace(transaction.find("batch"), 5, "transaction");
    const Principal updates("u", "system/Patient.u");
    const Principal reads("r", "system/Patient.ru");
    const Principal searches("s", "system/Patient.us");
    const Principal part("p", "system/Patient.u system/Patient.r?family=nobody");
    const Principal own("o", "patient/Patient.ru", "a");
    for (const auto& [principal, told] :
         {std::pair(&updates, false), std::pair(&reads, true), std::pair(&searches, true),
          std::pair(&part, false), std::pair(&own, true)}) {
        SCOPED_TRACE(principal->name());
        send_as(principal);
        const test::Answer patched =
            send("PATCH", "/Patient/a", "[]", {{"Content-Type", "application/json-patch+json"}});
        EXPECT_EQ(patched.status, 200) << patched.body;
        EXPECT_EQ(patched.says("Sauer"), told) << patched.body;
        EXPECT_NE(patched.etag, 0U);
        for (const std::string_view bundle : {patches, std::string_view(transaction)}) {
            const test::Answer answer = send("POST", "/", bundle, json);
            EXPECT_TRUE(answer.says("200 OK")) << answer.body;
            EXPECT_EQ(answer.says("Sauer"), told) << answer.body;
        }
        for (const std::string_view operation : {"$meta-add", "$meta-delete"}) {
            const test::Answer meta =
                send("POST", fmt::format("/Patient/a/{}", operation),
                     R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":)"
                     R"({"tag":[{"code":"other"}]}}]})",
                     json);
            EXPECT_EQ(meta.status, 200) << meta.body;
            EXPECT_EQ(meta.says("secret"), told) << meta.body;
            EXPECT_EQ(meta.says("masked"), !told) << meta.body;
        }
    }
}

TEST_F(AccessTest, WhereEverybodyMaySearchCriteriaNeedNothingMore) {
    const Principal creates("c", "system/Patient.c");
    const Principal updates("u", "system/Patient.u");
    const Headers conditional{{"Content-Type", "application/fhir+json"},
                              {"If-None-Exist", "family=x"}};
    const std::string_view entry =
        R"({"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Patient"},)"
        R"("request":{"method":"POST","url":"Patient","ifNoneExist":"family=y"}}]})";
    for (const bool open : {false, true}) {
        guard(false, open ? std::vector<std::string>{"search"} : std::vector<std::string>{});
        send_as(&creates);
        EXPECT_EQ(send("POST", "/Patient", kBody, conditional).status == 201, open);
        EXPECT_EQ(
            send("POST", "/", entry, {{"Content-Type", "application/fhir+json"}}).status == 200,
            open);
        send_as(&updates);
        EXPECT_EQ(send("PATCH", "/Patient?family=none", "[]",
                       {{"Content-Type", "application/json-patch+json"}})
                      .status,
                  open ? 404 : 403);
        send_as(nullptr);
        EXPECT_EQ(send("POST", "/Patient", kBody, conditional).status, 401);
    }
}

TEST_F(AccessTest, NobodyIsToldWhatThereIsNot) {
    guard(false, {"metadata"});
    const Principal somebody("somebody", "");
    const std::vector<std::tuple<std::string, std::string, int>> requests{
        {"GET", "/Foo/1", 404},
        {"GET", "/Patient/a_b", 404},
        {"PUT", "/Patient/a_b", 400},
        {"GET", "/_foo", 404},
        {"GET", "/Patient/1/2/3/4/5", 404},
        {"POST", "/metadata", 405},
        {"DELETE", "/Patient/1/_history", 405},
        {"PUT", "/_history", 405},
        {"GET", "/$foo", 400},
        {"POST", "/Patient/1/$foo", 400}};
    for (const auto& [method, target, known] : requests) {
        SCOPED_TRACE(method + " " + target);
        send_as(nullptr);
        const auto refused = send(method, target);
        EXPECT_EQ(refused.status, 401);
        EXPECT_TRUE(refused.says(R"("code":"login")")) << refused.body;
        EXPECT_EQ(refused.header("WWW-Authenticate"), R"(Bearer realm="fhir")");
        EXPECT_EQ(refused.allow, "");
        send_as(&somebody);
        EXPECT_EQ(send(method, target).status, known);
    }
    EXPECT_EQ(send("GET", "/metadata").status, 200);
}

TEST_F(AccessTest, OfABatchEachEntryIsJudgedByItself) {
    guard(false);
    const Principal writer("w", "system/Patient.cu");
    send_as(&writer);
    const test::Answer answer =
        send("POST", "/", R"({"resourceType":"Bundle","type":"batch","entry":[
        {"resource":{"resourceType":"Patient","id":"p"},"request":{"method":"PUT","url":"Patient/p"}},
        {"resource":{"resourceType":"Basic","id":"b","code":{"text":"x"}},"request":{"method":"PUT","url":"Basic/b"}},
        {"request":{"method":"GET","url":"Patient/p"}}]})",
             {{"Content-Type", "application/fhir+json"}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("status":"201 Created")")) << answer.body;
    EXPECT_TRUE(answer.says("The scope system/Basic.u is needed")) << answer.body;
    EXPECT_TRUE(answer.says("The scope system/Patient.r is needed")) << answer.body;
    EXPECT_FALSE(store().current(*find_resource_type("Basic"), "b"));
    EXPECT_TRUE(store().current(test::type_of("Patient"), "p"));
}

TEST_F(AccessTest, ATransactionWithAnEntryThatIsNotPermittedIsRolledBack) {
    guard(false);
    const Principal writer("w", "system/Patient.cu");
    send_as(&writer);
    const test::Answer answer =
        send("POST", "/", R"({"resourceType":"Bundle","type":"transaction","entry":[
        {"resource":{"resourceType":"Patient","id":"p"},"request":{"method":"PUT","url":"Patient/p"}},
        {"resource":{"resourceType":"Basic","code":{"text":"x"}},"request":{"method":"POST","url":"Basic"}}]})",
             {{"Content-Type", "application/fhir+json"}});
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(answer.says("Bundle.entry[1]")) << answer.body;
    EXPECT_TRUE(answer.says(R"("code":"forbidden")")) << answer.body;
    EXPECT_FALSE(store().current(test::type_of("Patient"), "p"));
}

TEST_F(AccessTest, AHistoryBundleNeedsToWriteEverything) {
    guard(false);
    const std::string_view bundle = R"({"resourceType":"Bundle","type":"history","entry":[
        {"resource":{"resourceType":"Patient","id":"h","meta":{"versionId":"1"}},"request":{"method":"PUT","url":"Patient/h"}}]})";
    for (const std::string_view scopes : {"system/Patient.cud", "system/*.cu", "system/*.read",
                                          "user/*.cruds", "user/*.cruds system/*.cu"}) {
        const Principal less("less", scopes);
        send_as(&less);
        EXPECT_EQ(send("POST", "/", bundle, {{"Content-Type", "application/fhir+json"}}).status,
                  403)
            << scopes;
    }
    for (const std::string_view scopes : {"system/*.cud", "system/*.write"}) {
        const Principal replicator("r", scopes);
        send_as(&replicator);
        EXPECT_EQ(send("POST", "/", bundle, {{"Content-Type", "application/fhir+json"}}).status,
                  200)
            << scopes;
    }
}

// A List with too many entries is refused as too costly, but only those who may see it are told.
TEST_F(AccessTest, NobodyIsAskedWhenNothingIsGuarded) {
    restart(Config());
    send_as(nullptr);
    EXPECT_EQ(send("PUT", "/Patient/a", kBody, {{"Content-Type", "application/fhir+json"}}).status,
              201);
}

TEST_F(AccessTest, ASubscriptionNeedsWhatItsCriteriaNeedAlsoBeforeThereAreAny) {
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const auto subscription = [](std::string_view status) {
        return fmt::format(
            R"({{"resourceType":"Subscription","id":"s","status":"{}","reason":"x","criteria":"Patient",)"
            R"("channel":{{"type":"websocket"}}}})",
            status);
    };
    const Principal writer("x", "system/Subscription.cu");
    send_as(&writer);
    EXPECT_EQ(send("PUT", "/Subscription/s", subscription("requested")).status, 403);
    EXPECT_EQ(send("PUT", "/Subscription/s", subscription("active")).status, 403);
    EXPECT_EQ(send("PUT", "/Subscription/s", subscription("off")).status, 201);
    const Principal reader("x", "system/Subscription.cu system/Patient.rs");
    send_as(&reader);
    EXPECT_EQ(send("PUT", "/Subscription/s", subscription("requested")).status, 200);
    send_as(nullptr);
}

TEST_F(AccessTest, ASubscriptionNeedsWhatItsCriteriaNeed) {
    Config config;
    config.auth.mode = "jwt";
    config.subscriptions.enabled = true;
    restart(config);
    const auto subscription = [](std::string_view status, std::string_view criteria) {
        return fmt::format(
            R"({{"resourceType":"Subscription","id":"s","status":"{}","reason":"x","criteria":"{}",)"
            R"("channel":{{"type":"websocket"}}}})",
            status, criteria);
    };
    const auto put = [&](std::string_view scopes, std::string_view status,
                         std::string_view criteria) {
        const Principal principal("x", scopes);
        send_as(&principal);
        const int answer = send("PUT", "/Subscription/s", subscription(status, criteria)).status;
        send_as(nullptr);
        return answer;
    };
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "requested", "Patient?family=x"),
              201);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "active", "Patient"), 200);
    EXPECT_EQ(put("system/Subscription.cu", "off", "Patient?family=x"), 200);
    EXPECT_EQ(put("system/Subscription.cu", "requested", "Patient?family=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu", "active", "Patient?family=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.s", "requested", "Patient?family=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.r", "requested", "Patient?family=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/Observation.rs", "requested",
                  "Observation?patient.family=x"),
              403);
    EXPECT_EQ(put("system/Subscription.cu system/Observation.rs system/Patient.s", "requested",
                  "Observation?patient.family=x"),
              200);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "requested",
                  "Patient?_has:Observation:patient:code=x"),
              403);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "requested", "Patient?_list=l"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs system/List.s", "requested",
                  "Patient?_list=l"),
              200);
    // What is unknown or matches nothing now may be something later.
    EXPECT_EQ(put("system/Subscription.cu system/Observation.rs system/List.s", "requested",
                  "Observation?_list=none&patient.family=x"),
              403);
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "requested", "Patient?later=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/*.rs", "requested", "Patient?later=x"), 200);
    EXPECT_EQ(put("system/Subscription.cu", "requested", "nothing"), 200);

    // The same by other interactions.
    ASSERT_EQ(put("system/*.cruds", "off", "Patient"), 200);
    const Principal writer("x", "system/Subscription.cruds");
    send_as(&writer);
    const std::string_view patch = R"([{"op":"replace","path":"/status","value":"requested"}])";
    EXPECT_EQ(
        send("PATCH", "/Subscription/s", patch, {{"Content-Type", "application/json-patch+json"}})
            .status,
        403);
    EXPECT_EQ(send("POST", "/Subscription", subscription("requested", "Patient")).status, 403);
    EXPECT_EQ(send("PUT", "/Subscription?status=off", subscription("requested", "Patient")).status,
              403);
    const auto transaction = [&](std::string_view entry) {
        return send(
            "POST", "/",
            fmt::format(R"({{"resourceType":"Bundle","type":"transaction","entry":[{}]}})", entry));
    };
    const test::Answer whole = transaction(
        fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"Subscription/s"}}}})",
                    subscription("requested", "Patient")));
    EXPECT_EQ(whole.status, 400);
    EXPECT_TRUE(whole.says("403")) << whole.body;
    const test::Answer patched = transaction(
        R"({"resource":{"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
        R"({"name":"type","valueCode":"replace"},{"name":"path","valueString":"Subscription.status"},)"
        R"({"name":"value","valueCode":"requested"}]}]},"request":{"method":"PATCH","url":"Subscription/s"}})");
    EXPECT_EQ(patched.status, 400);
    EXPECT_TRUE(patched.says("403")) << patched.body;
    EXPECT_TRUE(send("GET", "/Subscription/s").says(R"("status":"off")"));
}

}  // namespace
}  // namespace annals::core
