// View: what of each type a reader sees. Queries that are read for him match nothing else, nor do their chains lead
// through anything else.
//
// Layer:   core/search.
// Threads: a View belongs to one thread; unheld() is for all.

#pragma once

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "core/search/plan.h"

#include <cstdint>
#include <optional>

namespace annals::core::search {

class Extractor;

class View {
  public:
    virtual ~View() = default;

    /// What resources of `type` must match to be seen. Lifetime: of this.
    virtual const Plan& of(TypeId type) const = 0;

    /// Whether a query may look at resources of `type` beside its own. Whoever may not is refused (Query::others) whatever they
    /// say, so they are not read for him.
    virtual bool looks_at(TypeId /*type*/) const { return true; }
};

/// Sees everything.
const View& unheld() noexcept;

/// What matches `plan`, as far as `view` sees it.
Plan seen_of(const View& view, TypeId type, Plan plan);

/// Whether a resource matches `plan`; `key` is its SearchRun::key(), `written` its lastUpdated. Without `related` chains match
/// nothing.
bool is_match(const Plan& plan, Extractor& extractor, TypeId type, std::uint64_t key,
              Instant written, json::Value resource, const Related& related = {});

}  // namespace annals::core::search
