// $restore: makes an earlier version's content a new version.
//
// Layer:   core/operations.
// Spec:    docs/api/restore.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// POST type/id/$restore with `version`: 200, or 201 if the resource was deleted, with the resulting
/// resource. No new version if that is already the newest one.
///
/// Status: 400 without `version`, or if that is a deletion; 404 without resource or version; 412 by If-Match;
/// 422 if validation rejects it.
asio::awaitable<Response> restore_operation(const Service& service, const Request& request,
                                            const Target& target);

}  // namespace annals::core
