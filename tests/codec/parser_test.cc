#include "codec/json/document.h"
#include "codec/json/unicode.h"
#include "tests/support/checked_parse.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace annals::json {
namespace {

using namespace std::string_view_literals;

std::string nested(std::size_t depth, std::string_view open = "[", std::string_view close = "]") {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
        text += open;
    }
    for (std::size_t i = 0; i < depth; ++i) {
        text += close;
    }
    return text;
}

// "byte offset: message" of the error, or the minified text.
std::string outcome(std::string_view text) {
    Parser parser;
    EXPECT_EQ(test::disagreement_with_checked_parse(parser, text), "") << text;
    const Result<Document> document = parser.parse(text);
    if (document) {
        return std::string(document->text());
    }
    EXPECT_EQ(document.error().code, Errc::invalid);
    return document.error().detail;
}

TEST(JsonParser, AcceptsEveryKindOfValue) {
    for (const std::string_view text : {"null"sv,
                                        "true"sv,
                                        "false"sv,
                                        "0"sv,
                                        "-0"sv,
                                        "1"sv,
                                        "-12.5"sv,
                                        "1.00"sv,
                                        "0.0e0"sv,
                                        "1e5"sv,
                                        "1E+5"sv,
                                        "1e-05"sv,
                                        "123456789012345678901234567890"sv,
                                        "1e999999"sv,
                                        "\"\""sv,
                                        "\"a\""sv,
                                        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABCD\\uabcd\""sv,
                                        "\"\\ud83d\\ude00\""sv,
                                        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\""sv,
                                        "[]"sv,
                                        "{}"sv,
                                        "[[]]"sv,
                                        "[{}]"sv,
                                        "{\"a\":{}}"sv,
                                        "{\"a\":[]}"sv,
                                        "[1,2,3]"sv,
                                        "[\"a\",null,true]"sv,
                                        "{\"\":1}"sv,
                                        "{\"a\":1,\"A\":2,\"aa\":3}"sv,
                                        "[\"{[,:]}\"]"sv,
                                        "{\"a\":{\"a\":{\"a\":1}}}"sv,
                                        "[[1],[2,[3]]]"sv}) {
        EXPECT_EQ(outcome(text), text);
    }
}

TEST(JsonParser, TakesOutInsignificantWhiteSpaceOnly) {
    EXPECT_EQ(outcome(" \t\r\n1 \t\r\n"), "1");
    EXPECT_EQ(outcome(" { \"a b\" : [ 1 , \" \\\" \" ] , \"c\" : { } , \"d\" : [ ] } "),
              "{\"a b\":[1,\" \\\" \"],\"c\":{},\"d\":[]}");
    EXPECT_EQ(outcome("{\n  \"x\": 1.00,\n  \"y\": \"  \"\n}\n"), "{\"x\":1.00,\"y\":\"  \"}");
    EXPECT_EQ(outcome("[ true , false , null ]"), "[true,false,null]");
}

