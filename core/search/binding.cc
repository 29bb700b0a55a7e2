#include "core/search/binding.h"

#include "core/search/canonical_links.h"
#include "core/search/intervals.h"
#include "core/search/text_matches.h"

#include <algorithm>
#include <limits>
#include <string>

namespace annals::core::search {

namespace {

using storage::Postings;
using storage::SearchRun;
using BoundKind = BoundPlan::Kind;

// The cost of a term's look-up, in links or keys scanned.
constexpr std::uint64_t kLookUpCost = 8;
// The cost of adding a text's documents to a set, besides the one for each document, in steps of collecting.
constexpr std::uint64_t kTextCost = 4;
// How many texts' postings are counted for an estimate; if there are more, this many are sampled.
constexpr std::uint32_t kTextSamples = 32;
// Testing a document searches all postings: if there are more than this, their documents are gathered first.
constexpr std::size_t kLookedIntoMax = 16;
// The sum of many conditions' work ends here, so that a share of a run's size can be added to it.
constexpr std::uint64_t kWorkMax = std::numeric_limits<std::uint32_t>::max() / 2;
// How many units' ranges are kept for the next run; those of others are computed again.
constexpr std::size_t kUnitsKept = 64;

std::uint32_t bounded(std::uint64_t count, const SearchRun& run) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, run.size()));
}

// The sum of `size_of` over [0, count), estimated by a sample if they are many.
template <typename SizeOf>
std::uint64_t sum_of(std::uint32_t count, SizeOf size_of) {
    const std::uint32_t samples = std::min(count, kTextSamples);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < samples; ++i) {
        sum += size_of(static_cast<std::uint32_t>(std::uint64_t{count} * i / samples));
    }
    return samples == 0 ? 0 : sum * count / samples;
}

std::uint32_t bounded_work(std::uint64_t work) {
    return static_cast<std::uint32_t>(std::min(work, kWorkMax));
}

BoundPlan nothing_at_all() {
    BoundPlan condition;
    condition.kind = BoundKind::nothing;
    return condition;
}

BoundPlan of_gathered(const std::vector<Postings>& postings, const SearchRun& run) {
    const auto documents = std::make_shared<DocumentSet>();
    documents->reset(run.size());
    for (const Postings& one : postings) {
        documents->add(one);
    }
    documents->seal();
    BoundPlan condition;
    condition.kind = BoundKind::gathered;
    condition.estimate = documents->size();
    condition.work = condition.estimate;
    condition.documents = documents;
    return condition;
}

BoundPlan of_postings(std::vector<Postings> postings, const SearchRun& run) {
    if (postings.empty()) {
        return nothing_at_all();
    }
    if (postings.size() > kLookedIntoMax) {
        return of_gathered(postings, run);
    }
    BoundPlan condition;
    condition.kind = BoundKind::postings;
    std::uint64_t sum = 0;
    for (const Postings& one : postings) {
        sum += one.size();
    }
    condition.estimate = bounded(sum, run);
    condition.work = bounded(sum, run);
    condition.postings = std::move(postings);
    return condition;
}

template <typename Terms, typename TermOf>
BoundPlan of_terms(const Terms& terms, const SearchRun& run, TermOf term_of) {
    std::vector<Postings> found;
    for (const std::uint64_t term : terms) {
        const Postings postings = run.postings(term_of(term));
        if (postings.bitmap != nullptr || !postings.list.empty()) {
            found.push_back(postings);
        }
    }
    return of_postings(std::move(found), run);
}

// Estimates the cost and the result of a condition on `count` texts, of which `text_at` gives the indexes.
template <typename TextAt>
void estimate_texts(BoundPlan& condition, const SearchRun& run, std::size_t count, TextAt text_at) {
    const std::uint64_t documents = sum_of(static_cast<std::uint32_t>(count), [&](std::uint32_t i) {
        return std::uint64_t{run.text_postings(text_at(i)).size()};
    });
    condition.estimate = bounded(documents, run);
    condition.work = bounded_work(documents + kTextCost * count);
}

BoundPlan of_texts(Column column, SearchRun::TextRange range, const SearchRun& run) {
    if (range.first == range.last) {
        return nothing_at_all();
    }
    BoundPlan condition;
    condition.kind = BoundKind::texts;
    condition.column = column;
    condition.text_range = range;
    estimate_texts(condition, run, range.last - range.first,
                   [&](std::uint32_t i) { return range.first + i; });
    return condition;
}

BoundPlan of_chosen(const Plan& plan, const std::shared_ptr<const SearchRun>& run) {
    BoundPlan condition;
    condition.kind = BoundKind::chosen;
    condition.column = plan.column;
    condition.chosen_texts = TextMatches::of_thread().get(run, plan.column, plan.text);
    const std::vector<std::uint32_t>& chosen = *condition.chosen_texts;
    if (chosen.empty()) {
        return nothing_at_all();
    }
    estimate_texts(condition, *run, chosen.size(), [&](std::uint32_t i) { return chosen[i]; });
    return condition;
}

