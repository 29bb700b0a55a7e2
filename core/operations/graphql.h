// $graphql: GraphQL queries on the system or one resource. core/graphql parses and executes them.
//
// Layer:   core/operations.
// Spec:    FHIR R4 graphql.html, resource-operation-graphql.html; docs/api/graphql.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET or POST $graphql: 200 with {"data":...,"errors":[...]}, whether the query is valid or not.
///
/// Status: 400 (no query, a malformed body); 404, 410 (the resource of an instance); 415; 503 if it takes too long.
asio::awaitable<Response> graphql_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
