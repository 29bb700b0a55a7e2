// Execution of a GraphQL query, step by step: each step handles all resources that the one before led to.
//
// References and reverse references are followed only after all resources of a step have been handled; the device then reads
// everything that the next step needs in parallel.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 6 Execution; FHIR R4 graphql.html; docs/api/graphql.md.
// Threads: on the loop of its request, in slices.

#pragma once

#include "codec/json/document.h"
#include "core/interactions/turns.h"
#include "core/search/snapshot.h"
#include "core/service.h"
#include "storage/types.h"

#include <optional>
#include <string>

namespace annals::core::graphql {

/// The request of a client.
struct Query {
    std::string document;
    std::string operation;  ///< the name of the operation; empty: the only one
    json::Value variables;  ///< an object, or missing
};

/// The answer, {"data":...,"errors":[...]}, even for an invalid query. `focus`: the resource that the query applies to; none:
/// the system. Lifetime: the arguments outlive the call.
///
/// Errors: only those of the server: timeout, corrupt, ...
asio::awaitable<Result<std::string>> execute(const Service& service, const Request& request,
                                             const Query& query, search::Snapshot& snapshot,
                                             std::optional<storage::VersionInfo> focus,
                                             Turns& turns);

}  // namespace annals::core::graphql
