// OrderedWalk: finds the first matches in the order of a column of dates or numbers, without finding all matches.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#sort; docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot_bodies.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace annals::core::search {

/// Merges the sorted intervals of all runs and tests the plan on each document in turn, until enough have matched. The
/// result is that of Sorter by the first key, without the documents that have no value. If the other keys matter, it is not
/// sorted: it has all matches with each of its values but, at the edge's own value, without the edge.
class OrderedWalk {
  public:
    /// Whether it can begin to sort by `keys`: the first is a date, a number or `_lastUpdated`.
    static bool can_order(std::span<const SortKey> keys) noexcept;

    /// Whether the keys after the first matter: those with the same `_lastUpdated` have an order of their own.
    static bool has_ties(std::span<const SortKey> keys) noexcept;

    /// Whether it can also go backwards: by `_lastUpdated`, which every stored version has.
    static bool can_reverse(std::span<const SortKey> keys) noexcept;

    /// A match and its place in the order.
    struct Edge {
        Match match;
        std::int64_t value = 0;
    };

    /// Finds at least the first `count` matches of the execution's plan after the one at `edge` (0: from the beginning). The
    /// place of the edge is determined here unless it is `known`, as it must be if it is of another type. `backwards`: the last
    /// ones before the edge (0: of all), from the last one on.
    /// Requires: the execution's advance() has returned true; backwards: can_reverse(keys), and everything is stored.
    /// Lifetime: snapshot and execution outlive this.
    OrderedWalk(Snapshot& snapshot, Execution& execution, std::span<const SortKey> keys,
                Position edge, std::size_t count, const std::optional<Edge>& known = std::nullopt,
                bool backwards = false);
    ~OrderedWalk();

    /// Whether this is expected to be cheaper than finding and sorting all matches.
    bool is_worthwhile() const noexcept;

    /// True when done, false when the turn is over.
    Result<bool> advance(const Pace& pace);

    /// False if all matches must be sorted instead: fewer than `count` with a value come after the edge and some may have none,
    /// the edge has no value or is not a match, or it was given up because of too many other documents.
    bool found_enough() const noexcept { return (!lost_ && has_enough()) || found_all(); }

    /// Whether nothing is known to match after the edge but what it found, which is less than `count`.
    bool found_all() const noexcept { return !lost_ && is_at_end_ && !has_enough(); }

    /// Whether the edge is known not to be a match, as when it was erased: then nothing can be found after it.
    bool lost_edge() const noexcept { return lost_edge_; }

    std::vector<Match>& matches() noexcept { return matches_; }

    /// The edge; none if it has no value or is not a match of the execution's plan. Requires: advance() has returned true.
    std::optional<Edge> edge() const;

  private:
    struct Lane;

    struct Candidate {
        std::int64_t value = 0;
        std::uint32_t document = 0;
    };

    void open_lanes();
    bool find_edge();
    bool edge_matches();
    double estimated_matches() const noexcept;
    bool must_fetch(const Pace& pace);
    bool needs_body(const Lane& lane, std::uint32_t document) const;
    static bool passes(const Lane& lane, std::uint32_t document, BodyCheck& bodies);
    Lane* next_lane(Candidate& best);
    bool comes_before(const Lane& lane, Candidate candidate, const Lane& other,
                      Candidate others) const;
    bool accepts(const Lane& lane, Candidate candidate);
    void end_group();

    bool has_enough() const noexcept { return matches_.size() >= count_ + beside_edge_; }

    std::int64_t value_of(const storage::IntervalColumn& column, std::uint32_t document) const;

    Snapshot& snapshot_;
    Execution& execution_;
    Column column_;
    bool descending_;
    bool by_time_;
    bool has_ties_;
    Position edge_;
    std::int64_t edge_value_ = 0;
    std::size_t count_;
    std::size_t beside_edge_ = 0;  // with ties, the matches at the edge's value, before it or after
    bool all_have_values_ = false;
    bool is_at_end_ = false;  // nothing is left, and all have values
    bool lost_ = false;       // the edge has no value or is not a match, or the walk was given up
    bool lost_edge_ = false;  // it is not a match
    double tests_left_ = 0;
    Lane* edge_lane_ = nullptr;
    bool knows_edge_ = false;  // whether it matches is known
    std::vector<std::unique_ptr<Lane>> lanes_;
    SnapshotBodies bodies_;
    bool reads_bodies_ = false;
    // Of so many documents from here on, unread bodies have been fetched.
    std::size_t asked_about_ = 0;
    std::int64_t group_value_ = 0;
    std::vector<Match> group_;  // those with the current value, unless it is a time
    std::vector<Match> matches_;
};

}  // namespace annals::core::search
