#include "tests/core/operations/terminology_fixture.h"
#include "tests/support/archives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals::core {
namespace {

using test::Answer;

class Translate : public test::TerminologyFixture {
  protected:
    Translate() {
        put("ConceptMap/map",
            R"({"resourceType":"ConceptMap","id":"map","url":"http://m/map","status":"active",
            "sourceUri":"http://v/a","targetUri":"http://v/b","group":[
            {"source":"http://s/a","target":"http://s/b","element":[
              {"code":"1","target":[{"code":"x","display":"X","equivalence":"wider"},
                 {"code":"y","equivalence":"equal","dependsOn":[{"property":"http://p","system":"http://s/d","value":"d"}],
                  "product":[{"property":"http://q","system":"http://s/e","value":"e"}]}]},
              {"code":"2","target":[{"equivalence":"unmatched"}]}],
             "unmapped":{"mode":"fixed","code":"other","display":"Other"}},
            {"source":"http://s/a","target":"http://s/c","element":[
              {"code":"1","target":[{"code":"z","equivalence":"narrower"}]}]}]})");
    }

    /// The result, and "equivalence system|code" of each match.
    std::string matches(const Answer& answer) {
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        if (!body || answer.status != 200) {
            return codes_of(answer);
        }
        std::string out;
        for (const json::Value parameter : body->root()["parameter"].elements()) {
            if (parameter["name"].equals("result")) {
                out += parameter["valueBoolean"].raw();
            }
            for (const json::Value part : parameter["part"].elements()) {
                if (part["name"].equals("equivalence")) {
                    out += " " + part["valueCode"].string();
                } else if (part["name"].equals("concept")) {
                    out += " " + part["valueCoding"]["system"].string() + "|" +
                           part["valueCoding"]["code"].string();
                }
            }
        }
        return out;
    }

    std::string get(std::string_view query) {
        return matches(send("GET", "/ConceptMap/" + std::string(query)));
    }
};

TEST_F(Translate, FollowsTheGroupsOfAMap) {
    const std::string url = "$translate?url=http://m/map&system=http://s/a";
    EXPECT_EQ(get(url + "&code=1"), "true wider http://s/b|x narrower http://s/c|z");
    EXPECT_EQ(get(url + "&code=1&targetsystem=http://s/c"), "true narrower http://s/c|z");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=1&targetsystem=http://s/b"),
              "true wider http://s/b|x");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&url=http://m/map"), "false unmatched");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&url=http://m/other"), "400 invalid");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=2&conceptMapVersion=2"), "400 invalid");
    EXPECT_EQ(get(url + "&code=2"), "false unmatched");
    EXPECT_EQ(get(url + "&code=3"), "true inexact http://s/b|other");
    EXPECT_EQ(get(url + "&code=1&target=http://v/none"), "false");
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/none&code=1"), "false");
    EXPECT_EQ(get("$translate?url=http://m/none&code=1"), "404 not-found");
    EXPECT_EQ(get("$translate?code=1"), "400 required");
    EXPECT_EQ(get(url), "400 required");
    EXPECT_TRUE(send("GET", "/ConceptMap/" + url + "&code=1")
                    .says(R"({"name":"source","valueUri":"http://m/map"})"));
}

TEST_F(Translate, GoesBackwards) {
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/b&code=x&reverse=true"),
              "true narrower http://s/a|1");
    EXPECT_EQ(get("$translate?url=http://m/map&system=http://s/b&code=none&reverse=true"), "false");
}

