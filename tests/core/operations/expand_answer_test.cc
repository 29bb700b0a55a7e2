// What an expansion says besides its codes, and which entries it is made of.

#include "tests/core/operations/terminology_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace annals::core {
namespace {

using test::Answer;

class Expanded : public test::TerminologyFixture {
  protected:
    Answer expand(std::string_view query) {
        return send("GET", fmt::format("/ValueSet/$expand?{}", query));
    }

    /// What follows "contains" in the expansion; nothing if it has none.
    static std::string contains(const Answer& answer) {
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        return body ? std::string(body->root()["expansion"]["contains"].raw()) : answer.body;
    }
};

TEST_F(Expanded, TellsWhatWasAsked) {
    const auto tells = [&](std::string_view query, std::string_view told) {
        const Answer answer = expand(fmt::format("url=http://v/all&{}", query));
        EXPECT_TRUE(answer.says(fmt::format(R"({{"name":"{}}})", told))) << query << answer.body;
        EXPECT_FALSE(expand("url=http://v/all").says(fmt::format(R"({{"name":"{}}})", told)));
    };
    tells("filter=dog", R"(filter","valueString":"dog")");
    tells("designation=de", R"(designation","valueString":"de")");
    tells("displayLanguage=de", R"(displayLanguage","valueCode":"de")");
    tells("exclude-system=http://s/x", R"(exclude-system","valueUri":"http://s/x")");
    tells("offset=1", R"(offset","valueInteger":1)");
    for (const char* flag : {"activeOnly", "includeDesignations", "includeDefinition",
                             "excludeNested", "excludeNotForUI", "excludePostCoordinated"}) {
        tells(fmt::format("{}=true", flag), fmt::format(R"({}","valueBoolean":true)", flag));
    }
    for (const char* kind : {"", "check-", "force-"}) {
        const std::string name = fmt::format("{}system-version", kind);
        tells(name + "=http://s/animals%7C1",
              fmt::format(R"({}","valueUri":"http://s/animals|1")", name));
        EXPECT_EQ(codes(fmt::format("url=http://v/all&{}=http://s/animals", name)), "400 invalid");
    }
    EXPECT_FALSE(expand("url=http://v/all&filter=%20%20").says(R"("name":"filter")"));
}

TEST_F(Expanded, HasNothingOfTheValueSetButWhatNamesItUnlessThatIsAskedFor) {
    const std::string sent = R"({"resourceType":"ValueSet","id":"own","meta":{"versionId":"7"},
        "text":{"status":"empty","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"},
        "contained":[{"resourceType":"Basic","id":"c","code":{"text":"x"}}],"status":"draft",
        "title":"Own","purpose":"why","compose":{"include":[{"system":"http://s/animals",
        "concept":[{"code":"rock"}]}]},"expansion":{"timestamp":"2024"}})";
    const Answer plain = send("POST", "/ValueSet/$expand", sent);
    EXPECT_TRUE(plain.body.starts_with(
        R"({"resourceType":"ValueSet","status":"draft","title":"Own","expansion":{"identifier")"))
        << plain.body;
    const Answer whole = send("POST", "/ValueSet/$expand",
                              R"({"resourceType":"Parameters","parameter":[
        {"name":"valueSet","resource":)" +
                                  sent + R"(},{"name":"includeDefinition","valueBoolean":true}]})");
    EXPECT_TRUE(whole.body.starts_with(
        R"({"resourceType":"ValueSet","status":"draft","title":"Own","purpose":"why","compose":{)"))
        << whole.body;
    for (const std::string_view part :
         {R"("id")", R"("meta")", R"("text")", R"("contained")", R"("timestamp":"2024")"}) {
        EXPECT_FALSE(whole.says(part)) << part << whole.body;
    }
    const Answer bare = send("POST", "/ValueSet/$expand",
                             R"({"resourceType":"ValueSet","compose":{"include":[
        {"system":"http://s/animals","concept":[{"code":"rock"}]}]}})");
    EXPECT_TRUE(bare.body.starts_with(
        R"({"resourceType":"ValueSet","status":"active","expansion":{"identifier")"))
        << bare.body;
}

