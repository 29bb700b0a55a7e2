#include "storage/index.h"

#include "storage/history_walk.h"
#include "tests/support/version_model.h"

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
using test::same;
using test::VersionModel;

constexpr TypeId kPatient{103};
constexpr TypeId kObservation{97};

Hash128 key_of(std::uint64_t number) {
    return hash128({reinterpret_cast<const char*>(&number), sizeof number}, 7);
}

HistoryQuery pages_of(std::size_t count) {
    HistoryQuery query;
    query.count = count;
    return query;
}

/// What the index finds in steps of `looks`, and the number of steps.
std::pair<HistoryPage, std::uint64_t> walked(const Index& index, const HistoryQuery& query,
                                             std::uint64_t looks) {
    HistoryWalk walk(index, query, {});
    std::uint64_t steps = 1;
    while (!walk.advance(looks)) {
        ++steps;
    }
    return {std::move(walk.page()), steps};
}

void expect_same(const std::optional<VersionInfo>& found, const VersionModel::Version* expected,
                 std::string_view what) {
    ASSERT_EQ(found.has_value(), expected != nullptr) << what;
    if (expected != nullptr) {
        EXPECT_TRUE(same(*found, expected->info))
            << what << ": position " << found->position.value << " instead of "
            << expected->info.position.value;
    }
}

/// An index and its model, always given the same.
class Pair {
  public:
    void add(std::uint64_t resource, TypeId type, std::uint64_t number, std::int64_t instant,
             bool deletion = false) {
        index.add(
            {.key = key_of(resource),
             .type = type,
             .position = {model.versions().size() + 1},
             .version = {number},
             .instant = {instant},
             .deletion = deletion,
             .location = {.segment = static_cast<std::uint32_t>(number), .offset = resource}});
        model.add(resource, type, {number}, {instant}, deletion);
    }

    void publish() { index.publish({model.versions().size()}); }

    void erase(std::uint64_t resource, Scope scope, std::uint64_t number = 0) {
        const IndexedErase erase{.key = key_of(resource), .scope = scope, .version = {number}};
        const std::uint64_t erasable = index.erasable(erase);
        const std::uint64_t erased = index.erase(erase);
        EXPECT_EQ(erased, erasable);
        EXPECT_EQ(erased, model.erase(resource, scope, {number}));
    }

    void check_resource(std::uint64_t resource, Position bound, Instant instant,
                        VersionNumber number) {
        const Hash128 key = key_of(resource);
        expect_same(index.current(key, bound), model.standing(resource, bound), "current");
        expect_same(index.current_at(key, instant, bound), model.standing(resource, bound, instant),
                    "current_at");
        expect_same(index.version(key, number), model.version(resource, number), "version");
        const Head head = index.head(key);
        const VersionModel::Version* newest = model.standing(resource);
        EXPECT_EQ(head.exists, newest != nullptr);
        EXPECT_EQ(head.version, newest == nullptr ? VersionNumber{} : newest->info.version);
        EXPECT_EQ(head.erased_through, model.erased_through(resource));
    }

    void check_history(const HistoryQuery& query, std::optional<std::uint64_t> resource) {
        const auto key = resource ? std::optional(key_of(*resource)) : std::nullopt;
        const HistoryPage expected = model.history(query, resource);
        EXPECT_EQ(test::difference(index.history(query, key), expected), "");
        if (!resource) {
            EXPECT_EQ(test::difference(walked(index, query, 1).first, expected), "");
            EXPECT_EQ(test::difference(walked(index, query, 1500).first, expected), "");
        }
    }

    void check_totals() {
        for (const std::optional<TypeId> type :
             {std::optional<TypeId>(), std::optional(kPatient), std::optional(kObservation)}) {
            const Totals found = index.totals(type);
            const Totals expected = model.totals(type);
            EXPECT_EQ(found.versions, expected.versions);
            EXPECT_EQ(found.live, expected.live);
            EXPECT_EQ(found.resources, expected.resources);
        }
    }

