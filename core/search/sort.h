// Sorting: orders matches as `_sort` requests.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#sort; docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/search/execute.h"
#include "core/search/query.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace annals::core::search {

/// Mixes the definitions of custom sort parameters into the digest of a search: if one is redefined, cursors of the old
/// order must not be continued.
std::uint64_t mix_sort(std::uint64_t digest, std::span<const SortKey> keys);

/// The order of a search without `_sort`: `_lastUpdated`, the latest first. What has none, because a package brought it, comes
/// before all that is stored.
std::span<const SortKey> default_order();

/// Finds a page of the sorted matches. Matches without a value for a key come last in either direction (SortKey::without_first);
/// ties are broken newest first, by `_lastUpdated` in its own direction.
class Sorter {
  public:
    /// Lifetime: the arguments outlive this; `matches` must not change.
    Sorter(Snapshot& snapshot, std::span<const SortKey> keys, std::span<const Match> matches);
    ~Sorter();

    /// Sets the page: the first `count` matches after the one at `edge` or, backwards, the last ones before it. Edge 0:
    /// from the beginning.
    void want(Position edge, bool backwards, std::size_t count);

    /// Collects the values of the keys, then finds the page: true when done, false when the turn is over.
    /// Errors: too_costly (too many bodies would have to be read).
    Result<bool> advance(const Pace& pace);

    /// The page in order, as indexes into the matches. Requires: advance() has returned true.
    const std::vector<std::uint32_t>& page() const noexcept { return page_; }

    /// False if there is no match at the edge and therefore no page. Requires: advance() has returned true.
    bool found_edge() const noexcept { return edge_.value == 0 || edge_index_.has_value(); }

  private:
    struct Values;

    int compare(std::uint32_t a, std::uint32_t b, std::size_t keys) const;
    bool before(std::uint32_t a, std::uint32_t b) const;
    bool is_sooner(std::uint32_t a, std::uint32_t b) const;
    bool take_from_index(const Pace& pace);
    void take_dates(const SortKey& key, Values& values, std::size_t end);
    void take_texts(const SortKey& key, Values& values, std::size_t end);
    bool take_bodies(const Pace& pace);
    bool must_fetch(const Pace& pace);
    bool find_edge(const Pace& pace);
    template <typename Sooner>
    bool place(const Pace& pace, Sooner sooner);
    Result<bool> find_contenders(const Pace& pace);
    void keep_contenders();
    bool find_page(const Pace& pace);

    Snapshot& snapshot_;
    std::span<const SortKey> keys_;
    std::span<const Match> matches_;
    std::vector<Values> values_;   // one for each key
    std::size_t known_keys_ = 0;   // those before the first one whose values are in bodies
    std::size_t next_key_ = 0;     // take_from_index() is here
    std::size_t next_match_ = 0;   // ... and here
    std::size_t next_judged_ = 0;  // the next match to judge whether its body is read
    std::vector<std::uint32_t> contenders_;  // the matches whose bodies are read
    bool are_chosen_ = false;                // matches_ and values_ are those of the contenders
    std::vector<Match> chosen_;              // ... which are these
    std::size_t next_body_ = 0;
    std::size_t asked_about_ = 0;  // so many of them have been checked for unread bodies
    Position edge_;
    bool backwards_ = false;
    std::size_t count_ = 0;
    std::optional<std::uint32_t> edge_index_;
    std::size_t next_edge_ = 0;        // the next match to compare with the edge
    std::size_t next_placed_ = 0;      // the next match to consider for the page
    std::vector<std::uint32_t> page_;  // a heap with the last one on top until all are placed
};

/// At most this many bodies are read, and their values kept, for keys that can't be sorted by the index.
inline constexpr std::size_t kSortedBodiesMax = 50'000;

}  // namespace annals::core::search
