#include "core/base/text_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace annals {
namespace {

// libstdc++'s hash of a text is MurmurHash64A with a fixed seed. Each of its steps can be undone, so the last eight bytes can be
// computed that lead to any hash.
constexpr std::uint64_t kFactor = 0xc6a4'a793'5bd1'e995;

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
    std::uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) {
        inverse *= 2 - odd * inverse;
    }
    return inverse;
}

std::uint64_t shifted(std::uint64_t value) {
    return value ^ (value >> 47);
}

std::vector<std::string> colliding_texts(std::size_t count) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
        constexpr std::uint64_t kInverse = inverse_of(kFactor);
        std::uint64_t hash = 0xc70f'6907 ^ 16 * kFactor;
        hash = (hash ^ shifted(i * kFactor) * kFactor) * kFactor;
        // XORed with this, it becomes the same number for all.
        const std::uint64_t last = shifted((hash ^ 0x1234'5678) * kInverse) * kInverse;
        std::string text(16, '\0');
        std::memcpy(text.data(), &i, 8);
        std::memcpy(text.data() + 8, &last, 8);
        texts.push_back(std::move(text));
    }
    return texts;
}

std::size_t most_in_a_bucket(const auto& table) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < table.bucket_count(); ++i) {
        most = std::max(most, table.bucket_size(i));
    }
    return most;
}

TEST(TextMap, IsNotFloodedByTextsThatCollideWithoutASeed) {
    const std::vector<std::string> texts = colliding_texts(1000);
    ASSERT_EQ(most_in_a_bucket(std::unordered_set<std::string>(texts.begin(), texts.end())), 1000U)
        << "the texts don't collide";
    TextMap<int> map;
    TextMultimap<int> multimap;
    TextSet<> set;
    for (const std::string& text : texts) {
        map.emplace(text, 1);
        multimap.emplace(text, 1);
        set.insert(text);
    }
    EXPECT_LT(most_in_a_bucket(map), 20U);
    EXPECT_LT(most_in_a_bucket(multimap), 20U);
    EXPECT_LT(most_in_a_bucket(set), 20U);
}

TEST(TextMap, IsNotFloodedByNumbersWithACommonFactor) {
    std::unordered_set<std::uint64_t, SeededHash> set;
    set.reserve(5000);
    for (std::uint64_t i = 0; i < 5000; ++i) {
        set.insert(i * set.bucket_count());
    }
    EXPECT_LT(most_in_a_bucket(set), 20U);
}

TEST(TextMap, FindsTextsWithoutACopy) {
    const TextMap<int> map{{"a", 1}};
    EXPECT_TRUE(map.contains(std::string_view("a")));
    EXPECT_FALSE(map.contains(std::string_view("b")));
}

// Otherwise the texts of a bucket are hashed each time it is walked.
static_assert(std::__cache_default<std::string, SeededHash>::value);

}  // namespace
}  // namespace annals
