// Terms of all references of a resource, whether a search parameter leads to them or not.
//
// They stand in a column that no parameter can have: what refers to a resource is found by them before it is deleted.
//
// Layer:   core/search.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/search/terms.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// The code of their column. Codes of SearchParameters have no underscore in front.
inline constexpr std::string_view kReferencesCode = "_references";

/// Appends a term for each `reference` of the form Type/id, relative, below `base_url` or absolute, with a version or
/// without, that stands anywhere in `resource`. None is left out, however many there are. `seed`, `base_url`: as
/// Extractor.
void append_reference_terms(json::Value resource, std::uint64_t seed, std::string_view base_url,
                            std::vector<Term>& terms);

/// What a resource that refers to Type/id carries one of, ascending; `key` is Store::search_key() of it and `base_url`
/// the request's, by which it may be referred to where none is configured.
std::array<Term, 2> terms_of_referrers(TypeId type, std::string_view id, std::uint64_t key,
                                       std::string_view base_url);

}  // namespace annals::core::search
