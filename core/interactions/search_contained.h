// Searching contained resources: `_contained` and `_containedType`.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#contained; docs/api/search.md.
// Threads: belongs to one search, on its loop.

#pragma once

#include "core/interactions/search_bundle.h"
#include "core/interactions/turns.h"
#include "core/search/execute.h"
#include "core/search/extract.h"
#include "core/search/query.h"
#include "core/search/snapshot.h"
#include "storage/store.h"

#include <asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Contained resources are in no index: every body is looked at for them. Lifetime: the plans that widen() makes
/// point into this, which stays where it is; the store outlives it.
class ContainedSearch {
  public:
    ContainedSearch(const storage::Store& store,
                    std::shared_ptr<const search::ParameterSet> parameters, std::string base_url);
    ContainedSearch(const ContainedSearch&) = delete;
    ContainedSearch& operator=(const ContainedSearch&) = delete;

    /// Makes the query find resources of any type that contain a match, besides or instead of matches themselves.
    void widen(search::Query& query);

    /// Answers the chains of what is asked, before anything else is asked of the query. Lifetime: the snapshot outlives
    /// this. Errors: as Execution; timeout.
    asio::awaitable<Result<void>> resolve_chains(search::Snapshot& snapshot, Turns& turns);

    /// Puts the contained resources that match in the place of the resources that contain them. What matches itself
    /// stays, be it that it contains matches, too. Errors: as Execution; timeout.
    asio::awaitable<Result<void>> take_out(search::Snapshot& snapshot, std::string_view base_url,
                                           SearchBundleContent& content, Turns& turns);

  private:
    // Of one type that is asked for.
    struct Asked {
        search::Query::TypePlan of;
        std::unique_ptr<search::Execution> execution;
        search::Related related;
    };

    bool matches(json::Value contained, json::Value container);
    bool contains_match(json::Value resource);

    const storage::Store& store_;
    search::Extractor extractor_;
    std::vector<Asked> asked_;
    storage::SearchEntries entries_;
    bool containing_ = true;
};

}  // namespace annals::core
