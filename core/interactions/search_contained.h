// Searching contained resources: `_contained` and `_containedType`.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#contained; docs/api/search.md.
// Threads: belongs to one search, on its loop.

#pragma once

#include "core/interactions/search_bundle.h"
#include "core/interactions/turns.h"
#include "core/search/container.h"
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

/// Contained resources are not indexed: every body is searched for them. Lifetime: the plans made by widen()
/// point into this, which must not move; the store outlives it.
class ContainedSearch {
  public:
    ContainedSearch(const storage::Store& store,
                    std::shared_ptr<const search::ParameterSet> parameters, std::string base_url);
    ContainedSearch(const ContainedSearch&) = delete;
    ContainedSearch& operator=(const ContainedSearch&) = delete;

    /// Makes the query find resources of any type that contain a match, in addition to or instead of the matches
    /// themselves.
    void widen(search::Query& query);

    /// Resolves the chains of the original plans, before the query is executed. Lifetime: the snapshot outlives this.
    /// Errors: as Execution; timeout.
    asio::awaitable<Result<void>> resolve_chains(search::Snapshot& snapshot, Turns& turns);

    /// Replaces the resources that contain matches by the contained resources that match. A resource that matches
    /// itself stays, even if it contains matches, too. Errors: as Execution; timeout.
    asio::awaitable<Result<void>> take_out(search::Snapshot& snapshot, std::string_view base_url,
                                           SearchBundleContent& content, Turns& turns);

  private:
    // A type that is searched.
    struct Asked {
        search::Query::TypePlan of;
        std::unique_ptr<search::Execution> execution;
        search::Related related;
    };

    std::string mentioned_by_containers(TypeId type) const;
    bool matches(json::Value contained, search::Container& container);
    bool contains_match(json::Value resource);

    const storage::Store& store_;
    search::Extractor extractor_;
    std::vector<Asked> asked_;
    storage::SearchEntries entries_;
    bool containing_ = true;
};

}  // namespace annals::core
