// Searching contained resources: `_contained` and `_containedType`.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#contained; docs/api/search.md.
// Threads: belongs to one search, on its loop.

#pragma once

#include "core/interactions/search_bundle.h"
#include "core/search/extract.h"
#include "core/search/query.h"
#include "core/search/snapshot.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Contained resources are in no index: every body is looked at for them. Lifetime: the plans that widen() makes
/// point into this, which stays where it is.
class ContainedSearch {
  public:
    ContainedSearch(std::uint64_t seed, std::shared_ptr<const search::ParameterSet> parameters,
                    std::string base_url);
    ContainedSearch(const ContainedSearch&) = delete;
    ContainedSearch& operator=(const ContainedSearch&) = delete;

    /// Makes the query find resources of any type that contain a match, besides or instead of matches themselves.
    void widen(search::Query& query);

    /// Puts the contained resources that match in the place of the resources that contain them.
    void take_out(search::Snapshot& snapshot, std::string_view base_url,
                  SearchBundleContent& content);

  private:
    bool matches(json::Value contained);
    bool contains_match(json::Value resource);

    search::Extractor extractor_;
    std::vector<search::Query::TypePlan> asked_;
    storage::SearchEntries entries_;
    bool containing_ = true;
};

}  // namespace annals::core
