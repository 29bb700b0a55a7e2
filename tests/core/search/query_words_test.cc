// Searches for words: _text and _content.

#include "core/search/query.h"
#include "tests/core/search/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <utility>

namespace annals::core::search {
namespace {

/// Two patients with narratives.
void add_two(Corpus& corpus) {
    corpus.add(R"({"resourceType":"Patient","id":"peter","name":[{"family":"Peter"}],
        "birthDate":"1970-01-01","generalPractitioner":[{"reference":"Practitioner/joe"}],
        "text":{"status":"generated","div":"<div>A <b>B&#233;n&amp;Co</b> heart attack</div>"}})");
    corpus.add(R"({"resourceType":"Patient","id":"paul",
        "text":{"status":"generated","div":"<div>attack of the heart</div>"}})");
}

TEST(Query, SearchesTextsForWordsAndPhrases) {
    Corpus corpus;
    add_two(corpus);
    std::string many = "_text=ben";
    for (int i = 1; i < 100; ++i) {
        many += ",x" + std::to_string(i);
    }
    const std::string more = many + ",y";
    check(corpus, "Patient",
          {{"_text=attack", "peter paul"},
           {"_text=att", ""},
           {"_text=Heart%20attack", "peter paul"},
           {"_text=%22heart%20attack%22", "peter"},
           {"_text=%22attack%20of%22%20heart", "paul"},
           {"_text=b%C3%A9n", "peter"},
           {"_text=ben%20AND%20co", "peter"},
           {"_text=ben%20OR%20of", "peter paul"},
           {"_text=ben,of", "peter paul"},
           {many.c_str(), "peter"},
           {more.c_str(),
            "invalid: search parameter '_text': 1 to 100 words or quoted phrases are needed, with "
            "AND or OR between them or nothing"},
           {"_text=div", ""},
           {"_text=1970", ""},
           {"_content=1970-01-01", "peter"},
           {"_content=peter", "peter"},
           {"_content=attack", "peter paul"},
           {"_content=%22Practitioner/joe%22", "peter"},
           {"_text=%22heart", "invalid: search parameter '_text': a quotation mark is not closed"},
           {"_text=x%20OR%20",
            "invalid: search parameter '_text': 1 to 100 words or quoted phrases are needed, with "
            "AND or OR between them or nothing"},
           {"_text:exact=x",
            "not-supported: search parameter '_text:exact': the modifier ':exact' is not "
            "supported"}});
}

// As in R4's own example: (bone OR liver) and metastases.
TEST(Query, GroupsWordsByParentheses) {
    Corpus corpus;
    add_two(corpus);
    const std::string deep = "_text=" + std::string(100'000, '(');
    const std::string name = "invalid: search parameter '_text': ";
    const std::string lacking =
        name +
        "1 to 100 words or quoted phrases are needed, with AND or OR between them or nothing";
    const std::pair<std::string, std::string> cases[] = {
        {"_text=(ben%20OR%20of)%20and%20co", "peter"},
        {"_text=attack%20OR%20co%20and%20nothing", "peter paul"},
        {"_text=co%20(ben%20OR%20(of%20attack))", "peter"},
        {"_text=(%22attack%20of%22)heart", "paul"},
        {"_text=%22(ben)%22", "peter"},
        {"_text=(ben%20OR%20of", name + "a parenthesis is not closed"},
        {"_text=ben)%20OR%20of", name + "a parenthesis is not opened"},
        {"_text=ben%20()", lacking},
        {"_text=and", lacking},
        {deep, name + "more than 50 parentheses in each other"},
    };
    for (const auto& [query, expected] : cases) {
        EXPECT_EQ(corpus.ask("Patient", query), expected) << query.substr(0, 100);
    }
}

// Expects a text to be found by each of its 200 words: `word` with a number, followed by `end`.
void expect_each_word_found(const std::string& word, const std::string& end) {
    Corpus corpus;
    std::string text;
    for (int i = 100; i < 300; ++i) {
        text += word + std::to_string(i) + end;
    }
    corpus.add(R"({"resourceType":"Patient","id":"a","name":[{"text":")" + text + R"("}]})");
    for (int i = 100; i < 300; ++i) {
        EXPECT_EQ(corpus.ask("Patient", "_content=" + word + std::to_string(i)), "a") << i;
    }
}

TEST(Query, FindsEachWordOfALongTextWithoutBlanks) {
    expect_each_word_found("word", "|");
    expect_each_word_found("糖尿病", "。");
}

TEST(Query, FindsWordsBesideAnyPunctuationAndSymbols) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"a","text":{"status":"generated","div":
        "<div>„Diabetes“&#x2014;«insuline»•Aspirin®：37°C 糖尿病。高血圧 l’hôpital 120–80</div>"}})");
    for (const char* const word :
         {"diabetes", "insuline", "aspirin", "37", "c", "糖尿病", "高血圧", "hopital", "120", "80",
          "„diabetes“", "%22diabetes—insuline%22", "%22120-80%22", "Aspirin®"}) {
        EXPECT_EQ(corpus.ask("Patient", std::string("_text=") + word), "a") << word;
    }
    EXPECT_EQ(corpus.ask("Patient", "_text=lhopital"), "");
}

