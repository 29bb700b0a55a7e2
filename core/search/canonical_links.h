// References by canonical url, as links to keys that are made of a url instead of a type and an id.
//
// What refers has a link to the key of the canonical as it stands there. What has a url answers to the keys of its
// names, `url` and `url|version`: it carries their identity() terms beside its own, and links to them in a column that no
// parameter can have. So whatever follows references by keys follows canonicals as well.
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

/// What a canonical, `url` or `url|version`, leads to. `seed`: of the store's index.
std::uint64_t canonical_key(std::uint64_t seed, std::string_view canonical) noexcept;

/// The keys of the canonicals that name `resource`: of its url, and of that with its version. None of what has no url.
std::vector<std::uint64_t> canonical_keys(std::uint64_t seed, json::Value resource);

/// The column of the links by which a resource knows its own names. Codes of SearchParameters have no underscore in
/// front.
Column names_column() noexcept;

/// Appends what makes `resource` found by its names.
void append_names(json::Value resource, std::uint64_t seed, storage::SearchEntries& entries);

/// The keys that append_names() left in `entries`.
std::vector<std::uint64_t> names_in(const storage::SearchEntries& entries);

}  // namespace annals::core::search
