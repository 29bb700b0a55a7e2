// The seeds of a simulation: ANNALS_SEED=n runs that seed only, ANNALS_SEEDS=n runs the seeds from 1 to n.
//
// Threads: the test's.

#pragma once

#include <cstdint>
#include <cstdlib>

namespace annals::test {

struct Seeds {
    std::uint64_t first = 1;
    std::uint64_t last = 0;
};

/// Those that the environment asks for, or else the first `usual`.
inline Seeds seeds(std::uint64_t usual) {
    const auto from_environment = [](const char* name, std::uint64_t otherwise) {
        const char* const text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    };
    const std::uint64_t only = from_environment("ANNALS_SEED", 0);
    return only != 0 ? Seeds{only, only} : Seeds{1, from_environment("ANNALS_SEEDS", usual)};
}

}  // namespace annals::test
