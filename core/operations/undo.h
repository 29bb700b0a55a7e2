// $undo: reverts what was written between two positions, or by one transaction or request, by making new versions.
//
// Layer:   core/operations.
// Spec:    docs/api/undo.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// The most positions that are searched for the commits of a request.
inline constexpr std::uint64_t kUndoSearchedMax = 1'000'000;

/// The most positions that can be reverted at once.
inline constexpr std::uint64_t kUndoPositionsMax = 100'000;

/// POST $undo with `from` and `to`, `position`, `transaction` or `requestId`, and `dryRun`: 200 with
/// Parameters that say what was done, or would be done.
///
/// Status: 400 (parameters, a range that does not exist); 404 (no commit of that request); 409 if something
///         written in it has been overwritten since, naming all such; 413 if it is too much.
asio::awaitable<Response> undo_operation(const Service& service, const Request& request,
                                         const Target& target);

}  // namespace annals::core
