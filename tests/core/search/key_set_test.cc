#include "core/search/resolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

namespace annals::core::search {
namespace {

TEST(KeySet, HasEachKeyOnceHoweverOftenItWasAdded) {
    KeySet few;
    KeySet many;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        few.add(i % 7);
        many.add(i % 60'000);
    }
    few.seal(Pace());
    many.seal(Pace());
    EXPECT_EQ(few.size(), 7U);
    EXPECT_EQ(many.size(), 60'000U);
    for (const std::uint64_t key : {0U, 6U, 59'999U, 60'000U}) {
        EXPECT_EQ(few.contains(key), key < 7) << key;
        EXPECT_EQ(many.contains(key), key < 60'000) << key;
    }
}

TEST(KeySet, SealsVeryManyInTurns) {
    std::mt19937_64 random{7};
    std::vector<std::uint64_t> keys{0, UINT64_MAX};
    for (int i = 0; i < 200'000; ++i) {
        keys.push_back(random());
    }
    KeySet set;
    for (int i = 0; i < 3; ++i) {
        std::ranges::shuffle(keys, random);
        for (const std::uint64_t key : keys) {
            set.add(key);
        }
    }
    const Pace pace{std::chrono::microseconds(1)};  // each turn is over before it begins
    int turns = 1;
    while (!set.seal(pace)) {
        ++turns;
    }
    EXPECT_GT(turns, 100);
    std::ranges::sort(keys);
    EXPECT_EQ(set.keys(), keys);
    for (int i = 0; i < 1'000; ++i) {
        const std::uint64_t key = keys[random() % keys.size()];
        EXPECT_TRUE(set.contains(key));
        EXPECT_EQ(set.contains(key + 1), std::ranges::binary_search(keys, key + 1));
        EXPECT_FALSE(set.contains(random()));
    }
    EXPECT_TRUE(set.contains(0));
    EXPECT_TRUE(set.contains(UINT64_MAX));
    EXPECT_FALSE(set.contains(1));
}

}  // namespace
}  // namespace annals::core::search
