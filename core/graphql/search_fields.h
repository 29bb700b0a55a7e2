// Fields that search: a list contains the matches, a connection a page of them with information about it.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Searching resources".
// Threads: on the loop of its request, in slices.

#pragma once

#include "core/base/result.h"
#include "core/graphql/execution.h"
#include "core/graphql/search.h"

namespace annals::core::graphql {

/// Lifetime: the arguments of the constructor outlive it.
class SearchFields {
  public:
    SearchFields(Searcher& searcher, Execution& execution)
        : searcher_(searcher), execution_(execution) {}

    /// Runs the search of `task`; the fields of its matches follow in the next step.
    /// Lifetime: `task` outlives the await. Errors: those of Execution; those of the server.
    asio::awaitable<Result<void>> run(Task& task);

  private:
    asio::awaitable<Result<void>> run_connection(Task& task, TypeId type);
    Result<void> add_connection(const ObjectType& type, ObjectPlan& plan, const Place& place,
                                const FoundPage& page);
    Result<void> add_edges(FieldPlan& field, const Place& place, const FoundPage& page);
    Result<void> add_edge(const ObjectType& type, ObjectPlan& plan, const Place& place,
                          const storage::VersionInfo& match);

    Searcher& searcher_;
    Execution& execution_;
};

}  // namespace annals::core::graphql
