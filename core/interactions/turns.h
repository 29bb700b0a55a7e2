// Turns: long work on a loop that others share: a millisecond or so, then theirs, and an end to all of it.
//
// Layer:   core/interactions.
// Spec:    contract.md, limits.request_timeout.
// Threads: on the loop of its request.

#pragma once

#include "core/base/result.h"
#include "core/loop.h"
#include "core/search/execute.h"

#include <asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace annals::core {

/// Versions that are fetched from the device side by side, where more of them are to be looked at.
inline constexpr std::size_t kFetchedAtOnce = 256;

/// So often something is looked at again when what it came to has been fetched; then it waits for the device.
inline constexpr int kTimesLookedMax = 16;

/// Calls `look(unread)` until it has not put anything there that has to be fetched first; what it returned then. With null it is
/// to wait for the device itself. Lifetime: what `look` views outlives the await.
template <typename Look>
asio::awaitable<std::invoke_result_t<Look&, std::vector<Position>*>> fetch_and_look(Loop& loop,
                                                                                    Look look) {
    std::vector<Position> unread;
    for (int times = 0;; ++times) {
        auto found = look(times < kTimesLookedMax ? &unread : nullptr);
        if (unread.empty()) {
            co_return found;
        }
        co_await loop.fetched(std::exchange(unread, {}));
    }
}

/// How long one has its loop before others have theirs.
inline constexpr std::chrono::milliseconds kTurn{1};

/// The same where what others write meanwhile makes it harder to end: of transactions and history bundles.
inline constexpr std::chrono::milliseconds kLongTurn{10};

/// Lifetime: `loop` outlives this.
class Turns {
  public:
    Turns(Loop& loop, std::chrono::milliseconds time_max)
        : Turns(loop, std::chrono::steady_clock::now() + time_max) {}

    /// `turn`: how long each of them is.
    Turns(Loop& loop, std::chrono::steady_clock::time_point end,
          std::chrono::milliseconds turn = kTurn)
        : loop_(loop), end_(end), pace_(turn, unread_) {
        pace_.begin_turn();
    }

    /// Of what takes as long as it takes, since its parts have ends of their own.
    explicit Turns(Loop& loop) : Turns(loop, std::chrono::steady_clock::time_point::max()) {}

    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    /// Of the turn under way.
    const search::Pace& pace() const noexcept { return pace_; }

    /// Whether the time for all of it is over, or nobody waits for it any more.
    bool is_late() const { return loop_.given_up() || std::chrono::steady_clock::now() >= end_; }

    /// Lets others have theirs, in which what the work waits for is fetched, and begins a new one. Errors: timeout.
    asio::awaitable<Result<void>> next();

    /// The same, whatever the time.
    asio::awaitable<void> give_way();

    /// Has what is on the device only of these fetched. They live until it returns.
    asio::awaitable<void> fetched(std::span<const storage::VersionInfo> versions) {
        return loop_.fetched(versions);
    }

    /// The same of those from `first` on that are fetched at once: for who looks at one after the other and awaits this at each
    /// multiple of kFetchedAtOnce.
    asio::awaitable<void> fetched_from(std::span<const storage::VersionInfo> versions,
                                       std::size_t first) {
        return fetched(versions.subspan(first, std::min(versions.size() - first, kFetchedAtOnce)));
    }

    /// Calls `work.advance(pace)` until it is done. Errors: its own; timeout.
    template <typename Work>
    asio::awaitable<Result<void>> finish(Work& work) {
        for (;;) {
            Result<bool> done = work.advance(pace_);
            if (!done) {
                co_return std::move(done.error());
            }
            if (*done) {
                co_return Result<void>();
            }
            Result<void> in_time = co_await next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
    }

  private:
    Loop& loop_;
    std::chrono::steady_clock::time_point end_;
    std::vector<Position> unread_;  ///< what the work waits for
    search::Pace pace_;
};

}  // namespace annals::core
