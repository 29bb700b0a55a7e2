// Extraction: from a resource to what it can be found by.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html; docs/search.md says what each data type yields for each parameter type.
// Threads: an Extractor belongs to one thread; search_entries_of() is for all.

#pragma once

#include "codec/json/document.h"
#include "core/search/parameters.h"
#include "storage/search_entries.h"

#include <memory>
#include <string_view>

namespace annals::core::search {

class Extractor {
  public:
    /// `seed` is the store's (Store::search_seed), for keys of references; `base_url` the configured one or empty:
    /// references below it are local.
    Extractor(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
              std::string base_url);

    /// Everything that `resource`, of `type`, can be found by, but its key and `_lastUpdated`, which the store adds.
    /// Terms ascend, each once. What a parameter can't be evaluated for is left out.
    void extract(TypeId type, json::Value resource, storage::SearchEntries& entries);

    /// The same for one parameter alone: for sorting by it, and for verifying.
    void extract(const Parameter& parameter, TypeId type, json::Value resource,
                 storage::SearchEntries& entries);

    /// For a composite: the entries of each component, element by element.
    std::vector<std::vector<storage::SearchEntries>> extract_composite(const Parameter& parameter,
                                                                       TypeId type,
                                                                       json::Value resource);
};

}  // namespace annals::core::search
