#include "core/search/plan.h"

#include <gtest/gtest.h>

namespace annals::core::search {
namespace {

using Kind = Plan::Kind;
using storage::SearchEntries;

constexpr Column kName = 11;
constexpr Column kDate = 12;
constexpr Column kReference = 13;

SearchEntries some_entries() {
    SearchEntries entries;
    entries.terms = {2, 5, 9};
    entries.intervals = {{kDate, 100, 199}, {kDate, 300, 300}};
    entries.add_text(kName, "chalmers");
    entries.add_text(kName, "peter james");
    return entries;
}

bool matches(const Plan& plan) {
    return search::matches(plan, some_entries(), json::Value());
}

TEST(Plan, DecidesByTermsTextsAndIntervals) {
    EXPECT_TRUE(matches(everything()));
    EXPECT_FALSE(matches(nothing()));
    EXPECT_TRUE(matches(carrying({7, 5})));
    EXPECT_FALSE(matches(carrying({7, 8})));
    EXPECT_TRUE(matches(begins_with(kName, "chal")));
    EXPECT_FALSE(matches(begins_with(kName, "james")));
    EXPECT_FALSE(matches(begins_with(kDate, "chal")));
    EXPECT_TRUE(matches(containing(kName, "r j")));
    EXPECT_FALSE(matches(containing(kName, "jim")));
    EXPECT_TRUE(matches(interval(kDate, Comparison::eq, {300, 300})));
    EXPECT_FALSE(matches(interval(kName, Comparison::eq, {300, 300})));
    EXPECT_TRUE(matches(negation_of(carrying({7}))));
    EXPECT_TRUE(matches(all_of({carrying({5}), begins_with(kName, "peter")})));
    EXPECT_FALSE(matches(all_of({carrying({5}), begins_with(kName, "paul")})));
    EXPECT_TRUE(matches(any_of({carrying({6}), begins_with(kName, "peter")})));
}

TEST(Plan, IsPutTogetherOfItsPartsAndNotOfCopies) {
    using Join = Plan (*)(Plan, Plan);
    for (const auto join : {Join(&any_of), Join(&all_of)}) {
        Plan part = begins_with(kName, std::string(100, 'a'));
        const char* const text = part.text.data();
        const Plan plan = join(std::move(part), begins_with(kName, std::string(100, 'b')));
        ASSERT_EQ(plan.parts.size(), 2U);
        EXPECT_EQ(plan.parts.front().text.data(), text);
    }
}

TEST(Plan, ComparesIntervalsAsThePrefixesSay) {
    constexpr Range kOwn{100, 199};

    struct Case {
        Comparison comparison;
        Range asked;
        bool holds;
    };

    const Case cases[] = {
        {Comparison::eq, {100, 199}, true},  {Comparison::eq, {50, 300}, true},
        {Comparison::eq, {101, 300}, false}, {Comparison::eq, {50, 198}, false},
        {Comparison::ne, {100, 199}, false}, {Comparison::ne, {101, 199}, true},
        {Comparison::gt, {150, 198}, true},  {Comparison::gt, {150, 199}, false},
        {Comparison::lt, {101, 300}, true},  {Comparison::lt, {100, 300}, false},
        {Comparison::ge, {150, 198}, true},  {Comparison::ge, {199, 300}, true},
        {Comparison::ge, {200, 300}, false}, {Comparison::le, {101, 150}, true},
        {Comparison::le, {50, 100}, true},   {Comparison::le, {50, 99}, false},
        {Comparison::sa, {50, 99}, true},    {Comparison::sa, {50, 100}, false},
        {Comparison::eb, {200, 300}, true},  {Comparison::eb, {199, 300}, false},
        {Comparison::ap, {199, 300}, true},  {Comparison::ap, {50, 100}, true},
        {Comparison::ap, {200, 300}, false}, {Comparison::ap, {50, 99}, false},
        {Comparison::co, {100, 199}, true},  {Comparison::co, {150, 150}, true},
        {Comparison::co, {99, 150}, false},  {Comparison::co, {150, 200}, false},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(compares(c.comparison, kOwn, c.asked), c.holds)
            << static_cast<int>(c.comparison) << ' ' << c.asked.low << ' ' << c.asked.high;
    }
}

TEST(Plan, FindsQuantitiesInEachUnitThatCanBeConverted) {
    const Column column = 20;
    SearchEntries entries;
    entries.add_text(beside(column, ":units"), "mg");
    entries.intervals = {{beside(column, "=mg"), 500, 500}, {beside(column, "=kg"), 1, 1}};
    Plan plan = interval(column, Comparison::eq, {});
    plan.kind = Kind::quantity;
    plan.in_unit = [](std::string_view unit) {
        return unit == "mg" ? std::optional(Range{400, 600}) : std::nullopt;
    };
    EXPECT_TRUE(search::matches(plan, entries, json::Value()));
    plan.comparison = Comparison::gt;
    EXPECT_FALSE(search::matches(plan, entries, json::Value()));
    plan.in_unit = [](std::string_view unit) {
        return unit == "kg" ? std::optional(Range{0, 0}) : std::nullopt;
    };
    EXPECT_FALSE(search::matches(plan, entries, json::Value())) << "no value says its unit is kg";
}

TEST(Plan, AsksForRelatedResourcesAndForTheBody) {
    const Plan plan = all_of({chain(kReference, TypeId{3}, carrying({77})), carrying({5})});
    EXPECT_FALSE(matches(plan));
    const auto related = [](const Plan& part, const storage::SearchEntries&) {
        return part.kind == Kind::chain && part.column == kReference && part.type == TypeId{3};
    };
    EXPECT_TRUE(search::matches(plan, some_entries(), json::Value(), related));

    json::Parser parser;
    const auto body = parser.parse(R"({"active":true})");
    ASSERT_TRUE(body);
    const auto is_active = [](json::Value resource) { return resource["active"].raw() == "true"; };
    EXPECT_TRUE(search::matches(verified(everything(), is_active), some_entries(), body->root()));
    EXPECT_FALSE(search::matches(verified(everything(), is_active), some_entries(), json::Value()));
    EXPECT_FALSE(search::matches(verified(carrying({1}), is_active), some_entries(), body->root()));
}

TEST(Plan, MayMatchWhereverTheEntriesAloneCannotTell) {
    constexpr Term kIdentity = 4;
    const auto may = [](const Plan& plan) { return may_match(plan, some_entries(), kIdentity); };
    const auto never = [](json::Value) { return false; };
    const Plan related = chain(kReference, TypeId{3}, carrying({77}));
    const Plan instant = interval(column_of("_lastUpdated"), Comparison::eq, {1, 2});
    const Plan checked = verified(carrying({5}), never);
    for (const Plan& plan : {related, instant, checked, carrying({kIdentity})}) {
        EXPECT_TRUE(may(plan));
    }
    for (const Plan& plan : {related, instant, checked}) {
        EXPECT_TRUE(may(negation_of(plan)));
        EXPECT_TRUE(may(negation_of(all_of({plan, begins_with(kName, "chal")}))));
        EXPECT_FALSE(may(negation_of(any_of({plan, begins_with(kName, "chal")}))));
        EXPECT_FALSE(may(all_of({plan, begins_with(kName, "paul")})));
    }
    EXPECT_FALSE(may(verified(carrying({6}), never)));
    EXPECT_FALSE(may(negation_of(carrying({kIdentity}))));
    EXPECT_FALSE(may(interval(kDate, Comparison::eq, {400, 500})));
    EXPECT_TRUE(may(interval(kDate, Comparison::eq, {300, 300})));
}

TEST(Plan, IsKeptFlat) {
    EXPECT_EQ(all_of({}).kind, Kind::everything);
    EXPECT_EQ(any_of({}).kind, Kind::nothing);
    EXPECT_EQ(all_of({everything(), carrying({3})}).kind, Kind::terms);
    EXPECT_EQ(all_of({nothing(), carrying({3})}).kind, Kind::nothing);
    EXPECT_EQ(any_of({everything(), carrying({3})}).kind, Kind::everything);
    EXPECT_EQ(any_of({nothing(), carrying({3})}).kind, Kind::terms);
    EXPECT_EQ(carrying({}).kind, Kind::nothing);
    EXPECT_EQ(carrying({5, 3, 5}).terms, (std::vector<Term>{3, 5}));
    EXPECT_EQ(any_of({carrying({5}), carrying({3})}).terms, (std::vector<Term>{3, 5}));
    EXPECT_EQ(negation_of(negation_of(carrying({3}))).kind, Kind::terms);
    EXPECT_EQ(negation_of(everything()).kind, Kind::nothing);
    EXPECT_EQ(chain(kReference, TypeId{3}, nothing()).kind, Kind::nothing);

    const Plan both = all_of({all_of({carrying({1}), carrying({2})}), begins_with(kName, "x")});
    EXPECT_EQ(both.parts.size(), 3U);
    const Plan either = any_of({any_of({carrying({1}), begins_with(kName, "x")}), carrying({2})});
    EXPECT_EQ(either.parts.size(), 2U);
}

TEST(Plan, ATextWithoutCharactersAsksForAnyValue) {
    EXPECT_EQ(begins_with(kName, "").terms, (std::vector<Term>{present(kName)}));
    EXPECT_EQ(containing(kName, "").terms, (std::vector<Term>{present(kName)}));
}

TEST(GuardTerms, AreTheFewestThatEveryMatchCarriesOneOf) {
    using Terms = std::vector<Term>;
    EXPECT_EQ(guard_terms(carrying({4, 2})).terms, (Terms{2, 4}));
    EXPECT_EQ(
        guard_terms(all_of({carrying({1, 2, 3}), carrying({8}), begins_with(kName, "x")})).terms,
        (Terms{8}));
    EXPECT_EQ(guard_terms(any_of({all_of({carrying({1}), begins_with(kName, "x")}), carrying({5})}))
                  .terms,
              (Terms{1, 5}));
    EXPECT_EQ(guard_terms(any_of({carrying({1}), begins_with(kName, "x")})).terms, std::nullopt);
    EXPECT_EQ(guard_terms(negation_of(carrying({1}))).terms, std::nullopt);
    EXPECT_EQ(guard_terms(everything()).terms, std::nullopt);
    EXPECT_EQ(guard_terms(nothing()).terms, Terms());
    EXPECT_EQ(guard_terms(verified(carrying({6}), [](json::Value) { return true; })).terms,
              (Terms{6}));
}

TEST(GuardTerms, NameTheOtherTypesThatAPlanLooksAt) {
    const Plan plan =
        all_of({chain(kReference, TypeId{7}, has(kReference, TypeId{3}, everything())),
                negation_of(chain(kReference, TypeId{7}, carrying({1})))});
    EXPECT_EQ(guard_terms(plan).others, (std::vector<TypeId>{TypeId{3}, TypeId{7}}));
    EXPECT_EQ(guard_terms(plan).terms, std::nullopt);
    EXPECT_TRUE(guard_terms(carrying({1})).others.empty());
}

}  // namespace
}  // namespace annals::core::search
