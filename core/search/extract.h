// Extraction: from a resource to what it can be found by.
//
// One walk over the resource serves all parameters whose expressions are paths; others are evaluated as FHIRPath.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html; docs/search.md says what each data type yields for each parameter type.
// Threads: an Extractor belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "core/search/parameters.h"
#include "storage/search_entries.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace annals::core::search {

class Extractor {
  public:
    /// `seed` is the store's (Store::search_seed), for keys of references; `base_url` the configured one or empty:
    /// references below it are local.
    Extractor(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
              std::string base_url);
    ~Extractor();
    Extractor(const Extractor&) = delete;
    Extractor& operator=(const Extractor&) = delete;

    const std::shared_ptr<const ParameterSet>& parameters() const noexcept;

    /// Puts everything that `resource`, of `type`, can be found by into `entries`, but its key and `_lastUpdated`,
    /// which the store adds. Everything ascends, each once; texts by column and characters. What a parameter can't
    /// be evaluated for, and what is beyond the bounds of values.h, is left out.
    /// `container` is what it stands in if it is a contained resource: what it refers to by `#id` stands there, too.
    /// Cost: no allocation once the type was seen and `entries` have grown.
    void extract(TypeId type, json::Value resource, storage::SearchEntries& entries,
                 json::Value container = {});

    /// The same for a version that is to be written: its terms in any order and perhaps more than once, since runs are
    /// sorted as a whole.
    void extract_for_run(TypeId type, json::Value resource, storage::SearchEntries& entries);

    /// The same for one parameter alone: for sorting by it, and for verifying. Lifetime: the parameter is of
    /// parameters().
    void extract(const Parameter& parameter, TypeId type, json::Value resource,
                 storage::SearchEntries& entries, json::Value container = {});

    /// For a composite: the entries of each component, element by element.
    std::vector<std::vector<storage::SearchEntries>> extract_composite(const Parameter& parameter,
                                                                       json::Value resource);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::core::search