    Index index;
    VersionModel model;
};

/// Random work on few resources, so that chains grow long and every erasure hits something.
void work_at_random(Pair& pair, std::mt19937_64& random, std::size_t steps, std::uint64_t resources,
                    bool instants_ascend, unsigned erase_percent) {
    std::int64_t clock = 1000;
    for (std::size_t step = 0; step < steps; ++step) {
        const std::uint64_t resource = random() % resources;
        const VersionModel::Version* newest = pair.model.standing(resource);
        if (random() % 100 < erase_percent) {
            pair.publish();
            const auto scope = static_cast<Scope>(1 + random() % 40 / 38 + random() % 40 / 38);
            pair.erase(resource, scope,
                       newest == nullptr ? 1 : 1 + random() % newest->info.version.value);
            continue;
        }
        clock += static_cast<std::int64_t>(random() % 3);
        const std::int64_t instant = instants_ascend || random() % 4 != 0
                                         ? clock
                                         : clock - static_cast<std::int64_t>(random() % 500);
        const std::uint64_t number = (newest == nullptr ? 0 : newest->info.version.value) + 1 +
                                     (random() % 5 == 0 ? random() % 3 : 0);
        pair.add(resource, resource % 3 == 0 ? kPatient : kObservation, number, instant,
                 random() % 6 == 0);
        if (random() % 4 == 0) {
            pair.publish();
        }
    }
    pair.publish();
}

void compare_at_random(Pair& pair, std::mt19937_64& random, std::size_t rounds,
                       std::uint64_t resources) {
    const std::uint64_t size = pair.model.versions().size();
    for (std::size_t round = 0; round < rounds; ++round) {
        pair.check_resource(random() % resources, {random() % (size + 5)},
                            {static_cast<std::int64_t>(random() % (size + 2000))},
                            {1 + random() % (size / resources + 2)});
        HistoryQuery query;
        query.order = static_cast<HistoryOrder>(random() % 4);
        query.count = random() % 20;
        query.bound = random() % 2 == 0 ? Position{} : Position{1 + random() % (size + 5)};
        if (random() % 2 == 0) {
            query.since = Instant{static_cast<std::int64_t>(500 + random() % (size + 1000))};
        }
        if (random() % 2 == 0) {
            query.after = pair.model.versions()[random() % size].info;
        }
        query.skip = random() % 3 == 0 ? random() % 1500 : 0;
        if (random() % 3 != 0) {
            query.type = random() % 2 == 0 ? kPatient : kObservation;
        }
        pair.check_history(query, std::nullopt);
        query.skip %= 20;
        pair.check_history(query, random() % resources);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
    pair.check_totals();
}

struct Work {
    std::uint64_t resources;
    bool instants_ascend;
    unsigned erase_percent;
};

class IndexAgainstModel : public testing::TestWithParam<Work> {};

TEST_P(IndexAgainstModel, AnswersAlike) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Pair pair;
        work_at_random(pair, random, 5000, GetParam().resources, GetParam().instants_ascend,
                       GetParam().erase_percent);
        compare_at_random(pair, random, 150, GetParam().resources);
        ASSERT_FALSE(HasFailure());
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, IndexAgainstModel,
                         testing::Values(Work{10, true, 0}, Work{10, false, 0}, Work{10, false, 30},
                                         Work{500, true, 10}, Work{500, false, 10},
                                         Work{4000, false, 5}));

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
    HistoryQuery query = pages_of(10);
    query.after.emplace().instant = {kTime / 2};
    for (const auto order : {HistoryOrder::last_updated, HistoryOrder::last_updated_reverse}) {
        query.order = order;
        const auto [page, steps] = walked(pair_.index, query, 1024);
        EXPECT_EQ(test::difference(page, pair_.model.history(query, std::nullopt)), "");
        EXPECT_GE(steps, kBlocks);
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
