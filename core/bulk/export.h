// $export: starts an export of the whole store, of all patients, or of a Group.
//
// Layer:   core/bulk.
// Spec:    Bulk Data Access IG STU2; docs/api/export.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 202 with Content-Location (for HEAD, which starts nothing, without); the error if the export can't be started; 429 if too many
/// are running.
asio::awaitable<Response> export_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
