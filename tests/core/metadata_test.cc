// The CapabilityStatement: valid by our own full validation whatever the configuration, and true.

#include "core/descriptions.h"
#include "core/operations/operations.h"
#include "core/operations/signatures.h"
#include "tests/core/statement_fixture.h"
#include "tests/support/files.h"

#include <set>

namespace annals::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(Statement, IsValidAsItComes) {
    EXPECT_THAT(issues(statement()), IsEmpty());
}

TEST_F(Statement, IsValidWhateverIsSwitchedOff) {
    for (bool Config::Interactions::* const flag :
         {&Config::Interactions::instance_history, &Config::Interactions::instance_vread,
          &Config::Interactions::type_history, &Config::Interactions::system_history,
          &Config::Interactions::system_history_bundle}) {
        Config config;
        config.interactions.*flag = false;
        expect_valid(config);
    }
    Config config;
    config.interactions = {.instance_history = false,
                           .instance_vread = false,
                           .type_history = false,
                           .system_history = false,
                           .system_history_bundle = false};
    config.update_create = false;
    config.allow_history_bundles = false;
    expect_valid(config);
    EXPECT_THAT(statement(), HasSubstr(R"("readHistory":false)"));
    EXPECT_THAT(statement(), HasSubstr(R"("updateCreate":false)"));
}

TEST_F(Statement, SaysThatHistoryBundlesAreTakenWhereTheyAre) {
    const std::string said = "Bundles of type history are accepted";
    EXPECT_THAT(statement(), HasSubstr(said));
    Config config;
    config.allow_history_bundles = false;
    expect_valid(config);
    EXPECT_THAT(statement(), Not(HasSubstr(said)));
    config.allow_history_bundles = true;
    config.interactions.system_history_bundle = false;
    expect_valid(config);
    EXPECT_THAT(statement(), Not(HasSubstr(said)));
}

