// Turns: long work on a shared loop, in slices of about a millisecond between which others run, with a deadline for the whole.
//
// Layer:   core/interactions.
// Spec:    docs/security.md, Against too much: limits.request_timeout.
// Threads: on the loop of its request.

#pragma once

#include "core/base/result.h"
#include "core/loop.h"
#include "core/search/pace.h"

#include <asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace annals::core {

/// How many versions are fetched from the device in parallel if more of them must be read.
inline constexpr std::size_t kFetchedAtOnce = 256;

/// How often something is repeated after fetching what it needed; after that it waits for the device.
inline constexpr int kTimesLookedMax = 16;

/// Calls `look(unread)` until it adds nothing to `unread` that must be fetched first, and returns its last result. If `unread` is
/// null, `look` must wait for the device itself. Lifetime: what `look` views outlives the await.
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

/// How long one piece of work runs before others have their turn.
inline constexpr std::chrono::milliseconds kTurn{1};

/// The same for transactions and history bundles, which concurrent writes make harder to finish.
inline constexpr std::chrono::milliseconds kLongTurn{10};

/// Lifetime: `loop` outlives this.
class Turns {
  public:
    Turns(Loop& loop, std::chrono::milliseconds time_max)
        : Turns(loop, std::chrono::steady_clock::now() + time_max) {}

    /// `turn`: the length of each turn.
    Turns(Loop& loop, std::chrono::steady_clock::time_point end,
          std::chrono::milliseconds turn = kTurn)
        : loop_(loop), end_(end), pace_(turn, unread_) {
        pace_.begin_turn();
    }

    /// Without a deadline: the parts of the work have their own.
    explicit Turns(Loop& loop) : Turns(loop, std::chrono::steady_clock::time_point::max()) {}

    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    /// The pace of the current turn.
    const search::Pace& pace() const noexcept { return pace_; }

    std::chrono::steady_clock::time_point end() const noexcept { return end_; }

    /// Whether the deadline has passed, or nobody waits for the result any more.
    bool is_late() const { return loop_.given_up() || std::chrono::steady_clock::now() >= end_; }

    /// Lets others have their turn, while what the work needs is fetched, and begins a new one. Errors: timeout.
    asio::awaitable<Result<void>> next();

    /// The same, regardless of the deadline.
    asio::awaitable<void> give_way();

    /// Fetches those of `versions` that are not in memory. Lifetime: they live until it returns.
    asio::awaitable<void> fetched(std::span<const storage::VersionInfo> versions) {
        return loop_.fetched(versions);
    }

    /// The same for kFetchedAtOnce of them, from `first` on: for callers that read one after another and await this at each
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
    std::vector<Position> unread_;  ///< what the work needs next
    search::Pace pace_;
};

}  // namespace annals::core
