#include "storage/index.h"

#include "tests/storage/index_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace annals::storage {
namespace {

using Scope = Erase::Scope;

TEST(Index, HidesWhatIsNotPublished) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.publish();
    pair.add(1, kPatient, 2, 20);
    pair.add(2, kPatient, 1, 20);
    EXPECT_EQ(pair.index.last_position().value, 1U);
    EXPECT_EQ(pair.index.current(key_of(1), {})->version.value, 1U);
    EXPECT_FALSE(pair.index.current(key_of(2), {}));
    EXPECT_FALSE(pair.index.version(key_of(1), {2}));
    EXPECT_FALSE(pair.index.at({2}));
    EXPECT_EQ(pair.index.head(key_of(1)).version.value, 1U);
    EXPECT_EQ(pair.index.totals({}).versions, 1U);
    EXPECT_EQ(pair.index.history(pages_of(9), {}).versions.size(), 1U);
    EXPECT_EQ(pair.index.history(pages_of(9), key_of(1)).total, 1U);
    pair.publish();
    EXPECT_EQ(pair.index.current(key_of(1), {})->version.value, 2U);
    EXPECT_EQ(pair.index.totals(kPatient).live, 2U);
}

TEST(Index, KeepsAResourceDeletedWhenItsDeletionIsErased) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.add(1, kPatient, 2, 20, true);
    pair.publish();
    pair.erase(1, Scope::version, 2);
    EXPECT_TRUE(pair.index.current(key_of(1), {})->deletion);
    EXPECT_EQ(pair.index.head(key_of(1)).version.value, 2U);
    EXPECT_FALSE(pair.index.version(key_of(1), {2}));
    EXPECT_EQ(pair.index.history(pages_of(9), key_of(1)).total, 1U);
    EXPECT_EQ(pair.index.totals({}).versions, 1U);
    EXPECT_EQ(pair.index.totals({}).resources, 1U);
    pair.erase(1, Scope::version, 1);
    EXPECT_FALSE(pair.index.current(key_of(1), {}));
    EXPECT_EQ(pair.index.head(key_of(1)).erased_through.value, 2U);
    EXPECT_EQ(pair.index.totals({}).resources, 0U);
}

TEST(Index, RefusesToEraseTheCurrentVersionOfALiveResource) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.add(1, kPatient, 2, 20);
    pair.publish();
    pair.erase(1, Scope::version, 2);
    EXPECT_EQ(pair.index.current(key_of(1), {})->version.value, 2U);
    pair.erase(1, Scope::version, 7);
    pair.erase(9, Scope::everything);
    EXPECT_EQ(pair.index.totals({}).versions, 2U);
}

TEST(Index, StartsAnewAfterEverythingWasErased) {
    Pair pair;
    pair.add(1, kPatient, 5, 10);
    pair.publish();
    pair.erase(1, Scope::everything);
    EXPECT_FALSE(pair.index.head(key_of(1)).exists);
    EXPECT_EQ(pair.index.head(key_of(1)).erased_through.value, 5U);
    pair.add(1, kPatient, 1, 20);
    pair.publish();
    EXPECT_EQ(pair.index.current(key_of(1), {})->version.value, 1U);
    EXPECT_EQ(pair.index.history(pages_of(9), key_of(1)).total, 1U);
    EXPECT_EQ(pair.index.resource_count(), 1U);
    EXPECT_EQ(pair.index.totals({}).live, 1U);
}

TEST(Index, KeepsLocations) {
    Pair pair;
    pair.add(77, kPatient, 1, 10);
    pair.publish();
    EXPECT_EQ(pair.index.location({1}).segment, 1U);
    EXPECT_EQ(pair.index.location({1}).offset, 77U);
}

TEST(Index, ShowsTheStoreAsOfAnInstant) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.add(2, kObservation, 1, 20);
    pair.add(1, kPatient, 2, 30);
    pair.add(3, kPatient, 1, 30);
    pair.add(3, kPatient, 2, 40, true);
    pair.publish();
    std::uint32_t from = 0;
    const auto first = pair.index.current_at(std::nullopt, {30}, {}, from, 2);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].position.value, 3U);
    EXPECT_EQ(first[1].position.value, 2U);
    EXPECT_EQ(from, 2U);
    EXPECT_EQ(pair.index.current_at(std::nullopt, {30}, {}, from, 100).size(), 1U);
    EXPECT_EQ(from, pair.index.resource_count());
    from = 0;
    EXPECT_EQ(pair.index.current_at(kPatient, {50}, {}, from, 100).size(), 1U);
    from = 0;
    EXPECT_EQ(pair.index.current_at(kPatient, {50}, {1}, from, 100).front().version.value, 1U);
}

