// Fields that search: a list is its matches, a connection a page of them with what is told about it.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Searching resources".
// Threads: on the loop of its request, in turns.

#pragma once

#include "core/base/result.h"
#include "core/graphql/execution.h"
#include "core/graphql/search.h"

namespace annals::core::graphql {

/// Lifetime: what it is made of outlives it.
class SearchFields {
  public:
    SearchFields(Searcher& searcher, Execution& execution)
        : searcher_(searcher), execution_(execution) {}

    /// Makes the search that was put off, and puts the fields of what it finds off.
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
