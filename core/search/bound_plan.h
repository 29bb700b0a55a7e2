// BoundPlan: a plan bound to one run, ready to be estimated, collected and tested document by document.
//
// Layer:   core/search.
// Threads: belong to one thread; point into the plan, the run and what was resolved.

#pragma once

#include "core/search/document_set.h"
#include "core/search/intervals.h"
#include "core/search/plan.h"
#include "storage/search_run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::core::search {

/// Keys of resources (SearchRun::key()): what a chain's or a has's own plan came to.
class KeySet {
  public:
    void add(std::uint64_t key) {
        keys_.push_back(key);
        if (keys_.size() >= crowded_) {
            make_unique();
        }
    }

    /// Ends the filling.
    void seal();

    bool contains(std::uint64_t key) const noexcept;

    /// Ascending, each once.
    const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

    std::size_t size() const noexcept { return keys_.size(); }

  private:
    // Often the same keys are added again and again; sorted all together in the end they would take long.
    static constexpr std::size_t kCrowded = 16'384;

    void make_unique();

    std::vector<std::uint64_t> keys_;
    std::size_t crowded_ = kCrowded;    // so many are made unique
    std::vector<std::uint64_t> table_;  // open addressing; 0 is empty, the key 0 is has_zero_
    std::uint64_t mask_ = 0;
    bool has_zero_ = false;
};

/// What was found out for a plan before it is bound to runs.
struct Resolution {
    std::unordered_map<const Plan*, KeySet> keys;  ///< of each chain and has
    /// The ranges that a quantity asks of units.
    std::unordered_map<const Plan*, std::unordered_map<std::string, std::optional<Range>>> units;
};

/// Decides chains by what they came to. Lifetime: the resolution outlives it.
Related related_by(const Resolution& resolution);

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

/// Binds a plan to a run, condition by condition: of one that looks through many texts or units each takes its time.
class Binding {
  public:
    /// Requires: every chain and has in `plan` is in `resolution`.
    /// Lifetime: the plan and `resolution` outlive this and what it gives; `resolution` stays where it is.
    Binding(const Plan& plan, std::shared_ptr<const storage::SearchRun> run,
            Resolution& resolution);

    /// Binds the next condition; true once all are bound.
    bool step();

    /// The plan bound. Requires: step() was true.
    BoundPlan take() { return std::move(whole_); }

  private:
    /// A plan of which some parts are bound.
    struct Begun {
        const Plan* plan;
        std::size_t next = 0;
        std::vector<BoundPlan> parts;
    };

    void enter(const Plan& plan);
    void give(BoundPlan condition);

    std::shared_ptr<const storage::SearchRun> run_;
    Resolution& resolution_;
    std::vector<Begun> begun_;  // each is a part of the one before
    BoundPlan whole_;
};

/// Binds all of `plan` at once, as Binding does.
BoundPlan bind(const Plan& plan, const std::shared_ptr<const storage::SearchRun>& run,
               Resolution& resolution);

/// Does the document pass? Died ones are not told from others.
bool test(const BoundPlan& condition, const storage::SearchRun& run, std::uint32_t document,
          BodyCheck& bodies);

/// Adds all that pass to `documents`, which is not sealed yet; of a costly condition, all that may pass.
void collect(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

/// Leaves of `documents`, which is sealed, those that pass; a costly condition leaves all.
void restrict_to(const BoundPlan& condition, const storage::SearchRun& run, DocumentSet& documents);

}  // namespace annals::core::search
