#include "core/search/bound_plan.h"

#include "core/search/canonical_links.h"
#include "core/search/text_matches.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace annals::core::search {

namespace {

using storage::Postings;
using storage::SearchRun;
using Kind = BoundPlan::Kind;

// Looking a term up costs as much as going through so many links or keys.
constexpr std::size_t kLookUpCost = 8;
// Texts whose postings are counted for an estimate; of more, so many are sampled.
constexpr std::uint32_t kTextSamples = 32;
// Units whose ranges are kept for the next run; of more, the others are reckoned anew.
constexpr std::size_t kUnitsKept = 64;

std::uint32_t bounded(std::uint64_t count, const SearchRun& run) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, run.size()));
}

// The sum of what `size_of` says of [0, count), by a sample if they are many.
template <typename SizeOf>
std::uint64_t sum_of(std::uint32_t count, SizeOf size_of) {
    const std::uint32_t samples = std::min(count, kTextSamples);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < samples; ++i) {
        sum += size_of(static_cast<std::uint32_t>(std::uint64_t{count} * i / samples));
    }
    return samples == 0 ? 0 : sum * count / samples;
}

BoundPlan nothing_at_all() {
    BoundPlan condition;
    condition.kind = Kind::nothing;
    return condition;
}

BoundPlan of_postings(std::vector<Postings> postings, const SearchRun& run) {
    if (postings.empty()) {
        return nothing_at_all();
    }
    BoundPlan condition;
    condition.kind = Kind::postings;
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

BoundPlan of_texts(Column column, SearchRun::TextRange range, const SearchRun& run) {
    if (range.first == range.last) {
        return nothing_at_all();
    }
    BoundPlan condition;
    condition.kind = Kind::texts;
    condition.column = column;
    condition.text_range = range;
    condition.estimate =
        bounded(sum_of(range.last - range.first,
                       [&](std::uint32_t i) { return run.text_postings(range.first + i).size(); }),
                run);
    condition.work = condition.estimate;
    return condition;
}

BoundPlan of_chosen(const Plan& plan, const std::shared_ptr<const SearchRun>& run) {
    BoundPlan condition;
    condition.kind = Kind::chosen;
    condition.column = plan.column;
    condition.chosen_texts = TextMatches::of_thread().get(run, plan.column, plan.text);
    const std::vector<std::uint32_t>& chosen = *condition.chosen_texts;
    if (chosen.empty()) {
        return nothing_at_all();
    }
    condition.estimate =
        bounded(sum_of(static_cast<std::uint32_t>(chosen.size()),
                       [&](std::uint32_t i) { return run->text_postings(chosen[i]).size(); }),
                *run);
    condition.work = condition.estimate;
    return condition;
}

BoundPlan of_interval(Column column, const Plan& plan, Range range, const SearchRun& run) {
    BoundPlan condition;
    condition.kind = Kind::interval;
    condition.column = column;
    condition.plan = &plan;
    condition.range = range;
    condition.intervals = run.intervals(column);
    condition.stretch = find_stretch(condition.intervals, plan.comparison, range);
    condition.work = condition.stretch.size();
    condition.estimate =
        bounded(estimate(condition.intervals, condition.stretch, plan.comparison, range), run);
    return condition.work == 0 ? nothing_at_all() : condition;
}

BoundPlan join(Kind kind, std::vector<BoundPlan> parts, const SearchRun& run) {
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
    condition.estimate = kind == Kind::all_of ? least : bounded(sum, run);
    condition.work = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(work, std::numeric_limits<std::uint32_t>::max()));
    condition.parts = std::move(parts);
    return condition;
}

BoundPlan of_quantity(const Plan& plan, const SearchRun& run, Resolution& resolution) {
    auto& units = resolution.units[&plan];
    // Of a composite all that can have a range begin with its code.
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
            BoundPlan part =
                of_interval(beside(plan.column, unit.insert(0, 1, '=')), plan, *asked, run);
            if (part.kind != Kind::nothing) {
                parts.push_back(std::move(part));
            }
        }
    }
    if (parts.size() == 1) {
        return std::move(parts.front());
    }
    return parts.empty() ? nothing_at_all() : join(Kind::any_of, std::move(parts), run);
}