TEST_F(Translate, WithoutAMapTriesAllThatAreOfTheSystemAndTheSets) {
    put("ConceptMap/other",
        R"({"resourceType":"ConceptMap","id":"other","url":"http://m/other","status":"active",
        "sourceCanonical":"http://v/c|2","targetCanonical":"http://v/d","group":[
        {"source":"http://s/a","target":"http://s/d","element":[
          {"code":"1","target":[{"code":"d1","equivalence":"equal"}]}],
         "unmapped":{"mode":"other-map","url":"http://m/map"}}]})");
    put("ConceptMap/anywhere",
        R"({"resourceType":"ConceptMap","id":"anywhere","url":"http://m/anywhere","status":"active","group":[
        {"target":"http://s/b","element":[{"code":"1","target":[{"code":"no","equivalence":"equal"}]}]}]})");
    const std::string one = "$translate?system=http://s/a&code=1";
    EXPECT_EQ(get(one), "true wider http://s/b|x narrower http://s/c|z equal http://s/d|d1");
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&target=http://v/b"), "true wider http://s/b|x narrower http://s/c|z");
    EXPECT_EQ(get(one + "&source=http://v/c"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&source=http://v/c%7C2"), "true equal http://s/d|d1");
    EXPECT_EQ(get(one + "&source=http://v/c%7C3"), "false");
    EXPECT_EQ(get(one + "&target=http://v/none"), "false");
    EXPECT_EQ(get("$translate?system=http://s/d&code=d1&reverse=true"), "true equal http://s/a|1");
    EXPECT_EQ(get("$translate?system=http://s/none&code=1"), "false");
    // A map that another one refers to is used once.
    EXPECT_EQ(get("$translate?system=http://s/a&code=3"), "true inexact http://s/b|other");
    const Answer answer = send("GET", "/ConceptMap/" + one + "&targetsystem=http://s/d");
    EXPECT_TRUE(answer.says(R"({"name":"source","valueUri":"http://m/other"})")) << answer.body;
    // A stored map hides a package's with the same URL, a newer one hides an older one, and a deleted one is none.
    put("ConceptMap/newer",
        R"({"resourceType":"ConceptMap","id":"newer","url":"http://m/other","status":"active","group":[
        {"source":"http://s/a","target":"http://s/d","element":[
          {"code":"1","target":[{"code":"d2","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "true equal http://s/d|d2");
    ASSERT_EQ(send("DELETE", "/ConceptMap/newer").status, 204);
    ASSERT_EQ(send("DELETE", "/ConceptMap/other").status, 204);
    EXPECT_EQ(get(one + "&targetsystem=http://s/d"), "false");
    for (const std::string_view query :
         {"$translate", "$translate?system=http://s/a", "$translate?code=1&targetsystem=http://s/b",
          "$translate?code=1&source=http://v/a"}) {
        EXPECT_EQ(get(query), "400 required") << query;
    }
}

TEST_F(Translate, WithoutAMapTriesThoseOfPackages) {
    install_package(test::make_package(
        "p", "1.0.0",
        {R"({"resourceType":"ConceptMap","id":"m","url":"http://p/m","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"1","target":[{"code":"q1","equivalence":"equal"}]}]}]})"}));
    EXPECT_EQ(get("$translate?system=http://s/p&code=1"), "true equal http://s/q|q1");
    put("ConceptMap/own",
        R"({"resourceType":"ConceptMap","id":"own","url":"http://p/m","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"1","target":[{"code":"own","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get("$translate?system=http://s/p&code=1"), "true equal http://s/q|own");
}

TEST_F(Translate, FollowsAGroupToTheVersionOfAMapThatItNames) {
    const auto map = [&](const std::string& id, std::string_view version, std::string_view group) {
        put("ConceptMap/" + id,
            fmt::format(
                R"({{"resourceType":"ConceptMap","id":"{}","url":"http://m/{}","version":"{}",
            "status":"active","group":[{{"source":"http://s/p","target":"http://s/q",{}}}]}})",
                id, id.substr(0, id.find('-')), version, group));
    };
    map("other-1", "1",
        R"("element":[{"code":"1","target":[{"code":"x","equivalence":"equal"}]}])");
    map("other-2", "2",
        R"("element":[{"code":"1","target":[{"code":"y","equivalence":"equal"}]}])");
    map("first", "1", R"("element":[{"code":"2"}],
        "unmapped":{"mode":"other-map","url":"http://m/other|1"})");
    EXPECT_EQ(get("$translate?url=http://m/first&system=http://s/p&code=1"),
              "true equal http://s/q|x");
}

TEST_F(Translate, LeadsOnToAnotherMapOnlyForTheCodeThatIsNotMapped) {
    put("ConceptMap/leads",
        R"({"resourceType":"ConceptMap","id":"leads","url":"http://m/leads","status":"active","group":[
        {"source":"http://s/a","target":"http://s/b","element":[
          {"code":"1","target":[{"code":"own","equivalence":"equal"}]}],
         "unmapped":{"mode":"other-map","url":"http://m/led"}},
        {"source":"http://s/a","target":"http://s/c","element":[
          {"code":"2","target":[{"code":"own","equivalence":"equal"}]}]}]})");
    put("ConceptMap/led",
        R"({"resourceType":"ConceptMap","id":"led","url":"http://m/led","status":"active","group":[
        {"source":"http://s/a","target":"http://s/b","element":[
          {"code":"1","target":[{"code":"led1","equivalence":"equal"}]},
          {"code":"2","target":[{"code":"led2","equivalence":"equal"}]},
          {"code":"3","target":[{"code":"led3","equivalence":"equal"}]}]}]})");
    const Answer answer = send("POST", "/ConceptMap/leads/$translate",
                               R"({"resourceType":"Parameters","parameter":[
        {"name":"codeableConcept","valueCodeableConcept":{"coding":[
          {"system":"http://s/a","code":"1"},{"system":"http://s/a","code":"2"},
          {"system":"http://s/a","code":"3"}]}}]})");
    EXPECT_EQ(matches(answer),
              "true equal http://s/b|own equal http://s/b|led2 "
              "equal http://s/c|own equal http://s/b|led3");
    const auto told_by = [&](std::string_view code, std::string_view map) {
        return answer.says(
            fmt::format(R"("code":"{}"}}}},{{"name":"source","valueUri":"{}"}})", code, map));
    };
    EXPECT_TRUE(told_by("led2", "http://m/led")) << answer.body;
    EXPECT_FALSE(told_by("own", "http://m/led")) << "what follows in the first map is its own";
}

TEST_F(Translate, LooksAtWhatATargetDependsOn) {
    const Answer answer = send("POST", "/ConceptMap/map/$translate",
                               R"({"resourceType":"Parameters","parameter":[
        {"name":"coding","valueCoding":{"system":"http://s/a","code":"1"}},
        {"name":"targetsystem","valueUri":"http://s/b"},
        {"name":"dependency","part":[{"name":"element","valueUri":"http://p"},
          {"name":"concept","valueCodeableConcept":{"coding":[{"system":"http://s/d","code":"d"}]}}]}]})");
    EXPECT_EQ(matches(answer), "true wider http://s/b|x equal http://s/b|y");
    EXPECT_TRUE(
        answer.says(R"({"name":"product","part":[{"name":"element","valueUri":"http://q"},)"
                    R"({"name":"concept","valueCoding":{"system":"http://s/e","code":"e"}}]})"))
        << answer.body;

    // A map in the request is not validated.
    const Answer bare = send("POST", "/ConceptMap/$translate",
                             R"({"resourceType":"Parameters","parameter":[
        {"name":"conceptMap","resource":{"resourceType":"ConceptMap","status":"active","group":[
          {"source":"http://s/a","target":"http://s/b","element":[{"code":"1","target":[
            {"code":"x","equivalence":"equal","product":[{"value":"e"}]}]}]}]}},
        {"name":"coding","valueCoding":{"system":"http://s/a","code":"1"}}]})");
    EXPECT_EQ(matches(bare), "true equal http://s/b|x") << bare.body;
}

TEST_F(Translate, TurnsEveryEquivalenceRoundThatHasADirection) {
    put("ConceptMap/ways",
        R"({"resourceType":"ConceptMap","id":"ways","url":"http://m/ways","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"a","target":[
          {"code":"1","equivalence":"wider"},{"code":"2","equivalence":"narrower"},
          {"code":"3","equivalence":"subsumes"},{"code":"4","equivalence":"specializes"},
          {"code":"5","equivalence":"equivalent"},{"code":"6","equivalence":"disjoint"}]}]}]})");
    const std::string url = "ways/$translate?system=http://s/q&reverse=true&code=";
    EXPECT_EQ(get(url + "1"), "true narrower http://s/p|a");
    EXPECT_EQ(get(url + "2"), "true wider http://s/p|a");
    EXPECT_EQ(get(url + "3"), "true specializes http://s/p|a");
    EXPECT_EQ(get(url + "4"), "true subsumes http://s/p|a");
    EXPECT_EQ(get(url + "5"), "true equivalent http://s/p|a");
    EXPECT_EQ(get(url + "6"), "false disjoint http://s/p|a");
    EXPECT_EQ(get(url + "5&targetsystem=http://s/p"), "true equivalent http://s/p|a");
    EXPECT_EQ(get(url + "5&targetsystem=http://s/q"), "false");
}

