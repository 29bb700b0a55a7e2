// The part of an OrderedWalk that goes through the intervals of one run.
//
// Layer:   core/search, behind ordered_walk.h.
// Threads: belongs to one thread.

#pragma once

#include "core/search/bound_plan.h"
#include "core/search/ordered_walk.h"
#include "core/search/run_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace annals::core::search {

// The walk over one run's intervals.
struct OrderedWalk::Lane {
    std::shared_ptr<const storage::SearchRun> run;
    BoundPlan condition;
    std::vector<const BoundPlan*> tests;  // its parts, in the order in which they are tested
    double matches = 0;                   // estimated
    Column column_id = 0;
    storage::IntervalColumn column;
    bool descending = false;
    bool by_time = false;             // one point of each document: equal ones ascend by document
    std::int64_t latest = INT64_MAX;  // downwards: what ends later comes before the edge

    // Where the walk is.
    struct Place {
        // Upwards: the next of the shorter and of the longer ones. Downwards: the shorter ones before `shorter` remain.
        std::size_t shorter = 0;
        std::size_t longer = 0;
        std::vector<Candidate> heap;  // downwards: those whose ends have been read, latest on top
    };

    Place at;
    // The ends of those that may match; downwards, the shorter ones begin at `shorter_begin`.
    std::size_t shorter_begin = 0;
    std::size_t shorter_end = 0;
    std::size_t longer_end = 0;

    static bool is_earlier(const Candidate& a, const Candidate& b) noexcept {
        return a.value < b.value;
    }

    std::size_t size() const noexcept {
        return shorter_end - shorter_begin + longer_end - at.longer;
    }

    // Narrows the walk by the plan's conditions on the column itself: `date=ge2026` begins with 2026.
    void narrow(const BoundPlan& part) {
        if (part.kind == BoundPlan::Kind::all_of) {
            for (const BoundPlan& one : part.parts) {
                narrow(one);
            }
        }
        // If a document has several intervals, another one may determine its place.
        if (part.kind != BoundPlan::Kind::interval || part.column != column_id ||
            !RunFacts::of_thread().is_single(run, column_id)) {
            return;
        }
        const IntervalStretch& stretch = part.intervals.stretch();
        const std::size_t before = column.shorter_count;
        shorter_begin = std::max<std::size_t>(shorter_begin, stretch.first);
        shorter_end = std::max(shorter_begin, std::min<std::size_t>(shorter_end, stretch.last));
        at.longer = std::max<std::size_t>(at.longer, stretch.longer_first - before);
        longer_end =
            std::max(at.longer, std::min<std::size_t>(longer_end, stretch.longer_last - before));
    }

    // The first of the shorter ones that is not before `value` nor, at that value, of a document before this one.
    std::size_t first_of(std::int64_t value, std::uint32_t document) const {
        const storage::Intervals all = column.shorter();
        const auto same = std::ranges::equal_range(all.low, value);
        const auto first = static_cast<std::size_t>(same.begin() - all.low.begin());
        const auto documents = all.document.subspan(first, same.size());
        const auto later = std::ranges::lower_bound(documents, document) - documents.begin();
        return first + static_cast<std::size_t>(later);
    }

    void push(std::uint32_t interval) {
        if (column.all.high[interval] <= latest) {
            at.heap.push_back({column.all.high[interval], column.all.document[interval]});
            std::push_heap(at.heap.begin(), at.heap.end(), is_earlier);
        }
    }

    // The next candidate; false at the end.
    bool peek(Candidate& candidate) {
        return !descending ? peek_up(candidate)
               : by_time   ? peek_down_points(candidate)
                           : peek_down(candidate);
    }

    void pop() {
        if (descending && by_time) {
            --at.shorter;
        } else if (descending) {
            std::pop_heap(at.heap.begin(), at.heap.end(), is_earlier);
            at.heap.pop_back();
        } else {
            ++(is_shorter_next() ? at.shorter : at.longer);
        }
    }

    bool is_shorter_next() const {
        return at.shorter < shorter_end &&
               (at.longer == longer_end ||
                column.shorter().low[at.shorter] <= column.longer().low[at.longer]);
    }

    bool peek_up(Candidate& candidate) const {
        if (at.shorter == shorter_end && at.longer == longer_end) {
            return false;
        }
        const bool is_shorter = is_shorter_next();
        const storage::Intervals from = is_shorter ? column.shorter() : column.longer();
        const std::size_t interval = is_shorter ? at.shorter : at.longer;
        candidate = {from.low[interval], from.document[interval]};
        return true;
    }

    bool peek_down_points(Candidate& candidate) const {
        if (at.shorter == shorter_begin) {
            return false;
        }
        const storage::Intervals points = column.shorter();
        candidate = {points.high[at.shorter - 1], points.document[at.shorter - 1]};
        return true;
    }

    // Intervals that are not in the heap begin no later than the next one and are at most the span long.
    bool peek_down(Candidate& candidate) {
        const storage::Intervals shorter_ones = column.shorter();
        while (at.shorter > shorter_begin) {
            const std::int64_t low = shorter_ones.low[at.shorter - 1];
            const std::uint64_t room = INT64_MAX - static_cast<std::uint64_t>(low);
            const std::int64_t bound =
                room < column.short_span ? INT64_MAX
                                         : static_cast<std::int64_t>(
                                               static_cast<std::uint64_t>(low) + column.short_span);
            if (!at.heap.empty() && at.heap.front().value > bound) {
                break;
            }
            --at.shorter;
            push(static_cast<std::uint32_t>(at.shorter));
        }
        if (at.heap.empty()) {
            return false;
        }
        candidate = at.heap.front();
        return true;
    }
};

}  // namespace annals::core::search
