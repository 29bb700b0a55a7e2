// The parse that checks structure: what it settles, and what it leaves to the walk. structure_test.cc
// and parser_test.cc check with all their texts that it never settles what the walk would refuse.

#include "tests/support/checked_parse.h"

#include "codec/json/document.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace annals::json {
namespace {

class CheckedParse : public ::testing::Test {
  public:
    bool settles(std::string_view text) {
        EXPECT_EQ(test::disagreement_with_checked_parse(parser_, text), "") << text;
        const Result<Document> document = parser_.parse_resource(text);
        return document && document->root().node().sound;
    }

    bool settles_patient(std::string_view members) {
        return settles(R"({"resourceType":"Patient",)" + std::string(members) + "}");
    }

    // Whether the checked parse refuses the Patient for a repeated key.
    bool finds_repeated_key(std::string_view members) {
        const std::string text = R"({"resourceType":"Patient",)" + std::string(members) + "}";
        EXPECT_EQ(test::disagreement_with_checked_parse(parser_, text), "") << text;
        const Result<Document> document = parser_.parse_resource(text);
        return !document && document.error().detail.ends_with("the object has this key already");
    }

    Parser& parser() { return parser_; }

  private:
    Parser parser_;
};

TEST_F(CheckedParse, SettlesWhatIsPlainlyInOrder) {
    EXPECT_TRUE(settles(R"({"resourceType":"Patient"})"));
    for (
        const char* members :
        {R"("id":"a","meta":{"profile":["http://x.org/p"],"lastUpdated":"2026-01-02T03:04:05.678Z"})",
         R"("text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>"})",
         R"("active":true,"name":[{"family":"b","given":["c","d"]},{"text":"e\nf"}])",
         R"("birthDate":"2024-02-29","_birthDate":{"extension":[{"url":"u","valueDateTime":"2024"}]})",
         R"("_gender":{"id":"a"},"multipleBirthInteger":2)",
         R"("deceasedDateTime":"2024-02-29T10:11:12+01:00")",
         R"("managingOrganization":{"display":"a"})",
         R"("managingOrganization":{"type":"Organization","identifier":{"value":"1"}})",
         R"("managingOrganization":{"id":"a","reference":"Organization/1"})",
         R"("contained":[{"resourceType":"Organization","id":"a"},{"id":"b","resourceType":"List","status":"current","mode":"working"}])",
         R"("extension":[{"url":"u","extension":[{"url":"v","valueCodeableConcept":{"text":"a"}}]}])",
         R"("communication":[{"language":{"text":"a"}}])"}) {
        EXPECT_TRUE(settles_patient(members)) << members;
        EXPECT_TRUE(settles_patient(members)) << members;  // now it knows the order
    }
    EXPECT_TRUE(settles(
        R"({"id":"a","name":[{"text":"resourceType"}],"resourceType":"Patient","active":false})"));
    EXPECT_TRUE(settles(
        R"({"resourceType":"ResearchElementDefinition","status":"draft","type":"population","characteristic":[)"
        R"({"definitionCanonical":"u","participantEffectiveDescription":"a","participantEffectiveTimeFromStart":{"value":1.50}}]})"));
}

TEST_F(CheckedParse, SettlesEachResourceOfABundleForItself) {
    Parser parser;
    const Result<Document> document = parser.parse_resource(
        R"({"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient"}},)"
        R"({"resource":{"resourceType":"Patient","odd":{"resourceType":"Patient"}}},)"
        R"({"resource":{"resourceType":"Patient","birthDate":"x"}},{"resource":{"resourceType":"Patient","id":"b"}}]})");
    ASSERT_TRUE(document);
    std::string sound;
    for (const Value entry : document->root()["entry"].elements()) {
        sound += entry["resource"].node().sound ? '1' : '0';
    }
    EXPECT_EQ(sound, "1001");
    EXPECT_FALSE(document->root().node().sound);
    // Nothing is settled below unknown elements.
    EXPECT_FALSE(document->root()["entry"].elements().first.operator*()["resource"]["odd"]);
    for (const Node& node : document->nodes()) {
        EXPECT_TRUE(node.kind == Kind::object || !node.sound);
    }
}

TEST_F(CheckedParse, TakesOutWhiteSpaceWhereverItIs) {
    constexpr std::string_view kMarked =  // where there may be white space
        R"(~{~"resourceType"~:~"Patient"~,~"active"~:~true~,~"multipleBirthInteger"~:~2~,~)"
        R"("name"~:~[~{~"given"~:~[~"a"~,~"b\""~]~}~,~{~"text"~:~"c \n"~}~]~,~)"
        R"("_birthDate"~:~{~"id"~:~"d"~}~}~)";
    const auto places = static_cast<std::size_t>(std::ranges::count(kMarked, '~'));
    const auto written = [&](std::size_t spaced) {
        std::string text;
        for (const char c : kMarked) {
            if (c != '~') {
                text += c;
            } else if (spaced-- == 0) {
                text += '\n';
            }
        }
        return text;
    };
    const std::string compact = written(places);
    Parser parser;
    const Result<Document> plain = parser.parse_resource(compact);
    ASSERT_TRUE(plain);
    for (std::size_t spaced = 0; spaced < places; ++spaced) {
        const std::string text = written(spaced);
        EXPECT_TRUE(settles(text)) << text;
        const Result<Document> document = parser.parse_resource(text);
        ASSERT_TRUE(document) << text;
        EXPECT_EQ(document->text(), compact);
        EXPECT_TRUE(std::ranges::equal(
            document->nodes(), plain->nodes(),
            [](const Node& a, const Node& b) { return std::memcmp(&a, &b, sizeof a) == 0; }))
            << text;
    }
}

