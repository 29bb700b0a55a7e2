// DroppedTickets: the commits that could not be stored, or whose erasures could not be completed, for late questions.
//
// Layer:   storage.
// Threads: one at a time.

#pragma once

#include "core/base/result.h"
#include "storage/types.h"

#include <deque>
#include <optional>

namespace annals::storage {

/// Runs of tickets, of which kRunsMax are kept: a full device refuses again and again. If there would be more, the two oldest are
/// merged, and the commits stored between them count as dropped: a very late question may be told that a commit is missing
/// although it is not, but never the reverse.
class DroppedTickets {
  public:
    static constexpr std::size_t kRunsMax = 64;

    /// Adds tickets `from` to `through`. Requires: they come after all that were added before.
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
