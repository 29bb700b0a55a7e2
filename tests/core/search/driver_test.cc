// Which condition drives a walk.

#include "core/search/driver.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace annals::core::search {
namespace {

constexpr double kSize = 100'000;
constexpr std::uint32_t kCollectedMax = 1'000'000;

// A condition of `count` terms, or of intervals, that `estimate` documents pass.
BoundPlan condition(BoundPlan::Kind kind, std::uint32_t estimate, std::size_t count = 1) {
    BoundPlan made;
    made.kind = kind;
    made.estimate = estimate;
    made.work = estimate;
    if (kind == BoundPlan::Kind::postings) {
        made.postings.resize(count);
    } else if (kind == BoundPlan::Kind::any_of) {
        made.parts.resize(count);
    }
    return made;
}

std::optional<std::size_t> driver(std::vector<const BoundPlan*> parts, double needed) {
    return best_driver(parts, kSize, 1, needed, kCollectedMax);
}

TEST(Driver, IsTheConditionOfManyPartsRatherThanTestedForManyDocuments) {
    const BoundPlan code = condition(BoundPlan::Kind::postings, 12'000);
    const BoundPlan date = condition(BoundPlan::Kind::interval, 20'000);
    const BoundPlan dates = condition(BoundPlan::Kind::any_of, 20'000, 100);
    EXPECT_EQ(driver({&code, &date}, 21), 0U);
    EXPECT_EQ(driver({&code, &dates}, 21), 1U);
    EXPECT_EQ(driver({&dates}, kSize), 0U);
}

TEST(Driver, IsNotCollectedIfThatWouldTakeTooLong) {
    BoundPlan rare = condition(BoundPlan::Kind::any_of, 1, 100);
    const BoundPlan common = condition(BoundPlan::Kind::postings, 90'000);
    rare.work = kCollectedMax;
    EXPECT_EQ(driver({&rare, &common}, kSize), 0U);
    rare.work = kCollectedMax + 1;
    EXPECT_EQ(driver({&rare, &common}, kSize), 1U);
    EXPECT_EQ(driver({&rare}, kSize), std::nullopt);
}

}  // namespace
}  // namespace annals::core::search
