#include "storage/dropped_tickets.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

constexpr std::uint64_t kMany = 1000;

TEST(DroppedTickets, KeepsOneRunOfWhatWasDroppedWithoutAPause) {
    DroppedTickets dropped;
    for (std::uint64_t t = 10; t < kMany; t += 2) {
        dropped.add({t}, {t + 1});
    }
    EXPECT_EQ(dropped.runs(), 1U);
    EXPECT_FALSE(dropped.contains({9}));
    EXPECT_TRUE(dropped.contains({10}));
    EXPECT_TRUE(dropped.contains({kMany - 1}));
    EXPECT_FALSE(dropped.contains({kMany + 1}));
}

TEST(DroppedTickets, KeepsABoundedNumberAndNeverCallsADroppedOneStored) {
    DroppedTickets dropped;
    for (std::uint64_t t = 1; t < kMany; t += 3) {
        dropped.add({t}, {t + 1});  // t + 2 was stored.
    }
    EXPECT_EQ(dropped.runs(), DroppedTickets::kRunsMax);
    const std::uint64_t apart = 3 * (DroppedTickets::kRunsMax - 1);
    for (std::uint64_t t = 1; t < kMany; ++t) {
        const bool stored = t % 3 == 0;
        EXPECT_TRUE(stored || dropped.contains({t})) << t;
        if (t + apart > kMany) {
            EXPECT_EQ(dropped.contains({t}), !stored) << t;
        }
    }
}

}  // namespace
}  // namespace annals::storage
