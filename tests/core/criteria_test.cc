#include "core/interactions/criteria.h"

#include "tests/core/bundle_fixture.h"

#include <algorithm>

namespace annals::core {
namespace {

TypeId patient_type() {
    static const TypeId type = *find_resource_type("Patient");
    return type;
}

Criteria parsed(std::string_view query) {
    auto criteria = parse_criteria(patient_type(), query);
    EXPECT_TRUE(criteria.has_value()) << query;
    return criteria ? *criteria : Criteria{};
}

bool matches(std::string_view query, std::string_view resource) {
    const Json body(resource);
    return matches_criteria(parsed(query), "1", body.root());
}

constexpr std::string_view kTwoIdentifiers =
    R"({"resourceType":"Patient","identifier":[{"system":"urn:a","value":"x|y"},{"value":"p,q"}]})";

TEST(Criteria, ReadsAnIdentifierWithAndWithoutASystem) {
    EXPECT_EQ(parsed("identifier=x").all[0].identifiers[0], (IdentifierToken{std::nullopt, "x"}));
    EXPECT_EQ(parsed("identifier=urn:a%7Cx").all[0].identifiers[0],
              (IdentifierToken{"urn:a", "x"}));
    EXPECT_EQ(parsed("identifier=|x").all[0].identifiers[0], (IdentifierToken{"", "x"}));
}

TEST(Criteria, TakesACommaForOr) {
    EXPECT_EQ(parsed("identifier=x,urn:a|y").all[0].identifiers.size(), 2U);
    EXPECT_EQ(parsed("_id=1,2").all[0].ids, (std::vector<std::string>{"1", "2"}));
}

TEST(Criteria, ResolvesFhirsEscapes) {
    EXPECT_EQ(parsed(R"(identifier=a\,b\|c\$d\\e)").all[0].identifiers[0].value, R"(a,b|c$d\e)");
    EXPECT_FALSE(parse_criteria(patient_type(), R"(identifier=a\b)").has_value());
    EXPECT_FALSE(parse_criteria(patient_type(), R"(identifier=a\)").has_value());
}

TEST(Criteria, NamesTheParameterThatItDoesNotTake) {
    for (const std::string_view query : {"name=x", "identifier:not=x", "_lastUpdated=gt2020"}) {
        const auto criteria = parse_criteria(patient_type(), query);
        ASSERT_FALSE(criteria.has_value());
        EXPECT_EQ(criteria.error().code, Errc::invalid);
        EXPECT_NE(criteria.error().detail.find(query.substr(0, query.find('='))),
                  std::string::npos);
    }
}

TEST(Criteria, RefusesWhatWouldMatchEverything) {
    for (const std::string_view query :
         {"", "&", "_format=json", "identifier=", "identifier=urn:a|", "identifier=x,",
          "_id=", "_id=a_b", "identifier=a|b|c"}) {
        EXPECT_FALSE(parse_criteria(patient_type(), query).has_value()) << query;
    }
}

TEST(Criteria, PassesOverParametersThatAreAboutTheAnswer) {
    EXPECT_EQ(parsed("_format=json&_id=1&_pretty=true").all.size(), 1U);
}

TEST(Criteria, ReadsIfNoneExistInEveryForm) {
    for (const std::string_view text :
         {"identifier=x?y", "?identifier=x?y", "Patient?identifier=x?y",
          "http://a/fhir/Patient?identifier=x?y", "Patient/?identifier=x?y"}) {
        const auto criteria = parse_if_none_exist(patient_type(), text);
        ASSERT_TRUE(criteria.has_value()) << text;
        EXPECT_EQ(criteria->all[0].identifiers[0].value, "x?y");
    }
    EXPECT_FALSE(parse_if_none_exist(patient_type(), "Group?identifier=x").has_value());
    EXPECT_FALSE(parse_if_none_exist(patient_type(), "").has_value());
}

TEST(Criteria, KnowsAConditionalReference) {
    EXPECT_TRUE(is_conditional_reference("Patient?identifier=x"));
    EXPECT_FALSE(is_conditional_reference("Patient/1"));
    EXPECT_FALSE(is_conditional_reference("urn:uuid:1?x"));
    EXPECT_FALSE(is_conditional_reference("Nothing?identifier=x"));
}

TEST(Criteria, MatchesByValueAndSystem) {
    EXPECT_TRUE(matches(R"(identifier=x\|y)", kTwoIdentifiers));
    EXPECT_TRUE(matches(R"(identifier=urn:a|x\|y)", kTwoIdentifiers));
    EXPECT_FALSE(matches(R"(identifier=urn:b|x\|y)", kTwoIdentifiers));
    EXPECT_FALSE(matches(R"(identifier=|x\|y)", kTwoIdentifiers));
    EXPECT_TRUE(matches(R"(identifier=|p\,q)", kTwoIdentifiers));
    EXPECT_FALSE(matches("identifier=p", kTwoIdentifiers));
    EXPECT_TRUE(matches(R"(identifier=none,p\,q)", kTwoIdentifiers));
}

TEST(Criteria, NeedsEveryParameterToMatch) {
    EXPECT_TRUE(matches(R"(_id=1&identifier=p\,q)", kTwoIdentifiers));
    EXPECT_FALSE(matches(R"(_id=2&identifier=p\,q)", kTwoIdentifiers));
}

TEST(Criteria, FindsLiveResourcesOnly) {
    TestService server;
    const std::string body = patient("", R"("identifier":[{"value":"x"}])");
    EXPECT_EQ(server.put("/Patient/1", patient("1", R"("identifier":[{"value":"x"}])")).status,
              201);
    EXPECT_EQ(server.put("/Patient/2", patient("2", R"("identifier":[{"value":"x"}])")).status,
              201);
    EXPECT_EQ(server.put("/Patient/2", patient("2")).status, 200);
    EXPECT_EQ(server.put("/Patient/3", patient("3", R"("identifier":[{"value":"x"}])")).status,
              201);
    EXPECT_EQ(server.send({HttpMethod::delete_, "/Patient/3"}).status, 204);

    auto found = find_matches(server.store(), parsed("identifier=x"));
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->found.size(), 1U);
    EXPECT_EQ(found->found[0].id, "1");
    EXPECT_EQ(found->guards.size(), 1U);

    found = find_matches(server.store(), parsed("_id=1,2,3,4"));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->found.size(), 2U);
}

TEST(Criteria, LetExactlyOneOfManyConditionalCreatesCreate) {
    TestService server;
    const Sent create{HttpMethod::post,
                      "/Patient",
                      {},
                      patient("", R"("identifier":[{"system":"urn:a","value":"x"}])"),
                      {{"If-None-Exist", "identifier=urn:a|x"}}};
    const auto answers = server.send_all(std::vector<Sent>(64, create));
    const auto created = std::count_if(answers.begin(), answers.end(),
                                       [](const Answer& answer) { return answer.status == 201; });
    const auto found = std::count_if(answers.begin(), answers.end(),
                                     [](const Answer& answer) { return answer.status == 200; });
    EXPECT_EQ(created, 1);
    EXPECT_EQ(found, 63);
    EXPECT_EQ(server.store().totals(patient_type()).live, 1U);
}

}  // namespace
}  // namespace annals::core
