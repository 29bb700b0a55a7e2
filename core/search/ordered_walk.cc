#include "core/search/ordered_walk.h"

#include "core/search/driver.h"
#include "core/search/matches_max.h"
#include "core/search/ordered_walk_lane.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

namespace annals::core::search {

namespace {

using storage::SearchRun;

// Approximate costs of testing a document in order, and of finding and sorting a match among all (nanoseconds).
constexpr double kTestNanoseconds = 600;
constexpr double kSortNanoseconds = 60;
// The same of testing its body.
constexpr double kBodyNanoseconds = 10'000;
// All matches may be at the end of the order. The walk is given up after this many tests, or twice the cost of sorting.
constexpr double kTestsMin = 10'000;
// The longer intervals are not sorted by their ends: at most this many are sorted at once.
constexpr std::size_t kLongerMax = 20'000;
// The largest group with one value, because duplicates in it are searched for linearly. Times are in order without a group.
constexpr std::size_t kGroupMax = 2'000;
constexpr unsigned kDocumentsPerLook = 64;
// How many bodies are fetched at a time, and how many documents are looked through for them.
constexpr std::size_t kBodiesAhead = 64;
constexpr std::size_t kDocumentsAhead = 512;
// How many of a term's documents are looked at to estimate how many of them are alive.
constexpr std::uint32_t kLivingSamples = 8;

// Notes whether a test asks for the body, of which nothing is read.
class NotedBodies final : public BodyCheck {
  public:
    bool passes(const Plan&, Position) override {
        asked_ = true;
        return true;
    }

    bool is_asked() const noexcept { return asked_; }

