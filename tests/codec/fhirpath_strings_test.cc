// FHIRPath: strings, matching, and how elements become values.

#include "tests/codec/fhirpath_fixture.h"

#include <utility>

namespace annals::fhirpath {
namespace {

TEST_F(FhirPath, KnowsGroupsFromWhatLooksLikeThem) {
    EXPECT_EQ(eval(R"('ab'.replaceMatches('(?<x>a)(b)', '${x}-$2-${1}'))"), "[a-b-a]");
    EXPECT_EQ(eval(R"('a(?<b'.matches('a[(?<]+b'))"), "[true]");
    EXPECT_EQ(eval(R"('a(?Pb'.matches('a[(?<]+b'))"), "[false]");
    EXPECT_EQ(eval(R"('b'.matches('^[a](?<x>b)'))"), "[false]");
    EXPECT_EQ(eval(R"('ab'.matches('^[a](?<x>b)'))"), "[true]");
    EXPECT_EQ(eval(R"('(?<x'.matches('^\\(\\?<x'))"), "[true]");
    EXPECT_EQ(eval(R"('a]b'.matches('a[\\]]b'))"), "[true]");
    EXPECT_EQ(eval(R"('[a'.matches('^\\[(?<x>a)'))"), "[true]");
    EXPECT_EQ(eval(R"('a'.matches('('))"), "error");
    EXPECT_EQ(eval("'a'.matches('" + std::string(4097, 'a') + "')"), "too costly");
    EXPECT_EQ(eval("'a'.matches('" + std::string(4096, 'a') + "')"), "[false]");
}

TEST_F(FhirPath, PutsGroupsDollarsAndBackslashesIntoTheirPlaces) {
    EXPECT_EQ(eval(R"('ab'.replaceMatches('(a)', '<\\1>'))"), "[<a>b]");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('(a)', '$0$1'))"), "[aab]");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', '\\$1'))"), "[$1b]");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', '\\\\'))"), R"([\b])");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', '\\x'))"), R"([\xb])");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', 'c\\'))"), R"([c\b])");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', '$x$'))"), "[$x$b]");
    EXPECT_EQ(eval(R"('ab'.replaceMatches('a', '{1}'))"), "[{1}b]");
    EXPECT_EQ(eval(R"('abcdefghi'.replaceMatches('(a)(b)(c)(d)(e)(f)(g)(h)(i)', '$9$1'))"), "[ia]");
    EXPECT_EQ(eval(R"('abcdefghi'.replaceMatches('(a)(b)(c)(d)(e)(f)(g)(h)(i)', '${9}\\9'))"),
              "[ii]");
    for (const std::string wrong : {"$1", "${1", "${12}", "${nobody}", "${}", "${/}", "${:}"}) {
        EXPECT_EQ(eval("'ab'.replaceMatches('a', '" + wrong + "')"), "error") << wrong;
    }
    EXPECT_EQ(eval("'abc'.replaceMatches('', 'x')"), "[abc]");
    EXPECT_EQ(eval(R"('a\u00e4\u00e4'.replaceMatches('\\B', '-'))"), "[aä-ä-]");
    EXPECT_EQ(eval(R"('\u00e4'.replaceMatches('\\C$', ''))"), "error");
    EXPECT_EQ(eval(R"('\u00e4'.replaceMatches('\\C\\C', 'ae'))"), "[ae]");
    EXPECT_EQ(eval("'ab\u00e4c'.replaceMatches('b?', '-')"), "[-a-\u00e4-c-]");
    EXPECT_EQ(eval("'abc'.replaceMatches('$', '.')"), "[abc.]");
    EXPECT_EQ(eval("'abc'.replaceMatches('x*', '.')"), "[.a.b.c.]");
    environment_.limits.string_bytes = 10;
    EXPECT_EQ(eval("'aaaaaaaaa'.replaceMatches('a', '" + std::string(70, 'b') + "')"),
              "too costly");
}

TEST_F(FhirPath, MatchesPatternsThatAreMadeAsItGoes) {
    std::string many = "'a0'";
    for (int i = 1; i < 20; ++i) {
        many += " | 'a" + std::to_string(i) + "'";
    }
    EXPECT_EQ(eval("(" + many + ").where(matches('^' & $this & '$')).count()"), "[20]");
    EXPECT_EQ(eval("('a' | 'b').select($this.matches('^' & %context.id.substring(0, 0) & 'b'))"),
              "[false][true]");
    EXPECT_EQ(eval("('a' | 'ab').select('ab'.matches($this) | 'ab'.matchesFull($this))"),
              "[true][false][true]");
}

