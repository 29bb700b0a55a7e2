#include "core/subscriptions/pings.h"

#include <gtest/gtest.h>

namespace annals::core {
namespace {

class CountingListener final : public Pings::Listener {
  public:
    void pinged() noexcept override { ++times; }

    int times = 0;
};

TEST(Pings, AreToldOnceToEachListenerUntilItIsRemoved) {
    Pings pings;
    CountingListener stays;
    CountingListener goes;
    pings.add(stays);
    pings.add(goes);
    const auto counter = pings.bind("s");
    pings.tell();
    EXPECT_EQ(stays.times, 0) << "there was none";
    pings.ping("s");
    pings.ping("s");
    EXPECT_EQ(*counter, 2U);
    EXPECT_EQ(stays.times, 0);
    pings.tell();
    pings.tell();
    EXPECT_EQ(stays.times, 1);
    EXPECT_EQ(goes.times, 1);
    pings.remove(goes);
    pings.ping("s");
    pings.tell();
    EXPECT_EQ(stays.times, 2);
    EXPECT_EQ(goes.times, 1);
}

TEST(Pings, CountOnlyForWhatIsBound) {
    Pings pings;
    CountingListener listener;
    pings.add(listener);
    auto counter = pings.bind("s");
    EXPECT_EQ(pings.bind("s"), counter);
    EXPECT_TRUE(pings.is_bound("s"));
    EXPECT_FALSE(pings.is_bound("t"));
    counter.reset();
    EXPECT_FALSE(pings.is_bound("s"));
    pings.ping("s");
    pings.ping("t");
    pings.tell();
    EXPECT_EQ(listener.times, 0);
    EXPECT_EQ(*pings.bind("s"), 0U);
}

}  // namespace
}  // namespace annals::core
