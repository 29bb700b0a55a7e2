// Random work on an index, compared with its model.

#include "tests/storage/index_pair.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

namespace annals::storage {
namespace {

using Scope = Erase::Scope;
using test::VersionModel;

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

}  // namespace
}  // namespace annals::storage
