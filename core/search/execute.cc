#include "core/search/execute.h"

#include "core/search/canonical_links.h"
#include "core/search/run_walk.h"

#include <algorithm>

namespace annals::core::search {

namespace {

// What counting costs beyond this nobody asks.
constexpr std::uint64_t kCostOfInterest = 20'000;

}  // namespace

Error too_many_matches() {
    return {Errc::too_costly, "The search matches too much to be evaluated; narrow it down", ""};
}

void add_keys(const Match& match, KeySet& keys) {
    keys.add(match.key());
    if (may_be_named(match.type)) {
        const storage::LinkColumn names = match.run->links(names_column());
        for (const std::uint32_t name : names.of(match.document)) {
            keys.add(names.targets[name]);
        }
    }
}

// A chain or a has, whose own plan is answered before the plan that it is in.
struct Execution::Step {
    const Plan* plan = nullptr;
    KeySet* keys = nullptr;
    std::unique_ptr<RunWalk> walk;
};

Execution::Execution(Snapshot& snapshot, TypeId type, const Plan& plan)
    : snapshot_(snapshot), type_(type), plan_(plan) {
    plan_steps(plan);
}

Execution::~Execution() = default;

void Execution::plan_steps(const Plan& plan) {
    for (const Plan& part : plan.parts) {
        plan_steps(part);
    }
    if (plan.kind == Plan::Kind::chain || plan.kind == Plan::Kind::has) {
        steps_.push_back({&plan, &resolution_.keys[&plan], nullptr});
    }
}

void Execution::want(const Wanted& wanted) {
    matches_.clear();
    wanted_ = wanted;
    if (walk_ != nullptr) {
        walk_->begin(wanted);
    }
}

Result<bool> Execution::advance(const Pace& pace) {
    while (next_step_ < steps_.size()) {
        ANNALS_TRY(const bool done, resolve(steps_[next_step_], pace));
        if (!done) {
            return false;
        }
        ++next_step_;
    }
    if (walk_ == nullptr) {
        walk_ = std::make_unique<RunWalk>(snapshot_, type_, plan_, resolution_,
                                          [this](const Match& match) {
                                              if (matches_.size() <= kMatchesMax) {
                                                  matches_.push_back(match);
                                              }
                                          });
        walk_->begin(wanted_);
    }
    const bool done = walk_->advance(pace);
    if (matches_.size() > kMatchesMax) {
        return too_many_matches();
    }
    return done;
}

bool Execution::is_large() const noexcept {
    return walk_->is_large();
}

std::uint64_t Execution::count() const noexcept {
    return walk_ == nullptr ? 0 : walk_->count();
}

std::uint64_t Execution::counting_cost() {
    if (walk_->has_many_parts()) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    std::uint64_t cost = 0;
    const auto& runs = snapshot_.runs(type_).runs;
    // The newest first, which a page has bound: to bind the others gathers what many terms have there.
    for (std::size_t run = runs.size(); run-- > 0 && cost <= kCostOfInterest;) {
        const BoundPlan& condition = walk_->bound(run);
        if (condition.costly) {
            return std::numeric_limits<std::uint64_t>::max();
        }
        const bool counted =
            condition.is_postings() || condition.kind == BoundPlan::Kind::everything;
        cost += counted ? 1 + runs[run]->died_count()
                        : std::uint64_t{condition.work} + condition.estimate;
        walk_->let_go(run);
    }
    return cost;
}

Result<bool> Execution::resolve(Step& step, const Pace& pace) {
    if (step.walk == nullptr) {
        KeySet& keys = *step.keys;
        const Plan& plan = *step.plan;
        if (!snapshot_.answers(plan.type)) {
            return expired_snapshot();
        }
        RunWalk::Found found;
        if (plan.kind == Plan::Kind::chain) {
            found = [&keys](const Match& match) { add_keys(match, keys); };
        } else {
            found = [&keys, column = plan.column](const Match& match) {
                const storage::LinkColumn links = match.run->links(column);
                for (const std::uint32_t target : links.of(match.document)) {
                    keys.add(links.targets[target]);
                }
            };
        }
        step.walk = std::make_unique<RunWalk>(snapshot_, plan.type, plan.parts.front(), resolution_,
                                              std::move(found));
        step.walk->begin({.limit = kMatchesMax});
    }
    if (!step.walk->advance(pace)) {
        return false;
    }
    if (step.walk->count() >= kMatchesMax) {
        return too_many_matches();
    }
    if (!step.keys->seal(pace)) {
        return false;
    }
    step.walk.reset();
    return true;
}

}  // namespace annals::core::search
