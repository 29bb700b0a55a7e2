// Random interactions with the whole service, each answer compared with a model made from the documentation.
//
// ANNALS_SEED=n runs that seed only, ANNALS_SEEDS=n runs the seeds from 1 to n. A failure prints its seed, and the steps
// that are left once all have been taken out without which it fails as well.

#include "tests/simulate/service_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace annals::test {
namespace {

constexpr std::uint64_t kDefaultSeeds = 80;
constexpr int kSteps = 250;

/// How often a failing run is repeated to find a shorter one.
constexpr int kRepetitionsMax = 500;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class ServiceAgainstModel : public ServiceSimulation {
  protected:
    /// Runs the seed; if an answer differs, repeats it with fewer and fewer steps.
    void compare(std::uint64_t seed) {
        std::vector<int> steps(kSteps);
        std::iota(steps.begin(), steps.end(), 0);
        std::optional<std::string> what = run(seed, steps);
        if (!what) {
            return;
        }
        std::vector<std::string> shortest = trace();
        int repetitions = 0;
        for (std::size_t part = steps.size() / 2; part > 0; part /= 2) {
            for (std::size_t at = 0; at < steps.size() && repetitions < kRepetitionsMax;) {
                std::vector<int> fewer = steps;
                const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
                fewer.erase(from,
                            from + static_cast<std::ptrdiff_t>(std::min(part, fewer.size() - at)));
                ++repetitions;
                std::optional<std::string> still = run(seed, fewer);
                if (still) {
                    steps = std::move(fewer);
                    what = std::move(still);
                    shortest = trace();
                } else {
                    at += part;
                }
            }
        }
        std::string text;
        for (const std::string& line : shortest) {
            text += "\n  " + line;
        }
        ADD_FAILURE() << "ANNALS_SEED=" << seed << ": " << *what << "\nafter:" << text;
    }
};

TEST_F(ServiceAgainstModel, AnswersAlikeWhateverHappens) {
    const std::uint64_t only = from_environment("ANNALS_SEED", 0);
    const std::uint64_t last = only != 0 ? only : from_environment("ANNALS_SEEDS", kDefaultSeeds);
    for (std::uint64_t seed = only != 0 ? only : 1; seed <= last && !HasFailure(); ++seed) {
        compare(seed);
    }
}

}  // namespace
}  // namespace annals::test
