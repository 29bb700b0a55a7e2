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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace annals::core {

/// A page of contained resources ends after the resource with which they exceed this: unlike others, they are copied.
inline constexpr std::size_t kContainedPageBytes = 16 << 20;

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

    /// Sets the content to what a page of `containers`, the resources that match or contain matches, has: the contained
    /// resources that match, and those of `containers` that match themselves. Returns how many of `containers` these are of:
    /// the first ones, or, `from_end`, the last ones, up to that at which the contained resources exceed
    /// kContainedPageBytes. Errors: as Execution; timeout.
    asio::awaitable<Result<std::size_t>> take_out(
        search::Snapshot& snapshot, std::string_view base_url,
        const std::vector<storage::VersionInfo>& containers, bool from_end,
        SearchBundleContent& content, Turns& turns);

    /// The number of all that take_out() would find. Errors: as Execution; timeout.
    asio::awaitable<Result<std::uint64_t>> count(
        search::Snapshot& snapshot, const std::vector<storage::VersionInfo>& containers,
        Turns& turns);

  private:
    // A type that is searched.
    struct Asked {
        search::Query::TypePlan of;
        std::unique_ptr<search::Execution> execution;
        search::Related related;
    };

    /// What a resource has of a page. Lifetime: until the next one.
    struct Found {
        const storage::VersionInfo& info;
        std::string_view id;
        bool is_match = false;               ///< itself
        std::span<const json::Value> inner;  ///< the contained resources that match
    };

    /// False: this was the last one needed.
    using Take = std::function<bool(const Found& found)>;

    asio::awaitable<Result<void>> each(search::Snapshot& snapshot,
                                       const std::vector<storage::VersionInfo>& containers,
                                       bool from_end, Take take, Turns& turns);
    asio::awaitable<Result<std::unordered_set<std::uint64_t>>> find_own(
        const std::vector<storage::VersionInfo>& containers, Turns& turns);
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
