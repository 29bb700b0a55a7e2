// Terms of all references in a resource, whether or not a search parameter finds them.
//
// They are in a column that no parameter can have. Before a resource is deleted, its referrers are found by them.
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

/// The code of their column. The codes of SearchParameters don't begin with an underscore.
inline constexpr std::string_view kReferencesCode = "_references";

/// Appends a term for each `reference` anywhere in `resource` to Type/id, relative, below `base_url` or absolute, with
/// or without a version. Their number is not limited. `seed`, `base_url`: as for Extractor.
void append_reference_terms(json::Value resource, std::uint64_t seed, std::string_view base_url,
                            std::vector<Term>& terms);

/// The terms, sorted, of which every resource that refers to Type/id has at least one. `key` is its
/// Store::search_key(); `base_url` is the request's, which references may use if none is configured.
std::array<Term, 2> terms_of_referrers(TypeId type, std::string_view id, std::uint64_t key,
                                       std::string_view base_url);

}  // namespace annals::core::search
