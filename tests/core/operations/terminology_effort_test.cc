// How much effort terminology's answers are counted as.

#include "core/base/processor_time.h"
#include "core/definitions.h"
#include "core/terminology/code_system.h"
#include "core/terminology/filter.h"
#include "core/terminology/membership.h"
#include "tests/core/operations/terminology_fixture.h"
#include "tests/support/longest_pause.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace annals::core {
namespace {

/// Two chains of 500 codes, c0 and d0 above them; each code of one stands below two of them with `crossed`.
std::string chains(bool crossed) {
    std::string concepts;
    for (int i = 0; i < 500; ++i) {
        for (const char name : {'c', 'd'}) {
            concepts += fmt::format(R"({}{{"code":"{}{}","property":[)",
                                    concepts.empty() ? "" : ",", name, i);
            for (const char above : {'c', 'd'}) {
                if (i > 0 && (crossed || above == name)) {
                    concepts += fmt::format(R"({}{{"code":"parent","valueCode":"{}{}"}})",
                                            concepts.ends_with('[') ? "" : ",", above, i - 1);
                }
            }
            concepts += concepts.ends_with('[') ? R"({"code":"top","valueBoolean":true}]})" : "]}";
        }
    }
    return R"({"resourceType":"CodeSystem","id":"chains","url":"http://s/chains","status":"active",
        "content":"complete","concept":[)" +
           concepts + "]}";
}

terminology::Definition definition(std::string_view text) {
    return std::make_shared<const json::Document>(*json::Parser().parse(text));
}

TEST(EffortOfCodes, IsThatOfAllThatStandsAboveThem) {
    for (const bool crossed : {false, true}) {
        terminology::Effort much(1'000'000);
        const auto system = terminology::CodeSystem::make(definition(chains(crossed)), much);
        ASSERT_TRUE(system);
        const auto top = (*system)->find("c0");
        const auto bottom = (*system)->find("c499");
        ASSERT_TRUE(top && bottom);
        const auto below = (*system)->is_below(*bottom, *top, much);
        ASSERT_TRUE(below);
        EXPECT_TRUE(*below);
        terminology::Effort little(400);
        EXPECT_FALSE((*system)->is_below(*bottom, *top, little));
        EXPECT_TRUE(little.exhausted());
        terminology::Effort as_little(400);
        EXPECT_FALSE((*system)->reached(*top, false, as_little));
    }
}

TEST(EffortOfCodes, IsWhatWasTakenUnlessTimeLimitsIt) {
    const auto later = terminology::Effort::Clock::now() + std::chrono::hours(1);
    terminology::Effort untimed(1'000);
    EXPECT_TRUE(untimed.spend(10, 1'000));
    EXPECT_FALSE(untimed.spend());
    EXPECT_TRUE(untimed.exhausted());
    terminology::Effort timed(1'000, later);
    EXPECT_TRUE(timed.spend(10, 100'000));
    EXPECT_TRUE(timed.spend(990));
    EXPECT_FALSE(timed.spend());
    terminology::Effort late(1'000, terminology::Effort::Clock::now());
    EXPECT_TRUE(late.spend(10));
    const Result<void> over = late.spend(10, 100'000);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::timeout) << "the clock is looked at by what was taken";
}

class EffortOfRegularExpressions : public test::TerminologyFixture {};

// Each character leads to a state of its automaton that it has not had before.
constexpr std::string_view kThrashing =
    R"({"property":"display","op":"regex","value":".*a.{40}b.{30}a.{20}z"})";

/// A CodeSystem whose concepts' displays are `size` random letters, a or b.
std::string random_displays(int count, int size) {
    std::uint32_t state = 1;
    std::string concepts;
    for (int i = 0; i < count; ++i) {
        std::string text;
        for (int at = 0; at < size; ++at) {
            state = state * 1'664'525 + 1'013'904'223;
            text += (state >> 31) == 0 ? 'a' : 'b';
        }
        concepts += fmt::format(R"({}{{"code":"c{}","display":"{}"}})", i == 0 ? "" : ",", i, text);
    }
    return R"({"resourceType":"CodeSystem","id":"c","url":"http://s/c","status":"active",
        "content":"complete","concept":[)" +
           concepts + "]}";
}

/// Whether `effort` is enough to compare all concepts of a CodeSystem `times` times.
bool is_enough(terminology::Effort& effort, const std::string& code_system, std::string_view filter,
               int times = 1) {
    terminology::Effort much(10'000'000);
    const auto system = terminology::CodeSystem::make(definition(code_system), much).value();
    const auto text = definition(filter);
    const auto compared = terminology::Filter::read(text->root());
    for (int i = 0; i < times; ++i) {
        for (terminology::CodeSystem::Number at = 0; at < system->size(); ++at) {
            if (!compared->passes(*system, at, effort)) {
                EXPECT_TRUE(effort.exhausted());
                return false;
            }
        }
    }
    return true;
}

TEST(EffortOfRegularExpressionsWithoutADeadline, IsTheTimeThatTheyTake) {
    constexpr std::uint64_t kSteps = 10'000'000;
    terminology::Effort ordinary(kSteps);
    EXPECT_TRUE(is_enough(ordinary, random_displays(72'000, 61),
                          R"({"property":"display","op":"regex","value":".*fracture.*"})"));
    // Twenty such expressions take seconds.
    terminology::Effort hostile(kSteps);
    const auto begin = processor_time();
    EXPECT_FALSE(is_enough(hostile, random_displays(200, 1'000), kThrashing, 20));
    EXPECT_LT(processor_time() - begin, std::chrono::seconds(2));
}

TEST_F(EffortOfRegularExpressions, IsNotMadeWhereOthersWait) {
    const std::string code_system = random_displays(200, 1'000);
    put("CodeSystem/c", code_system);
    put("ValueSet/v", fmt::format(R"({{"resourceType":"ValueSet","id":"v","url":"http://v/v",)"
                                  R"("status":"active","compose":{{"include":[)"
                                  R"({{"system":"http://s/c","filter":[{}]}}]}}}})",
                                  kThrashing));
    terminology::Effort limited_by_time(1'000'000,
                                        terminology::Effort::Clock::now() + std::chrono::hours(1));
    const auto begin = processor_time();
    ASSERT_TRUE(is_enough(limited_by_time, code_system, kThrashing));
    const auto whole = processor_time() - begin;
    // With another version, the expansion is made each time.
    for (int i = 0; i < 2; ++i) {
        const std::string query = fmt::format("url=http://v/v&system-version=http://none|{}", i);
        Request request;
        request.path = "/ValueSet/$expand";
        request.query = query;
        request.base_url = kBaseUrl;
        const test::Watched watched = test::handle_watched(service(), request);
        ASSERT_TRUE(watched.response);
        EXPECT_EQ(watched.response->status, 200);
        EXPECT_LT(watched.longest.count(), whole.count() / 2) << "of " << whole.count() << " ns";
    }
}

// Nothing ends the comparison of one text.
TEST_F(EffortOfRegularExpressions, IsBoundedForEachText) {
    put("CodeSystem/c",
        R"({"resourceType":"CodeSystem","id":"c","url":"http://s/c","status":"active",
        "content":"complete","concept":[{"code":"long","display":")" +
            std::string(500'000, 'a') + R"("}]})");
    for (const auto& [pattern, expected] :
         {std::pair("a*", "long"), {".*a.{300}b.{300}z", "422 too-costly"}}) {
        compose("long", fmt::format(R"("include":[{{"system":"http://s/c","filter":[)"
                                    R"({{"property":"display","op":"regex","value":"{}"}}]}}])",
                                    pattern));
        EXPECT_EQ(codes("url=http://v/long"), expected) << pattern;
    }
}

/// Whether a concept with `members` beside its code passes `filter`; none if that usually takes more steps than `steps_max`.
std::optional<bool> passes(std::string_view members, std::string_view filter,
                           std::uint64_t steps_max) {
    terminology::Effort enough(1'000);
    const auto system = terminology::CodeSystem::make(
        definition(fmt::format(R"({{"resourceType":"CodeSystem","url":"http://s/one",)"
                               R"("content":"complete","concept":[{{"code":"a",{}}}]}})",
                               members)),
        enough);
    const auto text = definition(filter);
    terminology::Effort effort(steps_max,
                               terminology::Effort::Clock::now() + std::chrono::hours(1));
    const auto passed =
        terminology::Filter::read(text->root()).value().passes(*system.value(), 0, effort);
    EXPECT_NE(passed.has_value(), effort.exhausted());
    return passed ? std::optional(*passed) : std::nullopt;
}

TEST(EffortOfCodes, IsThatOfTheTextsThatAreCompared) {
    const std::string display = fmt::format(R"("display":"{}")", std::string(6'400, 'x'));
    constexpr const char* kFilter = R"({"property":"display","op":"regex","value":"x*"})";
    EXPECT_EQ(passes(display, kFilter, 1'000), true);
    EXPECT_EQ(passes(display, kFilter, 50), std::nullopt);
}

// A value set may have many filters, each looking at all hundred thousand concepts of LOINC.
TEST(EffortOfCodes, IsNoMoreThanThatOfWhatAFilterLooksAt) {
    std::string properties;
    for (int i = 0; i < 12; ++i) {
        properties += fmt::format(R"({}{{"code":"p{}","valueString":"{}"}})", i == 0 ? "" : ",", i,
                                  std::string(60, 'x'));
    }
    constexpr std::uint64_t kAStepForEach = 15;
    EXPECT_EQ(passes(fmt::format(R"("property":[{}])", properties),
                     R"({"property":"p11","op":"=","value":"y"})", kAStepForEach),
              false);
}

TEST(EffortOfCodes, IsThatOfTheChildrenThatAreCompared) {
    std::string children;
    for (int i = 0; i < 100; ++i) {
        children += fmt::format(R"({}{{"code":"c{}"}})", i == 0 ? "" : ",", i);
    }
    const std::string concepts = fmt::format(R"("concept":[{}])", children);
    constexpr const char* kFilter = R"({"property":"child","op":"=","value":"c99"})";
    EXPECT_EQ(passes(concepts, kFilter, 100), std::nullopt);
    EXPECT_EQ(passes(concepts, kFilter, 1'000), true);
}

// A code without a system is looked for in each of them; this used to be counted as nothing, and no time limit ended it.
TEST(EffortOfCodes, IsThatOfTheSystemsThatHaveTheCode) {
    std::string contains;
    for (int i = 0; i < 3000; ++i) {
        contains += fmt::format(R"({}{{"system":"http://s/{}","code":"a","abstract":true}})",
                                i == 0 ? "" : ",", i);
    }
    terminology::Effort much(20'000'000);
    const auto value_set = terminology::value_set_of(
        definition(
            R"({"resourceType":"ValueSet","url":"http://v/wide","status":"active","expansion":{"contains":[)" +
            contains + "]}}"),
        much);
    ASSERT_TRUE(value_set);
    const validation::EmptySource nothing;
    const auto looks = [&](terminology::Effort& effort, const terminology::Code& code) {
        terminology::Session session(nothing, effort);
        return static_cast<bool>(terminology::member_of(session, **value_set, code));
    };
    EXPECT_TRUE(looks(much, {std::nullopt, "a"}));
    terminology::Effort few(2'000);
    EXPECT_FALSE(looks(few, {"http://s/other", "a"})) << "all 3,000 have to be looked at";
    EXPECT_TRUE(few.exhausted());
    terminology::Effort more(2'000'000);
    EXPECT_FALSE(looks(more, {std::nullopt, "a"})) << "once for each system";
    EXPECT_TRUE(more.exhausted());
    terminology::Effort of_systems(100'000);
    terminology::Session session(nothing, of_systems);
    EXPECT_FALSE(terminology::systems_with(session, **value_set, "a")) << "each is compared";
    EXPECT_TRUE(of_systems.exhausted());
}

class ValueSetsInside : public test::TerminologyFixture {};

TEST_F(ValueSetsInside, CostEachOfThemOnce) {
    compose("nested0", R"("include":[{"system":"http://s/animals"}])");
    for (int i = 1; i < 16; ++i) {
        compose(fmt::format("nested{}", i),
                fmt::format(R"("inactive":false,"include":[{{"valueSet":["http://v/nested{}"]}}],)"
                            R"("exclude":[{{"system":"http://s/animals",)"
                            R"("concept":[{{"code":"rock"}}]}}])",
                            i - 1));
    }
    terminology::Effort effort(20'000);
    terminology::Session session(service().definitions(), effort);
    for (const auto& [code, expected] : {std::pair("dog", terminology::Member::yes),
                                         {"rock", terminology::Member::no},
                                         {"dodo", terminology::Member::no}}) {
        const auto in = terminology::member_of(session, std::string_view("http://v/nested15"),
                                               {"http://s/animals", code});
        ASSERT_TRUE(in) << in.error().detail;
        EXPECT_EQ(*in, expected) << code;
    }
}

/// `count` copies of `item`, separated by commas.
std::string repeated(std::string_view item, std::size_t count) {
    std::string out(item);
    for (std::size_t i = 1; i < count; ++i) {
        out.append(",").append(item);
    }
    return out;
}

std::string parameters(std::string_view list) {
    return fmt::format(R"({{"resourceType":"Parameters","parameter":[{}]}})", list);
}

/// A ConceptMap from s to `system` with these targets for the code c, as a parameter; and that code.
std::string map_parameters(std::string_view system, std::string_view targets) {
    return fmt::format(
        R"({{"name":"conceptMap","resource":{{"resourceType":"ConceptMap","status":"active",)"
        R"("group":[{{"source":"s","target":"{}","element":[{{"code":"c","target":[{}]}}]}}]}}}},)"
        R"({{"name":"coding","valueCoding":{{"system":"s","code":"c"}}}})",
        system, targets);
}

class LargeAnswers : public test::TerminologyFixture {};

// Each code repeats its system, so that small requests would have enormous responses.
TEST_F(LargeAnswers, AreRefused) {
    const std::string system = "http://s/" + std::string(200'000, 'x');
    std::string codes;
    for (int i = 0; i < 1'000; ++i) {
        codes += fmt::format(R"({}{{"code":"c{}"}})", i == 0 ? "" : ",", i);
    }
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/$expand",
                            fmt::format(R"({{"resourceType":"ValueSet","status":"active",)"
                                        R"("compose":{{"include":[{{"system":"{}",)"
                                        R"("concept":[{}]}}]}}}})",
                                        system, codes))),
              "422 too-costly");
    EXPECT_EQ(said(send("POST", "/ConceptMap/$translate",
                        parameters(map_parameters(
                            system, repeated(R"({"code":"d","equivalence":"equal"})", 1'000))))),
              "422 too-costly");
}

TEST_F(LargeAnswers, OfAClosureTableAreRefusedBeforeTheyAreCollected) {
    const std::string system = "http://s/" + std::string(100'000, 'x');
    std::string concepts = R"({"code":"c0"})";
    std::string given = R"({"name":"name","valueString":"t"})";
    for (int i = 1; i < 60; ++i) {
        concepts += fmt::format(
            R"(,{{"code":"c{}","property":[{{"code":"parent","valueCode":"c{}"}}]}})", i, i - 1);
        given += fmt::format(
            R"(,{{"name":"concept","valueCoding":{{"system":"{}","code":"c{}"}}}})", system, i);
    }
    put("CodeSystem/long", fmt::format(R"({{"resourceType":"CodeSystem","id":"long","url":"{}",)"
                                       R"("status":"active","content":"complete","concept":[{}]}})",
                                       system, concepts));
    ASSERT_EQ(send("POST", "/$closure", parameters(R"({"name":"name","valueString":"t"})")).status,
              200);
    EXPECT_EQ(codes_of(send("POST", "/$closure", parameters(given))), "422 too-costly");
}

class EffortOfAnswers : public test::TerminologyFixture {};

TEST_F(EffortOfAnswers, IsThatOfTheDesignationsThatAreCompared) {
    const std::string value_set = fmt::format(
        R"({{"name":"valueSet","resource":{{"resourceType":"ValueSet","status":"active","compose":)"
        R"({{"include":[{{"system":"s","concept":[{{"code":"c","designation":[{}]}}]}}]}}}}}},)",
        repeated(R"({"language":"de","value":"x"})", 11'000));
    const std::string token = R"({"name":"designation","valueString":"en"})";
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/$expand", parameters(value_set + token))), "c");
    EXPECT_EQ(codes_of(send("POST", "/ValueSet/$expand",
                            parameters(value_set + repeated(token, 10'000)))),
              "422 too-costly");
}

TEST_F(EffortOfAnswers, IsThatOfTheDependenciesThatAreCompared) {
    const std::string map =
        map_parameters("t", fmt::format(R"({{"code":"d","dependsOn":[{}]}})",
                                        repeated(R"({"property":"e","value":"v"})", 1'100)));
    const auto translate = [&](std::size_t codings) {
        return said(
            send("POST", "/ConceptMap/$translate",
                 parameters(fmt::format(
                     R"({},{{"name":"dependency","part":[{{"name":"element","valueUri":"e"}},)"
                     R"({{"name":"concept","valueCodeableConcept":{{"coding":[{}]}}}}]}})",
                     map, repeated(R"({"code":"v"})", codings)))));
    };
    EXPECT_EQ(translate(1), "result=true");
    EXPECT_EQ(translate(100'000), "422 too-costly");
}

}  // namespace
}  // namespace annals::core
