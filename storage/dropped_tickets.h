// DroppedTickets: which commits could not be stored, or what they erased not be removed, for those who ask late.
//
// Layer:   storage.
// Threads: one at a time.

#pragma once

#include "core/base/result.h"
#include "storage/types.h"

#include <deque>
#include <optional>

namespace annals::storage {

/// Runs of tickets, of which so many are kept apart: a device that is full refuses again and again. Where there would be
/// more, the two oldest become one, and what was stored between them counts as dropped: whoever asks so late hears
/// that his commit may be missing, never that one is there which isn't.
class DroppedTickets {
  public:
    static constexpr std::size_t kRunsMax = 64;

    /// Tickets `from` to `through` were dropped. Requires: they come after all that were added before.
    void add(Ticket from, Ticket through, Errc why) {
        if (!runs_.empty() && runs_.back().why == why &&
            runs_.back().through.value + 1 == from.value) {
            runs_.back().through = through;
            return;
        }
        if (runs_.size() == kRunsMax) {
            runs_[1].from = runs_[0].from;
            runs_.pop_front();
        }
        runs_.push_back({from, through, why});
    }

    /// Why it was dropped; none: it was not.
    std::optional<Errc> why(Ticket ticket) const noexcept {
        for (const Run& run : runs_) {
            if (ticket >= run.from && ticket <= run.through) {
                return run.why;
            }
        }
        return std::nullopt;
    }

    bool empty() const noexcept { return runs_.empty(); }

    std::size_t runs() const noexcept { return runs_.size(); }

  private:
    struct Run {
        Ticket from;
        Ticket through;
        Errc why;
    };

    std::deque<Run> runs_;
};

}  // namespace annals::storage
