// What violates a guard: what was written, or is being written, since the state it was decided on.

#include "storage/recent_erases.h"
#include "tests/storage/sequencer_fixture.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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
    // Deletions count for guards on all versions.
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
    done(put("a"));  // position 1
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
        // If the store were still probing for space, the probe would meet the fault instead of the commit.
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
    // A commit that relies on no live resource sets no such guard.
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
    const Submission hit = create("c", relevant, 0);  // position 4
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

TEST_F(SequencerTest, TakesAVersionWithoutSearchEntriesForOneThatConcernsAWatch) {
    const auto watch =
        store_->watch(type_of("Patient"), [](const auto&, std::uint64_t) { return false; });
    ASSERT_NE(watch, nullptr);
    ASSERT_EQ(put("a").status, Status::accepted);
    const Submission late = submit([&](CommitBuilder& b) {
        b.put("Patient", "b", "x");
        b.guard(Guard{.type = type_of("Patient"), .terms = {}, .as_of = {0}, .watch = watch.get()});
    });
    EXPECT_EQ(late.status, Status::busy);
}

TEST_F(SequencerTest, AnswersBusyWhereMoreWasHardDeletedSinceThenThanIsRemembered) {
    const auto repeat = [this](std::size_t count, const auto& fill) {
        const Submission all = submit([&](CommitBuilder& b) {
            for (std::size_t i = 0; i < count; ++i) {
                fill(b, "p" + std::to_string(i));
            }
        });
        done(all);
    };
    const std::size_t count = RecentErases::kKept + 1;
    repeat(count, [](CommitBuilder& b, const std::string& id) { b.put("Patient", id, "x"); });
    repeat(count, [](CommitBuilder& b, const std::string& id) { b.erase("Patient", id); });
    const std::vector<std::uint64_t> other = {store_->search_key(type_of("Patient"), "other")};
    const auto create = [&](std::uint64_t hard_deletes) {
        return submit([&](CommitBuilder& b) {
                   b.put("Observation", "o", "x");
                   b.guard(Guard{.type = type_of("Patient"),
                                 .terms = other,
                                 .as_of = store_->last_position(),
                                 .hard_deletes = hard_deletes});
               })
            .status;
    };
    EXPECT_EQ(create(0), Status::busy) << "it may be the one that is forgotten";
    EXPECT_EQ(create(1), Status::accepted);
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

}  // namespace
}  // namespace annals::storage
