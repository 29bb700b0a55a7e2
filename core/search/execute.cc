#include "core/search/execute.h"

#include "core/search/canonical_links.h"
#include "core/search/matches_max.h"
#include "core/search/run_walk.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

namespace annals::core::search {

namespace {

using Kind = Plan::Kind;

// If the other conditions leave at most this many resources, chains are evaluated only for them, by at most this many
// terms each.
constexpr std::size_t kFew = 64;
constexpr std::size_t kFewTermsMax = 1000;

// Costs of counting beyond this need not be exact.
constexpr std::uint64_t kCostOfInterest = 20'000;

bool leads_away(const Plan& plan) noexcept {
    return plan.kind == Kind::chain || plan.kind == Kind::has;
}

// Whether it can be decided by the index of its own type.
bool is_plain(const Plan& plan) {
    return !leads_away(plan) && plan.kind != Kind::verified && plan.kind != Kind::contained &&
           std::ranges::all_of(plan.parts, is_plain);
}

// The plain parts of a conjunction; everything if there are none.
Plan plain_part(const Plan& plan) {
    std::vector<Plan> parts;
    if (plan.kind == Kind::all_of) {
        std::ranges::copy_if(plan.parts, std::back_inserter(parts), is_plain);
    }
    return all_of(std::move(parts));
}

// Adds the keys by which others refer to a match.
void add_keys(const Match& match, KeySet& keys) {
    keys.add(match.key());
    if (may_be_named(match.type)) {
        const storage::LinkColumn names = match.run->links(names_column());
        for (const std::uint32_t name : names.of(match.document)) {
            keys.add(names.targets[name]);
        }
    }
}

}  // namespace

Error too_many_matches() {
    return {Errc::too_costly, "The search matches too much to be evaluated; narrow it down"};
}

void add_linked(const Plan& link, const Match& match, KeySet& keys) {
    if (link.kind == Kind::chain) {
        add_keys(match, keys);
        return;
    }
    const storage::LinkColumn links = match.run->links(link.column);
    for (const std::uint32_t target : links.of(match.document)) {
        keys.add(links.targets[target]);
    }
}

// A chain or has, whose own plan is evaluated before the plan that contains it.
struct Execution::Step {
    const Plan* plan = nullptr;
    KeySet* keys = nullptr;
    bool own = false;  // a condition on the execution's own resources, with no links in its plan
    std::optional<Plan> narrowed = {};  // its plan, restricted to few resources
    std::unique_ptr<RunWalk> walk = {};
};

// The resources that match the plain conditions, if they are few.
struct Execution::Few {
    Plan beside;
    std::unique_ptr<RunWalk> walk;
    std::vector<Match> matches;
};

Execution::Execution(Snapshot& snapshot, TypeId type, const Plan& plan)
    : snapshot_(snapshot), type_(type), plan_(plan) {
    plan_steps(plan, true);
    looks_for_few_ = std::ranges::any_of(steps_, &Step::own);
}

Execution::~Execution() = default;

void Execution::plan_steps(const Plan& plan, bool own) {
    for (std::size_t i = 0; i < plan.parts.size(); ++i) {
        // Conditions on inner resources concern other resources.
        plan_steps(plan.parts[i],
                   own && !leads_away(plan) && (plan.kind != Kind::contained || i == 0));
    }
    if (leads_away(plan)) {
        steps_.push_back(
            {&plan, &resolution_.keys[&plan], own && related_types(plan.parts.front()).empty()});
    }
}

// Continues until the turn is over (false) or it is known whether there are few, and chains are narrowed to them (true).
bool Execution::find_few(const Pace& pace) {
    if (few_ == nullptr) {
        Plan beside = wanted_.limit > 0 ? plain_part(plan_) : everything();
        if (beside.kind == Kind::everything) {
            return true;
        }
        few_ = std::make_unique<Few>();
        few_->beside = std::move(beside);
        few_->walk = std::make_unique<RunWalk>(
            snapshot_, type_, few_->beside, resolution_,
            [this](const Match& match) { few_->matches.push_back(match); });
        few_->walk->begin({.limit = kFew + 1});
    }
    if (!few_->walk->advance(pace)) {
        return false;
    }
    if (few_->matches.size() <= kFew) {
        std::ranges::for_each(steps_, [this](Step& step) { narrow(step); });
    }
    // The plan is kept: the resolution refers to its quantities by address.
    few_->walk.reset();
    return true;
}

// Restricts a step to what the few refer to, or what refers to them.
void Execution::narrow(Step& step) const {
    if (!step.own) {
        return;
    }
    const Column column = step.plan->column;
    std::vector<Term> terms;
    if (step.plan->kind == Kind::chain) {
        for (const Match& match : few_->matches) {
            const storage::LinkColumn links = match.run->links(column);
            const std::span<const std::uint32_t> targets = links.of(match.document);
            if (terms.size() + targets.size() > kFewTermsMax) {
                return;
            }
            for (const std::uint32_t target : targets) {
                terms.push_back(identity(links.targets[target]));
            }
        }
    } else {
        KeySet keys;
        for (const Match& match : few_->matches) {
            add_keys(match, keys);
        }
        static_cast<void>(keys.seal(Pace()));  // never ends a turn
        if (keys.size() > kFewTermsMax) {
            return;
        }
        for (const std::uint64_t key : keys.keys()) {
            terms.push_back(reference(column, key));
        }
    }
    step.narrowed = all_of(carrying(std::move(terms)), step.plan->parts.front());
}

void Execution::want(const Wanted& wanted) {
    matches_.clear();
    wanted_ = wanted;
    if (walk_ != nullptr) {
        walk_->begin(wanted);
    }
}

Result<bool> Execution::advance(const Pace& pace) {
    if (looks_for_few_) {
        if (!find_few(pace)) {
            return false;
        }
        looks_for_few_ = false;
    }
    while (next_step_ < steps_.size()) {
        ANNALS_TRY(const bool done, resolve(steps_[next_step_], pace));
        if (!done) {
            return false;
        }
        ++next_step_;
    }
    if (walk_ == nullptr) {
        walk_ = std::make_unique<RunWalk>(snapshot_, type_, plan_, resolution_,
                                          [this, most = matches_max()](const Match& match) {
                                              if (matches_.size() <= most) {
                                                  matches_.push_back(match);
                                              }
                                          });
        walk_->begin(wanted_);
    }
    const bool done = walk_->advance(pace);
    if (matches_.size() > matches_max()) {
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
    // Newest first: a page has already bound that run, while binding the others may gather the postings of many terms.
    for (std::size_t run = runs.size(); run-- > 0 && cost <= kCostOfInterest;) {
        if (walk_->is_large()) {
            cost += walk_->conditions();  // It is bound again, with a look-up for each.
            if (cost > kCostOfInterest) {
                break;
            }
        }
        const BoundPlan& condition = walk_->bound(run);
        if (condition.costly) {
            return std::numeric_limits<std::uint64_t>::max();
        }
        cost += counting_cost_of(condition, *runs[run]);
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
        step.walk = std::make_unique<RunWalk>(
            snapshot_, plan.type, step.narrowed ? *step.narrowed : plan.parts.front(), resolution_,
            [&keys, &plan](const Match& match) { add_linked(plan, match, keys); });
        step.walk->begin({.limit = matches_max()});
    }
    if (!step.walk->advance(pace)) {
        return false;
    }
    if (step.walk->count() >= matches_max()) {
        return too_many_matches();
    }
    if (!step.keys->seal(pace)) {
        return false;
    }
    step.walk.reset();
    return true;
}

}  // namespace annals::core::search
