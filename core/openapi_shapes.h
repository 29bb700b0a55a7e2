// How the rows of the table of interactions appear in the OpenAPI document: paths, parameters, bodies and responses.
//
// Layer:   core.
// Threads: constant data, plain functions.

#pragma once

#include "core/service.h"

#include <string_view>

namespace annals::core {

/// Describes a row of the table of interactions. Lists contain keys of components, separated by blanks; an entry of `responses`
/// is "200=resource", or "404" if the key is the status.
struct Shape {
    Level level;
    HttpMethod method;
    std::string_view id;  ///< operationId; where a path exists per type, the type is appended
    std::string_view summary;
    std::string_view parameters;
    std::string_view body;
    std::string_view responses;
};

/// Shape::body of an interaction that takes a resource of the path's type.
inline constexpr std::string_view kOwnBody = "{type}";

/// The shape of `row`; null if it has none, as is the case for operations.
const Shape* find_shape(const Interaction& row) noexcept;

/// The paths of a level, separated by blanks, with parameters in braces. Empty for the levels of operations.
std::string_view paths_of(Level level) noexcept;

}  // namespace annals::core
