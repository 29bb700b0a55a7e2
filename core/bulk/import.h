// $import: starts an import of ndjson files.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 202 with Content-Location; the error if the import can't be started; 429 if too many are running.
asio::awaitable<Response> import_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