TEST(JsonParser, RefusesMalformedTextsAndSaysWhere) {
    struct Case {
        std::string_view text;
        std::string_view error;
    };

    const Case cases[] = {
        {"", "byte 0 (line 1, column 1): unexpected end"},
        {" \n ", "byte 3 (line 2, column 2): unexpected end"},
        {"{", "byte 1 (line 1, column 2): unexpected end"},
        {"[", "byte 1 (line 1, column 2): unexpected end"},
        {"[1", "byte 2 (line 1, column 3): unexpected end"},
        {"{\"a\"", "byte 4 (line 1, column 5): unexpected end"},
        {"{\"a\":", "byte 5 (line 1, column 6): unexpected end"},
        {"{\"a\":1,", "byte 7 (line 1, column 8): unexpected end"},
        {"}", "byte 0 (line 1, column 1): expected a value"},
        {"]", "byte 0 (line 1, column 1): expected a value"},
        {",", "byte 0 (line 1, column 1): expected a value"},
        {":", "byte 0 (line 1, column 1): expected a value"},
        {"[1,]", "byte 3 (line 1, column 4): expected a value"},
        {"[,1]", "byte 1 (line 1, column 2): expected a value"},
        {"[1,,2]", "byte 3 (line 1, column 4): expected a value"},
        {"[1 2]", "byte 3 (line 1, column 4): expected ',' or ']'"},
        {"[1}", "byte 2 (line 1, column 3): expected ',' or ']'"},
        {"[1:2]", "byte 2 (line 1, column 3): expected ',' or ']'"},
        {"{\"a\":1]", "byte 6 (line 1, column 7): expected ',' or '}'"},
        {"{\"a\":1 \"b\":2}", "byte 7 (line 1, column 8): expected ',' or '}'"},
        {"{,}", "byte 1 (line 1, column 2): expected a key or '}'"},
        {"{1:2}", "byte 1 (line 1, column 2): expected a key or '}'"},
        {"{]", "byte 1 (line 1, column 2): expected a key or '}'"},
        {"{\"a\":1,}", "byte 7 (line 1, column 8): expected a key"},
        {"{\"a\" 1}", "byte 5 (line 1, column 6): expected ':' after the key"},
        {"{\"a\",1}", "byte 4 (line 1, column 5): expected ':' after the key"},
        {"{\"a\":}", "byte 5 (line 1, column 6): expected a value"},
        {"{\n \"a\": 1,\n  b: 2\n}", "byte 13 (line 3, column 3): expected a key"},
        {"1 2", "byte 2 (line 1, column 3): expected nothing after the value"},
        {"{}{}", "byte 2 (line 1, column 3): expected nothing after the value"},
        {"[],", "byte 2 (line 1, column 3): expected nothing after the value"},
        {"\"a\"\"b\"", "byte 3 (line 1, column 4): expected nothing after the value"},
        {"\"a\"b", "byte 3 (line 1, column 4): expected nothing after the value"},
        {"tru", "byte 0 (line 1, column 1): expected true, false or null"},
        {"[tru e]", "byte 1 (line 1, column 2): expected true, false or null"},
        {"[truee]", "byte 1 (line 1, column 2): expected true, false or null"},
        {"[nul]", "byte 1 (line 1, column 2): expected true, false or null"},
        {"[null\"a\"]", "byte 1 (line 1, column 2): expected true, false or null"},
        {"[True]", "byte 1 (line 1, column 2): expected a value"},
        {"[NaN]", "byte 1 (line 1, column 2): expected a value"},
        {"['a']", "byte 1 (line 1, column 2): expected a value"},
        {"[//\n1]", "byte 1 (line 1, column 2): expected a value"},
        {"[+1]", "byte 1 (line 1, column 2): expected a value"},
        {"[.5]", "byte 1 (line 1, column 2): expected a value"},
        {"[-]", "byte 2 (line 1, column 3): expected a digit"},
        {"[- 1]", "byte 2 (line 1, column 3): expected a digit"},
        {"[-a]", "byte 2 (line 1, column 3): expected a digit"},
        {"[01]", "byte 2 (line 1, column 3): a number must not have leading zeros"},
        {"[-00]", "byte 3 (line 1, column 4): a number must not have leading zeros"},
        {"[1.]", "byte 3 (line 1, column 4): expected a digit after the decimal point"},
        {"[1.e1]", "byte 3 (line 1, column 4): expected a digit after the decimal point"},
        {"[1. 5]", "byte 3 (line 1, column 4): expected a digit after the decimal point"},
        {"[1e]", "byte 3 (line 1, column 4): expected a digit in the exponent"},
        {"[1e+]", "byte 4 (line 1, column 5): expected a digit in the exponent"},
        {"[1e1.5]", "byte 4 (line 1, column 5): unexpected character after a number"},
        {"[0x10]", "byte 2 (line 1, column 3): unexpected character after a number"},
        {"[1a]", "byte 2 (line 1, column 3): unexpected character after a number"},
        {"[1\"a\"]", "byte 2 (line 1, column 3): unexpected character after a number"},
        {"[1.2.3]", "byte 4 (line 1, column 5): unexpected character after a number"},
        {"-", "byte 1 (line 1, column 2): unexpected end"},
        {"1e", "byte 2 (line 1, column 3): unexpected end"},
        {"[\"a]", "byte 1 (line 1, column 2): a string without its closing quote"},
        {"[\"a\\\"]", "byte 1 (line 1, column 2): a string without its closing quote"},
        {"[\"a\nb\"]",
         "byte 3 (line 1, column 4): a control character in a string must be escaped"},
        {"[\"\\\n\"]",
         "byte 3 (line 1, column 4): a control character in a string must be escaped"},
        {"[\"\\a\"]", "byte 2 (line 1, column 3): no such escape"},
        {"[\"\\u12\"]", "byte 2 (line 1, column 3): expected four hexadecimal digits after \\u"},
        {"[\"\\u123g\"]", "byte 2 (line 1, column 3): expected four hexadecimal digits after \\u"},
        {"[\"\\U0041\"]", "byte 2 (line 1, column 3): no such escape"},
        {"[\"\\ud800\"]",
         "byte 2 (line 1, column 3): a high surrogate without the low one after it"},
        {R"(["\ud83d_ude00"])",
         "byte 2 (line 1, column 3): a high surrogate without the low one after it"},
        {R"(["\ud83d\nde00"])",
         "byte 2 (line 1, column 3): a high surrogate without the low one after it"},
        {R"(["\"\a"])", "byte 4 (line 1, column 5): no such escape"},
        {R"(["a\a","b"])", "byte 3 (line 1, column 4): no such escape"},
        {"[fals]", "byte 1 (line 1, column 2): expected true, false or null"},
        {"[\\ \"a", "byte 1 (line 1, column 2): unexpected character"},
        {"[\1 \"a", "byte 1 (line 1, column 2): unexpected character"},
        {"[\n~ \"a", "byte 4 (line 2, column 3): a string without its closing quote"},
        {"[\"a\",\"b c", "byte 5 (line 1, column 6): a string without its closing quote"},
        {"[\"\x80\"]", "byte 2 (line 1, column 3): invalid UTF-8"},
        {"[\"\\ud800\\n\"]",
         "byte 2 (line 1, column 3): a high surrogate without the low one after it"},
        {"[\"\\ud800\\ud800\"]",
         "byte 2 (line 1, column 3): a high surrogate without the low one after it"},
        {"[\"a\\n\\udc00\"]",
         "byte 5 (line 1, column 6): a low surrogate without the high one before it"},
        {"[\"\xc3\xa9\xff\"]", "byte 4 (line 1, column 4): invalid UTF-8"},
        {"[\"\xc0\x80\"]", "byte 2 (line 1, column 3): invalid UTF-8"},
        {"[\"\xed\xa0\x80\"]", "byte 2 (line 1, column 3): invalid UTF-8"},
        {"[\"\xf4\x90\x80\x80\"]", "byte 2 (line 1, column 3): invalid UTF-8"},
        {"[\"\xe2\x82\"]", "byte 2 (line 1, column 3): invalid UTF-8"},
        {"[\xc3\xa9]", "byte 1 (line 1, column 2): expected a value"},
        {"[\xff]", "byte 1 (line 1, column 2): unexpected character"},
        {"[1,\f2]", "byte 3 (line 1, column 4): expected a value"},
        {"[1,\\\"2]", "byte 3 (line 1, column 4): expected a value"},
        {"\xef\xbb\xbf{}", "byte 0 (line 1, column 1): a byte-order mark"},
        {"{\"a\":1,\"a\":1}", "byte 7 (line 1, column 8): the object has this key already"},
        {"{ \"a\" : 1 ,\n\"a\" : 1 }",
         "byte 12 (line 2, column 1): the object has this key already"},
        {R"({ "a b" : "c  d", "\" e" : "f  g", "a b" : 1})",
         "byte 35 (line 1, column 36): the object has this key already"},
        {"{\"\":1,\"\":1}", "byte 6 (line 1, column 7): the object has this key already"},
        {"[{\"a\":{\"b\":1, \"c\":2, \"b\":3}}]",
         "byte 21 (line 1, column 22): the object has this key already"},
        {"{\"\\u0061\":1, \"a\":2}",
         "byte 13 (line 1, column 14): the object has this key already"},
        {"{\"a\":1, \"\\u0061\":2}", "byte 8 (line 1, column 9): the object has this key already"},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}",
         "byte 18 (line 1, column 19): the object has this key already"},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(outcome(c.text), "invalid JSON at " + std::string(c.error)) << c.text;
    }
    EXPECT_EQ(outcome("[1\0]"sv),
              "invalid JSON at byte 2 (line 1, column 3): unexpected character after a number");
    EXPECT_EQ(outcome("[\"\0\"]"sv),
              "invalid JSON at byte 2 (line 1, column 3): a control character in a string must be "
              "escaped");
    EXPECT_EQ(outcome("[]\0"sv),
              "invalid JSON at byte 2 (line 1, column 3): expected nothing after the value");
}

