// Whether codes are in value sets, and what value sets contain, by the definitions at hand.

#include "core/terminology/expansion.h"
#include "tests/core/validation_fixture.h"

#include <algorithm>
#include <ctime>

namespace annals::terminology {
namespace {

using validation::parsed;
using validation::TextSource;

constexpr std::uint64_t kSteps = 1'000'000;
constexpr std::string_view kUrl = "http://x.org/cs";

std::string code_system(std::string_view content, std::string_view concepts,
                        std::string_view version = "1") {
    return fmt::format(
        R"({{"resourceType":"CodeSystem","url":"{}","version":"{}","status":"active",
            "caseSensitive":true,"content":"{}","concept":[{}]}})",
        kUrl, version, content, concepts);
}

std::string value_set(std::string_view members, std::string_view name = "vs") {
    return fmt::format(
        R"({{"resourceType":"ValueSet","url":"http://x.org/{}","status":"active",{}}})", name,
        members);
}

/// Two versions of a system, the newer also found without a version.
class VersionedSource final : public Source {
  public:
    Result<Definition> find(std::string_view type, std::string_view url,
                            std::string_view version) const override {
        if (type != "CodeSystem" || url != kUrl) {
            return Definition();
        }
        return version == "1" ? old_ : version.empty() || version == "2" ? new_ : Definition();
    }

  private:
    static Definition made(std::string_view concepts, std::string_view version) {
        return std::make_shared<const json::Document>(
            parsed(code_system("complete", concepts, version)));
    }

    Definition old_ = made(R"({"code":"a","display":"old",
        "property":[{"code":"inactive","valueBoolean":true}]},{"code":"gone"})",
                           "1");
    Definition new_ = made(R"({"code":"a","display":"new"},{"code":"added"})", "2");
};

Member judged(const Source& source, std::string_view definition, const Code& code,
              bool takes_abstract = false) {
    Effort effort(kSteps);
    Session session(source, effort);
    session.takes_abstract = takes_abstract;
    const auto made =
        value_set_of(std::make_shared<const json::Document>(parsed(definition)), effort);
    EXPECT_TRUE(made);
    const Result<Member> member = made ? member_of(session, **made, code) : Member::unknown;
    EXPECT_TRUE(member) << (member ? "" : member.error().detail);
    return member ? *member : Member::unknown;
}

/// The codes of an expansion, as "code" or "code|version"; "?" if it can't be made.
std::string listed(const Source& source, std::string_view definition) {
    Effort effort(kSteps);
    Session session(source, effort);
    const auto made =
        value_set_of(std::make_shared<const json::Document>(parsed(definition)), effort);
    EXPECT_TRUE(made);
    const auto expansion = expand(session, *made);
    if (!expansion) {
        return "?";
    }
    std::string out;
    for (const Expansion::Entry& entry : (*expansion)->entries) {
        const std::string& version = (*expansion)->systems[entry.system].version;
        out.append(out.empty() ? "" : " ").append(entry.code);
        out.append(version.empty() ? "" : "|").append(version);
    }
    return out;
}

TEST(Membership, OfAnExpansionAloneIsBySystemAndForNothingAbstract) {
    const std::string expansion = value_set(R"("expansion":{"timestamp":"2020","contains":[
        {"system":"http://x.org/cs","code":"a"},
        {"system":"http://x.org/cs","code":"b","abstract":true,"contains":[
            {"system":"http://y.org","code":"c"}]}]})");
    const TextSource nothing;
    EXPECT_EQ(judged(nothing, expansion, {kUrl, "a"}), Member::yes);
    EXPECT_EQ(judged(nothing, expansion, {std::nullopt, "a"}), Member::yes);
    EXPECT_EQ(judged(nothing, expansion, {"http://y.org", "a"}), Member::no);
    EXPECT_EQ(judged(nothing, expansion, {"http://y.org", "c"}), Member::yes) << "further in";
    EXPECT_EQ(judged(nothing, expansion, {kUrl, "x"}), Member::no);
    EXPECT_EQ(judged(nothing, expansion, {kUrl, "b"}), Member::no);
    EXPECT_EQ(judged(nothing, expansion, {kUrl, "b"}, true), Member::yes);
    const std::string page = value_set(R"("expansion":{"timestamp":"2020","total":2,"contains":[
        {"system":"http://x.org/cs","code":"a"}]})");
    EXPECT_EQ(judged(nothing, page, {kUrl, "b"}), Member::unknown) << "of a page";
}