BoundPlan of_interval(Column column, Comparison comparison, Range range, const SearchRun& run) {
    BoundPlan condition;
    condition.kind = BoundKind::interval;
    condition.column = column;
    condition.intervals = IntervalCondition(run.intervals(column), comparison, range);
    condition.work = condition.intervals.stretch().size();
    condition.estimate = bounded(condition.intervals.estimate(), run);
    return condition.work == 0 ? nothing_at_all() : condition;
}

BoundPlan join(BoundKind kind, std::vector<BoundPlan> parts, const SearchRun& run) {
    BoundPlan condition;
    condition.kind = kind;
    std::uint64_t sum = 0;
    std::uint64_t work = 0;
    std::uint32_t least = run.size();
    for (const BoundPlan& part : parts) {
        condition.costly = condition.costly || part.costly;
        sum += part.estimate;
        work += part.work;
        least = std::min(least, part.estimate);
    }
    condition.estimate = kind == BoundKind::all_of ? least : bounded(sum, run);
    condition.work = bounded_work(work);
    // A test reads a body only if the index doesn't decide.
    if (condition.costly) {
        std::ranges::partition(parts, [](const BoundPlan& part) { return !part.costly; });
    }
    condition.parts = std::move(parts);
    return condition;
}

BoundPlan of_quantity(const Plan& plan, const SearchRun& run, Resolution& resolution) {
    auto& units = resolution.units[&plan];
    // For a composite, all units that can have a range begin with its code.
    const SearchRun::TextRange range = run.texts(beside(plan.column, ":units"), plan.text);
    std::vector<BoundPlan> parts;
    parts.reserve(range.last - range.first);
    std::string unit;
    for (std::uint32_t text = range.first; text < range.last; ++text) {
        unit = run.text(text);
        const auto known = units.find(unit);
        const std::optional<Range> asked =
            known == units.end() ? plan.in_unit(unit) : known->second;
        if (known == units.end() && units.size() < kUnitsKept) {
            units.emplace(unit, asked);
        }
        if (asked) {
            BoundPlan part = of_interval(beside(plan.column, unit.insert(0, 1, '=')),
                                         plan.comparison, *asked, run);
            if (part.kind != BoundKind::nothing) {
                parts.push_back(std::move(part));
            }
        }
    }
    if (parts.size() == 1) {
        return std::move(parts.front());
    }
    return parts.empty() ? nothing_at_all() : join(BoundKind::any_of, std::move(parts), run);
}

BoundPlan of_chain(const Plan& plan, const SearchRun& run, const KeySet& keys) {
    const storage::LinkColumn links = run.links(plan.column);
    if (keys.size() <= links.size() / kLookUpCost) {
        return of_terms(keys.keys(), run,
                        [&](std::uint64_t key) { return reference(plan.column, key); });
    }
    BoundPlan condition;
    condition.kind = BoundKind::linked;
    condition.links = links;
    condition.targets.resize((links.targets.size() + 63) / 64);
    std::size_t count = 0;
    // Few targets are looked up; many are merged with the keys.
    const bool looks_up = links.targets.size() < keys.size() / kLookUpCost;
    auto key = keys.keys().begin();
    const auto is_key = [&](std::uint64_t target) {
        if (looks_up) {
            return keys.contains(target);
        }
        while (key != keys.keys().end() && *key < target) {
            ++key;
        }
        return key != keys.keys().end() && *key == target;
    };
    for (std::size_t i = 0; i < links.targets.size(); ++i) {
        if (is_key(links.targets[i])) {
            condition.targets[i / 64] |= std::uint64_t{1} << (i % 64);
            ++count;
        }
    }
    if (count == 0) {
        return nothing_at_all();
    }
    condition.estimate = bounded(links.size() * count / links.targets.size() + 1, run);
    condition.work = static_cast<std::uint32_t>(links.size());
    return condition;
}

BoundPlan of_has(const SearchRun& run, const KeySet& keys) {
    if (keys.size() <= run.size() / kLookUpCost) {
        return of_terms(keys.keys(), run, [](std::uint64_t key) { return identity(key); });
    }
    BoundPlan condition;
    condition.kind = BoundKind::keyed;
    condition.keys = &keys;
    condition.links = run.links(names_column());
    condition.estimate = bounded(keys.size(), run);
    condition.work = bounded_work(kLookUpCost * run.size());
    return condition;
}

