// The resources that a GraphDefinition adds to a document.
//
// Layer:   core/operations.
// Spec:    FHIR R4 graphdefinition.html; docs/api/document.md.
// Threads: on the loop of its request.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/search/snapshot.h"
#include "core/service.h"
#include "storage/types.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace annals::core {

/// The most links in a graph, nested ones included.
inline constexpr std::size_t kGraphLinksMax = 1000;

/// The versions that `graph`, a GraphDefinition, reaches from `start`, without duplicates and without `start`; only of
/// types for which `wanted` returns true. What `view` does not show is treated as missing, also in link counts.
///
/// Lifetime: the arguments outlive the call.
/// Errors:   processing (the graph can't be used; a link has fewer or more targets than it allows), not_computable (it
///           uses something unsupported), answer_too_costly (more than `limit`), timeout, expired.
asio::awaitable<Result<std::vector<storage::VersionInfo>>> follow_graph(
    const Service& service, const Request& request, search::Snapshot& snapshot, json::Value graph,
    const storage::VersionInfo& start, const std::function<bool(TypeId)>& wanted,
    const ScopedView& view, std::size_t limit, Turns& turns);

}  // namespace annals::core
