// Driver: the condition whose documents a walk over a run iterates over, while the others are tested.
//
// Layer:   core/search; private to run_walk.cc.
// Threads: plain functions.

#pragma once

#include "core/search/bound_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace annals::core::search {

/// The conditions that must all hold, most selective first; those that read bodies come last.
std::vector<const BoundPlan*> parts_of(const BoundPlan& condition);

/// The part whose documents are iterated over at the least cost until `needed` of them have passed the others; none: all
/// documents are. `size`: of the run, of which `share` is in the window. A part that would have to be collected in more than
/// `collected_max` steps isn't chosen.
std::optional<std::size_t> best_driver(std::span<const BoundPlan* const> parts, double size,
                                       double share, double needed, std::uint32_t collected_max);

}  // namespace annals::core::search
