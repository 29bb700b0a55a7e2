// QueryNeeds: what reading a query lacks of the resources that it names, such as value sets, until it is at hand.
//
// Layer:   core/interactions.
// Threads: on the loop of its request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/stored.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace annals::core {

/// What is found out about value sets and code systems for a query is held until the query has been read: at most so many bytes,
/// five of the largest, if it is read more than once.
inline constexpr std::size_t kHeldBytesMax = 96 << 20;

/// How often a query asks the worker again because its snapshot had grown too old.
inline constexpr int kTimesExpiredMax = 3;

/// Versions that are only on the device are fetched, and the worker processes large value sets and code systems, while others
/// have their turn; so do they between many small ones. From its construction on, there is `limits.request_timeout` for all of it,
/// or the time until `end` if that is shorter. Lifetime: the arguments outlive this.
class QueryNeeds {
  public:
    using Clock = std::chrono::steady_clock;

    QueryNeeds(const Service& service, Loop& loop,
               Clock::time_point end = Clock::time_point::max());

    QueryNeeds(const QueryNeeds&) = delete;
    QueryNeeds& operator=(const QueryNeeds&) = delete;

    /// These two are for the SnapshotResources that the query is read with.
    std::vector<Position>* unread() noexcept {
        return times_fetched_ < kTimesLookedMax ? &unread_ : nullptr;
    }

    search::PutOff* put_off() noexcept { return &put_off_; }

    /// The end of that time.
    Clock::time_point end() const noexcept { return end_; }

    /// False: the query was read without what it lacks, and the result is meaningless.
    bool are_met() const noexcept {
        return unread_.empty() && put_off_.work.empty() && !put_off_.spent;
    }

    /// Provides some of what is lacking; then the query is read again. Errors: overloaded: too much waits for the worker, or
    /// nobody waits for the result any more; timeout: it was not done in time; too_costly: kHeldBytesMax.
    asio::awaitable<Result<void>> meet();

  private:
    asio::awaitable<Result<void>> leave_to_worker();

    const Service& service_;
    Loop& loop_;
    Clock::time_point end_;
    std::vector<Position> unread_;
    int times_fetched_ = 0;
    search::PutOff put_off_;
    int times_expired_ = 0;
};

/// fetch_and_look() for a query: calls `look(needs)` until it lacks nothing, and returns its last result. Errors: those of `look`;
/// those of QueryNeeds::meet(). Lifetime: what `look` views outlives the await.
template <typename Look>
asio::awaitable<std::invoke_result_t<Look&, QueryNeeds&>> prepare_and_look(
    const Service& service, Loop& loop, Look look,
    QueryNeeds::Clock::time_point end = QueryNeeds::Clock::time_point::max()) {
    QueryNeeds needs(service, loop, end);
    for (;;) {
        auto found = look(needs);
        if (needs.are_met()) {
            co_return found;
        }
        Result<void> met = co_await needs.meet();
        if (!met) {
            co_return std::move(met.error());
        }
    }
}

}  // namespace annals::core
