// Walks through the selected fields of one resource. References and reverse references are put off to the next step.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 6 Execution; FHIR R4 graphql.html, "Field Arguments", "Resolving References".
// Threads: on the loop of its request, in slices.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/base/result.h"
#include "core/graphql/execution.h"
#include "core/interactions/turns.h"
#include "core/search/snapshot.h"
#include "core/service.h"

#include <optional>
#include <string>

namespace annals::core {
class ScopedView;
}

namespace annals::core::graphql {

/// The current resource.
struct Focus {
    json::Value resource;   ///< with its contained resources
    std::string reference;  ///< "Patient/1"; empty for a contained resource
};

/// Lifetime: the arguments of the constructor outlive it.
class Walker {
  public:
    /// `read`: what the caller may read.
    Walker(const Service& service, const Request& request, const ScopedView& read,
           const search::Snapshot& snapshot, Execution& execution, Turns& turns)
        : service_(service),
          request_(request),
          read_(read),
          snapshot_(snapshot),
          execution_(execution),
          turns_(turns) {}

    /// Adds the fields of one object; between those inside it, other coroutines may run.
    /// Lifetime: the arguments outlive the await. Errors: those of Execution; timeout.
    asio::awaitable<Result<void>> walk(json::Value object, schema::Type type, ObjectPlan& plan,
                                       const Place& place, const Focus& focus);

    /// Whether the caller may read resources of `type` in a request of its own. Errors: as require().
    Result<void> may_read(TypeId type) const;

    /// Whether the caller may read the resource found for `field`. An invisible resource is treated like a missing one, and
    /// counted as well.
    asio::awaitable<Result<bool>> is_readable(std::optional<storage::VersionInfo> info,
                                              const FieldPlan& field);

  private:
    asio::awaitable<Result<void>> walk_elements(json::Value object, FieldPlan& field,
                                                const Place& place, const Focus& focus);
    asio::awaitable<Result<void>> walk_siblings(json::Value object, FieldPlan& field,
                                                const Place& place, const Focus& focus);
    asio::awaitable<Result<void>> walk_child(json::Value child, schema::Type type, FieldPlan& field,
                                             const Place& place, bool repeats, std::string suffix,
                                             const Focus& focus);
    asio::awaitable<Result<void>> resolve(json::Value reference, FieldPlan& field,
                                          const Place& place, const Focus& focus);
    Result<void> add_primitives(json::Value object, const FieldPlan& field, const Place& place);
    Result<void> begin_search(const Place& place, FieldPlan& field, const Focus& focus);

    const Service& service_;
    const Request& request_;
    const ScopedView& read_;
    const search::Snapshot& snapshot_;
    Execution& execution_;
    Turns& turns_;
};

}  // namespace annals::core::graphql
