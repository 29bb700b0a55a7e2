// Random work on a store over a simulated disk, compared with a model after every few steps.
//
// A failure prints its seed; tests/simulate/seeds.h says how to repeat it.

#include "tests/simulate/seeds.h"
#include "tests/simulate/store_simulation.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::storage {
namespace {

constexpr std::uint64_t kDefaultSeeds = 60;

TEST(StoreAgainstModel, AnswersAlikeWhateverHappens) {
    const auto [first, last] = test::seeds(kDefaultSeeds);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE("ANNALS_SEED=" + std::to_string(seed));
        StoreSimulation(seed).run();
        ASSERT_FALSE(HasFailure()) << "replay with ANNALS_SEED=" << seed;
    }
}

}  // namespace
}  // namespace annals::storage
