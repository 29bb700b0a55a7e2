// matches_max(): how many matches are kept at a time; tests reach that limit with fewer.
//
// Layer:   core/search.
// Threads: any.

#pragma once

#include "core/search/execute.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace annals::core::search {

/// Lowered by tests (tests/support/matches_limit.h); it can't be raised.
inline std::atomic<std::size_t> matches_max_instead{kMatchesMax};

/// kMatchesMax, or less in tests.
inline std::size_t matches_max() noexcept {
    return std::min(kMatchesMax, matches_max_instead.load(std::memory_order_relaxed));
}

}  // namespace annals::core::search
