// Scopes, and what each permits: every row of the table of interactions is walked.

#include "core/access.h"

#include "core/operations/operations.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

namespace annals::core {
namespace {

TypeId patient_type() {
    return *find_resource_type("Patient");
}

TypeId observation_type() {
    return *find_resource_type("Observation");
}

bool may(std::string_view scopes, std::uint8_t permissions, std::optional<TypeId> type) {
    return Principal("x", scopes).may(permissions, type);
}

TEST(Scopes, OfVersion2PermitTheirLetters) {
    EXPECT_TRUE(may("system/Patient.r", kMayRead, patient_type()));
    EXPECT_FALSE(may("system/Patient.r", kMaySearch, patient_type()));
    EXPECT_FALSE(may("system/Patient.r", kMayRead, observation_type()));
    EXPECT_TRUE(may("user/Patient.cruds", kMayAll, patient_type()));
    EXPECT_FALSE(may("user/Patient.cruds", kMayRead, std::nullopt));
    EXPECT_TRUE(may("system/*.rs", kMayRead | kMaySearch, observation_type()));
    EXPECT_TRUE(may("system/*.rs", kMayRead | kMaySearch, std::nullopt));
    EXPECT_FALSE(may("system/*.rs", kMayCreate, patient_type()));
    EXPECT_TRUE(may("openid system/*.r system/Patient.cu", kMayCreate | kMayRead, patient_type()));
}

TEST(Scopes, OfVersion1AreTranslated) {
    EXPECT_TRUE(may("system/Patient.read", kMayRead | kMaySearch, patient_type()));
    EXPECT_FALSE(may("system/Patient.read", kMayUpdate, patient_type()));
    EXPECT_TRUE(may("system/*.write", kMayCreate | kMayUpdate | kMayDelete, std::nullopt));
    EXPECT_FALSE(may("system/*.write", kMayRead, patient_type()));
    EXPECT_TRUE(may("user/*.*", kMayAll, std::nullopt));
}

TEST(Scopes, ThatAreMalformedOrCannotBeHeldToPermitNothing) {
    for (const char* scopes : {"",
                               "system",
                               "system/",
                               "system/Patient",
                               "system/Patient.",
                               "system/Patient.sr",
                               "system/Patient.rr",
                               "system/Patient.x",
                               "system/Patient.Read",
                               "system/patient.r",
                               "SYSTEM/Patient.r",
                               "system/Patients.r",
                               "other/Patient.r",
                               "Patient.r",
                               "*/*.*",
                               "system/Patient.r?status=a",
                               "patient/Patient.r",
                               "patient/*.cruds",
                               "launch/patient",
                               "system/ Patient.r",
                               "system/Patient.r,system/Observation.r"}) {
        EXPECT_FALSE(may(scopes, kMayRead, patient_type())) << scopes;
    }
}

// ---- the routes ----

struct Route {
    std::string_view method;
    std::string_view target;
    std::string_view body;
    std::string_view scope;           ///< the least that permits it; empty: any principal
    std::string_view condition = {};  ///< If-None-Exist
    bool hard_delete = false;
};

/// No operation is there that takes this method on this level.
const std::string_view kNotTaken = "-";

const std::string_view kBody = R"({"resourceType":"Patient","id":"a"})";
const std::string_view kMeta =
    R"({"resourceType":"Parameters","parameter":[{"name":"meta","valueMeta":{}}]})";
const std::string_view kNoBundle = R"({"resourceType":"Bundle","type":"batch"})";

/// By level and method: what a request of that row needs. A row of the table that isn't here fails the test.
const std::multimap<std::pair<Level, HttpMethod>, Route>& routes() {
    using L = Level;
    using M = HttpMethod;
    static const std::multimap<std::pair<Level, HttpMethod>, Route> all{
        {{L::instance, M::get}, {"GET", "/Patient/a", "", "system/Patient.r"}},
        {{L::version, M::get}, {"GET", "/Patient/a/_history/1", "", "system/Patient.r"}},
        {{L::instance, M::put}, {"PUT", "/Patient/a", kBody, "system/Patient.u"}},
        {{L::instance, M::patch}, {"PATCH", "/Patient/a", "[]", "system/Patient.u"}},
        {{L::instance, M::delete_}, {"DELETE", "/Patient/a", "", "system/Patient.d"}},
        {{L::instance, M::delete_}, {"DELETE", "/Patient/a", "", "system/*.cruds", "", true}},
        {{L::instance_history, M::get}, {"GET", "/Patient/a/_history", "", "system/Patient.r"}},
        {{L::type_history, M::get}, {"GET", "/Patient/_history", "", "system/Patient.s"}},
        {{L::type, M::post}, {"POST", "/Patient", kBody, "system/Patient.c"}},
        {{L::type, M::post}, {"POST", "/Patient", kBody, "system/Patient.cs", "identifier=x"}},
        {{L::type, M::put}, {"PUT", "/Patient?identifier=x", kBody, "system/Patient.cus"}},
        {{L::type, M::patch}, {"PATCH", "/Patient?identifier=x", "[]", "system/Patient.us"}},
        {{L::type, M::delete_}, {"DELETE", "/Patient?identifier=x", "", "system/Patient.ds"}},
        {{L::version, M::delete_},
         {"DELETE", "/Patient/a/_history/1", "", "system/*.cruds", "", true}},
        {{L::instance_history, M::delete_},
         {"DELETE", "/Patient/a/_history", "", "system/*.cruds", "", true}},
        {{L::root, M::post}, {"POST", "/", kNoBundle, ""}},
        {{L::system_history, M::get}, {"GET", "/_history", "", "system/*.s"}},
        {{L::changes, M::get}, {"GET", "/_changes?wait=0", "", "system/*.cruds"}},
        {{L::system_operation, M::post}, {"POST", "/$validate", kBody, "system/*.r"}},
        {{L::system_operation, M::get}, {"GET", "/$validate", "", kNotTaken}},
        {{L::type_operation, M::post}, {"POST", "/Patient/$validate", kBody, "system/Patient.r"}},
        {{L::type_operation, M::get}, {"GET", "/Patient/$validate", "", kNotTaken}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$validate", kBody, "system/Patient.r"}},
        {{L::instance_operation, M::get}, {"GET", "/Patient/a/$validate", "", "system/Patient.r"}},
        {{L::system_operation, M::post}, {"POST", "/$backup?to=x", "", "system/*.cruds"}},
        {{L::system_operation, M::get}, {"GET", "/$backup", "", "system/*.cruds"}},
        {{L::system_operation, M::get}, {"GET", "/$digest", "", "system/*.cruds"}},
        {{L::system_operation, M::post}, {"POST", "/$digest", "", "system/*.cruds"}},
        {{L::system_operation, M::post}, {"POST", "/$reindex", "", "system/*.cruds"}},
        {{L::system_operation, M::post}, {"POST", "/$compact", "", "system/*.cruds"}},
        {{L::system_operation, M::get}, {"GET", "/$compact", "", "system/*.cruds"}},
        {{L::system_operation, M::post}, {"POST", "/$closure", "", "system/*.u"}},
        {{L::system_operation, M::post}, {"POST", "/$install-package", "", "system/*.cruds"}},
        {{L::system_operation, M::get}, {"GET", "/$reindex", "", "system/*.cruds"}},
        {{L::system_operation, M::get}, {"GET", "/$meta", "", "system/*.r"}},
        {{L::type_operation, M::get}, {"GET", "/Patient/$meta", "", "system/Patient.r"}},
        {{L::instance_operation, M::get}, {"GET", "/Patient/a/$meta", "", "system/Patient.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$meta", kMeta, "system/Patient.ru"}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$meta-add", kMeta, "system/Patient.u"}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$meta-delete", kMeta, "system/Patient.u"}},
        {{L::version_operation, M::get},
         {"GET", "/Patient/a/_history/1/$meta", "", "system/Patient.r"}},
        {{L::version_operation, M::post},
         {"POST", "/Patient/a/_history/1/$meta", "", "system/Patient.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/Patient/a/$diff?from=1&to=1", "", "system/Patient.r"}},
        {{L::system_operation, M::get},
         {"GET", "/$diff?from=Patient/a&to=Patient/a", "", "system/Patient.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$restore?version=1", "", "system/*.cruds"}},
        {{L::instance_operation, M::get}, {"GET", "/Patient/a/$restore", "", kNotTaken}},
        {{L::instance_operation, M::post},
         {"POST", "/Patient/a/$purge?dryRun=true", "", "system/*.cruds"}},
        {{L::instance_operation, M::get}, {"GET", "/Patient/a/$purge", "", kNotTaken}},
        {{L::system_operation, M::post}, {"POST", "/$undo?from=999999", "", "system/*.cruds"}},
        {{L::type_operation, M::get},
         {"GET", "/Observation/$lastn?patient=a&code=b", "", "system/Observation.s"}},
        {{L::system_operation, M::get}, {"GET", "/$versions", "", ""}},
        {{L::type_operation, M::get}, {"GET", "/Patient/$everything", "", "system/Patient.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/Patient/a/$everything", "", "system/Patient.r"}},
        {{L::type_operation, M::get},
         {"GET", "/ValueSet/$expand?url=http://v/x", "", "system/ValueSet.r"}},
        {{L::type_operation, M::post},
         {"POST", "/ValueSet/$expand?url=http://v/x", "", "system/ValueSet.r"}},
        {{L::instance_operation, M::get}, {"GET", "/ValueSet/a/$expand", "", "system/ValueSet.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/ValueSet/a/$expand", "", "system/ValueSet.r"}},
        {{L::type_operation, M::get},
         {"GET", "/ValueSet/$validate-code?url=http://v/x&code=a", "", "system/ValueSet.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/ValueSet/a/$validate-code", "", "system/ValueSet.r"}},
        {{L::type_operation, M::post},
         {"POST", "/ValueSet/$validate-code?url=http://v/x&code=a", "", "system/ValueSet.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/ValueSet/a/$validate-code", "", "system/ValueSet.r"}},
        {{L::type_operation, M::get},
         {"GET", "/CodeSystem/$validate-code?url=http://v/x&code=a", "", "system/CodeSystem.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/CodeSystem/a/$validate-code", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::post},
         {"POST", "/CodeSystem/$validate-code?url=http://v/x&code=a", "", "system/CodeSystem.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/CodeSystem/a/$validate-code", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::get},
         {"GET", "/CodeSystem/$lookup?system=http://v/x&code=a", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::post},
         {"POST", "/CodeSystem/$lookup?system=http://v/x&code=a", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::get},
         {"GET", "/CodeSystem/$subsumes?system=http://v/x&codeA=a&codeB=a", "",
          "system/CodeSystem.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/CodeSystem/a/$subsumes", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::post},
         {"POST", "/CodeSystem/$subsumes?system=http://v/x&codeA=a&codeB=a", "",
          "system/CodeSystem.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/CodeSystem/a/$subsumes", "", "system/CodeSystem.r"}},
        {{L::type_operation, M::get},
         {"GET", "/ConceptMap/$translate?url=http://v/x&code=a", "", "system/ConceptMap.r"}},
        {{L::instance_operation, M::get},
         {"GET", "/ConceptMap/a/$translate", "", "system/ConceptMap.r"}},
        {{L::type_operation, M::post},
         {"POST", "/ConceptMap/$translate?url=http://v/x&code=a", "", "system/ConceptMap.r"}},
        {{L::instance_operation, M::post},
         {"POST", "/ConceptMap/a/$translate", "", "system/ConceptMap.r"}},
        {{L::system_operation, M::get}, {"GET", "/$export", "", "system/*.rs"}},
        {{L::type_operation, M::get}, {"GET", "/Patient/$export", "", "system/*.rs"}},
        {{L::instance_operation, M::get}, {"GET", "/Group/a/$export", "", "system/*.rs"}},
        {{L::system_operation, M::post}, {"POST", "/$import", "", "system/*.cruds"}},
        {{L::job, M::get}, {"GET", "/_jobs/x", "", ""}},
        {{L::job, M::delete_}, {"DELETE", "/_jobs/x", "", ""}},
        {{L::job_file, M::get}, {"GET", "/_jobs/x/y", "", ""}},
        {{L::type, M::get}, {"GET", "/Patient?family=x", "", "system/Patient.s"}},
        {{L::type_search, M::post}, {"POST", "/Patient/_search", "", "system/Patient.s"}},
        {{L::compartment, M::get}, {"GET", "/Patient/a/Condition", "", "system/Condition.s"}},
        {{L::compartment, M::get}, {"GET", "/Patient/a/*", "", "system/*.s"}},
        {{L::root, M::get}, {"GET", "/?_type=Patient", "", "system/*.s"}},
        {{L::system_search, M::post}, {"POST", "/_search", "", "system/*.s"}},
        {{L::metadata, M::get}, {"GET", "/metadata", "", ""}},
        {{L::openapi, M::get}, {"GET", "/openapi.json", "", ""}},
        {{L::root, M::options}, {"OPTIONS", "/", "", ""}},
    };
    return all;
}

class AccessTest : public test::ServiceFixture {
  protected:
    void guard(bool hard_delete, std::vector<std::string> open = {}) {
        Config config;
        config.auth.mode = "jwt";
        config.auth.public_access = std::move(open);
        config.hard_delete = hard_delete;
        restart(config);
    }

