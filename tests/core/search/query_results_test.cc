// Parameters that say how what was found is shown: _sort, _count, _include and others.

#include "core/search/query.h"
#include "tests/core/search/corpus.h"

#include <gtest/gtest.h>

namespace annals::core::search {
namespace {

TEST(Query, ReadsResultParameters) {
    Corpus corpus;
    const auto query = corpus.parse(
        "Patient",
        "_sort=family,-_lastUpdated,_id&_count=10&_total=accurate&_summary=text&_contained=both"
        "&_containedType=contained&_format=json&_pretty=true&_cursor=abc");
    ASSERT_TRUE(query);
    ASSERT_EQ(query->sort.size(), 3U);
    EXPECT_EQ(query->sort[0].parameter->code, "family");
    EXPECT_FALSE(query->sort[0].descending);
    EXPECT_EQ(query->sort[1].parameter, nullptr);
    EXPECT_EQ(query->sort[1].code, "_lastUpdated");
    EXPECT_TRUE(query->sort[1].descending);
    EXPECT_EQ(query->sort[2].code, "_id");
    EXPECT_EQ(query->count, 10U);
    EXPECT_EQ(query->total, TotalMode::accurate);
    EXPECT_EQ(query->subset.summary, Summary::text);
    EXPECT_TRUE(query->contained);
    EXPECT_TRUE(query->containing);
    EXPECT_TRUE(query->contained_type);
    EXPECT_EQ(query->used.size(), 9U);

    EXPECT_FALSE(corpus.parse("Patient", "_contained=true")->containing);
    EXPECT_FALSE(corpus.parse("Patient", "_contained=false")->contained);
    EXPECT_EQ(corpus.parse("Patient", "_total=none")->total, TotalMode::none);
    EXPECT_EQ(corpus.parse("Patient", "_total=estimate")->total, TotalMode::estimate);
    EXPECT_EQ(corpus.parse("Patient", "_total=estimated")->total, TotalMode::estimate);
    EXPECT_EQ(corpus.parse("Patient", "_elements=name,birthDate")->subset.elements.size(), 2U);
    EXPECT_EQ(corpus.parse("Patient", "_count=99999999999999999999")->count, UINT64_MAX);
}

TEST(Query, CountsWithoutEntriesByCountZeroAndBySummary) {
    Corpus corpus;
    for (const char* text : {"_count=0", "_summary=count", "_summary=count&_count=7"}) {
        const auto query = corpus.parse("Patient", text);
        ASSERT_TRUE(query) << text;
        EXPECT_EQ(query->count, 0U) << text;
        EXPECT_EQ(query->subset.summary, Summary::count) << text;
    }
}

TEST(Query, ReadsIncludes) {
    Corpus corpus;
    const auto query = corpus.parse(
        "Observation",
        "_include=Observation:subject&_include=Observation:subject:Patient&_include=*"
        "&_include:iterate=Patient:*&_include:recurse=Organization:partof"
        "&_revinclude=Provenance:target&_revinclude:iterate=Provenance:target:Observation");
    ASSERT_TRUE(query);
    ASSERT_EQ(query->includes.size(), 7U);
    const auto type = [](const char* name) { return find_resource_type(name); };
    EXPECT_EQ(query->includes[0].source, type("Observation"));
    EXPECT_EQ(query->includes[0].parameter->code, "subject");
    EXPECT_EQ(query->includes[0].target, std::nullopt);
    EXPECT_FALSE(query->includes[0].reverse);
    EXPECT_EQ(query->includes[1].target, type("Patient"));
    EXPECT_EQ(query->includes[2].source, std::nullopt);
    EXPECT_EQ(query->includes[3].parameter, nullptr);
    EXPECT_EQ(query->includes[3].source, type("Patient"));
    EXPECT_TRUE(query->includes[3].iterate);
    EXPECT_TRUE(query->includes[4].iterate);
    EXPECT_TRUE(query->includes[5].reverse);
    EXPECT_EQ(query->includes[6].target, type("Observation"));
    EXPECT_TRUE(query->includes[6].iterate);
    EXPECT_EQ(query->used.size(), 7U);
}

TEST(Query, RefusesMalformedResultParameters) {
    Corpus corpus;
    std::string repeated = "_sort=_id";
    for (int i = 0; i < 20; ++i) {
        repeated += "&_sort=family";
    }
    std::string includes = "_include=*";
    for (int i = 0; i < 200; ++i) {
        includes += "&_include=*";
    }
    check(corpus, "Patient",
          {{"_count=-1", "invalid: _count: '-1' is not an integer of at least 0"},
           {"_count=1.5", "invalid: _count: '1.5' is not an integer of at least 0"},
           {"_count=1&_count=2", "invalid: _count: is given more than once"},
           {repeated.c_str(), "too-costly: _sort: more than 20 keys"},
           {"_total=some", "invalid: _total: 'some' is not one of none, estimate, accurate"},
           {"_contained=x", "invalid: _contained: 'x' is not one of true, false, both"},
           {"_containedType=x", "invalid: _containedType: 'x' is not one of container, contained"},
           {"_sort=_text", "invalid: _sort: sorting by '_text' is not supported"},
           {"_sort=near", "invalid: _sort: sorting by 'near' is not supported"},
           {"_sort=-", "invalid: _sort: the name of a search parameter is needed"},
           {"_sort:asc=name", "not-supported: _sort:asc: it has no modifiers"},
           {"_include=Patient",
            "invalid: _include: 'Patient' is not of the form Type:parameter[:Target]"},
           {"_include=Nothing:x", "invalid: _include: 'Nothing' is not a resource type"},
           {"_include=Patient:link:Nothing", "invalid: _include: 'Nothing' is not a resource type"},
           {"_include:exact=Patient:link",
            "not-supported: _include:exact: the modifier ':exact' is not supported"},
           {"_revinclude:=Patient:link",
            "not-supported: _revinclude:: the modifier ':' is not supported"},
           {"_count:=1", "not-supported: _count:: it has no modifiers"},
           {"_summary=true&_elements=id", "invalid: _summary and _elements cannot be combined"},
           {"_summary=text&_include=Patient:link",
            "invalid: _summary=text cannot be combined with _include or _revinclude"},
           {"_revinclude=Patient:link&_summary=text",
            "invalid: _summary=text cannot be combined with _include or _revinclude"},
           {includes.c_str(), "too-costly: more than 200 includes"},
           {"_cursor=a&_cursor=b", "invalid: _cursor: is given more than once"}});
    check(corpus, "Observation",
          {{"_sort=code-value-quantity",
            "invalid: _sort: sorting by 'code-value-quantity' is not supported"}});
}

TEST(Query, CountsKeysOfSortThatItDoesNotKnow) {
    Corpus corpus;
    std::string unknown = "_sort=unknown";
    for (int i = 1; i < 20; ++i) {
        unknown += "&_sort=unknown";
    }
    EXPECT_TRUE(corpus.parse("Patient", unknown));
    const auto refused = corpus.parse("Patient", unknown + "&_sort=family");
    ASSERT_FALSE(refused);
    EXPECT_EQ(Corpus::fault(refused.error()), "too-costly: _sort: more than 20 keys");
}

}  // namespace
}  // namespace annals::core::search
