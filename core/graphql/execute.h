// Execution of a GraphQL query: resource after resource, those that one step leads to together.
//
// What a resource refers to, or is referred to by, is put off until all resources of the step have been looked at; then
// the device reads what the next step needs side by side.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 6 Execution; FHIR R4 graphql.html; docs/api/graphql.md.
// Threads: on the loop of its request, in turns.

#pragma once

#include "codec/json/document.h"
#include "core/search/snapshot.h"
#include "core/service.h"
#include "storage/types.h"

#include <optional>
#include <string>

namespace annals::core::graphql {

/// What a client sends.
struct Query {
    std::string document;
    std::string operation;  ///< its name; empty: the only one
    json::Value variables;  ///< an object, or missing
};

/// The answer, {"data":...,"errors":[...]}, also of what is no valid query. `focus`: the resource that the query is about; none: the system.
/// Lifetime: the arguments outlive the call.
///
/// Errors: those of the server alone: timeout, corrupt, ...
asio::awaitable<Result<std::string>> execute(const Service& service, const Request& request,
                                             const Query& query, search::Snapshot& snapshot,
                                             std::optional<storage::VersionInfo> focus);

}  // namespace annals::core::graphql