TEST_F(Expanded, SaysOfACodeOnlyWhatIsKnown) {
    put("ValueSet/came", R"({"resourceType":"ValueSet","id":"came","url":"http://v/came",
        "status":"active","expansion":{"timestamp":"2024-01-01","contains":[{"code":"x"}]}})");
    const Answer came = expand("url=http://v/came");
    EXPECT_EQ(contains(came), R"([{"code":"x"}])");
    EXPECT_FALSE(came.says(R"("parameter")")) << came.body;
    EXPECT_EQ(contains(expand("url=http://v/all&filter=rock")),
              R"([{"system":"http://s/animals","code":"rock","display":"Rock"}])");
    EXPECT_EQ(contains(expand("url=http://v/all&filter=rock&designation=de")),
              R"([{"system":"http://s/animals","code":"rock","display":"Rock"}])");
    EXPECT_EQ(contains(expand("url=http://v/all&filter=nothing")), "");
    EXPECT_EQ(contains(expand("url=http://v/all&filter=dog&designation=de")),
              R"([{"system":"http://s/animals","code":"dog","display":"Dog",)"
              R"("designation":[{"language":"de","value":"Hund"}]}])");
}

TEST_F(Expanded, HasTheDesignationsOfALanguageOrOfAUse) {
    compose("uses",
            R"("include":[{"system":"http://s/animals","concept":[{"code":"dog","designation":[
        {"use":{"system":"http://u","code":"short"},"value":"D"},
        {"use":{"system":"http://w","code":"short"},"value":"W"},
        {"use":{"code":"de"},"value":"U"},{"language":"den","value":"N"}]}]}])");
    const auto values = [&](std::string_view token) {
        const Answer answer = expand(fmt::format("url=http://v/uses&designation={}", token));
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        std::string out;
        for (const json::Value one :
             (*body->root()["expansion"]["contains"].elements().begin())["designation"]
                 .elements()) {
            out += one["value"].string() + " ";
        }
        return out;
    };
    EXPECT_EQ(values("short"), "D W ");
    EXPECT_EQ(values("http://u%7Cshort"), "D ");
    EXPECT_EQ(values("%7Cde"), "U ") << "of no system";
    EXPECT_EQ(values("de"), "U Hund ") << "a use or a language, and no other language";
    EXPECT_EQ(values("urn:ietf:bcp:47%7Cde"), "Hund ");
}

TEST_F(Expanded, IsInTheLanguageAskedForWhereverItsNamesAreFrom) {
    compose("sct", R"("include":[{"system":"http://snomed.info/sct","concept":[{"code":"1",
        "display":"Male","designation":[{"language":"de","value":"Mann"}]}]}])");
    for (const char* language : {"de", "de-AT", "de,en", "de;q=0.9"}) {
        EXPECT_TRUE(expand(fmt::format("url=http://v/sct&displayLanguage={}", language))
                        .says(R"("display":"Mann")"))
            << language;
    }
    EXPECT_TRUE(expand("url=http://v/all&displayLanguage=fr,en").says(R"("display":"Chien")"))
        << "fr-CH is French";
    for (const char* language : {"fr", "d", "den"}) {
        EXPECT_TRUE(expand(fmt::format("url=http://v/sct&displayLanguage={}", language))
                        .says(R"("display":"Male")"))
            << language;
    }
    put("CodeSystem/deutsch",
        R"({"resourceType":"CodeSystem","id":"deutsch","language":"de","url":"http://s/deutsch",
        "status":"active","content":"complete","concept":[{"code":"h","designation":[
        {"language":"de","value":"Hund"}]}]})");
    compose("deutsch", R"("include":[{"system":"http://s/deutsch"}])");
    EXPECT_TRUE(expand("url=http://v/deutsch&displayLanguage=de").says(R"("display":"Hund")"))
        << "it has no display of its own";
}

TEST_F(Expanded, HasTheCodesThatHaveAllWordsInAnyOrder) {
    EXPECT_EQ(codes("url=http://v/all&filter=%C3%A9l%C3%A9gant%20caniche"), "poodle");
    EXPECT_EQ(codes("url=http://v/all&filter=%20el%20%20poo"), "poodle") << "code and display";
    EXPECT_EQ(codes("url=http://v/all&filter=elegant%20dog"), "");
}

