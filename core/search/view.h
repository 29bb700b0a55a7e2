// View: the part of each type that a reader may see. Queries read for that reader match nothing else, and their chains don't
// pass through anything else.
//
// Layer:   core/search.
// Threads: a View belongs to one thread; unrestricted() is for any.

#pragma once

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "core/search/plan.h"

#include <cstdint>

namespace annals::core::search {

class Extractor;

class View {
  public:
    virtual ~View() = default;

    /// What resources of `type` must match to be visible. Lifetime: that of this.
    virtual const Plan& of(TypeId type) const = 0;

    /// Whether a query may look at resources of `type` besides those it searches. If not, the query will be refused
    /// (Query::others), so nothing of the type needs to be read.
    virtual bool looks_at(TypeId /*type*/) const { return true; }
};

/// The view that sees everything.
const View& unrestricted() noexcept;

/// `plan`, restricted to what is visible in `view`.
Plan seen_of(const View& view, TypeId type, Plan plan);

/// Whether a resource matches `plan`; `key` is its SearchRun::key(), `written` its lastUpdated. Without `related`,
/// chains match nothing.
bool is_match(const Plan& plan, Extractor& extractor, TypeId type, std::uint64_t key,
              Instant written, json::Value resource, const Related& related = {});

}  // namespace annals::core::search
