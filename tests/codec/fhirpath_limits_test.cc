// FHIRPath's limits: what is refused as too costly, and how soon hostile expressions end.

#include "codec/fhirpath/fhirpath.h"
#include "tests/codec/fhirpath_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace annals::fhirpath {
namespace {

TEST_F(FhirPath, StopsAtItsLimits) {
    EXPECT_EQ(eval(std::string(kExpressionBytesMax + 1, ' ')), "too costly");
    EXPECT_EQ(eval(std::string(1000, '(') + "1" + std::string(1000, ')')), "too costly");
    EXPECT_EQ(eval(std::string(1000, '-') + "1"), "too costly");
    std::string chain = "1";
    for (int i = 0; i < 1000; ++i) {
        chain += "+1";
    }
    EXPECT_EQ(eval(chain), "too costly");
    std::string path = "a";
    for (int i = 0; i < 1000; ++i) {
        path += ".a";
    }
    EXPECT_EQ(eval(path), "too costly");

    environment_.limits.items = 1000;
    EXPECT_EQ(eval("(0|1|2|3|4|5|6|7|8|9).select($this.combine($this)).repeat($this + 1)"),
              "too costly");
    environment_.limits = {};
    environment_.limits.string_bytes = 1000;
    EXPECT_EQ(eval("'x'.repeat($this & $this)"), "too costly");
    environment_.limits = {};
    environment_.limits.memory_bytes = 100'000;
    environment_.limits.string_bytes = 1 << 20;
    EXPECT_EQ(eval("'x'.repeat($this & $this).count()"), "too costly");
}

TEST_F(FhirPath, OfManyNamesIsReadInTimeByTheirNumber) {
    // Each name used to be searched for among those before it: a patch of a thousand such expressions took half a minute.
    const auto time = [](int count) {
        std::vector<std::string> parts;
        for (int i = 0; i < count; ++i) {
            parts.push_back("n" + std::to_string(1000 + i));
        }
        while (parts.size() > 1) {  // in pairs, so that nothing is nested deeply
            std::vector<std::string> pairs;
            for (std::size_t i = 0; i < parts.size(); i += 2) {
                pairs.push_back(i + 1 < parts.size() ? "(" + parts[i] + "|" + parts[i + 1] + ")"
                                                     : parts[i]);
            }
            parts = std::move(pairs);
        }
        const std::clock_t begin = std::clock();
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(Expression::parse(parts[0]));
        }
        return std::clock() - begin;
    };
    const std::clock_t few = std::min(time(180), time(180));
    EXPECT_LT(time(1'800), 30 * few);
}

TEST_F(FhirPath, CountsTheBytesOfTheTextsThatItReads) {
    // With a megabyte, each used to take milliseconds, counted as a dozen steps.
    std::string names;
    for (int i = 0; i < 100; ++i) {
        names += i == 0 ? R"({"family":"a"})" : R"(,{"family":"a"})";
    }
    const auto patient = [&](std::size_t digits) {
        const std::string many(digits, '1');
        use(R"({"resourceType":"Patient","deceasedDateTime":"2000-01-01T00:00:00.)" + many +
            R"(Z","language":")" + many + R"(","name":[)" + names + "]}");
    };
    environment_.limits.steps = 100'000;
    for (const std::string_view test :
         {"%resource.language.trim() = 'a'", "%resource.language.toInteger() = 1",
          "%resource.language.toDecimal() = 1", "%resource.language.toQuantity() = 1 'm'",
          "%resource.language < %resource.language", "%resource.deceased < @2000"}) {
        const std::string expression = "name.where(" + std::string(test) + ").count()";
        patient(10);
        EXPECT_EQ(eval(expression), "[0]") << test;
        patient(100'000);
        EXPECT_EQ(eval(expression), "too costly") << test;
    }
}

TEST_F(FhirPath, CountsWhatCalculatingTakes) {
    environment_.limits.steps = 1'000;
    const std::string fifty = "'" + std::string(50, 'a') + "'.toChars().all(";
    EXPECT_EQ(eval(fifty + "1.5.abs() > 0)"), "[true]");
    for (const char* call : {"power(9)", "sqrt()", "exp()", "ln()", "log(2)"}) {
        EXPECT_EQ(eval(fifty + "1.5." + call + " > 0)"), "too costly") << call;
    }
}

TEST_F(FhirPath, CountsThePairsThatEquivalencePassesOver) {
    std::string names = R"({"family":"x"})";
    for (int i = 0; i < 2'000; ++i) {
        names += R"(,{"family":"a"})";
    }
    use(R"({"resourceType":"Patient","name":[)" + names + "]}");
    environment_.limits.steps = 100'000;
    EXPECT_EQ(eval("name.family ~ name.family"), "[true]");
    // The last item finds the first one; all others pass over those that have been found.
    EXPECT_EQ(eval("name.family.tail().combine(name.family.first()) ~ name.family"), "too costly");
    environment_.limits.steps = 1'000'000;
    EXPECT_EQ(eval("name.family.tail().combine(name.family.first()) ~ name.family"), "[true]");
}

TEST_F(FhirPath, CountsHowFarEachMatchMayBeLookedFor) {
    const auto outcome = [&](const std::string& text, const std::string& call) {
        use(R"({"resourceType":"Patient","language":")" + text + R"("})");
        return eval("%resource.language." + call);
    };
    // Each takes some ten seconds if nothing ends it.
    std::uint32_t state = 1;
    std::string random;
    for (int i = 0; i < 7'700; ++i) {
        state = state * 1'664'525 + 1'013'904'223;
        random += (state >> 31) == 0 ? 'a' : 'b';
    }
    EXPECT_EQ(outcome(random, "replaceMatches('(?:.*a.{20}b.{20}z)|a', '')"), "too costly");
    EXPECT_EQ(outcome(std::string(100'000, 'a'), "replaceMatches('a.*z|a', '')"), "too costly");
    const auto repeated = [](std::string_view text, std::size_t bytes) {
        std::string out;
        while (out.size() < bytes) {
            out += text;
        }
        return out;
    };
    EXPECT_EQ(outcome(repeated("words  ", 1'000'000), "replaceMatches('\\\\s+', '').length()"),
              "[714290]");
    environment_.limits.steps = 100'000;  // GraphQL's
    EXPECT_EQ(outcome(repeated("words  ", 40'000), "replaceMatches('\\\\s+', '').length()"),
              "[28575]");
    EXPECT_EQ(outcome(repeated("<div>*+{</div>", 40'000), "replaceMatches('<[^>]*>', '').length()"),
              "[8574]");
    EXPECT_EQ(outcome(repeated("<div>*+{</div>", 40'000), "replaceMatches('[*+{]', '').length()"),
              "[31438]");
}

// Without bounds, each of these could take forever or use all memory.
TEST_F(FhirPath, EndsHostileExpressionsSoon) {
    const std::string ten = "(0|1|2|3|4|5|6|7|8|9)";
    std::string nested = "1";
    std::string joined = ten;
    for (int i = 0; i < 12; ++i) {
        nested = ten + ".select(" + nested + ")";
        joined += ".select(" + ten + ".combine($this))";
    }
    std::string text = "'aaaaaaaaaaaaaaaa'";
    for (int i = 0; i < 8; ++i) {
        text += ".replace('a', 'aaaaaaaa')";
    }
    std::string doubling = "'a'";
    for (int i = 0; i < 19; ++i) {
        doubling += ".select($this & $this)";
    }
    std::string sums = "(1.1)";
    for (int i = 0; i < 100; ++i) {
        sums += ".select($this * $this)";
    }
    for (const std::string& hostile : std::vector<std::string>{
             nested,
             joined,
             text,
             ten + ".aggregate($total.combine($total).combine($this), 1)",
             "descendants().descendants().descendants().descendants().descendants()",
             "repeat($this | children() | descendants()).repeat(descendants()).count()",
             "0.repeat($this + 1).count()",
             "'a'.repeat($this & 'a').count()",
             doubling + ".matches('(a|aa)+$')",
             doubling + ".matches('((((a{1,30}){1,30}){1,30})*)*b')",
             doubling + ".indexOf(" + doubling + ".substring(300000) & 'b')",
             doubling + ".replaceMatches('a', " + doubling + ")",
             doubling + ".split('a').count()",
             doubling + ".toChars().distinct().count()",
             sums,
             "1.power(2147483647)",
             "9.9.power(1024)",
             "2.power(-100000)",
             "1000.exp()",
             "0.0000001.ln()",
             ten + ".sort($this, -$this, $this)",
             "(1 'm').repeat($this + 1 'cm').count()"}) {
        const std::clock_t begin = std::clock();
        const std::string outcome = eval(hostile);
        EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC)
            << hostile.substr(0, 200) << " " << outcome;
    }
}

}  // namespace
}  // namespace annals::fhirpath
