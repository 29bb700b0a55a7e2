// MatchesLimit: a lower limit of matches that are kept at a time, as long as it lives.
//
// Threads: made and destroyed while no search is under way; the limit is asked for by any.

#pragma once

#include "core/search/matches_max.h"

#include <cstddef>

namespace annals::test {

class MatchesLimit {
  public:
    explicit MatchesLimit(std::size_t max) { core::search::matches_max_instead = max; }

    ~MatchesLimit() { core::search::matches_max_instead = core::search::kMatchesMax; }

    MatchesLimit(const MatchesLimit&) = delete;
    MatchesLimit& operator=(const MatchesLimit&) = delete;
};

}  // namespace annals::test
