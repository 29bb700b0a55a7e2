// SnapshotBodies: evaluates `verified` and `contained` plans on the bodies of a snapshot's documents.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/bound_plan.h"
#include "core/search/resolution.h"
#include "core/search/snapshot.h"

#include <optional>

namespace annals::core::search {

/// Erased versions don't pass, and nothing does if the snapshot has no store. Lifetime: the snapshot's store and the
/// resolution outlive it.
class SnapshotBodies final : public BodyCheck {
  public:
    SnapshotBodies(const Snapshot& snapshot, const Resolution& resolution)
        : related_(related_by(resolution)) {
        if (snapshot.has_store()) {
            reader_.emplace(snapshot);
        }
    }

    bool passes(const Plan& plan, Position position) override {
        if (!reader_ || !reader_->mentions(position, plan.text)) {
            return false;
        }
        const json::Value body = reader_->read(position);
        return body && (plan.kind == Plan::Kind::contained ? matches_within(plan, body, related_)
                                                           : plan.check(body));
    }

  private:
    Related related_;
    std::optional<BodyReader> reader_;
};

}  // namespace annals::core::search
