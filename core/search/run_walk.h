// RunWalk: evaluates a plan on the runs of its type, one by one, driven by the most selective condition. It can be restarted
// with other wishes; the plan is bound to each run only once.
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

/// The cost of counting what matches in the run, in steps of collecting.
std::uint64_t counting_cost_of(const BoundPlan& condition, const storage::SearchRun& run) noexcept;

/// Lifetime: all arguments outlive this.
class RunWalk {
  public:
    using Found = std::function<void(const Match&)>;

    RunWalk(Snapshot& snapshot, TypeId type, const Plan& plan, Resolution& resolution, Found found);
    ~RunWalk();

    /// (Re)starts the walk; advance() then finds what is wanted.
    void begin(const Wanted& wanted);

    /// Continues until the turn is over (false), or enough or everything was found (true).
    bool advance(const Pace& pace);

    std::uint64_t count() const noexcept { return count_; }

    /// The plan bound to a run of Snapshot::runs(), by its index. Requires: as for bind(). Lifetime: that of this.
    const BoundPlan& bound(std::size_t run);

    /// Whether the plan has so many conditions that it is bound to only one run at a time.
    bool is_large() const noexcept;

    /// Whether it has so many, not counting single terms, that binding it in one go would take long.
    bool has_many_parts() const noexcept;

    /// The number of the plan's conditions.
    std::uint64_t conditions() const noexcept { return conditions_; }

    /// Declares the result of bound() unused; it is freed if the plan is large.
    void let_go(std::size_t run);

  private:
    struct Open;

    bool begin_next(const Pace& pace);
    bool walk(const Pace& pace);
    bool open_next(const Pace& pace);
    bool bind_to(std::size_t run, const Pace& pace);
    void close();
    bool is_over(const Pace& pace);
    bool count_at_once();
    void count_living();
    void count_intervals();
    bool is_dead(std::uint32_t document) const;
    const roaring_bitmap_t* all_dead() const;
    void leave_out_dead(std::uint32_t document);
    void remove_dead(DocumentSet& set) const;
    void choose_driver();
    bool must_fetch(const Pace& pace);
    bool passes(std::uint32_t document, const Pace& pace);

    Snapshot& snapshot_;
    TypeId type_;
    const Plan& plan_;
    Resolution& resolution_;
    Found found_;
    std::uint64_t conditions_;  // of the plan
    std::uint64_t parts_;       // the same, but a group of terms counts once
    std::uint64_t tested_ = 0;  // conditions tested since the clock was last checked
    std::vector<std::optional<BoundPlan>> bound_;  // for each run, once it is needed
    std::optional<Binding> binding_;               // to the next run, if begun
    Wanted wanted_;
    std::uint64_t count_ = 0;
    std::size_t runs_left_ = 0;
    SnapshotBodies bodies_;
    std::unique_ptr<Open> open_;  // the current run
};

}  // namespace annals::core::search