TEST(Index, StandsBeforeAnInstantWhereNothingErasedHidesWhatWas) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    for (std::uint64_t number = 1; number <= 5000; ++number) {
        pair.add(2, kObservation, number, number < 500 ? 10 : 20);
    }
    pair.add(1, kPatient, 2, 30);
    pair.publish();
    EXPECT_EQ(pair.index.before({10}), Position{});
    EXPECT_EQ(pair.index.before({20}), Position{500});
    EXPECT_EQ(pair.index.before({30}), Position{5001});
    EXPECT_EQ(pair.index.before({31}), Position{5002});
    pair.erase(2, Scope::all_but_current);
    EXPECT_EQ(pair.index.before({10}), Position{});
    EXPECT_EQ(pair.index.before({20}), Position{500});
    EXPECT_EQ(pair.index.before({30}), Position{5001});
    pair.erase(2, Scope::everything);
    EXPECT_EQ(pair.index.before({20}), Position{500});
    EXPECT_EQ(pair.index.before({30}), Position{5001});
}

std::vector<std::uint64_t> scanned(const Index& index, const LogScan& what, std::uint64_t step) {
    std::vector<std::uint64_t> positions;
    std::vector<VersionInfo> found;
    const std::uint64_t end =
        what.bound.value == 0 ? index.last_position().value : what.bound.value;
    for (Position after; after.value < end;) {
        index.scan(what, after, step, found);
        for (const VersionInfo& info : found) {
            positions.push_back(info.position.value);
        }
    }
    return positions;
}

TEST(Index, ScansTheLogForWhatStandsAtAPosition) {
    using Positions = std::vector<std::uint64_t>;
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.add(2, kObservation, 1, 20);
    pair.add(1, kPatient, 2, 30);
    pair.add(2, kObservation, 2, 40, true);
    pair.add(3, kPatient, 1, 50);
    pair.add(1, kPatient, 3, 60);
    pair.publish();
    for (const std::uint64_t step : {1U, 2U, 100U}) {
        EXPECT_EQ(scanned(pair.index, {}, step), (Positions{4, 5, 6}));
        EXPECT_EQ(scanned(pair.index, {.bound = {3}}, step), (Positions{2, 3}));
        EXPECT_EQ(scanned(pair.index, {.bound = {5}, .since = Instant{40}}, step),
                  (Positions{4, 5}));
        EXPECT_EQ(scanned(pair.index, {.bound = {5}, .before = Instant{40}}, step), Positions{3});
        EXPECT_EQ(scanned(pair.index, {.every_version = true}, step),
                  (Positions{1, 2, 3, 4, 5, 6}));
    }
    pair.index.erase({.key = key_of(1), .scope = Scope::version, .version = {2}});
    EXPECT_EQ(scanned(pair.index, {.every_version = true}, 4), (Positions{1, 2, 4, 5, 6}));
    // Version 1 was not current at position 3.
    EXPECT_EQ(scanned(pair.index, {.bound = {3}}, 4), Positions{2});
}

std::vector<IndexedVersion> one_version_each(std::uint64_t count) {
    std::vector<IndexedVersion> versions(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        versions[i] = {.key = key_of(i),
                       .type = i % 2 == 0 ? kPatient : kObservation,
                       .position = {i + 1},
                       .version = {1},
                       .instant = {static_cast<std::int64_t>(i)},
                       .location = {}};
    }
    return versions;
}

/// Histories added one by one, each over ten years: every block of the lists spans the whole time.
class HistoriesOneByOne : public testing::Test {
  protected:
    static constexpr std::uint64_t kResources = 2000;
    static constexpr std::uint64_t kVersionsEach = 20;
    static constexpr std::int64_t kTime = 1'000'000;
    static constexpr std::uint64_t kBlocks = kResources * kVersionsEach / 1024;

    HistoriesOneByOne() {
        for (std::uint64_t resource = 0; resource < kResources; ++resource) {
            std::array<std::int64_t, kVersionsEach> instants;
            for (std::int64_t& instant : instants) {
                instant = static_cast<std::int64_t>(random_() % kTime);
            }
            std::ranges::sort(instants);
            for (std::uint64_t i = 0; i < kVersionsEach; ++i) {
                pair_.add(resource, resource % 2 == 0 ? kPatient : kObservation, i + 1,
                          instants[i]);
            }
        }
        pair_.publish();
    }

    std::mt19937_64 random_{1};
    Pair pair_;
};

