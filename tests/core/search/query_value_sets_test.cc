#include "core/search/value_sets.h"
#include "core/terminology/effort.h"
#include "core/terminology/value_set.h"
#include "core/terminology/worker.h"
#include "tests/core/search/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {
namespace {

TEST(ValueSetQuery, LooksIntoStoredValueSetsAndCodeSystems) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"CodeSystem","id":"cs","url":"http://s","content":"complete",
        "property":[{"code":"up","uri":"http://hl7.org/fhir/concept-properties#parent","type":"code"},
                    {"code":"kind","type":"string"}],
        "concept":[{"code":"a","concept":[{"code":"a1","concept":[{"code":"a11"}]},
                   {"code":"a2","property":[{"code":"kind","valueString":"special"}]}]},
                   {"code":"b","property":[{"code":"up","valueCode":"a2"}]},{"code":"c"}]})");
    corpus.add(R"({"resourceType":"ValueSet","id":"listed","url":"http://v/listed","version":"2",
        "compose":{"include":[{"system":"http://s","concept":[{"code":"a1"},{"code":"c"}]}]}})");
    corpus.add(R"({"resourceType":"ValueSet","id":"isa","url":"http://v/isa","compose":{"include":[
        {"system":"http://s","filter":[{"property":"concept","op":"is-a","value":"a1"}]}]}})");
    corpus.add(R"({"resourceType":"ValueSet","id":"nested","url":"http://v/nested","compose":{
        "include":[{"valueSet":["http://v/isa","http://v/listed"]},{"system":"http://other"}],
        "exclude":[{"system":"http://s","concept":[{"code":"a11"}]}]}})");
    corpus.add(
        R"({"resourceType":"ValueSet","id":"kinds","url":"http://v/kinds","compose":{"include":[
        {"system":"http://s","filter":[{"property":"kind","op":"=","value":"special"}]}]}})");
    corpus.add(
        R"({"resourceType":"ValueSet","id":"loop","url":"http://v/loop","compose":{"include":[
        {"valueSet":["http://v/loop"]}]}})");
    corpus.add(R"({"resourceType":"ValueSet","id":"expanded","url":"http://v/expanded","expansion":{
        "timestamp":"2020-01-01","contains":[{"system":"http://s","code":"b","contains":[
        {"system":"http://s","code":"c"}]},{"abstract":true,"system":"http://s","code":"a"}]}})");
    corpus.add(R"({"resourceType":"ValueSet","id":"own","url":"http://example.org/fhir/ValueSet/b",
        "compose":{"include":[{"system":"http://s","concept":[{"code":"b"}]}]}})");
    for (const char* code : {"a", "a1", "a11", "a2", "b", "c", "x"}) {
        corpus.add(std::string(R"({"resourceType":"Observation","id":")") + code +
                   R"(","status":"final","code":{"coding":[{"system":")" +
                   (code[0] == 'x' ? "http://other" : "http://s") + R"(","code":")" + code +
                   R"("}]}})");
    }
    check(corpus, "Observation",
          {{"code:below=http://s|a1", "a1 a11"},
           {"code:below=http://s|a", "a a1 a11 a2 b"},
           {"code:above=http://s|a11", "a a1 a11"},
           {"code:above=http://s|b", "a a2 b"},
           {"code:below=http://s|unknown", ""},
           {"code:below=http://s|c,http://s|b", "b c"},
           {"code:below=ValueSet/cs|a1",
            "invalid: search parameter 'code:below': the code system 'ValueSet/cs' is not stored "
            "here"},
           {"code:in=http://v/listed", "a1 c"},
           {"code:in=http://v/listed|2", "a1 c"},
           {"code:in=ValueSet/listed", "a1 c"},
           {"code:in=http://example.org/fhir/ValueSet/listed", "a1 c"},
           {"code:in=http://example.org/fhir/ValueSet/b", "b"},
           {"code:in=http://example.org/fhir/ValueSet/x",
            "invalid: search parameter 'code:in': the value set "
            "'http://example.org/fhir/ValueSet/x' is not known here"},
           {"code:not-in=http://v/listed", "a a11 a2 b x"},
           {"code:in=http://v/isa", "a1 a11"},
           {"code:in=http://v/nested", "a1 x"},
           {"code:in=http://v/kinds", "a2"},
           {"code:in=http://v/expanded", "b c"},
           {"code:in=http://v/listed,http://v/kinds", "a1 a2 c"},
           {"code:in=http://v/listed%5C|2", "a1 c"},
           {"code:in=http://v/listed|3",
            "invalid: search parameter 'code:in': the value set 'http://v/listed|3' is not known "
            "here"},
           {"code:in=http://v/loop",
            "invalid: search parameter 'code:in': The value set http://v/loop includes itself"}});
}

