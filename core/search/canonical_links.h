// Canonical references, as links to keys that are derived from a URL instead of a type and an id.
//
// A referring resource has a link to the key of the canonical as written. A resource with a url is known by the keys of
// its names, `url` and `url|version`: it has their identity() terms in addition to its own, and links to them in a
// column that no parameter can have. Code that follows references by keys therefore follows canonicals as well.
//
// Layer:   core/search.
// Spec:    FHIR R4 references.html#canonical.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/search/terms.h"
#include "storage/search_entries.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// Whether resources of the type have a url by which canonicals name them.
bool may_be_named(TypeId type) noexcept;

/// The key of a canonical, `url` or `url|version`. `seed` is that of the store's index.
std::uint64_t canonical_key(std::uint64_t seed, std::string_view canonical) noexcept;

/// The keys of the canonicals that name `resource`: of its url, and of its url with its version. Empty without a url.
std::vector<std::uint64_t> canonical_keys(std::uint64_t seed, json::Value resource);

/// The column of a resource's links to its own names. It can't collide with a parameter: the codes of SearchParameters
/// don't begin with an underscore.
Column names_column() noexcept;

/// Appends the entries by which `resource` is found by its names.
void append_names(json::Value resource, std::uint64_t seed, storage::SearchEntries& entries);

/// The keys that append_names() added to `entries`.
std::vector<std::uint64_t> names_in(const storage::SearchEntries& entries);

}  // namespace annals::core::search
