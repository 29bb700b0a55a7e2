// SearchFeed: passes versions to the search index, grouped by publication.
//
// Layer:   storage.
// Threads: one at a time (the log writer's, or open()'s), except for the counts.

#pragma once

#include "core/base/instant.h"
#include "storage/search_index.h"
#include "storage/store.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace annals::storage {

class SearchFeed {
  public:
    /// Lifetime: `index` outlives the feed.
    SearchFeed(SearchIndex& index, const SearchSetup& setup)
        : index_(index),
          identity_(setup.identity),
          last_updated_column_(setup.last_updated_column) {}

    SearchIndex& index() noexcept { return index_; }

    /// Adds a version with complete entries, which is searchable from the next publish() on. Requires: positions ascend.
    /// Lifetime: what `entries` views, until publish().
    void add(TypeId type, Position position, std::uint64_t key, const SearchEntriesView& entries);

    /// Adds the entries that storage makes itself: resource and instant.
    void complete(std::uint64_t key, Instant instant, SearchEntries& entries) const;

    void publish();

    /// The version at `position` stopped being current at `at`.
    void died(TypeId type, Position position, Position at) { index_.died(type, position, at); }

    void erased(TypeId type, Position position);

    /// Calls `call` each time another `versions` have been published, on the publishing thread. To be called before another
    /// thread publishes anything.
    void call_after_each(std::uint64_t versions, std::function<void()> call);

    /// How many versions were published, and how many erased, so far.
    std::uint64_t published_count() const noexcept {
        return published_count_.load(std::memory_order_relaxed);
    }

    std::uint64_t erased_count() const noexcept {
        return erased_count_.load(std::memory_order_relaxed);
    }

  private:
    SearchIndex& index_;
    std::uint64_t (*const identity_)(std::uint64_t key);
    const std::uint64_t last_updated_column_;
    std::array<std::vector<IndexedDocument>, kResourceTypeCount> documents_;
    std::vector<TypeId> types_;  ///< those with documents
    std::uint64_t call_each_ = 0;
    std::uint64_t call_at_ = ~std::uint64_t{0};
    std::function<void()> call_;
    std::atomic<std::uint64_t> published_count_ = 0;
    std::atomic<std::uint64_t> erased_count_ = 0;
};

}  // namespace annals::storage