TEST(ValueSetQuery, TakesNoMoreBytesOfCodesThanItMay) {
    // Each code repeats its system.
    const std::string system = "http://s/" + std::string(200'000, 'x');
    std::string codes = R"({"code":"c0"})";
    for (int i = 1; i < 100; ++i) {
        codes += fmt::format(R"(,{{"code":"c{}"}})", i);
    }
    Corpus corpus;
    for (const auto& [id, concepts] :
         {std::pair("many", codes), std::pair("one", std::string(R"({"code":"c1"})"))}) {
        corpus.add(fmt::format(R"({{"resourceType":"ValueSet","id":"{0}","url":"http://v/{0}",)"
                               R"("compose":{{"include":[{{"system":"{1}","concept":[{2}]}}]}}}})",
                               id, system, concepts));
    }
    corpus.add(fmt::format(R"({{"resourceType":"Observation","id":"o","status":"final",)"
                           R"("code":{{"coding":[{{"system":"{}","code":"c1"}}]}}}})",
                           system));
    check(corpus, "Observation",
          {{"code:in=http://v/one", "o"},
           {"code:in=http://v/many",
            "too-costly: search parameter 'code:in': codes of more than 16777216 bytes"}});
}

/// A Corpus that leaves what takes long to others.
class PuttingOff final : public StoredResources {
  public:
    explicit PuttingOff(const Corpus& corpus) : corpus_(corpus) { begin_turn(); }

    /// Begins another reading.
    void begin_turn() const {
        later_.steps_left = 2 * terminology::Worker::kStepsOnLoop;
        later_.bytes_left = terminology::Worker::kBytesOnLoop;
        later_.spent = false;
    }

    /// Whether something needs another reading.
    bool spent() const { return later_.spent; }

    std::uint64_t seed() const override { return corpus_.seed(); }

    std::uint64_t key(TypeId type, std::string_view id) const override {
        return corpus_.key(type, id);
    }

    Result<StoredDocument> read(TypeId type, std::string_view id, PutOff* put_off) const override {
        return corpus_.read(type, id, put_off);
    }

    Result<StoredDocument> find(TypeId type, std::string_view url,
                                std::string_view version) const override {
        return corpus_.find(type, url, version);
    }

    PutOff* put_off() const override { return &later_; }

    /// Does what was put off, and returns how much that was.
    std::size_t do_it(const PutOff::Limit& limit = {terminology::Effort::Clock::now() +
                                                    std::chrono::hours(1)}) const {
        const auto work = std::exchange(later_.work, {});
        for (const PutOff::Work& one : work) {
            later_.keep(one.question, one.make(corpus_, limit));
        }
        return work.size();
    }

  private:
    const Corpus& corpus_;
    mutable PutOff later_;
};

TEST(ValueSetQuery, TakesOverTheResultsOfWhatWasPutOff) {
    std::string codes = R"({"code":"c1"})";
    for (int i = 2; i < 100'000; ++i) {
        codes += fmt::format(R"(,{{"code":"c{}"}})", i);
    }
    Corpus corpus;
    corpus.add(R"({"resourceType":"CodeSystem","id":"large","url":"http://s","content":"complete",)"
               R"("concept":[{"code":"c0","concept":[)" +
               codes + "]}]}");
    corpus.add(R"({"resourceType":"ValueSet","id":"same","url":"http://s","compose":{"include":[)"
               R"({"system":"http://s","filter":[{"property":"concept","op":"is-a",)"
               R"("value":"c7"}]}]}})");
    const PuttingOff stored(corpus);
    const auto begun = [&](bool made) {
        stored.begin_turn();
        return made;
    };
    for (int time = 0; time < 2; ++time) {
        EXPECT_FALSE(begun(codes_below(stored, "http://s", "c0").has_value()));
        EXPECT_FALSE(begun(codes_below(stored, "http://s", "c7").has_value()));
        EXPECT_FALSE(begun(codes_above(stored, "http://s", "c7").has_value()));
        EXPECT_FALSE(begun(expand(stored, "http://s").has_value()));
    }
    EXPECT_EQ(stored.do_it(), 4) << "each once";
    const auto too_many = codes_below(stored, "http://s", "c0");
    ASSERT_FALSE(too_many);
    EXPECT_EQ(too_many.error().detail, "more than 20000 codes");
    const auto below = codes_below(stored, "http://s", "c7");
    ASSERT_TRUE(below);
    EXPECT_EQ(**below, Codes{"c7"});
    EXPECT_EQ(*below, *codes_below(stored, "http://s", "c7")) << "nothing is made again";
    const auto above = codes_above(stored, "http://s", "c7");
    ASSERT_TRUE(above);
    EXPECT_EQ(**above, (Codes{"c0", "c7"}));
    const auto in = expand(stored, "http://s");
    ASSERT_TRUE(in);
    EXPECT_EQ((*in)->codes, (std::vector<Coding>{{"http://s", "c7"}}));
    EXPECT_EQ(*in, *expand(stored, "http://s")) << "nothing is made again";
    EXPECT_EQ(stored.do_it(), 0);
}

TEST(ValueSetQuery, TakesAnotherTurnWhenSmallOnesTogetherTakeLong) {
    constexpr std::size_t kCount =
        4 * terminology::Worker::kStepsOnLoop / terminology::kStepsPerExpansion;
    Corpus corpus;
    for (std::size_t i = 0; i < kCount; ++i) {
        corpus.add(fmt::format(R"({{"resourceType":"ValueSet","id":"v{0}","url":"http://v/{0}",)"
                               R"("compose":{{"include":[{{"system":"http://s",)"
                               R"("concept":[{{"code":"{0}"}}]}}]}}}})",
                               i));
    }
    const PuttingOff stored(corpus);
    std::size_t made = 0;
    std::size_t turns = 0;
    for (; made < kCount && turns < kCount; ++turns) {
        stored.begin_turn();
        const std::size_t before = made;
        // As a query is read: from its beginning, up to the first error.
        for (made = 0; made < kCount && expand(stored, fmt::format("http://v/{}", made)); ++made) {
        }
        EXPECT_EQ(stored.spent(), made < kCount);
        ASSERT_GT(made, before);
    }
    EXPECT_EQ(made, kCount);
    EXPECT_GT(turns, 2);
    EXPECT_LT(turns, 20);
    EXPECT_EQ(stored.do_it(), 0) << "each is small";
    const auto last = expand(stored, fmt::format("http://v/{}", kCount - 1));
    ASSERT_TRUE(last);
    EXPECT_EQ((*last)->codes, (std::vector<Coding>{{"http://s", std::to_string(kCount - 1)}}));
}

TEST(ValueSetQuery, LeavesWhatWasPutOffWhenItsTimeIsOverOrTheServerStops) {
    std::string codes = R"({"code":"c"})";
    for (int i = 0; i < 100'000; ++i) {
        codes += fmt::format(R"(,{{"code":"c{}"}})", i);
    }
    Corpus corpus;
    corpus.add(R"({"resourceType":"ValueSet","id":"large","url":"http://v/large","compose":{)"
               R"("include":[{"system":"http://s","concept":[)" +
               codes + "]}]}}");
    const auto is_known = [&] {
        terminology::Effort none(0);
        const StoredDocument large =
            *corpus.find(*find_resource_type("ValueSet"), "http://v/large", "");
        return terminology::value_set_of(large, none).has_value();
    };
    const auto now = terminology::Effort::Clock::now();
    const std::atomic<bool> stopping = true;
    for (const PutOff::Limit& limit :
         {PutOff::Limit{now}, PutOff::Limit{now + std::chrono::hours(1), &stopping}}) {
        const PuttingOff stored(corpus);
        EXPECT_FALSE(expand(stored, "http://v/large"));
        EXPECT_EQ(stored.do_it(limit), 1);
        EXPECT_FALSE(is_known());
        const auto again = expand(stored, "http://v/large");
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().code, Errc::timeout);
        EXPECT_FALSE(is_known()) << "what failed there is not tried here";
    }
    const PuttingOff stored(corpus);
    EXPECT_FALSE(expand(stored, "http://v/large"));
    EXPECT_EQ(stored.do_it(), 1);
    EXPECT_TRUE(is_known());
}

