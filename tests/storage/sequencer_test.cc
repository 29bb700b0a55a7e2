// What the store decides about a commit before it is durable.

#include "storage/sequencer.h"

#include "core/base/limits.h"
#include "storage/store.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::SimFileSystem;
using test::type_of;
using Status = Submission::Status;

/// A store whose clock stands still until told otherwise.
class SequencerTest : public testing::Test {
  protected:
    SequencerTest() { reopen(); }

    void reopen() {
        store_.reset();
        StoreOptions options;
        options.segment_bytes = 64 << 10;
        options.prepare_segments = false;
        options.clock = [this] { return clock_; };
        store_ = *Store::open(fs_, "/data", options);
    }

    template <typename Fill>
    Submission submit(const Fill& fill) {
        builder_ = CommitBuilder();
        fill(builder_);
        return store_->submit(builder_.commit());
    }

    Submission put(std::string_view id, Expect expect = Expect::anything,
                   VersionNumber expected = {}) {
        return submit([&](CommitBuilder& b) {
            VersionWrite& write = b.put("Patient", id, "x");
            write.expect = expect;
            write.expected_version = expected;
        });
    }

    Submission keep(std::string_view id, std::uint64_t version) {
        return submit([&](CommitBuilder& b) {
            VersionWrite& write = b.put("Patient", id, "x");
            write.expect = Expect::older;
            write.version = VersionNumber{version};
            write.instant = Instant{1'000'000};
        });
    }

    Submission remove(std::string_view id) {
        return submit([&](CommitBuilder& b) { b.remove("Patient", id); });
    }

    Submission erase(std::string_view id, Erase::Scope scope = Erase::Scope::everything,
                     std::uint64_t version = 0) {
        return submit([&](CommitBuilder& b) { b.erase("Patient", id, scope, {version}); });
    }

    /// Submits what `call` does and waits for it.
    void done(const Submission& submission) {
        ASSERT_EQ(submission.status, Status::accepted);
        ASSERT_TRUE(store_->wait(submission.ticket));
    }

    const VersionWrite::Outcome& outcome() const { return builder_.writes().at(0).outcome; }