// The number of its parts that are bound to the run.
std::size_t parts_in_run(const Plan& plan) noexcept {
    switch (plan.kind) {
        case Plan::Kind::all_of:
        case Plan::Kind::any_of:
        case Plan::Kind::negation:
            return plan.parts.size();
        case Plan::Kind::verified:
        case Plan::Kind::contained:
            return 1;  // The other parts are conditions on inner resources.
        default:
            return 0;
    }
}

bool has_nothing(const std::vector<BoundPlan>& parts) noexcept {
    return !parts.empty() && parts.back().kind == BoundKind::nothing;
}

BoundPlan of_parts(const Plan& plan, std::vector<BoundPlan> parts, const SearchRun& run) {
    switch (plan.kind) {
        case Plan::Kind::all_of: {
            if (has_nothing(parts)) {
                return nothing_at_all();
            }
            BoundPlan condition = join(BoundKind::all_of, std::move(parts), run);
            // Sets of bits are cleared and intersected as a whole, however few documents there are.
            const auto sets = std::ranges::count_if(condition.parts, [&](const BoundPlan& part) {
                return part.estimate > DocumentSet::list_max(run.size());
            });
            condition.work = bounded_work(condition.work +
                                          static_cast<std::uint64_t>(sets) * (run.size() / 128));
            return condition;
        }
        case Plan::Kind::any_of:
            std::erase_if(parts,
                          [](const BoundPlan& part) { return part.kind == BoundKind::nothing; });
            if (parts.size() == 1) {
                return std::move(parts.front());
            }
            return parts.empty() ? nothing_at_all()
                                 : join(BoundKind::any_of, std::move(parts), run);
        case Plan::Kind::negation: {
            BoundPlan condition = join(BoundKind::negation, std::move(parts), run);
            condition.estimate = condition.costly ? run.size() : run.size() - condition.estimate;
            condition.work += run.size() / 64;
            return condition;
        }
        case Plan::Kind::verified:
        case Plan::Kind::contained: {
            BoundPlan condition = join(BoundKind::verified, std::move(parts), run);
            condition.costly = true;
            condition.plan = &plan;
            return has_nothing(condition.parts) ? nothing_at_all() : condition;
        }
        default:
            return nothing_at_all();
    }
}

// Binds a plan that has no parts to be bound to the run.
BoundPlan of_itself(const Plan& plan, const std::shared_ptr<const SearchRun>& run,
                    Resolution& resolution) {
    switch (plan.kind) {
        case Plan::Kind::everything: {
            BoundPlan condition;
            condition.estimate = run->size();
            condition.work = 1;
            return condition;
        }
        case Plan::Kind::terms:
            return of_terms(plan.terms, *run, [](std::uint64_t term) { return term; });
        case Plan::Kind::prefix:
            return of_texts(plan.column, run->texts(plan.column, plan.text), *run);
        case Plan::Kind::contains:
            return of_chosen(plan, run);
        case Plan::Kind::interval:
            return of_interval(plan.column, plan.comparison, plan.range, *run);
        case Plan::Kind::quantity:
            return of_quantity(plan, *run, resolution);
        case Plan::Kind::chain:
            return of_chain(plan, *run, resolution.keys.at(&plan));
        case Plan::Kind::has:
            return of_has(*run, resolution.keys.at(&plan));
        default:
            return nothing_at_all();
    }
}

}  // namespace

Binding::Binding(const Plan& plan, std::shared_ptr<const SearchRun> run, Resolution& resolution)
    : run_(std::move(run)), resolution_(resolution) {
    enter(plan);
}

void Binding::enter(const Plan& plan) {
    if (const std::size_t count = parts_in_run(plan); count > 0) {
        begun_.push_back({&plan, 0, {}});
        begun_.back().parts.reserve(count);
    } else {
        give(of_itself(plan, run_, resolution_));
    }
}

void Binding::give(BoundPlan condition) {
    if (begun_.empty()) {
        whole_ = std::move(condition);
    } else {
        begun_.back().parts.push_back(std::move(condition));
    }
}

bool Binding::step() {
    if (begun_.empty()) {
        return true;
    }
    Begun& begun = begun_.back();
    // If one part of a conjunction matches nothing, the others, which may have very many terms, don't matter.
    const bool decided = begun.plan->kind == Plan::Kind::all_of && has_nothing(begun.parts);
    if (begun.next < parts_in_run(*begun.plan) && !decided) {
        enter(begun.plan->parts[begun.next++]);
        return false;
    }
    BoundPlan condition = of_parts(*begun.plan, std::move(begun.parts), *run_);
    begun_.pop_back();
    give(std::move(condition));
    return begun_.empty();
}

BoundPlan bind(const Plan& plan, const std::shared_ptr<const SearchRun>& run,
               Resolution& resolution) {
    Binding binding(plan, run, resolution);
    while (!binding.step()) {
    }
    return binding.take();
}

}  // namespace annals::core::search
