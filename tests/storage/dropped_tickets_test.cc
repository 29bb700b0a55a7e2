#include "storage/dropped_tickets.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

constexpr std::uint64_t kMany = 1000;

TEST(DroppedTickets, KeepsOneRunOfWhatWasDroppedWithoutAPause) {
    DroppedTickets dropped;
    for (std::uint64_t t = 10; t < kMany; t += 2) {
        dropped.add({t}, {t + 1}, Errc::no_store);
    }
    EXPECT_EQ(dropped.runs(), 1U);
    EXPECT_FALSE(dropped.why({9}));
    EXPECT_TRUE(dropped.why({10}));
    EXPECT_TRUE(dropped.why({kMany - 1}));
    EXPECT_FALSE(dropped.why({kMany + 1}));
}

TEST(DroppedTickets, KeepsABoundedNumberAndNeverCallsADroppedOneStored) {
    DroppedTickets dropped;
    for (std::uint64_t t = 1; t < kMany; t += 3) {
        dropped.add({t}, {t + 1}, Errc::no_store);  // t + 2 was stored
    }
    EXPECT_EQ(dropped.runs(), DroppedTickets::kRunsMax);
    const std::uint64_t apart = 3 * (DroppedTickets::kRunsMax - 1);
    for (std::uint64_t t = 1; t < kMany; ++t) {
        const bool stored = t % 3 == 0;
        EXPECT_TRUE(stored || dropped.why({t})) << t;
        if (t + apart > kMany) {
            EXPECT_EQ(dropped.why({t}).has_value(), !stored) << t;
        }
    }
}

TEST(DroppedTickets, KnowsWhyEachWasDropped) {
    DroppedTickets dropped;
    EXPECT_TRUE(dropped.empty());
    dropped.add({1}, {2}, Errc::no_store);
    dropped.add({3}, {4}, Errc::io);
    EXPECT_FALSE(dropped.empty());
    EXPECT_EQ(dropped.why({2}), Errc::no_store);
    EXPECT_EQ(dropped.why({3}), Errc::io);
    EXPECT_FALSE(dropped.why({5}));
}

}  // namespace
}  // namespace annals::storage