TEST(Membership, IsByTheVersionThatThePartOrTheCodeNames) {
    const VersionedSource source;
    const std::string of_old =
        value_set(R"("compose":{"include":[{"system":"http://x.org/cs","version":"1"}]})");
    EXPECT_EQ(judged(source, of_old, {kUrl, "gone"}), Member::yes);
    EXPECT_EQ(judged(source, of_old, {kUrl, "gone", "1"}), Member::yes);
    EXPECT_EQ(judged(source, of_old, {kUrl, "a", "2"}), Member::no) << "of another version";
    EXPECT_EQ(judged(source, of_old, {kUrl, "added"}), Member::no);
    const std::string of_any = value_set(R"("compose":{"include":[{"system":"http://x.org/cs"}]})");
    EXPECT_EQ(judged(source, of_any, {kUrl, "gone"}), Member::no);
    EXPECT_EQ(judged(source, of_any, {kUrl, "gone", "1"}), Member::yes);
    EXPECT_EQ(judged(source, of_any, {kUrl, "added"}), Member::yes);
}

TEST(Membership, IsExactInCaseWhereTheSystemIs) {
    TextSource source;
    source.add(code_system("fragment", R"({"code":"AB"})"));
    const std::string listing = value_set(
        R"("compose":{"include":[{"system":"http://x.org/cs","concept":[{"code":"AB"},{"code":"cd"}]}]})");
    EXPECT_EQ(judged(source, listing, {kUrl, "AB"}), Member::yes);
    EXPECT_EQ(judged(source, listing, {kUrl, "cd"}), Member::yes)
        << "the fragment need not have it";
    EXPECT_EQ(judged(source, listing, {kUrl, "ab"}), Member::no);
    EXPECT_EQ(judged(source, listing, {kUrl, "CD"}), Member::no);
}

TEST(Membership, InSeveralValueSetsIsInAllOfThem) {
    TextSource source;
    source.add(code_system("complete", R"({"code":"a"},{"code":"b"},{"code":"c"})"));
    const auto listing = [](std::string_view codes, std::string_view name) {
        return value_set(
            fmt::format(R"("compose":{{"include":[{{"system":"{}","concept":[{}]}}]}})", kUrl,
                        codes),
            name);
    };
    source.add(listing(R"({"code":"a"},{"code":"b"})", "ab"));
    source.add(listing(R"({"code":"b"},{"code":"c"})", "bc"));
    const std::string both_of =
        value_set(R"("compose":{"include":[{"valueSet":["http://x.org/ab","http://x.org/bc"]}]})");
    EXPECT_EQ(judged(source, both_of, {kUrl, "b"}), Member::yes);
    EXPECT_EQ(judged(source, both_of, {kUrl, "a"}), Member::no);
    EXPECT_EQ(judged(source, both_of, {kUrl, "c"}), Member::no);
    EXPECT_EQ(listed(source, both_of), "b");
    const std::string with_unknown = value_set(
        R"("compose":{"include":[{"valueSet":["http://x.org/ab","http://x.org/none"]}]})");
    EXPECT_EQ(judged(source, with_unknown, {kUrl, "a"}), Member::unknown);
    EXPECT_EQ(judged(source, with_unknown, {kUrl, "c"}), Member::no)
        << "not in the one that is here";
    EXPECT_EQ(listed(source, with_unknown), "?");
    const std::string without = value_set(R"("compose":{"include":[{"system":"http://x.org/cs"}],
        "exclude":[{"valueSet":["http://x.org/ab"]}]})");
    EXPECT_EQ(judged(source, without, {kUrl, "c"}), Member::yes);
    EXPECT_EQ(judged(source, without, {kUrl, "a"}), Member::no);
    EXPECT_EQ(listed(source, without), "c");
    const std::string without_unknown =
        value_set(R"("compose":{"include":[{"system":"http://x.org/cs"}],
        "exclude":[{"valueSet":["http://x.org/none"]}]})");
    EXPECT_EQ(judged(source, without_unknown, {kUrl, "c"}), Member::unknown);
    EXPECT_EQ(listed(source, without_unknown), "?");
    const std::string without_both =
        value_set(R"("compose":{"include":[{"system":"http://x.org/cs"}],
        "exclude":[{"valueSet":["http://x.org/ab","http://x.org/bc"]}]})");
    EXPECT_EQ(listed(source, without_both), "a c") << "what is in both is excluded";
    EXPECT_EQ(judged(source, without_both, {kUrl, "a"}), Member::yes);
    EXPECT_EQ(judged(source, without_both, {kUrl, "b"}), Member::no);
}

TEST(Membership, InAWholeSystemThatIsNotHereIsByTheValueSetsBesideIt) {
    TextSource source;
    source.add(
        value_set(R"("compose":{"include":[{"system":"http://x.org/cs","concept":[{"code":"a"},
        {"code":"b"}]},{"system":"http://y.org","concept":[{"code":"c"}]}]})",
                  "listing"));
    source.add(value_set(R"("compose":{"include":[{"system":"http://x.org/cs","filter":[
        {"property":"concept","op":"is-a","value":"a"}]}]})",
                         "filtering"));
    const std::string of_system = value_set(R"("compose":{"include":[
        {"system":"http://x.org/cs","valueSet":["http://x.org/listing"]}]})");
    EXPECT_EQ(judged(source, of_system, {kUrl, "a"}), Member::yes);
    EXPECT_EQ(judged(source, of_system, {kUrl, "x"}), Member::no);
    EXPECT_EQ(judged(source, of_system, {"http://y.org", "c"}), Member::no) << "of another system";
    EXPECT_EQ(listed(source, of_system), "a b");
    EXPECT_EQ(
        listed(source, value_set(R"("compose":{"include":[{"valueSet":["http://x.org/listing"]}],
                  "exclude":[{"system":"http://x.org/cs","valueSet":["http://x.org/listing"]}]})")),
        "c");
    const std::string unknown = value_set(R"("compose":{"include":[
        {"system":"http://x.org/cs","valueSet":["http://x.org/filtering"]}]})");
    EXPECT_EQ(judged(source, unknown, {kUrl, "a"}), Member::unknown);
    EXPECT_EQ(listed(source, unknown), "?");
    source.add(code_system("fragment", R"({"code":"a"})"));
    EXPECT_EQ(listed(source, of_system), "a b") << "the fragment need not have it";
    source.add(code_system("complete", R"({"code":"a"})"));
    EXPECT_EQ(listed(source, of_system), "a");
}

