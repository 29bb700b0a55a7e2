#include "storage/batch_target.h"

#include <gtest/gtest.h>

namespace annals::storage {
namespace {

using std::chrono::microseconds;

/// Closes batches of `commits` until the next but one waits for all again.
BatchTarget with(std::size_t commits, microseconds gathered, microseconds written) {
    BatchTarget target;
    for (int i = 0; i < 48; ++i) {
        target.closed(commits, gathered);
        target.written(written);
    }
    target.closed(commits, gathered);
    return target;
}

TEST(BatchTarget, LeavesToTheNextAsManyAsAreServedWhileOneIsWritten) {
    EXPECT_EQ(with(64, microseconds(2000), microseconds(250)).enough(), 56U);
}

TEST(BatchTarget, LeavesToTheNextAQuarterAndALittleAtMost) {
    EXPECT_EQ(with(64, microseconds(2000), microseconds(900)).enough(), 47U);
    EXPECT_EQ(with(64, microseconds(2000), microseconds(1900)).enough(), 47U);
}

TEST(BatchTarget, WaitsForAllWhereWritingTakesLong) {
    EXPECT_EQ(with(64, microseconds(2000), microseconds(2010)).enough(), 0U);
    EXPECT_EQ(with(64, microseconds(2000), microseconds(5000)).enough(), 0U);
}

TEST(BatchTarget, WaitsForAllWhereThereAreFew) {
    EXPECT_EQ(with(7, microseconds(2000), microseconds(500)).enough(), 0U);
    EXPECT_NE(with(8, microseconds(2000), microseconds(500)).enough(), 0U);
}

TEST(BatchTarget, WaitsForAllAgainAndAgain) {
    BatchTarget target = with(64, microseconds(2000), microseconds(500));
    int whole = 0;
    for (int i = 0; i < 160; ++i) {
        target.closed(target.enough() != 0 ? target.enough() : 20, microseconds(2000));
        whole += target.enough() == 0 ? 1 : 0;
    }
    EXPECT_EQ(whole, 10);
    // There are fewer by now.
    EXPECT_EQ(target.enough(), 15U);
}

}  // namespace
}  // namespace annals::storage
