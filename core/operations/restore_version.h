// $restore: an earlier version's content as a new version.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST type/id/$restore with `version`: 200, or 201 if the resource was deleted, with what is there then. No new version
/// if that is the newest one already.
///
/// Status: 400 without `version`, or if that is a deletion; 404 without resource or version; 412 by If-Match; 422 for what
///         validation refuses.
asio::awaitable<Response> restore_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
