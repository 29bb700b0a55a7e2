// What the store decides about a commit before it is durable.

#include "storage/sequencer.h"

#include "core/base/limits.h"
#include "tests/storage/sequencer_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::SimFileSystem;
using test::type_of;
using Status = Submission::Status;

TEST_F(SequencerTest, NumbersVersionsOfCommitsThatAreNotDurableYet) {
    for (std::uint64_t v = 1; v <= 5; ++v) {
        ASSERT_EQ(put("a").status, Status::accepted);
        EXPECT_EQ(outcome().version, VersionNumber{v});
        EXPECT_EQ(outcome().position, Position{v});
        EXPECT_EQ(outcome().previous.version, VersionNumber{v - 1});
    }
    EXPECT_EQ(store_->last_position(), Position{0});
    EXPECT_EQ(store_->head(type_of("Patient"), "a").version, VersionNumber{5});
}

TEST_F(SequencerTest, HandsOverTheBodyOfWhatItAcceptsAsItIsStored) {
    for (std::uint64_t v = 1; v <= 12; ++v) {  // version numbers of one and of two digits
        std::string stored = "of before";
        const Submission submission = submit([&](CommitBuilder& b) {
            b.put("Observation", "b", "beside");
            b.put("Patient", "a", std::string(v, 'x')).stored = &stored;
        });
        ASSERT_EQ(submission.status, Status::accepted);
        const VersionWrite::Outcome& written = builder_.writes().at(1).outcome;
        EXPECT_EQ(stored, test::expected_body("Patient", "a", std::string(v, 'x'), written.version,
                                              written.instant));
    }
    std::string untouched = "of before";
    const Submission refused = submit([&](CommitBuilder& b) {
        VersionWrite& write = b.put("Patient", "a", "x");
        write.expect = Expect::absent;
        write.stored = &untouched;
    });
    EXPECT_EQ(refused.status, Status::expectation_failed);
    EXPECT_EQ(untouched, "of before");
}

TEST_F(SequencerTest, LetsOneOfTwoEqualIfMatchWritersWin) {
    done(put("a"));
    EXPECT_EQ(put("a", Expect::version, {1}).status, Status::accepted);
    const Submission second = put("a", Expect::version, {1});
    EXPECT_EQ(second.status, Status::expectation_failed);
    EXPECT_EQ(second.failed, 0U);
    EXPECT_EQ(second.head.version, VersionNumber{2});
    EXPECT_NE(second.head.ticket.value, 0U);
}

TEST_F(SequencerTest, ChecksWhatAWriteExpects) {
    EXPECT_EQ(put("a", Expect::exists).status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::live).status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::version, {1}).status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::absent).status, Status::accepted);
    EXPECT_EQ(put("a", Expect::absent).status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::live).status, Status::accepted);
    EXPECT_EQ(remove("a").status, Status::accepted);
    EXPECT_EQ(remove("a").status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::live).status, Status::expectation_failed);
    EXPECT_EQ(put("a", Expect::exists).status, Status::accepted);
    EXPECT_EQ(outcome().version, VersionNumber{4});
    EXPECT_TRUE(outcome().previous.deletion);
}

TEST_F(SequencerTest, TakesNoDeletedResourceForAnAbsentOne) {
    done(put("a"));
    done(remove("a"));
    EXPECT_EQ(put("a", Expect::absent).status, Status::expectation_failed);
}

TEST_F(SequencerTest, GivesNoNumberTwice) {
    const auto put_numbered = [&](std::uint64_t version) {
        return submit(
            [&](CommitBuilder& b) { b.put("Patient", "a", "x").version = VersionNumber{version}; });
    };
    ASSERT_EQ(put_numbered(2).status, Status::accepted);
    EXPECT_EQ(put_numbered(1).status, Status::expectation_failed);
    EXPECT_EQ(put_numbered(2).status, Status::expectation_failed);
    EXPECT_EQ(put_numbered(3).status, Status::accepted);
}

TEST_F(SequencerTest, ChangesNothingWhereOneOfManyExpectationsFails) {
    const Submission failed = submit([](CommitBuilder& b) {
        b.put("Patient", "a", "x");
        b.put("Patient", "b", "x").expect = Expect::exists;
    });
    EXPECT_EQ(failed.status, Status::expectation_failed);
    EXPECT_EQ(failed.failed, 1U);
    EXPECT_FALSE(store_->head(type_of("Patient"), "a").exists);
    EXPECT_EQ(store_->metrics().gathered_bytes, 0U);
    ASSERT_EQ(put("c").status, Status::accepted);
    EXPECT_EQ(outcome().position, Position{1});
}