TEST_F(Statement, IsValidWithDeletionsIntegrityAndPackages) {
    Config config;
    config.hard_delete = true;
    config.conditional_delete = "multiple";
    config.integrity_on_write = true;
    config.integrity_on_delete = true;
    restart(config);
    install_examples();
    const std::string text = statement();
    EXPECT_THAT(issues(text), IsEmpty());
    EXPECT_THAT(text, HasSubstr(R"("implementationGuide":["http://p/guide"])"));
    EXPECT_THAT(text,
                HasSubstr(R"(StructureDefinition/Patient","supportedProfile":["http://p/named"])"));
    EXPECT_THAT(text, testing::Not(HasSubstr("http://p/extension")));
    EXPECT_THAT(text, HasSubstr(R"("referencePolicy":["literal","local","enforced"])"));
    EXPECT_THAT(text, HasSubstr(R"("conditionalDelete":"multiple")"));
}

TEST_F(Statement, IsValidWithEveryKindOfCredentials) {
    for (const char* mode : {"none", "jwt", "api_key", "jwt_or_api_key"}) {
        const bool certificates = std::string_view(mode) == "jwt";
        Config config;
        config.auth.mode = mode;
        config.auth.smart.authorization_endpoint = "https://auth.example.org/authorize";
        config.auth.smart.token_endpoint = "https://auth.example.org/token";
        config.cors_origins = {"*"};
        config.tls.client_ca_file = certificates ? "ca.pem" : "";
        expect_valid(config);
        const std::string text = statement();
        const bool tokens = std::string_view(mode).starts_with("jwt");
        EXPECT_EQ(text.find("oauth-uris") != std::string::npos, tokens) << mode;
        EXPECT_EQ(text.find("SMART-on-FHIR") != std::string::npos, tokens) << mode;
        EXPECT_EQ(text.find(R"("code":"Certificates")") != std::string::npos, certificates);
        EXPECT_THAT(text, HasSubstr(R"("cors":true)"));
    }
}

TEST_F(Statement, SaysThatACertificateIsAskedForWhereNothingElseIs) {
    const std::string nothing = "No credentials are required.";
    EXPECT_THAT(statement(), HasSubstr(nothing));
    Config config;
    config.tls.client_ca_file = "ca.pem";
    expect_valid(config);
    EXPECT_THAT(statement(), Not(HasSubstr(nothing)));
    EXPECT_THAT(statement(), HasSubstr("except a client certificate"));
}

TEST_F(Statement, SaysWhatItIs) {
    const std::string text = statement();
    json::Parser parser;
    const auto document = parser.parse(text);
    const json::Value root = document->root();
    for (const char* name : {"status", "date", "publisher", "kind", "instantiates", "fhirVersion",
                             "format", "patchFormat", "rest"}) {
        EXPECT_TRUE(root[name]) << name;
    }
    EXPECT_EQ(root["software"]["releaseDate"].string().size(), 10U);
    EXPECT_TRUE(root["software"]["version"].equals(ANNALS_VERSION));
    const json::Value rest = *root["rest"].elements().begin();
    for (const char* name :
         {"security", "documentation", "interaction", "searchParam", "operation", "compartment"}) {
        EXPECT_TRUE(rest[name]) << name;
    }
    for (const char* limit :
         {"bodies of 67108864 bytes", "1000 included resources", ":iterate 3 times",
          "$everything without _count 10000", "patches of 1000 operations", "JSON 64 levels deep",
          "URLs of 8192 bytes", "heads of 32768 bytes and 100 headers"}) {
        EXPECT_THAT(rest["documentation"].string(), HasSubstr(limit));
    }
}

TEST_F(Statement, AnnouncesNoSearchParameterThatIsAlwaysRefused) {
    EXPECT_EQ(send("GET", "/Patient?_query=any").status, 400);
    const std::string text = statement();
    EXPECT_THAT(text, testing::Not(HasSubstr(R"("name":"_query")")));
    EXPECT_THAT(text, HasSubstr(R"("name":"_content")"));
    json::Parser parser;
    const auto document = parser.parse(text);
    const json::Value rest = *document->root()["rest"].elements().begin();
    for (const json::Value resource : rest["resource"].elements()) {
        EXPECT_GE(resource["searchParam"].size(), 7U) << resource["type"].raw();
    }
}

TEST_F(Statement, AnnouncesWhatAllTypesAreSearchedByThoughR4DoesNotDefineIt) {
    std::set<std::string> told;
    json::Parser parser;
    const auto document = parser.parse(statement());
    const json::Value rest = *document->root()["rest"].elements().begin();
    for (const json::Value parameter : rest["searchParam"].elements()) {
        EXPECT_TRUE(told.insert(parameter["name"].string()).second);
    }
    for (const char* asked : {"_filter=_id%20eq%20a", "_has:Observation:subject:status=final",
                              "_list=a", "_type=Patient"}) {
        const std::string name(asked, std::string_view(asked).find_first_of("=:"));
        EXPECT_TRUE(told.contains(name)) << name;
        const std::string query =
            "/?_type=Patient&" + std::string(name == "_type" ? "_id=a" : asked);
        EXPECT_EQ(send("GET", query, "", {{"Prefer", "handling=strict"}}).status, 200) << query;
    }
}

TEST_F(Statement, AnnouncesThatWhateverRefersToATypeCanBeIncluded) {
    EXPECT_EQ(send("GET", "/Provenance?_revinclude=*").status, 200);
    const std::string text = statement();
    json::Parser parser;
    const auto document = parser.parse(text);
    const json::Value rest = *document->root()["rest"].elements().begin();
    for (const json::Value resource : rest["resource"].elements()) {
        ASSERT_GE(resource["searchRevInclude"].size(), 1U) << resource["type"].raw();
        EXPECT_TRUE((*resource["searchRevInclude"].elements().begin()).equals("*"));
        EXPECT_THAT(resource["searchRevInclude"].raw(), HasSubstr(R"("Provenance:target")"))
            << resource["type"].raw();
    }
    EXPECT_THAT(text, HasSubstr(R"("searchRevInclude":["*","Account:patient")"));
    EXPECT_THAT(text, HasSubstr(R"("searchRevInclude":["*","Provenance:target"])"));
}

TEST_F(Statement, SaysWhoseRequirementsTheDeploymentMeets) {
    Config config;
    config.instantiates = {"http://hl7.org/fhir/us/core/CapabilityStatement/us-core-server|6.1.0"};
    expect_valid(config);
    EXPECT_THAT(
        statement(),
        HasSubstr(
            R"("instantiates":["http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data",)"
            R"("http://hl7.org/fhir/us/core/CapabilityStatement/us-core-server|6.1.0"])"));
}

TEST_F(Statement, OfAReadOnlyServerAnnouncesNoWriteAndRefusesThem) {
    EXPECT_EQ(put_patient("1"), 201);
    Config config;
    config.read_only = true;
    config.subscriptions.enabled = true;
    restart(config);
    const std::string text = statement();
    for (const char* code : {"create", "update", "patch", "delete"}) {
        EXPECT_THAT(text, testing::Not(HasSubstr(fmt::format(R"({{"code":"{}"}})", code)))) << code;
    }
    EXPECT_THAT(text, HasSubstr(R"("updateCreate":false)"));
    EXPECT_THAT(text, HasSubstr(R"("conditionalDelete":"not-supported")"));
    EXPECT_THAT(text, HasSubstr(R"({"code":"read"})"));
    EXPECT_THAT(text, Not(HasSubstr("Bundles of type history are accepted")));
    EXPECT_THAT(text, Not(HasSubstr("patchFormat")));
    EXPECT_THAT(text, Not(HasSubstr("bulkdata")));
    EXPECT_THAT(text, Not(HasSubstr("websocket")));
    const std::string openapi = send("GET", "/openapi.json").body;
    for (const char* name : {"meta-add", "restore", "backup", "undo", "import", "export"}) {
        EXPECT_THAT(text, Not(HasSubstr(fmt::format(R"({{"name":"{}")", name)))) << name;
        EXPECT_THAT(openapi, Not(HasSubstr(fmt::format("/${}\"", name)))) << name;
    }
    for (const char* name : {"meta", "reindex", "everything"}) {
        EXPECT_THAT(text, HasSubstr(fmt::format(R"({{"name":"{}")", name))) << name;
        EXPECT_THAT(openapi, HasSubstr(fmt::format("/${}\"", name))) << name;
    }

    const test::Answer refused = send("PUT", "/Patient/1", R"({"resourceType":"Patient","id":"1"})",
                                      {{"Content-Type", "application/fhir+json"}});
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.allow, "GET, HEAD");
    EXPECT_TRUE(refused.says("not-supported"));
    EXPECT_EQ(send("GET", "/Patient/1").status, 200);
    const test::Answer rolled_back = send("POST", "", R"({"resourceType":"Bundle",
        "type":"transaction","entry":[{"request":{"method":"GET","url":"Patient/1"}},
        {"request":{"method":"DELETE","url":"Patient/1"}}]})",
                                          {{"Content-Type", "application/fhir+json"}});
    EXPECT_EQ(rolled_back.status, 400);
    EXPECT_TRUE(rolled_back.says("Bundle.entry[1] DELETE Patient/1: 405")) << rolled_back.body;
    EXPECT_EQ(send("POST", "", R"({"resourceType":"Bundle","type":"history","entry":[]})",
                   {{"Content-Type", "application/fhir+json"}})
                  .status,
              405);
    const test::Answer undone = send("POST", "/$undo?from=1");
    EXPECT_EQ(undone.status, 503);
    EXPECT_TRUE(undone.says("no-store")) << undone.body;
    EXPECT_EQ(undone.header("Retry-After"), "");
    EXPECT_EQ(send("POST", "/$undo?from=1&dryRun=true").status, 200);
}

TEST_F(Statement, NamesClosureWhereATableCanBegin) {
    EXPECT_THAT(statement(), HasSubstr(R"({"name":"closure")"));
    Config config;
    config.update_create = false;
    restart(config);
    EXPECT_THAT(statement(), Not(HasSubstr(R"({"name":"closure")")));
}

TEST_F(Statement, NamesNoOperationThatCannotBeLookedUp) {
    const std::string text = statement();
    json::Parser parser;
    const auto document = parser.parse(text);
    const json::Value rest = *document->root()["rest"].elements().begin();
    std::set<std::string> definitions;
    const auto collect = [&](json::Value list) {
        std::set<std::string> names;
        for (const json::Value operation : list.elements()) {
            EXPECT_TRUE(names.insert(operation["name"].string()).second) << operation.raw();
            definitions.insert(operation["definition"].string());
        }
    };
    collect(rest["operation"]);
    for (const json::Value resource : rest["resource"].elements()) {
        collect(resource["operation"]);
    }
    std::size_t ours = 0;
    for (const std::string& url : definitions) {
        if (url.starts_with("http://hl7.org/fhir/")) {
            continue;
        }
        ASSERT_TRUE(url.starts_with(kBaseUrl)) << url;
        const test::Answer answer = send("GET", url.substr(kBaseUrl.size()));
        EXPECT_EQ(answer.status, 200) << url;
        EXPECT_THAT(answer.body, HasSubstr(fmt::format(R"("url":"{}")", url)));
        EXPECT_THAT(issues(answer.body), IsEmpty()) << answer.body;
        ++ours;
    }
    EXPECT_GE(ours, 8U);
}

TEST_F(Statement, NamesOperationsThatR4Has) {
    const auto file = test::test_data("r4-definitions/profiles-resources.json");
    if (file.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-definitions";
    }
    const std::string known = test::read_whole_file(file);
    for (const Operation& operation : operations()) {
        if (operation.definition.starts_with("http://hl7.org/fhir/OperationDefinition/")) {
            EXPECT_THAT(known, HasSubstr(fmt::format("\"{}\"", operation.definition)));
        }
    }
}

TEST_F(Statement, LeavesOperationDefinitionsThatAreStoredAlone) {
    const std::string_view path = "/OperationDefinition/annals-diff";
    EXPECT_EQ(send("GET", path).status, 200);
    EXPECT_EQ(send("GET", "/OperationDefinition/annals-nothing").status, 404);
    EXPECT_EQ(send("GET", "/OperationDefinition/diff").status, 404);
    EXPECT_EQ(send("GET", "/Patient/annals-diff").status, 404);
    ASSERT_EQ(send("PUT", path,
                   R"({"resourceType":"OperationDefinition","id":"annals-diff","name":"Mine",
                   "status":"draft","kind":"operation","code":"diff","system":true,"type":false,"instance":false})")
                  .status,
              201);
    EXPECT_TRUE(send("GET", path).says("Mine"));
    EXPECT_EQ(send("DELETE", path).status, 204);
    EXPECT_EQ(send("GET", path).status, 410);
}

TEST_F(Statement, ReadsNoOperationDefinitionOfWhatIsOff) {
    const std::string_view path = "/OperationDefinition/annals-purge-history";
    EXPECT_EQ(send("GET", path).status, 404);
    Config config;
    config.hard_delete = true;
    restart(config);
    EXPECT_TRUE(send("GET", path).says(R"("code":"purge-history")"));
}

TEST_F(Statement, IsMadeOnceForEachBaseUrlInTurn) {
    const Descriptions& descriptions = service().descriptions();
    const auto first = descriptions.capability_statement("http://a/fhir");
    EXPECT_EQ(descriptions.capability_statement("http://a/fhir"), first);
    const auto other = descriptions.capability_statement("http://b/fhir");
    EXPECT_NE(other->etag, first->etag);
    EXPECT_THAT(other->text, HasSubstr("http://b/fhir/OperationDefinition/annals-diff"));
    EXPECT_EQ(descriptions.capability_statement("http://a/fhir")->text, first->text);
    install_examples();
    EXPECT_NE(descriptions.capability_statement("http://a/fhir")->etag, first->etag);
}

TEST(WithBaseUrl, TakesAnyTextAsPartOfAString) {
    const std::string mark(1, kBaseUrlMark);
    EXPECT_EQ(with_base_url("[\"" + mark + "/x\",\"" + mark + "\"]", "http://\"a\\"),
              R"(["http://\"a\\/x","http://\"a\\"])");
    EXPECT_EQ(with_base_url("", "x"), "");
    EXPECT_EQ(with_base_url("none", "x"), "none");
}

TEST_F(Statement, NamesNoParameterThatItsOperationDoesNotKnow) {
    ASSERT_EQ(put_patient("a"), 201);
    std::size_t asked = 0;
    for (const Operation& operation : operations()) {
        std::string_view list = find_signature(operation.definition)->parameters;
        std::string query;
        while (const auto parameter = next_parameter(list)) {
            if (parameter->is_primitive()) {
                query += fmt::format("{}{}=x", query.empty() ? "?" : "&", parameter->name);
            }
        }
        const std::string_view type = operation.types.empty() ? "Patient" : operation.types;
        const std::string path = (operation.levels & kOnSystem) != 0 ? "/"
                                 : (operation.levels & kOnType) != 0 ? fmt::format("/{}/", type)
                                                                     : fmt::format("/{}/a/", type);
        const test::Answer answer =
            send("POST", path + std::string(operation.name) + query, "",
                 {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
        EXPECT_FALSE(answer.says("There is no parameter")) << operation.name << answer.body;
        ++asked;
    }
    EXPECT_EQ(asked, operations().size());
}

}  // namespace
}  // namespace annals::core
