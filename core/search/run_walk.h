// RunWalk: one plan over the runs of its type, one by one, driven by what is most selective. It can be gone anew for
// something else: to a run the plan is bound once.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/execute.h"
#include "core/search/snapshot_bodies.h"

#include <functional>
#include <optional>
#include <vector>

namespace annals::core::search {

/// Lifetime: all that it is made of outlives it.
class RunWalk {
  public:
    using Found = std::function<void(const Match&)>;

    RunWalk(Snapshot& snapshot, TypeId type, const Plan& plan, Resolution& resolution, Found found);
    ~RunWalk();

    /// Says what the next advance() begins to find.
    void begin(const Wanted& wanted);

    /// Goes on until the turn is over (false), or there is no more or enough was found (true).
    bool advance(const Pace& pace);

    std::uint64_t count() const noexcept { return count_; }

    /// The plan bound to a run of Snapshot::runs(), by its index. Requires: bind()'s. Lifetime: of this.
    const BoundPlan& bound(std::size_t run);

    /// Whether the plan has so many conditions that it is bound to one run at a time.
    bool is_large() const noexcept;

    /// Whether it has so many, terms aside, that to bind it at once would take long.
    bool has_many_parts() const noexcept;

    /// Conditions of the plan.
    std::uint64_t conditions() const noexcept { return conditions_; }

    /// Says that what bound() gave isn't needed now: a plan of very many conditions isn't kept for all runs.
    void let_go(std::size_t run);

  private:
    struct Open;

    bool open_next(const Pace& pace);
    bool bind_to(std::size_t run, const Pace& pace);
    void close();
    bool is_over(const Pace& pace);
    bool count_at_once();
    std::uint64_t count_dead(const BoundPlan& condition);
    void choose_driver();
    bool must_fetch(const Pace& pace);
    bool passes(std::uint32_t document);

    Snapshot& snapshot_;
    TypeId type_;
    const Plan& plan_;
    Resolution& resolution_;
    Found found_;
    std::uint64_t conditions_;  // of the plan
    std::uint64_t parts_;       // the same, terms that stand together counted once
    std::uint64_t tested_ = 0;  // conditions, since the clock was looked at
    std::vector<std::optional<BoundPlan>> bound_;  // of each run, once it was asked for
    std::optional<Binding> binding_;               // to the next run, begun
    Wanted wanted_;
    std::uint64_t count_ = 0;
    std::size_t runs_left_ = 0;
    SnapshotBodies bodies_;
    std::unique_ptr<Open> open_;  // the run under way
};

}  // namespace annals::core::search