TEST(Membership, InAllOfUcumIsByItsGrammar) {
    constexpr std::string_view kUnits = "http://unitsofmeasure.org";
    const std::string all =
        value_set(R"("compose":{"include":[{"system":"http://unitsofmeasure.org"}]})");
    const std::string some =
        value_set(R"("compose":{"include":[{"system":"http://unitsofmeasure.org"}],
        "exclude":[{"system":"http://unitsofmeasure.org","concept":[{"code":"kg"}]}]})");
    const std::string filtered =
        value_set(R"("compose":{"include":[{"system":"http://unitsofmeasure.org","filter":[
        {"property":"canonical","op":"=","value":"g"}]}]})");
    const std::string warm =
        value_set(R"("compose":{"include":[{"system":"http://unitsofmeasure.org","filter":[
        {"property":"property","op":"=","value":"temperature"}]}]})");
    TextSource source;
    for (const std::string_view stored :
         {"", R"("content":"not-present")",
          R"("content":"fragment","concept":[{"code":"mg"},{"code":"mL"},{"code":"Cel"}])"}) {
        if (!stored.empty()) {
            source.add(R"({"resourceType":"CodeSystem","url":"http://unitsofmeasure.org",
                "status":"active",)" +
                       std::string(stored) + "}");
        }
        EXPECT_EQ(judged(source, all, {kUnits, "mg/dL"}), Member::yes) << stored;
        EXPECT_EQ(judged(source, all, {std::nullopt, "mg/dL"}), Member::yes) << stored;
        EXPECT_EQ(judged(source, all, {kUnits, "mcg"}), Member::no) << stored;
        EXPECT_EQ(judged(source, all, {kUrl, "mg"}), Member::no) << stored;
        EXPECT_EQ(judged(source, some, {kUnits, "g"}), Member::yes) << stored;
        EXPECT_EQ(judged(source, some, {kUnits, "kg"}), Member::no) << stored;
        EXPECT_EQ(judged(source, filtered, {kUnits, "mg"}), Member::yes) << stored;
        EXPECT_EQ(judged(source, filtered, {kUnits, "mL"}), Member::no) << stored;
        EXPECT_EQ(judged(source, filtered, {kUnits, "mcg"}), Member::no) << stored;
        EXPECT_EQ(judged(source, warm, {kUnits, "Cel"}), Member::unknown) << stored;
    }
    EXPECT_EQ(listed(source, filtered), "mg") << "of the fragment";
    const std::string not_units =
        value_set(R"("compose":{"include":[{"system":"http://unitsofmeasure.org",
        "concept":[{"code":"mg"}]}],"exclude":[{"system":"http://unitsofmeasure.org"}]})");
    EXPECT_EQ(judged(source, not_units, {kUnits, "mg"}), Member::no);
}

