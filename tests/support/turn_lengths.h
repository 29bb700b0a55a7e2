// TurnLengths: turns of long work that end anywhere, as long as it lives.
//
// Threads: made and destroyed while no work is under way; the length is asked for by any.

#pragma once

#include "core/search/pace.h"

#include <chrono>

namespace annals::test {

class TurnLengths {
  public:
    /// Makes a turn's length of the usual one.
    using Length = std::chrono::microseconds (*)(std::chrono::microseconds usual) noexcept;

    explicit TurnLengths(Length length) { core::search::Pace::length_instead = length; }

    ~TurnLengths() { core::search::Pace::length_instead = nullptr; }

    TurnLengths(const TurnLengths&) = delete;
    TurnLengths& operator=(const TurnLengths&) = delete;
};

}  // namespace annals::test
