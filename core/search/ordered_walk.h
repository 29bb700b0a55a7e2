// OrderedWalk: the first matches in the order of a column of dates or numbers, without looking at all matches.
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

/// Goes through the sorted intervals of every run at once and tests the plan on each document that comes, until enough
/// have matched. It gives what Sorter gives, but for documents without a value, which are in no column.
class OrderedWalk {
  public:
    /// Whether `keys` are such an order: one key, a date, a number or `_lastUpdated`.
    static bool can_order(std::span<const SortKey> keys) noexcept;

    /// A match and its place in the order.
    struct Edge {
        Match match;
        std::int64_t value = 0;
    };

    /// The first `count` matches of the execution's plan that come after the one at `edge` (0: from the beginning), whose place
    /// is found out, or is `known`, where it is of another type.
    /// Requires: the execution's advance() was true. Lifetime: snapshot and execution outlive this.
    OrderedWalk(Snapshot& snapshot, Execution& execution, const SortKey& key, Position edge,
                std::size_t count, const std::optional<Edge>& known = std::nullopt);
    ~OrderedWalk();

    /// Whether this is less work than to find and sort all matches.
    bool is_worthwhile() const noexcept;

    /// True when it has ended, false when the turn is over.
    Result<bool> advance(const Pace& pace);

    /// False if fewer than `count` have a value after the edge, the edge has none or is no match, or too many others came
    /// before them: sort all of them then.
    bool found_enough() const noexcept { return !lost_ && matches_.size() >= count_; }

    std::vector<Match>& matches() noexcept { return matches_; }

    /// What it goes on behind; none if that has no value or is no match of the execution's plan. Requires: advance() was true.
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
    bool must_fetch(const Lane& lane, Position position, const Pace& pace);
    Lane* next_lane();
    bool accepts(const Lane& lane, Candidate candidate);
    void end_group();
    std::int64_t value_of(const storage::IntervalColumn& column, std::uint32_t document) const;

    Snapshot& snapshot_;
    Execution& execution_;
    Column column_;
    bool descending_;
    bool by_time_;
    Position edge_;
    std::int64_t edge_value_ = 0;
    std::size_t count_;
    bool lost_ = false;  // the edge has no value, or is no match; or it was given up
    double tests_left_ = 0;
    Lane* edge_lane_ = nullptr;
    bool knows_edge_ = false;  // whether it matches
    std::vector<std::unique_ptr<Lane>> lanes_;
    SnapshotBodies bodies_;
    Position asked_about_;  // whether its body is in memory
    std::int64_t group_value_ = 0;
    std::vector<Match> group_;  // those of the value at hand
    std::vector<Match> matches_;
};

}  // namespace annals::core::search
