// All resource types of FHIR R4, for loops over them.
//
// Layer:   core/base.
// Threads: constant data.

#pragma once

#include "core/base/resource_types.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace annals {

/// In order of their numbers.
inline constexpr std::array<TypeId, kResourceTypeCount> kAllResourceTypes = [] {
    std::array<TypeId, kResourceTypeCount> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].value = static_cast<std::uint16_t>(i);
    }
    return all;
}();

}  // namespace annals
