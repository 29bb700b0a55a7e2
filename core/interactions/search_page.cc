#include "core/interactions/search_page.h"

#include "core/search/execute.h"
#include "core/search/matches_max.h"
#include "core/search/ordered_walk.h"
#include "core/search/sort.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace annals::core {

namespace {

using search::Cursor;
using Edge = search::OrderedWalk::Edge;
using search::Execution;
using search::Match;
using search::Query;

// A total that takes at most this many steps (of a few nanoseconds) is counted even if not requested.
constexpr std::uint64_t kCheapCount = 20'000;

class PageFinder {
  public:
    PageFinder(search::Snapshot& snapshot, const Query& query, const std::optional<Cursor>& cursor,
               std::size_t count, Turns& turns)
        : snapshot_(snapshot), query_(query), cursor_(cursor), count_(count), turns_(turns) {}

    asio::awaitable<Result<SearchPage>> run() {
        for (const Query::TypePlan& plan : query_.types) {
            if (!snapshot_.answers(plan.type)) {
                co_return search::expired_snapshot();
            }
            if (!snapshot_.runs(plan.type).runs.empty()) {
                executions_.push_back(std::make_unique<Execution>(snapshot_, plan.type, plan.plan));
            }
        }
        if (cursor_) {
            page_.total = cursor_->total;
        }
        Result<void> done = Result<void>();
        page_.by_instant = !is_in_commit_order();
        if (count_ > 0 && !page_.by_instant) {
            done = co_await newest_first();
        } else if (count_ > 0) {
            done = co_await sorted();
        }
        if (done) {
            done = co_await find_total();
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_return std::move(page_);
    }

  private:
    bool backwards() const noexcept { return cursor_ && cursor_->backwards; }

    Position edge() const noexcept { return cursor_ ? cursor_->edge : Position{0}; }

    // Whether positions alone determine the order: that of `_lastUpdated`, too, where instants ascend.
    bool is_in_commit_order() const {
        if (!query_.sort.empty()) {
            return false;
        }
        const std::optional<TypeId> only =
            query_.types.size() == 1 ? std::optional(query_.types.front().type) : std::nullopt;
        return (cursor_ && !cursor_->by_instant) || snapshot_.store().instants_ascend(only);
    }

    // The order otherwise.
    std::span<const search::SortKey> keys() const {
        return query_.sort.empty() ? search::default_order() : std::span(query_.sort);
    }

    bool is_carried(Position position) const noexcept {
        return snapshot_.carried() != nullptr && position >= search::kCarriedFrom;
    }

    bool finds_carried(const Execution& execution) const {
        return is_carried(snapshot_.runs(execution.type()).runs.back()->position(0));
    }

    // Appends what the execution has found to `matches`.
    static void take_matches(Execution& execution, std::vector<Match>& matches) {
        if (matches.empty()) {
            matches = std::move(execution.matches());
        } else {
            matches.insert(matches.end(), execution.matches().begin(), execution.matches().end());
        }
    }

    asio::awaitable<Result<void>> newest_first() {
        search::Wanted wanted;
        wanted.limit = count_ + 1;
        wanted.upwards = backwards();
        if (edge().value != 0) {
            (backwards() ? wanted.after : wanted.before) = edge();
        }
        std::vector<Match> matches;
        for (const auto& execution : executions_) {
            execution->want(wanted);
            Result<void> done = co_await turns_.finish(*execution);
            if (!done) {
                co_return std::move(done.error());
            }
            take_matches(*execution, matches);
        }
        if (executions_.size() > 1) {
            std::ranges::sort(matches, [&](const Match& a, const Match& b) {
                return wanted.upwards ? a.position() < b.position() : a.position() > b.position();
            });
        }
        const bool more = matches.size() > count_;
        matches.resize(std::min(matches.size(), count_));
        if (wanted.upwards) {
            std::ranges::reverse(matches);
        }
        take(matches, more);
        if (!cursor_ && !more) {
            page_.total = matches.size();
        }
        co_return Result<void>();
    }

    bool is_edges_type(const Execution& execution) const {
        return std::ranges::any_of(snapshot_.runs(execution.type()).runs, [this](const auto& run) {
            return run->find(edge()) != run->size();
        });
    }

    // Evaluates what an OrderedWalk of the execution needs: the chains. False if the plan is too large for it.
    asio::awaitable<Result<bool>> prepare_walk(Execution& execution) {
        // Nothing is found before the first position. With a limit of 0, the chains would be evaluated for all resources.
        execution.want({.before = Position{0}});
        Result<void> done = co_await turns_.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        co_return !execution.is_large();
    }

    // The page's edge, as determined by the execution of its type; none if that can't determine it.
    asio::awaitable<Result<std::optional<Edge>>> find_edge() {
        std::optional<Edge> none;
        const auto own = std::ranges::find_if(
            executions_, [this](const auto& execution) { return is_edges_type(*execution); });
        if (own == executions_.end()) {
            co_return search::expired_snapshot();
        }
        Execution& execution = **own;
        Result<bool> can_walk = co_await prepare_walk(execution);
        if (!can_walk) {
            co_return std::move(can_walk.error());
        }
        if (!*can_walk) {
            co_return none;
        }
        search::OrderedWalk look(snapshot_, execution, keys(), edge(), 0);
        Result<void> done = co_await turns_.finish(look);
        if (done && look.lost_edge()) {
            done = search::expired_snapshot();
        }
        if (!done) {
            co_return std::move(done.error());
        }
        co_return look.edge();
    }

    // Whether what is walked through must be sorted afterwards, by further keys or together with other types.
    bool sorts_walked() const {
        return executions_.size() > 1 || search::OrderedWalk::has_ties(keys());
    }

    // What an OrderedWalk found.
    struct Walked {
        std::vector<Match> matches;
        bool all = false;  // that match
    };

    // The first matches of an execution after `from` (backwards: the last ones before it, from the last one on), at least one
    // more than the page has unless there are no more, by an OrderedWalk; none if that isn't worthwhile or doesn't find enough.
    // If they must be sorted, the page's edge is among them. `known`: the edge, if it is known.
    asio::awaitable<Result<std::optional<Walked>>> walk_in_order(Execution& execution,
                                                                 Position from,
                                                                 std::optional<Edge> known) {
        std::optional<Walked> walked;
        Result<bool> can_walk = co_await prepare_walk(execution);
        if (!can_walk) {
            co_return std::move(can_walk.error());
        }
        if (!*can_walk) {
            co_return walked;
        }
        search::OrderedWalk walk(snapshot_, execution, keys(), from, count_ + 1, known,
                                 backwards());
        Result<void> done = Result<void>();
        if (walk.is_worthwhile()) {
            done = co_await turns_.finish(walk);
        }
        if (done && walk.lost_edge()) {
            done = search::expired_snapshot();  // Sorting would find out the same, if it could.
        }
        if (!done) {
            co_return std::move(done.error());
        }
        if (!walk.found_enough()) {
            co_return walked;
        }
        walked.emplace();
        walked->all = from.value == 0 && walk.found_all();
        walked->matches = std::move(walk.matches());
        if (const std::optional<Edge> own = walk.edge(); own && sorts_walked()) {
            walked->matches.push_back(own->match);
        }
        co_return walked;
    }

    // Whether an OrderedWalk can go in the page's direction.
    bool walks() const {
        return search::OrderedWalk::can_order(keys()) &&
               (!backwards() || search::OrderedWalk::can_reverse(keys()));
    }

    // The same for an execution. What packages brought has no instant: by default it comes first, otherwise last.
    bool walks(const Execution& execution) const {
        const bool walks_past_carried = !backwards() && !query_.sort.empty();
        return walks() && (walks_past_carried || !finds_carried(execution));
    }

    // Whether all that is stored comes after the edge, because by default what packages brought comes before it.
    bool is_edge_before_stored() const { return query_.sort.empty() && is_carried(edge()); }

    // Whether all that the execution finds comes after the page.
    bool is_after_page(const Execution& execution) const {
        return backwards() && is_edge_before_stored() && !finds_carried(execution);
    }

    // Appends all that the execution finds to `matches`.
    asio::awaitable<Result<void>> find_all(Execution& execution, std::vector<Match>& matches) {
        execution.want({});
        Result<void> done = co_await turns_.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        take_matches(execution, matches);
        execution.want({});
        if (matches.size() > search::matches_max()) {
            co_return search::too_many_matches();
        }
        co_return Result<void>();
    }

    asio::awaitable<Result<void>> sorted() {
        std::vector<Match> matches;
        bool all = true;
        const Position from = is_edge_before_stored() ? Position{0} : edge();
        const bool must_know_edge = from.value != 0 && executions_.size() > 1;
        Result<std::optional<Edge>> known = std::optional<Edge>();
        if (must_know_edge && walks()) {
            known = co_await find_edge();
        }
        if (!known) {
            co_return std::move(known.error());
        }
        const bool knows_edge = !must_know_edge || known->has_value();
        for (const auto& execution : executions_) {
            if (is_after_page(*execution)) {
                all = false;
                continue;
            }
            Result<std::optional<Walked>> walked = std::optional<Walked>();
            if (knows_edge && walks(*execution)) {
                walked = co_await walk_in_order(*execution, from, *known);
            }
            if (!walked) {
                co_return std::move(walked.error());
            }
            if (walked->has_value() && !sorts_walked()) {
                take_walked(**walked);
                co_return Result<void>();
            }
            if (walked->has_value()) {
                std::vector<Match>& found = (*walked)->matches;
                all = all && (*walked)->all;
                std::ranges::sort(found, std::greater(), &Match::position);
                matches.insert(matches.end(), found.begin(), found.end());
                continue;
            }
            Result<void> found = co_await find_all(*execution, matches);
            if (!found) {
                co_return std::move(found.error());
            }
        }
        // Later pages repeat the total of the first one, whatever has been erased since.
        if (all && !page_.total) {
            page_.total = matches.size();
        }
        Result<void> done = co_await sort(matches);
        co_return done;
    }

    // Makes the page of what was walked through.
    void take_walked(Walked& walked) {
        if (walked.all && !page_.total) {
            page_.total = walked.matches.size();
        }
        const bool more = walked.matches.size() > count_;
        walked.matches.resize(std::min(walked.matches.size(), count_));
        if (backwards()) {
            std::ranges::reverse(walked.matches);
        }
        take(walked.matches, more);
    }

    asio::awaitable<Result<void>> sort(std::span<const Match> matches) {
        search::Sorter sorter(snapshot_, keys(), matches);
        sorter.want(edge(), backwards(), count_ + 1);
        Result<void> done = co_await turns_.finish(sorter);
        if (!done) {
            co_return std::move(done.error());
        }
        std::vector<std::uint32_t> order = sorter.page();
        if (!sorter.found_edge()) {
            // The edge, or what a chain from it led to, was erased, so its place in the order is no longer known.
            co_return search::expired_snapshot();
        }
        const bool more = order.size() > count_;
        if (more && backwards()) {
            order.erase(order.begin());
        } else if (more) {
            order.pop_back();
        }
        std::vector<Match> chosen;
        for (const std::uint32_t index : order) {
            chosen.push_back(matches[index]);
        }
        take(chosen, more);
        co_return Result<void>();
    }

    // Sets the matches of the page, in order. `more`: there are others beyond it, in the direction in which it was found.
    void take(const std::vector<Match>& matches, bool more) {
        page_.matches.reserve(matches.size());
        for (const Match& match : matches) {
            // None: just erased.
            if (const auto info = snapshot_.at(match.position())) {
                page_.matches.push_back(*info);
            }
        }
        const bool has_edge = edge().value != 0;
        page_.begins_inside = backwards() ? more : has_edge;
        page_.ends_inside = backwards() ? has_edge : more;
    }

    asio::awaitable<Result<void>> find_total() {
        using search::TotalMode;
        if (query_.total == TotalMode::none && count_ > 0) {
            page_.total.reset();
            co_return Result<void>();
        }
        if (page_.total) {
            co_return Result<void>();
        }
        if (query_.total == TotalMode::unasked && count_ > 0) {
            if (cursor_) {
                co_return Result<void>();
            }
            std::uint64_t cost = 0;
            for (const auto& execution : executions_) {
                const std::uint64_t own = execution->counting_cost();
                cost = own > kCheapCount ? own : cost + own;
                if (cost > kCheapCount) {
                    co_return Result<void>();
                }
            }
        }
        std::uint64_t total = 0;
        for (const auto& execution : executions_) {
            execution->want({.count_only = true});
            Result<void> done = co_await turns_.finish(*execution);
            if (!done) {
                co_return std::move(done.error());
            }
            total += execution->count();
        }
        page_.total = total;
        co_return Result<void>();
    }

    search::Snapshot& snapshot_;
    const Query& query_;
    const std::optional<Cursor>& cursor_;
    std::size_t count_;
    Turns& turns_;
    std::vector<std::unique_ptr<Execution>> executions_;  // one for each type that may match
    SearchPage page_;
};

}  // namespace

// A page of which all was erased while it was made is looked for again at its own edge.
std::optional<Position> SearchPage::previous_edge(const std::optional<Cursor>& own) const {
    if (!begins_inside) {
        return std::nullopt;
    }
    if (!matches.empty()) {
        return matches.front().position;
    }
    return own && own->backwards ? std::optional(own->edge) : std::nullopt;
}

// The match at the edge that a previous page ended before would be passed by: what follows such a page begins anew.
std::optional<Position> SearchPage::next_edge(const std::optional<Cursor>& own) const {
    if (!ends_inside) {
        return std::nullopt;
    }
    if (!matches.empty()) {
        return matches.back().position;
    }
    return own && !own->backwards ? own->edge : Position{};
}

asio::awaitable<Result<SearchPage>> find_page(search::Snapshot& snapshot,
                                              const search::Query& query,
                                              const std::optional<search::Cursor>& cursor,
                                              std::size_t count, Turns& turns) {
    PageFinder finder(snapshot, query, cursor, count, turns);
    Result<SearchPage> page = co_await finder.run();
    co_return page;
}

}  // namespace annals::core
