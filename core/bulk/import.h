// $import: begins to take in files of ndjson.
//
// Layer:   core/bulk.
// Spec:    docs/api/import.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 202 with Content-Location; 400, 404 for what can't be begun; 429 when too much is under way.
asio::awaitable<Response> import_operation(const Service& service, const Request& request,
                                           const Target& target);

}  // namespace annals::core
