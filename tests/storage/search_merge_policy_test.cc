#include "storage/search_merge_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace annals::storage {
namespace {

using Sizes = std::vector<std::uint32_t>;

std::optional<std::pair<std::size_t, std::size_t>> pick(const MergePolicy& policy,
                                                        const Sizes& sizes) {
    const auto window = policy.pick(sizes);
    return window ? std::optional(std::pair(window->first, window->count)) : std::nullopt;
}

TEST(MergePolicy, WaitsForTheLastOfATier) {
    const MergePolicy policy{.fan_in = 4, .documents_max = 1000};
    EXPECT_EQ(pick(policy, {}), std::nullopt);
    EXPECT_EQ(pick(policy, {1, 1, 1}), std::nullopt);
    EXPECT_EQ(pick(policy, {1, 1, 1, 1}), std::pair(0UL, 4UL));
    EXPECT_EQ(pick(policy, {20, 1, 2, 3}), std::nullopt);
    EXPECT_EQ(pick(policy, {20, 1, 2, 3, 1}), std::pair(1UL, 4UL));
    EXPECT_EQ(pick(policy, {20, 1, 1, 20, 1, 1}), std::nullopt);
}

TEST(MergePolicy, TakesWhatIsSmallerInBetweenButNotBeside) {
    const MergePolicy policy{.fan_in = 4, .documents_max = 1000};
    EXPECT_EQ(pick(policy, {1, 20, 1, 20, 20, 1, 20, 1, 1}), std::pair(1UL, 6UL));
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
    EXPECT_EQ(pick(policy, {300, 30, 1, 300, 4, 1, 90}), std::pair(4UL, 3UL));
    const MergePolicy none{.fan_in = 3, .documents_max = 20, .runs_max = 3};
    EXPECT_EQ(pick(none, {30, 30, 30, 30}), std::nullopt);
}

}  // namespace
}  // namespace annals::storage