    int status_of(const Route& route, const Principal* principal) {
        send_as(principal);
        Headers headers{{"Content-Type", route.method == "PATCH" ? "application/json-patch+json"
                                                                 : "application/fhir+json"}};
        if (!route.condition.empty()) {
            headers.emplace_back("If-None-Exist", route.condition);
        }
        return send(route.method, route.target, route.body, headers).status;
    }
};

/// The scope without one of its letters, or none.
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
                EXPECT_EQ(status_of(route, nullptr), 405);
                continue;
            }
            EXPECT_EQ(status_of(route, nullptr), 401);
            const Principal allowed("allowed", route.scope);
            const int status = status_of(route, &allowed);
            EXPECT_TRUE(status != 401 && status != 403) << status;
            if (route.scope.empty()) {
                continue;
            }
            for (const std::string& scope : lesser(route.scope)) {
                const Principal less("less", scope);
                EXPECT_EQ(status_of(route, &less), 403) << scope;
            }
        }
    }
}

TEST_F(AccessTest, EveryRowOfTheTableHasARouteHere) {
    for (const Interaction& row : interactions()) {
        EXPECT_TRUE(routes().contains({row.level, row.method}))
            << method_name(row.method) << " on level " << static_cast<int>(row.level);
    }
    for (const Operation& operation : operations()) {
        EXPECT_EQ(operation.access == Access::open, operation.name == "$versions")
            << operation.name;
    }
}

