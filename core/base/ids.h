// Strong types for the numbers that must not be mixed up.
//
// Layer:   core/base.
// Threads: plain values.

#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace annals {

/// Place of a version in commit order, store-wide and permanent; the first version has position 1. 0 is "before everything".
struct Position {
    std::uint64_t value = 0;

    auto operator<=>(const Position&) const = default;
};

/// FHIR's meta.versionId as a number; the first is 1, 0 is "none".
struct VersionNumber {
    std::uint64_t value = 0;

    auto operator<=>(const VersionNumber&) const = default;
};

/// Largest version number that a resource can have (it has 32 bits in the index).
inline constexpr std::uint64_t kVersionNumberMax = 0xffff'ffff;

/// Whether `text` matches FHIR's id pattern: [A-Za-z0-9\-\.]{1,64} (datatypes.html#id).
bool is_resource_id(std::string_view text) noexcept;

}  // namespace annals