TEST_F(Translate, HoldsTheValueSetsOfAMapAgainstThoseAskedForInItsDirection) {
    const std::string to = "map/$translate?system=http://s/a&code=2&source=";
    EXPECT_EQ(get(to + "http://v/a&target=http://v/b"), "false unmatched");
    EXPECT_EQ(get(to + "http://v/a%7C3"), "false unmatched") << "the map names no version";
    EXPECT_EQ(get(to + "http://v/b"), "false");
    const std::string back = "map/$translate?system=http://s/b&code=x&reverse=true&source=";
    EXPECT_EQ(get(back + "http://v/b&target=http://v/a"), "true narrower http://s/a|1");
    EXPECT_EQ(get(back + "http://v/a"), "false");
    put("ConceptMap/any",
        R"({"resourceType":"ConceptMap","id":"any","url":"http://m/any","status":"active","group":[
        {"element":[{"code":"1","target":[{"code":"x","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get("any/$translate?code=1&source=http://v/z&targetsystem=http://s/z"),
              "true equal |x")
        << "a map that names neither sets nor systems may be of any";
}

TEST_F(Translate, TellsVersionsOfASystemApartWhereBothSayOne) {
    put("ConceptMap/dated",
        R"({"resourceType":"ConceptMap","id":"dated","url":"http://m/dated","status":"active","group":[
        {"source":"http://s/p","sourceVersion":"1","target":"http://s/q","targetVersion":"5",
         "element":[{"code":"a","target":[{"code":"x","equivalence":"equal"}]}]}]})");
    const std::string to = "dated/$translate?system=http://s/p&code=a";
    EXPECT_EQ(get(to), "true equal http://s/q|x");
    EXPECT_EQ(get(to + "&version=1"), "true equal http://s/q|x");
    EXPECT_EQ(get(to + "&version=5"), "false");
    const std::string back = "dated/$translate?system=http://s/q&code=x&reverse=true";
    EXPECT_EQ(get(back + "&version=5"), "true equal http://s/p|a");
    EXPECT_EQ(get(back + "&version=1"), "false");
    EXPECT_TRUE(send("GET", "/ConceptMap/" + to).says(R"("system":"http://s/q","version":"5")"));
}

TEST_F(Translate, FallsBackOnlyForCodesThatAGroupDoesNotHave) {
    put("ConceptMap/rest",
        R"({"resourceType":"ConceptMap","id":"rest","url":"http://m/rest","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","targetVersion":"5","element":[
          {"code":"bare"},{"code":"if","target":[{"code":"x","equivalence":"equal",
            "dependsOn":[{"property":"http://p","value":"d"}]}]}],
         "unmapped":{"mode":"provided"}},
        {"source":"http://s/r","element":[{"code":"bare"}],
         "unmapped":{"mode":"provided"}}]})");
    const std::string url = "rest/$translate?system=http://s/p&code=";
    EXPECT_EQ(get(url + "bare"), "false") << "it has no target";
    EXPECT_EQ(get(url + "if"), "false") << "what it depends on was not sent";
    EXPECT_EQ(get(url + "else"), "true equal http://s/q|else");
    EXPECT_TRUE(send("GET", "/ConceptMap/" + url + "else")
                    .says(R"({"system":"http://s/q","version":"5","code":"else"})"));
    EXPECT_EQ(get(url + "else&targetsystem=http://s/q"), "true equal http://s/q|else");
    EXPECT_EQ(get(url + "else&targetsystem=http://s/z"), "false");
    EXPECT_EQ(get("rest/$translate?system=http://s/r&code=else"), "true equal |else");
    EXPECT_EQ(get("map/$translate?system=http://s/a&code=3&targetsystem=http://s/c"), "false")
        << "the fixed code is of another system";
    const Answer none = send("GET", "/ConceptMap/" + url + "bare");
    EXPECT_TRUE(none.says("The concept map http://m/rest has no translation of 'bare' of"))
        << none.body;
}

TEST_F(Translate, IsLedThroughEightMapsForEachCode) {
    constexpr int kMaps = 11;
    for (int i = 0; i < kMaps; ++i) {
        put(fmt::format("ConceptMap/hop{}", i),
            fmt::format(
                R"({{"resourceType":"ConceptMap","id":"hop{}","url":"http://m/hop{}","status":"active",
                "group":[{{"source":"http://s/p","target":"http://s/q","element":[{{"code":"{}",
                "target":[{{"code":"at{}","equivalence":"equal"}}]}}],
                "unmapped":{{"mode":"other-map","url":"http://m/hop{}"}}}}]}})",
                i, i, i, i, i + 1));
    }
    EXPECT_EQ(get("hop0/$translate?system=http://s/p&code=8"), "true equal http://s/q|at8");
    EXPECT_EQ(get("hop0/$translate?system=http://s/p&code=9"), "false");
    EXPECT_EQ(get("hop5/$translate?system=http://s/p&code=none"), "false") << "hop11 isn't here";
    const Answer both = send("POST", "/ConceptMap/hop0/$translate",
                             R"({"resourceType":"Parameters","parameter":[{"name":"codeableConcept",
        "valueCodeableConcept":{"coding":[{"system":"http://s/p","code":"7"},
        {"system":"http://s/p","code":"8"}]}}]})");
    EXPECT_EQ(matches(both), "true equal http://s/q|at7 equal http://s/q|at8");
}