    SimFileSystem fs_;
    Instant clock_{1'700'000'000'123'456};
    std::unique_ptr<Store> store_;
    CommitBuilder builder_;
};

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
    for (std::uint64_t v = 1; v <= 12; ++v) {  // numbers of one and of two digits
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
    EXPECT_EQ(keep("a", 3).status, Status::accepted);
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

TEST_F(SequencerTest, AnswersBusyWhereAGuardedTermIsInFlightOrNewer) {
    constexpr std::uint64_t kTerm = 42;
    const auto create = [&](std::string_view id, Position as_of) {
        return submit([&](CommitBuilder& b) {
            b.put("Patient", id, "x", {kTerm});
            b.guard("Patient", kTerm, as_of);
        });
    };
    const Submission first = create("a", {0});
    ASSERT_EQ(first.status, Status::accepted);
    const Submission second = create("b", {0});
    EXPECT_EQ(second.status, Status::busy);
    EXPECT_EQ(second.ticket, first.ticket);
    done(first);
    const Submission third = create("b", {0});
    EXPECT_EQ(third.status, Status::busy);
    EXPECT_EQ(third.ticket, Ticket{0});
    EXPECT_EQ(create("b", {1}).status, Status::accepted);
}

TEST_F(SequencerTest, AnswersBusyWhereAVersionCarriesAGuardedTermSinceThen) {
    SearchEntries entries;
    entries.terms = {5, 42};
    entries.links = {{1, 77}};
    const auto create = [&](std::string_view type, std::string_view id, const Guard& guard) {
        return submit([&](CommitBuilder& b) {
            b.put(type, id, "x").search = &entries;
            b.guard(guard);
        });
    };
    const std::vector<std::uint64_t> term = {41, 42};
    const std::vector<std::uint64_t> other = {41, 43};
    const std::vector<std::uint64_t> target = {77};
    const TypeId patient = type_of("Patient");
    const auto guard = [&](std::optional<TypeId> type, std::span<const std::uint64_t> terms,
                           std::uint64_t as_of) {
        return Guard{.type = type, .terms = terms, .as_of = {as_of}};
    };
    const Submission first = create("Patient", "a", guard(patient, term, 0));
    ASSERT_EQ(first.status, Status::accepted);
    for (const Guard& forbidden :
         {guard(patient, term, 0), guard({}, target, 0), guard(patient, {}, 0), guard({}, {}, 0)}) {
        const Submission second = create("Patient", "b", forbidden);
        EXPECT_EQ(second.status, Status::busy);
        EXPECT_EQ(second.ticket, first.ticket);
    }
    done(first);
    EXPECT_EQ(create("Patient", "b", guard(patient, term, 0)).status, Status::busy);
    EXPECT_EQ(create("Patient", "b", guard(patient, term, 0)).ticket, Ticket{0});
    EXPECT_EQ(create("Observation", "b", guard(type_of("Observation"), term, 0)).status,
              Status::accepted);
    EXPECT_EQ(create("Patient", "b", guard(patient, other, 0)).status, Status::accepted);
    ASSERT_TRUE(store_->wait(create("Patient", "c", guard({}, {}, 3)).ticket));
    // Deletions count where every version does.
    ASSERT_EQ(remove("c").status, Status::accepted);
    EXPECT_EQ(create("Patient", "d", guard(patient, {}, 4)).status, Status::busy);
    EXPECT_EQ(create("Patient", "d", guard(patient, term, 4)).status, Status::accepted);
}

TEST_F(SequencerTest, AnswersBusyWhereAGuardAsksAboutMoreThanIsKnown) {
    done(put("a"));
    done(put("a"));
    reopen();
    const auto create = [&](std::uint64_t as_of) {
        return submit([&](CommitBuilder& b) {
            b.put("Patient", "b", "x");
            b.guard(Guard{.type = type_of("Observation"), .terms = {}, .as_of = {as_of}});
        });
    };
    EXPECT_EQ(create(1).status, Status::busy);
    EXPECT_EQ(create(1).ticket, Ticket{0});
    EXPECT_EQ(create(2).status, Status::accepted);
}

TEST_F(SequencerTest, HoldsNothingThatWasDroppedAgainstAGuard) {
    SearchEntries entries;
    entries.terms = {42};
    const std::vector<std::uint64_t> term = {42};
    done(put("a"));  // 1
    const auto watch =
        store_->watch(type_of("Patient"), [](const auto&, std::uint64_t) { return true; });
    const auto create = [&](std::string_view id, const Guard& guard) {
        return submit([&](CommitBuilder& b) {
            b.put("Patient", id, "x").search = &entries;
            b.guard(guard);
        });
    };
    Guard by_term{.type = type_of("Patient"), .terms = term, .as_of = {1}};
    Guard by_watch{.type = type_of("Patient"), .terms = {}, .as_of = {1}, .watch = watch.get()};
    Guard by_hard_delete{.type = type_of("Patient"), .terms = {}, .as_of = {1}, .hard_deletes = 0};
    const auto write = [&] { return create("b", by_term); };
    const auto hard_delete = [&] { return erase("a"); };
    const auto drop = [&](const auto& what) {
        // A store that looks for space by itself would meet the fault in the place of the commit.
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (store_->write_state() != WriteState::ready &&
               std::chrono::steady_clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        fs_.fail_next(SimFileSystem::Call::write, Errc::no_store);
        const Submission dropped = what();
        ASSERT_EQ(dropped.status, Status::accepted);
        EXPECT_FALSE(store_->wait(dropped.ticket));
    };
    for (Guard* const guard : {&by_term, &by_watch, &by_hard_delete}) {
        drop(write);
        drop(hard_delete);
        EXPECT_EQ(store_->hard_deletes(), 0U);
        guard->as_of = store_->last_position();
        Submission next;
        do {
            next = create("c", *guard);
        } while (next.status == Status::no_space);
        ASSERT_EQ(next.status, Status::accepted);
        EXPECT_TRUE(store_->wait(next.ticket));
        by_term.as_of = store_->last_position();
    }
}

TEST_F(SequencerTest, AnswersBusyWhereWhatIsGuardedIsHardDeleted) {
    done(put("a"));
    const std::vector<std::uint64_t> identity = {store_->search_key(type_of("Patient"), "a")};
    const std::vector<std::uint64_t> other = {store_->search_key(type_of("Patient"), "b")};
    const auto create = [&](std::span<const std::uint64_t> terms,
                            std::optional<std::uint64_t> hard_deletes,
                            std::string_view type = "Patient") {
        return submit([&](CommitBuilder& b) {
            b.put("Observation", "o", "x");
            b.guard(Guard{.type = type_of(type),
                          .terms = terms,
                          .as_of = store_->last_position(),
                          .hard_deletes = hard_deletes});
        });
    };
    EXPECT_EQ(store_->hard_deletes(), 0U);
    const Submission erased = erase("a");
    ASSERT_EQ(erased.status, Status::accepted);
    for (const auto& terms : {identity, std::vector<std::uint64_t>()}) {
        EXPECT_EQ(create(terms, 0).status, Status::busy);
        EXPECT_EQ(create(terms, 0).ticket, erased.ticket);
    }
    ASSERT_TRUE(store_->wait(erased.ticket));
    EXPECT_EQ(store_->hard_deletes(), 1U);
    EXPECT_EQ(create(identity, 0).status, Status::busy);
    EXPECT_EQ(create(identity, 0).ticket, Ticket{0});
    EXPECT_EQ(create(identity, 1).status, Status::accepted);
    EXPECT_EQ(create(other, 0).status, Status::accepted);
    EXPECT_EQ(create({}, 0, "Group").status, Status::accepted);
    // Who rests on no live resource does not ask.
    EXPECT_EQ(create(identity, std::nullopt).status, Status::accepted);
}

TEST_F(SequencerTest, HoldsOnlyWhatConcernsAWatchAgainstItsGuard) {
    const auto watch =
        store_->watch(type_of("Patient"), [](const SearchEntries& entries, std::uint64_t identity) {
            return identity != 0 && std::ranges::binary_search(entries.terms, 42U);
        });
    ASSERT_NE(watch, nullptr);
    SearchEntries relevant;
    relevant.terms = {42};
    SearchEntries irrelevant;
    irrelevant.terms = {41};
    const auto create = [&](std::string_view id, const SearchEntries& entries,
                            std::uint64_t as_of) {
        return submit([&](CommitBuilder& b) {
            b.put("Patient", id, "x").search = &entries;
            b.guard(Guard{
                .type = type_of("Patient"), .terms = {}, .as_of = {as_of}, .watch = watch.get()});
        });
    };
    EXPECT_EQ(create("a", irrelevant, 0).status, Status::accepted);
    EXPECT_EQ(create("b", irrelevant, 0).status, Status::accepted);
    ASSERT_EQ(remove("b").status, Status::accepted);
    const Submission hit = create("c", relevant, 0);  // 4
    ASSERT_EQ(hit.status, Status::accepted);
    const Submission late = create("d", irrelevant, 3);
    EXPECT_EQ(late.status, Status::busy);
    EXPECT_EQ(late.ticket, hit.ticket);
    EXPECT_EQ(create("d", irrelevant, 4).status, Status::accepted);
    // A watch knows nothing of what was submitted before it began.
    const auto second =
        store_->watch(type_of("Patient"), [](const auto&, std::uint64_t) { return false; });
    const auto guarded = [&](std::uint64_t as_of) {
        return submit([&](CommitBuilder& b) {
                   b.put("Patient", "e", "x").search = &irrelevant;
                   b.guard(Guard{.type = type_of("Patient"),
                                 .terms = {},
                                 .as_of = {as_of},
                                 .watch = second.get()});
               })
            .status;
    };
    EXPECT_EQ(guarded(4), Status::busy);
    EXPECT_EQ(guarded(5), Status::accepted);
}

TEST_F(SequencerTest, KeepsAFewWatchesOnly) {
    std::vector<std::unique_ptr<WriteWatch>> watches;
    const auto never = [](const SearchEntries&, std::uint64_t) { return false; };
    for (std::size_t i = 0; i < WriteWatch::kWatchesMax; ++i) {
        watches.push_back(store_->watch(type_of("Patient"), never));
        ASSERT_NE(watches.back(), nullptr);
    }
    EXPECT_EQ(store_->watch(type_of("Patient"), never), nullptr);
    watches.pop_back();
    EXPECT_NE(store_->watch(type_of("Patient"), never), nullptr);
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
                    // Who looks for the term: whichever of the ids has it.
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
    const std::size_t first = told.find("the clock says 2023-11-14T21:13:20.123Z");
    ASSERT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("the clock says", first + 1), std::string::npos) << told;
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
    EXPECT_EQ(put_body(900), Status::accepted);  // with what the builder puts before it
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
    fs_.fail_next(SimFileSystem::Call::sync, Errc::io, 1);  // Spare the simulated disk the bytes.
    fs_.release_syncs();
}

/// When the log writer is given what was gathered.
class SequencerBatches : public testing::Test {
  protected:
    void submit(int count) {
        for (int i = 0; i < count; ++i) {
            CommitBuilder builder;
            builder.put("Patient", std::to_string(++last_id_), "x");
            ASSERT_EQ(sequencer_.submit(builder.commit()).status, Status::accepted);
        }
    }

    /// How many commits the writer gets without waiting; 0: it would wait.
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
    submit(2);
    sequencer_.flush();
    ASSERT_EQ(take_now(), 2U);
    submit(1);
    sequencer_.flush_idle();
    release();
    EXPECT_EQ(take_now(), 0U);
    submit(2);
    sequencer_.flush_idle();
    EXPECT_EQ(take_now(), 3U);
}

TEST_F(SequencerBatches, DoNotWaitLongForThem) {
    submit(2);
    sequencer_.flush();
    ASSERT_EQ(take_now(), 2U);
    submit(1);
    sequencer_.flush_idle();
    release();
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
