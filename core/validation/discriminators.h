// Discriminators: determine which slice of a profile an element belongs to.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 profiling.html#discriminator.
// Threads: plain functions.

#pragma once

#include "core/validation/profile.h"

#include <cstdint>
#include <optional>

namespace annals::validation {

/// The steps of a validation for testing one slice on one element.
inline constexpr std::uint64_t kSliceSteps = 10;

/// Whether `spot` is in the slice `node` and in those that this is a slice of; none if it can't be told.
std::optional<bool> is_in_slice(Context& context, const Frame& frame, const Profile& profile,
                                const Node& node, const Node& slice, const Spot& spot);

}  // namespace annals::validation
