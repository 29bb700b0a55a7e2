// RunWalk: one plan over the runs of its type, one by one, driven by what is most selective.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/execute.h"
#include "core/search/snapshot_bodies.h"

#include <functional>
#include <optional>

namespace annals::core::search {

/// Lifetime: all that it is made of outlives it.
class RunWalk {
  public:
    using Found = std::function<void(const Match&)>;

    RunWalk(Snapshot& snapshot, TypeId type, const Plan& plan, Resolution& resolution,
            const Wanted& wanted, Found found);
    ~RunWalk();

    /// Goes on until the turn is over (false), or there is no more or enough was found (true).
    bool advance(const Pace& pace);

    std::uint64_t count() const noexcept { return count_; }

  private:
    struct Open;

    bool open_next();
    bool count_at_once();
    std::uint64_t count_dead(const BoundPlan& condition);
    void choose_driver();
    bool passes(std::uint32_t document);

    Snapshot& snapshot_;
    TypeId type_;
    const Plan& plan_;
    Resolution& resolution_;
    Wanted wanted_;
    Found found_;
    std::uint64_t count_ = 0;
    std::size_t runs_left_;
    SnapshotBodies bodies_;
    std::unique_ptr<Open> open_;  // the run under way
};

}  // namespace annals::core::search