TEST_F(Translate, TakesADependencyThatSaysWhatTheTargetNames) {
    put("ConceptMap/on",
        R"({"resourceType":"ConceptMap","id":"on","url":"http://m/on","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"a","target":[
          {"code":"x","equivalence":"equal","dependsOn":[{"property":"http://p","system":"http://s/d","value":"d"}]},
          {"code":"y","equivalence":"equal","dependsOn":[{"property":"http://p","value":"d"}]},
          {"code":"z","equivalence":"equal","dependsOn":[{"property":"http://p","value":"d"},
             {"property":"http://r","value":"e"}]}]}]}]})");
    const auto given = [&](std::string_view element, std::string_view concept_value,
                           std::string_view more = "") {
        return matches(send("POST", "/ConceptMap/on/$translate",
                            fmt::format(R"({{"resourceType":"Parameters","parameter":[
                {{"name":"coding","valueCoding":{{"system":"http://s/p","code":"a"}}}},
                {{"name":"dependency","part":[{{"name":"element","valueUri":"{}"}},
                 {{"name":"concept","valueCodeableConcept":{}}}]}}{}]}})",
                                        element, concept_value, more)));
    };
    constexpr std::string_view kBoth = "true equal http://s/q|x equal http://s/q|y";
    EXPECT_EQ(given("http://p", R"({"coding":[{"system":"http://s/d","code":"d"}]})"), kBoth);
    EXPECT_EQ(given("http://p", R"({"coding":[{"code":"d"}]})"), kBoth) << "of whatever system";
    EXPECT_EQ(given("http://p", R"({"coding":[{"system":"http://s/o","code":"d"}]})"),
              "true equal http://s/q|y");
    EXPECT_EQ(given("http://p", R"({"text":"d"})"), kBoth);
    EXPECT_EQ(given("http://p", R"({"text":"other"})"), "false");
    EXPECT_EQ(given("http://p", R"({"coding":[{"system":"http://s/d","code":"e"}]})"), "false");
    EXPECT_EQ(given("http://r", R"({"coding":[{"system":"http://s/d","code":"d"}]})"), "false");
    EXPECT_EQ(given("http://p", R"({"text":"d"})",
                    R"(,{"name":"dependency","part":[{"name":"element","valueUri":"http://r"},
                        {"name":"concept","valueCodeableConcept":{"text":"e"}}]})"),
              std::string(kBoth) + " equal http://s/q|z");
    EXPECT_EQ(given("http://p", R"({"text":"d"})",
                    R"(,{"name":"dependency","part":[{"name":"element","valueUri":"http://r"}]})"),
              "400 required");
    EXPECT_EQ(given("http://p", R"({"text":"d"})",
                    R"(,{"name":"dependency","part":[{"name":"concept",
                        "valueCodeableConcept":{"text":"e"}}]})"),
              "400 required");
}

TEST_F(Translate, OfAMapWithoutAUrlNamesNoSourceAndTakesItByItsIdAlone) {
    put("ConceptMap/nameless",
        R"({"resourceType":"ConceptMap","id":"nameless","status":"active","group":[
        {"source":"http://s/p","target":"http://s/q","element":[{"code":"1",
         "target":[{"code":"x","equivalence":"equal"}]}]}]})");
    EXPECT_EQ(get("nameless/$translate?system=http://s/p&code=1"), "true equal http://s/q|x");
    EXPECT_FALSE(send("GET", "/ConceptMap/nameless/$translate?system=http://s/p&code=1")
                     .says(R"("name":"source")"));
    EXPECT_EQ(get("$translate?system=http://s/p&code=1"), "false");
}