TEST_F(Expanded, IsAListWhereAPageIsAskedFor) {
    const std::string url = "url=http://v/all&excludeNested=false";
    EXPECT_EQ(codes(url), "animal rock");
    EXPECT_EQ(codes(url + "&count=3"), "animal dog poodle");
    EXPECT_EQ(codes(url + "&offset=4"), "dodo puppy rock");
    EXPECT_FALSE(expand(url).says(R"("contains":[])"));
}

TEST_F(Expanded, EndsWhereCodesStandAboveEachOther) {
    put("CodeSystem/ring",
        R"({"resourceType":"CodeSystem","id":"ring","url":"http://s/ring","status":"active",
        "content":"complete","concept":[
        {"code":"a","property":[{"code":"parent","valueCode":"b"}]},
        {"code":"b","property":[{"code":"parent","valueCode":"a"}]}]})");
    compose("ring", R"("include":[{"system":"http://s/ring"}])");
    EXPECT_EQ(contains(expand("url=http://v/ring&excludeNested=false")),
              R"([{"system":"http://s/ring","code":"a",)"
              R"("contains":[{"system":"http://s/ring","code":"b"}]}])");
}

TEST_F(Expanded, LeavesOutSeveralSystems) {
    compose("two", R"("include":[{"system":"http://s/animals","concept":[{"code":"rock"}]},
        {"system":"http://snomed.info/sct","concept":[{"code":"1"}]}])");
    EXPECT_EQ(codes("url=http://v/two&exclude-system=http://snomed.info/sct"), "rock");
    EXPECT_EQ(codes("url=http://v/two&exclude-system=http://snomed.info/sct"
                    "&exclude-system=http://s/animals"),
              "");
}

TEST_F(Expanded, OfTooManyCodesIsNotCutByTheWordsOfAnotherLanguage) {
    Config config;
    config.limits.max_expansion = 3;
    restart(config);
    EXPECT_EQ(codes("url=http://v/all&filter=do&displayLanguage=de"), "422 too-costly");
}

TEST_F(Expanded, IsThatOfTheInstanceThoughAnotherHasItsUrl) {
    put("ValueSet/other", R"({"resourceType":"ValueSet","id":"other","url":"http://v/all",
        "version":"1","status":"active","compose":{"include":[{"system":"http://s/animals",
        "concept":[{"code":"bird"}]}]}})");
    EXPECT_EQ(codes("url=http://v/all"), "bird") << "the one that was written last";
    EXPECT_EQ(codes_of(send("GET", "/ValueSet/all/$expand?filter=rock")), "rock");
    EXPECT_EQ(codes_of(send("GET", "/ValueSet/other/$expand")), "bird");
    EXPECT_TRUE(send("GET", "/ValueSet/all/$expand?valueSetVersion=2")
                    .says("valueSetVersion names a different version than the given one: 2"));
    EXPECT_TRUE(send("GET", "/ValueSet/all/$expand?url=http://v/all%7C2")
                    .says("url names a different version than the given one: 2"));
    compose("all", R"("include":[{"system":"http://s/animals","concept":[{"code":"rock"}]}])");
    EXPECT_EQ(codes("url=http://v/all"), "rock") << "it is the last one again";
    put("ValueSet/third", R"({"resourceType":"ValueSet","id":"third","url":"http://v/all",
        "status":"active","compose":{"include":[{"system":"http://s/animals",
        "concept":[{"code":"puppy"}]}]}})");
    EXPECT_EQ(codes("url=http://v/all"), "puppy");
    ASSERT_EQ(send("DELETE", "/ValueSet/third").status, 204);
    EXPECT_EQ(codes("url=http://v/all"), "rock");
    ASSERT_EQ(send("DELETE", "/ValueSet/all").status, 204);
    EXPECT_EQ(codes("url=http://v/all"), "bird");
    EXPECT_EQ(codes_of(send("GET", "/ValueSet/all/$expand")), "410 deleted");
    EXPECT_TRUE(expand("url=http://v/all%7C7").says("The ValueSet http://v/all|7 is not known"));
    EXPECT_TRUE(expand("url=http://v/none").says("The ValueSet http://v/none is not known"));
}

