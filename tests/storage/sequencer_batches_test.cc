// When the log writer gets the commits gathered.

#include "storage/sequencer.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using Status = Submission::Status;

class SequencerBatches : public testing::Test {
  protected:
    void submit(int count) {
        for (int i = 0; i < count; ++i) {
            CommitBuilder builder;
            builder.put("Patient", std::to_string(++last_id_), "x");
            ASSERT_EQ(sequencer_.submit(builder.commit()).status, Status::accepted);
        }
    }

    /// How many commits the writer gets without waiting; 0: it would have to wait.
    std::size_t take_now() {
        const auto taken = sequencer_.take(batch_, Sequencer::Clock::time_point());
        return taken == Sequencer::Taken::batch ? batch_.frames.size() : 0;
    }

    /// Flushes, takes and releases whatever there is.
    void write_all() {
        sequencer_.flush();
        ASSERT_NE(take_now(), 0U);
        release();
    }

    /// Two commits are written; a third, flushed by an idle loop in the meantime, is left.
    void write_two_and_gather_one() {
        submit(2);
        sequencer_.flush();
        ASSERT_EQ(take_now(), 2U);
        submit(1);
        sequencer_.flush_idle();
        release();
    }

    void release() { sequencer_.release(batch_, 0, batch_.frames.size()); }

    Index index_;
    Sequencer sequencer_{index_, Sequencer::Start(), [] { return Instant{}; }};
    Batch batch_;
    int last_id_ = 0;
};

TEST_F(SequencerBatches, AreTakenWhenFlushed) {
    submit(3);
    EXPECT_EQ(take_now(), 0U);
    sequencer_.flush();
    EXPECT_EQ(take_now(), 3U);
}

TEST_F(SequencerBatches, AreTakenAtOnceFromAnIdleLoopWhileNothingIsWritten) {
    submit(1);
    sequencer_.flush_idle();
    EXPECT_EQ(take_now(), 1U);
}

TEST_F(SequencerBatches, WaitForThoseWhoAreToldOfTheOneBeingWritten) {
    write_two_and_gather_one();
    EXPECT_EQ(take_now(), 0U);
    submit(2);
    sequencer_.flush_idle();
    EXPECT_EQ(take_now(), 3U);
}

TEST_F(SequencerBatches, DoNotWaitLongForThem) {
    write_two_and_gather_one();
    EXPECT_EQ(sequencer_.take(batch_, {}), Sequencer::Taken::batch);
    EXPECT_EQ(batch_.frames.size(), 1U);
}

TEST_F(SequencerBatches, DoNotWaitForABatchThatWasDropped) {
    submit(2);
    sequencer_.flush();
    ASSERT_EQ(take_now(), 2U);
    sequencer_.drop(WriteState::ready);
    submit(1);
    sequencer_.flush_idle();
    EXPECT_EQ(take_now(), 1U);
}

TEST_F(SequencerBatches, HaveNothingOfWhatWasGatheredWhenOneWasDropped) {
    submit(1);
    sequencer_.flush();
    ASSERT_EQ(take_now(), 1U);
    submit(1);
    sequencer_.flush();
    sequencer_.drop(WriteState::ready);
    EXPECT_EQ(sequencer_.unsettled_bytes(), 0U);
    EXPECT_EQ(take_now(), 0U);
    submit(1);
    sequencer_.flush();
    ASSERT_EQ(take_now(), 1U);
    EXPECT_EQ(batch_.frames[0].first_position, Position{1});
}

TEST_F(SequencerBatches, TryAFullDeviceOnceInAWhile) {
    using Clock = Sequencer::Clock;
    const auto put = [&](std::string_view id) {
        CommitBuilder builder;
        builder.put("Patient", id, "x");
        return sequencer_.submit(builder.commit()).status;
    };
    const auto expect_refused_for_a_while = [&](Clock::time_point since) {
        const auto until = sequencer_.next_probe();
        ASSERT_TRUE(until);
        EXPECT_GE(*until, since + Sequencer::kProbeInterval);
        const Status status = put("early");
        if (Clock::now() < *until) {
            EXPECT_EQ(status, Status::no_space);
        }
    };
    Clock::time_point before = Clock::now();
    sequencer_.drop(WriteState::no_space);
    expect_refused_for_a_while(before);
    std::this_thread::sleep_until(*sequencer_.next_probe());
    before = Clock::now();
    EXPECT_EQ(put("a"), Status::accepted) << "it tries the device";
    expect_refused_for_a_while(before);
}

TEST_F(SequencerBatches, ThatWereHugeLeaveNoMemoryBehind) {
    CommitBuilder builder;
    builder.put("Patient", "huge", std::string(40 << 20, 'x'));
    ASSERT_EQ(sequencer_.submit(builder.commit()).status, Status::accepted);
    write_all();
    EXPECT_GT(batch_.bytes.capacity(), 40U << 20);
    EXPECT_EQ(take_now(), 0U);
    EXPECT_LT(batch_.bytes.capacity(), 1U << 20);
}

TEST_F(SequencerBatches, AreTakenFromABusyLoopOnceTheyAreOld) {
    submit(1);
    sequencer_.flush_older(std::chrono::hours(1));
    EXPECT_EQ(take_now(), 0U);
    sequencer_.flush_older(std::chrono::milliseconds(0));
    EXPECT_EQ(take_now(), 1U);
}

}  // namespace
}  // namespace annals::storage
