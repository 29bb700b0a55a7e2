// The CapabilityStatement and the TerminologyCapabilities: valid by our own full validation whatever the configuration, and true.

#include "codec/json/document.h"
#include "core/access.h"
#include "core/definitions.h"
#include "core/descriptions.h"
#include "core/operations/operations.h"
#include "core/operations/signatures.h"
#include "core/terminology/code_system.h"
#include "core/terminology/r4.h"
#include "core/validation/validate.h"
#include "tests/support/archives.h"
#include "tests/support/files.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace annals::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Statement : public test::ServiceFixture {
  protected:
    /// Everything that full validation has to say of it, a line each.
    std::string issues(std::string_view text) {
        json::Parser parser;
        const auto document = parser.parse(text);
        if (!document) {
            return document.error().detail;
        }
        validation::Options options;
        options.refuse_unknown_elements = true;
        options.refuse_unknown_extensions = true;
        options.refuse_markup = true;
        options.refuse_wrong_displays = true;
        std::string out;
        for (const Issue& issue :
             validation::validate(document->root(), service().definitions(), options).issues) {
            out += fmt::format("{} {} {}: {}\n", issue.severity, issue.code, issue.expression,
                               issue.diagnostics);
        }
        return out;
    }

    std::string statement() {
        const test::Answer answer = send("GET", "/metadata");
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }

    void expect_valid(const Config& config) {
        restart(config);
        EXPECT_THAT(issues(statement()), IsEmpty());
    }

    void install_examples() {
        const std::string profile = R"({"resourceType":"StructureDefinition","id":"named",
            "url":"http://p/named","status":"active","kind":"resource","abstract":false,"type":"Patient",
            "derivation":"constraint","name":"Named",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient",
            "differential":{"element":[{"id":"Patient","path":"Patient"}]}})";
        const std::string extension = R"({"resourceType":"StructureDefinition","id":"e",
            "url":"http://p/extension","status":"active","kind":"complex-type","abstract":false,
            "type":"Extension","derivation":"constraint","name":"E",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Extension",
            "differential":{"element":[{"id":"Extension","path":"Extension"}]}})";
        const std::string guide =
            R"({"resourceType":"ImplementationGuide","id":"ig","url":"http://p/guide","status":"active"})";
        const std::string codes =
            R"({"resourceType":"CodeSystem","id":"c","url":"http://p/codes","version":"1","status":"active",
            "content":"complete","concept":[{"code":"x"}]})";
        install_package(test::make_package("p.test", "1.0.0", {profile, extension, guide, codes}));
    }
};

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
    const std::string said = "Bundles of type history are taken";
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
    const std::string nothing = "No credentials are asked for.";
    EXPECT_THAT(statement(), HasSubstr(nothing));
    Config config;
    config.tls.client_ca_file = "ca.pem";
    expect_valid(config);
    EXPECT_THAT(statement(), Not(HasSubstr(nothing)));
    EXPECT_THAT(statement(), HasSubstr("but a client certificate"));
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
    restart(config);
    const std::string text = statement();
    for (const char* code : {"create", "update", "patch", "delete"}) {
        EXPECT_THAT(text, testing::Not(HasSubstr(fmt::format(R"({{"code":"{}"}})", code)))) << code;
    }
    EXPECT_THAT(text, HasSubstr(R"("updateCreate":false)"));
    EXPECT_THAT(text, HasSubstr(R"("conditionalDelete":"not-supported")"));
    EXPECT_THAT(text, HasSubstr(R"({"code":"read"})"));
    EXPECT_THAT(text, Not(HasSubstr("Bundles of type history are taken")));
    EXPECT_THAT(text, Not(HasSubstr("patchFormat")));
    EXPECT_THAT(text, Not(HasSubstr("bulkdata")));
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

// ---- mode=terminology ----

class TerminologyStatement : public Statement {
  protected:
    static constexpr std::string_view kTarget = "/metadata?mode=terminology";

    std::string terminology() {
        const test::Answer answer = send("GET", kTarget);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }

