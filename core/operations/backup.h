// $backup: makes a backup of the store while the server runs.
//
// Layer:   core/operations.
// Spec:    docs/api/backup.md.
// Threads: runs on the loop of its request; the backup has a thread of its own.

#pragma once

#include "core/operations/input.h"
#include "core/service.h"

#include <string>
#include <string_view>

namespace annals::core {

/// POST starts it: 202, or 409 while one is running. GET tells its progress: 202 with X-Progress, then 200 with
/// Parameters, or the error; 404 before the first.
asio::awaitable<Response> backup_operation(const Service& service, const Request& request,
                                           const Target& target);

/// The name of a backup in `parameter`. Errors: required, invalid.
Result<std::string> read_backup_name(const OperationInput& input, std::string_view parameter);

}  // namespace annals::core
