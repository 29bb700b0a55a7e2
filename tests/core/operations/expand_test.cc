#include "tests/core/operations/terminology_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals::core {
namespace {

using test::Answer;

class Expand : public test::TerminologyFixture {};

TEST_F(Expand, ListsAllCodesOfASystemInItsOrder) {
    const Answer answer = send("GET", "/ValueSet/$expand?url=http://v/all");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(codes_of(answer), "animal dog poodle bird dodo puppy rock");
    EXPECT_TRUE(answer.says(R"({"resourceType":"ValueSet","url":"http://v/all","version":"1")"));
    EXPECT_TRUE(answer.says(R"("identifier":"urn:uuid:)")) << answer.body;
    EXPECT_TRUE(answer.says(R"("total":7,"offset":0)")) << answer.body;
    EXPECT_TRUE(answer.says(R"({"name":"used-codesystem","valueUri":"http://s/animals|1"})"))
        << answer.body;
    EXPECT_TRUE(answer.says(
        R"({"system":"http://s/animals","abstract":true,"code":"animal","display":"Animal"})"));
    EXPECT_TRUE(answer.says(
        R"({"system":"http://s/animals","inactive":true,"code":"dodo","display":"Dodo"})"));
    EXPECT_FALSE(answer.says("compose"));
    EXPECT_TRUE(
        send("GET", "/ValueSet/$expand?url=http://v/all&includeDefinition=true").says("compose"));
}

TEST_F(Expand, TakesAValueSetByIdByValueAndByBody) {
    EXPECT_EQ(codes_of(send("GET", "/ValueSet/all/$expand?count=1")), "animal");
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/all/$expand")),
              "animal dog poodle bird dodo puppy rock");
    const std::string own = R"({"resourceType":"ValueSet","status":"draft","compose":{"include":[
        {"system":"http://s/animals","concept":[{"code":"rock","display":"Stone"},{"code":"sand"}]}]}})";
    const Answer bare = send("POST", "/ValueSet/$expand", own);
    EXPECT_EQ(codes_of(bare), "rock");
    EXPECT_TRUE(bare.says(R"("display":"Stone")")) << bare.body;
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/$expand",
                            R"({"resourceType":"Parameters","parameter":[
                               {"name":"valueSet","resource":)" +
                                own + R"(},
                               {"name":"count","valueInteger":0}]})")),
              "");
    EXPECT_EQ(codes("url=http://v/nowhere"), "404 not-found");
    EXPECT_EQ(codes("url=http://v/all&valueSetVersion=2"), "404 not-found");
    EXPECT_EQ(codes("url=http://v/all|1&count=1"), "animal");
    EXPECT_EQ(codes("count=1"), "400 required");
    EXPECT_EQ(codes("url=http://v/all&count=-1"), "400 invalid");
    const std::string instance = "/ValueSet/all/$expand?count=1";
    EXPECT_EQ(codes_of(send("GET", instance + "&url=http://v/all&valueSetVersion=1")), "animal");
    EXPECT_EQ(codes_of(send("GET", instance + "&valueSetVersion=2")), "400 invalid");
    EXPECT_EQ(codes_of(send("GET", instance + "&url=http://v/other")), "400 invalid");
    EXPECT_EQ(codes("url=http://v/all&odd=1"), "400 invalid");
    EXPECT_EQ(codes_of(send("GET", "/ValueSet/none/$expand")), "404 not-found");
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/$expand", R"({"resourceType":"Patient"})")),
              "400 invalid");
}

