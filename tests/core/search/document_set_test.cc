#include "core/search/document_set.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace annals::core::search {
namespace {

TEST(DocumentSet, HasARangeAndNothingBesideIt) {
    for (const std::uint32_t size : {1U, 63U, 64U, 65U, 127U, 128U, 129U, 191U}) {
        DocumentSet documents;
        documents.reset(size);
        documents.add_range(0, size);
        documents.seal();
        EXPECT_EQ(documents.size(), size);
        documents.complement();
        EXPECT_EQ(documents.size(), 0U) << size;
    }
}

}  // namespace
}  // namespace annals::core::search