TEST(Membership, OfActiveCodesLeavesOutWhatIsKnownToBeInactive) {
    TextSource source;
    source.add(code_system("fragment", R"({"code":"a"},
        {"code":"old","property":[{"code":"status","valueCode":"retired"}]},
        {"code":"off","property":[{"code":"inactive","valueBoolean":true}]},
        {"code":"late","property":[{"code":"status","valueCode":"deprecated"}]})"));
    const auto listing = [](std::string_view inactive) {
        return value_set(fmt::format(R"("compose":{{{}"include":[{{"system":"{}","concept":[
            {{"code":"a"}},{{"code":"old"}},{{"code":"off"}},{{"code":"late"}},{{"code":"elsewhere"}}]}}]}})",
                                     inactive, kUrl));
    };
    const std::string active = listing(R"("inactive":false,)");
    for (const std::string_view code : {"a", "late", "elsewhere"}) {
        EXPECT_EQ(judged(source, active, {kUrl, code}), Member::yes) << code;
    }
    for (const std::string_view code : {"old", "off"}) {
        EXPECT_EQ(judged(source, active, {kUrl, code}), Member::no) << code;
        EXPECT_EQ(judged(source, listing(""), {kUrl, code}), Member::yes) << code;
    }
    EXPECT_EQ(listed(source, active), "a late elsewhere");
}

TEST(Membership, OfActiveCodesIsByTheVersionThatTheCodeNames) {
    const VersionedSource source;
    const std::string active = value_set(
        fmt::format(R"("compose":{{"inactive":false,"include":[{{"system":"{}"}}]}})", kUrl));
    EXPECT_EQ(judged(source, active, {kUrl, "gone", "1"}), Member::yes);
    EXPECT_EQ(judged(source, active, {kUrl, "a", "1"}), Member::no);
    EXPECT_EQ(judged(source, active, {kUrl, "a", "2"}), Member::yes);
    EXPECT_EQ(judged(source, active, {kUrl, "a"}), Member::yes);
}