TEST_F(Expand, IsByTheDefinitionsOfNowWhateverTheDate) {
    constexpr std::int64_t kDayUs = 86'400'000'000;
    std::int64_t day = 0;
    std::string found;
    do {  // again if the day ends meanwhile
        day = now().us / kDayUs;
        found =
            codes("url=http://v/all&count=1&date=" + format_instant({day * kDayUs}).substr(0, 10));
    } while (day != now().us / kDayUs);
    EXPECT_EQ(found, "animal");
    const std::string tomorrow = format_instant({(day + 1) * kDayUs}).substr(0, 10);
    EXPECT_EQ(codes("url=http://v/all&count=1&date=2999-01-01T00:00:00Z"), "animal");
    EXPECT_EQ(codes("url=http://v/all&date=2020-01-01"), "422 not-supported");
    EXPECT_EQ(codes("url=http://v/all&date=yesterday"), "400 invalid");
    EXPECT_TRUE(send("GET", "/ValueSet/$expand?url=http://v/all&date=" + tomorrow)
                    .says(R"({"name":"date","valueDateTime":")" + tomorrow));
    const std::string code = "&system=http://s/animals&code=dog";
    for (const std::string& path :
         std::vector<std::string>{"/ValueSet/$validate-code?url=http://v/all" + code,
                                  "/CodeSystem/$validate-code?url=http://s/animals&code=dog",
                                  "/CodeSystem/$lookup?" + code.substr(1)}) {
        EXPECT_EQ(send("GET", path + "&date=" + tomorrow).status, 200) << path;
        EXPECT_EQ(send("GET", path + "&date=2020").status, 422) << path;
    }
}

TEST_F(Expand, AddsTheDesignationsThatAreAskedFor) {
    const auto expand = [&](std::string_view rest) {
        return send("GET", fmt::format("/ValueSet/$expand?url=http://v/all{}", rest));
    };
    for (const char* token : {"de", "urn:ietf:bcp:47%7Cde"}) {
        const Answer german = expand(fmt::format("&designation={}", token));
        EXPECT_TRUE(german.says("Hund")) << german.body;
        EXPECT_FALSE(german.says("Chien"));
    }
    const Answer both = expand("&designation=de&designation=fr");
    EXPECT_TRUE(both.says("Hund") && both.says("Chien")) << both.body;
    EXPECT_FALSE(expand("&designation=http://s%7Cde").says("Hund"));
    EXPECT_FALSE(expand("&designation=de&includeDesignations=false").says("Hund"));
}

TEST_F(Expand, CannotTellWhatAContextIsBoundTo) {
    EXPECT_EQ(codes("context=http://p%23Patient.gender"), "422 not-supported");
    EXPECT_EQ(codes("url=http://v/all&count=1&context=http://p%23Patient.gender"), "animal");
    EXPECT_EQ(codes("url=http://v/all&count=1&contextDirection=incoming"), "animal");
    EXPECT_EQ(send("GET", "/ValueSet/$validate-code?context=http://p&code=dog").status, 422);
}

TEST_F(Expand, KnowsEveryFilterOfR4) {
    filter("isa", "concept", "is-a", "dog");
    EXPECT_EQ(codes("url=http://v/isa"), "dog poodle puppy");
    filter("below", "concept", "descendent-of", "dog");
    EXPECT_EQ(codes("url=http://v/below"), "poodle puppy");
    filter("not", "concept", "is-not-a", "dog");
    EXPECT_EQ(codes("url=http://v/not"), "animal bird dodo rock");
    filter("above", "concept", "generalizes", "puppy");
    EXPECT_EQ(codes("url=http://v/above"), "animal dog puppy");
    filter("legs", "legs", "=", "2");
    EXPECT_EQ(codes("url=http://v/legs"), "bird dodo");
    filter("in", "code", "in", "dog, rock");
    EXPECT_EQ(codes("url=http://v/in"), "dog rock");
    filter("notin", "code", "not-in", "dog,rock,animal");
    EXPECT_EQ(codes("url=http://v/notin"), "poodle bird dodo puppy");
    filter("exists", "legs", "exists", "true");
    EXPECT_EQ(codes("url=http://v/exists"), "dog bird dodo");
    filter("absent", "legs", "exists", "false");
    EXPECT_EQ(codes("url=http://v/absent"), "animal poodle puppy rock");
    filter("regex", "code", "regex", "[dp]o.*");
    EXPECT_EQ(codes("url=http://v/regex"), "dog poodle dodo");
    filter("whole", "code", "regex", "do");
    EXPECT_EQ(codes("url=http://v/whole"), "") << "regular expressions are anchored";
    filter("parent", "parent", "=", "dog");
    EXPECT_EQ(codes("url=http://v/parent"), "poodle puppy");
    filter("badregex", "code", "regex", "(");
    EXPECT_EQ(codes("url=http://v/badregex"), "422 not-supported");
    filter("odd", "code", "like", "x");
    EXPECT_EQ(codes("url=http://v/odd"), "422 not-supported");
}

TEST_F(Expand, KnowsParentsAndChildrenByNestingAndByPropertyAtOnce) {
    put("CodeSystem/two",
        R"({"resourceType":"CodeSystem","id":"two","url":"http://s/two","status":"active","content":"complete",
        "concept":[{"code":"a","property":[{"code":"child","valueCode":"y"}],"concept":[
            {"code":"x","property":[{"code":"parent","valueCode":"b"}]}]},{"code":"b"},{"code":"y"}]})");
    const auto of = [&](const std::string& property, const std::string& value) {
        compose("by", R"("include":[{"system":"http://s/two","filter":[{"property":")" + property +
                          R"(","op":"=","value":")" + value + R"("}]}])");
        return codes("url=http://v/by");
    };
    EXPECT_EQ(of("parent", "a"), "x y");
    EXPECT_EQ(of("parent", "b"), "x");
    EXPECT_EQ(of("child", "x"), "a b");
    EXPECT_EQ(of("child", "y"), "a");
}

