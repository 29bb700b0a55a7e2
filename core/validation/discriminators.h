// Discriminators: which slice of a profile an element is in.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 profiling.html#discriminator.
// Threads: plain functions.

#pragma once

#include "core/validation/profile.h"

#include <cstdint>
#include <optional>

namespace annals::validation {

/// What it takes to try one slice on one element, in steps of a validation.
inline constexpr std::uint64_t kSliceSteps = 10;

/// Is `spot` in the slice of `node`, and in those that it is a slice of? Nothing if it can't be told.
std::optional<bool> is_in_slice(Context& context, const Frame& frame, const Profile& profile,
                                const Node& node, const Node& slice, const Spot& spot);

}  // namespace annals::validation
