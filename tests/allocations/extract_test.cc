// The memory that extraction keeps.

#include "core/search/extract.h"

#include "codec/json/document.h"
#include "tests/allocations/counted_heap.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

TEST(ExtractAllocations, ForManyContainedResourcesAreGivenBack) {
    const std::string link = R"(,"link":[{"other":{"reference":"#x"}}]})";
    std::string many = R"({"resourceType":"Patient","contained":[{"id":"a"})";
    for (int i = 0; i < 100'000; ++i) {
        many += R"(,{"id":"a"})";
    }
    const auto large = json::Parser().parse(many + "]" + link);
    const auto small = json::Parser().parse(R"({"resourceType":"Patient")" + link);
    ASSERT_TRUE(large && small);
    Extractor extractor(ParameterSet::standard(), 1, "");
    storage::SearchEntries entries;
    const TypeId patient = test::type_of("Patient");
    extractor.extract(patient, small->root(), entries);
    const auto before = test::held_bytes.load();
    extractor.extract(patient, large->root(), entries);
    extractor.extract(patient, small->root(), entries);
    EXPECT_LT(test::held_bytes.load(), before + (100 << 10));
}

}  // namespace
}  // namespace annals::core::search
