// The names of FHIR R4's resource types and their small numbers.
//
// Layer:   core/base.
// Spec:    FHIR R4 resourcelist.html: the 146 concrete types.
// Threads: constant data.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace annals {

inline constexpr std::size_t kResourceTypeCount = 146;

/// Number of a resource type: its place in the alphabetical list. Never written to disk, where types
/// go by name.
struct TypeId {
    std::uint16_t value = 0;

    auto operator<=>(const TypeId&) const = default;
};

/// The number of the type called `name` (case-sensitive), if R4 has it.
std::optional<TypeId> find_resource_type(std::string_view name) noexcept;

/// The name of `type`. Lifetime: the program's.
std::string_view resource_type_name(TypeId type) noexcept;

/// All names, in order of their numbers.
std::span<const std::string_view> resource_type_names() noexcept;

}  // namespace annals