TEST_F(Expand, ComposesIncludesExcludesAndOtherValueSets) {
    filter("isa", "concept", "is-a", "dog");
    compose("both", R"("include":[{"valueSet":["http://v/isa"]},
        {"system":"http://s/animals","concept":[{"code":"rock"},{"code":"dog"}]}],
        "exclude":[{"system":"http://s/animals","concept":[{"code":"puppy"}]}])");
    EXPECT_EQ(codes("url=http://v/both"), "dog poodle rock");
    compose(
        "and",
        R"("include":[{"system":"http://s/animals","valueSet":["http://v/isa","http://v/both"]}])");
    EXPECT_EQ(codes("url=http://v/and"), "dog poodle");
    compose(
        "less",
        R"("include":[{"system":"http://s/animals"}],"exclude":[{"valueSet":["http://v/both"]}])");
    EXPECT_EQ(codes("url=http://v/less"), "animal bird dodo puppy");
    compose("active", R"("inactive":false,"include":[{"system":"http://s/animals",
        "concept":[{"code":"dodo"},{"code":"bird"}]}])");
    EXPECT_EQ(codes("url=http://v/active"), "bird");
    compose("loop", R"("include":[{"valueSet":["http://v/loop2"]}])");
    compose("loop2", R"("include":[{"valueSet":["http://v/loop"]}])");
    EXPECT_EQ(codes("url=http://v/loop"), "422 processing");
    compose("dangling", R"("include":[{"valueSet":["http://v/nowhere"]}])");
    EXPECT_EQ(codes("url=http://v/dangling"), "422 not-supported");
}

TEST_F(Expand, SaysWhatIsNotHere) {
    compose("sct", R"("include":[{"system":"http://snomed.info/sct","filter":[
        {"property":"concept","op":"is-a","value":"73211009"}]}])");
    EXPECT_EQ(codes("url=http://v/sct"), "422 not-supported");
    compose("unknown", R"("include":[{"system":"http://unknown"}])");
    EXPECT_EQ(codes("url=http://v/unknown"), "422 not-supported");
    compose("listed", R"("include":[{"system":"http://snomed.info/sct","concept":[
        {"code":"73211009","display":"Diabetes mellitus"}]}])");
    EXPECT_EQ(codes("url=http://v/listed"), "73211009");
    compose("version", R"("include":[{"system":"http://s/animals","version":"9"}])");
    EXPECT_EQ(codes("url=http://v/version"), "422 not-supported");
    put("ValueSet/empty",
        R"({"resourceType":"ValueSet","id":"empty","url":"http://v/empty","status":"active"})");
    EXPECT_EQ(codes("url=http://v/empty"), "422 not-supported");
}

TEST_F(Expand, ListsWhatACodeSystemHasOfItsCodes) {
    const auto having = [&](const std::string& content, const std::string& concepts) {
        put("CodeSystem/part", R"({"resourceType":"CodeSystem","id":"part","url":"http://s/part",
            "status":"active","content":")" +
                                   content + R"(")" + concepts + "}");
        compose("part", R"("include":[{"system":"http://s/part"}])");
        return send("GET", "/ValueSet/$expand?url=http://v/part");
    };
    const std::string concepts = R"(,"concept":[{"code":"x"},{"code":"y"}])";
    for (const char* content : {"fragment", "example"}) {
        const Answer part = having(content, concepts);
        EXPECT_EQ(codes_of(part), "x y") << content;
        EXPECT_TRUE(part.says(R"({"name":"fragment","valueUri":"http://s/part"})")) << part.body;
    }
    EXPECT_FALSE(having("complete", concepts).says("fragment"));
    EXPECT_EQ(codes_of(having("example", "")), "422 not-supported");
    EXPECT_EQ(codes_of(having("not-present", concepts)), "422 not-supported");
    EXPECT_EQ(codes("url=http://hl7.org/fhir/ValueSet/service-category&filter=ado"), "1");
}

TEST_F(Expand, FallsBackOnTheExpansionThatCameWithAValueSet) {
    put("ValueSet/carried", R"({"resourceType":"ValueSet","id":"carried","url":"http://v/carried",
        "status":"active","compose":{"include":[{"system":"http://unknown","filter":[
          {"property":"x","op":"=","value":"y"}]}]},
        "expansion":{"timestamp":"2020-01-01","contains":[{"system":"http://unknown","code":"a",
          "display":"A","contains":[{"system":"http://unknown","code":"b"}]}]}})");
    EXPECT_EQ(codes("url=http://v/carried"), "a b");
}

TEST_F(Expand, TakesCodesOfOneSystemFromAnExpansionAndFromItsContent) {
    put("ValueSet/came", R"({"resourceType":"ValueSet","id":"came","url":"http://v/came",
        "status":"active","expansion":{"timestamp":"2020-01-01","contains":[
        {"system":"http://s/animals","code":"unicorn"}]}})");
    compose("both", R"("include":[{"valueSet":["http://v/came"]},{"system":"http://s/animals"}])");
    EXPECT_EQ(codes("url=http://v/both"), "unicorn animal dog poodle bird dodo puppy rock");
    const Answer nested = send("GET", "/ValueSet/$expand?url=http://v/both&excludeNested=false");
    EXPECT_EQ(codes_of(nested), "unicorn animal rock");
    EXPECT_TRUE(nested.says(R"({"name":"used-codesystem","valueUri":"http://s/animals|1"})"))
        << nested.body;
}

TEST_F(Expand, HasACodeOnceWhereOnePartNamesTheVersionAndAnotherDoesNot) {
    compose("twice", R"("include":[{"system":"http://s/animals","concept":[{"code":"dog"}]},
        {"system":"http://s/animals","version":"1","concept":[{"code":"dog"},{"code":"bird"}]}])");
    EXPECT_EQ(codes("url=http://v/twice"), "dog bird");
}

TEST_F(Expand, ExcludesCodesOfTheVersionThatIsIncluded) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals",
        "version":"2","status":"active","content":"complete","concept":[{"code":"bird"}]})");
    compose("old", R"("include":[{"system":"http://s/animals","version":"1"}],
        "exclude":[{"system":"http://s/animals","concept":[{"code":"animal"},{"code":"rock"}]},
                   {"system":"http://s/animals","filter":[
                     {"property":"concept","op":"is-a","value":"dog"}]}])");
    EXPECT_EQ(codes("url=http://v/old"), "bird dodo");
    EXPECT_TRUE(send("GET", "/ValueSet/old/$validate-code?system=http://s/animals&code=rock")
                    .says(R"("valueBoolean":false)"));
    EXPECT_TRUE(send("GET", "/ValueSet/old/$validate-code?system=http://s/animals&code=dodo")
                    .says(R"("valueBoolean":true)"));
}

