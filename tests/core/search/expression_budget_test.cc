// How much the expressions of one's own search parameters may take on one resource.

#include "core/search/container.h"
#include "core/search/parameter_values.h"
#include "tests/core/search/extract_fixture.h"
#include "tests/core/search/search_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {
namespace {

/// On a resource of kMany, as many steps as an expression may take at most. On a small one it finds the families.
constexpr std::string_view kCostly =
    "Patient.name.where(%resource.descendants().where(%resource.name.exists()).exists()).family";
/// More than a path, but cheap.
constexpr std::string_view kCheap = "Patient.name.family.first()";
constexpr int kMany = 2000;  // names

std::string patient(int names) {
    std::string text = R"({"resourceType":"Patient","id":"p","name":[{"family":"a"})";
    for (int i = 1; i < names; ++i) {
        text += R"(,{"family":"a"})";
    }
    return text + "]}";
}

/// Costly parameters c0, c1, ... and the cheap `z`, which comes after them.
std::shared_ptr<const ParameterSet> costly_parameters(int count) {
    json::Parser parser;
    std::vector<json::Document> documents;
    const auto add = [&](const std::string& code, std::string_view expression) {
        documents.push_back(*parser.parse(fmt::format(
            R"({{"resourceType":"SearchParameter","id":"{0}","status":"active","url":"http://{0}","code":"{0}","base":["Patient"],"type":"string","expression":"{1}"}})",
            code, expression)));
    };
    for (int i = 0; i < count; ++i) {
        add(fmt::format("c{}", i), kCostly);
    }
    add("z", kCheap);
    std::vector<json::Value> resources;
    for (const json::Document& document : documents) {
        resources.push_back(document.root());
    }
    std::vector<Error> faults;
    auto set = ParameterSet::with(resources, {}, &faults);
    EXPECT_TRUE(faults.empty()) << faults[0].detail;
    return set;
}

TEST(ExpressionBudget, IsOfAllParametersOnAResource) {
    EXPECT_TRUE(Found(patient(1), costly_parameters(10)).is_present("c9"));
    for (const auto& [costly, is_found] : {std::pair{3, true}, std::pair{4, false}}) {
        const Found found(patient(kMany), costly_parameters(costly));
        EXPECT_FALSE(found.is_present("c0"));
        EXPECT_EQ(found.is_present("z"), is_found) << costly;
        EXPECT_TRUE(found.is_present("family"));  // a path
    }
}

TEST(ExpressionBudget, IsOfEachResource) {
    Found many(patient(kMany), costly_parameters(4));
    ASSERT_FALSE(many.is_present("z"));
    json::Parser parser;
    const auto one = parser.parse(patient(1));
    storage::SearchEntries entries;
    many.extractor().extract(test::type_of("Patient"), one->root(), entries);
    EXPECT_TRUE(std::ranges::binary_search(entries.terms, present(column_of("z"))));
}

TEST(ExpressionBudget, IsSharedByAllThatAResourceContains) {
    Found found(patient(kMany), costly_parameters(1));
    Container container(found.resource());
    for (int i = 0; i < 4; ++i) {
        storage::SearchEntries entries;
        found.extractor().extract(test::type_of("Patient"), found.resource(), entries, &container);
        EXPECT_EQ(std::ranges::binary_search(entries.terms, present(column_of("z"))), i < 3) << i;
    }
}

}  // namespace
}  // namespace annals::core::search

namespace annals::test {
namespace {

TEST_F(Search, IncludesNothingByExpressionsForWhichTooFewStepsAreLeft) {
    constexpr std::string_view kCostly =
        "Group.member.where(%resource.descendants().where(%resource.member.exists()).exists())."
        "entity";
    const auto put_parameter = [&](const std::string& code, std::string_view expression) {
        put("SearchParameter", code,
            fmt::format(
                R"("url":"http://p/{0}","name":"n","status":"active","description":"d","code":"{0}","base":["Group"],"type":"reference","expression":"{1}")",
                code, expression));
    };
    std::string includes;
    for (int i = 0; i < 4; ++i) {
        put_parameter(fmt::format("c{}", i), kCostly);
    }
    put_parameter("z", "Group.member.entity.first()");
    put("Patient", "p", "");
    std::string members;
    for (int i = 0; i < 2000; ++i) {
        members += R"({"entity":{"reference":"Patient/p"}},)";
    }
    members.pop_back();
    put("Group", "g", fmt::format(R"("type":"person","actual":true,"member":[{}])", members));
    service().indexing().wait_until_idle();
    const std::string three = "/Group?_include=Group:c0&_include=Group:c1&_include=Group:c2";
    EXPECT_EQ(get(three + "&_include=Group:z").included, Names{"Patient/p"});
    EXPECT_EQ(get(three + "&_include=Group:c3&_include=Group:z").included, Names{});
}

}  // namespace
}  // namespace annals::test