TEST_F(Translate, WithoutAMapLooksThroughAThousand) {
    constexpr int kMaps = 1000;
    std::vector<std::string> resources = {
        R"({"resourceType":"ValueSet","url":"http://p/set","status":"active"})"};
    for (int i = 0; i < kMaps - 1; ++i) {  // with the fixture's own
        resources.push_back(fmt::format(
            R"({{"resourceType":"ConceptMap","url":"http://p/m{}","status":"active","group":[
            {{"source":"http://s/p","target":"http://s/q","element":[{{"code":"{}","target":[
            {{"code":"x","equivalence":"equal"}}]}}]}}]}})",
            i, i));
    }
    install_package(test::make_package("p", "1.0.0", resources));
    EXPECT_EQ(get("$translate?system=http://s/p&code=998"), "true equal http://s/q|x");
    put("ConceptMap/same", R"({"resourceType":"ConceptMap","id":"same","url":"http://p/m998",
        "status":"active"})");
    EXPECT_EQ(get("$translate?system=http://s/p&code=7"), "true equal http://s/q|x")
        << "one that is stored takes the place of the package's";
    put("ConceptMap/more", R"({"resourceType":"ConceptMap","id":"more","url":"http://m/more",
        "status":"active"})");
    EXPECT_EQ(get("$translate?system=http://s/p&code=7"), "422 too-costly");
    EXPECT_EQ(get("$translate?url=http://p/m7&system=http://s/p&code=7"),
              "true equal http://s/q|x");
}

}  // namespace
}  // namespace annals::core