TEST(Membership, IsFollowedThroughPropertiesAsThroughNesting) {
    TextSource source;
    source.add(code_system("complete", R"({"code":"top","concept":[{"code":"mid"}]},
        {"code":"low","property":[{"code":"parent","valueCode":"mid"}]},
        {"code":"apart"})"));
    const auto filtered = [](std::string_view op, std::string_view value,
                             std::string_view property = "concept") {
        return value_set(fmt::format(R"("compose":{{"include":[{{"system":"{}","filter":[
            {{"property":"{}","op":"{}","value":"{}"}}]}}]}})",
                                     kUrl, property, op, value));
    };
    const auto check = [&](const std::string& definition, std::string_view expected) {
        EXPECT_EQ(listed(source, definition), expected) << definition;
        for (const std::string_view code : {"top", "mid", "low", "apart"}) {
            const bool in =
                fmt::format(" {} ", expected).find(fmt::format(" {} ", code)) != std::string::npos;
            EXPECT_EQ(judged(source, definition, {kUrl, code}), in ? Member::yes : Member::no)
                << code << " in " << definition;
        }
    };
    check(filtered("is-a", "mid"), "mid low");
    check(filtered("descendent-of", "top"), "mid low");
    check(filtered("is-not-a", "mid"), "top apart");
    check(filtered("generalizes", "low"), "top mid low");
    check(filtered("is-a", "none"), "");
    check(filtered("is-not-a", "none"), "top mid low apart");
    check(filtered("generalizes", "none"), "");
    check(filtered("in", "top, low", "code"), "top low");
    check(filtered("not-in", "top,low", "code"), "mid apart");
    check(filtered("regex", "[tl]o.", "code"), "top low");
    check(filtered("=", "mid", "parent"), "low");
    check(filtered("=", "low", "child"), "mid");
    check(filtered("exists", "false", "parent"), "top apart");
    check(filtered("exists", "true", "child"), "top mid");
}

TEST(Expansions, HaveTheCodesOfTwoVersionsApart) {
    const VersionedSource source;
    EXPECT_EQ(listed(source, value_set(R"("compose":{"include":[
                  {"system":"http://x.org/cs","version":"1"},{"system":"http://x.org/cs","version":"2"}]})")),
              "a|1 gone|1 a|2 added|2");
    EXPECT_EQ(listed(source, value_set(R"("compose":{"include":[
                  {"system":"http://x.org/cs","version":"2"},{"system":"http://x.org/cs"}]})")),
              "a|2 added|2")
        << "the version that is meant is that one";
}