TEST_F(Expand, JudgesCodesOfAValueSetInsideByTheVersionThatItNames) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals",
        "version":"2","status":"active","content":"complete","concept":[{"code":"dodo"}]})");
    compose("pinned", R"("include":[{"system":"http://s/animals","version":"1"}])");
    compose("less", R"("include":[{"valueSet":["http://v/pinned"]}],
        "exclude":[{"system":"http://s/animals","concept":[{"code":"rock"}]}])");
    compose("living", R"("inactive":false,"include":[{"valueSet":["http://v/pinned"]}])");
    compose("either", R"("inactive":false,"include":[{"valueSet":["http://v/pinned"]},
        {"system":"http://s/animals","version":"2"}])");
    const auto has = [this](std::string_view id, std::string_view code) {
        const bool in =
            send("GET", fmt::format("/ValueSet/{}/$validate-code?system=http://s/animals&code={}",
                                    id, code))
                .says(R"("valueBoolean":true)");
        const std::string listed = " " + codes(fmt::format("url=http://v/{}", id)) + " ";
        EXPECT_EQ(in, listed.find(fmt::format(" {} ", code)) != std::string::npos) << id << code;
        return in;
    };
    EXPECT_FALSE(has("less", "rock")) << "version 2 has none";
    EXPECT_TRUE(has("less", "dodo"));
    EXPECT_FALSE(has("living", "dodo")) << "inactive in version 1";
    EXPECT_TRUE(has("either", "dodo")) << "active in version 2";
}