TEST_F(FhirPath, MatchesTheWholeTextByThePatternAsItIs) {
    EXPECT_EQ(eval("'ab'.matchesFull('a|ab') | 'xb'.matchesFull('a|b')"), "[true][false]");
    EXPECT_EQ(eval(R"('a.'.matchesFull('\\Qa.') | 'ab'.matchesFull('\\Qa.'))"), "[true][false]");
    EXPECT_EQ(eval("'a'.matchesFull('a)|(b')"), "error");
    EXPECT_EQ(eval("'a\nb'.matchesFull('(?m)a$') | 'a\nb'.matches('(?m)a$')"), "[false][true]");
}

TEST_F(FhirPath, EncodesAndDecodesWhatItKnowsOnly) {
    EXPECT_EQ(eval("'A/'.encode('hex') | '412F'.decode('hex')"), "[412f][A/]");
    EXPECT_EQ(eval("'P '.encode('hex') | '5020'.decode('hex')"), "[5020][P ]");
    for (const std::string wrong : {"414", "4x", "x4", "g1", "ff"}) {
        EXPECT_EQ(eval("'" + wrong + "'.decode('hex')"), "") << wrong;
    }
    EXPECT_EQ(eval("'YQ=='.decode('base64') | 'YQ=='.decode('x')"), "[a]");
    EXPECT_EQ(eval("'a'.encode('x') | 'a'.decode('x') | 'a'.escape('x') | 'a'.unescape('x')"), "");
    EXPECT_EQ(eval(R"('a\\x'.unescape('json') | 'a\\'.unescape('json'))"), "");
    EXPECT_EQ(eval(R"('a\\n\\u00e9'.unescape('json'))"), "[a\n\u00e9]");
}

TEST_F(FhirPath, JoinsAndSplitsStrings) {
    EXPECT_EQ(eval("(1 | 2).join(',')"), "error");
    EXPECT_EQ(eval("('a' | 'b').join({}) | ('a' | 'b').join() | {}.join(',')"), "[ab]");
    EXPECT_EQ(eval("'ab'.split('') | 'a,,b,'.split(',').count().toString()"), "[ab][4]");
    EXPECT_EQ(eval("'abc'.substring({}) | 'abc'.substring(-1) | 'abc'.substring(3)"), "");
    EXPECT_EQ(eval("'abc'.substring(1, 0) | 'abc'.substring(1, -1)"), "[]");
    EXPECT_EQ(eval("'abc'.substring(0, 1) | 'abc'.substring(2, 9)"), "[a][c]");
    EXPECT_EQ(eval("5.length()"), "error");
    EXPECT_EQ(eval("{}.length() | {}.upper() | {}.trim() | {}.toChars()"), "");
    EXPECT_EQ(eval(R"('\t\f\r\n a b \t'.trim())"), "[a b]");
    EXPECT_EQ(eval("'    '.trim()"), "[]");
    environment_.limits.string_bytes = 10;
    EXPECT_EQ(eval("('aaaaa' | 'bbbbb').join()"), "[aaaaabbbbb]");
    EXPECT_EQ(eval("('aaaaa' | 'bbbbb').join('-')"), "too costly");
    EXPECT_EQ(eval("'aaaaa'.replace('a', 'bb')"), "[bbbbbbbbbb]");
    EXPECT_EQ(eval("'aaaaa'.replace('a', 'bbb')"), "too costly");
}

TEST_F(FhirPath, KnowsTheCasesOfLettersBeyondAscii) {
    // The first and the last of each range.
    const std::vector<std::pair<std::string, std::string>> pairs = {
        {"À", "à"}, {"Ö", "ö"}, {"Ø", "ø"}, {"Þ", "þ"}, {"Ā", "ā"}, {"Į", "į"}, {"Ĳ", "ĳ"},
        {"Ķ", "ķ"}, {"Ĺ", "ĺ"}, {"Ň", "ň"}, {"Ŋ", "ŋ"}, {"Ŷ", "ŷ"}, {"Ź", "ź"}, {"Ž", "ž"},
        {"Ǎ", "ǎ"}, {"Ǜ", "ǜ"}, {"Ǟ", "ǟ"}, {"Ǯ", "ǯ"}, {"Ǹ", "ǹ"}, {"Ȟ", "ȟ"}, {"Ȣ", "ȣ"},
        {"Ȳ", "ȳ"}, {"Ϙ", "ϙ"}, {"Ϯ", "ϯ"}, {"Α", "α"}, {"Ρ", "ρ"}, {"Σ", "σ"}, {"Ϋ", "ϋ"},
        {"Ѐ", "ѐ"}, {"Џ", "џ"}, {"А", "а"}, {"Я", "я"}, {"Ѡ", "ѡ"}, {"Ҁ", "ҁ"}, {"Ҋ", "ҋ"},
        {"Ҿ", "ҿ"}, {"Ӂ", "ӂ"}, {"Ӎ", "ӎ"}, {"Ӑ", "ӑ"}, {"Ԯ", "ԯ"}, {"Ա", "ա"}, {"Ֆ", "ֆ"},
        {"Ḁ", "ḁ"}, {"Ẕ", "ẕ"}, {"Ạ", "ạ"}, {"Ỿ", "ỿ"}};
    for (const auto& [upper, lower] : pairs) {
        EXPECT_EQ(eval("'" + upper + "'.lower()"), "[" + lower + "]");
        EXPECT_EQ(eval("'" + lower + "'.upper()"), "[" + upper + "]");
        EXPECT_EQ(eval("'" + lower + "'.lower()"), "[" + lower + "]");
        EXPECT_EQ(eval("'" + upper + "'.upper()"), "[" + upper + "]");
    }
    for (const std::string same : {"×", "÷", "ĸ", "中", "😀"}) {
        EXPECT_EQ(eval("'" + same + "'.lower() | '" + same + "'.upper()"), "[" + same + "]");
    }
    EXPECT_EQ(eval("'ς' ~ 'Σ'"), "[true]");
}