TEST(Expansions, OfManySystemsCountThoseThatAreLookedThrough) {
    // An expansion of 100,000 codes, each of another system, used to occupy the terminology thread for most of a minute.
    const auto of_systems = [](int count) {
        std::string codes;
        for (int i = 0; i < count; ++i) {
            codes += fmt::format(R"({}{{"system":"http://x.org/{:05}","code":"a"}})",
                                 i == 0 ? "" : ",", i);
        }
        return listed(VersionedSource(),
                      value_set(R"("expansion":{"timestamp":"2020","contains":[)" + codes + "]}"));
    };
    EXPECT_EQ(of_systems(3), "a a a");
    EXPECT_NE(of_systems(1'000), "?");
    EXPECT_EQ(of_systems(8'000), "?");
}

TEST(CodeSystemProperties, OfManyNamesTakeTimeByTheirNumber) {
    // Each property of each concept used to be compared with all names of that meaning.
    const auto time = [](int count) {
        std::string names;
        std::string values;
        for (int i = 0; i < count; ++i) {
            names += fmt::format(
                R"({}{{"code":"p{:05}","uri":"http://hl7.org/fhir/concept-properties#parent"}})",
                i == 0 ? "" : ",", i);
            values += fmt::format(R"({}{{"code":"q{:05}","valueCode":"a"}})", i == 0 ? "" : ",", i);
        }
        const auto document = std::make_shared<const json::Document>(
            parsed(R"({"resourceType":"CodeSystem","content":"complete","property":[)" + names +
                   R"(],"concept":[{"code":"a","property":[)" + values + "]}]}"));
        Effort effort(kSteps);
        const std::clock_t begin = std::clock();
        EXPECT_TRUE(CodeSystem::make(document, effort));
        return std::clock() - begin;
    };
    const std::clock_t few = std::min(time(1'000), time(1'000));
    EXPECT_LT(time(10'000), 30 * few);
}

TEST(CodeSystemProperties, MeanWhatTheirUriSaysWhateverTheyAreCalled) {
    constexpr std::string_view kUriBase = "http://hl7.org/fhir/concept-properties#";
    std::string properties;
    for (const auto& [code, uri] :
         {std::pair("up", "parent"), std::pair("in", "subsumedBy"), std::pair("down", "child"),
          std::pair("off", "inactive"), std::pair("state", "status"),
          std::pair("group", "notSelectable"), std::pair("since", "effectiveDate")}) {
        properties += fmt::format(R"({}{{"code":"{}","uri":"{}{}","type":"code"}})",
                                  properties.empty() ? "" : ",", code, kUriBase, uri);
    }
    const std::string text = fmt::format(
        R"({{"resourceType":"CodeSystem","url":"{}","status":"active","content":"complete",
        "property":[{},{{"code":"other","uri":"http://x.org#parent"}}],"concept":[
        {{"code":"top","property":[{{"code":"group","valueBoolean":true}},
                                   {{"code":"down","valueCode":"c"}}]}},
        {{"code":"a","property":[{{"code":"up","valueCode":"top"}},{{"code":"off","valueBoolean":true}}]}},
        {{"code":"b","property":[{{"code":"in","valueCode":"top"}},{{"code":"state","valueCode":"retired"}}]}},
        {{"code":"c","property":[{{"code":"state","valueCode":"active"}},{{"code":"since","valueCode":"top"}}]}},
        {{"code":"d","property":[{{"code":"other","valueCode":"top"}},{{"code":"state","valueCode":"inactive"}}]}}]}})",
        kUrl, properties);
    Effort effort(kSteps);
    const auto system =
        CodeSystem::make(std::make_shared<const json::Document>(parsed(text)), effort);
    ASSERT_TRUE(system);
    const CodeSystem& known = **system;
    const CodeSystem::Number top = *known.find("top");
    EXPECT_EQ(known.children(top).size(), 3U);
    for (const std::string_view code : {"a", "b", "c", "d"}) {
        const auto below = known.is_below(*known.find(code), top, effort);
        ASSERT_TRUE(below);
        EXPECT_EQ(*below, code != "d") << code;
        EXPECT_EQ(known.is_inactive(*known.find(code)), code != "c") << code;
        EXPECT_FALSE(known.is_abstract(*known.find(code))) << code;
    }
    EXPECT_TRUE(known.is_abstract(top));
    EXPECT_FALSE(known.is_inactive(top));

    TextSource source;
    source.add(text);
    const auto filtered = [&](std::string_view property, std::string_view op,
                              std::string_view value) {
        return listed(source,
                      value_set(fmt::format(R"("compose":{{"include":[{{"system":"{}","filter":[
            {{"property":"{}","op":"{}","value":"{}"}}]}}]}})",
                                            kUrl, property, op, value)));
    };
    // It is also known for concepts that don't say so in these words.
    EXPECT_EQ(filtered("inactive", "=", "true"), "a b d");
    EXPECT_EQ(filtered("inactive", "=", "false"), "top c");
    EXPECT_EQ(filtered("notSelectable", "=", "true"), "top");
    EXPECT_EQ(filtered("notSelectable", "=", "false"), "a b c d");
    EXPECT_EQ(filtered("inactive", "exists", "true"), "") << "it is said of none";
    EXPECT_EQ(filtered("state", "exists", "true"), "b c d");
    EXPECT_EQ(filtered("state", "exists", "false"), "top a");
    EXPECT_EQ(filtered("other", "=", "false"), "") << "no such value";
}

}  // namespace
}  // namespace annals::terminology