TEST_F(SequencerTest, KeepsTheNumbersAndInstantsOfHistoryBundles) {
    ASSERT_EQ(keep("a", 3).status, Status::accepted);
    EXPECT_EQ(outcome().version, VersionNumber{3});
    EXPECT_EQ(outcome().instant, Instant{1'000'000});
    EXPECT_EQ(keep("a", 3).status, Status::expectation_failed);
    EXPECT_EQ(keep("a", 2).status, Status::expectation_failed);
    EXPECT_EQ(keep("a", 7).status, Status::accepted);
    ASSERT_EQ(put("a").status, Status::accepted);
    EXPECT_EQ(outcome().version, VersionNumber{8});
    EXPECT_GT(outcome().instant, Instant{1'000'000});
}

TEST_F(SequencerTest, RefusesErasedNumbersForEver) {
    done(put("a"));
    done(put("a"));
    done(erase("a"));
    EXPECT_FALSE(store_->current(type_of("Patient"), "a"));
    EXPECT_EQ(keep("a", 2).status, Status::expectation_failed);
    fs_.hold_syncs();
    ASSERT_EQ(put("a").status, Status::accepted);
    EXPECT_EQ(keep("a", 2).status, Status::expectation_failed)
        << "while a first version is in flight";
    EXPECT_EQ(keep("a", 3).status, Status::accepted);
    fs_.release_syncs();
}

TEST_F(SequencerTest, StartsAtOneAgainAfterAHardDelete) {
    done(put("a"));
    done(put("a"));
    done(erase("a"));
    EXPECT_EQ(builder_.erases()[0].outcome.versions_erased, 2U);
    done(put("a", Expect::absent));
    EXPECT_EQ(outcome().version, VersionNumber{1});
}

TEST_F(SequencerTest, AnswersBusyWhereAnEraseMeetsAVersionInFlight) {
    const Submission write = put("a");
    const Submission busy = erase("a");
    EXPECT_EQ(busy.status, Status::busy);
    EXPECT_EQ(busy.ticket, write.ticket);
    done(write);
    const Submission erasing = erase("a");
    ASSERT_EQ(erasing.status, Status::accepted);
    const Submission after = put("a");
    EXPECT_EQ(after.status, Status::busy);
    EXPECT_EQ(after.ticket, erasing.ticket);
    ASSERT_TRUE(store_->wait(erasing.ticket));
    EXPECT_EQ(put("a").status, Status::accepted);
}

TEST_F(SequencerTest, RefusesToEraseTheCurrentVersionOfALiveResource) {
    done(put("a"));
    done(put("a"));
    EXPECT_EQ(erase("a", Erase::Scope::version, 2).status, Status::expectation_failed);
    EXPECT_EQ(erase("a", Erase::Scope::version, 9).status, Status::version_unknown);
    done(erase("a", Erase::Scope::version, 1));
    EXPECT_FALSE(store_->version(type_of("Patient"), "a", {1}));
    EXPECT_EQ(erase("a", Erase::Scope::version, 1).status, Status::version_unknown);
}

TEST_F(SequencerTest, ErasesOnlyWhatTheCallerSaw) {
    done(put("a"));
    done(put("a"));
    const auto erase_first = [&](std::uint64_t position, std::uint64_t current) {
        return submit([&](CommitBuilder& b) {
                   Erase& one = b.erase("Patient", "a", Erase::Scope::version, {1});
                   one.expected_position = {position};
                   one.expect = Expect::version;
                   one.expected_version = {current};
               })
            .status;
    };
    EXPECT_EQ(erase_first(2, 2), Status::expectation_failed) << "another version has its number";
    EXPECT_EQ(erase_first(1, 1), Status::expectation_failed) << "another version is current";
    EXPECT_EQ(erase_first(1, 2), Status::accepted);
}

TEST_F(SequencerTest, WritesNothingForAnEraseOfNothing) {
    done(put("a"));
    const Submission nothing = erase("a", Erase::Scope::all_but_current);
    EXPECT_EQ(nothing.status, Status::accepted);
    EXPECT_EQ(nothing.ticket, Ticket{0});
}

TEST_F(SequencerTest, RequiresReferencedResourcesToBeLive) {
    const auto refer = [&] {
        return submit([](CommitBuilder& b) {
            b.put("Observation", "o", "x");
            b.require("Patient", "a");
        });
    };
    EXPECT_EQ(refer().status, Status::requirement_failed);
    ASSERT_EQ(put("a").status, Status::accepted);
    EXPECT_EQ(refer().status, Status::accepted);
    ASSERT_EQ(remove("a").status, Status::accepted);
    EXPECT_EQ(refer().status, Status::requirement_failed);
    done(put("a"));
    fs_.hold_syncs();
    const Submission erasing = erase("a");
    ASSERT_EQ(erasing.status, Status::accepted);
    const Submission meanwhile = refer();
    EXPECT_EQ(meanwhile.status, Status::busy);
    EXPECT_EQ(meanwhile.ticket, erasing.ticket);
    fs_.release_syncs();
}