TEST(JsonParser, TakesWhatHoldsResourcesDeeperAndTellsWhichOfThemIsTooDeep) {
    Parser parser(kJsonWrappedDepthMax);
    const std::string deepest = nested(kJsonDepthMax);
    const std::string beyond = nested(kJsonDepthMax + 1);
    const auto document = parser.parse(R"({"a":[)" + deepest + "," + beyond + "," + deepest + "]}");
    ASSERT_TRUE(document) << document.error().detail;
    std::string told;
    for (const Value element : document->root()["a"].elements()) {
        told += is_too_deep(element) ? 'x' : '.';
    }
    EXPECT_EQ(told, ".x.");
    EXPECT_TRUE(is_too_deep(document->root()));
    EXPECT_FALSE(is_too_deep({}));

    EXPECT_FALSE(is_too_deep(parser.parse(deepest)->root())) << "the last text was another";
    EXPECT_TRUE(is_too_deep(parser.parse_resource(beyond)->root()));
    EXPECT_TRUE(parser.parse(nested(kJsonWrappedDepthMax)));
    EXPECT_FALSE(parser.parse(nested(kJsonWrappedDepthMax + 1)));
}

TEST(JsonParser, CountsWhatIsOpenForTheDepthOfAResourceAndNotWhatStandsBesideIt) {
    Parser parser(kJsonWrappedDepthMax);
    const std::string in_objects = nested(kJsonDepthMax - 1, R"({"a":)", "}");
    const auto with = [&](std::string_view inmost) {
        std::string text = in_objects;
        return text.insert(text.find('}'), inmost);
    };
    std::string many = "[";
    for (std::size_t i = 0; i <= kJsonDepthMax; ++i) {
        many += i == 0 ? "[{}]" : ",[{}]";
    }
    const auto document =
        parser.parse("[" + many + "]," + with("[1,true,\"x\"]") + "," + with("{\"a\":{}}") + "," +
                     with("{}") + "," + with("[[]]") + "," + with("1") + ",[]]");
    ASSERT_TRUE(document) << document.error().detail;
    std::string told;
    for (const Value element : document->root().elements()) {
        told += is_too_deep(element) ? 'x' : '.';
    }
    EXPECT_EQ(told, "..x.x..");
}

