// The recognisers of primitive types, with hand-picked texts and a
// suite of lexical cases, in the folder that ANNALS_TEST_DATA names.

#include "codec/schema/primitive.h"

#include "codec/json/document.h"
#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace annals::schema {
namespace {

struct Case {
    Primitive type;
    std::vector<std::string_view> valid;
    std::vector<std::string_view> invalid;
};

const std::string kLong(65, 'a');

const Case kCases[] = {
    {Primitive::boolean, {"true", "false"}, {"", "True", "1", "true ", "null"}},
    {Primitive::integer,
     {"0", "1", "-1", "2147483647", "-2147483648"},
     {"", "-", "-0", "+1", "01", "1.0", "1e0", "2147483648", "-2147483649", "99999999999",
      "18446744073709551617", " 1"}},
    {Primitive::unsigned_int, {"0", "7", "2147483647"}, {"-1", "-0", "00", "2147483648", "1.0"}},
    {Primitive::positive_int, {"1", "2147483647"}, {"0", "-1", "01", "2147483648"}},
    {Primitive::decimal,
     {"0", "-0", "1", "1.0", "-3.7", "0.00000001", "1e5", "1e+5", "1.5E-7",
      "123456789012345678901234567890"},
     {"", "-", ".5", "1.", "01", "1e", "1e+", "+1", "1.0.0", "NaN", "1 ", " 1"}},
    {Primitive::string,
     {"a", " ", "two\nlines\t\r", "\xc3\xa9"},
     {"", std::string_view("a\0b", 3), "\b", "\x1f"}},
    {Primitive::markdown, {"* a\n* b"}, {"", "\f"}},
    {Primitive::code,
     {"a", "1234.5", "two words", "a b c d e f g h i j", "\xc3\xa9"},
     {"", " ", " a", "a ", "a  b", "a\tb", "a\nb", "abcdefgh  ijklmn"}},
    {Primitive::id,
     {"a", "A-Z.0", std::string_view(kLong).substr(1)},
     {"", "a_b", "a b", "a/b", kLong, "\xc3\xa9"}},
    {Primitive::uri,
     {"urn:a", "x", "http://h/p?q#f", "\xc3\xa9"},
     {"", " ", "a b", "a\tb", "12345678 0", "1234567\n"}},
    {Primitive::url, {"http://h"}, {"", " "}},
    {Primitive::canonical, {"http://h|1", "#a"}, {"", " "}},
    {Primitive::oid,
     {"urn:oid:1.2.3", "urn:oid:2.16.840.1.113883.4.642.1.0", "urn:oid:0.0"},
     {"", "1.2.3", "urn:oix:1.2.3", "urn:oid:", "urn:oid:1", "urn:oid:1x2", "urn:oid:3.1",
      "urn:oid:1.02", "urn:oid:1.", "urn:oid:1..2", "urn:oid:..2", "urn:oid:1.2 "}},
    {Primitive::uuid,
     {"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"},
     {"", "c757873d-ec9a-4326-a141-556f43239520", "urn:uuid:C757873D-EC9A-4326-A141-556F43239520",
      "urn:uuid:c757873d-ec9a-4326-a141-556f4323952",
      "urn:uuid:c757873d-ec9a-4326-a141-556f43239520a",
      "urn:uuid:c757873dxec9a-4326-a141-556f43239520"}},
    {Primitive::base64_binary,
     {"AAAA", "QQ==", "QUI=", "QU JD\nREVG",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef\r\nABCDEFGHIJKLMNOPQRSTUVWXYZabcdefAAA="},
     {"", " ", "A", "AAA", "A===", "=AAA", "AA=A", "AA==AAAA", "AA-_",
      "====", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/A",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcde\"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"}},
    {Primitive::date,
     {"2024", "2024-02", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"},
     {"", "24", "0000", "2024-", "2024-00", "2024-13", "2024-02-30", "2023-02-29", "1900-02-29",
      "2024-04-31", "2024-01-00", "2024-1-1", "2024-01-01T00:00:00Z", "20240101", "2024/01/01",
      "x024"}},
    {Primitive::date_time,
     {"2024", "2024-02", "2024-02-29", "2024-02-29T00:00:00Z",
      "2024-02-29T23:59:60.123456789+14:00", "2024-02-29T12:00:00-13:59"},
     {"2024-02T00:00:00Z", "2024-02-30T00:00:00Z", "2024-02-29T00:00Z", "2024-02-29T00:00:00",
      "2024-02-29T24:00:00Z", "2024-02-29T00:60:00Z", "2024-02-29T00:00:61Z",
      "2024-02-29T00:00:00.Z", "2024-02-29T00:00:00+14:01", "2024-02-29T00:00:00+15:00",
      "2024-02-29T00:00:00+0100", "2024-02-29T00:00:00+01-00", "2024-02-29T00:00:00+01:60",
      "2024-02-29T00:00:00 01:00", "2024-02-29T00:00:00z", "2024-02-29 00:00:00Z",
      "2024-02-29T00:00:00Z "}},
    {Primitive::instant,
     {"2015-02-07T13:28:17.239+02:00", "2017-01-01T00:00:00Z"},
     {"", "2017", "2017-01", "2017-01-01", "2017-01-01T00:00:00", "2017-02-29T00:00:00Z"}},
    {Primitive::time,
     {"10:00:00", "23:59:60", "00:00:00.001"},
     {"", "24:00:00", "12:05", "12:05:", "12:05:0", "12:60:00", "12:05:00Z", "12:05:00.", "1:05:00",
      "12-05:00", "12:05-00", "12:05:61"}},
};

TEST(Primitive, IsRecognisedByItsTextAlone) {
    for (const Case& each : kCases) {
        for (const std::string_view text : each.valid) {
            EXPECT_TRUE(is_valid(each.type, text)) << int(each.type) << " " << text;
        }
        for (const std::string_view text : each.invalid) {
            EXPECT_FALSE(is_valid(each.type, text)) << int(each.type) << " " << text;
        }
    }
}

TEST(Primitive, StringHoldsAMillionCharactersOfAnySize) {
    EXPECT_TRUE(is_string(std::string(1 << 20, 'a')));
    EXPECT_FALSE(is_string(std::string((1 << 20) + 1, 'a')));
    std::string wide;
    for (int i = 0; i < 1 << 20; ++i) {
        wide += "\xc3\xa9";
    }
    EXPECT_TRUE(is_string(wide));
    EXPECT_FALSE(is_string(wide + "a"));
}

TEST(Primitive, EveryDayOfFourCenturiesIsThereOnce) {
    int days = 0;
    for (int year = 1999; year < 2399; ++year) {
        for (int month = 0; month <= 13; ++month) {
            for (int day = 0; day <= 32; ++day) {
                char text[16];
                std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                days += is_date(text);
            }
        }
    }
    EXPECT_EQ(days, 146097);
}

// A base64 text of any length with a wrong character anywhere is refused, within whole blocks or not.
TEST(Primitive, Base64FaultsAreFoundAtEveryPlace) {
    const std::string good(132, 'Q');
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = '\x80';
        EXPECT_FALSE(is_base64_binary(bad)) << at;
        bad[at] = '=';
        EXPECT_EQ(is_base64_binary(bad), at + 1 == bad.size()) << at;
    }
}

TEST(Primitive, Base64AlphabetIsTheSameInsideAndOutsideOfBlocks) {
    for (int c = 0; c < 256; ++c) {
        const std::string few(4, static_cast<char>(c));
        EXPECT_EQ(is_base64_binary(few), c < 128 && (std::isalnum(c) != 0 || c == '+' || c == '/'))
            << c;
        const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        std::string many(64, 'A');
        many.insert(20, 4, static_cast<char>(c));
        EXPECT_EQ(is_base64_binary(many), white || is_base64_binary(few)) << c;
    }
}

// Whether a JSON value in a resource is valid as a `type`.
bool is_json_value(Primitive type, json::Value value) {
    switch (value.node().kind) {
        case json::Kind::null:
            return type != Primitive::xhtml;  // a placeholder
        case json::Kind::boolean:
            return type == Primitive::boolean;
        case json::Kind::number:
            return kind_of(type) == json::Kind::number && is_valid(type, value.raw());
        case json::Kind::string:
            return kind_of(type) == json::Kind::string && is_valid(type, value.string());
        default:
            return false;
    }
}

TEST(PrimitiveSuite, AgreesWithEveryLexicalCase) {
    const std::filesystem::path top = test::test_data("primitive-validation");
    if (top.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no primitive-validation";
    }
    const std::string names[] = {"base64_binary", "boolean", "canonical",    "code",    "date",
                                 "date_time",     "decimal", "id",           "instant", "integer",
                                 "markdown",      "oid",     "positive_int", "string",  "time",
                                 "unsigned_int",  "uri",     "url",          "uuid",    "xhtml"};
    json::Parser parser;
    int cases = 0;
    for (std::size_t i = 0; i < std::size(names); ++i) {
        for (const bool valid : {true, false}) {
            std::ifstream file(top / (names[i] + (valid ? ".valid.ndjson" : ".invalid.ndjson")));
            ASSERT_TRUE(file) << names[i];
            for (std::string line; std::getline(file, line);) {
                ++cases;
                auto document = parser.parse(line);
                const bool accepted =
                    document && is_json_value(static_cast<Primitive>(i + 1), document->root());
                EXPECT_EQ(accepted, valid) << names[i] << ": " << line;
            }
        }
    }
    EXPECT_EQ(cases, 150);
}

TEST(Reference, NamesATypeAndAnIdIfItIsRelative) {
    for (const std::string_view text :
         {"Patient/1", "Patient/a-b.C", "MedicationAdministration/1", "Patient/1/_history/2", "#",
          "#a", "Patient/1#a", "Patient/1/_history/2#a", "Patient/1#a/b", "Patient?identifier=a|b",
          "urn:uuid:c757873d-ec9a-4326-a141-556f43239520", "http://a/b", "Urn:a/b"}) {
        EXPECT_TRUE(is_reference(text)) << text;
    }
    for (const std::string_view text :
         {"", "Patient", "Patient/", "Patient/ä", "Patients/1", "Pat/1", "Patient/1/",
          "Patient/1/2", "Patient//1", "Patient/1/_history/", "Patient/#a", "Patient#a", "Pat/1#a",
          "Patient/1#a b", "Nothing?a=b"}) {
        EXPECT_FALSE(is_reference(text)) << text;
    }
    EXPECT_TRUE(is_reference("Patient/" + std::string(64, 'x')));
    EXPECT_FALSE(is_reference("Patient/" + std::string(65, 'x')));
}

}  // namespace
}  // namespace annals::schema
