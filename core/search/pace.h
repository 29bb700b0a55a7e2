// Pace: when a turn of long work is over, and what must be read from the device before the next.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/base/ids.h"

#include <atomic>
#include <chrono>
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

    void begin_turn() { end_ = std::chrono::steady_clock::now() + turn_; }

    /// Checks the clock.
    bool is_over() const {
        if (turn_.count() == 0) {
            return false;
        }
        bool (*const ends)() noexcept = ends_instead.load(std::memory_order_relaxed);
        return ends != nullptr ? ends() : std::chrono::steady_clock::now() >= end_;
    }

    /// Asked instead of the clock, so that tests can end turns anywhere; null: the clock. It must return true only now and
    /// then, or long work never ends.
    static inline std::atomic<bool (*)() noexcept> ends_instead{nullptr};

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
    std::chrono::steady_clock::time_point end_;
    std::vector<Position>* unread_ = nullptr;
};

}  // namespace annals::core::search
