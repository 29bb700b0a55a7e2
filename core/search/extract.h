// Extraction: finds the index entries of a resource.
//
// One walk over the resource serves all parameters whose expressions are paths; the others are evaluated as FHIRPath.
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
#include <string_view>
#include <vector>

namespace annals::core::search {

class Container;

class Extractor {
  public:
    /// `seed` is the store's (Store::search_seed), for the keys of references. References below `base_url`, the
    /// configured one or empty, are local.
    Extractor(std::shared_ptr<const ParameterSet> parameters, std::uint64_t seed,
              std::string base_url);
    ~Extractor();
    Extractor(const Extractor&) = delete;
    Extractor& operator=(const Extractor&) = delete;

    const std::shared_ptr<const ParameterSet>& parameters() const noexcept;

    /// Replaces `entries` by those of `resource`, of `type`, except its key and `_lastUpdated`, which the store adds.
    /// All are sorted and unique; texts by column, then characters. Parameters that can't be evaluated, and what
    /// exceeds the limits of values.h, are left out. `container`: the resource that contains it, if any, in which its
    /// references `#id` are resolved.
    /// Cost: no allocations once the type is known and `entries` have grown.
    void extract(TypeId type, json::Value resource, storage::SearchEntries& entries,
                 Container* container = nullptr);

    /// The same for what a run is built of: terms are unsorted and may be repeated, since runs are sorted as a whole.
    void extract_for_run(TypeId type, json::Value resource, storage::SearchEntries& entries);

    /// The same for a single parameter. Requires: the parameter is one of parameters().
    void extract(const Parameter& parameter, TypeId type, json::Value resource,
                 storage::SearchEntries& entries, Container* container = nullptr);

    /// For a composite: the entries of each component, element by element.
    std::vector<std::vector<storage::SearchEntries>> extract_composite(const Parameter& parameter,
                                                                       json::Value resource);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The calling thread's extractor for these arguments: what it has compiled is worth keeping.
/// Lifetime: until the thread has called this twice for other arguments.
Extractor& thread_extractor(const std::shared_ptr<const ParameterSet>& parameters,
                            std::uint64_t seed, std::string_view base_url);

}  // namespace annals::core::search