BoundPlan of_chain(const Plan& plan, const SearchRun& run, const KeySet& keys) {
    const storage::LinkColumn links = run.links(plan.column);
    if (keys.size() <= links.size() / kLookUpCost) {
        return of_terms(keys.keys(), run,
                        [&](std::uint64_t key) { return reference(plan.column, key); });
    }
    BoundPlan condition;
    condition.kind = Kind::linked;
    condition.links = links;
    condition.targets.resize((links.targets.size() + 63) / 64);
    std::size_t count = 0;
    auto key = keys.keys().begin();
    for (std::size_t i = 0; i < links.targets.size() && key != keys.keys().end(); ++i) {
        while (key != keys.keys().end() && *key < links.targets[i]) {
            ++key;
        }
        if (key != keys.keys().end() && *key == links.targets[i]) {
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
    condition.kind = Kind::keyed;
    condition.keys = &keys;
    condition.links = run.links(names_column());
    condition.estimate = bounded(keys.size(), run);
    condition.work = run.size();
    return condition;
}

// For conditions that look at no body.
class NoBodies final : public BodyCheck {
  public:
    bool passes(const Plan&, Position) override { return false; }
};

bool has_target(const BoundPlan& condition, std::uint32_t target) noexcept {
    return (condition.targets[target / 64] >> (target % 64) & 1) != 0;
}

bool has_key(const BoundPlan& condition, const SearchRun& run, std::uint32_t document) noexcept {
    if (condition.keys->contains(run.key(document))) {
        return true;
    }
    const auto names = condition.links.of(document);
    return std::any_of(names.begin(), names.end(), [&](std::uint32_t name) {
        return condition.keys->contains(condition.links.targets[name]);
    });
}

}  // namespace

void KeySet::make_unique() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    crowded_ = std::max(kCrowded, keys_.size() * 2);
}

void KeySet::seal() {
    make_unique();
    keys_.shrink_to_fit();
    const std::size_t slots = std::bit_ceil(keys_.size() * 2 + 2);
    table_.assign(slots, 0);
    mask_ = slots - 1;
    for (const std::uint64_t key : keys_) {
        if (key == 0) {
            has_zero_ = true;
            continue;
        }
        std::uint64_t slot = key & mask_;
        while (table_[slot] != 0) {
            slot = (slot + 1) & mask_;
        }
        table_[slot] = key;
    }
}

bool KeySet::contains(std::uint64_t key) const noexcept {
    if (key == 0) {
        return has_zero_;
    }
    for (std::uint64_t slot = key & mask_; table_[slot] != 0; slot = (slot + 1) & mask_) {
        if (table_[slot] == key) {
            return true;
        }
    }
    return false;
}

Related related_by(const Resolution& resolution) {
    return [&resolution](const Plan& part, const storage::SearchEntries& entries) {
        const KeySet& keys = resolution.keys.at(&part);
        return std::ranges::any_of(entries.links, [&](const storage::SearchEntries::Link& link) {
            return link.column == part.column && keys.contains(link.target);
        });
    };
}