TEST_F(Expand, FiltersByCodeAndDisplayWhateverTheirCaseAndAccents) {
    EXPECT_EQ(codes("url=http://v/all&filter=ELEGANT"), "poodle");
    EXPECT_EQ(codes("url=http://v/all&filter=caniche%20%C3%A9l"), "poodle");
    EXPECT_EQ(codes("url=http://v/all&filter=DO"), "dog dodo");
    EXPECT_EQ(codes("url=http://v/all&filter=nothing"), "");
    EXPECT_EQ(codes("url=http://v/all&filter=do&activeOnly=true"), "dog");
}

TEST_F(Expand, CutsPages) {
    const Answer page = send("GET", "/ValueSet/$expand?url=http://v/all&offset=2&count=3");
    EXPECT_EQ(codes_of(page), "poodle bird dodo");
    EXPECT_TRUE(page.says(R"("total":7,"offset":2)")) << page.body;
    EXPECT_TRUE(page.says(R"({"name":"count","valueInteger":3})")) << page.body;
    EXPECT_EQ(codes("url=http://v/all&offset=7"), "");
    EXPECT_EQ(codes("url=http://v/all&count=0"), "");
    const Answer beyond =
        send("GET", "/ValueSet/$expand?url=http://v/all&offset=99999999999&count=99999999999");
    EXPECT_EQ(codes_of(beyond), "");
    EXPECT_TRUE(beyond.says(R"("total":7,"offset":2147483647)")) << "FHIR's integers end there";
    EXPECT_TRUE(beyond.says(R"({"name":"count","valueInteger":2147483647})")) << beyond.body;
}

TEST_F(Expand, RefusesTooManyCodesButNotWhatAFilterLeaves) {
    Config config;
    config.limits.max_expansion = 3;
    restart(config);
    EXPECT_EQ(codes("url=http://v/all"), "422 too-costly");
    EXPECT_EQ(codes("url=http://v/all&count=1"), "422 too-costly");
    EXPECT_EQ(codes("url=http://v/all&filter=do"), "dog dodo");
}