TEST_F(CheckedParse, LeavesTheRestToTheWalk) {
    for (const char* members :
         {R"("odd":1)",
          R"("birthDate":"2024-02-30")",
          R"("birthDate":"1900-02-29")",
          R"("birthDate":"0000-02-12")",
          R"("birthDate":"2024-02-12T10:11:12Z")",
          R"("deceasedDateTime":"2024-02-12T10:11:12.Z")",
          R"("deceasedDateTime":"2024-02-12T10:11:12+14:30")",
          R"("active":"true")",
          R"("name":{"family":"a"})",
          R"("name":[])",
          R"("name":[[]])",
          R"("name":[{}])",
          R"("name":["a"])",
          R"("name":[{"given":["a",null]}])",
          R"("name":[{"given":"a"}])",
          R"("name":[{"id":"a","_id":{"id":"b"}}])",
          R"("name":[{"family":["a"]}])",
          R"("name":null)",
          R"("gender":"ma  le")",
          R"("gender":"")",
          R"("gender":"male ")",
          R"("deceasedBoolean":true,"deceasedDateTime":"2024")",
          R"("managingOrganization":{"id":"a"})",
          R"("managingOrganization":{"reference":"Foo/1"})",
          R"("managingOrganization":{"reference":"a b"})",
          R"("contained":[{"resourceType":"Organization"}])",
          R"("communication":[{"preferred":true}])",
          R"("contained":[{"resourceType":"Organization","id":"a","contained":[]}])",
          R"("multipleBirthInteger":2.0)",
          R"("multipleBirthInteger":2147483648)",
          R"("name":[{"text":"a\u0000b"}])",
          R"("_birthDate":{})",
          R"("_name":{"id":"a"})",
          R"("_name":[{"id":"a"}])",
          R"("active":{"id":"a"})",
          R"("photo":[{"data":"a"}])"}) {
        EXPECT_FALSE(settles_patient(members)) << members;
        EXPECT_FALSE(settles_patient(members)) << members;
    }
    for (const char* text :
         {R"({})", R"({"id":"a"})", R"({"resourceType":"Foo"})", R"({"resourceType":1})", R"([])",
          R"("a")", R"({"resourceType":"Patient\""})", R"({"name":[{"resourceType":"Patient"}]})",
          R"({"a":"resourceType","b":"Patient"})", R"({"resourceType":)", R"({"resourceType")"}) {
        EXPECT_FALSE(settles(text)) << text;
    }
}

TEST_F(CheckedParse, LooksForTheResourceTypeOnlySoFar) {
    std::string extensions;
    for (int i = 0; i < 1000; ++i) {
        extensions += extensions.empty() ? "" : ",";
        extensions += R"({"url":"u","valueCode":"a"})";
    }
    EXPECT_FALSE(settles(R"({"extension":[)" + extensions + R"(],"resourceType":"Patient"})"));
    EXPECT_TRUE(settles(R"({"resourceType":"Patient","extension":[)" + extensions + "]}"));
}