TEST(Query, TakesAnAmpersandWithoutAnEntityForWhatItIs) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"tom","text":{"status":"generated",
        "div":"<div>Tom & Jerry went; home&nbsp;again &#x41;nd&amp up&#xD800;on</div>"}})");
    corpus.add(
        R"({"resourceType":"Patient","id":"many","text":{"status":"generated","div":"<div>)" +
        std::string(1'000'000, '&') + R"( far</div>"}})");
    const std::clock_t before = std::clock();
    check(corpus, "Patient",
          {{"_text=%22tom%20jerry%20went%20home%20again%20and%20amp%22", "tom"},
           {"_text=%22up%20on%22", "tom"},
           {"_text=nbsp", ""},
           {"_text=far", "many"}});
    // If each ampersand looked through everything that follows, each of the three would take 15 seconds.
    EXPECT_LT(std::clock() - before, 10 * CLOCKS_PER_SEC);
}

TEST(Query, SearchesContentsWithoutTheMarkupOfNarratives) {
    Corpus corpus;
    add_two(corpus);
    check(corpus, "Patient",
          {{"_content=%22attack%20of%20the%20heart%22", "paul"},
           {"_content=ben", "peter"},
           {"_content=div", ""}});
}

TEST(Query, FindsWordsWhereverTheyStandInALongText) {
    Corpus corpus;
    for (std::size_t before = 240; before < 260; ++before) {
        corpus.add(
            fmt::format(R"({{"resourceType":"Patient","id":"p{}","text":{{"status":"generated",)"
                        R"("div":"<div>{} boundaries</div>"}}}})",
                        before, std::string(before, 'x')));
    }
    std::string all;
    for (std::size_t before = 240; before < 260; ++before) {
        all += fmt::format("{}p{}", all.empty() ? "" : " ", before);
    }
    EXPECT_EQ(corpus.ask("Patient", "_text=boundaries"), all);
}

TEST(Query, TakesXhtmlsNamesOfLettersForLetters) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"a","text":{"status":"generated","div":
        "<div>H&ocirc;pital Stra&szlig;e &Auml;rztin &alpha;-Blocker&nbsp;5&times;2 &nosuch;</div>"}})");
    check(corpus, "Patient",
          {{"_text=hopital", "a"},
           {"_text=h%C3%B4pital", "a"},
           {"_text=%22stra%C3%9Fe%20%C3%A4rztin%20%CE%B1%20blocker%205%202%22", "a"},
           {"_text=pital", ""},
           {"_text=nosuch", ""}});
}

}  // namespace
}  // namespace annals::core::search