TEST_F(Expand, FollowsAValueSetThatWasErasedAndMadeAgain) {
    Config config;
    config.hard_delete = true;
    restart(config);
    EXPECT_EQ(codes("url=http://v/all&count=1"), "animal");
    ASSERT_EQ(send("DELETE", "/ValueSet/all").status, 204);
    compose("all", R"("include":[{"system":"http://s/animals","concept":[{"code":"rock"}]}])");
    EXPECT_EQ(codes("url=http://v/all"), "rock");
}

TEST_F(Expand, FollowsNewVersionsOfWhatItIsMadeOf) {
    filter("isa", "concept", "is-a", "dog");
    compose("outer", R"("include":[{"valueSet":["http://v/isa"]}])");
    EXPECT_EQ(codes("url=http://v/outer"), "dog poodle puppy");
    EXPECT_EQ(codes("url=http://v/outer"), "dog poodle puppy");
    filter("isa", "concept", "is-a", "bird");
    EXPECT_EQ(codes("url=http://v/outer"), "bird");
    put("CodeSystem/animals",
        R"({"resourceType":"CodeSystem","id":"animals","url":"http://s/animals",
        "status":"active","content":"complete","concept":[{"code":"bird","concept":[{"code":"owl"}]}]})");
    EXPECT_EQ(codes("url=http://v/outer"), "bird owl");
    EXPECT_EQ(send("DELETE", "/ValueSet/isa").status, 204);
    EXPECT_EQ(codes("url=http://v/outer"), "422 not-supported");
}

TEST_F(Expand, TakesTheVersionsOfCodeSystemsThatAreAskedFor) {
    put("CodeSystem/animals2",
        R"({"resourceType":"CodeSystem","id":"animals2","url":"http://s/animals",
        "version":"2","status":"active","content":"complete","concept":[{"code":"unicorn"}]})");
    EXPECT_EQ(codes("url=http://v/all"), "unicorn");
    EXPECT_EQ(codes("url=http://v/all&system-version=http://s/animals|1&count=1"), "animal");
    EXPECT_EQ(codes("url=http://v/all&check-system-version=http://s/animals|1&count=1"), "animal");
    EXPECT_EQ(codes("url=http://v/all&check-system-version=http://s/animals|1"
                    "&system-version=http://s/animals|2"),
              "422 not-supported");
    EXPECT_EQ(codes("url=http://v/all&check-system-version=http://s/animals|3"),
              "422 not-supported");
    compose("two", R"("include":[{"system":"http://s/animals","version":"2"}])");
    EXPECT_EQ(codes("url=http://v/two&check-system-version=http://s/animals|2"), "unicorn");
    EXPECT_EQ(codes("url=http://v/two&check-system-version=http://s/animals|1"),
              "422 not-supported");
    compose("one", R"("include":[{"system":"http://s/animals","version":"1"}])");
    EXPECT_EQ(codes("url=http://v/one&filter=rock"), "rock");
    compose("inside", R"("include":[{"system":"http://s/animals|1","concept":[{"code":"rock"}]}])");
    const Answer inside = send("GET", "/ValueSet/$expand?url=http://v/inside");
    EXPECT_EQ(codes_of(inside), "rock");
    EXPECT_TRUE(inside.says(R"("system":"http://s/animals","version":"1","code":"rock")"))
        << inside.body;
    const Answer forced =
        send("GET", "/ValueSet/$expand?url=http://v/one&force-system-version=http://s/animals|2");
    EXPECT_EQ(codes_of(forced), "unicorn");
    EXPECT_TRUE(forced.says(R"("version":"2","code":"unicorn")")) << forced.body;
    EXPECT_EQ(codes("url=http://v/all&exclude-system=http://s/animals"), "");
    compose("both", R"("include":[{"system":"http://s/animals","version":"2"},
        {"system":"http://s/animals","version":"1","concept":[{"code":"rock"}]}])");
    EXPECT_EQ(codes("url=http://v/both&exclude-system=http://s/animals|1"), "unicorn");
    EXPECT_EQ(codes("url=http://v/both&exclude-system=http://s/animals|2"), "rock");
    EXPECT_EQ(codes("url=http://v/both&exclude-system=http://s/animals|3"), "unicorn rock");
    EXPECT_EQ(codes("url=http://v/both&exclude-system=http://s/animals"), "");
    EXPECT_EQ(codes("url=http://v/one&force-system-version=http://s/animals|2"
                    "&exclude-system=http://s/animals|1"),
              "unicorn");
    EXPECT_EQ(codes("url=http://v/all&exclude-system=http://s/animals|2"), "");
    EXPECT_EQ(codes("url=http://v/all&exclude-system=http://s/animals|1"), "unicorn");
    compose("partly",
            R"("include":[{"system":"http://snomed.info/sct"},{"valueSet":["http://v/all"]},
        {"system":"http://x/none","version":"7"}])");
    EXPECT_EQ(codes("url=http://v/partly"), "422 not-supported");
    compose("outer", R"("include":[{"valueSet":["http://v/partly"]}])");
    for (const std::string name : {"partly", "outer"}) {
        const std::string url = "url=http://v/" + name + "&exclude-system=http://snomed.info/sct";
        EXPECT_EQ(codes(url), "422 not-supported");
        EXPECT_EQ(codes(url + "&exclude-system=http://x/none|7"), "unicorn");
    }
}

TEST_F(Expand, KnowsWhatR4Defines) {
    const Answer gender =
        send("GET", "/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender");
    EXPECT_EQ(codes_of(gender), "male female other unknown");
    EXPECT_TRUE(gender.says(R"("display":"Female")")) << gender.body;
    EXPECT_TRUE(send("GET", "/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/marital-status")
                    .says(R"("code":"M","display":"Married")"));
    EXPECT_EQ(codes("url=http://hl7.org/fhir/ValueSet/languages&filter=de-CH"), "de-CH");
    EXPECT_EQ(codes("url=http://hl7.org/fhir/ValueSet/observation-codes"), "422 not-supported");
}

TEST_F(Expand, CountsTheValueSetsThatItLooksInto) {
    compose("n0", R"("include":[{"system":"http://s/animals","concept":[{"code":"none"}]}])");
    for (int level = 1; level <= 6; ++level) {
        std::string parts;
        for (int i = 0; i < 10; ++i) {
            parts +=
                fmt::format(R"({}{{"valueSet":["http://v/n{}"]}})", i > 0 ? "," : "", level - 1);
        }
        compose("n" + std::to_string(level), R"("include":[)" + parts + "]");
    }
    EXPECT_EQ(codes("url=http://v/n3"), "");
    // A million value sets: too many for a search.
    const Answer answer = send("GET", "/Observation?code:in=http://v/n6");
    EXPECT_TRUE(answer.says("too-costly")) << answer.body;
}

TEST_F(Expand, TakesAHundredRegularExpressions) {
    const auto filters = [](int count) {
        std::string list;
        for (int i = 0; i < count; ++i) {
            list += fmt::format(R"({}{{"property":"code","op":"regex","value":"[a-c].*|d{}"}})",
                                i > 0 ? "," : "", i);
        }
        return R"("include":[{"system":"http://s/animals","filter":[)" + list + "]}]";
    };
    compose("hundred", filters(100));
    EXPECT_EQ(codes("url=http://v/hundred"), "animal bird");
    compose("more", filters(101));
    EXPECT_EQ(codes("url=http://v/more"), "422 too-costly");
}

TEST_F(Expand, MakesLargeExpansionsWhileOthersAreServed) {
    std::string concepts;
    for (int i = 0; i < 60'000; ++i) {
        concepts += (i == 0 ? "" : ",") + (R"({"code":"c)" + std::to_string(i) + R"("})");
    }
    put("CodeSystem/large", R"({"resourceType":"CodeSystem","id":"large","url":"http://s/large",
        "status":"active","content":"complete","concept":[)" +
                                concepts + "]}");
    compose("large", R"("include":[{"system":"http://s/large"}])");
    const Answer answer = send("GET", "/ValueSet/$expand?url=http://v/large");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.says(R"("total":60000)"));
    EXPECT_EQ(codes("url=http://v/large&offset=59999"), "c59999");
}

}  // namespace
}  // namespace annals::core