TEST_F(Expanded, OfWhatWasErasedIsThatOfTheOneBeforeIt) {
    Config config;
    config.hard_delete = true;
    restart(config);
    put("ValueSet/other", R"({"resourceType":"ValueSet","id":"other","url":"http://v/all",
        "status":"active","compose":{"include":[{"system":"http://s/animals",
        "concept":[{"code":"bird"}]}]}})");
    EXPECT_EQ(codes("url=http://v/all"), "bird");
    ASSERT_EQ(send("DELETE", "/ValueSet/other").status, 204);
    EXPECT_EQ(codes("url=http://v/all&filter=rock"), "rock");
}

TEST_F(Expanded, IsByTheDefinitionsOfNowAlsoLateInADay) {
    constexpr std::int64_t kHourUs = std::int64_t{3600} * 1'000'000;
    const auto at = [](std::int64_t hours_ago) {
        return format_instant(Instant{now().us - hours_ago * kHourUs});
    };
    EXPECT_EQ(codes("url=http://v/all&count=1&date=" + at(11).substr(0, 10)), "animal")
        << "somewhere it is that day";
    EXPECT_EQ(codes("url=http://v/all&date=" + at(37).substr(0, 10)), "422 not-supported");
    EXPECT_EQ(codes("url=http://v/all&date=" + at(1)), "422 not-supported");
}