TEST_F(SequencerTest, RequiresVersionsThatReferencesName) {
    const auto refer = [&](std::uint64_t version) {
        return submit([&](CommitBuilder& b) {
            b.put("Observation", "o", "x");
            b.require("Patient", "a", VersionNumber{version});
        });
    };
    const auto refer_to_own = [&](std::uint64_t version) {
        return submit([&](CommitBuilder& b) {
            b.put("Observation", "o", "x");
            b.put("Patient", "a", "x");
            b.require("Patient", "a", VersionNumber{version}, 1);
        });
    };
    done(put("a"));
    EXPECT_EQ(refer(1).status, Status::accepted);
    EXPECT_EQ(refer(2).status, Status::requirement_failed);
    EXPECT_EQ(refer(0).status, Status::requirement_failed);
    done(put("a"));
    done(put("a"));
    done(erase("a", Erase::Scope::version, 2));
    EXPECT_EQ(refer(1).status, Status::accepted);
    EXPECT_EQ(refer(2).status, Status::requirement_failed);
    EXPECT_EQ(refer(3).status, Status::accepted);

    EXPECT_EQ(refer_to_own(5).status, Status::requirement_failed);
    EXPECT_EQ(refer_to_own(2).status, Status::requirement_failed);
    EXPECT_EQ(refer_to_own(4).status, Status::accepted);
    EXPECT_EQ(refer(4).status, Status::accepted) << "it is in flight";
    const Submission newest = refer_to_own(1);
    ASSERT_EQ(newest.status, Status::accepted);
    done(newest);

    done(remove("a"));
    EXPECT_EQ(refer(1).status, Status::requirement_failed);
    EXPECT_EQ(refer_to_own(6).status, Status::requirement_failed) << "it is a deletion";
    EXPECT_EQ(refer_to_own(7).status, Status::accepted);
    ASSERT_EQ(put("a").status, Status::accepted);
    EXPECT_EQ(refer(7).status, Status::busy) << "of those in flight only the newest is known";
}

TEST_F(SequencerTest, LetsExactlyOneOfManyThreadsCreate) {
    constexpr int kThreads = 8;
    constexpr std::uint64_t kRounds = 40;
    std::atomic<int> created = 0;
    std::atomic<int> seen = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t round = 1; round <= kRounds; ++round) {
                SearchEntries entries;
                entries.terms = {round};
                while (true) {
                    const Position as_of = store_->last_position();
                    const std::string id = std::to_string(round);
                    // Looks for the term, whichever of the ids has it.
                    bool there = false;
                    for (int other = 0; other < kThreads; ++other) {
                        there = there || store_->current(type_of("Patient"),
                                                         id + "-" + std::to_string(other), as_of);
                    }
                    if (there) {
                        ++seen;
                        break;
                    }
                    CommitBuilder builder;
                    builder.put("Patient", id + "-" + std::to_string(t), "x").search = &entries;
                    builder.guard(
                        Guard{.type = type_of("Patient"), .terms = entries.terms, .as_of = as_of});
                    const Submission submission = store_->submit(builder.commit());
                    if (submission.status == Status::accepted) {
                        ASSERT_TRUE(store_->wait(submission.ticket));
                        ++created;
                        break;
                    }
                    ASSERT_EQ(submission.status, Status::busy);
                    ASSERT_TRUE(store_->wait(submission.ticket));
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(created, static_cast<int>(kRounds));
    EXPECT_EQ(seen, static_cast<int>(kRounds) * (kThreads - 1));
}

TEST_F(SequencerTest, SaysOnceThatTheClockIsFarBehind) {
    done(put("a"));
    clock_.us -= 3'600'000'000;
    testing::internal::CaptureStderr();
    done(put("b"));
    done(put("c"));
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_EQ(store_->current(type_of("Patient"), "c")->instant,
              store_->current(type_of("Patient"), "a")->instant);
    const std::size_t first = told.find("the clock shows 2023-11-14T21:13:20.123Z");
    ASSERT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("the clock shows", first + 1), std::string::npos) << told;
}

