// What an operation answers whose work goes on when the request has ended, until it is done.
//
// Layer:   core/operations.
// Spec:    FHIR R4 async.html (the headers of its 202), operations.html; docs/api/operations.md.
// Threads: plain function.

#pragma once

#include "core/exchange.h"

#include <string>
#include <string_view>

namespace annals::core {

/// 202 with `progress` in X-Progress, when to ask again, where (`operation`: "$name" of the system, with its parameters), and an
/// OperationOutcome that says `said`.
Response under_way(const Request& request, std::string_view operation, std::string progress,
                   std::string_view said);

}  // namespace annals::core