TEST(ValueSetQuery, FindsAnyCodeOfASystemThatIsNotHereAndThatAValueSetHasAllOf) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"CodeSystem","id":"cs","url":"http://s","content":"complete",
        "concept":[{"code":"a"},{"code":"b"}]})");
    const auto value_set = [&](std::string_view name, std::string_view parts) {
        corpus.add(fmt::format(
            R"({{"resourceType":"ValueSet","id":"{}","url":"http://v/{}","compose":{{{}}}}})", name,
            name, parts));
    };
    value_set("open", R"("include":[{"system":"http://o"}])");
    value_set("wider", R"("include":[{"system":"http://s"},{"system":"http://o"},
        {"system":"http://p"}])");
    value_set("some", R"("include":[{"system":"http://o","concept":[{"code":"x"},{"code":"y"}]},
        {"system":"http://s","concept":[{"code":"a"}]}])");
    value_set("through", R"("include":[{"valueSet":["http://v/wider"]}])");
    value_set("both", R"("include":[{"valueSet":["http://v/wider","http://v/some"]}])");
    value_set("swapped", R"("include":[{"valueSet":["http://v/some","http://v/wider"]}])");
    value_set("twice", R"("include":[{"valueSet":["http://v/wider","http://v/open"]}])");
    value_set("three", R"("include":[{"valueSet":["http://v/wider","http://v/open",
        "http://v/some"]}])");
    value_set("of_it", R"("include":[{"system":"http://o","valueSet":["http://v/wider"]}])");
    value_set("of_other", R"("include":[{"system":"http://s","valueSet":["http://v/open"]}])");
    value_set("without", R"("include":[{"valueSet":["http://v/wider"]}],
        "exclude":[{"system":"http://o"}])");
    value_set("less", R"("include":[{"system":"http://s"},{"system":"http://o"}],
        "exclude":[{"system":"http://s","concept":[{"code":"a"}]}])");
    value_set("partly", R"("include":[{"system":"http://o"}],
        "exclude":[{"system":"http://o","concept":[{"code":"x"}]}])");
    value_set("except", R"("include":[{"system":"http://o"}],
        "exclude":[{"valueSet":["http://v/some"]}])");
    for (const char* code : {"s|a", "s|b", "o|x", "o|y", "o|z", "p|q", "r|t"}) {
        corpus.add(fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final","code":
            {{"coding":[{{"system":"http://{}","code":"{}"}}]}}}})",
                               code[2], code[0], code[2]));
    }
    constexpr const char* kUntold =
        "not-supported: search parameter 'code:in': What is left of http://o when codes are "
        "excluded cannot be determined";
    check(corpus, "Observation",
          {{"code:in=http://v/open", "x y z"},
           {"code:not-in=http://v/open", "a b q t"},
           {"code:in=http://v/through", "a b x y z q"},
           {"code:in=http://v/both", "a x y"},
           {"code:in=http://v/swapped", "a x y"},
           {"code:in=http://v/twice", "x y z"},
           {"code:in=http://v/three", "x y"},
           {"code:in=http://v/of_it", "x y z"},
           {"code:in=http://v/of_other", ""},
           {"code:in=http://v/without", "a b q"},
           {"code:in=http://v/less", "b x y z"},
           {"code:in=http://v/partly", kUntold},
           {"code:in=http://v/except", kUntold}});
}

}  // namespace
}  // namespace annals::core::search
