// Binding: turns a plan into a BoundPlan: its conditions resolved for one run, each with an estimate of its matches.
//
// Layer:   core/search.
// Threads: values belong to one thread and point into the plan, the run and the resolution.

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

/// Binds a plan to a run, one condition per step, since a condition that scans many texts or units takes a while.
class Binding {
  public:
    /// Requires: every chain and has in `plan` is in `resolution`.
    /// Lifetime: the plan and `resolution` outlive this and its result; `resolution` must not be moved.
    Binding(const Plan& plan, std::shared_ptr<const storage::SearchRun> run,
            Resolution& resolution);

    /// Binds the next condition; true once all are bound.
    bool step();

    /// The bound plan. Requires: step() has returned true.
    BoundPlan take() { return std::move(whole_); }

  private:
    /// A plan some of whose parts are bound.
    struct Begun {
        const Plan* plan;
        std::size_t next = 0;
        std::vector<BoundPlan> parts;
    };

    void enter(const Plan& plan);
    void give(BoundPlan condition);

    std::shared_ptr<const storage::SearchRun> run_;
    Resolution& resolution_;
    std::vector<Begun> begun_;  // each is a part of the previous one
    BoundPlan whole_;
};

/// Binds all of `plan` at once.
BoundPlan bind(const Plan& plan, const std::shared_ptr<const storage::SearchRun>& run,
               Resolution& resolution);

}  // namespace annals::core::search
