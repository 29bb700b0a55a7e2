// Pace: when a turn of long work is over, and what must be read from the device before the next.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/base/ids.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Says when a turn is over, so that a long search doesn't block its loop.
class Pace {
  public:
    /// A turn that never ends: for callers with a thread of their own, and for tests.
    Pace() = default;

    explicit Pace(std::chrono::microseconds turn) : turn_(turn) {}

    /// For a caller that fetches, before the next turn, what is only on the device: defer() puts it into `unread`.
    /// Other callers block when they read it.
    /// Lifetime: `unread` outlives this.
    Pace(std::chrono::microseconds turn, std::vector<Position>& unread)
        : turn_(turn), unread_(&unread) {}

    void begin_turn() {
        std::chrono::microseconds (*const other)(std::chrono::microseconds) noexcept =
            length_instead.load(std::memory_order_relaxed);
        const std::chrono::microseconds length = other == nullptr ? turn_ : other(turn_);
        shortened_ = length < turn_;
        end_ = std::chrono::steady_clock::now() + length;
    }

    /// For tests that end turns anywhere (tests/support/turn_lengths.h): makes a turn's length of the usual one; null: that
    /// itself.
    static inline std::atomic<std::chrono::microseconds (*)(std::chrono::microseconds) noexcept>
        length_instead{nullptr};

    /// Checks the clock.
    bool is_over() const { return turn_.count() != 0 && std::chrono::steady_clock::now() >= end_; }

    /// The same for the `done`th piece of work that takes less time than a look at the clock: checks it after every `pieces`th only,
    /// unless the turn was shortened.
    bool is_over_after(std::size_t done, std::size_t pieces) const {
        return (done % pieces == 0 || shortened_) && is_over();
    }

    /// Whether length_instead made the turn shorter. Then whatever looks at the clock rarely does so always.
    bool is_shortened() const noexcept { return shortened_; }

    /// Whether defer() can end a turn.
    bool defers() const noexcept { return unread_ != nullptr; }

    /// True if the turn must end because these are only on the device. Must not be called again for the same positions:
    /// what was fetched may have been evicted since.
    bool defer(std::vector<Position> unread) const {
        if (unread_ == nullptr || unread.empty()) {
            return false;
        }
        *unread_ = std::move(unread);
        return true;
    }

  private:
    std::chrono::microseconds turn_{0};
    bool shortened_ = false;
    std::chrono::steady_clock::time_point end_;
    std::vector<Position>* unread_ = nullptr;
};

}  // namespace annals::core::search