TEST(JsonParser, BoundsTheDepth) {
    EXPECT_EQ(outcome(nested(kJsonDepthMax)), nested(kJsonDepthMax));
    EXPECT_NE(outcome(nested(kJsonDepthMax + 1)).find("byte 64 (line 1, column 65): nested"),
              std::string::npos);
    EXPECT_NE(outcome(nested(1'000'000)).find("nested too deeply"), std::string::npos);
    EXPECT_NE(outcome(nested(100'000, "{\"a\":", "}")).find("nested too deeply"),
              std::string::npos);
    EXPECT_NE(outcome(std::string(100'000, '[')).find("nested too deeply"), std::string::npos);
    Parser shallow(2);
    EXPECT_TRUE(shallow.parse("[[1]]"));
    EXPECT_FALSE(shallow.parse("[[[1]]]"));
}

TEST(JsonParser, FindsARepeatedKeyAmongMany) {
    for (const int count : {2, 15, 16, 17, 18, 40, 5000}) {
        for (const int repeated : {0, (count - 1) / 2, count - 2}) {
            std::string text = "{";
            for (int i = 0; i < count - 1; ++i) {
                text += "\"key" + std::to_string(i) + "\" : {\"key1\":[1]}, ";
            }
            const std::size_t offset = text.size();
            const std::string rest = "\" : 1}";
            EXPECT_EQ(outcome(text + "\"other" + rest).front(), '{');
            EXPECT_EQ(outcome(text + "\"key" + std::to_string(repeated) + rest),
                      "invalid JSON at byte " + std::to_string(offset) + " (line 1, column " +
                          std::to_string(offset + 1) + "): the object has this key already");
            EXPECT_NE(outcome(text + "\"\\u006bey" + std::to_string(repeated) + rest).front(), '{');
        }
    }
}

TEST(JsonParser, TakesLinearTimeForHostileKeys) {
    // Of the same length and with the same first bytes; a quadratic check would take minutes.
    std::string text = "{";
    for (int i = 0; i < 400'000; ++i) {
        text += "\"aaaaaaaaaaaaaaaa" + std::to_string(1'000'000 + i) + "\":0,";
    }
    text += "\"z\":0}";
    EXPECT_EQ(outcome(text).size(), text.size());
}

TEST(JsonParser, KeepsTheBytesOfNumbersAndStrings) {
    Parser parser;
    const Result<Document> document =
        parser.parse("{\"a\": 1.00, \"b\": 1E400, \"c\": \"\\u00e9\\/\", \"d\": -0}");
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root()["a"].raw(), "1.00");
    EXPECT_EQ(document->root()["b"].raw(), "1E400");
    EXPECT_EQ(document->root()["c"].raw(), "\"\\u00e9\\/\"");
    EXPECT_EQ(document->root()["c"].raw_string(), "\\u00e9\\/");
    EXPECT_EQ(document->root()["c"].string(), "\xc3\xa9/");
    EXPECT_EQ(document->root()["d"].raw(), "-0");
}

TEST(JsonParser, BuildsNodesInPreOrder) {
    Parser parser;
    const Result<Document> document =
        parser.parse(" {\"a\" : [1, [], {\"b\": null}], \"c\": \"d\"}");
    ASSERT_TRUE(document);
    const std::string_view raw[] = {"{\"a\":[1,[],{\"b\":null}],\"c\":\"d\"}",
                                    "\"a\"",
                                    "[1,[],{\"b\":null}]",
                                    "1",
                                    "[]",
                                    "{\"b\":null}",
                                    "\"b\"",
                                    "null",
                                    "\"c\"",
                                    "\"d\""};
    const std::uint32_t next[] = {10, 2, 8, 4, 5, 8, 7, 8, 9, 10};
    const std::uint32_t count[] = {2, 0, 3, 0, 0, 1, 0, 0, 0, 0};
    ASSERT_EQ(document->nodes().size(), std::size(raw));
    for (std::uint32_t i = 0; i < std::size(raw); ++i) {
        EXPECT_EQ(Value(*document, i).raw(), raw[i]);
        EXPECT_EQ(document->nodes()[i].next, next[i]);
        EXPECT_EQ(document->nodes()[i].count, count[i]);
    }
}

TEST(JsonParser, ReusesRecycledBuffers) {
    Parser parser;
    const char* first = nullptr;
    for (int i = 0; i < 10; ++i) {
        Result<Document> document = parser.parse("{\"a\": [1, 2, 3]}");
        ASSERT_TRUE(document);
        first = i == 0 ? document->text().data() : first;
        EXPECT_EQ(document->text().data(), first);
        parser.recycle(std::move(*document));
        EXPECT_FALSE(parser.parse("{\"a\": [1, 2, 3}"));
    }
    parser.recycle(Document());
}

TEST(JsonParser, GrowsAndShrinksWithTheTexts) {
    Parser parser;
    const std::string large =
        "[" + std::string(6'000'000, ' ') + "\"" + std::string(5'000'000, 'x') + "\"]";
    for (int i = 0; i < 3; ++i) {
        Result<Document> small = parser.parse("[1]");
        Result<Document> big = parser.parse(large);
        ASSERT_TRUE(small && big);
        EXPECT_EQ(small->text(), "[1]");
        EXPECT_EQ(big->text().size(), 5'000'004U);
        parser.recycle(std::move(*big));
        parser.recycle(std::move(*small));
    }
}

TEST(JsonDocument, KeepsValuesValidWhenItMoves) {
    Parser parser;
    Result<Document> parsed = parser.parse("{\"a\":\"b\"}");
    ASSERT_TRUE(parsed);
    const Value value = parsed->root()["a"];
    const Document moved = std::move(*parsed);
    EXPECT_EQ(value.string(), "b");
    EXPECT_EQ(moved.root()["a"].raw(), value.raw());
    EXPECT_FALSE(Document().root());
    EXPECT_EQ(Document().text(), "");
}

TEST(JsonValue, AnswersMissingForWhatIsNotThere) {
    Parser parser;
    const Result<Document> document = parser.parse("{\"a\":[1,\"x\"],\"b\":{\"c\":\"d\"}}");
    ASSERT_TRUE(document);
    const Value root = document->root();
    EXPECT_TRUE(root["b"]["c"].equals("d"));
    EXPECT_FALSE(root["x"]["y"]["z"]);
    EXPECT_FALSE(root["a"]["y"]);
    EXPECT_FALSE(root["b"]["c"]["d"]);
    EXPECT_EQ(root["x"].raw(), "");
    EXPECT_EQ(root["x"].string(), "");
    EXPECT_EQ(root["a"].string(), "");
    EXPECT_FALSE(root["x"].equals(""));
    EXPECT_EQ(root["x"].size(), 0U);
    EXPECT_EQ(root["a"].size(), 2U);
    for ([[maybe_unused]] const Value element : root["b"].elements()) {
        ADD_FAILURE();
    }
    for ([[maybe_unused]] const Member member : Value().members()) {
        ADD_FAILURE();
    }
    std::string seen;
    for (const Value element : root["a"].elements()) {
        seen += element.raw();
    }
    for (const auto [key, value] : root.members()) {
        seen += key.raw_string();
        seen += value.raw();
    }
    EXPECT_EQ(seen, "1\"x\"a[1,\"x\"]b{\"c\":\"d\"}");
}

TEST(JsonValue, ComparesWithEscapesResolved) {
    Parser parser;
    const Result<Document> document =
        parser.parse("{\"\\u0061\":\"\\ud83d\\ude00\\n\\u0000x\",\"b\":\"b\"}");
    ASSERT_TRUE(document);
    EXPECT_TRUE(document->root()["a"].equals("\xf0\x9f\x98\x80\n\0x"sv));
    EXPECT_TRUE(document->root()["b"].equals("b"));
    EXPECT_FALSE(document->root()["b"].equals("bb"));
}

TEST(JsonQuoting, EscapesWhatMustBeAndMendsInvalidUtf8) {
    EXPECT_EQ(quoted("a\"\\\b\f\n\r\t\x01\x1f/\xc3\xa9"),
              "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\xc3\xa9\"");
    EXPECT_EQ(quoted("\0"sv), "\"\\u0000\"");
    EXPECT_EQ(quoted("a\xff\xc3\"\xed\xa0\x80"),
              "\"a\xef\xbf\xbd\xef\xbf\xbd\\\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    Parser parser;
    for (int byte = 0; byte < 256; ++byte) {
        EXPECT_TRUE(parser.parse(json::quoted(std::string(3, static_cast<char>(byte)))));
    }
}

TEST(JsonQuoting, LeavesABlankBesideWhatMustBeEscaped) {
    EXPECT_EQ(quoted("a \" b"), R"("a \" b")");
}

TEST(JsonUnicode, KnowsEveryCharacterByItsBytesAndNothingElse) {
    for (std::uint32_t code_point = 0; code_point <= 0x110000; ++code_point) {
        std::string text;
        append_utf8(text, code_point);
        const bool valid = code_point < 0xd800 || (code_point > 0xdfff && code_point < 0x110000);
        ASSERT_EQ(utf8_length(text + "x"), valid ? text.size() : 0U) << code_point;
        ASSERT_EQ(is_utf8(text), valid) << code_point;
        text.pop_back();
        ASSERT_EQ(utf8_length(text), 0U) << code_point;
    }
    // Overlong forms, invalid first bytes, and invalid continuation bytes.
    for (const std::string_view text :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
          "\xf5\x80\x80\x80", "\xc2\x7f", "\xc2\xc0", "\xe1\x7f\x80", "\xe1\x80\xc0",
          "\xf1\x80\x80\x7f", "\xf1\x80\xc0\x80"}) {
        EXPECT_EQ(utf8_length(text), 0U) << text;
    }
}

TEST(JsonParser, WritesNamesWithoutEscapesThatTheyDoNotNeed) {
    Parser parser;
    const auto plain = [&](std::string_view text) {
        const Result<Document> document = parser.parse_resource(text);
        return document ? parser.with_plain_names(*document) : document.error().detail;
    };
    EXPECT_EQ(plain(R"( { "\u0061" : {"b\/":[{"\u00e9":1}]} , "n\n\"\u0022\u0001" : "\u0061" })"),
              "{\"a\":{\"b/\":[{\"\xc3\xa9\":1}]},\"n\\n\\\"\\\"\\u0001\":\"\\u0061\"}");
    EXPECT_EQ(plain(R"({"n\n":{"\u0061":1}})"), R"({"n\n":{"a":1}})");
    EXPECT_EQ(plain(R"({"n\n":"\u0061","n":["\u0061"]})"), "");
    EXPECT_EQ(plain(R"({"resourceTyp\u0065":"Patient","nam\u0065":[{"famil\u0079":"A"}]})"),
              R"({"resourceType":"Patient","name":[{"family":"A"}]})");
    EXPECT_EQ(
        plain(
            R"({"a":"\u0061","contained":[{"resourceType":"Grou\u0070","b":["resourceType","\u0061"]}],)"
            R"("resourceTyp\u0065":"P\u0061tient"})"),
        R"({"a":"\u0061","contained":[{"resourceType":"Group","b":["resourceType","\u0061"]}],)"
        R"("resourceType":"Patient"})");
    EXPECT_EQ(plain(R"("\u0061")"), "");
}

}  // namespace
}  // namespace annals::json
