// BoundPlan: a plan bound to one run (binding.h). Its matches can be collected, or documents tested one by one.
//
// Layer:   core/search.
// Threads: values belong to one thread and point into the plan, the run and the resolution.

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

/// Whether the body of the version at a position passes a plan's check.
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
        gathered,  ///< one of `documents`, merged from many postings
        texts,     ///< has a text in `text_range`
        chosen,    ///< has one of `chosen_texts`
        interval,
        linked,  ///< has a link to one of `targets`
        keyed,   ///< its own key, or that of one of its names (`links`), is in `keys`
        verified,
    };

    Kind kind = Kind::everything;
    bool costly = false;           ///< a body must be read
    std::uint32_t estimate = 0;    ///< estimated number of documents, at most the run's size
    std::uint32_t work = 0;        ///< estimated number of steps of collect()
    std::vector<BoundPlan> parts;  ///< the costly ones last
    std::vector<storage::Postings> postings;
    std::shared_ptr<const DocumentSet> documents;
    Column column = 0;
    storage::SearchRun::TextRange text_range;
    std::shared_ptr<const std::vector<std::uint32_t>> chosen_texts;  // sorted
    IntervalCondition intervals;
    const Plan* plan = nullptr;  // for the check
    storage::LinkColumn links;
    std::vector<std::uint64_t> targets;  // a bit for each of links.targets
    const KeySet* keys = nullptr;

    /// Whether it can be walked directly, without being collected.
    bool is_postings() const noexcept { return kind == Kind::postings && postings.size() == 1; }
};

/// The number of conditions that test() may evaluate.
std::uint64_t conditions_in(const BoundPlan& condition) noexcept;

/// Whether the document passes. Dead documents are not excluded.
bool test(const BoundPlan& condition, const storage::SearchRun& run, std::uint32_t document,
          BodyCheck& bodies);

/// Adds all documents that pass to `documents`, which is not sealed yet; for a costly condition, all that may pass.
void collect(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

/// Removes from `documents`, which is sealed, those that don't pass. A costly condition removes none.
void restrict_to(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

}  // namespace annals::core::search
