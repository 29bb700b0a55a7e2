// The processor time that work takes, for tests that compare the costs of two ways.
//
// Threads: the test's.

#pragma once

#include <algorithm>
#include <ctime>

namespace annals::test {

/// The least processor time of three runs of `work`, counting all threads: others' work is in some of them only.
template <typename Work>
std::clock_t cpu_of(Work work) {
    std::clock_t least = 0;
    for (int run = 0; run < 3; ++run) {
        const std::clock_t begin = std::clock();
        work();
        const std::clock_t taken = std::clock() - begin;
        least = run == 0 ? taken : std::min(least, taken);
    }
    return least;
}

}  // namespace annals::test
