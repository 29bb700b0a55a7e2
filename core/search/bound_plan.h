// BoundPlan: a plan bound to one run (core/search/binding.h), ready to be collected and tested document by document.
//
// Layer:   core/search.
// Threads: belong to one thread; point into the plan, the run and what was resolved.

#pragma once

#include "core/search/document_set.h"
#include "core/search/intervals.h"
#include "core/search/plan.h"
#include "core/search/resolution.h"
#include "storage/search_run.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace annals::core::search {

/// Answers for bodies: does the version at a position pass a plan's check?
class BodyCheck {
  public:
    virtual ~BodyCheck() = default;
    virtual bool passes(const Plan& plan, Position position) = 0;
};

struct BoundPlan {
    enum class Kind : std::uint8_t {
        everything,
        nothing,
        all_of,
        any_of,
        negation,
        postings,  ///< in one of `postings`
        gathered,  ///< one of `documents`, which are those of many postings
        texts,     ///< has a text in `text_range`
        chosen,    ///< has one of `chosen_texts`
        interval,
        linked,  ///< has a link to one of `targets`
        keyed,   ///< is one of `keys`, by its own key or by a name, which `links` are to
        verified,
    };

    Kind kind = Kind::everything;
    bool costly = false;         ///< a body must be looked at
    std::uint32_t estimate = 0;  ///< about how many documents, at most the run's size
    std::uint32_t work = 0;      ///< about how many steps collect() takes
    std::vector<BoundPlan> parts;
    std::vector<storage::Postings> postings;
    std::shared_ptr<const DocumentSet> documents;
    Column column = 0;
    storage::SearchRun::TextRange text_range;
    std::shared_ptr<const std::vector<std::uint32_t>> chosen_texts;  // ascending
    storage::IntervalColumn intervals;
    IntervalStretch stretch;
    const Plan* plan = nullptr;  // the comparison, or the check
    Range range;
    storage::LinkColumn links;
    std::vector<std::uint64_t> targets;  // a bit for each of links.targets
    const KeySet* keys = nullptr;

    /// Walked as it is, without being collected.
    bool is_postings() const noexcept { return kind == Kind::postings && postings.size() == 1; }
};

/// Does the document pass? Died ones are not told from others.
bool test(const BoundPlan& condition, const storage::SearchRun& run, std::uint32_t document,
          BodyCheck& bodies);

/// Adds all that pass to `documents`, which is not sealed yet; of a costly condition, all that may pass.
void collect(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

/// Leaves of `documents`, which is sealed, those that pass; a costly condition leaves all.
void restrict_to(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

}  // namespace annals::core::search
