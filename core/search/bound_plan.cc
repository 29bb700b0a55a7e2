#include "core/search/bound_plan.h"

#include <algorithm>

namespace annals::core::search {

namespace {

using storage::Postings;
using storage::SearchRun;
using BoundKind = BoundPlan::Kind;

// For conditions that read no bodies.
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

std::uint64_t conditions_in(const BoundPlan& condition) noexcept {
    std::uint64_t sum = std::max<std::uint64_t>(condition.postings.size(), 1);
    for (const BoundPlan& part : condition.parts) {
        sum += conditions_in(part);
    }
    return sum;
}

bool test(const BoundPlan& condition, const SearchRun& run, std::uint32_t document,
          BodyCheck& bodies) {
    const auto passes = [&](const BoundPlan& part) { return test(part, run, document, bodies); };
    switch (condition.kind) {
        case BoundKind::everything:
            return true;
        case BoundKind::nothing:
            return false;
        case BoundKind::all_of:
            return std::all_of(condition.parts.begin(), condition.parts.end(), passes);
        case BoundKind::any_of:
            return std::any_of(condition.parts.begin(), condition.parts.end(), passes);
        case BoundKind::negation:
            return !passes(condition.parts.front());
        case BoundKind::postings:
            return std::any_of(
                condition.postings.begin(), condition.postings.end(),
                [&](const Postings& postings) { return postings.contains(document); });
        case BoundKind::gathered:
            return condition.documents->contains(document);
        case BoundKind::texts: {
            // Sorted: the first one not before the range decides.
            const auto texts = run.texts_of(condition.column, document);
            const auto at =
                std::lower_bound(texts.begin(), texts.end(), condition.text_range.first);
            return at != texts.end() && *at < condition.text_range.last;
        }
        case BoundKind::chosen: {
            const auto texts = run.texts_of(condition.column, document);
            const std::vector<std::uint32_t>& chosen = *condition.chosen_texts;
            return std::any_of(texts.begin(), texts.end(), [&](std::uint32_t text) {
                return std::binary_search(chosen.begin(), chosen.end(), text);
            });
        }
        case BoundKind::interval:
            return condition.intervals.holds(document);
        case BoundKind::linked: {
            const auto own = condition.links.of(document);
            return std::any_of(own.begin(), own.end(),
                               [&](std::uint32_t target) { return has_target(condition, target); });
        }
        case BoundKind::keyed:
            return has_key(condition, run, document);
        case BoundKind::verified:
            return passes(condition.parts.front()) &&
                   bodies.passes(*condition.plan, run.position(document));
    }
    return false;
}

void collect(const BoundPlan& condition, const SearchRun& run, DocumentSet& documents) {
    switch (condition.kind) {
        case BoundKind::everything:
            documents.add_range(0, run.size());
            return;
        case BoundKind::nothing:
            return;
        case BoundKind::all_of: {
            // Begins with the smallest; costly ones are left to the caller's tests.
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
        case BoundKind::any_of:
            for (const BoundPlan& part : condition.parts) {
                collect(part, run, documents);
            }
            return;
        case BoundKind::negation: {
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
        case BoundKind::postings:
            for (const Postings& postings : condition.postings) {
                documents.add(postings);
            }
            return;
        case BoundKind::gathered:
            documents.add(*condition.documents);
            return;
        case BoundKind::texts:
            for (std::uint32_t text = condition.text_range.first; text < condition.text_range.last;
                 ++text) {
                documents.add(run.text_postings(text));
            }
            return;
        case BoundKind::chosen:
            for (const std::uint32_t text : *condition.chosen_texts) {
                documents.add(run.text_postings(text));
            }
            return;
        case BoundKind::interval:
            condition.intervals.add_to(documents);
            return;
        case BoundKind::linked:
            for (std::size_t i = 0; i < condition.links.size(); ++i) {
                if (has_target(condition, condition.links.target[i])) {
                    documents.add(condition.links.document[i]);
                }
            }
            return;
        case BoundKind::keyed:
            for (std::uint32_t document = 0; document < run.size(); ++document) {
                if (has_key(condition, run, document)) {
                    documents.add(document);
                }
            }
            return;
        case BoundKind::verified:
            collect(condition.parts.front(), run, documents);
            return;
    }
}

void restrict_to(const BoundPlan& condition, const SearchRun& run, DocumentSet& documents) {
    if (condition.costly || condition.kind == BoundKind::everything) {
        return;
    }
    if (condition.is_postings()) {
        documents.intersect(condition.postings.front());
        return;
    }
    if (condition.kind == BoundKind::gathered) {
        documents.intersect(*condition.documents);
        return;
    }
    // A test of one condition is about ten times as much work as a step of collecting.
    const std::uint64_t tests = documents.size() * conditions_in(condition);
    if (condition.kind == BoundKind::nothing || condition.work / 10 < tests) {
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
