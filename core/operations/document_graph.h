// What a GraphDefinition adds to a document.
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

/// A graph has at most so many links, those inside of links included.
inline constexpr std::size_t kGraphLinksMax = 1000;

/// The versions that `graph`, a GraphDefinition, leads to from `start`, none twice, `start` not among them; only of types
/// that `wanted` says yes to. What `view` doesn't show is not there: it counts for no link.
///
/// Lifetime: the arguments outlive the call.
/// Errors:   processing (the graph can't be used; a link has fewer or more targets than it says), not_computable
///           (it asks for what isn't supported), answer_too_costly (more than `limit`), timeout, expired.
asio::awaitable<Result<std::vector<storage::VersionInfo>>> follow_graph(
    const Service& service, const Request& request, search::Snapshot& snapshot, json::Value graph,
    const storage::VersionInfo& start, const std::function<bool(TypeId)>& wanted,
    const ScopedView& view, std::size_t limit, Turns& turns);

}  // namespace annals::core
