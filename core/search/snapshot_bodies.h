// SnapshotBodies: evaluates `verified` and `contained` plans on the bodies of a snapshot's documents.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/bound_plan.h"
#include "core/search/pace.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace annals::core::search {

/// Erased versions don't pass, and nothing does if the snapshot has no store. Lifetime: the snapshot's store and the
/// resolution outlive it.
///
/// A document with a large body may have to pass many plans, so that its test takes several turns: begin() is called, then
/// test(), until it was not interrupted.
class SnapshotBodies final : public BodyCheck {
  public:
    SnapshotBodies(const Snapshot& snapshot, const Resolution& resolution)
        : related_(related_by(resolution)) {
        if (snapshot.has_store()) {
            reader_.emplace(snapshot);
        }
    }

    /// Begins the test of the document at this position, or goes on with it if it was interrupted. Lifetime: the pace outlives the
    /// test.
    void begin(Position document, const Pace& pace) noexcept {
        // Another one follows if the one that was interrupted has been erased since.
        if (!interrupted_ || document != document_) {
            verdicts_.clear();
        }
        document_ = document;
        pace_ = &pace;
        known_ = verdicts_.size();
        next_ = 0;
        interrupted_ = false;
    }

    /// Gives up the test that was interrupted, if any: another one begins.
    void abandon() noexcept { interrupted_ = false; }

    /// Whether the turn was over in the middle of the test, whose result then means nothing.
    bool is_interrupted() const noexcept { return interrupted_; }

    /// Whether the test has asked for the body since begin().
    bool is_asked() const noexcept { return next_ > 0; }

    /// Requires: since begin(), it was called for the plans of one document, in the same order each time.
    bool passes(const Plan& plan, Position position) override {
        if (next_ == verdicts_.size()) {
            // Each turn decides about one plan at least.
            interrupted_ = interrupted_ || (next_ > known_ && pace_->is_over());
            if (interrupted_) {
                return false;
            }
            verdicts_.push_back(decide(plan, position));
        }
        return verdicts_[next_++];
    }

  private:
    bool decide(const Plan& plan, Position position) {
        if (!reader_ || !reader_->mentions(position, plan.text)) {
            return false;
        }
        const json::Value body = reader_->read(position);
        return body && (plan.kind == Plan::Kind::contained ? matches_within(plan, body, related_)
                                                           : plan.check(body));
    }

    Related related_;
    std::optional<BodyReader> reader_;
    const Pace* pace_ = nullptr;  ///< of the turn
    Position document_;
    std::vector<bool> verdicts_;  ///< on the document, in the order in which they are asked for
    std::size_t known_ = 0;       ///< how many of them are of earlier turns
    std::size_t next_ = 0;
    bool interrupted_ = false;
};

}  // namespace annals::core::search