    /// `more`: what it has besides, with a comma before.
    void put(std::string_view id, std::string_view url, std::string_view more) {
        const test::Answer answer =
            send("PUT", fmt::format("/CodeSystem/{}", id),
                 fmt::format(
                     R"({{"resourceType":"CodeSystem","id":"{}","url":"{}","status":"active"{}}})",
                     id, url, more));
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    /// The versions that are told of a code system, as JSON; empty if it isn't told.
    static std::string versions(std::string_view text, std::string_view url) {
        json::Parser parser;
        const auto document = parser.parse(text);
        for (const json::Value system : document->root()["codeSystem"].elements()) {
            if (system["uri"].equals(url)) {
                EXPECT_EQ(system["subsumption"].raw(), "true");
                return std::string(system["version"].raw());
            }
        }
        return {};
    }

    static constexpr std::string_view kGender = "http://hl7.org/fhir/administrative-gender";
    static constexpr std::string_view kComplete =
        R"(,"content":"complete","concept":[{"code":"x","display":"X"}])";
    static constexpr std::string_view kFirst =
        R"(,"version":"1","content":"complete","concept":[{"code":"x"}])";
};

TEST_F(TerminologyStatement, IsValidAndSaysWhatItIs) {
    const test::Answer answer = send("GET", kTarget);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(issues(answer.body), IsEmpty());
    EXPECT_FALSE(answer.has_last_modified);
    EXPECT_EQ(answer.cache_control, "no-cache");
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    const json::Value root = document->root();
    EXPECT_TRUE(root["resourceType"].equals("TerminologyCapabilities"));
    EXPECT_TRUE(root["kind"].equals("instance"));
    EXPECT_TRUE(root["software"]["version"].equals(ANNALS_VERSION));
    EXPECT_TRUE(root["implementation"]["url"].equals(kBaseUrl));
    EXPECT_FALSE(root["lockedDate"]);
    EXPECT_THAT(answer.body, HasSubstr(R"({"name":"force-system-version"})"));
    EXPECT_EQ(versions(answer.body, kGender),
              R"([{"code":"4.0.1","isDefault":true,"compositional":false}])");
    EXPECT_EQ(send("GET", "/metadata?mode=full").etag, send("GET", "/metadata").etag);
    EXPECT_EQ(send("GET", "/metadata?mode=odd").status, 400);
}

TEST_F(TerminologyStatement, NamesTheCodeSystemsOfR4ThatHaveCodes) {
    const std::string text = terminology();
    std::size_t with_codes = 0;
    for (const terminology::ListedCodeSystem& listed : terminology::r4_code_systems()) {
        const auto found =
            terminology::r4_definitions().find("CodeSystem", listed.url, listed.version);
        ASSERT_TRUE(found && *found != nullptr) << listed.url;
        terminology::Effort effort(1'000'000'000);
        const auto made = terminology::CodeSystem::make(*found, effort);
        ASSERT_TRUE(made) << listed.url;
        EXPECT_EQ((*made)->size() > 0, listed.has_codes) << listed.url;
        with_codes += listed.has_codes ? 1U : 0U;
    }
    EXPECT_GT(with_codes, 1000U);
    json::Parser parser;
    const auto document = parser.parse(text);
    EXPECT_EQ(document->root()["codeSystem"].size(), with_codes);
    EXPECT_EQ(versions(text, "http://snomed.info/sct"), "");
}

TEST_F(TerminologyStatement, NamesWhatIsStoredByItsVersionsAndTheOneThatIsTaken) {
    const std::string_view url = "http://s/a";
    EXPECT_EQ(versions(terminology(), url), "");
    put("a", url, kFirst);
    const test::Answer one = send("GET", kTarget);
    EXPECT_EQ(versions(one.body, url), R"([{"code":"1","isDefault":true,"compositional":false}])");
    const std::string tag = fmt::format("W/\"{}\"", one.etag);
    EXPECT_EQ(send("GET", kTarget, "", {{"If-None-Match", tag}}).status, 304);

    put("b", url, R"(,"version":"2","content":"fragment","concept":[{"code":"x"}])");
    const test::Answer two = send("GET", kTarget, "", {{"If-None-Match", tag}});
    EXPECT_EQ(two.status, 200);
    EXPECT_EQ(
        versions(two.body, url),
        R"([{"code":"2","isDefault":true,"compositional":false},{"code":"1","compositional":false}])");
    EXPECT_THAT(issues(two.body), IsEmpty());

    // Beside others what has no version can't be told, though it is the one that is taken.
    put("c", url, kComplete);
    const std::string three = terminology();
    EXPECT_EQ(versions(three, url),
              R"([{"code":"2","compositional":false},{"code":"1","compositional":false}])");
    EXPECT_THAT(issues(three), IsEmpty());
    for (const char* id : {"b", "c"}) {
        EXPECT_EQ(send("DELETE", fmt::format("/CodeSystem/{}", id)).status, 204);
    }
    EXPECT_EQ(terminology(), one.body);
    EXPECT_EQ(send("GET", kTarget).etag, one.etag);
}

TEST_F(TerminologyStatement, NamesNoneWithoutCodes) {
    put("n", "http://s/none", R"(,"content":"not-present")");
    put("s", "http://s/supplement",
        R"(,"content":"supplement","supplements":"http://s/a","concept":[{"code":"x"}])");
    put("u", "http://s/unversioned", kComplete);
    // It is taken where no version is named, and has no codes.
    put("g", kGender, R"(,"version":"9","content":"not-present")");
    const std::string text = terminology();
    EXPECT_EQ(versions(text, "http://s/none"), "");
    EXPECT_EQ(versions(text, "http://s/supplement"), "");
    EXPECT_EQ(versions(text, "http://s/unversioned"),
              R"([{"isDefault":true,"compositional":false}])");
    EXPECT_EQ(versions(text, kGender), R"([{"code":"4.0.1","compositional":false}])");
    EXPECT_EQ(send("GET", fmt::format("/CodeSystem/$lookup?system={}&code=male", kGender)).status,
              422);
    EXPECT_EQ(
        send("GET", fmt::format("/CodeSystem/$lookup?system={}&version=4.0.1&code=male", kGender))
            .status,
        200);
}

TEST_F(TerminologyStatement, NamesThoseOfPackages) {
    const std::uint64_t etag = send("GET", kTarget).etag;
    install_examples();
    const test::Answer answer = send("GET", kTarget);
    EXPECT_NE(answer.etag, etag);
    EXPECT_EQ(versions(answer.body, "http://p/codes"),
              R"([{"code":"1","isDefault":true,"compositional":false}])");
}

TEST_F(TerminologyStatement, TellsWhatIsStoredOnlyWhoMaySearchForIt) {
    const std::string_view url = "http://s/mine";
    put("a", url, kFirst);
    Config config;
    config.auth.mode = "jwt";
    config.auth.public_access = {"metadata"};
    restart(config);
    const auto told_to = [&](const Principal* principal) {
        send_as(principal);
        const std::string text = terminology();
        EXPECT_THAT(issues(text), IsEmpty());
        const bool told = !versions(text, url).empty();
        // What nobody may know of may go first.
        EXPECT_EQ(text.find("isDefault") != std::string::npos, told);
        EXPECT_NE(versions(text, kGender), "");
        return told;
    };
    const Principal searches("s", "system/CodeSystem.s");
    const Principal reads("r", "system/CodeSystem.r system/ValueSet.rs");
    const Principal in_part("p", "system/CodeSystem.rs?status=draft");
    EXPECT_TRUE(told_to(&searches));
    EXPECT_FALSE(told_to(nullptr));
    EXPECT_FALSE(told_to(&reads));
    EXPECT_FALSE(told_to(&in_part));
    EXPECT_TRUE(told_to(&searches));
    config.auth.public_access = {"metadata", "search"};
    restart(config);
    EXPECT_TRUE(told_to(nullptr));
    config.auth.public_access = {};
    restart(config);
    EXPECT_EQ(send("GET", kTarget).status, 401);
}

TEST_F(TerminologyStatement, IsGivenAsItIsAskedFor) {
    const std::string target(kTarget);
    EXPECT_TRUE(send("GET", target + "&_format=xml").says("<TerminologyCapabilities xmlns"));
    EXPECT_EQ(send("HEAD", target).status, 200);
    const test::Answer summary = send("GET", target + "&_summary=true");
    EXPECT_TRUE(summary.says("SUBSETTED"));
    EXPECT_FALSE(summary.says(R"("codeSystem")"));
    const test::Answer elements = send("GET", target + "&_elements=codeSearch");
    EXPECT_TRUE(elements.says(R"("codeSearch":"explicit")"));
    EXPECT_FALSE(elements.says(R"("codeSystem")"));
    const test::Answer batch = send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"metadata?mode=terminology"}}]})");
    EXPECT_EQ(batch.status, 200);
    EXPECT_TRUE(batch.says(R"("resource":{"resourceType":"TerminologyCapabilities")"));
}

