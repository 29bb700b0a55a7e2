#include "storage/heads_in_flight.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

Hash128 nth_key(std::uint64_t number) {
    return {.low = number, .high = ~number};
}

TEST(HeadsInFlight, StayUntilTheNewestOfTheirCommitsHasLanded) {
    HeadsInFlight heads;
    EXPECT_EQ(heads.find(nth_key(1)), nullptr);
    heads.at(nth_key(1)).head.ticket = {7};
    heads.at(nth_key(1)).head.ticket = {8};
    heads.land(nth_key(1), {7});
    ASSERT_NE(heads.find(nth_key(1)), nullptr);
    EXPECT_EQ(heads.find(nth_key(1))->head.ticket, Ticket{8});
    heads.land(nth_key(1), {8});
    EXPECT_EQ(heads.find(nth_key(1)), nullptr);
    heads.land(nth_key(1), {8});
}

TEST(HeadsInFlight, KnowNothingOfThoseWhoseMemoryTheyHave) {
    HeadsInFlight heads;
    for (std::uint64_t i = 1; i <= HeadsInFlight::kSparesMax + 1; ++i) {
        HeadsInFlight::Entry& entry = heads.at(nth_key(i));
        entry.head.exists = true;
        entry.head.version = {i};
        entry.head.ticket = {i};
        entry.erased = true;
    }
    for (std::uint64_t i = 1; i <= HeadsInFlight::kSparesMax + 1; ++i) {
        heads.land(nth_key(i), {i});
    }
    const HeadsInFlight::Entry& entry = heads.at(nth_key(2));
    EXPECT_FALSE(entry.erased);
    EXPECT_FALSE(entry.head.exists);
    EXPECT_EQ(entry.head.version.value, 0U);
    EXPECT_EQ(entry.head.ticket, Ticket{});
    EXPECT_EQ(heads.find(nth_key(1)), nullptr);
    heads.at(nth_key(2)).erased = true;
    EXPECT_TRUE(heads.find(nth_key(2))->erased);
    heads.clear();
    EXPECT_EQ(heads.find(nth_key(2)), nullptr);
}

}  // namespace
}  // namespace annals::storage