namespace {

// How many of its parts are bound to the run.
std::size_t parts_in_run(const Plan& plan) noexcept {
    switch (plan.kind) {
        case Plan::Kind::all_of:
        case Plan::Kind::any_of:
        case Plan::Kind::negation:
            return plan.parts.size();
        case Plan::Kind::verified:
        case Plan::Kind::contained:
            return 1;  // The other parts are not of the run's resources.
        default:
            return 0;
    }
}

bool has_nothing(const std::vector<BoundPlan>& parts) noexcept {
    return !parts.empty() && parts.back().kind == Kind::nothing;
}

BoundPlan of_parts(const Plan& plan, std::vector<BoundPlan> parts, const SearchRun& run) {
    switch (plan.kind) {
        case Plan::Kind::all_of:
            return has_nothing(parts) ? nothing_at_all()
                                      : join(Kind::all_of, std::move(parts), run);
        case Plan::Kind::any_of:
            std::erase_if(parts, [](const BoundPlan& part) { return part.kind == Kind::nothing; });
            if (parts.size() == 1) {
                return std::move(parts.front());
            }
            return parts.empty() ? nothing_at_all() : join(Kind::any_of, std::move(parts), run);
        case Plan::Kind::negation: {
            BoundPlan condition = join(Kind::negation, std::move(parts), run);
            condition.estimate = condition.costly ? run.size() : run.size() - condition.estimate;
            condition.work += run.size() / 64;
            return condition;
        }
        case Plan::Kind::verified:
        case Plan::Kind::contained: {
            BoundPlan condition = join(Kind::verified, std::move(parts), run);
            condition.costly = true;
            condition.plan = &plan;
            return has_nothing(condition.parts) ? nothing_at_all() : condition;
        }
        default:
            return nothing_at_all();
    }
}

// A plan without parts of the run.
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
            return of_interval(plan.column, plan, plan.range, *run);
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
    // Where a run has nothing of one condition of all, the others, which may have very many terms, don't matter.
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

bool test(const BoundPlan& condition, const SearchRun& run, std::uint32_t document,
          BodyCheck& bodies) {
    const auto passes = [&](const BoundPlan& part) { return test(part, run, document, bodies); };
    switch (condition.kind) {
        case Kind::everything:
            return true;
        case Kind::nothing:
            return false;
        case Kind::all_of:
            return std::all_of(condition.parts.begin(), condition.parts.end(), passes);
        case Kind::any_of:
            return std::any_of(condition.parts.begin(), condition.parts.end(), passes);
        case Kind::negation:
            return !passes(condition.parts.front());
        case Kind::postings:
            return std::any_of(
                condition.postings.begin(), condition.postings.end(),
                [&](const Postings& postings) { return postings.contains(document); });
        case Kind::texts: {
            // Ascending: the first one that is not before the range decides.
            const auto texts = run.texts_of(condition.column, document);
            const auto at =
                std::lower_bound(texts.begin(), texts.end(), condition.text_range.first);
            return at != texts.end() && *at < condition.text_range.last;
        }
        case Kind::chosen: {
            const auto texts = run.texts_of(condition.column, document);
            const std::vector<std::uint32_t>& chosen = *condition.chosen_texts;
            return std::any_of(texts.begin(), texts.end(), [&](std::uint32_t text) {
                return std::binary_search(chosen.begin(), chosen.end(), text);
            });
        }
        case Kind::interval: {
            const auto own = condition.intervals.of(document);
            return std::any_of(own.begin(), own.end(), [&](std::uint32_t i) {
                return compares(condition.plan->comparison,
                                {condition.intervals.all.low[i], condition.intervals.all.high[i]},
                                condition.range);
            });
        }
        case Kind::linked: {
            const auto own = condition.links.of(document);
            return std::any_of(own.begin(), own.end(),
                               [&](std::uint32_t target) { return has_target(condition, target); });
        }
        case Kind::keyed:
            return has_key(condition, run, document);
        case Kind::verified:
            return passes(condition.parts.front()) &&
                   bodies.passes(*condition.plan, run.position(document));
    }
    return false;
}

void collect(const BoundPlan& condition, const SearchRun& run, DocumentSet& documents) {
    switch (condition.kind) {
        case Kind::everything:
            documents.add_range(0, run.size());
            return;
        case Kind::nothing:
            return;
        case Kind::all_of: {
            // What is left of the smallest: costly ones are tested by whoever asked.
            const auto& parts = condition.parts;
            const auto least = std::min_element(
                parts.begin(), parts.end(),
                [](const BoundPlan& a, const BoundPlan& b) { return a.estimate < b.estimate; });
            const DocumentSetPool::Handle own = DocumentSetPool::of_thread().take(run.size());
            collect(*least, run, *own);
            own->seal();
            for (auto part = parts.begin(); part != parts.end(); ++part) {
                if (part != least) {
                    restrict_to(*part, run, *own);
                }
            }
            documents.add(*own);
            return;
        }
        case Kind::any_of:
            for (const BoundPlan& part : condition.parts) {
                collect(part, run, documents);
            }
            return;
        case Kind::negation: {
            if (condition.costly) {
                documents.add_range(0, run.size());
                return;
            }
            const DocumentSetPool::Handle own = DocumentSetPool::of_thread().take(run.size());
            collect(condition.parts.front(), run, *own);
            own->seal();
            own->complement();
            documents.add(*own);
            return;
        }
        case Kind::postings:
            for (const Postings& postings : condition.postings) {
                documents.add(postings);
            }
            return;
        case Kind::texts:
            for (std::uint32_t text = condition.text_range.first; text < condition.text_range.last;
                 ++text) {
                documents.add(run.text_postings(text));
            }
            return;
        case Kind::chosen:
            for (const std::uint32_t text : *condition.chosen_texts) {
                documents.add(run.text_postings(text));
            }
            return;
        case Kind::interval:
            add_documents(condition.intervals, condition.stretch, condition.plan->comparison,
                          condition.range, documents);
            return;
        case Kind::linked:
            for (std::size_t i = 0; i < condition.links.size(); ++i) {
                if (has_target(condition, condition.links.target[i])) {
                    documents.add(condition.links.document[i]);
                }
            }
            return;
        case Kind::keyed:
            for (std::uint32_t document = 0; document < run.size(); ++document) {
                if (has_key(condition, run, document)) {
                    documents.add(document);
                }
            }
            return;
        case Kind::verified:
            collect(condition.parts.front(), run, documents);
            return;
    }
}

void restrict_to(const BoundPlan& condition, const SearchRun& run, DocumentSet& documents) {
    if (condition.costly || condition.kind == Kind::everything) {
        return;
    }
    if (condition.is_postings()) {
        documents.intersect(condition.postings.front());
        return;
    }
    // A test is some ten times as much work as a step of collecting.
    if (condition.kind == Kind::nothing || condition.work / 10 < documents.size()) {
        const DocumentSetPool::Handle other = DocumentSetPool::of_thread().take(run.size());
        collect(condition, run, *other);
        other->seal();
        documents.intersect(*other);
        return;
    }
    NoBodies none;
    documents.filter([&](std::uint32_t document) { return test(condition, run, document, none); });
}

}  // namespace annals::core::search