TEST_F(SequencerTest, GivesInstantsInMillisecondsThatNeverGoBack) {
    const Instant first = put("a").instant;
    EXPECT_EQ(first, Instant{1'700'000'000'123'000});
    clock_.us -= 5'000'000;
    EXPECT_EQ(put("a").instant, first);
    clock_.us += 6'000'000;
    EXPECT_EQ(put("a").instant, Instant{1'700'000'001'123'000});
}

TEST_F(SequencerTest, KeepsInstantsFromGoingBackAcrossAReopening) {
    done(put("a"));
    const Instant first = outcome().instant;
    store_.reset();
    StoreOptions options;
    options.prepare_segments = false;
    options.segment_bytes = 64 << 10;
    options.clock = [] { return Instant{0}; };
    store_ = *Store::open(fs_, "/data", options);
    EXPECT_EQ(put("a").instant, first);
}

TEST_F(SequencerTest, RefusesWhatTheFormatCannotHold) {
    EXPECT_EQ(put("not an id").status, Status::too_large);
    EXPECT_EQ(erase("not an id").status, Status::too_large);
    const std::string half(kUnsyncedBytesMax / 2, 'x');
    const BodyPiece body{.text = half};
    EXPECT_EQ(submit([&](CommitBuilder& b) {
                  b.put("Binary", "a", "").body = {&body, 1};
                  b.put("Binary", "b", "").body = {&body, 1};
              }).status,
              Status::too_large);
    EXPECT_EQ(keep("a", kVersionNumberMax + 1).status, Status::too_large);
    ASSERT_EQ(keep("a", kVersionNumberMax).status, Status::accepted);
    EXPECT_EQ(put("a").status, Status::no_number);
}

TEST_F(SequencerTest, HoldsBodiesToTheirLimit) {
    store_.reset();
    StoreOptions options;
    options.prepare_segments = false;
    options.segment_bytes = 64 << 10;
    options.body_bytes_max = 1000;
    store_ = *Store::open(fs_, "/data", options);
    const auto put_body = [&](std::size_t bytes) {
        return submit([&](CommitBuilder& b) { b.put("Patient", "a", std::string(bytes, 'x')); })
            .status;
    };
    EXPECT_EQ(put_body(900), Status::accepted);  // plus what the builder puts before it
    EXPECT_EQ(put_body(1001), Status::too_large);
}

TEST_F(SequencerTest, AnswersOverloadedWhereTooMuchIsGathered) {
    const std::string large(kUnsyncedBytesMax / 2 - 4096, 'x');
    const auto put_large = [&](std::string_view id) {
        return submit([&](CommitBuilder& b) { b.put("Binary", id, large); }).status;
    };
    fs_.hold_syncs();
    EXPECT_EQ(put_large("a"), Status::accepted);
    EXPECT_EQ(put_large("b"), Status::accepted);
    EXPECT_EQ(put_large("c"), Status::overloaded);
    fs_.fail_next(SimFileSystem::Call::sync, Errc::io, 1);  // spares the simulated disk the bytes
    fs_.release_syncs();
}

TEST(Sequencer, CountsWhatSearchEntriesTake) {
    const Index index;
    Sequencer::Start start;
    start.search = true;
    Sequencer sequencer(index, start, [] { return Instant{}; });
    SearchEntries entries;
    entries.characters.resize(kUnsyncedBytesMax / 2);
    const auto put = [&](std::string_view id) {
        CommitBuilder builder;
        builder.put("Patient", id, "x").search = &entries;
        return sequencer.submit(builder.commit()).status;
    };
    EXPECT_EQ(put("a"), Status::accepted);
    EXPECT_EQ(put("b"), Status::overloaded);
}

TEST(Sequencer, RoundsInstantsBefore1970DownToo) {
    const Index index;
    Sequencer::Start start;
    start.last_instant = {-1'000'000};
    Sequencer sequencer(index, start, [] { return Instant{-1}; });
    CommitBuilder builder;
    builder.put("Patient", "a", "x");
    EXPECT_EQ(sequencer.submit(builder.commit()).instant, Instant{-1000});
}

TEST(Sequencer, GivesNoPositionThatTheIndexHasNoPlaceFor) {
    const Index index;
    Sequencer::Start start;
    start.last_position = {Index::kPositionMax - 1};
    Sequencer sequencer(index, start, [] { return Instant{}; });
    CommitBuilder two;
    two.put("Patient", "a", "x");
    two.put("Patient", "b", "x");
    EXPECT_EQ(sequencer.submit(two.commit()).status, Status::no_space);
    CommitBuilder last;
    VersionWrite& write = last.put("Patient", "a", "x");
    EXPECT_EQ(sequencer.submit(last.commit()).status, Status::accepted);
    EXPECT_EQ(write.outcome.position, Position{Index::kPositionMax});
    CommitBuilder more;
    more.put("Patient", "b", "x");
    EXPECT_EQ(sequencer.submit(more.commit()).status, Status::no_space);
}

}  // namespace
}  // namespace annals::storage
