// Execution: a plan of one type answered from the runs of a snapshot, in turns of about a millisecond.
//
// Layer:   core/search.
// Spec:    docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/search/binding.h"
#include "core/search/bound_plan.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Says when a turn is over, so that others of the loop get theirs.
class Pace {
  public:
    /// A turn without an end: for who has a thread of his own, and for tests.
    Pace() = default;

    explicit Pace(std::chrono::microseconds turn) : turn_(turn) {}

    /// Of somebody who has what is on the device only fetched before the next turn: it is put into `unread`, which outlives
    /// this. Others wait where they read.
    Pace(std::chrono::microseconds turn, std::vector<Position>& unread)
        : turn_(turn), unread_(&unread) {}

    void begin_turn() { end_ = std::chrono::steady_clock::now() + turn_; }

    /// Looks at the clock.
    bool is_over() const { return turn_.count() != 0 && std::chrono::steady_clock::now() >= end_; }

    /// Whether defer() is of use.
    bool defers() const noexcept { return unread_ != nullptr; }

    /// True if the turn has to end because these are on the device only. Not to be asked again of the same: what was
    /// fetched may have left the memory since.
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

/// A document that matches. Lifetime: of the snapshot.
struct Match {
    TypeId type;
    const storage::SearchRun* run = nullptr;
    std::uint32_t document = 0;

    Position position() const noexcept { return run->position(document); }

    std::uint64_t key() const noexcept { return run->key(document); }
};

/// Adds what `link`, a chain or a has, leads to by `match`, which matches its own plan: of a chain the keys by which others
/// refer to it, of a has those that it refers to.
void add_linked(const Plan& link, const Match& match, KeySet& keys);

/// What of the matches is wanted.
struct Wanted {
    Position after{0};                    ///< only those behind this position
    Position before = storage::kNotDied;  ///< ... and before this one
    bool upwards = false;                 ///< the oldest first instead of the newest
    std::size_t limit = std::numeric_limits<std::size_t>::max();
    bool count_only = false;  ///< only how many there are
};

class RunWalk;

/// Lifetime: the snapshot and the plan outlive this.
class Execution {
  public:
    Execution(Snapshot& snapshot, TypeId type, const Plan& plan);
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Says what advance() is to find; what was found before is forgotten, what chains came to is not.
    void want(const Wanted& wanted);

    /// Goes on until the turn is over (false) or all is found (true). Requires: want().
    /// Errors: too_costly (more matches or keys than are kept).
    Result<bool> advance(const Pace& pace);

    TypeId type() const noexcept { return type_; }

    /// What chains and has came to, as far as it matters for the resources that match what else is asked for; all of it if the
    /// first that was wanted was nothing (limit 0). Requires: advance() was true once. Lifetime: of this.
    const Resolution& resolution() const noexcept { return resolution_; }

    /// The plan bound to a run. Requires: advance() was true once. Lifetime: of this.
    BoundPlan bind_to(const std::shared_ptr<const storage::SearchRun>& run) {
        return bind(plan_, run, resolution_);
    }

    /// Whether the plan has so many conditions that it is bound to one run at a time. Requires: advance() was true once.
    bool is_large() const noexcept;

    /// In the order wanted.
    std::vector<Match>& matches() noexcept { return matches_; }

    /// How many were found, or counted.
    std::uint64_t count() const noexcept;

    /// About how much work it is to count all, in steps of some nanoseconds. Requires: advance() was true once.
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

/// What is said when there are more.
Error too_many_matches();

/// At most so many matches, or keys of a chain, are kept at a time.
inline constexpr std::size_t kMatchesMax = 8'000'000;

}  // namespace annals::core::search
