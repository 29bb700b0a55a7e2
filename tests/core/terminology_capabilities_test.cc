// The TerminologyCapabilities: valid by our own full validation, and true.

#include "core/access.h"
#include "core/terminology/code_system.h"
#include "core/terminology/grammar.h"
#include "core/terminology/r4.h"
#include "tests/core/statement_fixture.h"

#include <string>
#include <string_view>

namespace annals::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TerminologyStatement : public Statement {
  protected:
    static constexpr std::string_view kTarget = "/metadata?mode=terminology";

    std::string terminology() {
        const test::Answer answer = send("GET", kTarget);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }

    /// Stores a CodeSystem; `more`: further members, after a comma.
    void put(std::string_view id, std::string_view url, std::string_view more) {
        const test::Answer answer =
            send("PUT", fmt::format("/CodeSystem/{}", id),
                 fmt::format(
                     R"({{"resourceType":"CodeSystem","id":"{}","url":"{}","status":"active"{}}})",
                     id, url, more));
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    /// The versions listed for a code system, as JSON; empty if it isn't listed.
    static std::string versions(std::string_view text, std::string_view url) {
        json::Parser parser;
        const auto document = parser.parse(text);
        for (const json::Value system : document->root()["codeSystem"].elements()) {
            if (system["uri"].equals(url)) {
                EXPECT_EQ(system["subsumption"].raw(),
                          terminology::grammar_of(url) == nullptr ? "true" : "false");
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
    EXPECT_EQ(document->root()["codeSystem"].size(), with_codes + terminology::grammars().size());
    EXPECT_EQ(versions(text, "http://snomed.info/sct"), "");
}

TEST_F(TerminologyStatement, NamesTheCodeSystemsWithAGrammar) {
    constexpr std::string_view kUnits = "http://unitsofmeasure.org";
    for (const std::string_view url :
         {kUnits, std::string_view("urn:ietf:bcp:13"), std::string_view("urn:ietf:bcp:47")}) {
        EXPECT_EQ(versions(terminology(), url), R"([{"isDefault":true,"compositional":true}])");
    }
    put("u", kUnits, R"(,"version":"2.1","content":"not-present")");
    const std::string text = terminology();
    EXPECT_EQ(versions(text, kUnits), R"([{"code":"2.1","isDefault":true,"compositional":true}])");
    EXPECT_THAT(issues(text), IsEmpty());
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

    // One without a version can't be listed beside others, even if it is the one that is used.
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

TEST_F(TerminologyStatement, NamesAVersionOnceHoweverOftenItIsStored) {
    const std::string_view url = "http://s/a";
    put("a", url, kFirst);
    put("b", url, kFirst);
    EXPECT_EQ(versions(terminology(), url),
              R"([{"code":"1","isDefault":true,"compositional":false}])");
}

TEST_F(TerminologyStatement, NamesNoneWithoutCodes) {
    put("n", "http://s/none", R"(,"content":"not-present")");
    put("s", "http://s/supplement",
        R"(,"content":"supplement","supplements":"http://s/a","concept":[{"code":"x"}])");
    put("u", "http://s/unversioned", kComplete);
    // It is used when no version is named, although it has no codes.
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
        // The default may be a version that this caller may not know.
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

}  // namespace
}  // namespace annals::core
