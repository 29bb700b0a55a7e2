// The OpenAPI document: well-formed OpenAPI 3.1 that describes exactly what is dispatched.

#include "codec/json/document.h"
#include "core/operations/operations.h"
#include "core/search/compartments.h"
#include "tests/core/openapi_checker.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

namespace annals::core {
namespace {

using testing::HasSubstr;
using testing::Not;

class OpenApi : public test::ServiceFixture {
  protected:
    json::Value document() {
        answer_ = send("GET", "/openapi.json");
        EXPECT_EQ(answer_.status, 200) << answer_.body;
        auto parsed = parser_.parse(answer_.body);
        EXPECT_TRUE(parsed) << answer_.body;
        document_ = std::move(*parsed);
        return document_.root();
    }

    test::Answer answer_;
    json::Parser parser_;
    json::Document document_;
};

/// `path` with values in place of its parameters.
std::string filled(std::string path) {
    for (const auto& [from, to] :
         {std::pair("{type}", "Patient"), std::pair("{id}", "a"), std::pair("{vid}", "1"),
          std::pair("{member}", "Observation"), std::pair("{file}", "f.ndjson")}) {
        if (const std::size_t at = path.find(from); at != std::string::npos) {
            path.replace(at, std::string_view(from).size(), to);
        }
    }
    return path;
}

HttpMethod method_of(const std::string& key) {
    static const std::map<std::string, HttpMethod> kMethods{
        {"get", HttpMethod::get},        {"put", HttpMethod::put},
        {"post", HttpMethod::post},      {"patch", HttpMethod::patch},
        {"delete", HttpMethod::delete_}, {"options", HttpMethod::options}};
    return kMethods.at(key);
}

Config everything_on() {
    Config config;
    config.hard_delete = true;
    return config;
}

Config everything_off() {
    Config config;
    config.interactions = {.instance_history = false,
                           .instance_vread = false,
                           .type_history = false,
                           .system_history = false,
                           .system_history_bundle = false};
    return config;
}

TEST_F(OpenApi, IsBuiltAsItsStandardDemands) {
    for (const char* mode : {"none", "jwt", "api_key", "jwt_or_api_key"}) {
        for (const bool certificates : {false, true}) {
            Config config = certificates ? everything_off() : everything_on();
            config.auth.mode = mode;
            config.tls.client_ca_file = certificates ? "ca.pem" : "";
            restart(config);
            EXPECT_EQ(OpenApiChecker(document()).run(), "") << mode;
        }
    }
}

TEST_F(OpenApi, TellsWhatIsDispatchedAndNothingElse) {
    for (const Config& config : {everything_on(), everything_off()}) {
        restart(config);
        std::set<std::pair<Level, HttpMethod>> rows;
        std::set<std::tuple<const Operation*, Level, HttpMethod>> calls;
        std::set<std::string> types;
        std::set<std::string> compartments;
        for (const json::Member path : document()["paths"].members()) {
            const std::string name = filled(path.key.string());
            const Result<Target> target = parse_target(name);
            ASSERT_TRUE(target) << name;
            for (const json::Member member : path.value.members()) {
                if (member.key.equals("parameters")) {
                    continue;
                }
                const HttpMethod method = method_of(member.key.string());
                const auto row = find_interaction(config, method, *target);
                ASSERT_TRUE(row) << name << " " << member.key.string();
                rows.emplace((*row)->level, method);
                if (const Operation* operation = find_operation(*target)) {
                    calls.emplace(operation, target->level, method);
                }
                if (target->level == Level::type && method == HttpMethod::get) {
                    types.emplace(resource_type_name(target->type));
                }
                if (target->level == Level::compartment) {
                    compartments.emplace(resource_type_name(target->type));
                }
            }
        }
        for (const Interaction& row : interactions()) {
            const bool on = row.enabled == nullptr || row.enabled(config);
            EXPECT_EQ(rows.contains({row.level, row.method}), on)
                << row.page << " " << method_name(row.method);
        }
        std::size_t expected = 0;
        for (const Operation& operation : operations()) {
            for (const auto& [bit, level] : {std::pair(kOnSystem, Level::system_operation),
                                             std::pair(kOnType, Level::type_operation),
                                             std::pair(kOnInstance, Level::instance_operation),
                                             std::pair(kOnVersion, Level::version_operation)}) {
                for (const HttpMethod method : {HttpMethod::get, HttpMethod::post}) {
                    Target target;
                    target.level = level;
                    if (is_told(operation, config) && (operation.levels & bit) != 0 &&
                        takes(operation, target, method)) {
                        ++expected;
                        EXPECT_TRUE(calls.contains({&operation, level, method}))
                            << operation.name << " " << method_name(method);
                    }
                }
            }
        }
        EXPECT_EQ(calls.size(), expected);
        EXPECT_EQ(types.size(), kResourceTypeCount - 1);
        EXPECT_EQ(compartments.size(), search::compartment_types().size());
        // One level has two paths.
        EXPECT_TRUE(document()["paths"]["/Patient/{id}/_search"]["post"]);
        EXPECT_TRUE(document()["paths"]["/Patient/{id}/{member}/_search"]["post"]);
    }
}

TEST_F(OpenApi, TellsNoParametersWhereGetOnlyAsksHowFarAnOperationIs) {
    const json::Value root = document();
    for (const char* path : {"/$backup", "/$compact", "/$reindex", "/$restore"}) {
        const json::Value get = root["paths"][path]["get"];
        EXPECT_TRUE(get["summary"].is_string()) << path;
        EXPECT_FALSE(get["parameters"].is_array()) << path;
    }
    EXPECT_TRUE(root["paths"]["/$digest"]["get"]["parameters"].is_array());
}

TEST_F(OpenApi, TellsWhatARequestCannotDoWithout) {
    const json::Value root = document();
    // The "$ref"s of an operation's parameters, as text.
    const auto told = [&](std::string_view path, std::string_view method) {
        return root["paths"][path][method]["parameters"].raw();
    };
    // Requests without Prefer: respond-async are refused.
    for (const char* path : {"/$export", "/Patient/$export", "/Group/{id}/$export"}) {
        EXPECT_THAT(told(path, "get"), HasSubstr("parameters/Prefer")) << path;
        EXPECT_THAT(told(path, "post"), HasSubstr("parameters/Prefer")) << path;
    }
    EXPECT_THAT(told("/$import", "post"), HasSubstr("parameters/Prefer"));
    for (const char* name : {"$meta", "$meta-add", "$meta-delete", "$restore"}) {
        EXPECT_THAT(told(fmt::format("/{{type}}/{{id}}/{}", name), "post"),
                    HasSubstr("parameters/If-Match"))
            << name;
    }
    EXPECT_THAT(told("/{type}/{id}/$meta", "get"), Not(HasSubstr("parameters/If-Match")));
    EXPECT_THAT(told("/{type}/{id}/_history", "get"), HasSubstr("parameters/_offset"));
    EXPECT_THAT(told("/{type}/_history", "get"), Not(HasSubstr("parameters/_offset")));
    EXPECT_THAT(told("/", "get"), HasSubstr("parameters/_type"));
    EXPECT_THAT(told("/{type}/{id}/$diff", "get"), HasSubstr(R"("name":"fromVersion")"));
    EXPECT_THAT(told("/$diff", "get"), HasSubstr(R"("name":"from","in":"query","required":true)"));
    EXPECT_THAT(told("/$diff", "get"), Not(HasSubstr("fromVersion")));
    EXPECT_EQ(send("GET", "/$diff?fromVersion=1").status, 400);
    EXPECT_THAT(told("/Patient", "get"), HasSubstr("parameters/Prefer"));
    EXPECT_THAT(told("/Observation/$lastn", "get"), HasSubstr("parameters/_criteria"));
    EXPECT_THAT(told("/Composition/{id}/$document", "get"), HasSubstr(R"("name":"graph")"));
    EXPECT_THAT(told("/Composition/{id}/$document", "get"), Not(HasSubstr("persist")));
    EXPECT_THAT(told("/Composition/{id}/$document", "get"),
                Not(HasSubstr(R"("name":"id","in":"query")")));
    EXPECT_EQ(send("GET", "/Composition/1/$document?id=1").status, 400);
    EXPECT_THAT(told("/Composition/$document", "get"),
                HasSubstr(R"("name":"id","in":"query","required":true)"));
    EXPECT_EQ(send("GET", "/Composition/$document").status, 400);
    EXPECT_THAT(told("/DocumentReference/$docref", "get"), HasSubstr(R"("name":"type")"));
    EXPECT_EQ(send("GET", "/DocumentReference/$docref?patient=1&type=34133-9").status, 200);
}

TEST_F(OpenApi, TellsEveryFormThatAQueryInGraphQlMayHave) {
    const json::Value content = document()["components"]["requestBodies"]["graphql"]["content"];
    for (const auto& [type, body] :
         {std::pair("application/json", R"({"query":"{ PatientList { id } }"})"),
          std::pair("application/graphql", "{ PatientList { id } }"),
          std::pair("application/fhir+json",
                    R"({"resourceType":"Parameters","parameter":[{"name":"query",)"
                    R"("valueString":"{ PatientList { id } }"}]})")}) {
        EXPECT_TRUE(content[type].is_object()) << type;
        EXPECT_EQ(send("POST", "/$graphql", body, {{"Content-Type", type}}).status, 200) << type;
    }
}

TEST_F(OpenApi, TellsThatAnImportTakesLinesOfResources) {
    const json::Value root = document();
    EXPECT_EQ(root["paths"]["/$import"]["post"]["requestBody"]["$ref"].string(),
              "#/components/requestBodies/import");
    const json::Value content = root["components"]["requestBodies"]["import"]["content"];
    EXPECT_TRUE(content["application/fhir+ndjson"].is_object());
    EXPECT_TRUE(content["application/fhir+json"].is_object());
}

TEST_F(OpenApi, TellsWhatAnswersComeAs) {
    const json::Value root = document();
    const auto taken = [&](std::string_view key, std::string_view type) {
        return root["components"]["responses"][key]["content"][type].is_object();
    };
    // The result of an asynchronous Bundle, or the manifest of an export.
    EXPECT_TRUE(taken("manifest", "application/fhir+json"));
    EXPECT_TRUE(taken("manifest", "application/json"));
    EXPECT_TRUE(taken("accepted", "application/fhir+json"));
    EXPECT_EQ(root["paths"]["/$versions"]["get"]["responses"]["200"]["$ref"].string(),
              "#/components/responses/versions");
    EXPECT_TRUE(taken("versions", "application/fhir+json"));
    EXPECT_TRUE(taken("versions", "application/json"));
    EXPECT_THAT(send("GET", "/$versions", "", {{"Accept", "application/json"}}).content_type,
                HasSubstr("application/json"));
    EXPECT_TRUE(
        root["components"]["responses"]["resource"]["headers"]["Content-Location"].is_object());
}

TEST_F(OpenApi, TellsThatABinaryIsReadAndSentAsWhatItHolds) {
    const json::Value root = document();
    EXPECT_TRUE(root["components"]["requestBodies"]["resource"]["content"]["*/*"].is_object());
    for (const char* path : {"/{type}/{id}", "/{type}/{id}/_history/{vid}"}) {
        std::string key = root["paths"][path]["get"]["responses"]["200"]["$ref"].string();
        key.erase(0, key.rfind('/') + 1);
        const json::Value content = root["components"]["responses"][key]["content"];
        EXPECT_TRUE(content["application/fhir+json"].is_object()) << path;
        EXPECT_TRUE(content["*/*"].is_object()) << path;
    }
}

TEST_F(OpenApi, TellsTheSearchParametersOfEachType) {
    const json::Value root = document();
    const auto told = [&](std::string_view type) {
        std::set<std::string> names;
        const json::Value get = root["paths"][fmt::format("/{}", type)]["get"];
        for (const json::Value parameter : get["parameters"].elements()) {
            std::string key = parameter["$ref"].string();
            key.erase(0, key.rfind('/') + 1);
            names.insert(root["components"]["parameters"][key]["name"].string());
        }
        return names;
    };
    for (const char* type : {"Patient", "Observation", "Location"}) {
        const std::set<std::string> names = told(type);
        for (const search::Parameter& parameter :
             service().indexing().parameters()->of(*find_resource_type(type))) {
            // A parameter that is refused whatever its value is not described.
            EXPECT_EQ(names.contains(parameter.code), parameter.code != "_query")
                << type << " " << parameter.code;
        }
        EXPECT_TRUE(names.contains("_include"));
    }
    EXPECT_TRUE(told("Patient").contains("birthdate"));
    EXPECT_FALSE(told("Observation").contains("birthdate"));
}

TEST_F(OpenApi, TellsStoredSearchParametersWhateverTheyAreCalled) {
    const std::string before = send("GET", "/openapi.json").body;
    for (const char* code : {"eyes", "eye/s", "eye_s"}) {
        static int number = 0;
        const int status =
            send(
                "PUT", fmt::format("/SearchParameter/p{}", ++number),
                fmt::format(R"({{"resourceType":"SearchParameter","id":"p{0}","url":"http://x/p{0}",
                 "name":"P","status":"active","description":"d","code":"{1}","base":["Patient"],
                 "type":"token","expression":"Patient.extension('http://x/eyes').value"}})",
                            number, code))
                .status;
        EXPECT_TRUE(status == 201 || status == 400) << status;
    }
    service().indexing().wait_until_idle();
    const json::Value root = document();
    EXPECT_NE(answer_.body, before);
    EXPECT_EQ(OpenApiChecker(root).run(), "");
    EXPECT_EQ(root["components"]["parameters"]["eyes.token"]["name"].string(), "eyes");
}

