// Execution: evaluates a plan for one type on the runs of a snapshot, in turns of about a millisecond.
//
// Layer:   core/search.
// Spec:    docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/search/binding.h"
#include "core/search/bound_plan.h"
#include "core/search/pace.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace annals::core::search {

/// A document that matches. Lifetime: that of the snapshot.
struct Match {
    TypeId type;
    const storage::SearchRun* run = nullptr;
    std::uint32_t document = 0;

    Position position() const noexcept { return run->position(document); }

    std::uint64_t key() const noexcept { return run->key(document); }
};

/// Adds to `keys` what `match`, a match of parts[0] of `link`, contributes: for a chain the keys by which others refer
/// to it, for a has those that it refers to.
void add_linked(const Plan& link, const Match& match, KeySet& keys);

/// Which of the matches are wanted.
struct Wanted {
    Position after{0};                    ///< only those after this position
    Position before = storage::kNotDied;  ///< ... and before this one
    bool upwards = false;                 ///< oldest first instead of newest first
    std::size_t limit = std::numeric_limits<std::size_t>::max();
    bool count_only = false;  ///< only their number
};

class RunWalk;

/// Lifetime: the snapshot and the plan outlive this.
class Execution {
  public:
    Execution(Snapshot& snapshot, TypeId type, const Plan& plan);
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Sets what advance() finds. Earlier matches are dropped; the results of chains are kept.
    void want(const Wanted& wanted);

    /// Continues until the turn is over (false) or everything wanted is found (true).
    /// Requires: want() was called.
    /// Errors: too_costly (more than kMatchesMax matches or keys); expired.
    Result<bool> advance(const Pace& pace);

    TypeId type() const noexcept { return type_; }

    /// The results of chains and has. They may be restricted to what matters for resources that match the other
    /// conditions, unless the first want() had limit 0.
    /// Requires: advance() has returned true. Lifetime: that of this.
    const Resolution& resolution() const noexcept { return resolution_; }

    /// The plan bound to a run. Requires: advance() has returned true. Lifetime: that of this.
    BoundPlan bind_to(const std::shared_ptr<const storage::SearchRun>& run) {
        return bind(plan_, run, resolution_);
    }

    /// Whether the plan has so many conditions that it is bound to only one run at a time. Requires: advance() has
    /// returned true.
    bool is_large() const noexcept;

    /// In the order that was wanted.
    std::vector<Match>& matches() noexcept { return matches_; }

    /// The number of matches found or counted.
    std::uint64_t count() const noexcept;

    /// Estimates the cost of counting all matches, in steps of a few nanoseconds. Requires: advance() has returned true.
    std::uint64_t counting_cost();

  private:
    struct Step;
    struct Few;

    void plan_steps(const Plan& plan, bool own);
    bool find_few(const Pace& pace);
    void narrow(Step& step) const;
    Result<bool> resolve(Step& step, const Pace& pace);

    Snapshot& snapshot_;
    TypeId type_;
    const Plan& plan_;
    Resolution resolution_;
    std::vector<Step> steps_;  // chains and has, inner ones first
    std::size_t next_step_ = 0;
    bool looks_for_few_ = false;  // before the first step
    std::unique_ptr<Few> few_;
    std::unique_ptr<RunWalk> walk_;
    std::vector<Match> matches_;
    Wanted wanted_;
};

/// The error for more than kMatchesMax.
Error too_many_matches();

/// At most this many matches, or matches of a chain's own plan, are handled at a time.
inline constexpr std::size_t kMatchesMax = 8'000'000;

}  // namespace annals::core::search