TEST_F(HistoriesOneByOne, AreWalkedThroughInStepsThatFindWhatOneFinds) {
    for (std::uint64_t resource = 0; resource < kResources; resource += 7) {
        pair_.erase(resource, Scope::version, 1 + random_() % (kVersionsEach - 1));
    }
    for (int round = 0; round < 24; ++round) {
        HistoryQuery query = pages_of(1 + random_() % 50);
        query.order = static_cast<HistoryOrder>(round % 4);
        query.since = Instant{kTime / 4 + static_cast<std::int64_t>(random_() % (kTime / 2))};
        query.bound = pair_.index.last_position();
        if (round % 3 == 1) {
            query.type = kPatient;
        }
        if (round >= 12) {
            query.after = pair_.model.versions()[random_() % (kResources * kVersionsEach)].info;
        }
        const HistoryPage expected = pair_.model.history(query, std::nullopt);
        ASSERT_EQ(test::difference(pair_.index.history(query, {}), expected), "");
        for (const std::uint64_t looks : {1U, 1000U, 10'000U}) {
            const auto [page, steps] = walked(pair_.index, query, looks);
            ASSERT_EQ(test::difference(page, expected), "");
            // Counting alone has to look at everything in each block.
            const std::uint64_t versions = query.type ? kBlocks * 1024 / 2 : kBlocks * 1024;
            EXPECT_GE(steps, versions / (looks + 1025));
        }
    }
}

TEST_F(HistoriesOneByOne, AreCutIntoStepsByInstantToo) {
    for (const std::size_t count : {std::size_t{10}, std::size_t{kResources * kVersionsEach}}) {
        HistoryQuery query = pages_of(count);
        query.after.emplace().instant = {kTime / 2};
        for (const auto order : {HistoryOrder::last_updated, HistoryOrder::last_updated_reverse}) {
            query.order = order;
            const auto [page, steps] = walked(pair_.index, query, 1024);
            EXPECT_EQ(test::difference(page, pair_.model.history(query, std::nullopt)), "");
            EXPECT_GE(steps, kBlocks);
        }
    }
}

TEST_F(HistoriesOneByOne, TakeOneStepInCommitOrderAndNoneToCountWhatIsKnown) {
    HistoryQuery query = pages_of(100);
    for (const auto order : {HistoryOrder::newest_first, HistoryOrder::oldest_first}) {
        query.order = order;
        query.since.reset();
        query.total.reset();
        EXPECT_EQ(walked(pair_.index, query, 2048).second, 1U);
        query.since = Instant{kTime / 2};
        HistoryPage expected = pair_.model.history(query, std::nullopt);
        query.total = expected.total = 7;
        const auto [page, steps] = walked(pair_.index, query, 2048);
        EXPECT_EQ(test::difference(page, expected), "");
        EXPECT_EQ(steps, 1U);
    }
}

TEST(Index, TakesAtMostSixtyFourBytesForAVersionBesideWhatIsLeftOfItsLastHugePages) {
    constexpr std::uint64_t kBeside = std::uint64_t{6} << 20;
    for (const std::uint64_t count : {500'000U, 700'000U}) {
        Index grown;
        grown.add_batch(one_version_each(count));
        grown.publish({count});
        EXPECT_LE(grown.bytes(), 64 * count + kBeside) << count;
        Index reserved;
        reserved.reserve(count, count);
        reserved.add_batch(one_version_each(count));
        reserved.publish({count});
        EXPECT_LE(reserved.bytes(), 64 * count + kBeside) << count;
        EXPECT_EQ(grown.current(key_of(count - 1), {})->position.value, count);
    }
}

TEST(Index, KeepsVersionNumbersOfChainsThatDoNotBeginWithTheFirst) {
    Pair pair;
    pair.add(1, kPatient, 5, 10);
    pair.add(2, kPatient, 1, 20);
    pair.add(1, kPatient, 9, 30);
    pair.publish();
    EXPECT_EQ(pair.index.head(key_of(1)).version.value, 9U);
    EXPECT_EQ(pair.index.version(key_of(1), {5})->position.value, 1U);
    EXPECT_FALSE(pair.index.version(key_of(1), {1}));
    EXPECT_EQ(pair.index.current(key_of(2), {})->version.value, 1U);
    EXPECT_EQ(pair.index.previous({3}).value, 1U);
    EXPECT_EQ(pair.index.previous({2}).value, 0U);
}

TEST(Index, KeepsWhatIsErasedWhenALocationChanges) {
    Pair pair;
    pair.add(1, kPatient, 1, 10);
    pair.add(1, kPatient, 2, 20);
    pair.publish();
    pair.index.erase({.key = key_of(1), .scope = Scope::version, .version = {1}});
    constexpr Location kFarthest{.segment = 0xff'ffff, .offset = (std::uint64_t{1} << 36) - 1};
    pair.index.relocate({1}, kFarthest);
    pair.index.relocate({2}, kFarthest);
    for (const std::uint64_t position : {1U, 2U}) {
        EXPECT_EQ(pair.index.location({position}).segment, kFarthest.segment);
        EXPECT_EQ(pair.index.location({position}).offset, kFarthest.offset);
        EXPECT_EQ(pair.index.link({position}).erased, position == 1);
    }
}

TEST(Index, ServesReadersOfAResourceThatIsForgottenAndBegunAnew) {
    Index index;
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> reads = 0;
    const auto read = [&] {
        while (!done.load(std::memory_order_relaxed)) {
            for (const HistoryPage& page :
                 {index.history(pages_of(5), key_of(1)), index.history(pages_of(5), {})}) {
                EXPECT_LE(page.versions.size(), 5U);
            }
            EXPECT_LE(index.erasable({.key = key_of(1), .scope = Scope::everything, .version = {}}),
                      2U);
            reads.fetch_add(1, std::memory_order_relaxed);
        }
    };
    std::thread reader(read);
    for (std::uint64_t position = 1;
         position <= 200'000 || reads.load(std::memory_order_relaxed) < 1000; ++position) {
        index.add({.key = key_of(1),
                   .type = kPatient,
                   .position = {position},
                   .version = {position},
                   .instant = {static_cast<std::int64_t>(position)},
                   .location = {}});
        index.publish({position});
        if (position % 2 == 0) {
            index.erase({.key = key_of(1), .scope = Scope::everything, .version = {}});
        }
    }
    done = true;
    reader.join();
}

TEST(Index, FindsWhatFillsReservedMemoryWhileItIsTouchedAndWhatGrowsBeyond) {
    constexpr std::uint64_t kReserved = 400'000;
    constexpr std::uint64_t kCount = 2 * kReserved;
    const std::vector<IndexedVersion> versions = one_version_each(kCount);
    Index index;
    index.reserve(kReserved, kReserved);
    {
        const std::jthread toucher([&] { index.touch_reserved(kReserved, kReserved); });
        index.add_batch(versions);
    }
    index.publish({kCount});
    for (std::uint64_t i = 0; i < kCount; i += 997) {
        EXPECT_EQ(index.current(key_of(i), {})->position.value, i + 1);
    }
}

TEST(Index, ServesReadersWhileItGrows) {
    constexpr std::uint64_t kResources = 3000;
    constexpr std::uint64_t kVersions = 40'000;
    Index index;
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> reads = 0;
    const auto read = [&](std::uint64_t seed) {
        std::mt19937_64 random(seed);
        while (!done.load(std::memory_order_relaxed)) {
            const Position bound = index.last_position();
            if (bound.value == 0) {
                continue;
            }
            const std::uint64_t resource = random() % kResources;
            const auto now = index.current(key_of(resource), bound);
            if (now) {
                EXPECT_LE(now->position, bound);
                EXPECT_EQ(now->position.value % kResources, resource);
                const auto exact = index.version(key_of(resource), now->version);
                EXPECT_TRUE(!exact || exact->position == now->position);
            }
            for (const auto& key : {std::optional<Hash128>(), std::optional(key_of(resource))}) {
                HistoryQuery query = pages_of(20);
                query.order = static_cast<HistoryOrder>(random() % 4);
                query.bound = bound;
                const HistoryPage page = index.history(query, key);
                EXPECT_LE(page.total, bound.value);
                for (const VersionInfo& info : page.versions) {
                    EXPECT_LE(info.position, bound);
                }
            }
            EXPECT_LE(index.totals({}).live, kResources);
            reads.fetch_add(1, std::memory_order_relaxed);
        }
    };
    std::vector<std::thread> readers;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        readers.emplace_back(read, seed);
    }
    std::mt19937_64 random(99);
    for (std::uint64_t position = 1; position <= kVersions; ++position) {
        const std::uint64_t resource = position % kResources;
        index.add({.key = key_of(resource),
                   .type = kPatient,
                   .position = {position},
                   .version = {position / kResources + 1},
                   .instant = {static_cast<std::int64_t>(position - random() % 3)},
                   .deletion = random() % 10 == 0,
                   .location = {}});
        if (position % 7 == 0 || position == kVersions) {
            index.publish({position});
        }
        if (random() % 50 == 0) {
            index.erase({.key = key_of(random() % kResources),
                         .scope = static_cast<Scope>(1 + random() % 3),
                         .version = {1}});
        }
    }
    while (reads.load(std::memory_order_relaxed) < 100) {
        std::this_thread::yield();
    }
    done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(index.history(pages_of(0), {}).total, index.totals({}).versions);
}

}  // namespace
}  // namespace annals::storage