  private:
    bool asked_ = false;
};

bool is_date_or_number(const SortKey& key) noexcept {
    if (key.parameter == nullptr) {
        return key.code == "_lastUpdated";
    }
    return key.parameter->type == schema::SearchType::date ||
           key.parameter->type == schema::SearchType::number;
}

// How many living documents of a run match, estimated. The condition's own estimate includes the dead, which are nearly all
// that have a status that passes.
double living(const BoundPlan& condition, const SearchRun& run, const Snapshot& snapshot) {
    const BoundPlan& part =
        condition.kind == BoundPlan::Kind::all_of
            ? *std::ranges::min_element(condition.parts, {}, &BoundPlan::estimate)
            : condition;
    const roaring_bitmap_t* const bitmap =
        part.is_postings() ? part.postings.front().bitmap : nullptr;
    if (bitmap == nullptr || run.died_count() < part.estimate / 2) {
        return part.estimate;
    }
    std::uint32_t seen = 0;
    roaring_uint32_iterator_t at;
    roaring_init_iterator(bitmap, &at);
    for (std::uint32_t i = 0; i < kLivingSamples; ++i) {
        const std::uint64_t from = std::uint64_t{run.size()} * i / kLivingSamples;
        if (roaring_move_uint32_iterator_equalorlarger(&at, static_cast<std::uint32_t>(from)) &&
            snapshot.sees(run, at.current_value)) {
            ++seen;
        }
    }
    // None in the sample doesn't mean none at all.
    return part.estimate * (seen + 0.5) / kLivingSamples;
}

}  // namespace

bool OrderedWalk::can_order(std::span<const SortKey> keys) noexcept {
    return !keys.empty() && is_date_or_number(keys.front());
}

bool OrderedWalk::has_ties(std::span<const SortKey> keys) noexcept {
    return keys.size() > 1 && keys.front().parameter != nullptr;
}

bool OrderedWalk::can_reverse(std::span<const SortKey> keys) noexcept {
    return can_order(keys) && keys.front().parameter == nullptr;
}

OrderedWalk::OrderedWalk(Snapshot& snapshot, Execution& execution, std::span<const SortKey> keys,
                         Position edge, std::size_t count, const std::optional<Edge>& known,
                         bool backwards)
    : snapshot_(snapshot),
      execution_(execution),
      column_(keys.front().parameter != nullptr ? keys.front().parameter->column
                                                : column_of("_lastUpdated")),
      descending_(keys.front().descending != backwards),
      by_time_(keys.front().parameter == nullptr),
      has_ties_(has_ties(keys)),
      edge_(edge),
      edge_value_(known ? known->value : 0),
      count_(count),
      knows_edge_(known.has_value()),
      bodies_(snapshot, execution.resolution()) {
    lost_ = edge_.value != 0 && !knows_edge_ && !find_edge();
    if (!lost_) {
        open_lanes();
    }
    // More matches than matches_max() can't be sorted: then it goes on to the end, or until the deadline.
    const double matches = estimated_matches();
    tests_left_ = matches > static_cast<double>(matches_max())
                      ? std::numeric_limits<double>::infinity()
                      : std::max(kTestsMin, 2 * matches * kSortNanoseconds / kTestNanoseconds);
}

OrderedWalk::~OrderedWalk() = default;

bool OrderedWalk::find_edge() {
    for (const auto& run : snapshot_.runs(execution_.type()).runs) {
        const std::uint32_t document = run->find(edge_);
        if (document == run->size()) {
            continue;
        }
        const storage::IntervalColumn column = run->intervals(column_);
        if (column.of(document).empty()) {
            return false;
        }
        edge_value_ = value_of(column, document);
        return true;
    }
    lost_edge_ = true;
    return false;
}

void OrderedWalk::open_lanes() {
    all_have_values_ = by_time_;
    for (const auto& run : snapshot_.runs(execution_.type()).runs) {
        auto lane = std::make_unique<Lane>();
        lane->run = run;
        lane->condition = execution_.bind_to(run);
        lane->tests = parts_of(lane->condition);
        lane->column_id = column_;
        lane->column = run->intervals(column_);
        lane->descending = descending_;
        lane->by_time = by_time_;
        if (lane->condition.kind == BoundPlan::Kind::nothing) {
            continue;
        }
        all_have_values_ = all_have_values_ && lane->column.all.size() == run->size();
        if (lane->column.all.size() == 0) {
            continue;
        }
        const auto longer = lane->column.longer().low;
        lane->shorter_end = lane->column.shorter_count;
        lane->longer_end = longer.size();
        lane->matches = living(lane->condition, *run, snapshot_);
        lane->narrow(lane->condition);
        // Where it stands among those of its value. Unless that is a time, they come in any order, and all are looked at.
        const std::uint32_t edge_document =
            !by_time_
                ? (descending_ ? UINT32_MAX : 0)
                : run->size_at({descending_ && edge_.value != 0 ? edge_.value - 1 : edge_.value});
        if (descending_) {
            // What begins after the edge's end also ends after it.
            lane->at.shorter = lane->shorter_end;
            if (edge_.value != 0) {
                lane->latest = edge_value_;
                lane->at.shorter = std::clamp(lane->first_of(edge_value_, edge_document),
                                              lane->shorter_begin, lane->shorter_end);
            }
            if (lane->longer_end - lane->at.longer > kLongerMax) {
                lost_ = true;
                return;
            }
            // Without the dead: nearly all that are open at the end may be, such as encounters in progress.
            const storage::Intervals all = lane->column.longer();
            for (std::size_t i = lane->at.longer; i < lane->longer_end; ++i) {
                if (all.high[i] <= lane->latest && snapshot_.sees(*run, all.document[i])) {
                    lane->at.heap.push_back({all.high[i], all.document[i]});
                }
            }
            std::ranges::make_heap(lane->at.heap, Lane::is_earlier);
        } else {
            lane->at.shorter = lane->shorter_begin;
            if (edge_.value != 0) {
                const auto first_longer = std::ranges::lower_bound(longer, edge_value_);
                lane->at.shorter = std::clamp(lane->first_of(edge_value_, edge_document),
                                              lane->shorter_begin, lane->shorter_end);
                lane->at.longer =
                    std::clamp(static_cast<std::size_t>(first_longer - longer.begin()),
                               lane->at.longer, lane->longer_end);
            }
        }
        reads_bodies_ = reads_bodies_ || lane->condition.costly;
        edge_lane_ = lane->run->find(edge_) < lane->run->size() ? lane.get() : edge_lane_;
        lanes_.push_back(std::move(lane));
    }
}

// The edge comes from the client. If the plan doesn't match it, continuing after it would reveal its value.
bool OrderedWalk::edge_matches() {
    if (edge_lane_ == nullptr) {
        return false;
    }
    const std::uint32_t document = edge_lane_->run->find(edge_);
    return snapshot_.sees(*edge_lane_->run, document) && passes(*edge_lane_, document, bodies_);
}

std::optional<OrderedWalk::Edge> OrderedWalk::edge() const {
    if (lost_ || !knows_edge_ || edge_lane_ == nullptr) {
        return std::nullopt;
    }
    const SearchRun* const run = edge_lane_->run.get();
    return Edge{{execution_.type(), run, run->find(edge_)}, edge_value_};
}

// Whether bodies that the edge and the next documents need are only on the device, which ends the turn.
bool OrderedWalk::must_fetch(const Pace& pace) {
    if (!reads_bodies_ || asked_about_ > 0 || !pace.defers() || !snapshot_.has_store()) {
        return false;
    }
    std::vector<Position> positions;
    if (edge_lane_ != nullptr && !knows_edge_ && edge_lane_->condition.costly) {
        positions.push_back(edge_);
    }
    std::vector<Lane::Place> here;
    for (const auto& lane : lanes_) {
        here.push_back(lane->at);
    }
    Candidate candidate;
    while (!has_enough() && positions.size() < kBodiesAhead && asked_about_ < kDocumentsAhead) {
        Lane* const lane = next_lane(candidate);
        if (lane == nullptr) {
            break;
        }
        lane->pop();
        ++asked_about_;
        if (lane->condition.costly && needs_body(*lane, candidate.document)) {
            positions.push_back(lane->run->position(candidate.document));
        }
        if (pace.is_over_after(asked_about_, kDocumentsPerLook)) {
            break;
        }
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i]->at = std::move(here[i]);
    }
    asked_about_ = std::max<std::size_t>(asked_about_, 1);  // the edge
    return pace.defer(snapshot_.unread(positions));
}

