// The response of an operation that continues after its request has ended, until it is done.
//
// Layer:   core/operations.
// Spec:    FHIR R4 async.html (the headers of its 202), operations.html; docs/api/operations.md.
// Threads: plain function.

#pragma once

#include "core/exchange.h"

#include <string>
#include <string_view>

namespace annals::core {

/// 202 with `progress` in X-Progress, when and where to ask again (`operation`: "$name" of the system, with
/// its parameters), and an OperationOutcome with the text `said`.
Response under_way(const Request& request, std::string_view operation, std::string progress,
                   std::string_view said);

}  // namespace annals::core