TEST_F(Expanded, SaysOfListedCodesAndOfThoseOfOtherValueSetsWhatTheirSystemsSay) {
    compose("listed", R"("include":[{"system":"http://s/animals","concept":[{"code":"animal"},
        {"code":"rock","display":"Stone","designation":[{"language":"de","value":"Stein"}]},
        {"code":"dodo"}]}])");
    compose("outer", R"("include":[{"valueSet":["http://v/listed"]}])");
    for (const char* name : {"listed", "outer"}) {
        EXPECT_EQ(
            contains(expand(fmt::format("url=http://v/{}&includeDesignations=true", name))),
            R"([{"system":"http://s/animals","abstract":true,"code":"animal","display":"Animal"},)"
            R"({"system":"http://s/animals","code":"rock","display":"Stone",)"
            R"("designation":[{"language":"de","value":"Stein"}]},)"
            R"({"system":"http://s/animals","inactive":true,"code":"dodo","display":"Dodo"}])")
            << name;
    }
    const Answer outer = expand("url=http://v/outer");
    EXPECT_TRUE(outer.says(R"({"name":"used-valueset","valueUri":"http://v/listed|1"})"))
        << outer.body;
    EXPECT_TRUE(outer.says(R"({"name":"used-codesystem","valueUri":"http://s/animals|1"})"))
        << outer.body;
}

TEST_F(Expanded, NestsCodesBelowTheNearestThatIsLeft) {
    compose("cut", R"("include":[{"system":"http://s/animals"}],
        "exclude":[{"system":"http://s/animals","concept":[{"code":"dog"},{"code":"bird"}]}])");
    const auto code = [](std::string_view name, std::string_view display, std::string_view more) {
        return fmt::format(R"({{"system":"http://s/animals",{}"code":"{}","display":"{}")", more,
                           name, display);
    };
    EXPECT_EQ(contains(expand("url=http://v/cut&excludeNested=false")),
              "[" + code("animal", "Animal", R"("abstract":true,)") + R"(,"contains":[)" +
                  code("poodle", "Caniche Élégant", "") + "}," +
                  code("dodo", "Dodo", R"("inactive":true,)") + "}," + code("puppy", "Puppy", "") +
                  "}]}," + code("rock", "Rock", "") + "}]");
}

TEST_F(Expanded, NestsWhereThatIsAskedFor) {
    const Answer answer =
        send("GET", "/ValueSet/$expand?url=http://v/all&excludeNested=false&activeOnly=true");
    EXPECT_EQ(codes_of(answer), "animal rock");
    EXPECT_TRUE(answer.says(R"("code":"dog","display":"Dog","contains":[{"system":)"))
        << answer.body;
    json::Parser parser;
    EXPECT_TRUE(parser.parse(answer.body)) << answer.body;
}

TEST_F(Expanded, NestsNoDeeperThanADocumentMayBe) {
    constexpr int kCodes = 300;
    std::string concepts = R"({"code":"0"})";
    for (int i = 1; i < kCodes; ++i) {
        concepts += fmt::format(
            R"(,{{"code":"{}","property":[{{"code":"parent","valueCode":"{}"}}]}})", i, i - 1);
    }
    put("CodeSystem/line",
        R"({"resourceType":"CodeSystem","id":"line","url":"http://s/line","status":"active",
        "content":"complete","concept":[)" +
            concepts + "]}");
    compose("line", R"("include":[{"system":"http://s/line"}])");
    const Answer answer = send("GET", "/ValueSet/$expand?url=http://v/line&excludeNested=false");
    EXPECT_EQ(codes_of(answer), "0") << "all else is below it";
    EXPECT_TRUE(answer.says(R"("code":"299")"));
    const Answer xml =
        send("GET", "/ValueSet/$expand?url=http://v/line&excludeNested=false&_format=xml");
    EXPECT_TRUE(xml.says(R"(<code value="299"/>)")) << xml.body;
}

TEST_F(Expanded, CallsACodeOfACodeSystemInTheLanguageThatIsAskedForByItsDisplay) {
    put("CodeSystem/tiere",
        R"({"resourceType":"CodeSystem","id":"tiere","language":"de","url":"http://s/tiere",
        "status":"active","content":"complete","concept":[{"code":"h","display":"Hund","designation":[
        {"language":"de","value":"Fiffi"},{"language":"en","value":"Dog"},
        {"language":"de-AT","value":"Hunterl"}]}]})");
    compose("tiere", R"("include":[{"system":"http://s/tiere"}])");
    compose("named", R"("include":[{"system":"http://s/tiere","concept":[{"code":"h",
        "designation":[{"language":"de","value":"Wauwau"}]}]}])");
    const std::string_view kAsked[][2] = {
        {"de", "Hund"}, {"de-CH", "Hund"}, {"de-AT", "Hunterl"}, {"en", "Dog"}, {"fr", "Hund"}};
    for (const auto& [language, display] : kAsked) {
        const std::string url =
            fmt::format("system=http://s/tiere&code=h&displayLanguage={}", language);
        for (const std::string& asked :
             {fmt::format("/ValueSet/$expand?url=http://v/tiere&displayLanguage={}", language),
              "/ValueSet/$validate-code?url=http://v/tiere&" + url,
              "/CodeSystem/$lookup?property=inactive&" + url}) {
            const Answer answer = send("GET", asked);
            EXPECT_TRUE(answer.says(fmt::format(R"("{}"}})", display))) << asked << answer.body;
        }
    }
    EXPECT_TRUE(
        send("GET", "/ValueSet/$expand?url=http://v/named&displayLanguage=de").says("Wauwau"));
}

TEST_F(Expanded, SpeaksOtherLanguages) {
    const Answer german =
        send("GET", "/ValueSet/$expand?url=http://v/all&displayLanguage=de&filter=hund");
    EXPECT_TRUE(german.says(R"("code":"dog","display":"Hund")")) << german.body;
    EXPECT_TRUE(send("GET", "/ValueSet/$expand?url=http://v/all&displayLanguage=fr").says("Chien"));
    EXPECT_TRUE(
        send("GET", "/ValueSet/$expand?url=http://v/all&displayLanguage=de-AT").says("Hund"));
    EXPECT_FALSE(
        send("GET", "/ValueSet/$expand?url=http://v/all&displayLanguage=fr-BE").says("Chien"))
        << "another variant";
    const Answer all = send("GET", "/ValueSet/$expand?url=http://v/all&includeDesignations=true");
    EXPECT_TRUE(all.says(R"("designation":[{"language":"de","value":"Hund"},{"language":"fr-CH")"))
        << all.body;
}

}  // namespace
}  // namespace annals::core