// Whether a document's test will ask for its body.
bool OrderedWalk::needs_body(const Lane& lane, std::uint32_t document) const {
    NotedBodies bodies;
    if (snapshot_.sees(*lane.run, document)) {
        passes(lane, document, bodies);
    }
    return bodies.is_asked();
}

bool OrderedWalk::passes(const Lane& lane, std::uint32_t document, BodyCheck& bodies) {
    return std::ranges::all_of(lane.tests, [&](const BoundPlan* part) {
        return test(*part, *lane.run, document, bodies);
    });
}

double OrderedWalk::estimated_matches() const noexcept {
    double matches = 0;
    for (const auto& lane : lanes_) {
        matches += lane->matches;
    }
    return matches;
}

bool OrderedWalk::is_worthwhile() const noexcept {
    if (lost_) {
        return false;
    }
    const double matches = estimated_matches();
    double documents = 0;
    for (const auto& lane : lanes_) {
        documents += static_cast<double>(lane->size());
    }
    const double looked_at = static_cast<double>(count_) * documents / std::max(1.0, matches);
    return looked_at * kTestNanoseconds < matches * kSortNanoseconds;
}

std::int64_t OrderedWalk::value_of(const storage::IntervalColumn& column,
                                   std::uint32_t document) const {
    std::int64_t value = descending_ ? INT64_MIN : INT64_MAX;
    for (const std::uint32_t interval : column.of(document)) {
        value = descending_ ? std::max(value, column.all.high[interval])
                            : std::min(value, column.all.low[interval]);
    }
    return value;
}

// Whether a lane's candidate comes before another lane's. At the same value that matters only if it is a time.
bool OrderedWalk::comes_before(const Lane& lane, Candidate candidate, const Lane& other,
                               Candidate others) const {
    if (candidate.value != others.value) {
        return descending_ == (candidate.value > others.value);
    }
    return by_time_ && descending_ == (lane.run->position(candidate.document) >
                                       other.run->position(others.document));
}

