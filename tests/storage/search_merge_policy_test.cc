#include "storage/search_merge_policy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace annals::storage {
namespace {

using Sizes = std::vector<std::uint32_t>;

std::optional<std::pair<std::size_t, std::size_t>> pick(const MergePolicy& policy,
                                                        const Sizes& sizes) {
    const auto window = policy.pick(sizes);
    return window ? std::optional(std::pair(window->first, window->count)) : std::nullopt;
}

TEST(MergePolicy, WaitsUntilNeighboursReachTheNextTier) {
    const MergePolicy policy{.fan_in = 4, .documents_max = 1000};
    EXPECT_EQ(pick(policy, {}), std::nullopt);
    EXPECT_EQ(pick(policy, {900}), std::nullopt);
    EXPECT_EQ(pick(policy, {1, 1, 1}), std::nullopt);
    EXPECT_EQ(pick(policy, {1, 1, 1, 1}), std::pair(0UL, 4UL));
    EXPECT_EQ(pick(policy, {3, 1}), std::pair(0UL, 2UL));
    EXPECT_EQ(pick(policy, {20, 1, 2}), std::nullopt);
    EXPECT_EQ(pick(policy, {20, 1, 2, 1}), std::pair(1UL, 3UL));
    EXPECT_EQ(pick(policy, {20, 1, 1, 20, 1, 1}), std::nullopt);
    EXPECT_EQ(pick(policy, {20, 1, 1, 20, 1, 1, 21}), std::pair(0UL, 7UL));
}

TEST(MergePolicy, MergesTheSmallestFirst) {
    const MergePolicy policy{.fan_in = 4, .documents_max = 1000};
    EXPECT_EQ(pick(policy, {20, 20, 20, 20, 1, 1, 1, 1}), std::pair(4UL, 4UL));
}

TEST(MergePolicy, LeavesFullRunsAlone) {
    const MergePolicy policy{.fan_in = 4, .documents_max = 100};
    EXPECT_EQ(pick(policy, {51, 60, 90, 99, 100}), std::nullopt);
    EXPECT_EQ(pick(policy, {40, 40, 40, 40}), std::pair(0UL, 2UL));
    EXPECT_EQ(pick(policy, {20, 20, 51, 20, 20}), std::nullopt);
}

TEST(MergePolicy, MergesTheLeastWhereThereAreTooMany) {
    const MergePolicy policy{.fan_in = 3, .documents_max = 1000, .runs_max = 6};
    EXPECT_EQ(pick(policy, {250, 30, 1, 250, 1, 27, 1}), std::pair(4UL, 3UL));
    const MergePolicy none{.fan_in = 3, .documents_max = 20, .runs_max = 3};
    EXPECT_EQ(pick(none, {30, 30, 30, 30}), std::nullopt);
}

TEST(MergePolicy, KeepsRunsFewAndMergesEachDocumentOnceATier) {
    const MergePolicy policy{.fan_in = 8, .documents_max = 1 << 22};
    std::mt19937_64 random(1);
    for (const std::uint32_t largest : {1U, 30U, 64U, 300U}) {
        Sizes sizes;
        std::uint64_t documents = 0;
        std::uint64_t merged = 0;
        std::size_t most = 0;
        for (int i = 0; i < 20'000; ++i) {
            sizes.push_back(static_cast<std::uint32_t>(1 + random() % largest));
            documents += sizes.back();
            const bool due = policy.is_due(sizes);
            ASSERT_EQ(due, policy.pick(sizes).has_value());
            while (const auto window = policy.pick(sizes)) {
                const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(window->first);
                const auto last = first + static_cast<std::ptrdiff_t>(window->count);
                const std::uint32_t sum = std::accumulate(first, last, 0U);
                merged += sum;
                *first = sum;
                sizes.erase(first + 1, last);
            }
            most = std::max(most, sizes.size());
        }
        std::uint64_t tiers = 0;
        for (std::uint64_t left = documents; left >= policy.fan_in; left /= policy.fan_in) {
            ++tiers;
        }
        EXPECT_LE(most, 40U) << largest;
        EXPECT_LE(merged, documents * tiers) << largest;
    }
}

}  // namespace
}  // namespace annals::storage
