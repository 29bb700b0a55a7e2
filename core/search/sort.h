// Sorting: matches in the order that `_sort` asks for.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#sort; docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/search/execute.h"
#include "core/search/query.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annals::core::search {

/// A digest of a search with what it is sorted by: another once a parameter of somebody's own has come to mean something
/// else, for pages of two orders don't fit.
std::uint64_t mix_sort(std::uint64_t digest, std::span<const SortKey> keys);

/// The place of each match by each key. What has no value for a key comes last whichever way it is sorted; what is
/// equal in all keys comes newest first.
class Sorter {
  public:
    /// Lifetime: the arguments outlive this; `matches` stay as they are.
    Sorter(Snapshot& snapshot, std::span<const SortKey> keys, std::span<const Match> matches);
    ~Sorter();

    /// Says which page is wanted: the first `count` matches that come after the one at `edge`, or the last ones before it;
    /// from the beginning if the edge is 0.
    void want(Position edge, bool backwards, std::size_t count);

    /// Finds the values of the keys, and then the page: true when it is found, false when the turn is over.
    /// Errors: too_costly (too many bodies would have to be read).
    Result<bool> advance(const Pace& pace);

    /// The page in order, as indexes of matches. Requires: advance() was true.
    const std::vector<std::uint32_t>& page() const noexcept { return page_; }

    /// False if there is no match at the edge, and so no page. Requires: advance() was true.
    bool found_edge() const noexcept { return edge_.value == 0 || edge_index_.has_value(); }

  private:
    struct Values;

    bool before(std::uint32_t a, std::uint32_t b) const;
    bool is_sooner(std::uint32_t a, std::uint32_t b) const;
    bool take_from_index(const Pace& pace);
    void take_dates(const SortKey& key, Values& values, std::size_t end);
    void take_texts(const SortKey& key, Values& values, std::size_t end);
    bool take_bodies(const Pace& pace);
    bool must_fetch(const Pace& pace);
    bool find_edge(const Pace& pace);
    bool find_page(const Pace& pace);

    Snapshot& snapshot_;
    std::span<const SortKey> keys_;
    std::span<const Match> matches_;
    std::vector<Values> values_;  // one for each key
    std::size_t next_key_ = 0;    // of those whose values are in the index
    std::size_t next_match_ = 0;  // whose value of it comes next
    std::size_t next_body_ = 0;
    std::size_t asked_about_ = 0;  // whether their bodies are in memory
    Position edge_;
    bool backwards_ = false;
    std::size_t count_ = 0;
    std::optional<std::uint32_t> edge_index_;
    std::size_t next_edge_ = 0;        // the match that may be it
    std::size_t next_placed_ = 0;      // the match that may be of the page
    std::vector<std::uint32_t> page_;  // until all are placed a heap, the last one on top
};

/// At most so many bodies are read for keys that the index has no order of.
inline constexpr std::size_t kSortedBodiesMax = 50'000;

}  // namespace annals::core::search