TEST_F(AccessTest, WhatIsPublicNeedsNobody) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
        {"metadata", {"/metadata", "/openapi.json", "/$versions"}},
        {"read", {"/Patient/a", "/Patient/a/_history/1"}},
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
    EXPECT_TRUE(store().current(patient_type(), "p"));
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
    EXPECT_FALSE(store().current(patient_type(), "p"));
}

TEST_F(AccessTest, AHistoryBundleNeedsToWriteEverything) {
    guard(false);
    const std::string_view bundle = R"({"resourceType":"Bundle","type":"history","entry":[
        {"resource":{"resourceType":"Patient","id":"h","meta":{"versionId":"1"}},"request":{"method":"PUT","url":"Patient/h"}}]})";
    for (const std::string_view scopes : {"system/Patient.cud", "system/*.cu", "system/*.read"}) {
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

TEST_F(AccessTest, NobodyIsAskedWhenNothingIsGuarded) {
    restart(Config());
    send_as(nullptr);
    EXPECT_EQ(send("PUT", "/Patient/a", kBody, {{"Content-Type", "application/fhir+json"}}).status,
              201);
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
    // What can't be told now may be something later.
    EXPECT_EQ(put("system/Subscription.cu system/Patient.rs", "requested", "Patient?later=x"), 403);
    EXPECT_EQ(put("system/Subscription.cu system/*.rs", "requested", "Patient?later=x"), 200);
    EXPECT_EQ(put("system/Subscription.cu", "requested", "nothing"), 200);

    // By other ways.
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
