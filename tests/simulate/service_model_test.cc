// Random interactions with the whole service, each answer compared with a model made from the documentation.
//
// Each seed is printed when it begins, as a check that aborts leaves no time for it; tests/simulate/seeds.h says how to
// repeat it. If an answer differs that is printed, too, and then for two minutes steps are taken out without which one still
// differs.

#include "tests/simulate/seeds.h"
#include "tests/simulate/service_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>

namespace annals::test {
namespace {

constexpr std::uint64_t kDefaultSeeds = 80;
constexpr int kSteps = 250;

/// How many requests a seed has at least.
constexpr std::uint64_t kRequestsMin = 200;

/// How long a failing run is repeated to find a shorter one.
constexpr std::chrono::minutes kShorteningMax{2};

class ServiceAgainstModel : public ServiceSimulation {
  protected:
    /// Runs the seed; if an answer differs, repeats it with fewer and fewer steps.
    void compare(std::uint64_t seed) {
        std::cerr << "ANNALS_SEED=" << seed << std::endl;
        std::vector<int> steps(kSteps);
        std::iota(steps.begin(), steps.end(), 0);
        std::optional<std::string> what = run(seed, steps);
        if (!what) {
            return;
        }
        std::cerr << "ANNALS_SEED=" << seed << ": " << *what << std::endl;
        std::vector<std::string> shortest = trace();
        const auto end = std::chrono::steady_clock::now() + kShorteningMax;
        for (std::size_t part = steps.size() / 2; part > 0; part /= 2) {
            for (std::size_t at = 0; at < steps.size() && std::chrono::steady_clock::now() < end;) {
                std::vector<int> fewer = steps;
                const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
                fewer.erase(from,
                            from + static_cast<std::ptrdiff_t>(std::min(part, fewer.size() - at)));
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
    const auto [first, last] = seeds(kDefaultSeeds);
    for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
        const std::uint64_t before = requests();
        compare(seed);
        EXPECT_TRUE(HasFailure() || requests() - before >= kRequestsMin) << "ANNALS_SEED=" << seed;
    }
}

}  // namespace
}  // namespace annals::test