TEST(WithBaseUrl, TakesAnyTextAsPartOfAString) {
    const std::string mark(1, kBaseUrlMark);
    EXPECT_EQ(with_base_url("[\"" + mark + "/x\",\"" + mark + "\"]", "http://\"a\\"),
              R"(["http://\"a\\/x","http://\"a\\"])");
    EXPECT_EQ(with_base_url("", "x"), "");
    EXPECT_EQ(with_base_url("none", "x"), "none");
}

// ---- what operations take ----

TEST(Signatures, AreThereForEveryOperationAndNoOther) {
    std::set<std::string_view> definitions;
    for (const Operation& operation : operations()) {
        definitions.insert(operation.definition);
        EXPECT_NE(find_signature(operation.definition), nullptr) << operation.definition;
    }
    for (const Signature& signature : signatures()) {
        EXPECT_TRUE(definitions.contains(signature.definition)) << signature.definition;
    }
}

TEST(Signatures, AreTakenApart) {
    std::string_view list =
        "url:uri concept:Coding* to:string! input*(type:code! url:url) last:code!*";
    auto parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "url");
    EXPECT_EQ(parameter->type, "uri");
    EXPECT_TRUE(parameter->is_primitive());
    EXPECT_FALSE(parameter->repeats || parameter->required);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->type, "Coding");
    EXPECT_TRUE(parameter->repeats);
    EXPECT_FALSE(parameter->is_primitive());
    EXPECT_TRUE(next_parameter(list)->required);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "input");
    EXPECT_EQ(parameter->type, "");
    EXPECT_EQ(parameter->parts, "type:code! url:url");
    EXPECT_TRUE(parameter->repeats);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "last");
    EXPECT_TRUE(parameter->required && parameter->repeats);
    EXPECT_FALSE(next_parameter(list));
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
