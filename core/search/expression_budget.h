// ExpressionBudget: how many steps the expressions of search parameters may take on one body.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include <algorithm>
#include <cstdint>

namespace annals::core::search {

/// An expression that takes more steps than this on a resource finds nothing in it.
inline constexpr std::uint64_t kExpressionStepsMax = 500'000;
/// What all expressions evaluated on one body may take in total, for its entries or for a condition on it; those for which too
/// little is left find nothing.
inline constexpr std::uint64_t kBodyStepsMax = 4 * kExpressionStepsMax;

/// Made once for a body.
class ExpressionBudget {
  public:
    /// How many steps the next expression may take.
    std::uint64_t next() const noexcept { return std::min(kExpressionStepsMax, left_); }

    void spend(std::uint64_t steps) noexcept { left_ -= std::min(left_, steps); }

  private:
    std::uint64_t left_ = kBodyStepsMax;
};

}  // namespace annals::core::search
