// How the OpenAPI document tells the rows of THE table: where they are, what they take, what they answer.
//
// Layer:   core.
// Threads: constant data, plain functions.

#pragma once

#include "core/service.h"

#include <string_view>

namespace annals::core {

/// How a row of THE table is told. Lists are keys of components, separated by blanks; of responses "200=resource", or
/// "404" where the key is the status.
struct Shape {
    Level level;
    HttpMethod method;
    std::string_view id;  ///< operationId; of paths that each type has, the type's name follows
    std::string_view summary;
    std::string_view parameters;
    std::string_view body;
    std::string_view responses;
};

/// Shape::body of what takes a resource of the path's type.
inline constexpr std::string_view kOwnBody = "{type}";

/// Null: the row has no shape; operations have none.
const Shape* find_shape(const Interaction& row) noexcept;

/// Where a level is; what stands in braces is a parameter. Several are separated by blanks. Empty: of operations.
std::string_view paths_of(Level level) noexcept;

}  // namespace annals::core
