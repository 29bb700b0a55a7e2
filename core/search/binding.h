// Binding: a plan becomes a BoundPlan: its conditions as one run has them, with about how many documents pass each.
//
// Layer:   core/search.
// Threads: belong to one thread; point into the plan, the run and what was resolved.

#pragma once

#include "core/search/bound_plan.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "storage/search_run.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Binds a plan to a run, condition by condition: of one that looks through many texts or units each takes its time.
class Binding {
  public:
    /// Requires: every chain and has in `plan` is in `resolution`.
    /// Lifetime: the plan and `resolution` outlive this and what it gives; `resolution` stays where it is.
    Binding(const Plan& plan, std::shared_ptr<const storage::SearchRun> run,
            Resolution& resolution);

    /// Binds the next condition; true once all are bound.
    bool step();

    /// The plan bound. Requires: step() was true.
    BoundPlan take() { return std::move(whole_); }

  private:
    /// A plan of which some parts are bound.
    struct Begun {
        const Plan* plan;
        std::size_t next = 0;
        std::vector<BoundPlan> parts;
    };

    void enter(const Plan& plan);
    void give(BoundPlan condition);

    std::shared_ptr<const storage::SearchRun> run_;
    Resolution& resolution_;
    std::vector<Begun> begun_;  // each is a part of the one before
    BoundPlan whole_;
};

/// Binds all of `plan` at once, as Binding does.
BoundPlan bind(const Plan& plan, const std::shared_ptr<const storage::SearchRun>& run,
               Resolution& resolution);

}  // namespace annals::core::search