TEST_F(FhirPath, TakesAnyWhiteSpaceForASpaceWhereStringsAreEquivalent) {
    for (const std::string space : {"\t", "\r", "\u00a0", "\u2000", "\u200a", "\u2028", "\u2029",
                                    "\u202f", "\u205f", "\u3000"}) {
        EXPECT_EQ(eval("'a" + space + "b' ~ 'A b'"), "[true]") << space;
    }
    EXPECT_EQ(eval("'a\u200bb' ~ 'a b'"), "[false]");
    EXPECT_EQ(eval("'a' ~ 'ab'"), "[false]");
    EXPECT_EQ(eval("'ab' ~ 'a'"), "[false]");
}

TEST_F(FhirPath, RefusesHalfCharacters) {
    EXPECT_EQ(eval(R"('\ud83d\ude00')"), "[😀]");
    for (const std::string half : {R"(\ud83d)", R"(\ude00)", R"(\ud83dx)", R"(\ud83d\u0041)",
                                   R"(\ud83d\ud83d)", R"(\u00g0)", R"(\u00e)", R"(\u)", R"(\q)"}) {
        EXPECT_EQ(eval("'" + half + "'"), "syntax") << half;
    }
}

TEST_F(FhirPath, TakesAQuantityByItsCodeOrElseItsUnit) {
    const auto quantity = [&](const std::string& members) {
        use(R"({"resourceType":"Patient","extension":[{"url":"u","valueQuantity":{)" + members +
            "}}]}");
    };
    const std::string ucum = R"("value":2,"system":"http://unitsofmeasure.org")";
    quantity(ucum + R"(,"code":"mg","unit":"milligram")");
    EXPECT_EQ(eval("extension.value + 1 'mg'"), "[3 'mg']");
    quantity(ucum + R"(,"code":"m\u0067")");
    EXPECT_EQ(eval("extension.value + 1 'mg'"), "[3 'mg']");
    quantity(ucum + R"(,"code":"mo")");
    EXPECT_EQ(eval("extension.value = 2 months"), "[true]");
    quantity(ucum + R"(,"code":"\u006do")");
    EXPECT_EQ(eval("extension.value = 2 months"), "[true]");
    quantity(ucum + R"(,"code":"a")");
    EXPECT_EQ(eval("extension.value = 2 years"), "[true]");
    quantity(R"("value":2,"system":"http://other","code":"x","unit":"mg")");
    EXPECT_EQ(eval("extension.value + 1 'mg'"), "[3 'mg']");
    quantity(R"("value":2,"unit":"mg")");
    EXPECT_EQ(eval("extension.value + 1 'mg'"), "[3 'mg']");
    quantity(R"("value":2,"code":"mg")");
    EXPECT_EQ(eval("extension.value + 1 'mg'"), "[3 'mg']");
    quantity(R"("value":2)");
    EXPECT_EQ(eval("extension.value + 1"), "[3 '1']");
    quantity(R"("value":2,"comparator":"<","unit":"mg")");
    EXPECT_EQ(eval("extension.value > 1 'mg'"), "error");
    quantity(R"("unit":"mg")");
    EXPECT_EQ(eval("extension.value > 1 'mg'"), "error");
}

TEST_F(FhirPath, TakesNumbersByTheTypesOfTheirElements) {
    const auto decimal = [&](const std::string& number) {
        use(R"({"resourceType":"Patient","extension":[{"url":"u","valueDecimal":)" + number +
            "}]}");
    };
    decimal("1");
    EXPECT_EQ(eval("(extension.value + 0) is Decimal"), "[true]");
    EXPECT_EQ(eval("extension.value div 1"), "[1]");
    decimal("1e40");
    EXPECT_EQ(eval("extension.value + 1"), "error");
    EXPECT_EQ(eval("extension.value.exists()"), "[true]");
    use(R"({"resourceType":"Patient","multipleBirthInteger":2})");
    EXPECT_EQ(eval("(multipleBirth + 0) is Integer"), "[true]");
}

}  // namespace
}  // namespace annals::fhirpath