// The lane with the next candidate, `best`; null at the end.
OrderedWalk::Lane* OrderedWalk::next_lane(Candidate& best) {
    Lane* next = nullptr;
    for (const auto& lane : lanes_) {
        Candidate candidate;
        if (!lane->peek(candidate)) {
            continue;
        }
        if (next == nullptr || comes_before(*lane, candidate, *next, best)) {
            next = lane.get();
            best = candidate;
        }
    }
    return next;
}

bool OrderedWalk::accepts(const Lane& lane, Candidate candidate) {
    const Position position = lane.run->position(candidate.document);
    if (edge_.value != 0 && candidate.value == edge_value_ && !by_time_) {
        const bool behind = has_ties_ ? position != edge_ : position < edge_;
        if (!behind) {
            return false;
        }
    }
    // Of several values, the first in this order counts.
    const auto is_first = [&] {
        return by_time_ || lane.column.of(candidate.document).size() == 1 ||
               (value_of(lane.column, candidate.document) == candidate.value &&
                std::ranges::find(group_, position, &Match::position) == group_.end());
    };
    return snapshot_.sees(*lane.run, candidate.document) && is_first() &&
           passes(lane, candidate.document, bodies_);
}

void OrderedWalk::end_group() {
    if (has_ties_) {
        const bool is_edges = edge_.value != 0 && group_value_ == edge_value_;
        beside_edge_ += is_edges ? group_.size() : 0;
    } else {
        std::ranges::sort(group_, std::greater(), &Match::position);
        group_.resize(std::min(group_.size(), count_ - matches_.size()));
    }
    matches_.insert(matches_.end(), group_.begin(), group_.end());
    group_.clear();
}

Result<bool> OrderedWalk::advance(const Pace& pace) {
    if (!lost_ && edge_.value != 0 && !knows_edge_) {
        if (must_fetch(pace)) {
            return false;
        }
        bodies_.begin(edge_, pace);
        const bool is_match = edge_matches();
        if (bodies_.is_interrupted()) {
            return false;
        }
        knows_edge_ = true;
        lost_edge_ = !is_match;
        lost_ = lost_edge_;
        if (edge_lane_ != nullptr && edge_lane_->condition.costly && pace.is_over()) {
            return false;
        }
    }
    unsigned looked = 0;
    while (!lost_ && !has_enough()) {
        Candidate candidate;
        Lane* const lane = next_lane(candidate);
        if (lane == nullptr) {
            end_group();
            is_at_end_ = all_have_values_;
            return true;
        }
        if (!group_.empty() && candidate.value != group_value_) {
            end_group();
            continue;
        }
        if (must_fetch(pace)) {
            return false;
        }
        bodies_.begin(lane->run->position(candidate.document), pace);
        const bool accepted = accepts(*lane, candidate);
        if (bodies_.is_interrupted()) {
            return false;
        }
        lane->pop();
        asked_about_ -= asked_about_ > 0 ? 1 : 0;
        const Match match{execution_.type(), lane->run.get(), candidate.document};
        if (accepted && by_time_) {
            matches_.push_back(match);
        } else if (accepted) {
            group_value_ = candidate.value;
            group_.push_back(match);
            if (group_.size() > kGroupMax) {
                lost_ = true;  // so many with one value are better sorted along with all others
                matches_.clear();
            }
        }
        // Sorting would have to read all bodies again: it must have taken as long as that to pass by others.
        tests_left_ += bodies_.is_asked() ? kBodyNanoseconds / kTestNanoseconds : -1;
        if (tests_left_ < 0) {
            lost_ = true;
            matches_.clear();
        }
        // A single body may be large.
        if (pace.is_over_after(++looked, lane->condition.costly ? 1 : kDocumentsPerLook)) {
            return false;
        }
    }
    return true;
}

}  // namespace annals::core::search
