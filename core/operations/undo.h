// $undo: takes back what was written between two positions, or by one transaction or request, by
// new versions.
//
// Layer:   core/operations.
// Spec:    docs/api/undo.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// Among so many positions at most the commits of a request are looked for.
inline constexpr std::uint64_t kUndoSearchedMax = 1'000'000;

/// At most so many positions can be taken back at once.
inline constexpr std::uint64_t kUndoPositionsMax = 100'000;

/// POST $undo with `from` and `to`, `position`, `transaction` or `requestId`, and `dryRun`: 200 with Parameters that say what was done, or would be.
///
/// Status: 400 (parameters, a range that isn't there); 404 (no commit of that request); 409 where what was written in it has been written again since, all
///         of it named; 413 for too much.
asio::awaitable<Response> undo_operation(const Service& service, const Request& request,
                                         const Target& target);

}  // namespace annals::core