TEST_F(OpenApi, SaysWhoMayDoWhat) {
    Config config;
    config.auth.mode = "jwt_or_api_key";
    config.auth.public_access = {"metadata", "read"};
    restart(config);
    const json::Value root = document();
    EXPECT_EQ(root["security"].raw(), R"([{"bearer":[]},{"apiKey":[]}])");
    const json::Value paths = root["paths"];
    EXPECT_EQ(paths["/metadata"]["get"]["security"].raw(), "[]");
    EXPECT_EQ(paths["/openapi.json"]["get"]["security"].raw(), "[]");
    EXPECT_EQ(paths["/{type}/{id}"]["get"]["security"].raw(), "[]");
    EXPECT_FALSE(paths["/{type}/{id}"]["put"]["security"]);
    EXPECT_TRUE(paths["/{type}/{id}"]["put"]["responses"]["403"]);
    EXPECT_FALSE(paths["/{type}/{id}"]["get"]["responses"]["403"]);
    EXPECT_EQ(paths["/$versions"]["get"]["security"].raw(), "[]");
    EXPECT_FALSE(paths["/{type}/{id}/$diff"]["get"]["security"]);

    restart(Config());
    const json::Value open = document();
    EXPECT_EQ(open["security"].raw(), "[]");
    EXPECT_FALSE(open["components"]["securitySchemes"]);
}

