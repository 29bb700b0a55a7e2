// The names of the types of search parameters.
//
// Layer:   codec; depends on core/base only.
// Spec:    FHIR R4 valueset-search-param-type.html.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <optional>
#include <string_view>

namespace annals::schema {

/// "number", "token"...: as in a SearchParameter.
std::string_view search_type_name(SearchType type) noexcept;

/// None if R4 has no such type.
std::optional<SearchType> find_search_type(std::string_view name) noexcept;

}  // namespace annals::schema