TEST_F(CheckedParse, FindsTheEndsOfStringsOfEverySize) {
    using namespace std::string_view_literals;
    for (std::size_t size = 0; size <= 100; ++size) {
        for (const std::string_view special :
             {""sv, " "sv, "\\n"sv, "\\\""sv, "\\\\"sv, "\\u00e9"sv, "\\u0001"sv, "\\ud800"sv,
              "\\"sv, "\t"sv, "\0"sv, "\x7f"sv, "\u00e9"sv, "\xff"sv}) {
            for (const std::size_t place : {std::size_t{0}, size / 2, size}) {
                const std::string content = std::string(size, 'a').insert(place, special);
                const std::string text = R"({"resourceType":"Patient","language":")" + content +
                                         R"(","name":[{"text":")" + content +
                                         R"(","family":"b"}],")" + content + R"(":1})";
                EXPECT_EQ(test::disagreement_with_checked_parse(parser(), text), "") << text;
                EXPECT_EQ(test::disagreement_with_checked_parse(parser(),
                                                                text.substr(0, text.size() / 2)),
                          "")
                    << text;
            }
        }
    }
}

TEST_F(CheckedParse, TakesNoBytesForTheKeyThatItExpects) {
    // The longest names are not kept by the parser; each key is the one expected after the one before.
    for (const std::string_view key :
         {"participantEffectiveGroupMeasure", "participantEffectiveDescription"}) {
        for (int byte = 0; byte < 256; ++byte) {
            for (const std::string& behind :
                 {std::string(key.substr(1)), std::string(key.size() - 1, '\xff'),
                  std::string(key.size() - 1, '"')}) {
                const std::string before =
                    R"({"resourceType":"ResearchElementDefinition","status":"draft","type":"population",)"
                    R"("characteristic":[{"definitionCanonical":"http://a",")";
                ASSERT_TRUE(settles(before + std::string(key) + R"(":"mean"}]})"));
                const std::string text =
                    before + static_cast<char>(byte) + behind + R"(":"mean"}]})";
                EXPECT_EQ(test::disagreement_with_checked_parse(parser(), text), "") << text;
            }
        }
    }
}

TEST_F(CheckedParse, SettlesTextsOfUnusualShape) {
    std::string numbers = "1";
    for (int i = 0; i < 10'000; ++i) {
        numbers += ",1";
    }
    // Beside the numbers, which need a node for every two bytes, and what is nested too deeply for a resource.
    const std::string patient = R"({"resourceType":"Patient","active":true})";
    for (const std::string& odd :
         {"[" + numbers + "]", std::string(100, '[') + std::string(100, ']')}) {
        const std::string text = R"({"resourceType":"Bundle","type":"batch","odd":)" + odd +
                                 R"(,"entry":[{"resource":)" + patient + "}]}";
        json::Parser wide(kJsonWrappedDepthMax);
        EXPECT_EQ(test::disagreement_with_checked_parse(wide, text), "");
        const Result<Document> document = wide.parse_resource(text);
        ASSERT_TRUE(document);
        EXPECT_FALSE(document->root().node().sound);
        const Value entry = *document->root()["entry"].elements().begin();
        EXPECT_TRUE(entry["resource"].node().sound);
    }
    EXPECT_TRUE(settles(
        R"({"resourceType":"Bundle","type":"batch","entry":[{"resource":{"id":"a","resourceType":"Patient"}}]})"));
}

TEST_F(CheckedParse, FindsEveryRepeatedKey) {
    for (const char* members :
         {R"("active":true,"active":true)",
          R"("name":[{"text":"a"}],"active":true,"name":[{"text":"a"}])",
          R"("resourceType":"Patient")", R"("odd":1,"id":"a","odd":2)", R"("_id":1,"_id":2)",
          R"("_gender":{"id":"a"},"_gender":{"id":"a"})", R"("active":true,"\u0061ctive":true)",
          R"("\u0061ctive":true,"active":true)", R"("odd":{"a":1,"a":2})", R"("":1,"":2)",
          R"("name":[{"family":"a","family":"b"}])"}) {
        EXPECT_TRUE(finds_repeated_key(members)) << members;
        EXPECT_TRUE(finds_repeated_key(members)) << members;
    }
    EXPECT_FALSE(finds_repeated_key(
        R"("active":true,"_active":{"id":"a"},"name":[{"family":"a"},{"family":"b"}])"));
}

}  // namespace
}  // namespace annals::json