TEST_F(OpenApi, IsJsonWithAnEtagOfBoundedSize) {
    document();
    EXPECT_EQ(answer_.content_type, send("GET", "/openapi.json?_format=xml").content_type);
    EXPECT_THAT(answer_.content_type, HasSubstr("application/json"));
    EXPECT_LT(answer_.body.size(), 1'000'000U);
    EXPECT_THAT(answer_.body, HasSubstr(fmt::format(R"("servers":[{{"url":"{}"}}])", kBaseUrl)));
    ASSERT_NE(answer_.etag, 0U);
    const std::string tag = fmt::format("W/\"{}\"", answer_.etag);
    const test::Answer again = send("GET", "/openapi.json", "", {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(send("GET", "/openapi.json", "", {{"If-None-Match", "W/\"1\""}}).status, 200);
    EXPECT_EQ(send("GET", "/openapi.json", "", {{"Accept", "image/png"}}).status, 200);
    restart(everything_off());
    EXPECT_NE(send("GET", "/openapi.json").etag, answer_.etag);
}

TEST_F(OpenApi, IsGivenAloneAndAtItsPlaceOnly) {
    EXPECT_EQ(send("POST", "/openapi.json", "{}").status, 405);
    EXPECT_EQ(send("GET", "/openapi.json/x").status, 404);
    EXPECT_EQ(send("GET", "/openapi").status, 404);
    const test::Answer batch = send("POST", "/",
                                    R"({"resourceType":"Bundle","type":"batch","entry":[)"
                                    R"({"request":{"method":"GET","url":"openapi.json"}}]})");
    EXPECT_EQ(batch.status, 200);
    EXPECT_THAT(batch.body, HasSubstr("400 Bad Request"));
    EXPECT_THAT(batch.body, Not(HasSubstr("operationId")));
}

}  // namespace
}  // namespace annals::core
